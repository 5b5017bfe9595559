/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How tables are sorted, cut and scaled. */
#include "core/kernel/clock.h"
#include "tests/consumer/support.h"

enum { MAP = WEFT_PLAN_FIRST_FREE };

struct key {
	char name[8];
	int64_t number;
};

static struct weft_field_layout keys[] = {
	{"name", {.kind = WEFT_VALUE_STRING, .cap = 8}, 0, 8},
	{"number", {.kind = WEFT_VALUE_INT, .size = 8, .is_signed = true}, 8, 8},
};

static void start(struct fixture *f, enum weft_action_kind kind)
{
	uint32_t words = weft_value_words(kind);

	fixture_init(f);
	test_spec(&f->t, MAP, WEFT_MAP_AGG, "weft_a", BPF_MAP_TYPE_PERCPU_HASH, 16, 8 * words, 100,
		  BPF_F_NO_PREALLOC);
	f->t.specs[MAP].used = true;
	f->aggs[0] = (struct weft_aggregation){
		.name = "a",
		.kind = kind,
		.keys = keys,
		.n_keys = 2,
		.key_size = 16,
		.bucket_offset = -1,
		.value_words = words,
		.value_type = {.kind = WEFT_VALUE_INT, .size = 8, .is_signed = true},
		.map = MAP};
	f->t.plan.n_aggregations = 1;
	fixture_start(f);
}

static void row(struct fixture *f, const char *name, int64_t number, uint64_t n, int64_t sum)
{
	uint32_t words = f->aggs[0].value_words;
	uint64_t *value = calloc(f->t.plan.n_cpus, 8 * words);
	struct key key = {.number = number};

	memcpy(key.name, name, strnlen(name, sizeof(key.name)));
	value[0] = value[words - 1] = n;
	if (words > 1)
		value[1] = (uint64_t)sum;
	cr_assert_eq(weft_bpf_map_update(f->t.maps.fds[MAP], &key, value, BPF_ANY), 0);
	free(value);
}

static const char *show(struct fixture *f, struct weft_view view)
{
	cr_assert_eq(weft_aggregate_show(f->c, 0, &view, true, f->t.err), 0);
	return seen_text(&f->seen);
}

Test(views, sort)
{
	struct fixture f;

	start(&f, WEFT_ACTION_AVG);
	row(&f, "b", 1, 10, 100);
	row(&f, "a", 9, 1, 50);
	row(&f, "a", -2, 3, 3);
	row(&f, "c", 0, 10, 100);
#define A9 "  name=\"a\" number=9 : 50/1\n"
#define A2 "  name=\"a\" number=-2 : 3/3\n"
#define B  "  name=\"b\" number=1 : 100/10\n"
#define C  "  name=\"c\" number=0 : 100/10\n"
	cr_expect_str_eq(show(&f, (struct weft_view){0}), "table a\n" A9 B C A2);
	cr_expect_str_eq(show(&f, (struct weft_view){.sort = WEFT_SORT_VALUE}),
			 "table a\n" A9 B C A2);
	cr_expect_str_eq(show(&f, (struct weft_view){.order = WEFT_ORDER_ASC}),
			 "table a\n" A2 B C A9, "rows that are equal go by their keys all the same");
	cr_expect_str_eq(show(&f, (struct weft_view){.sort = WEFT_SORT_KEY}), "table a\n" A2 A9 B C);
	cr_expect_str_eq(
		show(&f, (struct weft_view){.sort = WEFT_SORT_KEY, .order = WEFT_ORDER_DESC}),
		"table a\n" C B A9 A2);
	cr_expect_str_eq(show(&f, (struct weft_view){.sort = WEFT_SORT_COUNT}),
			 "table a\n" B C A2 A9);
	cr_expect_str_eq(
		show(&f, (struct weft_view){.sort = WEFT_SORT_COUNT, .order = WEFT_ORDER_ASC}),
		"table a\n" A9 A2 B C);
	fixture_finish(&f);
}

