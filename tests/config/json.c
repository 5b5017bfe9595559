/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* JSON's grammar (RFC 8259) as a recognizer: no values, only whether the text is one. */
#include <ctype.h>
#include <string.h>

#include "support.h"

static const char *value(const char *s, int depth);

static const char *blank(const char *s)
{
	return s + strspn(s, " \t\r\n");
}

static const char *string(const char *s)
{
	if (*s++ != '"')
		return NULL;
	for (; *s != '"'; s++) {
		if ((unsigned char)*s < 0x20)
			return NULL;
		if (*s != '\\')
			continue;
		s++;
		if (*s == 'u') {
			for (int i = 1; i <= 4; i++)
				if (!isxdigit((unsigned char)s[i]))
					return NULL;
			s += 4;
		} else if (!*s || !strchr("\"\\/bfnrt", *s)) {
			return NULL;
		}
	}
	return s + 1;
}

static const char *number(const char *s)
{
	size_t n;

	s += *s == '-';
	n = strspn(s, "0123456789");
	if (n == 0 || (n > 1 && *s == '0'))
		return NULL;
	s += n;
	if (*s == '.') {
		n = strspn(s + 1, "0123456789");
		if (n == 0)
			return NULL;
		s += 1 + n;
	}
	return s;
}

static const char *members(const char *s, int depth, bool object)
{
	char end = object ? '}' : ']';

	s = blank(s + 1);
	if (*s == end)
		return s + 1;
	for (;;) {
		if (object) {
			s = string(s);
			s = s ? blank(s) : NULL;
			if (!s || *s != ':')
				return NULL;
			s = blank(s + 1);
		}
		s = value(s, depth + 1);
		s = s ? blank(s) : NULL;
		if (!s || (*s != ',' && *s != end))
			return NULL;
		if (*s == end)
			return s + 1;
		s = blank(s + 1);
	}
}

static const char *value(const char *s, int depth)
{
	static const char *const words[] = {"true", "false", "null"};

	if (depth > 64)
		return NULL;
	if (*s == '{' || *s == '[')
		return members(s, depth, *s == '{');
	if (*s == '"')
		return string(s);
	for (size_t i = 0; i < 3; i++) {
		if (strncmp(s, words[i], strlen(words[i])) == 0)
			return s + strlen(words[i]);
	}
	return number(s);
}

bool json_is_well_formed(const char *s)
{
	s = value(blank(s), 0);
	return s && *blank(s) == '\0';
}
