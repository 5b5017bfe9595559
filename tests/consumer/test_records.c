/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Records: decoding, and those of the real kernel from two threads. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>

#include "tests/consumer/support.h"

#define INT(n, s, at)                                        \
	{                                                    \
		.name = #n,                                  \
		.type = {.kind = WEFT_VALUE_INT,             \
			 .size = (s) < 0 ? -(s) : (s),       \
			 .is_signed = (s) < 0},              \
		.offset = (at), .size = (s) < 0 ? -(s) : (s) \
	}

static int deliver(struct fixture *f, uint32_t schema, uint64_t cookie, const void *body,
		   size_t size)
{
	static _Alignas(8) uint8_t bytes[4096];
	struct weft_record_header h = {.time_ns = 1000, .schema = schema, .cpu = 3, .cookie = cookie};

	memcpy(bytes, &h, sizeof(h));
	memcpy(bytes + sizeof(h), body, size);
	f->c->err = f->t.err;
	return weft_record_deliver(bytes, sizeof(h) + size, f->c);
}

Test(records, integers_of_each_size_and_sign)
{
	static struct weft_field_layout fields[] = {INT(a, 1, 0),  INT(b, -1, 1), INT(c, 2, 2),
						    INT(d, -2, 4), INT(e, 4, 8),  INT(f, -4, 12),
						    INT(g, 8, 16), INT(h, -8, 24)};
	uint8_t body[32];
	struct fixture f;

	memset(body, 0xff, sizeof(body));
	body[4] = 0x00;
	body[5] = 0x80;
	fixture_init(&f);
	f.schemas[0] = (struct weft_schema){.fields = fields, .n_fields = 8, .size = 32};
	f.t.plan.n_schemas = 1;
	fixture_start(&f);
	cr_expect_eq(deliver(&f, 0, 4, body, sizeof(body)), 0);
	cr_expect_str_eq(seen_text(&f.seen),
			 "record p:m:f:n cpu3 a=255 b=-1 c=65535 d=-32768 e=4294967295 f=-1 "
			 "g=18446744073709551615 h=-1\n");
	fixture_finish(&f);
}

Test(records, strings_bytes_stacks_and_probes)
{
	static struct weft_field_layout fields[] = {
		{"s", {.kind = WEFT_VALUE_STRING, .cap = 8}, 0, 8},
		{"full", {.kind = WEFT_VALUE_STRING, .cap = 4}, 8, 4},
		{"b", {.kind = WEFT_VALUE_BYTES, .cap = 8}, 16, 16},
		{"over", {.kind = WEFT_VALUE_BYTES, .cap = 4}, 32, 12},
		{"k", {.kind = WEFT_VALUE_STACK, .space = WEFT_SPACE_KERNEL, .cap = 2}, 48, 24},
		{"u", {.kind = WEFT_VALUE_STACK, .space = WEFT_SPACE_USER, .cap = 3}, 72, 32},
		{"f", {.kind = WEFT_VALUE_PROBE, .field = WEFT_FIELD_FUNCTION}, 104, 8},
		{"none", {.kind = WEFT_VALUE_PROBE, .field = WEFT_FIELD_FUNCTION}, 112, 8},
	};
	struct {
		char s[8], full[4], gap[4];
		uint32_t b_length, b_zero;
		char b[8];
		uint32_t over_length, over_zero;
		char over[8];
		uint32_t k_n, k_tgid;
		uint64_t k[2];
		uint32_t u_n, u_tgid;
		uint64_t u[3];
		uint64_t f, none;
	} body = {
		.s = "ab",
		.full = {'w', 'x', 'y', 'z'},
		.b_length = 3,
		.b = "123456",
		.over_length = 4000000000u,
		.over = "789A",
		.k_n = 1000, /* more than there is room for */
		.k = {0x105, 0x207},
		.u_n = 2,
		.u_tgid = 5,
		.u = {0x50000 + 0x301, 0x50000 + 0x8000, 0xdead},
		.f = 7,
		.none = 99,
	};
	struct fixture f;

	_Static_assert(sizeof(body) == 120, "the layout above");
	fixture_init(&f);
	f.schemas[0] = (struct weft_schema){.fields = fields, .n_fields = 8, .size = 120};
	f.t.plan.n_schemas = 1;
	fixture_start(&f);
	cr_expect_eq(deliver(&f, 0, 4, &body, sizeof(body)), 0, "%s", weft_error_text(f.t.err));
	cr_expect_str_eq(seen_text(&f.seen),
			 "record p:m:f:n cpu3 s=\"ab\" full=\"wxyz\" b=\"123\" over=\"789A\" "
			 "k=[k1+5 k2+7] u=[u3+1 0x58000] f=\"k3\" none=\"\"\n");
	fixture_finish(&f);
}

