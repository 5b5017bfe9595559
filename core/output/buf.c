/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/output/buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPILL_AT 65536u

static char *make_room(struct weft_buf *b, size_t n)
{
	if (b->status)
		return NULL;
	if (b->cap - b->n < n) {
		size_t cap = b->cap + b->cap / 2 + n + 256;
		char *data = realloc(b->data, cap);

		if (!data) {
			b->status = -ENOMEM;
			return NULL;
		}
		b->data = data;
		b->cap = cap;
	}
	return b->data + b->n;
}

void weft_buf_put(struct weft_buf *b, const char *p, size_t n)
{
	char *to = n ? make_room(b, n) : NULL;

	if (!to)
		return;
	memcpy(to, p, n);
	b->n += n;
}

void weft_buf_str(struct weft_buf *b, const char *s)
{
	weft_buf_put(b, s, strlen(s));
}

void weft_buf_fill(struct weft_buf *b, char c, size_t n)
{
	char *to = n ? make_room(b, n) : NULL;

	if (!to)
		return;
	memset(to, c, n);
	b->n += n;
}

void weft_buf_printf(struct weft_buf *b, const char *format, ...)
{
	va_list ap;
	char *to;
	int n;

	va_start(ap, format);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	to = n > 0 ? make_room(b, (size_t)n + 1) : NULL;
	if (!to)
		return;
	va_start(ap, format);
	vsnprintf(to, (size_t)n + 1, format, ap);
	va_end(ap);
	b->n += (size_t)n;
}

int weft_buf_write(struct weft_buf *b, FILE *f)
{
	int r = b->status;

	errno = 0;
	if (!r && b->n && fwrite(b->data, 1, b->n, f) != b->n)
		r = errno ? -errno : -EIO;
	b->n = 0;
	b->status = 0;
	return r;
}

int weft_buf_spill(struct weft_buf *b, FILE *f)
{
	return b->n < SPILL_AT && !b->status ? 0 : weft_buf_write(b, f);
}

void weft_buf_finish(struct weft_buf *b)
{
	free(b->data);
	*b = (struct weft_buf){0};
}
