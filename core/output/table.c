/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Aggregations as tables for eyes:
 *
 *	oncpu (count):
 *	  program  cpu  count
 *	  bash       0     41
 *	      vfs_read+0x10
 *	      main+0x25 (/usr/bin/bash)
 *
 * A column a key, numbers to the right; then the value. Stacks are no columns: their frames follow
 * the row, the kernel's before the program's, as they lie on each other. Rows keep the order they
 * come in, and all of them are printed; if some were left out, the heading says so. A value with a
 * unit is rounded to three digits.
 *
 * The cells are made once, into one buffer, and printed when the widest of each column is known.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/output/escape.h"
#include "core/output/render.h"
#include "core/output/sinks.h"

struct column {
	size_t key; /* index of the key; n_keys: the value, n_keys + 1: the count behind it,
		     * n_keys + 2: the mean beside a standard deviation */
	bool right;
	size_t width;
};

struct cell {
	size_t start, size; /* in cells */
};

struct grid {
	const struct weft_table *t;
	struct column *columns;
	size_t n_columns, n_keys;
	struct weft_buf text;
	struct cell *cells; /* the heading's, then row by row */
};

static void put_heading(struct weft_output *o, const struct weft_table *t)
{
	struct weft_buf *b = &o->buf;

	if (o->options.color)
		weft_buf_str(b, "\033[1m");
	weft_escape_text(b, t->name, strlen(t->name));
	weft_buf_printf(b, " (%s", weft_kind_name(t->kind));
	if (t->unit)
		weft_buf_printf(b, ", %s", t->unit);
	if (t->scale.divide)
		weft_buf_printf(b, ", / %" PRIu64, t->scale.divide);
	if (t->scale.per_ns) {
		weft_buf_str(b, ", per ");
		weft_render_amount(b, (long double)t->scale.per_ns, "ns");
	}
	weft_buf_str(b, ")");
	if (t->n_left_out)
		weft_buf_printf(b, ", %zu of %zu rows", t->n_rows, t->n_rows + t->n_left_out);
	weft_buf_str(b, ":");
	if (o->options.color)
		weft_buf_str(b, "\033[0m");
}

static bool is_histogram(const struct weft_table *t)
{
	return t->kind == WEFT_ACTION_QUANTIZE || t->kind == WEFT_ACTION_LQUANTIZE ||
	       t->kind == WEFT_ACTION_LLQUANTIZE;
}

/* Kinds whose count stands beside their value. */
static bool has_count(const struct weft_table *t)
{
	return t->kind == WEFT_ACTION_AVG || t->kind == WEFT_ACTION_STDDEV;
}

static void put_fraction(struct weft_buf *b, const struct weft_table *t, long double v)
{
	v = weft_scaled(&t->scale, v);
	if (t->unit && !t->scale.divide) /* divided, it is in another unit */
		weft_render_amount(b, v, t->unit);
	else
		weft_buf_printf(b, "%.2Lf", v);
}

static void put_whole(struct weft_buf *b, const struct weft_table *t, weft_wide v)
{
	if (t->unit || weft_is_scaled(&t->scale))
		put_fraction(b, t, (long double)v);
	else
		weft_render_wide(b, v);
}

static void put_value(struct weft_buf *b, const struct weft_table *t, const struct weft_row *row)
{
	switch (t->kind) {
	case WEFT_ACTION_AVG:
		put_fraction(b, t, weft_average(row));
		return;
	case WEFT_ACTION_STDDEV:
		put_fraction(b, t, (long double)row->stddev);
		return;
	case WEFT_ACTION_SUM:
		put_whole(b, t, weft_row_sum(row));
		return;
	case WEFT_ACTION_MIN:
	case WEFT_ACTION_MAX:
		put_whole(b, t,
			  row->value.type.is_signed ? (weft_wide)row->value.i
						    : (weft_wide)row->value.u);
		return;
	default:
		put_whole(b, t, (weft_wide)row->count);
	}
}

static int choose_columns(struct grid *g)
{
	const struct weft_row *first = g->t->rows;

	g->n_keys = first->n_keys;
	g->columns = calloc(g->n_keys + 3, sizeof(*g->columns));
	if (!g->columns)
		return -ENOMEM;
	for (size_t k = 0; k < g->n_keys; k++) {
		enum weft_value_kind kind = first->keys[k].value.type.kind;

		if (kind != WEFT_VALUE_STACK)
			g->columns[g->n_columns++] =
				(struct column){.key = k, .right = kind == WEFT_VALUE_INT};
	}
	g->columns[g->n_columns++] = (struct column){.key = g->n_keys, .right = true};
	if (g->t->kind == WEFT_ACTION_STDDEV)
		g->columns[g->n_columns++] = (struct column){.key = g->n_keys + 2, .right = true};
	if (has_count(g->t))
		g->columns[g->n_columns++] = (struct column){.key = g->n_keys + 1, .right = true};
	return 0;
}

