/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Three ways of dividing the integers into buckets, each bucket a number: an i32 at the end of the
 * row's key.
 *
 *  - POWERS (quantize): core/bucket.h.
 *  - LINEAR (lquantize): [from, to) in steps. 0 holds what is less than `from`, n + 1 what is `to`
 *    or more; the buckets between are 1 .. n, and where `step` does not divide the range, the last
 *    of them is the rest.
 *  - LOG_LINEAR (llquantize): from factor^low to factor^(high + 1). Each magnitude, [factor^m,
 *    factor^(m + 1)), is cut into pieces of equal width, such that `steps` of them would fill
 *    [0, factor^(m + 1)); where that is fewer than `steps`, the pieces are 1 wide. 0 holds what is
 *    less than all that, the last number what is more.
 *
 * Numbers sort as values do.
 */
#ifndef WEFT_CORE_BUCKETS_H
#define WEFT_CORE_BUCKETS_H

#include <stdbool.h>
#include <stdint.h>

#define WEFT_BUCKETS_MOST 65536u /* between the outermost two */

enum weft_bucketing { WEFT_BUCKETS_POWERS, WEFT_BUCKETS_LINEAR, WEFT_BUCKETS_LOG_LINEAR };

struct weft_buckets {
	enum weft_bucketing how;
	bool is_unsigned; /* the values are uint64, and so are from and to */
	int64_t from, to; /* LINEAR */
	uint64_t step;
	uint64_t factor, low, high, steps; /* LOG_LINEAR */
};

/* NULL, or what is wrong with the numbers: the end of a sentence that begins with a name. */
const char *weft_buckets_check(const struct weft_buckets *b);

/* The number of the bucket that holds what is greater than all others. POWERS has none: 0. */
int32_t weft_buckets_last(const struct weft_buckets *b);

/* The values of a bucket: from inclusive, to exclusive, as int64 or the bits of uint64. */
struct weft_bucket_range {
	int64_t from, to;
	bool from_is_min; /* `from` is the type's least value because nothing bounds the bucket */
	bool to_is_max;   /* `to` is the type's greatest value, which belongs to the bucket */
};
/* False: the number is no bucket, or one that no value can be in. */
bool weft_buckets_range(const struct weft_buckets *b, int32_t number, struct weft_bucket_range *out);

/* LOG_LINEAR, magnitude m of low .. high: its bounds, the width of its pieces, and the number of
 * the first of them. */
struct weft_magnitude {
	uint64_t from, to, width;
	int32_t first;
};
struct weft_magnitude weft_buckets_magnitude(const struct weft_buckets *b, uint64_t m);

static inline bool weft_buckets_equal(const struct weft_buckets *a, const struct weft_buckets *b)
{
	return a->how == b->how && a->from == b->from && a->to == b->to && a->step == b->step &&
	       a->factor == b->factor && a->low == b->low && a->high == b->high &&
	       a->steps == b->steps;
}

#endif
