/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What is refused of a location, row by row; what is left of the rest is tried in test_places.c. */
#include <errno.h>
#include <time.h>

#include "core/compiler/location.h"
#include "rig.h"

#define OPS(...)                                   \
	(const struct weft_loc_op[]){__VA_ARGS__}, \
		sizeof((const struct weft_loc_op[]){__VA_ARGS__}) / sizeof(struct weft_loc_op)
#define OP(name, ...)                              \
	{                                          \
		.op = WEFT_LOC_##name, __VA_ARGS__ \
	}
#define CONST_OP                               \
	{                                      \
		.op = WEFT_LOC_CONST, .imm = 1 \
	}

static const struct row {
	const char *tag; /* NULL: fine */
	uint32_t ctx_kind, ctx_size, flags;
	unsigned least, most;
	const struct weft_loc_op *ops;
	uint32_t n;
} rows[] = {
	{NULL, WEFT_CTX_NONE, 0, 0, 1, 1, OPS(CONST_OP)},
	{"LOCATION_LENGTH", WEFT_CTX_NONE, 0, 0, 1, 1, NULL, 0},
	{"LOCATION_LENGTH", WEFT_CTX_NONE, 0, 0, 1, 1, (const struct weft_loc_op[65]){{0}}, 65},
	{"LOCATION_OPCODE", WEFT_CTX_NONE, 0, 0, 1, 1, OPS({.op = 0})},
	{"LOCATION_OPCODE", WEFT_CTX_NONE, 0, 0, 1, 1, OPS({.op = 14})},
	{"LOCATION_OPCODE", WEFT_CTX_NONE, 0, 0, 1, 1, OPS({.op = 71})},
	{"LOCATION_OPCODE", WEFT_CTX_NONE, 0, 0, 1, 1, OPS({.op = 65535})},
	{"LOCATION_SIZE", WEFT_CTX_WORDS, 48, 0, 1, 1, OPS(OP(CTX, .size = 0))},
	{"LOCATION_SIZE", WEFT_CTX_WORDS, 48, 0, 1, 1, OPS(OP(CTX, .size = 3))},
	{"LOCATION_SIZE", WEFT_CTX_WORDS, 48, 0, 1, 1, OPS(CONST_OP, OP(LOAD, .size = 16))},
	{"LOCATION_SIZE", WEFT_CTX_WORDS, 48, 0, 1, 1, OPS(CONST_OP, OP(EXTEND, .size = 5))},
	{"LOCATION_FLAGS", WEFT_CTX_WORDS, 48, 0, 1, 1, OPS(OP(CTX, .size = 8, .flags = 2))},
	{"LOCATION_FLAGS", WEFT_CTX_WORDS, 48, 0, 1, 1, OPS(OP(CONST, .flags = 1))},
	{"LOCATION_FLAGS", WEFT_CTX_NONE, 0, 0, 1, 1, OPS(CONST_OP, CONST_OP, OP(ADD, .flags = 4))},
	{"LOCATION_OPERAND", WEFT_CTX_NONE, 0, 0, 1, 1,
	 OPS(CONST_OP, OP(LOAD, .size = 8, .imm = INT64_C(1) << 31))},
	{"LOCATION_UNDERFLOW", WEFT_CTX_NONE, 0, 0, 1, 1, OPS(OP(NEG))},
	{"LOCATION_UNDERFLOW", WEFT_CTX_NONE, 0, 0, 1, 1, OPS(CONST_OP, OP(ADD))},
	{"LOCATION_UNDERFLOW", WEFT_CTX_NONE, 0, 0, 1, 1, OPS(CONST_OP, CONST_OP, OP(SELECT))},
	{"LOCATION_UNDERFLOW", WEFT_CTX_NONE, 0, 0, 1, 1, OPS(OP(DUP))},
	{"LOCATION_UNDERFLOW", WEFT_CTX_NONE, 0, 0, 1, 1, OPS(CONST_OP, OP(SWAP))},
	{"LOCATION_DEPTH", WEFT_CTX_NONE, 0, 0, 1, 1,
	 OPS(CONST_OP, OP(DUP), OP(DUP), OP(DUP), OP(DUP), OP(DUP), OP(DUP), OP(DUP), OP(DUP))},
	{NULL, WEFT_CTX_WORDS, 48, 0, 1, 1, OPS(OP(CTX, .size = 8, .imm = 40))},
	{"LOCATION_CONTEXT", WEFT_CTX_WORDS, 48, 0, 1, 1, OPS(OP(CTX, .size = 8, .imm = 48))},
	{"LOCATION_CONTEXT", WEFT_CTX_WORDS, 48, 0, 1, 1, OPS(OP(CTX, .size = 8, .imm = -8))},
	{"LOCATION_CONTEXT", WEFT_CTX_WORDS, 48, 0, 1, 1, OPS(OP(CTX, .size = 8, .imm = 4))},
	{"LOCATION_CONTEXT", WEFT_CTX_WORDS, 48, 0, 1, 1, OPS(OP(CTX, .size = 8, .imm = INT64_MAX))},
	{"LOCATION_CONTEXT", WEFT_CTX_WORDS, 48, 0, 1, 1, OPS(OP(CTX_ADDR, .imm = 49))},
	{"LOCATION_CONTEXT", WEFT_CTX_NONE, 48, 0, 1, 1, OPS(OP(CTX, .size = 1))},
	{"LOCATION_CONTEXT", WEFT_CTX_RECORD, 48, 0, 1, 1, OPS(OP(CTX, .size = 4, .imm = 4))},
	{NULL, WEFT_CTX_RECORD, 48, 0, 1, 1, OPS(OP(CTX, .size = 4, .imm = 8))},
	{"LOCATION_CONTEXT", WEFT_CTX_WORDS, 48, 0, 1, 1, OPS(OP(REG, .size = 8))},
	{"LOCATION_CONTEXT", WEFT_CTX_WORDS, 48, 0, 1, 1, OPS(OP(KERNEL_PC))},
	{"LOCATION_CONTEXT", WEFT_CTX_RECORD, 48, 0, 1, 1, OPS(OP(RETVAL, .size = 8))},
	{"LOCATION_CONTEXT", WEFT_CTX_WORDS, 48, 0, 1, 1, OPS(OP(ARG))},
	{NULL, WEFT_CTX_WORDS, 48, 0, 1, 1, OPS(OP(ARG, .flags = WEFT_LOC_USER))},
	{"LOCATION_CONTEXT", WEFT_CTX_REGS, 0, 0, 1, 1, OPS(OP(TIMER_COUNT))},
	{"LOCATION_CONTEXT", WEFT_CTX_WORDS, 48, 0, 2, 2, OPS(OP(DATA_LOC, .imm = 8))},
	{NULL, WEFT_CTX_RECORD, 48, 0, 2, 2, OPS(OP(DATA_LOC, .imm = 8))},
	{"LOCATION_CONTEXT", WEFT_CTX_RECORD, 48, 0, 2, 2, OPS(OP(DATA_LOC, .imm = 46))},
	{NULL, WEFT_CTX_REGS, 0, 0, 1, 1, OPS(OP(REG, .size = 1, .aux = 8, .imm = 3))},
	{"LOCATION_REGISTER", WEFT_CTX_REGS, 0, 0, 1, 1, OPS(OP(REG, .size = 8, .imm = 17))},
	{"LOCATION_REGISTER", WEFT_CTX_REGS, 0, 0, 1, 1, OPS(OP(REG, .size = 8, .imm = -1))},
	{"LOCATION_REGISTER", WEFT_CTX_REGS, 0, 0, 1, 1, OPS(OP(REG, .size = 8, .aux = 8))},
	{"LOCATION_REGISTER", WEFT_CTX_REGS, 0, 0, 1, 1, OPS(OP(REG, .size = 1, .aux = 3))},
	{"LOCATION_REGISTER", WEFT_CTX_NONE, 0, 0, 1, 1, OPS(OP(TASK_REG, .size = 8, .imm = 99))},
	{"LOCATION_REGISTER", WEFT_CTX_REGS, 0, 0, 1, 1, OPS(OP(ARG, .imm = 6))},
	{"LOCATION_COOKIE", WEFT_CTX_REGS, 0, 0, 1, 1, OPS(OP(COOKIE))},
	{NULL, WEFT_CTX_REGS, 0, WEFT_LOAD_COOKIE, 1, 1, OPS(OP(COOKIE))},
	{"LOCATION_RESULT", WEFT_CTX_NONE, 0, 0, 1, 1, OPS(CONST_OP, CONST_OP)},
	{"LOCATION_RESULT", WEFT_CTX_NONE, 0, 0, 2, 2, OPS(CONST_OP)},
	{NULL, WEFT_CTX_NONE, 0, 0, 1, 2, OPS(CONST_OP, CONST_OP)},
	{NULL, WEFT_CTX_PERF_EVENT, 0, 0, 1, 1, OPS(OP(CTX, .size = 8, .imm = 168))},
	{"LOCATION_CONTEXT", WEFT_CTX_PERF_EVENT, 0, 0, 1, 1, OPS(OP(CTX, .size = 8, .imm = 184))},
};

