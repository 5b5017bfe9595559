/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How an aggregation is shown: said by the set's `aggregations` for every time, by a show action
 * for that time. A member that is 0 was not said.
 */
#ifndef WEFT_CORE_VIEW_H
#define WEFT_CORE_VIEW_H

#include <stdint.h>

enum weft_view_sort { WEFT_SORT_USUAL, WEFT_SORT_VALUE, WEFT_SORT_KEY, WEFT_SORT_COUNT };
enum weft_view_order { WEFT_ORDER_USUAL, WEFT_ORDER_DESC, WEFT_ORDER_ASC };

/* The words, in the order of the enumerations. */
#define WEFT_VIEW_SORTS    "value|key|count"
#define WEFT_VIEW_ORDERS   "desc|asc"
#define WEFT_VIEW_TOP_MOST UINT32_MAX

/* What the words mean, for the pages on either. */
#define WEFT_VIEW_TOP_HELP "Only so many rows, the first in order. How many there are is said."
#define WEFT_VIEW_SORT_HELP                                                                    \
	"What rows are sorted by: the value (which is the usual), the keys, or the number of " \
	"values behind each row. Rows that are equal are sorted by their keys."
#define WEFT_VIEW_ORDER_HELP \
	"Greatest first or least first. By value and count the usual is desc, by keys asc."
#define WEFT_VIEW_DIVIDE_HELP "Values are divided by it. Not for histograms."
#define WEFT_VIEW_PER_HELP                                                                    \
	"Values become so many in this time, such as 1s: they are divided by the time since " \
	"tracing began or the aggregation was last cleared. For counts and sums."

struct weft_view {
	uint32_t top;    /* rows */
	uint32_t sort;   /* enum weft_view_sort */
	uint32_t order;  /* enum weft_view_order */
	uint64_t divide; /* values by this */
	uint64_t per_ns; /* values become so many in this time */
};

/* What one says, and where it says nothing, the other. */
static inline struct weft_view weft_view_over(const struct weft_view *a, const struct weft_view *b)
{
	return (struct weft_view){
		.top = a->top ? a->top : b->top,
		.sort = a->sort ? a->sort : b->sort,
		.order = a->order ? a->order : b->order,
		.divide = a->divide ? a->divide : b->divide,
		.per_ns = a->per_ns ? a->per_ns : b->per_ns,
	};
}

#endif
