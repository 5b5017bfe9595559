/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Names as people can take them. */
#include <stdio.h>
#include <string.h>

#include "user_syscall.h"

/* The length of the UTF-8 sequence at s, or 0 if there is none, and its character. */
static unsigned sequence(const unsigned char *s, uint32_t *out)
{
	static const struct {
		unsigned char mask, lead;
		uint32_t least;
	} kinds[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};

	for (unsigned n = 0; n < 4; n++) {
		if ((*s & kinds[n].mask) != kinds[n].lead)
			continue;
		*out = *s & (unsigned char)~kinds[n].mask;
		for (unsigned i = 1; i <= n; i++) {
			if ((s[i] & 0xc0) != 0x80)
				return 0;
			*out = *out << 6 | (s[i] & 0x3f);
		}
		if (*out < kinds[n].least || *out > 0x10ffff || (*out >= 0xd800 && *out < 0xe000))
			return 0;
		return n + 1;
	}
	return 0;
}

/* What moves or hides other characters: C1, marks of direction, separators, of no width. */
static bool is_plain(uint32_t c)
{
	return c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0) && !(c >= 0x200b && c <= 0x200f) &&
	       !(c >= 0x2028 && c <= 0x202e) && !(c >= 0x2060 && c <= 0x206f) && c != 0xfeff &&
	       c != 0x61c && !(c >= 0xe0000 && c < 0xe1000);
}

void us_escape(const char *from, bool colon, char *to, size_t size)
{
	const unsigned char *s = (const unsigned char *)from;
	size_t at = 0;

	while (*s && at + 13 < size) {
		uint32_t c = 0;
		unsigned n = sequence(s, &c);

		if (n && is_plain(c) && c != '%' && !(c == ':' && colon)) {
			memcpy(to + at, s, n);
			at += n;
			s += n;
			continue;
		}
		for (n = n ? n : 1; n--; s++)
			at += (size_t)snprintf(to + at, size - at, "%%%02X", *s);
	}
	to[at] = '\0';
}