Test(records, symbols_addresses_and_registers)
{
	static const char *const names[] = {"ip", "sp"};
	static struct weft_field_layout fields[] = {
		{"u", {.kind = WEFT_VALUE_SYMBOL, .space = WEFT_SPACE_USER}, 0, 16},
		{"k", {.kind = WEFT_VALUE_SYMBOL, .space = WEFT_SPACE_KERNEL}, 16, 16},
		{"a", {.kind = WEFT_VALUE_INET, .cap = 4}, 32, 4},
		{"b", {.kind = WEFT_VALUE_INET, .cap = 16}, 40, 16},
		{"c", {.kind = WEFT_VALUE_CGROUP, .field = WEFT_CGROUP_CONTAINER}, 56, 8},
		{"r", {.kind = WEFT_VALUE_REGS}, 64, 16},
	};
	struct {
		uint64_t u;
		uint32_t u_tgid, zero;
		uint64_t k, k_zero;
		uint8_t a[8], b[16];
		uint64_t c, r[2];
	} body = {
		.u = 0x50000 + 0x301,
		.u_tgid = 5,
		.k = 0x207,
		.a = {192, 168, 0, 1},
		.b = {1, 2, 3, [15] = 9},
		.c = UINT64_C(1) << 61,
		.r = {0xabc, 0xdef},
	};
	struct fixture f;

	_Static_assert(sizeof(body) == 80, "the layout above");
	fixture_init(&f);
	f.schemas[0] = (struct weft_schema){.fields = fields, .n_fields = 6, .size = 80};
	f.t.plan.n_schemas = 1;
	f.t.plan.reg_names = names;
	f.t.plan.n_regs = 2;
	fixture_start(&f);
	cr_expect_eq(deliver(&f, 0, 4, &body, sizeof(body)), 0, "%s", weft_error_text(f.t.err));
	cr_expect_str_eq(seen_text(&f.seen),
			 "record p:m:f:n cpu3 u=u3+1 k=k2+7 a=192.168.0.1 "
			 "b=1.2.3.0.0.0.0.0.0.0.0.0.0.0.0.9 c=\"id:2305843009213693952\" "
			 "r=ip:abc,sp:def\n");
	fixture_finish(&f);
}

Test(records, printf_has_its_format)
{
	static struct weft_field_layout fields[] = {INT(x, 8, 0)};
	static const struct weft_typed_action action = {.format = "x is %d\n"};
	struct fixture f;
	uint64_t body = 7;
	int i;

	fixture_init(&f);
	f.schemas[1] =
		(struct weft_schema){.action = &action, .fields = fields, .n_fields = 1, .size = 8};
	f.t.plan.n_schemas = 2;
	fixture_start(&f);
	for (i = 0; i < 2; i++) {
		cr_expect_eq(deliver(&f, 1, 4, &body, 8), 0);
		cr_expect_str_eq(seen_text(&f.seen), "record p:m:f:n cpu3 format1 x=7\n");
	}
	fixture_finish(&f);
}

Test(records, a_wake_is_no_record)
{
	struct fixture f;

	fixture_init(&f);
	fixture_start(&f);
	cr_expect_eq(deliver(&f, WEFT_SCHEMA_WAKE, 0, "", 0), 0);
	cr_expect_eq(f.seen.n_records, 0u);
	fixture_finish(&f);
}

