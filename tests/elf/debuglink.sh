# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# debuglink.sh FILE: the symbols go to FILE.dbg, which FILE names
objcopy --only-keep-debug "$1" "$1.dbg"
strip -s "$1"
objcopy --add-gnu-debuglink="$1.dbg" "$1"
