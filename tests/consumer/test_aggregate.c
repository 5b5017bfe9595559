/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Aggregations from maps and slots that are filled by hand. Each is read both ways: by iterators,
 * as while probes are attached, and by system calls. */
#include <errno.h>

#include "core/bucket.h"
#include "tests/consumer/support.h"

enum { MAP = WEFT_PLAN_FIRST_FREE, SLOT = 1024 };

static const bool ways[] = {false, true};

static uint64_t *slot(struct fixture *f, uint32_t cpu, uint32_t w)
{
	return (uint64_t *)((uint8_t *)f->t.maps.state + SLOT + cpu * WEFT_SLOT_STRIDE) + w;
}

static void keyless(struct fixture *f, enum weft_action_kind kind, uint32_t words, uint8_t size,
		    bool is_signed)
{
	fixture_init(f);
	f->aggs[0] = (struct weft_aggregation){
		.name = "a",
		.kind = kind,
		.bucket_offset = -1,
		.value_words = words,
		.value_type = {.kind = WEFT_VALUE_INT, .size = size, .is_signed = is_signed},
		.map = -1,
		.state_offset = SLOT};
	f->t.plan.n_aggregations = 1;
	f->t.plan.n_cpus = 2; /* whatever this machine has */
	fixture_start(f);
}

static void keyed(struct fixture *f, enum weft_action_kind kind, uint32_t words,
		  struct weft_field_layout *keys, size_t n_keys, uint32_t key_size, uint32_t entries)
{
	bool extreme = kind == WEFT_ACTION_MIN || kind == WEFT_ACTION_MAX;

	fixture_init(f);
	test_spec(&f->t, MAP, WEFT_MAP_AGG, "weft_a",
		  extreme ? BPF_MAP_TYPE_HASH : BPF_MAP_TYPE_PERCPU_HASH, key_size, 8 * words,
		  entries, BPF_F_NO_PREALLOC);
	f->t.specs[MAP].used = true;
	f->t.specs[WEFT_PLAN_STACKS].used = true;
	f->aggs[0] = (struct weft_aggregation){
		.name = "a",
		.kind = kind,
		.keys = keys,
		.n_keys = n_keys,
		.key_size = key_size,
		.bucket_offset = -1,
		.value_words = words,
		.value_type = {.kind = WEFT_VALUE_INT, .size = 8, .is_signed = true},
		.map = MAP};
	f->t.plan.n_aggregations = 1;
	fixture_start(f);
}

/* Sets a row. In a map per CPU every further CPU gets 7 of the first word, and as many values begun
 * as ended. */
static void row(struct fixture *f, const void *key, uint64_t first, uint64_t second)
{
	uint32_t words = f->aggs[0].value_words, cpu, last = words - 1;
	uint64_t *value = calloc(f->t.plan.n_cpus * words, 8);
	bool percpu = f->t.specs[MAP].type == BPF_MAP_TYPE_PERCPU_HASH;
	bool twice = f->aggs[0].kind == WEFT_ACTION_AVG || f->aggs[0].kind == WEFT_ACTION_STDDEV;

	value[0] = first;
	/* The high word of a sum stays 0: a second value is its own. */
	if (words > 1 && f->aggs[0].kind != WEFT_ACTION_SUM)
		value[1] = second;
	for (cpu = 1; percpu && cpu < f->t.plan.n_cpus; cpu++) {
		value[cpu * words] = 7;
		value[0] -= 7;
	}
	for (cpu = 0; twice && cpu < f->t.plan.n_cpus; cpu++)
		value[cpu * words + last] = value[cpu * words];
	cr_assert_eq(weft_bpf_map_update(f->t.maps.fds[MAP], key, value, BPF_ANY), 0);
	free(value);
}

static void clear(struct fixture *f, bool attached)
{
	cr_assert_eq(weft_aggregate_clear(f->c, 0, attached, f->t.err), 0, "%s",
		     weft_error_text(f->t.err));
}

/* ---- slots ---- */