Test(records, RECORD_BROKEN)
{
	static struct weft_field_layout fields[] = {INT(x, 8, 0)}, beyond[] = {INT(x, 8, 4)};
	struct fixture f;
	uint64_t body = 7;

	fixture_init(&f);
	f.schemas[0] = (struct weft_schema){.fields = fields, .n_fields = 1, .size = 8};
	f.schemas[1] = (struct weft_schema){.fields = beyond, .n_fields = 1, .size = 8};
	f.t.plan.n_schemas = 2;
	fixture_start(&f);
	cr_expect_eq(deliver(&f, 0, 0, &body, 4), -EBADMSG, "too short");
	cr_expect_str_eq(weft_error_tag(f.t.err), "RECORD_BROKEN");
	cr_expect_eq(deliver(&f, 2, 0, &body, 8), -EBADMSG, "no such shape");
	cr_expect_eq(deliver(&f, 1, 0, &body, 8), -EBADMSG, "a field beyond the record");
	cr_expect_eq(f.seen.n_records, 0u);
	fixture_finish(&f);
}

Test(records, OUTPUT_WRITE)
{
	struct fixture f;

	fixture_init(&f);
	f.t.plan.n_schemas = 1;
	f.seen.fail = -EPIPE;
	fixture_start(&f);
	cr_expect_eq(deliver(&f, 0, 0, "", 0), -EPIPE);
	cr_expect_str_eq(weft_error_tag(f.t.err), "OUTPUT_WRITE");
	fixture_finish(&f);
}

/* ---- the real kernel ---- */

enum { THREADS = 2, ROUNDS = 30000, DROPPED = 256, COUNTER = 264 };

struct writer {
	int prog_fd;
	_Atomic int *running;
};

static void *write_records(void *arg)
{
	struct writer *w = arg;
	int i;

	for (i = 0; i < ROUNDS; i++)
		weft_program_run(w->prog_fd, NULL);
	--*w->running;
	return NULL;
}

/* A record { header, u64 number }: stamped after it was reserved, as programs of a plan do. */
static int record_program(struct fixture *f, uint32_t schema)
{
	int ring = f->t.maps.fds[WEFT_PLAN_RING], state = f->t.maps.fds[WEFT_PLAN_STATE];
	const struct bpf_insn code[] = {
		INSN_LD_MAP(BPF_REG_1, ring),
		INSN_MOV64_IMM(BPF_REG_2, sizeof(struct weft_record_header) + 8),
		INSN_MOV64_IMM(BPF_REG_3, 0),
		INSN_CALL(BPF_FUNC_ringbuf_reserve),
		INSN_JMP_IMM(BPF_JNE, BPF_REG_0, 0, 6),
		INSN_LD_MAP_VALUE(BPF_REG_1, state, DROPPED),
		INSN_MOV64_IMM(BPF_REG_2, 1),
		INSN_ATOMIC(BPF_DW, BPF_ADD, BPF_REG_1, 0, BPF_REG_2),
		INSN_MOV64_IMM(BPF_REG_0, 0),
		INSN_EXIT(),
		INSN_MOV64_REG(BPF_REG_6, BPF_REG_0),
		INSN_CALL(BPF_FUNC_ktime_get_ns),
		INSN_STX(BPF_DW, BPF_REG_6, 0, BPF_REG_0),
		INSN_ST(BPF_W, BPF_REG_6, 8, (int32_t)schema),
		INSN_ST(BPF_W, BPF_REG_6, 12, 0),
		INSN_ST(BPF_DW, BPF_REG_6, 16, 4),
		INSN_LD_MAP_VALUE(BPF_REG_1, state, COUNTER),
		INSN_MOV64_IMM(BPF_REG_2, 1),
		INSN_ATOMIC(BPF_DW, BPF_ADD | BPF_FETCH, BPF_REG_1, 0, BPF_REG_2),
		INSN_STX(BPF_DW, BPF_REG_6, 24, BPF_REG_2),
		INSN_MOV64_REG(BPF_REG_1, BPF_REG_6),
		INSN_MOV64_IMM(BPF_REG_2, 0),
		INSN_CALL(BPF_FUNC_ringbuf_submit),
		INSN_MOV64_IMM(BPF_REG_0, 0),
		INSN_EXIT(),
	};

	return test_load_raw(code, sizeof(code) / sizeof(code[0]), f->t.err);
}

struct counting {
	uint8_t *seen; /* by number */
	uint64_t last, disorder, twice;
	size_t n;
};

