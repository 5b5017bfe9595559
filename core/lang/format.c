/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* printf formats into pieces: a run of text with %% resolved, then a conversion. */
#include "core/lang/format.h"

#include <errno.h>
#include <string.h>

#define MAX_WIDTH 1024 /* of a width or a precision: columns or digits */

struct reader {
	const char *text;
	size_t at;
	const char *why; /* of the fault at `at` */
};

static void read_flags(struct reader *r, struct weft_format_piece *p)
{
	for (;; r->at++) {
		switch (r->text[r->at]) {
		case '-':
			p->left = true;
			break;
		case '0':
			p->zero = true;
			break;
		case '+':
			p->plus = true;
			break;
		case ' ':
			p->space = true;
			break;
		case '#':
			p->alternate = true;
			break;
		default:
			return;
		}
	}
}

/* Digits, none of which is 0 or -1 as the caller says. */
static int read_number(struct reader *r, int none, int *out)
{
	size_t start = r->at;
	int n = 0;

	if (r->text[r->at] == '*') {
		r->why = "`*` takes no width from an argument here";
		return -EINVAL;
	}
	for (; r->text[r->at] >= '0' && r->text[r->at] <= '9'; r->at++)
		if (n <= MAX_WIDTH)
			n = n * 10 + (r->text[r->at] - '0');
	*out = r->at == start ? none : n;
	if (n <= MAX_WIDTH)
		return 0;
	r->at = start;
	r->why = "a width or precision is at most 1024";
	return -EINVAL;
}

/* r->at is behind the %. */
static int read_conversion(struct reader *r, struct weft_format_piece *p)
{
	size_t start = r->at - 1;
	int rc;
	char c;

	read_flags(r, p);
	rc = read_number(r, -1, &p->width);
	if (rc)
		return rc;
	p->precision = -1;
	if (r->text[r->at] == '.') {
		r->at++;
		rc = read_number(r, 0, &p->precision);
		if (rc)
			return rc;
	}
	while (r->text[r->at] && strchr("hljztqL", r->text[r->at]))
		r->at++; /* values know their size */
	c = r->text[r->at];
	if (c && strchr("diuxXocsp", c)) {
		p->conv = c;
		r->at++;
		return 0;
	}
	if (c == '\0') {
		r->at = start;
		r->why = "a conversion is not finished (a percent sign is written %%)";
	} else if (strchr("aAeEfFgG", c)) {
		r->why = "there are no floating point values";
	} else if (c == 'n') {
		r->why = "%n writes to memory, which printing does not do";
	} else {
		r->why = "there is no such conversion; there are d i u x X o c s p and %%";
	}
	return -EINVAL;
}

/* Text up to the next conversion or the end, written to buf. */
static size_t read_literal(struct reader *r, char *buf)
{
	size_t n = 0;

	for (; r->text[r->at]; r->at++) {
		if (r->text[r->at] == '%') {
			if (r->text[r->at + 1] != '%')
				break;
			r->at++;
		}
		buf[n++] = r->text[r->at];
	}
	return n;
}

/* Most pieces that a text can have: one for each %, and the end. */
static size_t count_pieces(const char *text)
{
	size_t n = 1;

	for (; *text; text++)
		n += *text == '%';
	return n;
}

int weft_format_parse(const char *text, struct weft_arena *arena, struct weft_format *out,
		      size_t *at, struct weft_error *err)
{
	struct reader r = {.text = text};
	char *buf = weft_arena_alloc(arena, strlen(text) + 1);

	memset(out, 0, sizeof(*out));
	*at = 0;
	out->pieces = weft_arena_array(arena, count_pieces(text), sizeof(*out->pieces));
	if (!buf || !out->pieces)
		return weft_nomem(err);
	for (;;) {
		struct weft_format_piece *p = &out->pieces[out->n_pieces++];

		p->width = p->precision = -1;
		p->literal = buf;
		p->literal_size = read_literal(&r, buf);
		buf += p->literal_size;
		if (!text[r.at])
			return 0;
		r.at++;
		if (read_conversion(&r, p)) {
			*at = r.at;
			return weft_fail(err, -EINVAL, "FORMAT_BAD", "the format is wrong: %s",
					 r.why);
		}
		out->n_conversions++;
	}
}