Test(slots, count_sums_the_cpus)
{
	struct fixture f;

	keyless(&f, WEFT_ACTION_COUNT, 1, 8, true);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n", "nothing has no row");
	*slot(&f, 0, 0) = 3;
	*slot(&f, 1, 0) = 4;
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : 7\n");
	clear(&f, true);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n");
	*slot(&f, 1, 0) = 5;
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : 1\n");
	fixture_finish(&f);
}

static void set_avg(uint64_t *words, uint64_t n, int64_t sum)
{
	words[0] = words[3] = n;
	words[1] = (uint64_t)sum;
	words[2] = 0;
}

Test(slots, sum_and_avg)
{
	struct fixture f;

	keyless(&f, WEFT_ACTION_SUM, 2, 8, true);
	*slot(&f, 0, 0) = 10;
	*slot(&f, 1, 0) = (uint64_t)-30;
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : -20\n");
	*slot(&f, 0, 0) = 30;
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : 0\n", "0 is a sum");
	clear(&f, true);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n");
	fixture_finish(&f);

	keyless(&f, WEFT_ACTION_SUM, 2, 8, false);
	*slot(&f, 0, 0) = UINT64_MAX;
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : 18446744073709551615\n");
	fixture_finish(&f);

	/* Narrower types count as int64. */
	keyless(&f, WEFT_ACTION_SUM, 2, 4, false);
	*slot(&f, 0, 0) = (uint64_t)-1;
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : -1\n");
	fixture_finish(&f);

	keyless(&f, WEFT_ACTION_AVG, 4, 8, true);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n");
	set_avg(slot(&f, 0, 0), 2, -10);
	set_avg(slot(&f, 1, 0), 1, 4);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : -6/3\n");
	clear(&f, true);
	set_avg(slot(&f, 1, 0), 2, 14);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : 10/1\n");
	fixture_finish(&f);
}

/* What a program does with a value: see core/plan.h. */
static void add_max(uint64_t *words, int64_t x)
{
	uint64_t t = (uint64_t)x - (uint64_t)INT64_MIN;

	if (x == INT64_MIN)
		words[1] = 1;
	else if (t > words[0])
		words[0] = t;
}

static void add_min(uint64_t *words, int64_t x)
{
	uint64_t t = (uint64_t)INT64_MAX - (uint64_t)x;

	if (x == INT64_MAX)
		words[1] = 1;
	else if (t > words[0])
		words[0] = t;
}

Test(slots, extremes)
{
	static const int64_t values[] = {INT64_MIN, INT64_MIN + 1, -2,       -1, 0, 1,
					 2,         INT64_MAX - 1, INT64_MAX};
	const size_t n = sizeof(values) / sizeof(values[0]);
	struct fixture f;
	char want[64];
	size_t i, k;

	/* Each pair of values, one on each CPU. */
	keyless(&f, WEFT_ACTION_MAX, 2, 8, true);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n");
	for (i = 0; i < n; i++) {
		for (k = 0; k < n; k++) {
			add_max(slot(&f, 0, 0), values[i]);
			add_max(slot(&f, 1, 0), values[k]);
			snprintf(want, sizeof(want), "table a\n  : %ld\n", values[i > k ? i : k]);
			cr_expect_str_eq(fixture_show(&f, true), want);
			clear(&f, true);
			cr_expect_str_eq(fixture_show(&f, true), "table a\n");
		}
	}
	fixture_finish(&f);
	keyless(&f, WEFT_ACTION_MIN, 2, 8, true);
	for (i = 0; i < n; i++) {
		for (k = 0; k < n; k++) {
			add_min(slot(&f, 0, 0), values[i]);
			add_min(slot(&f, 1, 0), values[k]);
			snprintf(want, sizeof(want), "table a\n  : %ld\n", values[i < k ? i : k]);
			cr_expect_str_eq(fixture_show(&f, true), want);
			clear(&f, true);
		}
	}
	fixture_finish(&f);
}

