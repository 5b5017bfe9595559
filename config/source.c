/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * libyaml counts characters; weft and editors' jump lists count bytes, and libyaml takes U+0085,
 * U+2028 and U+2029 for line ends where no editor does. So places are taken from the bytes: a mark's
 * character index becomes a byte offset, and a table of line starts turns that into line and column.
 *
 * Marks come in nearly ascending order. The cursor walks from the last one, forwards or backwards, so
 * that a file costs one pass however many marks are looked up.
 */
#include "config/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"

#define SHOWN_MAX    120 /* bytes of a value that a message shows */
#define MAX_BRACKETS 64  /* inside each other; deeper ones are not looked at */

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Length of the UTF-8 sequence at p, or 0 if it is none: overlong forms, surrogates and what lies
 * beyond U+10FFFF are none (RFC 3629, section 4). */
static size_t utf8_sequence(const unsigned char *p, size_t left, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	uint32_t c;

	if (n == 0 || n > left || p[0] > 0xf4)
		return 0;
	c = n == 1 ? p[0] : p[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if (!is_continuation((char)p[i]))
			return 0;
		c = c << 6 | (p[i] & 0x3fu);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*code = c;
	return n;
}

/* What YAML 1.1 (section 5.1) calls printable, less a byte order mark inside the text. */
static bool is_printable(uint32_t c)
{
	return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0x7e) || c == 0x85 ||
	       (c >= 0xa0 && c <= 0xd7ff) || (c >= 0xe000 && c <= 0xfffd && c != 0xfeff) ||
	       (c >= 0x10000 && c <= 0x10ffff);
}

static int check_encoding(const struct weft_source *s, struct weft_error *err)
{
	const unsigned char *p = (const unsigned char *)s->data;
	uint32_t code = 0;

	for (size_t i = 0; i < s->size;) {
		size_t n = utf8_sequence(p + i, s->size - i, &code);

		if (n == 0)
			return weft_fail_at(err, weft_source_pos(s, i), -EINVAL, "CONFIG_ENCODING",
					    "the byte 0x%02x is not UTF-8: save the file as UTF-8",
					    p[i]);
		if (!is_printable(code))
			return weft_fail_at(err, weft_source_pos(s, i), -EINVAL, "CONFIG_ENCODING",
					    "a probe set is text: it cannot hold the %s U+%04X",
					    code ? "character" : "NUL character",
					    (unsigned int)code);
		i += n;
	}
	return 0;
}

static int add_line(struct weft_source *s, size_t offset)
{
	int rc = weft_grow(&s->lines, &s->cap_lines, s->n_lines, sizeof(*s->lines));

	if (rc)
		return rc;
	s->lines[s->n_lines++] = (uint32_t)offset;
	return 0;
}

static int find_lines(struct weft_source *s)
{
	int rc = add_line(s, 0);

	for (size_t i = 0; rc == 0 && i < s->size; i++) {
		bool crlf = s->data[i] == '\r' && i + 1 < s->size && s->data[i + 1] == '\n';

		if (s->data[i] == '\n' || (s->data[i] == '\r' && !crlf))
			rc = add_line(s, i + 1);
	}
	return rc;
}

int weft_source_init(struct weft_source *s, const char *data, size_t size, struct weft_error *err)
{
	int rc;

	memset(s, 0, sizeof(*s));
	if (size > WEFT_CONFIG_MAX_SIZE)
		return weft_fail(err, -EINVAL, "CONFIG_SIZE",
				 "the probe set is larger than %u bytes", WEFT_CONFIG_MAX_SIZE);
	if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) {
		data += 3;
		size -= 3;
	}
	s->data = size ? data : "";
	s->size = size;
	rc = find_lines(s) ? weft_nomem(err) : check_encoding(s, err);
	if (rc)
		weft_source_finish(s);
	return rc;
}

void weft_source_finish(struct weft_source *s)
{
	free(s->lines);
	memset(s, 0, sizeof(*s));
}

size_t weft_source_offset(struct weft_source *s, size_t index)
{
	while (s->cursor_char < index && s->cursor_byte < s->size) {
		do
			s->cursor_byte++;
		while (s->cursor_byte < s->size && is_continuation(s->data[s->cursor_byte]));
		s->cursor_char++;
	}
	while (s->cursor_char > index && s->cursor_byte > 0) {
		do
			s->cursor_byte--;
		while (s->cursor_byte > 0 && is_continuation(s->data[s->cursor_byte]));
		s->cursor_char--;
	}
	return s->cursor_byte;
}

struct weft_pos weft_source_pos(const struct weft_source *s, size_t offset)
{
	size_t low = 0, high = s->n_lines;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (s->lines[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return (struct weft_pos){(uint32_t)low + 1, (uint32_t)(offset - s->lines[low]) + 1};
}

/* The index after the string that opens at i, or i + 1 if it does not close on its line. */
static size_t skip_string(const struct weft_source *s, size_t i)
{
	char quote = s->data[i];

	for (size_t k = i + 1; k < s->size && s->data[k] != '\n'; k++) {
		if (s->data[k] == '\\')
			k++;
		else if (s->data[k] == quote)
			return k + 1;
	}
	return i + 1;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Whether the character at i ends a text that stands at `where`, outside of all its brackets. */
static bool ends_text(const struct weft_source *s, size_t i, unsigned int where)
{
	char c = s->data[i];

	if ((where & WEFT_EXTENT_FLOW) && (c == ',' || c == ')' || c == ']' || c == '}'))
		return true;
	return (where & WEFT_EXTENT_KEY) && c == ':' &&
	       (i + 1 == s->size || strchr(" \t\r\n", s->data[i + 1]));
}

size_t weft_source_extent(const struct weft_source *s, size_t offset, unsigned int where)
{
	static const char open[] = "([{", close[] = ")]}";
	char expected[MAX_BRACKETS]; /* what closes the brackets that are open */
	size_t i = offset, depth = 0;

	while (i < s->size && s->data[i] != '\n' && s->data[i] != '\r') {
		char c = s->data[i];
		const char *opens = c ? strchr(open, c) : NULL;

		if (c == '"' || c == '\'') {
			i = skip_string(s, i);
			continue;
		}
		if (c == '#' && i > offset && is_blank(s->data[i - 1]))
			break;
		if (depth == 0 && ends_text(s, i, where))
			break;
		if (opens && depth < MAX_BRACKETS)
			expected[depth++] = close[opens - open];
		else if (strchr(close, c) && depth > 0 && expected[--depth] != c)
			break;
		i++;
	}
	while (i > offset && is_blank(s->data[i - 1]))
		i--;
	return i - offset;
}

char *weft_source_quoted(const struct weft_source *s, size_t offset, size_t length,
			 struct weft_arena *arena)
{
	const char *text = s->data + offset;
	size_t size = length, n = 0;
	char quote, *out;

	if (size > SHOWN_MAX) {
		size = SHOWN_MAX;
		while (size > 0 && is_continuation(text[size]))
			size--;
	}
	quote = memchr(text, '"', size) || memchr(text, '\\', size) ? '\'' : '"';
	out = weft_arena_alloc(arena, 2 * size + sizeof("''..."));
	if (!out)
		return NULL;
	out[n++] = quote;
	for (size_t i = 0; i < size; i++) {
		if (quote == '\'' && text[i] == '\'')
			out[n++] = '\'';
		out[n++] = text[i];
	}
	if (size < length)
		n = (size_t)(stpcpy(out + n, "...") - out);
	out[n] = quote;
	return out;
}
