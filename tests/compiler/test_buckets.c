/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Linear and log-linear histograms: the bucket that a program puts a value in, against bounds that
 * are listed here one by one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/buckets.h"
#include "core/kernel/bpf.h"
#include "core/wide.h"
#include "rig.h"

#define BOUNDS_MOST 4096

/* Bucket k holds [bounds[k - 1], bounds[k]). */
struct bounds {
	weft_wide at[BOUNDS_MOST];
	size_t n;
};

static void add_bound(struct bounds *b, weft_wide v)
{
	cr_assert(b->n < BOUNDS_MOST);
	cr_assert(!b->n || b->at[b->n - 1] < v);
	b->at[b->n++] = v;
}

static void list_linear(struct bounds *b, weft_wide from, weft_wide to, weft_wide step)
{
	b->n = 0;
	for (weft_wide v = from; v < to; v += step)
		add_bound(b, v);
	add_bound(b, to);
}

static void list_log_linear(struct bounds *b, uint64_t factor, uint64_t low, uint64_t high,
			    uint64_t steps)
{
	weft_wide v = 1;

	b->n = 0;
	for (uint64_t m = 0; m < low; m++)
		v *= factor;
	for (uint64_t m = low; m <= high; m++) {
		weft_wide to = v * factor, pieces = to < steps ? to : steps;

		for (; v < to; v += to / pieces)
			add_bound(b, v);
		cr_assert(v == to);
	}
	add_bound(b, v);
}

static int32_t bucket_by(const struct bounds *b, weft_wide v)
{
	int32_t bucket = 0;

	for (size_t i = 0; i < b->n; i++)
		bucket += v >= b->at[i];
	return bucket;
}

static weft_wide widen(uint64_t v, bool is_signed)
{
	return is_signed ? (weft_wide)(int64_t)v : (weft_wide)v;
}

/* The numbers' own bounds are the ones that were listed, and nothing is left between. */
static void expect_ranges(const struct weft_buckets *b, const struct bounds *want, bool is_signed)
{
	int32_t last = weft_buckets_last(b);
	struct weft_bucket_range r;

	cr_expect((size_t)last == want->n, "%d, not %zu", last, want->n);
	for (int32_t k = 1; k < last; k++) {
		cr_expect(weft_buckets_range(b, k, &r));
		cr_expect(!r.from_is_min && !r.to_is_max);
		cr_expect(widen((uint64_t)r.from, is_signed) == want->at[k - 1], "from of %d", k);
		cr_expect(widen((uint64_t)r.to, is_signed) == want->at[k], "to of %d", k);
	}
	cr_expect(weft_buckets_range(b, last, &r) && r.to_is_max && !r.from_is_min);
	cr_expect(widen((uint64_t)r.from, is_signed) == want->at[want->n - 1]);
	cr_expect(r.to == (is_signed ? INT64_MAX : -1));
	if (want->at[0] > (is_signed ? (weft_wide)INT64_MIN : 0)) {
		cr_expect(weft_buckets_range(b, 0, &r) && r.from_is_min && !r.to_is_max);
		cr_expect(widen((uint64_t)r.to, is_signed) == want->at[0]);
		cr_expect(r.from == (is_signed ? INT64_MIN : 0));
	} else {
		cr_expect(!weft_buckets_range(b, 0, &r), "nothing lies below the least value");
	}
	cr_expect(!weft_buckets_range(b, -1, &r) && !weft_buckets_range(b, last + 1, &r));
}

static int32_t bucket_of(struct rig *r, uint64_t v)
{
	const uint64_t words[RIG_ARGS] = {v};
	struct rig_row rows[2];
	int32_t bucket;

	rig_run(r, words);
	cr_assert(rig_rows(r, rig_agg(r, "a")->map, rows, 2) == 1);
	memcpy(&bucket, rows[0].key, sizeof(bucket));
	cr_assert(weft_bpf_map_delete(r->maps.fds[rig_agg(r, "a")->map], rows[0].key) == 0);
	return bucket;
}

static void expect_values(struct rig *r, const struct bounds *want, bool is_signed)
{
	static const uint64_t always[] = {0,
					  1,
					  UINT64_MAX,
					  INT64_MAX,
					  (uint64_t)INT64_MIN,
					  (uint64_t)INT64_MIN + 1,
					  10000000000,
					  (uint64_t)-10000000000};
	weft_wide least = is_signed ? INT64_MIN : 0,
		  most = is_signed ? (weft_wide)INT64_MAX : (weft_wide)UINT64_MAX;

	for (size_t i = 0; i < N(always); i++)
		cr_expect(bucket_of(r, always[i]) == bucket_by(want, widen(always[i], is_signed)),
			  "%lx", always[i]);
	/* Both sides of every bound, or of some where they are many. */
	for (size_t i = 0; i<want->n; i += want->n> 200 ? 37 : 1) {
		for (int d = -1; d <= 1; d++) {
			weft_wide v = want->at[i] + d;
			int32_t bucket;

			if (v < least || v > most)
				continue;
			bucket = bucket_of(r, (uint64_t)v);
			cr_expect(bucket == bucket_by(want, v), "bound %zu %+d: bucket %d, not %d",
				  i, d, bucket, bucket_by(want, v));
		}
	}
	cr_expect(!rig_losses(r));
}

