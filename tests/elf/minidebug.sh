# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# minidebug.sh FILE: the symbols go into a compressed section of FILE
objcopy --only-keep-debug "$1" "$1.mini"
objcopy -g "$1.mini"
strip -s "$1"
rm -f "$1.mini.xz"
xz -T1 "$1.mini"
objcopy --add-section .gnu_debugdata="$1.mini.xz" "$1"
