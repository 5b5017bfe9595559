/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Values and printf formats as text. */
#ifndef WEFT_OUTPUT_RENDER_H
#define WEFT_OUTPUT_RENDER_H

#include <stdbool.h>

#include "core/output/buf.h"
#include "core/value.h"

/* The name of an action's kind, as the user wrote it: "count". */
const char *weft_kind_name(enum weft_action_kind kind);

void weft_render_int(struct weft_buf *b, const struct weft_value *v); /* pointers as 0x... */
/* Any value but a block, escaped for eyes; word: in quotes where it is not one. */
void weft_render_value(struct weft_buf *b, const struct weft_value *v, bool word);
/* "vfs_read+0x10", "main+0x4 (/usr/bin/x)", "0x7f00 (/usr/bin/x+0x40)". */
void weft_render_frame(struct weft_buf *b, const struct weft_frame *f);
/* What takes lines of its own below a record: stacks, hexdumps, registers. */
bool weft_is_block(const struct weft_value *v);
void weft_render_block(struct weft_buf *b, const struct weft_value *v, size_t indent);
/* 127.0.0.1, ::1. */
void weft_render_inet(struct weft_buf *b, const struct weft_value *v);
/* A frame a line, innermost first, behind `indent` blanks each. */
void weft_render_stack(struct weft_buf *b, const struct weft_value *v, size_t indent);
/* Of a row's keys: kernel stacks before user stacks. */
void weft_render_stacks(struct weft_buf *b, const struct weft_named_value *values, size_t n,
			size_t indent);
/* A record's format with its fields. escape: for eyes; otherwise the strings' own bytes. */
void weft_render_printf(struct weft_buf *b, const struct weft_record *r, bool escape);

/* sum / count. */
long double weft_average(const struct weft_row *row);

/* ---- amount.c ---- */

struct weft_unit {
	const char *name; /* as in the probe set; NULL: none */
	unsigned int step;
	const char *scale[8]; /* each is `step` times the one before it */
};
const struct weft_unit *weft_unit_find(const char *name); /* or NULL */
/* Three digits, without zeros at the end. */
void weft_render_rounded(struct weft_buf *b, double v, const char *suffix);
/* A value in a unit: "1.5ms", "-4.1KiB". */
void weft_render_amount(struct weft_buf *b, long double v, const char *unit);
void weft_render_wide(struct weft_buf *b, weft_wide v);

/* Buckets as bars, `indent` blanks before each line; width: columns there are, 0: unknown. */
void weft_render_histogram(struct weft_buf *b, const struct weft_table *t,
			   const struct weft_row *row, size_t indent, int width);

#endif