static int count_record(void *self, const struct weft_record *r)
{
	struct counting *k = self;
	uint64_t number = r->fields[0].value.u;

	k->n++;
	k->disorder += r->time_ns < k->last;
	k->last = r->time_ns;
	if (number < THREADS * ROUNDS)
		k->twice += k->seen[number]++;
	return 0;
}

Test(records, of_two_threads_all_arrive_in_order, .timeout = 60)
{
	static struct weft_field_layout fields[] = {INT(number, 8, 0)};
	struct counting k = {.seen = calloc(THREADS * ROUNDS, 1)};
	_Atomic int running = THREADS;
	pthread_t threads[THREADS];
	struct writer w = {.running = &running};
	uint64_t dropped;
	struct fixture f;
	size_t wakes = 0;
	int i;

	fixture_init(&f);
	f.t.specs[WEFT_PLAN_RING].used = true;
	f.schemas[0] = (struct weft_schema){.fields = fields, .n_fields = 1, .size = 8};
	f.t.plan.n_schemas = 1;
	f.sink.record = count_record;
	f.sink.self = &k;
	fixture_start(&f);
	w.prog_fd = record_program(&f, 0);
	for (i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, write_records, &w), 0);
	while (running) {
		struct pollfd p = {.fd = weft_consumer_fd(f.c), .events = POLLIN};

		/* Never without a record for so long: else a wake-up was missed. */
		if (poll(&p, 1, 5000) == 0 && running)
			cr_assert_fail("no wake-up");
		wakes++;
		fixture_poll(&f, true, NULL);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	cr_expect_eq(weft_consumer_finish(f.c, f.t.err), 0);
	dropped = *(uint64_t *)((uint8_t *)f.t.maps.state + DROPPED);
	cr_expect_eq(k.n + dropped, THREADS * ROUNDS, "%zu and %lu dropped", k.n, dropped);
	cr_expect_gt(k.n, 1000u);
	cr_expect_eq(k.disorder, 0u, "%lu out of order", k.disorder);
	cr_expect_eq(k.twice, 0u);
	cr_expect_gt(wakes, 1u);
	close(w.prog_fd);
	free(k.seen);
	fixture_finish(&f);
}

/* The descriptor is quiet when nothing is to be done, and speaks when something is. */
Test(records, the_descriptor)
{
	static struct weft_field_layout fields[] = {INT(number, 8, 0)};
	struct pollfd p = {.events = POLLIN};
	struct fixture f;
	int prog, i;

	fixture_init(&f);
	f.t.specs[WEFT_PLAN_RING].used = true;
	f.schemas[0] = (struct weft_schema){.fields = fields, .n_fields = 1, .size = 8};
	f.t.plan.n_schemas = 1;
	fixture_start(&f);
	p.fd = weft_consumer_fd(f.c);
	prog = record_program(&f, 0);
	cr_expect_eq(poll(&p, 1, 0), 0);
	for (i = 0; i < 3; i++) {
		cr_expect_eq(weft_program_run(prog, f.t.err), 0);
		cr_expect_eq(poll(&p, 1, 5000), 1);
		fixture_poll(&f, true, NULL);
		cr_expect_eq(f.seen.n_records, (size_t)i + 1, "one is enough to come out");
		cr_expect_eq(poll(&p, 1, 0), 0);
	}
	close(prog);
	fixture_finish(&f);
}

/* ---- controls ---- */

static struct weft_typed_action *control(const char *kind, const char *name)
{
	struct weft_typed_action *t = calloc(1, sizeof(*t));
	struct weft_action *a = calloc(1, sizeof(*a));

	a->spec = weft_action_find(kind);
	t->action = a;
	if (name) {
		t->names = calloc(1, sizeof(*t->names));
		t->names[0] = name;
		t->n_names = 1;
	}
	return t;
}

static void control_free(const struct weft_typed_action *t)
{
	free((void *)(uintptr_t)t->action);
	free(t->names);
	free((void *)(uintptr_t)t);
}

static uint64_t *word(struct fixture *f, uint32_t offset)
{
	return (uint64_t *)((uint8_t *)f->t.maps.state + offset);
}

