/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Aggregations from maps and slots that are filled by hand. Each is read both agg_ways: by
 * readers, as while probes are attached, and by system calls. */
#include <errno.h>

#include "tests/consumer/aggregate_rig.h"

/* ---- slots ---- */

Test(slots, count_sums_the_cpus)
{
	struct fixture f;

	agg_keyless(&f, WEFT_ACTION_COUNT, 1, 8, true);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n", "nothing has no row");
	*agg_slot(&f, 0, 0) = 3;
	*agg_slot(&f, 1, 0) = 4;
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : 7\n");
	agg_clear(&f, true);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n");
	*agg_slot(&f, 1, 0) = 5;
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : 1\n");
	fixture_finish(&f);
}

static void set_sum(uint64_t *words, uint64_t n, int64_t sum)
{
	words[0] = words[3] = n;
	words[1] = (uint64_t)sum;
	words[2] = 0;
}

Test(slots, sum_and_avg)
{
	struct fixture f;

	agg_keyless(&f, WEFT_ACTION_SUM, 4, 8, true);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n", "nothing was added");
	set_sum(agg_slot(&f, 0, 0), 1, 10);
	set_sum(agg_slot(&f, 1, 0), 1, -30);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : -20\n");
	set_sum(agg_slot(&f, 0, 0), 2, 30);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : 0\n", "0 is a sum");
	agg_clear(&f, true);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n");
	set_sum(agg_slot(&f, 0, 0), 3, 30);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : 0\n", "and so after a clear");
	fixture_finish(&f);

	agg_keyless(&f, WEFT_ACTION_SUM, 4, 8, false);
	set_sum(agg_slot(&f, 0, 0), 1, -1);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : 18446744073709551615\n");
	fixture_finish(&f);

	/* Narrower types count as int64. */
	agg_keyless(&f, WEFT_ACTION_SUM, 4, 4, false);
	set_sum(agg_slot(&f, 0, 0), 1, -1);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : -1\n");
	fixture_finish(&f);

	agg_keyless(&f, WEFT_ACTION_AVG, 4, 8, true);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n");
	set_sum(agg_slot(&f, 0, 0), 2, -10);
	set_sum(agg_slot(&f, 1, 0), 1, 4);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : -6/3\n");
	agg_clear(&f, true);
	set_sum(agg_slot(&f, 1, 0), 2, 14);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  : 10/1\n");
	fixture_finish(&f);
}

