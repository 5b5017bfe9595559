/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sums beyond 64 bits, standard deviations, and words that were caught half written. The words are
 * filled by hand, as core/plan.h says that programs leave them.
 */
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "core/wide.h"
#include "tests/consumer/support.h"

enum { SLOT = 1024 };

static uint64_t *slot(struct fixture *f, uint32_t cpu)
{
	return (uint64_t *)((uint8_t *)f->t.maps.state + SLOT + cpu * WEFT_SLOT_STRIDE);
}

static void start(struct fixture *f, enum weft_action_kind kind, bool is_signed)
{
	fixture_init(f);
	f->aggs[0] = (struct weft_aggregation){
		.name = "a",
		.kind = kind,
		.bucket_offset = -1,
		.value_words = weft_value_words(kind),
		.value_type = {.kind = WEFT_VALUE_INT, .size = 8, .is_signed = is_signed},
		.map = -1,
		.state_offset = SLOT};
	f->t.plan.n_aggregations = 1;
	f->t.plan.n_cpus = 2;
	fixture_start(f);
}

/* What a program does with a value, in the plainest way: whole numbers, then words. */
static void add(uint64_t *words, enum weft_action_kind kind, uint64_t v, bool is_signed)
{
	uint64_t *sum = words + WEFT_SUM_WORD;
	weft_wide all = weft_wide_of(sum[0], (int64_t)sum[1], !is_signed);
	uint64_t x = is_signed && (int64_t)v < 0 ? 0 - v : v;
	weft_uwide square = (weft_uwide)x * x, carry;

	all += is_signed ? (weft_wide)(int64_t)v : (weft_wide)v;
	sum[0] = (uint64_t)all;
	sum[1] = (uint64_t)((all - (is_signed ? (weft_wide)(int64_t)sum[0] : (weft_wide)sum[0])) >>
			    64);
	words[0]++;
	words[weft_value_words(kind) - 1]++;
	if (kind != WEFT_ACTION_STDDEV)
		return;
	carry = (weft_uwide)words[3] + (uint64_t)square;
	words[3] = (uint64_t)carry;
	carry = (carry >> 64) + words[4] + (square >> 64);
	words[4] = (uint64_t)carry;
	words[5] += (uint64_t)(carry >> 64);
}

static void clear(struct fixture *f)
{
	cr_assert_eq(weft_aggregate_clear(f->c, 0, true, f->t.err), 0);
}

Test(sums, beyond_64_bits)
{
	struct fixture f;

	start(&f, WEFT_ACTION_SUM, true);
	add(slot(&f, 0), WEFT_ACTION_SUM, INT64_MAX, true);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : 9223372036854775807\n");
	add(slot(&f, 0), WEFT_ACTION_SUM, 1, true);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : -9223372036854775808 +1*2^64\n");
	/* Each CPU's sum fits; all of them together do not. */
	add(slot(&f, 0), WEFT_ACTION_SUM, (uint64_t)-1, true);
	add(slot(&f, 1), WEFT_ACTION_SUM, INT64_MAX, true);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : -2 +1*2^64\n");
	clear(&f);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n");
	for (int i = 0; i < 5; i++)
		add(slot(&f, 1), WEFT_ACTION_SUM, (uint64_t)INT64_MIN, true);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : -9223372036854775808 -2*2^64\n");
	clear(&f);
	add(slot(&f, 0), WEFT_ACTION_SUM, 7, true);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : 7\n",
			 "what was beyond is cleared, too");
	fixture_finish(&f);

	start(&f, WEFT_ACTION_SUM, false);
	add(slot(&f, 0), WEFT_ACTION_SUM, UINT64_MAX, false);
	add(slot(&f, 1), WEFT_ACTION_SUM, UINT64_MAX, false);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : 18446744073709551614 +1*2^64\n");
	fixture_finish(&f);

	start(&f, WEFT_ACTION_AVG, false);
	add(slot(&f, 0), WEFT_ACTION_AVG, UINT64_MAX, false);
	add(slot(&f, 1), WEFT_ACTION_AVG, UINT64_MAX, false);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : 18446744073709551614/2 +1*2^64\n");
	fixture_finish(&f);
}

/* The same by another road: the mean first, then the squares of what is left, in long double. */
static long double by_deviations(const int64_t *v, size_t n)
{
	long double mean = 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		mean += (long double)v[i] / (long double)n;
	for (size_t i = 0; i < n; i++)
		sum += ((long double)v[i] - mean) * ((long double)v[i] - mean);
	return sqrtl(sum / (long double)n);
}