Test(slots, extremes_of_uint64)
{
	static const uint64_t values[] = {
		0, 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - 1, UINT64_MAX};
	struct fixture f;
	char want[64];
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		int64_t mapped = (int64_t)(values[i] ^ UINT64_C(1) << 63);

		snprintf(want, sizeof(want), "table a\n  : %lu\n", values[i]);
		keyless(&f, WEFT_ACTION_MAX, 2, 8, false);
		add_max(slot(&f, 1, 0), mapped);
		cr_expect_str_eq(fixture_show(&f, true), want);
		fixture_finish(&f);
		keyless(&f, WEFT_ACTION_MIN, 2, 8, false);
		add_min(slot(&f, 1, 0), mapped);
		cr_expect_str_eq(fixture_show(&f, true), want);
		fixture_finish(&f);
	}
}

/* ---- rows ---- */

struct key {
	char name[8];
	int32_t number, gap;
};

static struct weft_field_layout name_number[] = {
	{"name", {.kind = WEFT_VALUE_STRING, .cap = 8}, 0, 8},
	{"number", {.kind = WEFT_VALUE_INT, .size = 4, .is_signed = true}, 8, 4},
};

Test(rows, sorted_by_value_then_key)
{
	struct fixture f;
	size_t w;

	for (w = 0; w < 2; w++) {
		keyed(&f, WEFT_ACTION_COUNT, 1, name_number, 2, 16, 100);
		row(&f, &(struct key){"b", 1, 0}, 10, 0);
		row(&f, &(struct key){"a", 2, 0}, 10, 0);
		row(&f, &(struct key){"a", -3, 0}, 10, 0);
		row(&f, &(struct key){"ab", 0, 0}, 10, 0);
		row(&f, &(struct key){"z", 0, 0}, 1000, 0);
		row(&f, &(struct key){"eightyes", 0, 0}, 8, 0);
		cr_expect_str_eq(fixture_show(&f, ways[w]), "table a\n"
							    "  name=\"z\" number=0 : 1000\n"
							    "  name=\"a\" number=-3 : 10\n"
							    "  name=\"a\" number=2 : 10\n"
							    "  name=\"ab\" number=0 : 10\n"
							    "  name=\"b\" number=1 : 10\n"
							    "  name=\"eightyes\" number=0 : 8\n");
		fixture_finish(&f);
	}
}

Test(rows, averages_are_compared_exactly)
{
	struct fixture f;

	keyed(&f, WEFT_ACTION_AVG, 4, name_number, 2, 16, 100);
	row(&f, &(struct key){"a", 0, 0}, 1000000000, INT64_MAX);
	row(&f, &(struct key){"b", 0, 0}, 999999999, INT64_MAX);
	row(&f, &(struct key){"c", 0, 0}, 1000000000, (uint64_t)INT64_MIN);
	row(&f, &(struct key){"d", 0, 0}, 10, 0);
	cr_expect_str_eq(fixture_show(&f, true),
			 "table a\n"
			 "  name=\"b\" number=0 : 9223372036854775807/999999999\n"
			 "  name=\"a\" number=0 : 9223372036854775807/1000000000\n"
			 "  name=\"d\" number=0 : 0/10\n"
			 "  name=\"c\" number=0 : -9223372036854775808/1000000000\n");
	fixture_finish(&f);
}

Test(rows, clear_subtracts_and_empty_rows_vanish)
{
	struct fixture f;
	size_t w;

	for (w = 0; w < 2; w++) {
		keyed(&f, WEFT_ACTION_COUNT, 1, name_number, 2, 16, 100);
		row(&f, &(struct key){"a", 0, 0}, 100, 0);
		row(&f, &(struct key){"b", 0, 0}, 100, 0);
		clear(&f, ways[w]);
		cr_expect_str_eq(fixture_show(&f, ways[w]), "table a\n");
		row(&f, &(struct key){"b", 0, 0}, 130, 0);
		row(&f, &(struct key){"c", 0, 0}, 50, 0);
		cr_expect_str_eq(fixture_show(&f, ways[w]), "table a\n"
							    "  name=\"c\" number=0 : 50\n"
							    "  name=\"b\" number=0 : 30\n");
		clear(&f, ways[w]);
		row(&f, &(struct key){"a", 0, 0}, 101, 0);
		cr_expect_str_eq(fixture_show(&f, ways[w]), "table a\n"
							    "  name=\"a\" number=0 : 1\n");
		fixture_finish(&f);
	}
}

