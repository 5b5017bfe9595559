/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Globs over bytes: * any number of bytes, ? one, [abc] [a-z] [!a-z] one of a class, \ makes the
 * next byte an ordinary one, inside a class too. The first byte of a class may be ']'. A '[' that
 * is not closed and a '\' at the end stand for themselves; patterns that come from a user never
 * hold either (pattern.c refuses them).
 *
 * Only the last '*' seen is ever returned to: what an earlier one could still reach, the later one
 * reaches as well. So the work is at most the product of the two lengths.
 */
#include "core/base/base.h"

const char *weft_glob_bracket_end(const char *p)
{
	p++;
	if (*p == '!')
		p++;
	for (bool first = true; *p != '\0'; p++, first = false) {
		if (*p == ']' && !first)
			return p + 1;
		if (*p == '\\' && p[1] != '\0')
			p++;
	}
	return NULL;
}

/* One byte of a class, which may be escaped; *p goes behind it. */
static unsigned char class_byte(const char **p)
{
	if (**p == '\\')
		(*p)++;
	return (unsigned char)*(*p)++;
}

/* Whether c is in the class from p (behind '[') to end (at ']'). */
static bool class_has(const char *p, const char *end, unsigned char c)
{
	bool negated = *p == '!';
	bool found = false;

	if (negated)
		p++;
	while (p < end) {
		unsigned char from = class_byte(&p);
		unsigned char to = from;

		if (*p == '-' && p + 1 < end) {
			p++;
			to = class_byte(&p);
		}
		if (c >= from && c <= to)
			found = true;
	}
	return found != negated;
}

/* Matches one pattern element other than '*' against c. Returns what follows it, or NULL. */
static const char *match_one(const char *p, char c)
{
	const char *end;

	switch (*p) {
	case '?':
		return p + 1;
	case '[':
		end = weft_glob_bracket_end(p);
		if (!end)
			break;
		return class_has(p + 1, end - 1, (unsigned char)c) ? end : NULL;
	case '\\':
		if (p[1] != '\0')
			p++;
		break;
	default:
		break;
	}
	return *p == c ? p + 1 : NULL;
}

bool weft_glob_match(const char *pattern, const char *text)
{
	const char *after_star = NULL, *tried_from = NULL;

	while (*text != '\0') {
		const char *next;

		if (*pattern == '*') {
			after_star = ++pattern;
			tried_from = text;
			if (*after_star == '\0')
				return true;
			continue;
		}
		next = *pattern != '\0' ? match_one(pattern, *text) : NULL;
		if (next) {
			pattern = next;
			text++;
			continue;
		}
		if (!after_star)
			return false;
		pattern = after_star;
		text = ++tried_from;
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

bool weft_glob_has_magic(const char *pattern)
{
	for (const char *p = pattern; *p != '\0'; p++) {
		if (*p == '*' || *p == '?' || (*p == '[' && weft_glob_bracket_end(p)))
			return true;
		if (*p == '\\' && p[1] != '\0')
			p++;
	}
	return false;
}

size_t weft_glob_unescape(const char *field, char *out)
{
	size_t n = 0;

	for (const char *p = field; *p != '\0'; p++) {
		if (*p == '\\' && p[1] != '\0')
			p++;
		out[n++] = *p;
	}
	out[n] = '\0';
	return n;
}