Test(views, top)
{
	struct fixture f;

	start(&f, WEFT_ACTION_AVG);
	row(&f, "b", 1, 10, 100);
	row(&f, "a", 9, 1, 50);
	row(&f, "a", -2, 3, 3);
	row(&f, "c", 0, 10, 100);
	cr_expect_str_eq(show(&f, (struct weft_view){.top = 1}), "table a and 3 more\n" A9);
	cr_expect_str_eq(show(&f, (struct weft_view){.top = 2, .sort = WEFT_SORT_KEY}),
			 "table a and 2 more\n" A2 A9);
	cr_expect_str_eq(show(&f, (struct weft_view){.top = 4}), "table a\n" A9 B C A2);
	cr_expect_str_eq(show(&f, (struct weft_view){.top = 4000000000}), "table a\n" A9 B C A2);
	/* The set's wishes hold where the show says nothing. */
	f.aggs[0].view = (struct weft_view){.top = 3, .sort = WEFT_SORT_KEY};
	cr_expect_str_eq(fixture_show(&f, true), "table a and 1 more\n" A2 A9 B);
	cr_expect_str_eq(show(&f, (struct weft_view){.top = 1}), "table a and 3 more\n" A2);
	cr_expect_str_eq(show(&f, (struct weft_view){.order = WEFT_ORDER_DESC}),
			 "table a and 1 more\n" C B A9);
	fixture_finish(&f);
}

/* What has no count is sorted by its value, should a show without names ask for counts. */
Test(views, sums_by_count)
{
	struct fixture f;

	start(&f, WEFT_ACTION_SUM);
	row(&f, "b", 1, 1, 10);
	row(&f, "a", 1, 2, -10);
	cr_expect_str_eq(show(&f, (struct weft_view){.sort = WEFT_SORT_COUNT}),
			 "table a\n  name=\"b\" number=1 : 10\n  name=\"a\" number=1 : -10\n");
	fixture_finish(&f);
}

Test(views, scale_where_it_suits)
{
	static const struct weft_view both = {.divide = 1000, .per_ns = 5};
	static const struct {
		enum weft_action_kind kind;
		const char *heading;
	} cases[] = {
		{WEFT_ACTION_COUNT, "table a / 1000 per 5\n"},
		{WEFT_ACTION_SUM, "table a / 1000 per 5\n"},
		{WEFT_ACTION_AVG, "table a / 1000\n"},
		{WEFT_ACTION_STDDEV, "table a / 1000\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture f;

		start(&f, cases[i].kind);
		cr_expect_str_eq(show(&f, both), cases[i].heading);
		fixture_finish(&f);
	}
}

/* Time runs from the start to the end, or from the last clear. */
Test(views, elapsed)
{
	struct weft_view per = {.per_ns = 1000000000};
	uint64_t now = weft_clock_before();
	struct fixture f;

	start(&f, WEFT_ACTION_COUNT);
	weft_consumer_span(f.c, now - 5000000000, 0);
	row(&f, "a", 1, 10, 0);
	show(&f, per);
	cr_expect(f.seen.elapsed_ns >= 5000000000 &&
		  f.seen.elapsed_ns <= 5000000000 + weft_clock_before() - now);
	weft_consumer_span(f.c, 0, now - 2000000000);
	cr_expect_str_eq(show(&f, per), "table a per 1000000000\n  name=\"a\" number=1 : 10\n");
	cr_expect_eq(f.seen.elapsed_ns, 3000000000, "it ended");
	weft_consumer_span(f.c, 0, 0);
	cr_assert_eq(weft_aggregate_clear(f.c, 0, true, f.t.err), 0);
	row(&f, "a", 1, 15, 0);
	show(&f, per);
	cr_expect(f.seen.elapsed_ns > 0 && f.seen.elapsed_ns <= weft_clock_before() - now,
		  "since the clear");
	show(&f, (struct weft_view){0});
	cr_expect_eq(f.seen.elapsed_ns, 0);
	fixture_finish(&f);
}

/* Sums are sorted as the numbers that they are, beyond 64 bits too. */
Test(views, wide_sums_in_order)
{
	struct fixture f;
	struct key key = {.name = "w"};
	uint64_t *value;

	start(&f, WEFT_ACTION_SUM);
	row(&f, "most", 0, 1, INT64_MAX);
	row(&f, "least", 0, 1, INT64_MIN);
	value = calloc(f.t.plan.n_cpus, 32);
	value[0] = value[3] = 3;
	value[1] = 5;
	for (int high = -1; high <= 1; high += 2) {
		value[2] = (uint64_t)(int64_t)high;
		key.number = high;
		cr_assert_eq(weft_bpf_map_update(f.t.maps.fds[MAP], &key, value, BPF_ANY), 0);
	}
	free(value);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n"
						 "  name=\"w\" number=1 : 5 +1*2^64\n"
						 "  name=\"most\" number=0 : 9223372036854775807\n"
						 "  name=\"least\" number=0 : -9223372036854775808\n"
						 "  name=\"w\" number=-1 : 5 -1*2^64\n");
	fixture_finish(&f);
}
