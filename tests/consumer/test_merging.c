/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Rows that differ only in what nobody sees are shown as one. */
#include "tests/consumer/aggregate_rig.h"

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

		agg_keyed(&f, WEFT_ACTION_COUNT, 1, keys, 1, 8, 100);
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
			agg_row(&f, &id, 10 + id, 0);
		for (; id <= 109; id++)
			agg_row(&f, &id, 200, 0);
		id = 0;
		agg_row(&f, &id, 9, 0); /* the empty stack */
		id = 999;
		agg_row(&f, &id, 8, 0); /* one that was not kept looks the same */
		cr_expect_str_eq(fixture_show(&f, agg_ways[w]), "table a\n"
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

		agg_keyed(&f, WEFT_ACTION_COUNT, 1, user, 1, 8, 100);
		stack(&f, 101, 3, 1, 0x30000 + 0x105, 0);
		stack(&f, 102, 4, 1, 0x40000 + 0x105, 0);
		stack(&f, 103, 4, 1, 0x40000 + 0x106, 0);
		stack(&f, 104, 5, 1, 0x50000 + 0x9000, 0);
		for (id = 101; id <= 104; id++)
			agg_row(&f, &id, id, 0);
		cr_expect_str_eq(fixture_show(&f, agg_ways[w]), "table a\n"
								"  u=u1+5 : 203\n"
								"  u=0x59000 : 104\n"
								"  u=u1+6 : 103\n");
		fixture_finish(&f);

		agg_keyed(&f, WEFT_ACTION_COUNT, 1, kernel, 1, 8, 100);
		for (id = 0x105; id <= 0x106; id++)
			agg_row(&f, &id, id, 0);
		cr_expect_str_eq(fixture_show(&f, agg_ways[w]), "table a\n"
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

	agg_keyed(&f, WEFT_ACTION_COUNT, 1, keys, 2, 16, 100);
	agg_row(&f, &key, 41, 0);
	key.address[3] = 2;
	agg_row(&f, &key, 40, 0);
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

	agg_keyed(&f, WEFT_ACTION_MIN, 2, keys, 1, 8, 100);
	stack(&f, 101, 0, 1, 0x105, 0);
	stack(&f, 102, 0, 1, 0x105, 0);
	for (id = 101; id <= 102; id++) {
		memset(words, 0, sizeof(words));
		agg_add_min(words, id == 101 ? -7 : 4);
		agg_row(&f, &id, words[0], words[1]);
	}
	cr_expect_str_eq(fixture_show(&f, true), "table a\n  k=[k1+5] : -7\n");
	fixture_finish(&f);

	agg_keyed(&f, WEFT_ACTION_QUANTIZE, 1, keys, 1, 16, 100);
	f.aggs[0].bucket_offset = 8;
	stack(&f, 101, 0, 1, 0x105, 0);
	stack(&f, 102, 0, 1, 0x105, 0);
	agg_row(&f, &key, 2, 0);
	key.id = 102;
	agg_row(&f, &key, 3, 0);
	key.bucket = 4;
	agg_row(&f, &key, 1, 0);
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

	agg_keyed(&f, WEFT_ACTION_COUNT, 1, keys, 2, 16, 100);
	for (i = 0; i < 4; i++) {
		uint64_t key[2] = {cookies[i], cookies[i]};

		agg_row(&f, key, 10 + i, 0);
	}
	cr_expect_str_eq(fixture_show(&f, true), "table a\n"
						 "  f=\"k1\" n=\"n\" : 21\n"
						 "  f=\"k4\" n=\"n\" : 13\n"
						 "  f=\"k2\" n=\"n\" : 12\n");
	fixture_finish(&f);
}

/* Of probes that read alike: one has gone quiet since the clear, another adds zeros only now. */
Test(merge, sums_that_come_to_0_after_a_clear)
{
	static struct weft_field_layout keys[] = {
		{"n", {.kind = WEFT_VALUE_PROBE, .field = WEFT_FIELD_NAME}, 0, 8}};
	struct fixture f;

	for (uint64_t late = 2; late <= 3; late++) {
		agg_keyed(&f, WEFT_ACTION_SUM, weft_value_words(WEFT_ACTION_SUM), keys, 1, 8, 100);
		agg_row(&f, &(uint64_t){2}, 1, 0);
		agg_clear(&f, true);
		cr_expect_str_eq(fixture_show(&f, true), "table a\n");
		agg_row(&f, &late, 2, 0);
		cr_expect_str_eq(fixture_show(&f, true), "table a\n  n=\"n\" : 0\n");
		fixture_finish(&f);
	}
}