static void fill_heading(struct grid *g, const struct column *c)
{
	const struct weft_table *t = g->t;
	static const char *const beside[] = {"count", "avg"};
	const char *name = c->key < g->n_keys    ? t->rows->keys[c->key].name
			   : c->key == g->n_keys ? weft_kind_name(t->kind)
						 : beside[c->key - g->n_keys - 1];

	weft_escape_text(&g->text, name, strlen(name));
}

static void fill_cell(struct grid *g, const struct weft_row *row, const struct column *c)
{
	if (c->key == g->n_keys)
		put_value(&g->text, g->t, row);
	else if (c->key == g->n_keys + 2)
		put_fraction(&g->text, g->t, weft_average(row));
	else if (c->key > g->n_keys)
		weft_buf_printf(&g->text, "%" PRIu64, row->count);
	else if (c->key < row->n_keys)
		weft_render_value(&g->text, &row->keys[c->key].value, true);
}

static int fill(struct grid *g)
{
	size_t n = 0;

	g->cells = calloc((g->t->n_rows + 1) * g->n_columns, sizeof(*g->cells));
	if (!g->cells)
		return -ENOMEM;
	for (size_t i = 0; i <= g->t->n_rows; i++)
		for (size_t k = 0; k < g->n_columns; k++) {
			struct column *c = &g->columns[k];
			struct cell *cell = &g->cells[n++];
			size_t width;

			cell->start = g->text.n;
			if (i)
				fill_cell(g, &g->t->rows[i - 1], c);
			else
				fill_heading(g, c);
			if (g->text.status)
				return g->text.status;
			cell->size = g->text.n - cell->start;
			width = cell->size ? weft_utf8_count(g->text.data + cell->start, cell->size)
					   : 0;
			c->width = width > c->width ? width : c->width;
		}
	return 0;
}

static void put_line(struct weft_buf *b, const struct grid *g, size_t line)
{
	for (size_t k = 0; k < g->n_columns; k++) {
		const struct cell *cell = &g->cells[line * g->n_columns + k];
		const char *text = cell->size ? g->text.data + cell->start : "";
		size_t pad = g->columns[k].width - weft_utf8_count(text, cell->size);

		weft_buf_str(b, "  ");
		if (g->columns[k].right)
			weft_buf_fill(b, ' ', pad);
		weft_buf_put(b, text, cell->size);
		if (!g->columns[k].right)
			weft_buf_fill(b, ' ', pad);
	}
	weft_buf_str(b, "\n");
}

static int put_grid(struct weft_output *o, const struct weft_table *t)
{
	struct grid g = {.t = t};
	int r = choose_columns(&g);

	if (!r)
		r = fill(&g);
	for (size_t i = 0; !r && i <= t->n_rows; i++) {
		put_line(&o->buf, &g, i);
		if (i)
			weft_render_stacks(&o->buf, t->rows[i - 1].keys, t->rows[i - 1].n_keys, 6);
		r = weft_buf_spill(&o->buf, o->options.out);
	}
	weft_buf_finish(&g.text);
	free(g.cells);
	free(g.columns);
	return r;
}

/* A distribution has no place in a column: the row's keys head it. */
static int put_histograms(struct weft_output *o, const struct weft_table *t)
{
	struct weft_buf *b = &o->buf;
	int r = 0;

	for (size_t i = 0; !r && i < t->n_rows; i++) {
		const struct weft_row *row = &t->rows[i];

		weft_buf_str(b, " ");
		for (size_t k = 0; k < row->n_keys; k++) {
			if (row->keys[k].value.type.kind == WEFT_VALUE_STACK)
				continue;
			weft_buf_str(b, " ");
			weft_escape_text(b, row->keys[k].name, strlen(row->keys[k].name));
			weft_buf_str(b, "=");
			weft_render_value(b, &row->keys[k].value, true);
		}
		weft_buf_printf(b, " %" PRIu64 " value%s\n", row->count, row->count == 1 ? "" : "s");
		weft_render_stacks(b, row->keys, row->n_keys, 6);
		weft_render_histogram(b, t, row, 4, o->options.width);
		r = weft_buf_spill(b, o->options.out);
	}
	return r;
}

int weft_text_table(struct weft_output *o, const struct weft_table *t)
{
	struct weft_buf *b = &o->buf;

	put_heading(o, t);
	if (!t->n_rows) {
		weft_buf_str(b, " no rows\n");
		return 0;
	}
	if (is_histogram(t)) {
		weft_buf_str(b, "\n");
		return put_histograms(o, t);
	}
	if (!t->rows[0].n_keys && t->n_rows == 1) { /* one number needs no table */
		weft_buf_str(b, " ");
		put_value(b, t, t->rows);
		if (t->kind == WEFT_ACTION_STDDEV) {
			weft_buf_str(b, " around ");
			put_fraction(b, t, weft_average(t->rows));
		}
		if (has_count(t))
			weft_buf_printf(b, " of %" PRIu64, t->rows->count);
		weft_buf_str(b, "\n");
		return 0;
	}
	weft_buf_str(b, "\n");
	return put_grid(o, t);
}
