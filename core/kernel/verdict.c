/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reading the verifier's log from its end. A log of level 1 has a line for each instruction that
 * was looked at, "12: (85) call bpf_get_stack#67", states between them, the complaint, and a
 * statistical tail. Complaints about a program's shape come before any instruction was looked at,
 * and name one in words: "unreachable insn 5", "jump out of range from insn 5 to 99".
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/load.h"

/* Beginnings of lines that say how much work it was, or repeat the state, but not what is wrong. */
static const char *const tail_lines[] = {
	"processed ",       "verification time ", "stack depth ",
	"insns processed ", "mark_precise",       "peak_states ",
};

static bool starts_with(const char *s, size_t n, const char *prefix)
{
	size_t k = strlen(prefix);

	return n >= k && !memcmp(s, prefix, k);
}

static bool is_tail(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < sizeof(tail_lines) / sizeof(tail_lines[0]); i++)
		if (starts_with(s, n, tail_lines[i]))
			return true;
	return false;
}

static bool number(const char *s, size_t n, uint32_t *out, size_t *used)
{
	uint32_t v = 0;
	size_t i;

	for (i = 0; i < n && i < 9 && isdigit((unsigned char)s[i]); i++)
		v = v * 10 + (uint32_t)(s[i] - '0');
	*out = v;
	*used = i;
	return i > 0;
}

/* "12: (85) call ..." is an instruction; "12: R0=..." and "from 3 to 12: ..." are states. */
static bool is_insn(const char *s, size_t n, uint32_t *insn)
{
	uint32_t v;
	size_t used;

	if (!number(s, n, &v, &used) || n - used <= 3 || memcmp(s + used, ": (", 3) != 0 ||
	    !memchr(s + used, ')', n - used))
		return false;
	*insn = v;
	return true;
}

static bool is_state(const char *s, size_t n)
{
	uint32_t ignored;
	size_t used;

	if (starts_with(s, n, "from ") || starts_with(s, n, ";"))
		return true;
	return number(s, n, &ignored, &used) && used < n && s[used] == ':';
}

static bool named_insn(const char *s, size_t n, uint32_t *insn)
{
	size_t i, used;

	for (i = 0; i + 5 < n; i++)
		if (!memcmp(s + i, "insn ", 5) && number(s + i + 5, n - i - 5, insn, &used))
			return true;
	return false;
}

void weft_verdict_read(const char *log, size_t n, struct weft_verdict *out)
{
	size_t end = n, start, size;

	memset(out, 0, sizeof(*out));
	out->reason = "";
	while (end > 0) {
		const char *line;

		for (start = end; start > 0 && log[start - 1] != '\n'; start--)
			;
		line = log + start;
		size = end - start;
		end = start ? start - 1 : 0;
		if (!size || is_tail(line, size))
			continue;
		if (is_insn(line, size, &out->insn)) {
			out->has_insn = true;
			return;
		}
		if (is_state(line, size))
			continue;
		/* The last complaint counts; lines above it elaborate. */
		if (!out->reason_size) {
			out->reason = line;
			out->reason_size = size;
			if (named_insn(line, size, &out->insn))
				out->has_insn = true;
			if (out->has_insn)
				return;
		}
	}
}