Test(rows, sums_after_a_clear)
{
	struct fixture f;

	keyed(&f, WEFT_ACTION_SUM, 2, name_number, 2, 16, 100);
	row(&f, &(struct key){"a", 0, 0}, 50, 0);
	row(&f, &(struct key){"zero", 0, 0}, 0, 0);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n"
						 "  name=\"a\" number=0 : 50\n"
						 "  name=\"zero\" number=0 : 0\n");
	clear(&f, true);
	row(&f, &(struct key){"a", 0, 0}, 20, 0);
	row(&f, &(struct key){"new", 0, 0}, 0, 0);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n"
						 "  name=\"new\" number=0 : 0\n"
						 "  name=\"a\" number=0 : -30\n");
	fixture_finish(&f);
}

Test(rows, extremes_are_cleared_by_exchange)
{
	struct fixture f;
	uint64_t words[2];
	struct key a = {"a", 0, 0}, b = {"b", 0, 0};
	size_t w;

	for (w = 0; w < 2; w++) {
		keyed(&f, WEFT_ACTION_MAX, 2, name_number, 2, 16, 100);
		memset(words, 0, sizeof(words));
		add_max(words, -5);
		row(&f, &a, words[0], words[1]);
		memset(words, 0, sizeof(words));
		add_max(words, INT64_MIN);
		row(&f, &b, words[0], words[1]);
		cr_expect_str_eq(fixture_show(&f, ways[w]),
				 "table a\n"
				 "  name=\"a\" number=0 : -5\n"
				 "  name=\"b\" number=0 : -9223372036854775808\n");
		cr_expect_str_eq(fixture_show(&f, ways[w]),
				 "table a\n"
				 "  name=\"a\" number=0 : -5\n"
				 "  name=\"b\" number=0 : -9223372036854775808\n",
				 "a look takes nothing");
		clear(&f, ways[w]);
		cr_expect_str_eq(fixture_show(&f, ways[w]), "table a\n");
		cr_assert_eq(weft_bpf_map_lookup(f.t.maps.fds[MAP], &a, words), 0, "the row stays");
		cr_expect_eq(words[0] | words[1], 0u);
		fixture_finish(&f);
	}
}

/* ---- histograms ---- */

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
		keyed(&f, WEFT_ACTION_QUANTIZE, 1, keys, 1, 16, 1000);
		f.aggs[0].bucket_offset = 8;
		row(&f, &(struct bucket_key){1, 5, 0}, 3, 0);
		row(&f, &(struct bucket_key){1, -64, 0}, 1, 0);
		row(&f, &(struct bucket_key){1, 63, 0}, 2, 0);
		row(&f, &(struct bucket_key){2, 0, 0}, 100, 0);
		row(&f, &(struct bucket_key){1, -1, 0}, 4, 0);
		row(&f, &(struct bucket_key){1, 1, 0}, 5, 0);
		row(&f, &(struct bucket_key){1, -63, 0}, 6, 0);
		cr_expect_str_eq(
			fixture_show(&f, ways[w]),
			"table a\n"
			"  id=2 : 100 [0,1)=100\n"
			"  id=1 : 21 [-9223372036854775808,-9223372036854775807)=1 "
			"[-9223372036854775807,-4611686018427387903)=6 [-1,0)=4 [1,2)=5 [16,32)=3 "
			"[4611686018427387904,9223372036854775807]=2\n");
		clear(&f, ways[w]);
		row(&f, &(struct bucket_key){1, 5, 0}, 4, 0);
		cr_expect_str_eq(fixture_show(&f, ways[w]), "table a\n  id=1 : 1 [16,32)=1\n");
		fixture_finish(&f);
	}
}

