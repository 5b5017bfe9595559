/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Distributions as bars. The buckets that are empty are not in the data, but a gap in a
 * distribution is something to see, so the ones between the first and the last are drawn.
 *
 * The bounds are powers of two. In a unit of time they are shown in the decimal unit that suits
 * them, with three digits (1024 ns is 1.02us): rounded, as opposed to the JSON, which is exact.
 * Bytes and plain numbers have binary multiples, which are exact.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/output/escape.h"
#include "core/output/render.h"

#define BAR_MOST  40u
#define BAR_LEAST 8u

__extension__ typedef __int128 wide;

struct unit {
	const char *name; /* as in the probe set; NULL: none */
	unsigned int step;
	const char *scale[8]; /* each is `step` times the one before it */
};

static const struct unit units[] = {
	{"ns", 1000, {"ns", "us", "ms", "s"}},
	{"us", 1000, {"us", "ms", "s"}},
	{"ms", 1000, {"ms", "s"}},
	{"s", 1000, {"s"}},
	{"bytes", 1024, {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}},
	{NULL, 1024, {"", "K", "M", "G", "T", "P", "E"}},
};

static const struct unit *find_unit(const char *name)
{
	const struct unit *u = units;

	while (u->name && (!name || strcmp(u->name, name) != 0))
		u++;
	return u;
}

static wide widen(int64_t v, const struct weft_bucket *b)
{
	return b->is_unsigned ? (wide)(uint64_t)v : (wide)v;
}

/* Three digits, without zeros at the end. */
static void put_rounded(struct weft_buf *b, double v, const char *suffix)
{
	char text[40];
	int places = v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
	int n = snprintf(text, sizeof(text), "%.*f", places, v);

	while (places && n > 0 && text[n - 1] == '0')
		text[--n] = '\0', places--;
	if (n > 0 && (text[n - 1] == '.' || text[n - 1] == ','))
		text[--n] = '\0';
	weft_buf_printf(b, "%s%s", text, suffix);
}

static void put_bound(struct weft_buf *b, wide v, const struct unit *u)
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
	if (scale == 1)
		weft_buf_printf(b, "%" PRIu64 "%s", n, u->scale[0]);
	else
		put_rounded(b, (double)n / (double)scale, u->scale[i]);
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
	bool to_max;
};

/* All lines, empty ones too; returns their number. Called with lines NULL to count. */
static size_t make_lines(const struct weft_row *row, struct line *lines)
{
	size_t n = 0;

	for (size_t i = 0; i < row->n_buckets; i++) {
		const struct weft_bucket *k = &row->buckets[i];
		wide from = widen(k->from, k);

		for (wide at = i ? widen(row->buckets[i - 1].to, k) : from; at < from;) {
			wide to = next_bound(at);

			if (to <= at || to > from) /* other bounds than expected: one gap */
				to = from;
			if (lines)
				lines[n] = (struct line){.from = at, .to = to};
			n++;
			at = to;
		}
		if (lines)
			lines[n] = (struct line){.from = from,
						 .to = widen(k->to, k),
						 .count = k->count,
						 .to_max = k->to_is_max};
		n++;
	}
	return n;
}

static void put_range(struct weft_buf *b, const struct line *line, const struct unit *u)
{
	weft_buf_str(b, "[");
	put_bound(b, line->from, u);
	weft_buf_str(b, ", ");
	if (line->to_max)
		weft_buf_str(b, "max]");
	else {
		put_bound(b, line->to, u);
		weft_buf_str(b, ")");
	}
}

void weft_render_histogram(struct weft_buf *b, const struct weft_row *row, const char *unit,
			   size_t indent, int width)
{
	const struct unit *u = find_unit(unit);
	size_t n = make_lines(row, NULL), range = 0, digits, bar = BAR_MOST, used;
	struct line *lines = calloc(n ? n : 1, sizeof(*lines));
	struct weft_buf text = {0};
	uint64_t most = 0;

	if (!lines) {
		b->status = -ENOMEM;
		return;
	}
	make_lines(row, lines);
	for (size_t i = 0; i < n; i++) {
		text.n = 0;
		put_range(&text, &lines[i], u);
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
		put_range(&text, &lines[i], u);
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
