# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Probes of a shell script: `. weft.sh`. A shell cannot make system calls; perl, which is everywhere, makes them for
# it, as a child that lives as long as the script. The probes are that child's: user-syscall:perl:PROVIDER:NAME.
#
#	weft_declare NAME PROVIDER PROBE 'string file, int32 status'
#	weft_fire NAME /etc/passwd 0

coproc WEFT { exec perl "$(dirname "${BASH_SOURCE[0]}")/weft.pl"; }

# Each is answered with a line, so that what was fired has been fired when the script goes on.
weft_say() { printf '%s\n' "$#" "$@" >&"${WEFT[1]}" && read -r weft_answer <&"${WEFT[0]}"; }
weft_declare() { weft_say declare "$@"; }
weft_fire() { weft_say fire "$@"; }
weft_enabled() { weft_say enabled "$@"; [ "$weft_answer" = 1 ]; }