Test(quantize, of_uint64_without_keys)
{
	struct fixture f;
	struct {
		int32_t bucket, zero;
	} key = {64, 0};

	keyed(&f, WEFT_ACTION_QUANTIZE, 1, NULL, 0, 8, 1000);
	f.aggs[0].bucket_offset = 0;
	f.aggs[0].value_type.is_signed = false;
	row(&f, &key, 9, 0);
	key.bucket = 63;
	row(&f, &key, 8, 0);
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

/* ---- merging ---- */

static void stack(struct fixture *f, uint64_t id, uint32_t tgid, uint32_t n, uint64_t a, uint64_t b)
{
	uint64_t value[sizeof(struct weft_stack_row) / 8 + 16] = {0};
	struct weft_stack_row *v = (struct weft_stack_row *)value;

	v->tgid = tgid;
	v->n_frames = n;
	v->frames[0] = a;
	v->frames[1] = b;
	cr_assert_eq(weft_bpf_map_update(f->t.maps.fds[WEFT_PLAN_STACKS], &id, value, BPF_ANY), 0);
}

Test(merge, stacks_that_look_alike_are_one_row)
{
	static struct weft_field_layout keys[] = {
		{"u", {.kind = WEFT_VALUE_STACK, .space = WEFT_SPACE_USER, .cap = 16}, 0, 8}};
	struct fixture f;
	size_t w;

	for (w = 0; w < 2; w++) {
		uint64_t id;

		keyed(&f, WEFT_ACTION_COUNT, 1, keys, 1, 8, 100);
		/* One function in three processes, at three addresses. */
		stack(&f, 101, 3, 2, 0x30000 + 0x105, 0x30000 + 0x207);
		stack(&f, 102, 4, 2, 0x40000 + 0x105, 0x40000 + 0x207);
		stack(&f, 103, 5, 2, 0x50000 + 0x105, 0x50000 + 0x207);
		/* Another place in it. */
		stack(&f, 104, 5, 2, 0x50000 + 0x106, 0x50000 + 0x207);
		/* Unknown addresses, which differ; and one stack is the beginning of another. */
		stack(&f, 105, 5, 1, 0x50000 + 0x9000, 0);
		stack(&f, 106, 6, 1, 0x60000 + 0x9000, 0);
		stack(&f, 107, 5, 1, 0x50000 + 0x105, 0);
		/* No symbol, but one place in one file. */
		stack(&f, 108, 5, 1, 0x50000 + 0x7123, 0);
		stack(&f, 109, 6, 1, 0x60000 + 0x7123, 0);
		for (id = 101; id <= 107; id++)
			row(&f, &id, 10 + id, 0);
		for (; id <= 109; id++)
			row(&f, &id, 200, 0);
		id = 0;
		row(&f, &id, 9, 0); /* the empty stack */
		id = 999;
		row(&f, &id, 8, 0); /* one that was not kept looks the same */
		cr_expect_str_eq(fixture_show(&f, ways[w]), "table a\n"
							    "  u=[/bin/app+28963] : 400\n"
							    "  u=[u1+5 u2+7] : 336\n"
							    "  u=[u1+5] : 117\n"
							    "  u=[0x69000] : 116\n"
							    "  u=[0x59000] : 115\n"
							    "  u=[u1+6 u2+7] : 114\n"
							    "  u=[] : 17\n");
		fixture_finish(&f);
	}
}

Test(merge, symbols_that_look_alike_are_one_row)
{
	static struct weft_field_layout user[] = {
		{"u", {.kind = WEFT_VALUE_SYMBOL, .space = WEFT_SPACE_USER}, 0, 8}};
	static struct weft_field_layout kernel[] = {
		{"k", {.kind = WEFT_VALUE_SYMBOL, .space = WEFT_SPACE_KERNEL}, 0, 8}};
	struct fixture f;
	size_t w;

	for (w = 0; w < 2; w++) {
		uint64_t id;

		keyed(&f, WEFT_ACTION_COUNT, 1, user, 1, 8, 100);
		stack(&f, 101, 3, 1, 0x30000 + 0x105, 0);
		stack(&f, 102, 4, 1, 0x40000 + 0x105, 0);
		stack(&f, 103, 4, 1, 0x40000 + 0x106, 0);
		stack(&f, 104, 5, 1, 0x50000 + 0x9000, 0);
		for (id = 101; id <= 104; id++)
			row(&f, &id, id, 0);
		cr_expect_str_eq(fixture_show(&f, ways[w]), "table a\n"
							    "  u=u1+5 : 203\n"
							    "  u=0x59000 : 104\n"
							    "  u=u1+6 : 103\n");
		fixture_finish(&f);

		keyed(&f, WEFT_ACTION_COUNT, 1, kernel, 1, 8, 100);
		for (id = 0x105; id <= 0x106; id++)
			row(&f, &id, id, 0);
		cr_expect_str_eq(fixture_show(&f, ways[w]), "table a\n"
							    "  k=k1+6 : 262\n"
							    "  k=k1+5 : 261\n");
		fixture_finish(&f);
	}
}

Test(merge, addresses_and_cgroups_as_keys)
{
	static struct weft_field_layout keys[] = {
		{"a", {.kind = WEFT_VALUE_INET, .cap = 4}, 0, 4},
		{"c", {.kind = WEFT_VALUE_CGROUP, .field = WEFT_CGROUP_NAME}, 8, 8}};
	struct {
		uint8_t address[4];
		uint32_t zero;
		uint64_t cgroup;
	} key = {{10, 0, 0, 1}, 0, UINT64_C(1) << 61};
	struct fixture f;

	keyed(&f, WEFT_ACTION_COUNT, 1, keys, 2, 16, 100);
	row(&f, &key, 41, 0);
	key.address[3] = 2;
	row(&f, &key, 40, 0);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n"
						 "  a=10.0.0.1 c=\"id:2305843009213693952\" : 41\n"
						 "  a=10.0.0.2 c=\"id:2305843009213693952\" : 40\n");
	fixture_finish(&f);
}