/* What MEMBER may refer to; the first few are paths. */
static const char *const names[] = {
	"task_struct.tgid",
	"a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p",
	"task_struct",
	"",
	".tgid",
	"task_struct.",
	"task_struct..tgid",
	"task_struct->tgid",
};

static const struct row member_rows[] = {
	{NULL, WEFT_CTX_NONE, 0, 0, 1, 1, OPS(CONST_OP, OP(MEMBER))},
	{NULL, WEFT_CTX_NONE, 0, 0, 1, 1, OPS(CONST_OP, OP(MEMBER, .imm = 1))},
	{NULL, WEFT_CTX_NONE, 0, 0, 1, 1, OPS(OP(TIME))},
	{"LOCATION_NAME", WEFT_CTX_NONE, 0, 0, 1, 1, OPS(CONST_OP, OP(MEMBER, .imm = -1))},
	{"LOCATION_NAME", WEFT_CTX_NONE, 0, 0, 1, 1, OPS(CONST_OP, OP(MEMBER, .imm = 2))},
	{"LOCATION_NAME", WEFT_CTX_NONE, 0, 0, 1, 1, OPS(CONST_OP, OP(MEMBER, .imm = 3))},
	{"LOCATION_NAME", WEFT_CTX_NONE, 0, 0, 1, 1, OPS(CONST_OP, OP(MEMBER, .imm = 4))},
	{"LOCATION_NAME", WEFT_CTX_NONE, 0, 0, 1, 1, OPS(CONST_OP, OP(MEMBER, .imm = 5))},
	{"LOCATION_NAME", WEFT_CTX_NONE, 0, 0, 1, 1, OPS(CONST_OP, OP(MEMBER, .imm = 6))},
	{"LOCATION_NAME", WEFT_CTX_NONE, 0, 0, 1, 1, OPS(CONST_OP, OP(MEMBER, .imm = 7))},
	{"LOCATION_NAME", WEFT_CTX_NONE, 0, 0, 1, 1, OPS(CONST_OP, OP(MEMBER, .imm = 8))},
	{"LOCATION_NAME", WEFT_CTX_NONE, 0, 0, 1, 1,
	 OPS(CONST_OP, OP(MEMBER, .imm = INT64_C(1) << 32))},
	{"LOCATION_UNDERFLOW", WEFT_CTX_NONE, 0, 0, 1, 1, OPS(OP(MEMBER))},
	{"LOCATION_FLAGS", WEFT_CTX_NONE, 0, 0, 1, 1, OPS(OP(TIME, .flags = 1))},
};

