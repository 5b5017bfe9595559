/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A consumer's whole life, in which each allocation fails once. */
#include <errno.h>

#include "tests/consumer/support.h"
#include "tests/kernel/failing.h"

enum { MAP = WEFT_PLAN_FIRST_FREE };

static int drop_record(void *self, const struct weft_record *r)
{
	(void)self;
	(void)r;
	return 0;
}

static int drop_table(void *self, const struct weft_table *t)
{
	*(size_t *)self = t->n_rows;
	return 0;
}

static int drop_loss(void *self, const struct weft_loss_report *l)
{
	(void)self;
	(void)l;
	return 0;
}

static const char *probe_text(void *arg, uint64_t cookie, int field)
{
	(void)arg;
	(void)cookie;
	(void)field;
	return "text";
}

struct life {
	struct test_plan t;
	struct weft_aggregation agg;
	struct weft_schema schema;
	struct weft_sink sink;
	size_t n_rows;
};

static int deliver(struct weft_consumer *c, struct weft_error *err)
{
	struct {
		struct weft_record_header h;
		uint32_t n, tgid;
		uint64_t frames[2];
	} r = {.n = 2, .frames = {0x100, 0x200}};

	c->err = err;
	return weft_record_deliver(&r, sizeof(r), c);
}

static int live(void *arg, struct weft_error *err)
{
	static const bool ways[] = {true, false};
	struct life *l = arg;
	struct weft_consumer_env env = {
		.plan = &l->t.plan, .maps = &l->t.maps, .sink = &l->sink, .probe_text = probe_text};
	struct weft_consumer *c;
	uint64_t total;
	bool exiting;
	size_t i;
	int ret;

	ret = weft_consumer_create(&env, &c, err);
	if (ret)
		return ret;
	ret = deliver(c, err);
	for (i = 0; i < 2 && !ret; i++) {
		ret = weft_consumer_poll(c, ways[i], &exiting, err);
		if (!ret)
			ret = weft_consumer_show(c, NULL, 0, ways[i], err);
		if (!ret)
			ret = weft_aggregate_clear(c, 0, ways[i], err);
	}
	if (!ret)
		ret = weft_consumer_finish(c, err);
	if (!ret && weft_consumer_losses(c, NULL, 0, &total))
		ret = weft_nomem(err);
	weft_consumer_destroy(c);
	return ret;
}

Test(memory, each_allocation_fails_once, .timeout = 60)
{
	static struct weft_field_layout keys[] = {
		{"k", {.kind = WEFT_VALUE_STACK, .space = WEFT_SPACE_KERNEL, .cap = 16}, 0, 8},
		{"p", {.kind = WEFT_VALUE_PROBE, .field = WEFT_FIELD_NAME}, 8, 8}};
	static struct weft_field_layout fields[] = {
		{"k", {.kind = WEFT_VALUE_STACK, .space = WEFT_SPACE_KERNEL, .cap = 2}, 0, 24}};
	static const struct weft_typed_action action = {.format = "%s\n"};
	static const struct weft_text text = {.s = "x", .pos = {1, 1}, .verbatim = true};
	struct life l = {.n_rows = 0};
	uint64_t id;

	test_plan_init(&l.t);
	test_spec(&l.t, MAP, WEFT_MAP_AGG, "weft_a", BPF_MAP_TYPE_PERCPU_HASH, 24, 8, 1000,
		  BPF_F_NO_PREALLOC);
	l.t.specs[MAP].used = l.t.specs[WEFT_PLAN_STACKS].used = l.t.specs[WEFT_PLAN_STATE].used =
		l.t.specs[WEFT_PLAN_RING].used = true;
	l.t.plan.state_size = 4096;
	l.agg = (struct weft_aggregation){.name = "a",
					  .kind = WEFT_ACTION_QUANTIZE,
					  .keys = keys,
					  .n_keys = 2,
					  .key_size = 24,
					  .bucket_offset = 16,
					  .value_words = 1,
					  .map = MAP};
	l.t.plan.aggregations = &l.agg;
	l.t.plan.n_aggregations = 1;
	l.schema =
		(struct weft_schema){.action = &action, .fields = fields, .n_fields = 1, .size = 24};
	l.t.plan.schemas = &l.schema;
	l.t.plan.n_schemas = 1;
	l.t.losses[0] = (struct weft_loss_site){WEFT_LOSS_NESTED, 0, {&text, 0, 1}, 256, 0};
	l.t.plan.n_losses = 1;
	l.sink = (struct weft_sink){
		.record = drop_record, .table = drop_table, .loss = drop_loss, .self = &l.n_rows};
	test_plan_create(&l.t);
	((uint64_t *)l.t.maps.state)[32] = 1;
	for (id = 1; id <= 100; id++) {
		uint64_t stack[3 + 16] = {0, 0, UINT64_C(2) << 32, id << 8, 0x300};
		uint64_t key[3] = {id, id, id % 3};
		uint64_t *value = calloc(l.t.plan.n_cpus, 8);

		value[0] = id;
		cr_assert_eq(weft_bpf_map_update(l.t.maps.fds[MAP], key, value, BPF_ANY), 0);
		cr_assert_eq(weft_bpf_map_update(l.t.maps.fds[WEFT_PLAN_STACKS], &id, stack, 0), 0);
		free(value);
	}
	cr_expect_gt(failing_run(live, &l), 100u);
	test_plan_finish(&l.t);
}
