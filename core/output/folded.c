/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Folded stacks, the input of flame graph tools: a row is a line, "frame;frame;...;frame value",
 * outermost first. The keys that are no stacks come before the frames, so that they are the graph's
 * lowest boxes. User frames come before kernel frames, since that is who called whom, and kernel
 * frames bear the mark _[k] by which the tools colour them. A frame without a symbol is named by
 * its module alone, [libc.so.6]: with an address in it, equal ones would not fall together.
 *
 * What has no stack has no place here; that is said on `messages`, once for each.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/output/escape.h"
#include "core/output/render.h"
#include "core/output/sinks.h"

static void put_frame(struct weft_buf *b, const struct weft_frame *f)
{
	const char *slash = f->module ? strrchr(f->module, '/') : NULL;

	if (f->symbol) {
		weft_escape_folded(b, f->symbol);
	} else if (f->module) {
		weft_buf_str(b, "[");
		weft_escape_folded(b, slash && slash[1] ? slash + 1 : f->module);
		weft_buf_str(b, "]");
	} else {
		weft_buf_str(b, "[unknown]");
	}
	if (!f->user)
		weft_buf_str(b, "_[k]");
}

static void next_part(struct weft_buf *b, size_t line)
{
	if (b->n > line)
		weft_buf_str(b, ";");
}

static void put_frames(struct weft_buf *b, size_t line, const struct weft_row *row,
		       enum weft_space space)
{
	for (size_t k = 0; k < row->n_keys; k++) {
		const struct weft_value *v = &row->keys[k].value;

		if (v->type.kind != WEFT_VALUE_STACK || v->type.space != space)
			continue;
		for (size_t i = v->stack.n; i > 0; i--) {
			next_part(b, line);
			put_frame(b, &v->stack.frames[i - 1]);
		}
	}
}

static void put_key(struct weft_buf *b, const struct weft_value *v)
{
	struct weft_buf text = {0};

	if (v->type.kind == WEFT_VALUE_SYMBOL) {
		put_frame(b, v->symbol);
		return;
	}
	/* Rendered first, for numbers; a text is escaped here, its ';' too. */
	if (v->type.kind == WEFT_VALUE_STRING || v->type.kind == WEFT_VALUE_PROBE ||
	    v->type.kind == WEFT_VALUE_CGROUP)
		weft_buf_put(&text, v->text.s, v->text.n);
	else
		weft_render_value(&text, v, false);
	weft_buf_put(&text, "", 1);
	if (text.status)
		b->status = text.status;
	else
		weft_escape_folded(b, *text.data ? text.data : "[empty]");
	weft_buf_finish(&text);
}

static void put_stack(struct weft_buf *b, const struct weft_row *row)
{
	size_t line = b->n;

	for (size_t k = 0; k < row->n_keys; k++)
		if (row->keys[k].value.type.kind != WEFT_VALUE_STACK) {
			next_part(b, line);
			put_key(b, &row->keys[k].value);
		}
	put_frames(b, line, row, WEFT_SPACE_USER);
	put_frames(b, line, row, WEFT_SPACE_KERNEL);
	if (b->n == line)
		weft_buf_str(b, "[unknown]");
}

/* ---- lines that read alike are one: rows may differ only in offsets, which do not show here ---- */

struct line {
	size_t start, n; /* in the buffer of texts */
	size_t first;    /* the row it came from first: greatest first, as rows are sorted */
	weft_wide value;
};

static int by_text(const void *a, const void *b, void *texts)
{
	const struct line *x = a, *y = b;
	const char *data = texts;
	size_t n = x->n < y->n ? x->n : y->n;
	int r = memcmp(data + x->start, data + y->start, n);

	if (!r)
		r = (x->n > y->n) - (x->n < y->n);
	return r ? r : (x->first > y->first) - (x->first < y->first);
}