Test(merge, extremes_and_histograms_merge_as_such)
{
	static struct weft_field_layout keys[] = {
		{"k", {.kind = WEFT_VALUE_STACK, .space = WEFT_SPACE_KERNEL, .cap = 16}, 0, 8}};
	uint64_t words[2], id;
	struct {
		uint64_t id;
		int32_t bucket, zero;
	} key = {101, 3, 0};
	struct fixture f;

	keyed(&f, WEFT_ACTION_MIN, 2, keys, 1, 8, 100);
	stack(&f, 101, 0, 1, 0x105, 0);
	stack(&f, 102, 0, 1, 0x105, 0);
	for (id = 101; id <= 102; id++) {
		memset(words, 0, sizeof(words));
		add_min(words, id == 101 ? -7 : 4);
		row(&f, &id, words[0], words[1]);
	}
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  k=[k1+5] : -7\n");
	fixture_finish(&f);

	keyed(&f, WEFT_ACTION_QUANTIZE, 1, keys, 1, 16, 100);
	f.aggs[0].bucket_offset = 8;
	stack(&f, 101, 0, 1, 0x105, 0);
	stack(&f, 102, 0, 1, 0x105, 0);
	row(&f, &key, 2, 0);
	key.id = 102;
	row(&f, &key, 3, 0);
	key.bucket = 4;
	row(&f, &key, 1, 0);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  k=[k1+5] : 6 [4,8)=5 [8,16)=1\n");
	fixture_finish(&f);
}

Test(merge, probes_with_equal_text_are_one_row)
{
	static struct weft_field_layout keys[] = {
		{"f", {.kind = WEFT_VALUE_PROBE, .field = WEFT_FIELD_FUNCTION}, 0, 8},
		{"n", {.kind = WEFT_VALUE_PROBE, .field = WEFT_FIELD_NAME}, 8, 8}};
	uint64_t cookies[] = {2, 3, 4, 9};
	struct fixture f;
	size_t i;

	keyed(&f, WEFT_ACTION_COUNT, 1, keys, 2, 16, 100);
	for (i = 0; i < 4; i++) {
		uint64_t key[2] = {cookies[i], cookies[i]};

		row(&f, key, 10 + i, 0);
	}
	cr_expect_str_eq(fixture_show(&f, true), "table a\n"
						 "  f=\"k1\" n=\"n\" : 21\n"
						 "  f=\"k4\" n=\"n\" : 13\n"
						 "  f=\"k2\" n=\"n\" : 12\n");
	fixture_finish(&f);
}