static void check_rows(const char *tag)
{
	unsigned seen = 0;

	for (size_t i = 0; i < N(rows) + N(member_rows); i++) {
		const struct row *row = i < N(rows) ? &rows[i] : &member_rows[i - N(rows)];
		struct weft_load_class load = {
			.ctx_kind = row->ctx_kind, .ctx_size = row->ctx_size, .flags = row->flags};
		struct weft_location where = {
			.ops = row->ops, .n_ops = row->n, .names = names, .n_names = N(names)};
		struct weft_error *err = weft_error_create();
		unsigned left = 0;
		int ret;

		if (row->tag == tag || (tag && row->tag && !strcmp(tag, row->tag))) {
			seen++;
			ret = weft_location_check(&where, &load, row->least, row->most, &left,
						  "argument 3 (len)", err);
			cr_expect((ret == 0) == !tag, "row %zu: %s", i, weft_error_text(err));
			cr_expect_str_eq(weft_error_tag(err), tag ? tag : "", "row %zu", i);
			cr_expect(!tag || strstr(weft_error_text(err), "argument 3 (len)"));
			cr_expect(tag || (left >= row->least && left <= row->most));
		}
		weft_error_destroy(err);
	}
	cr_expect(seen > 0, "%s has no row", tag ? tag : "success");
}

