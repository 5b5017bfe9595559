/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * printf as a clause means it. Values know their types, so a conversion chooses only the notation:
 * %d shows a number as what it is, and an unsigned one is never shown as negative. %u, %x and %o
 * show the bits of the value in the size that it has: (int32) -1 as %x is ffffffff. The width
 * counts characters, not bytes.
 */
#include <inttypes.h>
#include <string.h>

#include "core/output/escape.h"
#include "core/output/render.h"

static void pad_to(struct weft_buf *b, const struct weft_format_piece *p, const char *s, size_t n)
{
	size_t have = weft_utf8_count(s, n);
	size_t pad = p->width > 0 && (size_t)p->width > have ? (size_t)p->width - have : 0;

	if (!p->left)
		weft_buf_fill(b, ' ', pad);
	weft_buf_put(b, s, n);
	if (p->left)
		weft_buf_fill(b, ' ', pad);
}

/* The value's bits in its own size. */
static uint64_t bits_of(const struct weft_value *v)
{
	unsigned int size = v->type.size;

	return size && size < 8 ? v->u & ((UINT64_C(1) << size * 8) - 1) : v->u;
}

static size_t digits_of(uint64_t n, unsigned int base, bool upper, char out[24])
{
	const char *set = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char reverse[24];
	size_t count = 0;

	for (; n; n /= base)
		reverse[count++] = set[n % base];
	for (size_t i = 0; i < count; i++)
		out[i] = reverse[count - 1 - i];
	return count;
}

static void put_number(struct weft_buf *b, const struct weft_format_piece *p,
		       const struct weft_value *v)
{
	bool decimal = p->conv == 'd' || p->conv == 'i';
	bool negative = decimal && v->type.is_signed && v->i < 0;
	unsigned int base = decimal || p->conv == 'u' ? 10 : p->conv == 'o' ? 8 : 16;
	uint64_t n = negative ? 0 - v->u : decimal ? v->u : bits_of(v);
	const char *sign = negative              ? "-"
			   : decimal && p->plus  ? "+"
			   : decimal && p->space ? " "
			   : p->conv == 'p'      ? "0x"
			   : !p->alternate || !n ? ""
			   : p->conv == 'x'      ? "0x"
			   : p->conv == 'X'      ? "0X"
						 : "";
	char digits[24];
	size_t n_digits = digits_of(n, base, p->conv == 'X', digits), zeros = 0, used, pad;

	if (p->precision < 0 && !n_digits)
		zeros = 1;
	else if (p->precision > 0 && (size_t)p->precision > n_digits)
		zeros = (size_t)p->precision - n_digits;
	if (p->conv == 'o' && p->alternate && !zeros)
		zeros = 1;
	used = strlen(sign) + zeros + n_digits;
	pad = p->width > 0 && (size_t)p->width > used ? (size_t)p->width - used : 0;
	if (p->zero && !p->left && p->precision < 0) {
		zeros += pad;
		pad = 0;
	}
	if (!p->left)
		weft_buf_fill(b, ' ', pad);
	weft_buf_str(b, sign);
	weft_buf_fill(b, '0', zeros);
	weft_buf_put(b, digits, n_digits);
	if (p->left)
		weft_buf_fill(b, ' ', pad);
}

/* The first so many characters; a byte that belongs to none counts as one. */
static size_t cut(const char *s, size_t n, int most)
{
	size_t at = 0;

	for (int i = 0; at < n && (most < 0 || i < most); i++) {
		uint32_t code;
		size_t length = weft_utf8_length(s + at, n - at, &code);

		at += length ? length : 1;
	}
	return at;
}

static void put_text(struct weft_buf *b, const struct weft_format_piece *p, const char *s, size_t n,
		     bool escape)
{
	struct weft_buf text = {0};

	n = cut(s, n, p->precision);
	if (escape)
		weft_escape_text(&text, s, n);
	else
		weft_buf_put(&text, s, n);
	pad_to(b, p, text.data, text.n);
	if (text.status)
		b->status = text.status;
	weft_buf_finish(&text);
}

static void put_block(struct weft_buf *b, const struct weft_value *v)
{
	size_t before = b->n;

	weft_buf_str(b, "\n");
	weft_render_block(b, v, 4);
	if (!b->status && b->n > before + 1)
		b->n--; /* what follows decides about the last newline */
}

static void put_value(struct weft_buf *b, const struct weft_format_piece *p,
		      const struct weft_value *v, bool escape)
{
	struct weft_format_piece number = *p;
	struct weft_buf text = {0};
	const char *name;
	char c;

	switch (v->type.kind) {
	case WEFT_VALUE_INT:
		if (p->conv == 'c') {
			c = (char)v->u;
			put_text(b, p, &c, 1, escape);
			return;
		}
		name = p->conv == 's' ? weft_btf_enum_name(v->type.names, v->i) : NULL;
		if (name) {
			put_text(b, p, name, strlen(name), escape);
			return;
		}
		if (p->conv == 's') { /* as emit shows it */
			number.conv = v->type.is_pointer ? 'p' : 'd';
			number.precision = -1;
		}
		put_number(b, &number, v);
		return;
	case WEFT_VALUE_STRING:
	case WEFT_VALUE_PROBE:
	case WEFT_VALUE_CGROUP:
		put_text(b, p, v->text.s, v->text.n, escape);
		return;
	case WEFT_VALUE_BYTES:
		if (p->conv == 's' && v->type.is_dump) {
			put_block(b, v);
			return;
		}
		if (p->conv == 's') {
			put_text(b, p, v->text.s, v->text.n, escape);
			return;
		}
		weft_escape_hex(&text, v->text.s, v->text.n);
		break;
	case WEFT_VALUE_SYMBOL:
	case WEFT_VALUE_INET:
		weft_render_value(&text, v, false);
		break;
	case WEFT_VALUE_STACK:
	case WEFT_VALUE_REGS:
		put_block(b, v);
		return;
	case WEFT_VALUE_OBJECT: /* never a value */
		return;
	}
	pad_to(b, p, text.data, text.n);
	if (text.status)
		b->status = text.status;
	weft_buf_finish(&text);
}

void weft_render_printf(struct weft_buf *b, const struct weft_record *r, bool escape)
{
	size_t field = 0;

	for (size_t i = 0; i < r->format->n_pieces; i++) {
		const struct weft_format_piece *p = &r->format->pieces[i];

		weft_buf_put(b, p->literal, p->literal_size);
		if (p->conv && field < r->n_fields)
			put_value(b, p, &r->fields[field++].value, escape);
	}
}