/* ---- many, and failure ---- */

Test(rows, many)
{
	static struct weft_field_layout keys[] = {{"id", {.kind = WEFT_VALUE_INT, .size = 8}, 0, 8}};
	struct fixture f;
	const char *text;
	uint64_t id, n = 0;

	keyed(&f, WEFT_ACTION_COUNT, 1, keys, 1, 8, 20000);
	for (id = 0; id < 20000; id++)
		row(&f, &id, id + 1, 0);
	text = fixture_show(&f, true);
	cr_expect(!strncmp(text, "table a\n  id=19999 : 20000\n  id=19998 : 19999\n", 46));
	for (; *text; text++)
		n += *text == '\n';
	cr_expect_eq(n, 20001u);
	fixture_finish(&f);
}

Test(show, names_choose)
{
	static const char *const names[] = {"b", "no_such"};
	struct fixture f;

	keyless(&f, WEFT_ACTION_COUNT, 1, 8, true);
	f.aggs[1] = f.aggs[0];
	f.aggs[1].name = "b";
	f.t.plan.n_aggregations = 2;
	cr_expect_eq(weft_consumer_show(f.c, names, 2, false, f.t.err), 0);
	cr_expect_str_eq(seen_text(&f.seen), "table b\n");
	cr_expect_str_eq(fixture_show(&f, false), "table a\ntable b\n");
	fixture_finish(&f);
}

Test(show, OUTPUT_WRITE)
{
	struct fixture f;

	keyless(&f, WEFT_ACTION_COUNT, 1, 8, true);
	f.seen.fail = -EPIPE;
	cr_expect_eq(weft_consumer_show(f.c, NULL, 0, false, f.t.err), -EPIPE);
	cr_expect_str_eq(weft_error_tag(f.t.err), "OUTPUT_WRITE");
	fixture_finish(&f);
}

Test(linear, rows_of_one_key_are_one_histogram)
{
	static struct weft_field_layout keys[] = {
		{"id", {.kind = WEFT_VALUE_INT, .size = 8, .is_signed = true}, 0, 8}};
	struct fixture f;
	size_t w;

	for (w = 0; w < 2; w++) {
		keyed(&f, WEFT_ACTION_LQUANTIZE, 1, keys, 1, 16, 1000);
		f.aggs[0].bucket_offset = 8;
		f.aggs[0].buckets = (struct weft_buckets){
			.how = WEFT_BUCKETS_LINEAR, .from = -10, .to = 15, .step = 10};
		row(&f, &(struct bucket_key){1, 4, 0}, 2, 0);
		row(&f, &(struct bucket_key){1, 0, 0}, 9, 0);
		row(&f, &(struct bucket_key){1, 3, 0}, 3, 0);
		row(&f, &(struct bucket_key){2, 1, 0}, 100, 0);
		row(&f, &(struct bucket_key){1, 5, 0}, 7, 0); /* no bucket of it */
		cr_expect_str_eq(fixture_show(&f, ways[w]),
				 "table a\n"
				 "  id=2 : 100 [-10,0)=100\n"
				 "  id=1 : 14 [-9223372036854775808,-10)=9 [10,15)=3 "
				 "[15,9223372036854775807]=2\n");
		clear(&f, ways[w]);
		row(&f, &(struct bucket_key){1, 0, 0}, 10, 0);
		cr_expect_str_eq(fixture_show(&f, ways[w]),
				 "table a\n  id=1 : 1 [-9223372036854775808,-10)=1\n");
		fixture_finish(&f);
	}
}
