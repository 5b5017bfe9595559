/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "tests/consumer/aggregate_rig.h"

enum { MAP = WEFT_PLAN_FIRST_FREE, SLOT = 1024 };

const bool agg_ways[2] = {false, true};

uint64_t *agg_slot(struct fixture *f, uint32_t cpu, uint32_t w)
{
	return (uint64_t *)((uint8_t *)f->t.maps.state + SLOT + cpu * WEFT_SLOT_STRIDE) + w;
}

void agg_keyless(struct fixture *f, enum weft_action_kind kind, uint32_t words, uint8_t size,
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

void agg_keyed(struct fixture *f, enum weft_action_kind kind, uint32_t words,
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

void agg_row(struct fixture *f, const void *key, uint64_t first, uint64_t second)
{
	uint32_t words = f->aggs[0].value_words, cpu, last = words - 1;
	uint64_t *value = calloc(f->t.plan.n_cpus * words, 8);
	bool percpu = f->t.specs[MAP].type == BPF_MAP_TYPE_PERCPU_HASH;
	bool twice = f->aggs[0].kind == WEFT_ACTION_SUM || f->aggs[0].kind == WEFT_ACTION_AVG ||
		     f->aggs[0].kind == WEFT_ACTION_STDDEV;

	value[0] = first;
	if (words > 1)
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

void agg_clear(struct fixture *f, bool attached)
{
	cr_assert_eq(weft_aggregate_clear(f->c, 0, attached, f->t.err), 0, "%s",
		     weft_error_text(f->t.err));
}

void agg_add_max(uint64_t *words, int64_t x)
{
	uint64_t t = (uint64_t)x - (uint64_t)INT64_MIN;

	if (x == INT64_MIN)
		words[1] = 1;
	else if (t > words[0])
		words[0] = t;
}

void agg_add_min(uint64_t *words, int64_t x)
{
	uint64_t t = (uint64_t)INT64_MAX - (uint64_t)x;

	if (x == INT64_MAX)
		words[1] = 1;
	else if (t > words[0])
		words[0] = t;
}