#define TAG(name)                     \
	Test(compiler_location, name) \
	{                             \
		check_rows(#name);    \
	}

TAG(LOCATION_LENGTH)
TAG(LOCATION_OPCODE)
TAG(LOCATION_SIZE)
TAG(LOCATION_FLAGS)
TAG(LOCATION_OPERAND)
TAG(LOCATION_UNDERFLOW)
TAG(LOCATION_DEPTH)
TAG(LOCATION_CONTEXT)
TAG(LOCATION_REGISTER)
TAG(LOCATION_COOKIE)
TAG(LOCATION_RESULT)
TAG(LOCATION_NAME)

Test(compiler_location, fine)
{
	check_rows(NULL);
}

/* A bad location of an argument in use stops the compiler, with the argument's name. */
Test(compiler_location, argument)
{
	static const struct weft_loc_op bad[1] = {{.op = WEFT_LOC_CTX, .size = 8, .imm = 4096}};
	struct rig r;

	rig_init(&r);
	rig_place(&r, 2, WEFT_TYPE_INT, WEFT_SPACE_KERNEL, bad, 1);
	r.args[2].name = "length";
	rig_clause(&r, "arg0 == 1", "sum", "into||s", "value||arg2", NULL);
	cr_expect(rig_compile(&r) < 0);
	cr_expect_str_eq(rig_tag(&r), "LOCATION_CONTEXT");
	cr_expect(strstr(weft_error_text(r.err), "argument 2 (length)"));
	weft_error_clear(r.err);
	cr_expect(weft_location_check_info(&r.info, r.err) < 0);
	cr_expect(weft_error_count(r.err) == 1);
	rig_finish(&r);
}

static const char *const member_names[2] = {"task_struct.tgid", "task_struct.gone.for_good"};

/* arg0 is a member's address, arg1 one of a member that this kernel lacks. */
static void members(struct rig *r)
{
	static const struct weft_loc_op there[] = {CONST_OP, OP(MEMBER)};
	static const struct weft_loc_op gone[] = {CONST_OP, OP(MEMBER, .imm = 1)};

	rig_init(r);
	rig_place(r, 0, WEFT_TYPE_INT, WEFT_SPACE_KERNEL, there, 2);
	rig_place(r, 1, WEFT_TYPE_INT, WEFT_SPACE_KERNEL, gone, 2);
	r->args[1].name = "gone";
	for (size_t i = 0; i < 2; i++) {
		r->args[i].where.names = member_names;
		r->args[i].where.n_names = 2;
	}
}

/* The offset is the plan's, and only what a clause uses is asked for. */
Test(compiler_location, member)
{
	struct rig r;

	members(&r);
	rig_clause(&r, NULL, "sum", "into||s", "value||arg0", NULL);
	cr_assert(rig_compile(&r) == -EAGAIN);
	cr_assert(r.plan->n_members == 1);
	cr_expect_str_eq(r.plan->members[0].path, "task_struct.tgid");
	r.plan->members[0].state = WEFT_MEMBER_KNOWN;
	r.plan->members[0].offset = 123456;
	weft_error_clear(r.err);
	rig_load(&r);
	rig_run(&r, NULL);
	cr_expect(rig_sum(&r, "s") == 123457);
	rig_finish(&r);
}

Test(compiler_location, LOCATION_MEMBER)
{
	struct rig r;

	members(&r);
	rig_clause(&r, "arg1 == 1", "count", "into||c", NULL);
	cr_assert(rig_compile(&r) == -EAGAIN);
	weft_error_clear(r.err);
	cr_assert(!weft_btf_resolve(r.plan, r.err), "%s", weft_error_text(r.err));
	cr_expect(rig_compile(&r) == -ENOENT);
	cr_expect_str_eq(rig_tag(&r), "LOCATION_MEMBER");
	cr_expect(strstr(weft_error_text(r.err), "argument 1 (gone)"));
	cr_expect(strstr(weft_error_text(r.err), "task_struct.gone.for_good"));
	rig_finish(&r);
}

/* Where type information cannot be had, what does without it is compiled. */
Test(compiler_location, others_do_without)
{
	struct rig r;

	members(&r);
	rig_clause(&r, "arg0 == 1", "count", "into||c", NULL);
	cr_expect(rig_compile(&r) == -EAGAIN);
	weft_error_clear(r.err);
	cr_assert(r.plan->n_members == 1 && r.plan->members[0].state == WEFT_MEMBER_WANTED);
	rig_clause(&r, "arg2 == 1", "count", "into||d", NULL);
	r.group.clauses++;
	r.group.n_clauses--;
	cr_expect(!rig_compile(&r), "%s", weft_error_text(r.err));
	rig_finish(&r);
}

/* TIME is the number that timestamp is, wherever it is read first, and CLOCK_MONOTONIC. */
Test(compiler_location, time)
{
	static const struct weft_loc_op now[] = {OP(TIME)};

	for (unsigned guarded = 0; guarded < 2; guarded++) {
		struct timespec before, after;
		uint64_t t;
		struct rig r;

		rig_init(&r);
		rig_place(&r, 0, WEFT_TYPE_INT, WEFT_SPACE_KERNEL, now, 1);
		if (guarded)
			r.info.guard = (struct weft_location){.ops = now, .n_ops = 1};
		rig_clause(&r, "arg1 == 0 || arg0 == 0", "max", "into||t", "value||arg0", NULL);
		rig_clause(&r, "arg0 == timestamp", "count", "into||same", NULL);
		rig_load(&r);
		clock_gettime(CLOCK_MONOTONIC, &before);
		rig_run(&r, NULL);
		clock_gettime(CLOCK_MONOTONIC, &after);
		cr_expect(rig_slot(&r, "same", 0) == 1);
		t = rig_slot(&r, "t", 0) + (uint64_t)INT64_MIN; /* what max holds */
		cr_expect(t >= (uint64_t)before.tv_sec * 1000000000u + (uint64_t)before.tv_nsec);
		cr_expect(t <= (uint64_t)after.tv_sec * 1000000000u + (uint64_t)after.tv_nsec);
		rig_finish(&r);
	}
}
