/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is going to be written, in memory until a record or a table is complete: so lines come out
 * whole, and a failure shows at one place. The functions that add are void; running out of memory
 * is remembered and weft_buf_write() says so.
 */
#ifndef WEFT_OUTPUT_BUF_H
#define WEFT_OUTPUT_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

struct weft_buf {
	char *data;
	size_t n, cap;
	int status; /* 0 or -ENOMEM */
};

void weft_buf_put(struct weft_buf *b, const char *p, size_t n);
void weft_buf_str(struct weft_buf *b, const char *s);
void weft_buf_fill(struct weft_buf *b, char c, size_t n); /* n times c */
void weft_buf_printf(struct weft_buf *b, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Writes all and empties the buffer: 0, or -errno of what went wrong first. */
int weft_buf_write(struct weft_buf *b, FILE *f);
/* The same if there is much of it by now, for long tables. */
int weft_buf_spill(struct weft_buf *b, FILE *f);
void weft_buf_finish(struct weft_buf *b);

#endif
