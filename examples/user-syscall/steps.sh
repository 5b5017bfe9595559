#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# steps.sh FILE...: counts the lines of files, and tells about each of them.
. "$(dirname "$0")/weft.sh"
weft_declare counted steps counted 'string file, int64 lines, int32 status'
[ -n "${WAIT:-}" ] && until weft_enabled counted; do sleep 0.1; done
for file in "$@"; do
	lines=$(wc -l <"$file" 2>/dev/null)
	weft_fire counted "$file" "${lines:-0}" $?
done
