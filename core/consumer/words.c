/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The arithmetic of rows. What programs keep (core/plan.h) is brought into one form as it is read:
 * the two words of a sum as a number of 128 bits in two's complement, the three of a sum of squares
 * as one of 192 bits. In this form words are added and subtracted exactly.
 */
#include <math.h>
#include <string.h>

#include "core/consumer/internal.h"
#include "core/wide.h"

static bool has_sum(const struct weft_aggregation *agg)
{
	return agg->kind == WEFT_ACTION_SUM || agg->kind == WEFT_ACTION_AVG ||
	       agg->kind == WEFT_ACTION_STDDEV;
}

/* Values of a sum are counted before and after, so that one half added shows. */
bool weft_words_can_be_unsettled(const struct weft_aggregation *agg)
{
	return has_sum(agg);
}

/* to += from, or -=, numbers of n words, the lowest first. */
static void add_words(uint64_t *to, const uint64_t *from, size_t n)
{
	weft_uwide carry = 0;

	for (size_t i = 0; i < n; i++) {
		carry += (weft_uwide)to[i] + from[i];
		to[i] = (uint64_t)carry;
		carry >>= 64;
	}
}

static void subtract_words(uint64_t *to, const uint64_t *from, size_t n)
{
	uint64_t borrow = 0;

	for (size_t i = 0; i < n; i++) {
		weft_uwide d = (weft_uwide)to[i] - from[i] - borrow;

		to[i] = (uint64_t)d;
		borrow = (uint64_t)(d >> 64) & 1;
	}
}

static void combine(const struct weft_aggregation *agg, uint64_t *to, const uint64_t *from,
		    void (*fn)(uint64_t *to, const uint64_t *from, size_t n))
{
	fn(to, from, 1);
	if (has_sum(agg))
		fn(to + WEFT_SUM_WORD, from + WEFT_SUM_WORD, 2);
	if (agg->kind == WEFT_ACTION_STDDEV)
		fn(to + WEFT_SQUARES_WORD, from + WEFT_SQUARES_WORD, 3);
}

void weft_words_add(const struct weft_aggregation *agg, uint64_t *to, const uint64_t *from)
{
	if (weft_is_extreme(agg)) {
		to[0] = to[0] > from[0] ? to[0] : from[0];
		to[1] |= from[1];
		return;
	}
	combine(agg, to, from, add_words);
	to[WEFT_ROW_UNSETTLED] |= from[WEFT_ROW_UNSETTLED];
}

void weft_words_subtract(const struct weft_aggregation *agg, uint64_t *from, const uint64_t *what)
{
	combine(agg, from, what, subtract_words);
}

void weft_words_take(const struct weft_aggregation *agg, uint64_t *to, const uint64_t *raw)
{
	uint64_t words[WEFT_ROW_WORDS] = {0};
	uint64_t *sum = words + WEFT_SUM_WORD;
	weft_wide wide;

	memcpy(words, raw, agg->value_words * sizeof(*words));
	if (has_sum(agg)) {
		words[WEFT_ROW_UNSETTLED] = words[0] != words[agg->value_words - 1];
		words[agg->value_words - 1] = 0;
		wide = weft_wide_of(sum[0], (int64_t)sum[1], weft_is_unsigned(agg));
		sum[0] = (uint64_t)wide;
		sum[1] = (uint64_t)((weft_uwide)wide >> 64);
	}
	weft_words_add(agg, to, words);
}

bool weft_words_are_empty(const struct weft_aggregation *agg, const uint64_t *words)
{
	return !words[0] && !(weft_is_extreme(agg) && words[1]);
}

/* ---- what they stand for ---- */

void weft_words_sum(const struct weft_aggregation *agg, const uint64_t *words, struct weft_row *row)
{
	const uint64_t *sum = words + WEFT_SUM_WORD;
	weft_wide low = weft_is_unsigned(agg) ? (weft_wide)sum[0] : (weft_wide)(int64_t)sum[0];
	weft_wide all = (weft_wide)((weft_uwide)sum[1] << 64 | sum[0]);

	row->value.u = sum[0];
	row->wraps = (int64_t)((all - low) >> 64);
}

/* out += a * b, where out has room for the product. */
static void add_product(uint64_t *out, size_t n_out, const uint64_t *a, size_t n_a,
			const uint64_t *b, size_t n_b)
{
	for (size_t i = 0; i < n_a; i++) {
		weft_uwide carry = 0;

		for (size_t k = 0; i + k < n_out; k++) {
			carry += (weft_uwide)a[i] * (k < n_b ? b[k] : 0) + out[i + k];
			out[i + k] = (uint64_t)carry;
			carry >>= 64;
		}
	}
}

/*
 * The variance of n values with sum s and sum of squares q is (n q - s^2) / n^2. The numerator, a
 * difference of nearly equal numbers, is an exact integer of 256 bits; only then there is rounding.
 */
double weft_words_stddev(const uint64_t *words)
{
	const uint64_t *q = words + WEFT_SQUARES_WORD;
	uint64_t s[2] = {words[1], words[2]}, nq[4] = {0}, ss[4] = {0};
	long double numerator = 0;

	if ((int64_t)s[1] < 0) {
		s[0] = s[1] = 0;
		subtract_words(s, words + 1, 2);
	}
	add_product(nq, 4, q, 3, words, 1);
	add_product(ss, 4, s, 2, s, 2);
	subtract_words(nq, ss, 4);
	for (size_t i = 4; i--;)
		numerator = numerator * 18446744073709551616.0L + (long double)nq[i];
	return (double)(sqrtl(numerator) / (long double)words[0]);
}
