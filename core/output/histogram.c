/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Distributions as bars. The buckets that are empty are not in the data, but a gap in a
 * distribution is something to see, so the ones between the first and the last are drawn.
 *
 * The bounds of quantize are powers of two. In a unit of time they are shown in the decimal unit
 * that suits them, with three digits (1024 ns is 1.02us): rounded, as opposed to the JSON, which is
 * exact. Bytes and plain numbers have binary multiples, which are exact.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/output/escape.h"
#include "core/output/render.h"

#define BAR_MOST  40u
#define BAR_LEAST 8u
#define GAP_MOST  16u /* empty lines of a linear histogram */

typedef weft_wide wide;

static wide widen(int64_t v, const struct weft_bucket *b)
{
	return b->is_unsigned ? (wide)(uint64_t)v : (wide)v;
}

/* n / scale with all of its digits; scale is a power of ten. */
static void put_decimal(struct weft_buf *b, uint64_t n, uint64_t scale, const char *suffix)
{
	uint64_t rest = n % scale;

	weft_buf_printf(b, "%" PRIu64, n / scale);
	if (rest)
		weft_buf_str(b, ".");
	while (rest) {
		scale /= 10;
		weft_buf_printf(b, "%" PRIu64, rest / scale);
		rest %= scale;
	}
	weft_buf_str(b, suffix);
}

/* exact: neighbours may be alike in their first digits. */
static void put_bound(struct weft_buf *b, wide v, const struct weft_unit *u, bool exact)
{
	uint64_t n = (uint64_t)(v < 0 ? -v : v), scale = 1;
	size_t i = 0;

	if (v < 0)
		weft_buf_str(b, "-");
	if (u->step == 1024) { /* only where it is exact */
		while (u->scale[i + 1] && n && n % (scale * 1024) == 0) {
			scale *= 1024;
			i++;
		}
		weft_buf_printf(b, "%" PRIu64 "%s", n / scale, u->scale[i]);
		return;
	}
	while (u->scale[i + 1] && n / scale >= u->step) {
		scale *= u->step;
		i++;
	}
	if (scale == 1 || exact)
		put_decimal(b, n, scale, u->scale[i]);
	else
		weft_render_rounded(b, (double)n / (double)scale, u->scale[i]);
}

static bool is_power(wide v)
{
	return v > 0 && (v & (v - 1)) == 0;
}

/* The bound after v: double it, or halve it below zero, where bounds may be -2^k or 1 - 2^k. */
static wide next_bound(wide v)
{
	if (v >= 0)
		return v ? v * 2 : 1;
	if (v == -1)
		return 0;
	return is_power(-v) ? v / 2 : is_power(1 - v) ? (v - 1) / 2 + 1 : 0;
}

struct line {
	wide from, to;
	uint64_t count;
	bool from_min, to_max;
};

/* The empty lines between two buckets whose bounds are powers of two. */
static size_t make_gap(wide at, wide from, struct line *lines)
{
	size_t n = 0;

	while (at < from) {
		wide to = next_bound(at);

		if (to <= at || to > from) /* other bounds than expected: one gap */
			to = from;
		if (lines)
			lines[n] = (struct line){.from = at, .to = to};
		n++;
		at = to;
	}
	return n;
}

/* The same by the numbers of the buckets. A gap that is long is one line. */
static size_t make_numbered_gap(const struct weft_buckets *buckets, const struct weft_bucket *before,
				const struct weft_bucket *after, struct line *lines)
{
	size_t n = (size_t)((int64_t)after->number - before->number - 1);
	struct weft_bucket_range r;

	if (n > GAP_MOST) {
		if (lines)
			*lines = (struct line){.from = widen(before->to, before),
					       .to = widen(after->from, after)};
		return 1;
	}
	for (size_t i = 0; lines && i < n; i++) {
		weft_buckets_range(buckets, before->number + 1 + (int32_t)i, &r);
		lines[i] = (struct line){.from = widen(r.from, before), .to = widen(r.to, before)};
	}
	return n;
}

static bool is_numbered(const struct weft_buckets *buckets)
{
	return buckets && buckets->how != WEFT_BUCKETS_POWERS;
}

/* All lines, empty ones too; returns their number. Called with lines NULL to count. */
static size_t make_lines(const struct weft_row *row, const struct weft_buckets *buckets,
			 struct line *lines)
{
	bool numbered = is_numbered(buckets);
	size_t n = 0;

	for (size_t i = 0; i < row->n_buckets; i++) {
		const struct weft_bucket *k = &row->buckets[i], *before = i ? k - 1 : NULL;
		wide from = widen(k->from, k);

		if (before && numbered)
			n += make_numbered_gap(buckets, before, k, lines ? lines + n : NULL);
		else if (before)
			n += make_gap(widen(before->to, k), from, lines ? lines + n : NULL);
		if (lines)
			lines[n] = (struct line){.from = from,
						 .to = widen(k->to, k),
						 .count = k->count,
						 .from_min = k->from_is_min,
						 .to_max = k->to_is_max};
		n++;
	}
	return n;
}

static void put_range(struct weft_buf *b, const struct line *line, const struct weft_unit *u,
		      bool exact)
{
	weft_buf_str(b, "[");
	if (line->from_min)
		weft_buf_str(b, "min");
	else
		put_bound(b, line->from, u, exact);
	weft_buf_str(b, ", ");
	if (line->to_max)
		weft_buf_str(b, "max]");
	else {
		put_bound(b, line->to, u, exact);
		weft_buf_str(b, ")");
	}
}

void weft_render_histogram(struct weft_buf *b, const struct weft_table *t,
			   const struct weft_row *row, size_t indent, int width)
{
	const struct weft_unit *u = weft_unit_find(t->unit);
	size_t n = make_lines(row, t->buckets, NULL), range = 0, digits, bar = BAR_MOST, used;
	struct line *lines = calloc(n ? n : 1, sizeof(*lines));
	struct weft_buf text = {0};
	bool exact = is_numbered(t->buckets);
	uint64_t most = 0;

	if (!lines) {
		b->status = -ENOMEM;
		return;
	}
	make_lines(row, t->buckets, lines);
	for (size_t i = 0; i < n; i++) {
		text.n = 0;
		put_range(&text, &lines[i], u, exact);
		range = text.n > range ? text.n : range;
		most = lines[i].count > most ? lines[i].count : most;
	}
	text.n = 0;
	weft_buf_printf(&text, "%" PRIu64, most);
	digits = text.n;
	used = indent + range + 2 + digits + 3;
	if (width > 0 && used + bar > (size_t)width)
		bar = (size_t)width > used + BAR_LEAST ? (size_t)width - used : BAR_LEAST;
	for (size_t i = 0; i < n; i++) {
		/* Something is at least one mark. */
		size_t marks = most ? (size_t)((wide)lines[i].count * (wide)bar / (wide)most) : 0;

		if (lines[i].count && !marks)
			marks = 1;
		text.n = 0;
		put_range(&text, &lines[i], u, exact);
		weft_buf_fill(b, ' ', indent);
		weft_buf_put(b, text.data, text.n);
		weft_buf_fill(b, ' ', range - text.n);
		weft_buf_printf(b, "  %*" PRIu64 " |", (int)digits, lines[i].count);
		weft_buf_fill(b, '#', marks);
		weft_buf_fill(b, ' ', bar - marks);
		weft_buf_str(b, "|\n");
	}
	if (text.status)
		b->status = text.status;
	weft_buf_finish(&text);
	free(lines);
}