/* What a program does with a value: see core/plan.h. */
Test(slots, extremes)
{
	static const int64_t values[] = {INT64_MIN, INT64_MIN + 1, -2,       -1, 0, 1,
					 2,         INT64_MAX - 1, INT64_MAX};
	const size_t n = sizeof(values) / sizeof(values[0]);
	struct fixture f;
	char want[64];
	size_t i, k;

	/* Each pair of values, one on each CPU. */
	agg_keyless(&f, WEFT_ACTION_MAX, 2, 8, true);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n");
	for (i = 0; i < n; i++) {
		for (k = 0; k < n; k++) {
			agg_add_max(agg_slot(&f, 0, 0), values[i]);
			agg_add_max(agg_slot(&f, 1, 0), values[k]);
			snprintf(want, sizeof(want), "table a\n  : %ld\n", values[i > k ? i : k]);
			cr_expect_str_eq(fixture_show(&f, true), want);
			agg_clear(&f, true);
			cr_expect_str_eq(fixture_show(&f, true), "table a\n");
		}
	}
	fixture_finish(&f);
	agg_keyless(&f, WEFT_ACTION_MIN, 2, 8, true);
	for (i = 0; i < n; i++) {
		for (k = 0; k < n; k++) {
			agg_add_min(agg_slot(&f, 0, 0), values[i]);
			agg_add_min(agg_slot(&f, 1, 0), values[k]);
			snprintf(want, sizeof(want), "table a\n  : %ld\n", values[i < k ? i : k]);
			cr_expect_str_eq(fixture_show(&f, true), want);
			agg_clear(&f, true);
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
		agg_keyless(&f, WEFT_ACTION_MAX, 2, 8, false);
		agg_add_max(agg_slot(&f, 1, 0), mapped);
		cr_expect_str_eq(fixture_show(&f, true), want);
		fixture_finish(&f);
		agg_keyless(&f, WEFT_ACTION_MIN, 2, 8, false);
		agg_add_min(agg_slot(&f, 1, 0), mapped);
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
		agg_keyed(&f, WEFT_ACTION_COUNT, 1, name_number, 2, 16, 100);
		agg_row(&f, &(struct key){"b", 1, 0}, 10, 0);
		agg_row(&f, &(struct key){"a", 2, 0}, 10, 0);
		agg_row(&f, &(struct key){"a", -3, 0}, 10, 0);
		agg_row(&f, &(struct key){"ab", 0, 0}, 10, 0);
		agg_row(&f, &(struct key){"z", 0, 0}, 1000, 0);
		agg_row(&f, &(struct key){"eightyes", 0, 0}, 8, 0);
		cr_expect_str_eq(fixture_show(&f, agg_ways[w]),
				 "table a\n"
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

	agg_keyed(&f, WEFT_ACTION_AVG, 4, name_number, 2, 16, 100);
	agg_row(&f, &(struct key){"a", 0, 0}, 1000000000, INT64_MAX);
	agg_row(&f, &(struct key){"b", 0, 0}, 999999999, INT64_MAX);
	agg_row(&f, &(struct key){"c", 0, 0}, 1000000000, (uint64_t)INT64_MIN);
	agg_row(&f, &(struct key){"d", 0, 0}, 10, 0);
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
		agg_keyed(&f, WEFT_ACTION_COUNT, 1, name_number, 2, 16, 100);
		agg_row(&f, &(struct key){"a", 0, 0}, 100, 0);
		agg_row(&f, &(struct key){"b", 0, 0}, 100, 0);
		agg_clear(&f, agg_ways[w]);
		cr_expect_str_eq(fixture_show(&f, agg_ways[w]), "table a\n");
		agg_row(&f, &(struct key){"b", 0, 0}, 130, 0);
		agg_row(&f, &(struct key){"c", 0, 0}, 50, 0);
		cr_expect_str_eq(fixture_show(&f, agg_ways[w]), "table a\n"
								"  name=\"c\" number=0 : 50\n"
								"  name=\"b\" number=0 : 30\n");
		agg_clear(&f, agg_ways[w]);
		agg_row(&f, &(struct key){"a", 0, 0}, 101, 0);
		cr_expect_str_eq(fixture_show(&f, agg_ways[w]), "table a\n"
								"  name=\"a\" number=0 : 1\n");
		fixture_finish(&f);
	}
}

Test(rows, sums_after_a_clear)
{
	struct fixture f;

	agg_keyed(&f, WEFT_ACTION_SUM, 4, name_number, 2, 16, 100);
	agg_row(&f, &(struct key){"a", 0, 0}, 2, 50);
	agg_row(&f, &(struct key){"again", 0, 0}, 1, 0);
	agg_row(&f, &(struct key){"zero", 0, 0}, 1, 0);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n"
						 "  name=\"a\" number=0 : 50\n"
						 "  name=\"again\" number=0 : 0\n"
						 "  name=\"zero\" number=0 : 0\n");
	agg_clear(&f, true);
	agg_row(&f, &(struct key){"a", 0, 0}, 3, 20);
	agg_row(&f, &(struct key){"again", 0, 0}, 3, 0);
	agg_row(&f, &(struct key){"new", 0, 0}, 1, 0);
	cr_expect_str_eq(fixture_show(&f, true), "table a\n"
						 "  name=\"again\" number=0 : 0\n"
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
		agg_keyed(&f, WEFT_ACTION_MAX, 2, name_number, 2, 16, 100);
		memset(words, 0, sizeof(words));
		agg_add_max(words, -5);
		agg_row(&f, &a, words[0], words[1]);
		memset(words, 0, sizeof(words));
		agg_add_max(words, INT64_MIN);
		agg_row(&f, &b, words[0], words[1]);
		cr_expect_str_eq(fixture_show(&f, agg_ways[w]),
				 "table a\n"
				 "  name=\"a\" number=0 : -5\n"
				 "  name=\"b\" number=0 : -9223372036854775808\n");
		cr_expect_str_eq(fixture_show(&f, agg_ways[w]),
				 "table a\n"
				 "  name=\"a\" number=0 : -5\n"
				 "  name=\"b\" number=0 : -9223372036854775808\n",
				 "a look takes nothing");
		agg_clear(&f, agg_ways[w]);
		cr_expect_str_eq(fixture_show(&f, agg_ways[w]), "table a\n");
		cr_assert_eq(weft_bpf_map_lookup(f.t.maps.fds[f.aggs[0].map], &a, words), 0,
			     "the row stays");
		cr_expect_eq(words[0] | words[1], 0u);
		fixture_finish(&f);
	}
}

/* ---- many, and failure ---- */

Test(rows, many)
{
	static struct weft_field_layout keys[] = {{"id", {.kind = WEFT_VALUE_INT, .size = 8}, 0, 8}};
	struct fixture f;
	const char *text;
	uint64_t id, n = 0;

	agg_keyed(&f, WEFT_ACTION_COUNT, 1, keys, 1, 8, 20000);
	for (id = 0; id < 20000; id++)
		agg_row(&f, &id, id + 1, 0);
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

	agg_keyless(&f, WEFT_ACTION_COUNT, 1, 8, true);
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

	agg_keyless(&f, WEFT_ACTION_COUNT, 1, 8, true);
	f.seen.fail = -EPIPE;
	cr_expect_eq(weft_consumer_show(f.c, NULL, 0, false, f.t.err), -EPIPE);
	cr_expect_str_eq(weft_error_tag(f.t.err), "OUTPUT_WRITE");
	fixture_finish(&f);
}
