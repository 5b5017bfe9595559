# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# strip.sh FILE: the symbols go to FILE.debug
objcopy --only-keep-debug "$1" "$1.debug"
strip -s "$1"
