/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Histograms from rows that are filled by hand. */
#include "core/bucket.h"
#include "tests/consumer/aggregate_rig.h"

struct bucket_key {
	int64_t id;
	int32_t bucket, zero;
};

Test(quantize, rows_of_one_key_are_one_histogram)
{
	static struct weft_field_layout keys[] = {
		{"id", {.kind = WEFT_VALUE_INT, .size = 8, .is_signed = true}, 0, 8}};
	struct fixture f;
	size_t w;

	for (w = 0; w < 2; w++) {
		agg_keyed(&f, WEFT_ACTION_QUANTIZE, 1, keys, 1, 16, 1000);
		f.aggs[0].bucket_offset = 8;
		agg_row(&f, &(struct bucket_key){1, 5, 0}, 3, 0);
		agg_row(&f, &(struct bucket_key){1, -64, 0}, 1, 0);
		agg_row(&f, &(struct bucket_key){1, 63, 0}, 2, 0);
		agg_row(&f, &(struct bucket_key){2, 0, 0}, 100, 0);
		agg_row(&f, &(struct bucket_key){1, -1, 0}, 4, 0);
		agg_row(&f, &(struct bucket_key){1, 1, 0}, 5, 0);
		agg_row(&f, &(struct bucket_key){1, -63, 0}, 6, 0);
		cr_expect_str_eq(
			fixture_show(&f, agg_ways[w]),
			"table a\n"
			"  id=2 : 100 [0,1)=100\n"
			"  id=1 : 21 [-9223372036854775808,-9223372036854775807)=1 "
			"[-9223372036854775807,-4611686018427387903)=6 [-1,0)=4 [1,2)=5 [16,32)=3 "
			"[4611686018427387904,9223372036854775807]=2\n");
		agg_clear(&f, agg_ways[w]);
		agg_row(&f, &(struct bucket_key){1, 5, 0}, 4, 0);
		cr_expect_str_eq(fixture_show(&f, agg_ways[w]), "table a\n  id=1 : 1 [16,32)=1\n");
		fixture_finish(&f);
	}
}

Test(quantize, of_uint64_without_keys)
{
	struct fixture f;
	struct {
		int32_t bucket, zero;
	} key = {64, 0};

	agg_keyed(&f, WEFT_ACTION_QUANTIZE, 1, NULL, 0, 8, 1000);
	f.aggs[0].bucket_offset = 0;
	f.aggs[0].value_type.is_signed = false;
	agg_row(&f, &key, 9, 0);
	key.bucket = 63;
	agg_row(&f, &key, 8, 0);
	cr_expect_str_eq(fixture_show(&f, true),
			 "table a\n  : 17 [4611686018427387904,9223372036854775808)=8 "
			 "[9223372036854775808,18446744073709551615]=9\n");
	fixture_finish(&f);
}

Test(quantize, every_value_lies_in_its_bucket)
{
	int bit, d, u;

	for (u = 0; u < 2; u++) {
		for (bit = 0; bit < 64; bit++) {
			for (d = -2; d <= 2; d++) {
				uint64_t v = (UINT64_C(1) << bit) + (uint64_t)d;
				int64_t from = 0, to = 0;
				bool max = false, in;

				cr_assert(weft_bucket_range(weft_bucket_of(v, u), u, &from, &to,
							    &max));
				if (u)
					in = v >= (uint64_t)from &&
					     (v < (uint64_t)to || (max && v == (uint64_t)to));
				else
					in = (int64_t)v >= from &&
					     ((int64_t)v < to || (max && (int64_t)v == to));
				cr_expect(in, "%lx in [%lx, %lx", v, from, to);
				if (!u) {
					v = 0 - v;
					cr_assert(weft_bucket_range(weft_bucket_of(v, 0), 0, &from,
								    &to, &max));
					cr_expect((int64_t)v >= from && ((int64_t)v < to || max),
						  "%ld in [%ld, %ld", (int64_t)v, from, to);
				}
			}
		}
	}
	/* Neighbours touch. */
	for (bit = -63; bit <= 63; bit++) {
		int64_t from = 0, to = 0, next = 0, ignored;
		bool max;

		weft_bucket_range(bit - 1, false, &from, &to, &max);
		weft_bucket_range(bit, false, &next, &ignored, &max);
		cr_expect_eq(to, next, "%d", bit);
	}
	{
		int64_t from, to;
		bool max;

		cr_expect_not(weft_bucket_range(64, false, &from, &to, &max));
		cr_expect_not(weft_bucket_range(65, true, &from, &to, &max));
		cr_expect_not(weft_bucket_range(-1, true, &from, &to, &max));
		cr_expect_not(weft_bucket_range(-65, false, &from, &to, &max));
	}
}

Test(linear, rows_of_one_key_are_one_histogram)
{
	static struct weft_field_layout keys[] = {
		{"id", {.kind = WEFT_VALUE_INT, .size = 8, .is_signed = true}, 0, 8}};
	struct fixture f;
	size_t w;

	for (w = 0; w < 2; w++) {
		agg_keyed(&f, WEFT_ACTION_LQUANTIZE, 1, keys, 1, 16, 1000);
		f.aggs[0].bucket_offset = 8;
		f.aggs[0].buckets = (struct weft_buckets){
			.how = WEFT_BUCKETS_LINEAR, .from = -10, .to = 15, .step = 10};
		agg_row(&f, &(struct bucket_key){1, 4, 0}, 2, 0);
		agg_row(&f, &(struct bucket_key){1, 0, 0}, 9, 0);
		agg_row(&f, &(struct bucket_key){1, 3, 0}, 3, 0);
		agg_row(&f, &(struct bucket_key){2, 1, 0}, 100, 0);
		agg_row(&f, &(struct bucket_key){1, 5, 0}, 7, 0); /* no bucket of it */
		cr_expect_str_eq(fixture_show(&f, agg_ways[w]),
				 "table a\n"
				 "  id=2 : 100 [-10,0)=100\n"
				 "  id=1 : 14 [-9223372036854775808,-10)=9 [10,15)=3 "
				 "[15,9223372036854775807]=2\n");
		agg_clear(&f, agg_ways[w]);
		agg_row(&f, &(struct bucket_key){1, 0, 0}, 10, 0);
		cr_expect_str_eq(fixture_show(&f, agg_ways[w]),
				 "table a\n  id=1 : 1 [-9223372036854775808,-10)=1\n");
		fixture_finish(&f);
	}
}