Test(controls, act_after_the_records_before_them)
{
	static struct weft_field_layout fields[] = {INT(number, 8, 0)};
	struct fixture f;
	bool exiting;
	int prog;

	fixture_init(&f);
	f.t.specs[WEFT_PLAN_RING].used = true;
	f.schemas[0] = (struct weft_schema){.fields = fields, .n_fields = 1, .size = 8};
	f.t.plan.n_schemas = 1;
	f.aggs[0] = (struct weft_aggregation){.name = "n",
					      .kind = WEFT_ACTION_COUNT,
					      .bucket_offset = -1,
					      .value_words = 1,
					      .map = -1,
					      .state_offset = 1024};
	f.aggs[1] = f.aggs[0];
	f.aggs[1].name = "other";
	f.t.plan.n_aggregations = 2;
	f.controls[0] = (struct weft_control_site){control("show", "n"), 512};
	f.controls[1] = (struct weft_control_site){control("clear", NULL), 520};
	f.t.plan.n_controls = 2;
	fixture_start(&f);
	prog = record_program(&f, 0);

	weft_program_run(prog, f.t.err);
	*word(&f, 1024) = 5;
	*word(&f, 512) = 1;
	fixture_poll(&f, true, &exiting);
	cr_expect_str_eq(seen_text(&f.seen), "record p:m:f:n cpu0 number=0\ntable n\n  : 5\n");
	fixture_poll(&f, true, &exiting);
	cr_expect_str_eq(seen_text(&f.seen), "", "once is enough");

	/* Both at once: what is shown is what is cleared. */
	*word(&f, 512) += 3;
	*word(&f, 520) += 1;
	fixture_poll(&f, true, &exiting);
	cr_expect_str_eq(seen_text(&f.seen), "table n\n  : 5\n");
	*word(&f, 1024) += 2;
	*word(&f, 512) += 1;
	weft_program_run(prog, f.t.err);
	*word(&f, offsetof(struct weft_control, exit_requested)) = 1;
	fixture_poll(&f, true, &exiting);
	cr_expect_str_eq(seen_text(&f.seen), "record p:m:f:n cpu0 number=1\ntable n\n  : 2\n");
	cr_expect(exiting);
	control_free(f.controls[0].action);
	control_free(f.controls[1].action);
	close(prog);
	fixture_finish(&f);
}

/* A clear that nobody polled for is still done before the last table. */
Test(controls, finish_acts_on_what_is_left)
{
	struct fixture f;

	fixture_init(&f);
	f.aggs[0] = (struct weft_aggregation){.name = "n",
					      .kind = WEFT_ACTION_COUNT,
					      .bucket_offset = -1,
					      .value_words = 1,
					      .map = -1,
					      .state_offset = 1024};
	f.t.plan.n_aggregations = 1;
	f.controls[0] = (struct weft_control_site){control("clear", "n"), 520};
	f.t.plan.n_controls = 1;
	fixture_start(&f);
	*word(&f, 1024) = 5;
	*word(&f, 520) = 1;
	cr_expect_eq(weft_consumer_finish(f.c, f.t.err), 0);
	*word(&f, 1024) = 6;
	cr_expect_eq(weft_consumer_finish(f.c, f.t.err), 0, "it can be called again");
	cr_expect_str_eq(fixture_show(&f, false), "table n\n  : 1\n");
	control_free(f.controls[0].action);
	fixture_finish(&f);
}

