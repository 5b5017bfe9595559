/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The order of rows: as the view wants it; rows that are equal by it go by their keys, so that the
 * same contents always look the same. */
#include <stdlib.h>
#include <string.h>

#include "core/consumer/internal.h"

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_i64(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* Texts that are unknown come last. */
static int compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return (a == NULL) - (b == NULL);
	return a == b ? 0 : strcmp(a, b);
}

int weft_frame_compare(const struct weft_frame *a, const struct weft_frame *b)
{
	int d = compare_text(a->symbol, b->symbol);

	if (!d)
		d = compare_text(a->module, b->module);
	if (!d)
		d = (int)weft_frame_has_offset(b) - (int)weft_frame_has_offset(a);
	if (!d)
		d = weft_frame_has_offset(a) ? compare_u64(a->offset, b->offset)
					     : compare_u64(a->address, b->address);
	/* Functions of one name in two files. */
	if (!d)
		d = compare_text(a->file, b->file);
	return d ? d : compare_u64(a->line, b->line);
}

static int compare_value(const struct weft_value *a, const struct weft_value *b)
{
	size_t i, n;
	int d = 0;

	switch (a->type.kind) {
	case WEFT_VALUE_INT:
		return a->type.is_signed ? compare_i64(a->i, b->i) : compare_u64(a->u, b->u);
	case WEFT_VALUE_STRING:
	case WEFT_VALUE_BYTES:
	case WEFT_VALUE_PROBE:
	case WEFT_VALUE_INET:
	case WEFT_VALUE_CGROUP:
		n = a->text.n < b->text.n ? a->text.n : b->text.n;
		d = n ? memcmp(a->text.s, b->text.s, n) : 0;
		return d ? d : compare_u64(a->text.n, b->text.n);
	case WEFT_VALUE_STACK:
		n = a->stack.n < b->stack.n ? a->stack.n : b->stack.n;
		for (i = 0; i < n && !d; i++)
			d = weft_frame_compare(&a->stack.frames[i], &b->stack.frames[i]);
		return d ? d : compare_u64(a->stack.n, b->stack.n);
	case WEFT_VALUE_SYMBOL:
		return weft_frame_compare(a->symbol, b->symbol);
	case WEFT_VALUE_REGS: /* no key */
	case WEFT_VALUE_OBJECT:
		return 0;
	}
	return 0;
}

/* floor(a / b), and what is left of a. */
static weft_wide divide(weft_wide a, uint64_t b, uint64_t *rest)
{
	weft_wide q = a / (weft_wide)b, r = a % (weft_wide)b;

	if (r < 0) {
		q--;
		r += (weft_wide)b;
	}
	*rest = (uint64_t)r;
	return q;
}

static int compare_wide(weft_wide a, weft_wide b)
{
	return a < b ? -1 : a > b;
}

/* a.sum / a.count against b.sum / b.count, exactly: by their whole parts, then by what is left. */
static int compare_average(const struct weft_row *a, const struct weft_row *b)
{
	uint64_t rest_a, rest_b;
	int d = compare_wide(divide(weft_row_sum(a), a->count, &rest_a),
			     divide(weft_row_sum(b), b->count, &rest_b));
	weft_uwide x = (weft_uwide)rest_a * b->count, y = (weft_uwide)rest_b * a->count;

	return d ? d : (x < y ? -1 : x > y);
}

static int compare_values(const struct weft_row *a, const struct weft_row *b,
			  enum weft_action_kind kind)
{
	switch (kind) {
	case WEFT_ACTION_SUM:
		return compare_wide(weft_row_sum(a), weft_row_sum(b));
	case WEFT_ACTION_MIN:
	case WEFT_ACTION_MAX:
		return compare_value(&a->value, &b->value);
	case WEFT_ACTION_AVG:
		return compare_average(a, b);
	case WEFT_ACTION_STDDEV:
		return a->stddev < b->stddev ? -1 : a->stddev > b->stddev;
	default:
		return compare_u64(a->count, b->count);
	}
}

static int compare_keys(const struct weft_row *a, const struct weft_row *b)
{
	int d = 0;

	for (size_t i = 0; i < a->n_keys && !d; i++)
		d = compare_value(&a->keys[i].value, &b->keys[i].value);
	return d;
}

struct order {
	enum weft_action_kind kind;
	enum weft_view_sort sort;
	bool down;
};

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct weft_row *a = pa, *b = pb;
	const struct order *o = arg;
	int d = 0;

	if (o->sort == WEFT_SORT_COUNT)
		d = compare_u64(a->count, b->count);
	else if (o->sort != WEFT_SORT_KEY)
		d = compare_values(a, b, o->kind);
	else
		d = compare_keys(a, b);
	if (o->down)
		d = -d;
	return d ? d : compare_keys(a, b);
}

void weft_table_sort(struct weft_table *t, struct weft_row *rows, const struct weft_view *view)
{
	struct order o = {.kind = t->kind, .sort = (enum weft_view_sort)view->sort};

	o.down = view->order ? view->order == WEFT_ORDER_DESC : o.sort != WEFT_SORT_KEY;
	/* Sums and extremes do not know how many values they are of. */
	if (o.sort == WEFT_SORT_COUNT && (t->kind == WEFT_ACTION_SUM ||
					  t->kind == WEFT_ACTION_MIN || t->kind == WEFT_ACTION_MAX))
		o.sort = WEFT_SORT_VALUE;
	if (t->n_rows > 1)
		qsort_r(rows, t->n_rows, sizeof(*rows), compare_rows, &o);
}
