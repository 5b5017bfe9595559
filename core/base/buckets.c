/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/buckets.h"

#include <stddef.h>

#include "core/bucket.h"

/* ---- what the numbers must be ---- */

static bool is_less(const struct weft_buckets *b, int64_t x, int64_t y)
{
	return b->is_unsigned ? (uint64_t)x < (uint64_t)y : x < y;
}

static uint64_t n_linear(const struct weft_buckets *b)
{
	uint64_t range = (uint64_t)b->to - (uint64_t)b->from;

	return range / b->step + (range % b->step != 0);
}

static const char *check_linear(const struct weft_buckets *b)
{
	if (!is_less(b, b->from, b->to))
		return "needs a `from` that is less than `to`";
	if (!b->step)
		return "needs a `step` of at least 1";
	if (n_linear(b) > WEFT_BUCKETS_MOST)
		return "would have more than 65536 buckets: take a larger `step`";
	return NULL;
}

/* factor^m, or 0 where it is more than INT64_MAX. */
static uint64_t power(uint64_t factor, uint64_t m)
{
	uint64_t p = 1;

	for (; m; m--) {
		if (p > INT64_MAX / factor)
			return 0;
		p *= factor;
	}
	return p;
}

static const char *check_log_linear(const struct weft_buckets *b)
{
	uint64_t n = 0;

	if (b->factor < 2)
		return "needs a `factor` of at least 2";
	if (b->low > b->high)
		return "needs a `low` that is at most `high`";
	if (b->high > 62 || !power(b->factor, b->high + 1))
		return "reaches beyond 64 bits: factor^(high + 1) must be less than 2^63";
	if (!b->steps || b->steps % b->factor)
		return "needs `steps` that are a multiple of `factor`";
	for (uint64_t m = b->low; m <= b->high; m++) {
		uint64_t to = power(b->factor, m + 1), pieces = to < b->steps ? to : b->steps;

		if (to % pieces)
			return "needs `steps` that divide each magnitude: factor^(m + 1) for each m "
			       "of `low` to `high`, or be more than that";
		n += pieces - pieces / b->factor;
		if (n > WEFT_BUCKETS_MOST)
			return "would have more than 65536 buckets: take fewer `steps`";
	}
	return NULL;
}

const char *weft_buckets_check(const struct weft_buckets *b)
{
	switch (b->how) {
	case WEFT_BUCKETS_LINEAR:
		return check_linear(b);
	case WEFT_BUCKETS_LOG_LINEAR:
		return check_log_linear(b);
	default:
		return NULL;
	}
}

/* ---- numbers to values ---- */

/* Of the pieces of the magnitude that ends at `to`. */
static uint64_t width_of(const struct weft_buckets *b, uint64_t to)
{
	return b->steps && to > b->steps ? to / b->steps : 1;
}

struct weft_magnitude weft_buckets_magnitude(const struct weft_buckets *b, uint64_t m)
{
	struct weft_magnitude out = {.from = power(b->factor, b->low), .first = 1};

	out.to = out.from * b->factor;
	out.width = width_of(b, out.to);
	for (uint64_t at = b->low; at < m; at++) {
		out.first += (int32_t)((out.to - out.from) / out.width);
		out.from = out.to;
		out.to *= b->factor;
		out.width = width_of(b, out.to);
	}
	return out;
}

int32_t weft_buckets_last(const struct weft_buckets *b)
{
	struct weft_magnitude m;

	switch (b->how) {
	case WEFT_BUCKETS_LINEAR:
		return (int32_t)n_linear(b) + 1;
	case WEFT_BUCKETS_LOG_LINEAR:
		m = weft_buckets_magnitude(b, b->high);
		return m.first + (int32_t)((m.to - m.from) / m.width);
	default:
		return 0;
	}
}

/* A bucket between the outermost two. */
static void inner_range(const struct weft_buckets *b, int32_t number, struct weft_bucket_range *out)
{
	struct weft_magnitude m = {0};
	uint64_t from, to;

	if (b->how == WEFT_BUCKETS_LINEAR) {
		from = (uint64_t)b->from + (uint64_t)(number - 1) * b->step;
		to = (uint64_t)b->to - from < b->step ? (uint64_t)b->to : from + b->step;
	} else {
		for (uint64_t at = b->low; at <= b->high; at++) {
			m = weft_buckets_magnitude(b, at);
			if ((uint64_t)(number - m.first) < (m.to - m.from) / m.width)
				break;
		}
		from = m.from + (uint64_t)(number - m.first) * m.width;
		to = from + m.width;
	}
	out->from = (int64_t)from;
	out->to = (int64_t)to;
}

bool weft_buckets_range(const struct weft_buckets *b, int32_t number, struct weft_bucket_range *out)
{
	int64_t least = b->is_unsigned ? 0 : INT64_MIN, most = b->is_unsigned ? -1 : INT64_MAX;
	int32_t last;

	*out = (struct weft_bucket_range){0};
	if (b->how == WEFT_BUCKETS_POWERS)
		return weft_bucket_range(number, b->is_unsigned, &out->from, &out->to,
					 &out->to_is_max);
	last = weft_buckets_last(b);
	if (number < 0 || number > last)
		return false;
	if (number > 0 && number < last) {
		inner_range(b, number, out);
		return true;
	}
	if (b->how == WEFT_BUCKETS_LINEAR) {
		out->from = b->to;
		out->to = b->from;
	} else {
		out->from = (int64_t)power(b->factor, b->high + 1);
		out->to = (int64_t)power(b->factor, b->low);
	}
	if (number == 0) {
		out->from = least;
		out->from_is_min = true;
		return is_less(b, least, out->to);
	}
	out->to = most;
	out->to_is_max = true;
	return true;
}