static int by_value(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

static void combine(enum weft_action_kind kind, weft_wide *into, weft_wide v)
{
	if (kind == WEFT_ACTION_MIN)
		*into = v < *into ? v : *into;
	else if (kind == WEFT_ACTION_MAX)
		*into = v > *into ? v : *into;
	else
		*into += v;
}

static size_t merge(const struct weft_table *t, struct line *lines, size_t n, char *texts)
{
	size_t kept = 0;

	qsort_r(lines, n, sizeof(*lines), by_text, texts);
	for (size_t i = 0; i < n; i++) {
		struct line *last = kept ? &lines[kept - 1] : NULL;

		if (last && last->n == lines[i].n &&
		    !memcmp(texts + last->start, texts + lines[i].start, last->n))
			combine(t->kind, &last->value, lines[i].value);
		else
			lines[kept++] = lines[i];
	}
	qsort(lines, kept, sizeof(*lines), by_value);
	return kept;
}

static int put_table(struct weft_output *o, const struct weft_table *t)
{
	struct line *lines = calloc(t->n_rows, sizeof(*lines));
	struct weft_buf texts = {0};
	size_t n;
	int r = 0;

	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_rows; i++) {
		lines[i].start = texts.n;
		lines[i].first = i;
		put_stack(&texts, &t->rows[i]);
		lines[i].n = texts.n - lines[i].start;
		lines[i].value = t->kind == WEFT_ACTION_COUNT ? (weft_wide)t->rows[i].count
							      : weft_row_sum(&t->rows[i]);
	}
	r = texts.status;
	n = r ? 0 : merge(t, lines, t->n_rows, texts.data);
	for (size_t i = 0; i < n && !r; i++) {
		weft_buf_put(&o->buf, texts.data + lines[i].start, lines[i].n);
		weft_buf_str(&o->buf, " ");
		weft_render_wide(&o->buf, lines[i].value);
		weft_buf_str(&o->buf, "\n");
		r = weft_buf_spill(&o->buf, o->options.out);
	}
	free(lines);
	weft_buf_finish(&texts);
	return r ? r : weft_buf_write(&o->buf, o->options.out);
}

static int say_once(struct weft_output *o, const struct weft_table *t, const char *what)
{
	int r;

	for (size_t i = 0; i < o->n_said; i++)
		if (strcmp(o->said[i], t->name) == 0)
			return 0;
	r = weft_grow(&o->said, &o->cap_said, o->n_said, sizeof(*o->said));
	if (r)
		return r;
	o->said[o->n_said] = strdup(t->name);
	if (!o->said[o->n_said])
		return -ENOMEM;
	o->n_said++;
	weft_buf_str(&o->buf, "folded: ");
	weft_escape_text(&o->buf, t->name, strlen(t->name));
	weft_buf_printf(&o->buf, " %s\n", what);
	return weft_buf_write(&o->buf, o->options.messages);
}

static int folded_table(void *self, const struct weft_table *t)
{
	struct weft_output *o = self;
	bool has_stack = false;

	if (!t->n_rows) /* nothing to leave out either */
		return 0;
	for (size_t k = 0; k < t->rows[0].n_keys; k++)
		has_stack |= t->rows[0].keys[k].value.type.kind == WEFT_VALUE_STACK;
	if (!has_stack)
		return say_once(o, t, "is left out: it has no stack among its keys");
	if (t->kind != WEFT_ACTION_COUNT && t->kind != WEFT_ACTION_SUM &&
	    t->kind != WEFT_ACTION_MIN && t->kind != WEFT_ACTION_MAX)
		return say_once(o, t, "is left out: a line needs one whole number");
	return put_table(o, t);
}

static int folded_record(void *self, const struct weft_record *r)
{
	struct weft_output *o = self;

	(void)r;
	if (o->said_records)
		return 0;
	o->said_records = true;
	weft_buf_str(&o->buf, "folded: records are left out\n");
	return weft_buf_write(&o->buf, o->options.messages);
}

const struct weft_sink weft_folded_sink = {
	.record = folded_record,
	.table = folded_table,
	.loss = weft_message_loss,
	.end = weft_message_end,
	.flush = weft_output_flush,
	.destroy = weft_output_destroy,
};
