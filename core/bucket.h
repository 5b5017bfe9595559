/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The buckets of quantize, as programs number them and the consumer shows them. The number is an
 * i32 at the end of the row's key:
 *
 *    0    the value 0
 *    k    values in [2^(k-1), 2^k), k = 1 .. 64 (64 only for uint64)
 *   -k    the mirror: values in (-2^k, -2^(k-1)], k = 1 .. 64 (-64 holds INT64_MIN alone)
 *
 * so that |k| is the number of significant bits of the magnitude, and numbers sort as values do.
 */
#ifndef WEFT_CORE_BUCKET_H
#define WEFT_CORE_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

/* The bucket of a value given as its 64 bits: what programs compute. */
static inline int32_t weft_bucket_of(uint64_t value, bool is_unsigned)
{
	bool negative = !is_unsigned && (int64_t)value < 0;
	uint64_t magnitude = negative ? 0 - value : value;
	int32_t bits = magnitude ? 64 - __builtin_clzll(magnitude) : 0;

	return negative ? -bits : bits;
}

/* The values of a bucket: from inclusive, to exclusive, as int64 or, where is_unsigned, as the bits
 * of uint64. *to_is_max: `to` would be 2^63 (2^64), and is given as the greatest value of the type,
 * which belongs to the bucket. False for a number that is no bucket of the type. */
static inline bool weft_bucket_range(int32_t bucket, bool is_unsigned, int64_t *from, int64_t *to,
				     bool *to_is_max)
{
	int32_t last = is_unsigned ? 64 : 63;

	*to_is_max = false;
	if (bucket == 0) {
		*from = 0;
		*to = 1;
		return true;
	}
	if (bucket > 0) {
		if (bucket > last)
			return false;
		*from = (int64_t)(UINT64_C(1) << (bucket - 1));
		*to_is_max = bucket == last;
		if (*to_is_max)
			*to = is_unsigned ? -1 : INT64_MAX;
		else
			*to = (int64_t)(UINT64_C(1) << bucket);
		return true;
	}
	if (is_unsigned || bucket < -64)
		return false;
	*from = bucket == -64 ? INT64_MIN : (int64_t)(1 - (UINT64_C(1) << -bucket));
	*to = (int64_t)(0 - (UINT64_C(1) << (-bucket - 1))) + 1;
	return true;
}

#endif
