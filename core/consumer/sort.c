/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The order of rows: by value, greatest first; rows of equal value by their keys, so that the same
 * contents always look the same. */
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
	return d;
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
		n = a->text.n < b->text.n ? a->text.n : b->text.n;
		d = n ? memcmp(a->text.s, b->text.s, n) : 0;
		return d ? d : compare_u64(a->text.n, b->text.n);
	case WEFT_VALUE_STACK:
		n = a->stack.n < b->stack.n ? a->stack.n : b->stack.n;
		for (i = 0; i < n && !d; i++)
			d = weft_frame_compare(&a->stack.frames[i], &b->stack.frames[i]);
		return d ? d : compare_u64(a->stack.n, b->stack.n);
	}
	return 0;
}

/* a.sum / a.count against b.sum / b.count, exactly: products of 64 bits fit into 128. */
static int compare_average(const struct weft_row *a, const struct weft_row *b)
{
	if (a->value.type.is_signed) {
		__int128 x = (__int128)a->value.i * b->count, y = (__int128)b->value.i * a->count;

		return x < y ? -1 : x > y;
	} else {
		unsigned __int128 x = (unsigned __int128)a->value.u * b->count,
				  y = (unsigned __int128)b->value.u * a->count;

		return x < y ? -1 : x > y;
	}
}

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct weft_row *a = pa, *b = pb;
	const struct weft_table *t = arg;
	size_t i;
	int d;

	switch (t->kind) {
	case WEFT_ACTION_SUM:
	case WEFT_ACTION_MIN:
	case WEFT_ACTION_MAX:
		d = compare_value(&b->value, &a->value);
		break;
	case WEFT_ACTION_AVG:
		d = compare_average(b, a);
		break;
	default:
		d = compare_u64(b->count, a->count);
		break;
	}
	for (i = 0; i < a->n_keys && !d; i++)
		d = compare_value(&a->keys[i].value, &b->keys[i].value);
	return d;
}

void weft_table_sort(struct weft_table *t, struct weft_row *rows)
{
	if (t->n_rows > 1)
		qsort_r(rows, t->n_rows, sizeof(*rows), compare_rows, t);
}