static const struct {
	const char *from, *to, *step;
	weft_wide v[3];
	int sign; /* 1: of signed values alone, 2: of unsigned alone, 0: of both */
} linear[] = {
	{"from||0", "to||100", "step||10", {0, 100, 10}, 0},
	{"from||0", "to||100", "step||1", {0, 100, 1}, 0},
	{"from||5", "to||6", "step||1", {5, 6, 1}, 0},
	{"from||0", "to||10", "step||100", {0, 10, 100}, 0},
	{"from||0", "to||10", "step||4", {0, 10, 4}, 0}, /* the rest is a bucket */
	{"from||-50", "to||50", "step||7", {-50, 50, 7}, 1},
	{"from||0", "to||1ms", "step||10us", {0, 1000000, 10000}, 0},
	{"from||-9223372036854775808",
	 "to||9223372036854775807",
	 "step||0x1000000000000000",
	 {INT64_MIN, INT64_MAX, INT64_C(1) << 60},
	 1},
	{"from||-9223372036854775808",
	 "to||9223372036854775807",
	 "step||0xffffffffffffffff",
	 {INT64_MIN, INT64_MAX, UINT64_MAX},
	 1},
	{"from||9223372036854775800",
	 "to||9223372036854775807",
	 "step||2",
	 {INT64_MAX - 7, INT64_MAX, 2},
	 0},
	{"from||0",
	 "to||0xffffffffffffffff",
	 "step||0x100000000000000",
	 {0, UINT64_MAX, INT64_C(1) << 56},
	 2},
	{"from||0x8000000000000000",
	 "to||0x8000000000000010",
	 "step||1",
	 {UINT64_C(1) << 63, (UINT64_C(1) << 63) + 16, 1},
	 2},
};

Test(compiler_buckets, linear)
{
	static struct bounds want;

	for (size_t i = 0; i < 2 * N(linear); i++) {
		bool is_signed = i % 2;
		struct rig r;

		if (linear[i / 2].sign == (is_signed ? 2 : 1))
			continue;
		rig_init(&r);
		rig_arg(&r, 0, 8, is_signed);
		rig_clause(&r, NULL, "lquantize", "into||a", "value||arg0", linear[i / 2].from,
			   linear[i / 2].to, linear[i / 2].step, NULL);
		rig_load(&r);
		list_linear(&want, linear[i / 2].v[0], linear[i / 2].v[1], linear[i / 2].v[2]);
		expect_ranges(&rig_agg(&r, "a")->buckets, &want, is_signed);
		expect_values(&r, &want, is_signed);
		rig_finish(&r);
	}
}

Test(compiler_buckets, log_linear)
{
	static const uint64_t cases[][4] = {
		{10, 0, 6, 10},  {10, 0, 6, 20}, {10, 3, 5, 100}, {2, 0, 61, 2},   {2, 0, 61, 4},
		{10, 0, 17, 10}, {10, 0, 0, 10}, {16, 2, 14, 16}, {2, 10, 20, 64}, {3, 0, 5, 9},
	};
	static struct bounds want;

	for (size_t i = 0; i < 2 * N(cases); i++) {
		const uint64_t *v = cases[i / 2];
		bool is_signed = i % 2;
		char texts[4][32];
		struct rig r;

		snprintf(texts[0], sizeof(texts[0]), "factor||%lu", v[0]);
		snprintf(texts[1], sizeof(texts[1]), "low||%lu", v[1]);
		snprintf(texts[2], sizeof(texts[2]), "high||%lu", v[2]);
		snprintf(texts[3], sizeof(texts[3]), "steps||%lu", v[3]);
		rig_init(&r);
		rig_arg(&r, 0, 8, is_signed);
		rig_clause(&r, NULL, "llquantize", "into||a", "value||arg0", texts[0], texts[1],
			   texts[2], texts[3], NULL);
		rig_load(&r);
		list_log_linear(&want, v[0], v[1], v[2], v[3]);
		expect_ranges(&rig_agg(&r, "a")->buckets, &want, is_signed);
		expect_values(&r, &want, is_signed);
		rig_finish(&r);
	}
}

/* The bucket goes behind whatever keys there are. */
Test(compiler_buckets, behind_keys)
{
	const uint64_t words[RIG_ARGS] = {25, 7};
	struct rig_row rows[3];
	struct rig r;
	int32_t bucket;

	rig_init(&r);
	rig_clause(&r, NULL, "lquantize", "into||a", "by|k|arg1", "by|s|\"abc\"", "by|u|stack",
		   "value||arg0", "from||0", "to||100", "step||10", NULL);
	rig_load(&r);
	rig_run(&r, words);
	rig_run(&r, words);
	cr_assert(rig_rows(&r, rig_agg(&r, "a")->map, rows, 3) == 1);
	memcpy(&bucket, rows[0].key + rig_agg(&r, "a")->bucket_offset, sizeof(bucket));
	cr_expect(rows[0].key[0] == 7 && bucket == 3 && rows[0].value[0] == 2);
	rig_finish(&r);
}

/* AGGREGATION_CONFLICT: one name, two divisions. */
Test(compiler_buckets, AGGREGATION_CONFLICT)
{
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "lquantize", "into||a", "value||arg0", "from||0", "to||100", NULL);
	rig_action(&r, "lquantize", "into||a", "value||arg0", "from||0", "to||200", NULL);
	cr_expect(rig_compile(&r) < 0);
	cr_expect_str_eq(rig_tag(&r), "AGGREGATION_CONFLICT");
	cr_expect(strstr(weft_error_text(r.err), "division into buckets") != NULL);
	rig_finish(&r);
}