/* Two shows and a clear at once: both show what the clear takes away. */
Test(controls, two_shows_and_a_clear)
{
	static const enum weft_action_kind kinds[] = {WEFT_ACTION_MAX, WEFT_ACTION_COUNT};

	for (size_t i = 0; i < 2; i++) {
		const char *table = i ? "table n\n  : 5\n" : "table n\n  : -9223372036854775803\n";
		struct fixture f;
		char both[128];

		fixture_init(&f);
		f.aggs[0] = (struct weft_aggregation){
			.name = "n",
			.kind = kinds[i],
			.bucket_offset = -1,
			.value_words = weft_value_words(kinds[i]),
			.value_type = {.kind = WEFT_VALUE_INT, .size = 8, .is_signed = true},
			.map = -1,
			.state_offset = 1024};
		f.t.plan.n_aggregations = 1;
		f.controls[0] = (struct weft_control_site){control("show", NULL), 512};
		f.controls[1] = (struct weft_control_site){control("show", "n"), 520};
		f.controls[2] = (struct weft_control_site){control("clear", "n"), 528};
		f.t.plan.n_controls = 3;
		fixture_start(&f);
		*word(&f, 1024) = 5;
		*word(&f, 512) = *word(&f, 520) = *word(&f, 528) = 1;
		fixture_poll(&f, false, NULL);
		cr_assert_eq(weft_consumer_finish(f.c, f.t.err), 0);
		snprintf(both, sizeof(both), "%s%s", table, table);
		cr_expect_str_eq(seen_text(&f.seen), both);
		cr_expect_str_eq(fixture_show(&f, false), "table n\n");
		for (int k = 0; k < 3; k++)
			control_free(f.controls[k].action);
		fixture_finish(&f);
	}
}

/* ---- losses ---- */

Test(losses, are_reported_by_place)
{
	static const struct weft_text text = {
		.s = "arg0 / arg1", .pos = {.line = 12, .column = 9}, .verbatim = true};
	const struct weft_loss_report extra[] = {
		{.tag = "PROGRAM_BUSY", .count = 3, .where = "profile:::profile-99hz"},
		{.tag = "NONE", .count = 0}};
	struct weft_clause clause = {.index = 1, .pos = {.line = 20, .column = 5}};
	struct weft_set set = {.file = "set.yaml", .clauses = &clause, .n_clauses = 1};
	struct fixture f;
	uint64_t total;

	fixture_init(&f);
	f.t.plan.set = &set;
	f.t.losses[0] = (struct weft_loss_site){WEFT_LOSS_FAULT_DIVIDE, 0, {&text, 7, 4}, 256, 0};
	f.t.losses[1] = (struct weft_loss_site){WEFT_LOSS_NESTED, 1, {0}, 264, 0};
	f.t.losses[2] =
		(struct weft_loss_site){WEFT_LOSS_RECORD_BUFFER_FULL, 0, {&text, 0, 4}, 272, 0};
	/* The same place in another program. */
	f.t.losses[3] = (struct weft_loss_site){WEFT_LOSS_FAULT_DIVIDE, 0, {&text, 7, 4}, 280, 0};
	f.t.losses[4] = (struct weft_loss_site){WEFT_LOSS_TARGETS_FULL, UINT32_MAX, {0}, 288, 0};
	/* What was asked for is told and is no loss: 25 came, and each tenth went on. */
	f.t.losses[5] = (struct weft_loss_site){WEFT_LOSS_SAMPLED_OUT, 1, {0}, 296, 10};
	f.t.losses[6] = (struct weft_loss_site){WEFT_LOSS_RATE_LIMITED, 1, {0}, 304, 0};
	f.t.plan.n_losses = 7;
	fixture_start(&f);
	*word(&f, 296) = 25;
	*word(&f, 304) = 6;
	*word(&f, 256) = 2;
	*word(&f, 264) = 1;
	*word(&f, 280) = 5;
	*word(&f, 288) = 4;
	cr_expect_eq(weft_consumer_losses(f.c, extra, 2, &total), 0);
	cr_expect_str_eq(seen_text(&f.seen), "loss FAULT_DIVIDE 7 set.yaml:12:16: arg1\n"
					     "loss NESTED 1 set.yaml:20:5\n"
					     "loss TARGETS_FULL 4 -\n"
					     "skipped SAMPLED_OUT 23 set.yaml:20:5\n"
					     "skipped RATE_LIMITED 6 set.yaml:20:5\n"
					     "loss PROGRAM_BUSY 3 profile:::profile-99hz\n");
	cr_expect_eq(total, 15u);
	fixture_finish(&f);
}

Test(losses, none)
{
	struct fixture f;
	uint64_t total = 9;

	fixture_init(&f);
	fixture_start(&f);
	cr_expect_eq(weft_consumer_losses(f.c, NULL, 0, &total), 0);
	cr_expect_eq(total, 0u);
	cr_expect_str_eq(seen_text(&f.seen), "");
	fixture_finish(&f);
}