static double shown_stddev(struct fixture *f)
{
	const char *text = fixture_show(f, true), *at = strstr(text, "+-");

	cr_assert(at != NULL, "%s", text);
	return strtod(at + 2, NULL);
}

static void expect_stddev(const int64_t *v, size_t n, double want)
{
	struct fixture f;
	double got;

	start(&f, WEFT_ACTION_STDDEV, true);
	for (size_t i = 0; i < n; i++)
		add(slot(&f, i % 2), WEFT_ACTION_STDDEV, (uint64_t)v[i], true);
	got = shown_stddev(&f);
	cr_expect(fabs(got - want) <= 4 * DBL_EPSILON * want, "%.17g, not %.17g", got, want);
	clear(&f);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n");
	fixture_finish(&f);
}

#define EXPECT(want, ...)                                                      \
	do {                                                                   \
		const int64_t v_[] = {__VA_ARGS__};                            \
		expect_stddev(v_, sizeof(v_) / sizeof(v_[0]), (double)(want)); \
	} while (0)

Test(stddev, of_a_population)
{
	EXPECT(0, 5);
	EXPECT(0, INT64_MIN);
	EXPECT(0, INT64_MAX, INT64_MAX, INT64_MAX);
	EXPECT(2, 2, 4, 4, 4, 5, 5, 7, 9);
	EXPECT(0.5, 1, 2);
	EXPECT(0.5, -1, 0);
	EXPECT(1, -1, 1);
	EXPECT(0.5, INT64_MAX, INT64_MAX - 1); /* lost in any floating point number */
	EXPECT(0.5, INT64_MIN, INT64_MIN + 1);
	EXPECT(9223372036854775807.5L, INT64_MIN, INT64_MAX);
	EXPECT(1e10L, 10000000000, -10000000000);
	EXPECT(0.5, 10000000000, 10000000001);
	EXPECT(4.898979485566356, 0, 12, 0, 12, 6, 6); /* sqrt(24) */
}

Test(stddev, of_random_values)
{
	int64_t v[64];

	srand(5);
	for (int round = 0; round < 200; round++) {
		int shift = rand() % 63;
		size_t n = 2 + (size_t)rand() % 62;
		double got, want;
		struct fixture f;

		start(&f, WEFT_ACTION_STDDEV, true);
		for (size_t i = 0; i < n; i++) {
			v[i] = (int64_t)((uint64_t)rand() << 33 ^ (uint64_t)rand() << 11 ^
					 (uint64_t)rand()) >>
			       shift;
			add(slot(&f, i % 2), WEFT_ACTION_STDDEV, (uint64_t)v[i], true);
		}
		got = shown_stddev(&f);
		want = (double)by_deviations(v, n);
		cr_expect(fabs(got - want) <= 1e-13 * want, "%.17g, not %.17g", got, want);
		fixture_finish(&f);
	}
}

Test(stddev, of_uint64)
{
	struct fixture f;

	start(&f, WEFT_ACTION_STDDEV, false);
	add(slot(&f, 0), WEFT_ACTION_STDDEV, UINT64_MAX, false);
	add(slot(&f, 1), WEFT_ACTION_STDDEV, UINT64_MAX - 2, false);
	cr_expect_str_eq(fixture_show(&f, true),
			 "table a\n  : 18446744073709551612/2 +-1 +1*2^64\n");
	add(slot(&f, 0), WEFT_ACTION_STDDEV, 0, false);
	add(slot(&f, 0), WEFT_ACTION_STDDEV, 0, false);
	cr_expect_str_eq(fixture_show(&f, true),
			 "table a\n  : 18446744073709551612/4 +-9.2233720368547758e+18 +1*2^64\n");
	fixture_finish(&f);
}

Test(stddev, since_the_last_clear)
{
	struct fixture f;

	start(&f, WEFT_ACTION_STDDEV, true);
	for (int i = 0; i < 100; i++)
		add(slot(&f, i % 2), WEFT_ACTION_STDDEV, (uint64_t)(INT64_MAX - i), true);
	clear(&f);
	add(slot(&f, 0), WEFT_ACTION_STDDEV, (uint64_t)-3, true);
	add(slot(&f, 1), WEFT_ACTION_STDDEV, (uint64_t)-7, true);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : -10/2 +-2\n");
	fixture_finish(&f);
}

/* ---- words that are half written ---- */

static uint64_t unsettled_losses(struct fixture *f)
{
	uint64_t total;

	cr_assert_eq(weft_consumer_losses(f->c, NULL, 0, &total), 0);
	return total;
}

