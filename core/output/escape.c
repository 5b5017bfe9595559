/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names of programs, files and functions, and every string that a clause copies, come from
 * processes that may be hostile to the one who looks at them. None of their bytes reaches a
 * terminal as a command, and none is lost.
 *
 * JSON has no way to say "this byte". A byte 0x80 to 0xff that is not part of well-formed UTF-8
 * is written as the character U+EF80 to U+EFFF, in Unicode's private area; so that this can be
 * undone, those 128 characters themselves, should they occur, are written byte by byte in the same
 * way. Lone surrogates would serve as well, but many JSON parsers refuse them.
 */
#include "core/output/escape.h"

#include <string.h>

#define RAW_FIRST 0xef80u /* stands for the byte 0x80 */
#define RAW_LAST  0xefffu

size_t weft_utf8_length(const char *s, size_t n, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char c = n ? (unsigned char)*s : 0xff;
	size_t length = c < 0x80   ? 1
			: c < 0xc2 ? 0
			: c < 0xe0 ? 2
			: c < 0xf0 ? 3
			: c < 0xf5 ? 4
				   : 0;
	uint32_t v = length == 1 ? c : c & (0x7fu >> length);

	if (!length || length > n)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | ((unsigned char)s[i] & 0x3f);
	}
	if (v < least[length] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
		return 0;
	*code = v;
	return length;
}

size_t weft_utf8_count(const char *s, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += ((unsigned char)s[i] & 0xc0) != 0x80;
	return count;
}

/* Characters that do something instead of being seen: C0, DEL, C1, direction, line separators. */
static bool is_command(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200e && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

static void put_raw(struct weft_buf *b, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		weft_buf_printf(b, "\\x%02x", (unsigned char)s[i]);
}

/* stop: a further character to escape, or 0. */
static void escape(struct weft_buf *b, const char *s, size_t n, char stop)
{
	size_t plain = 0, i = 0;

	while (i < n) {
		uint32_t code;
		size_t length = weft_utf8_length(s + i, n - i, &code), here = length ? length : 1;

		if (length && !is_command(code) && s[i] != '\\' && (!stop || s[i] != stop)) {
			i += length;
			continue;
		}
		weft_buf_put(b, s + plain, i - plain);
		if (s[i] == '\\')
			weft_buf_str(b, "\\\\");
		else if (s[i] == '\n')
			weft_buf_str(b, "\\n");
		else if (s[i] == '\t')
			weft_buf_str(b, "\\t");
		else if (s[i] == '"' && stop == '"')
			weft_buf_str(b, "\\\"");
		else
			put_raw(b, s + i, here);
		i += here;
		plain = i;
	}
	weft_buf_put(b, s + plain, i - plain);
}

void weft_escape_text(struct weft_buf *b, const char *s, size_t n)
{
	escape(b, s, n, 0);
}

void weft_escape_word(struct weft_buf *b, const char *s, size_t n)
{
	bool quote = !n;

	for (size_t i = 0; i < n && !quote; i++)
		quote = s[i] == ' ' || s[i] == '"' || s[i] == '=' || s[i] == '\'';
	if (quote)
		weft_buf_str(b, "\"");
	escape(b, s, n, quote ? '"' : 0);
	if (quote)
		weft_buf_str(b, "\"");
}

void weft_escape_folded(struct weft_buf *b, const char *s)
{
	escape(b, s, strlen(s), ';');
}

void weft_escape_json(struct weft_buf *b, const char *s, size_t n)
{
	static const char shorts[] = {['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
				      ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't'};
	size_t i = 0, plain = 0;

	weft_buf_str(b, "\"");
	while (i < n) {
		uint32_t code = 0;
		size_t length = weft_utf8_length(s + i, n - i, &code), here = length ? length : 1;
		bool raw = !length || (code >= RAW_FIRST && code <= RAW_LAST);

		if (!raw && !is_command(code) && code != '"' && code != '\\') {
			i += length;
			continue;
		}
		weft_buf_put(b, s + plain, i - plain);
		for (size_t k = 0; raw && k < here; k++)
			weft_buf_printf(b, "\\uef%02x", (unsigned char)s[i + k]);
		if (!raw && code < sizeof(shorts) && shorts[code])
			weft_buf_printf(b, "\\%c", shorts[code]);
		else if (!raw)
			weft_buf_printf(b, "\\u%04x", code);
		i += here;
		plain = i;
	}
	weft_buf_put(b, s + plain, i - plain);
	weft_buf_str(b, "\"");
}

void weft_escape_hex(struct weft_buf *b, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		weft_buf_printf(b, "%02x", (unsigned char)s[i]);
}