/* AGGREGATION_UNSETTLED: what never stands still is not shown, not cleared, and reported. */
Test(unsettled, AGGREGATION_UNSETTLED)
{
	struct fixture f;

	start(&f, WEFT_ACTION_STDDEV, true);
	add(slot(&f, 0), WEFT_ACTION_STDDEV, 5, true);
	add(slot(&f, 1), WEFT_ACTION_STDDEV, 7, true);
	slot(&f, 1)[6]++; /* begun, and not ended */
	cr_expect_str_eq(fixture_show(&f, true), "table a\n");
	cr_expect_eq(unsettled_losses(&f), 1);
	cr_expect_str_eq(seen_text(&f.seen), "loss AGGREGATION_UNSETTLED 1 a\n");
	clear(&f);
	slot(&f, 1)[6]--;
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : 12/2 +-1\n");
	cr_expect_eq(unsettled_losses(&f), 1);
	fixture_finish(&f);
}

static void *end_it(void *arg)
{
	struct timespec pause = {.tv_nsec = 3000000};
	uint64_t *words = arg;

	nanosleep(&pause, NULL);
	__atomic_fetch_add(&words[1], 8, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&words[0], 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* A program that was preempted in the middle is waited for. */
Test(unsettled, is_read_again)
{
	pthread_t thread;
	struct fixture f;

	start(&f, WEFT_ACTION_AVG, true);
	add(slot(&f, 0), WEFT_ACTION_AVG, 5, true);
	slot(&f, 0)[3]++;
	cr_assert_eq(pthread_create(&thread, NULL, end_it, slot(&f, 0)), 0);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : 13/2\n");
	pthread_join(thread, NULL);
	cr_expect_eq(unsettled_losses(&f), 0);
	fixture_finish(&f);
}

static void *carry_it(void *arg)
{
	struct timespec pause = {.tv_nsec = 3000000};
	uint64_t *words = arg;

	nanosleep(&pause, NULL);
	__atomic_fetch_add(&words[2], 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&words[0], 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* A sum that has just outgrown 64 bits, before that was carried, is not shown 2^64 off. */
Test(unsettled, sum_that_crosses_64_bits)
{
	pthread_t thread;
	struct fixture f;

	start(&f, WEFT_ACTION_SUM, true);
	add(slot(&f, 0), WEFT_ACTION_SUM, INT64_MAX, true);
	slot(&f, 0)[3]++;
	slot(&f, 0)[1] += 1;
	cr_assert_eq(pthread_create(&thread, NULL, carry_it, slot(&f, 0)), 0);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : -9223372036854775808 +1*2^64\n");
	pthread_join(thread, NULL);
	cr_expect_eq(unsettled_losses(&f), 0);
	fixture_finish(&f);
}

/* One of two rows stands still: it is shown. */
Test(unsettled, other_rows_are_shown)
{
	static struct weft_field_layout keys[] = {{"id", {.kind = WEFT_VALUE_INT, .size = 8}, 0, 8}};
	struct fixture f;
	uint64_t *value, id;

	fixture_init(&f);
	test_spec(&f.t, WEFT_PLAN_FIRST_FREE, WEFT_MAP_AGG, "weft_a", BPF_MAP_TYPE_PERCPU_HASH, 8,
		  32, 10, BPF_F_NO_PREALLOC);
	f.t.specs[WEFT_PLAN_FIRST_FREE].used = true;
	f.aggs[0] = (struct weft_aggregation){
		.name = "a",
		.kind = WEFT_ACTION_AVG,
		.keys = keys,
		.n_keys = 1,
		.key_size = 8,
		.bucket_offset = -1,
		.value_words = 4,
		.value_type = {.kind = WEFT_VALUE_INT, .size = 8, .is_signed = true},
		.map = WEFT_PLAN_FIRST_FREE};
	f.t.plan.n_aggregations = 1;
	fixture_start(&f);
	value = calloc(f.t.plan.n_cpus, 32);
	for (id = 1; id <= 2; id++) {
		add(value, WEFT_ACTION_AVG, id, true);
		value[3] += id - 1;
		cr_assert_eq(weft_bpf_map_update(f.t.maps.fds[WEFT_PLAN_FIRST_FREE], &id, value,
						 BPF_ANY),
			     0);
		value[3] = value[0];
	}
	free(value);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  id=1 : 1/1\n");
	cr_expect_str_eq(fixture_show(&f, false), "table a\n  id=1 : 1/1\n");
	cr_expect_eq(unsettled_losses(&f), 2);
	fixture_finish(&f);
}
