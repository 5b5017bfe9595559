/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Each operation of a location, in the kernel: what arg5 is, where arg0 and arg1 are words. */
#include <unistd.h>

#include "core/kernel/bpf.h"
#include "rig.h"

#define W0                                              \
	{                                               \
		.op = WEFT_LOC_CTX, .size = 8, .imm = 0 \
	}
#define W1                                              \
	{                                               \
		.op = WEFT_LOC_CTX, .size = 8, .imm = 8 \
	}
#define OP(name, ...)                              \
	{                                          \
		.op = WEFT_LOC_##name, __VA_ARGS__ \
	}
#define PLACE(...)                                 \
	(const struct weft_loc_op[]){__VA_ARGS__}, \
		sizeof((const struct weft_loc_op[]){__VA_ARGS__}) / sizeof(struct weft_loc_op)
#define SIGNED .flags = WEFT_LOC_SIGNED

static const struct row {
	const struct weft_loc_op *ops;
	uint32_t n;
	uint64_t a, b, result;
} rows[] = {
	{PLACE(OP(CONST, .imm = INT64_C(-0x123456789abcdef))), 0, 0, (uint64_t)-0x123456789abcdef},
	{PLACE(OP(CTX, .size = 1, .imm = 1)), 0x8877, 0, 0x88},
	{PLACE(OP(CTX, .size = 1, .imm = 1, SIGNED)), 0x8877, 0, (uint64_t)-0x78},
	{PLACE(OP(CTX, .size = 4, .imm = 4, SIGNED)), 0x8000000000000000, 0, (uint64_t)INT32_MIN},
	{PLACE(W0, OP(EXTEND, .size = 2)), 0x123488ff, 0, 0x88ff},
	{PLACE(W0, OP(EXTEND, .size = 2, SIGNED)), 0x1234ff80, 0, (uint64_t)-128},
	{PLACE(W0, OP(EXTEND, .size = 4)), UINT64_MAX, 0, 0xffffffff},
	{PLACE(W0, OP(NEG)), 5, 0, (uint64_t)-5},
	{PLACE(W0, OP(NOT)), 5, 0, ~5ul},
	{PLACE(W0, W1, OP(ADD)), UINT64_MAX, 2, 1},
	{PLACE(W0, W1, OP(SUB)), 1, 2, UINT64_MAX},
	{PLACE(W0, W1, OP(MUL)), 1ul << 63, 3, 1ul << 63},
	{PLACE(W0, W1, OP(DIV)), UINT64_MAX, 2, UINT64_MAX / 2},
	{PLACE(W0, W1, OP(MOD)), UINT64_MAX, 10, UINT64_MAX % 10},
	{PLACE(W0, W1, OP(AND)), 0xff00, 0x0ff0, 0x0f00},
	{PLACE(W0, W1, OP(OR)), 0xff00, 0x0ff0, 0xfff0},
	{PLACE(W0, W1, OP(XOR)), 0xff00, 0x0ff0, 0xf0f0},
	{PLACE(W0, W1, OP(SHL)), 1, 66, 4},
	{PLACE(W0, W1, OP(SHR)), 1ul << 63, 63, 1},
	{PLACE(W0, W1, OP(SHR, SIGNED)), 1ul << 63, 127, UINT64_MAX},
	{PLACE(W0, W1, OP(EQ)), 7, 7, 1},
	{PLACE(W0, W1, OP(EQ)), 7, 8, 0},
	{PLACE(W0, W1, OP(NE)), 7, 8, 1},
	{PLACE(W0, W1, OP(LT)), UINT64_MAX, 1, 0},
	{PLACE(W0, W1, OP(LT, SIGNED)), UINT64_MAX, 1, 1},
	{PLACE(W0, W1, OP(LE)), 1, 1, 1},
	{PLACE(W0, W1, OP(LE, SIGNED)), 2, (uint64_t)-1, 0},
	{PLACE(W0, W1, OP(CONST, .imm = 9), OP(SELECT)), 1, 5, 5},
	{PLACE(W0, W1, OP(CONST, .imm = 9), OP(SELECT)), 0, 5, 9},
	{PLACE(W0, OP(DUP), OP(MUL)), 9, 0, 81},
	{PLACE(W0, W1, OP(SWAP), OP(SUB)), 10, 3, (uint64_t)-7},
	{PLACE(OP(CTX_ADDR, .imm = 8), OP(LOAD, .size = 8)), 0, 0x1122334455667788,
	 0x1122334455667788},
	{PLACE(OP(CTX_ADDR, .imm = 0), OP(LOAD, .size = 2, .imm = 9, SIGNED)), 0, 0xff8000,
	 (uint64_t)-128},
	/* As deep as it may be, and with a constant folded on the way. */
	{PLACE(W0, OP(DUP), OP(DUP), OP(DUP), OP(DUP), OP(DUP), OP(DUP), OP(DUP), OP(ADD), OP(ADD),
	       OP(ADD), OP(ADD), OP(ADD), OP(ADD), OP(ADD), OP(CONST, .imm = 6),
	       OP(CONST, .imm = 7), OP(MUL), OP(ADD)),
	 100, 0, 842},
};

Test(compiler_places, every_operation)
{
	for (size_t i = 0; i < N(rows); i++) {
		const uint64_t words[RIG_ARGS] = {rows[i].a, rows[i].b};
		struct rig r;

		rig_init(&r);
		rig_place(&r, 5, WEFT_TYPE_INT, WEFT_SPACE_KERNEL, rows[i].ops, rows[i].n);
		rig_clause(&r, NULL, "sum", "into||s", "value||arg5", NULL);
		rig_load(&r);
		rig_run(&r, words);
		cr_expect(rig_sum(&r, "s") == rows[i].result, "row %zu: %lx, not %lx", i,
			  rig_sum(&r, "s"), rows[i].result);
		cr_expect(!rig_losses(&r));
		rig_finish(&r);
	}
}

Test(compiler_places, faults)
{
	const struct {
		const struct weft_loc_op *ops;
		uint32_t n;
		enum weft_loss loss;
	} faults[] = {
		{PLACE(W0, W1, OP(DIV)), WEFT_LOSS_FAULT_DIVIDE},
		{PLACE(W0, W1, OP(MOD)), WEFT_LOSS_FAULT_DIVIDE},
		{PLACE(W0, OP(LOAD, .size = 8)), WEFT_LOSS_FAULT_ADDRESS},
		{PLACE(W0, OP(LOAD, .size = 8, .flags = WEFT_LOC_USER)), WEFT_LOSS_FAULT_ADDRESS},
	};

	for (size_t i = 0; i < N(faults); i++) {
		struct rig r;

		rig_init(&r);
		rig_place(&r, 5, WEFT_TYPE_INT, WEFT_SPACE_KERNEL, faults[i].ops, faults[i].n);
		rig_clause(&r, NULL, "count", "into||c", "by|k|arg5", NULL);
		rig_load(&r);
		rig_run(&r, NULL);
		cr_expect(rig_loss(&r, faults[i].loss) == 1 && rig_losses(&r) == 1, "row %zu", i);
		rig_finish(&r);
	}
}

Test(compiler_places, user_memory)
{
	uint32_t data[2] = {7, 0x80000000};
	const uint64_t words[RIG_ARGS] = {(uintptr_t)data};
	static const struct weft_loc_op ops[] = {
		W0, OP(LOAD, .size = 4, .imm = 4, .flags = WEFT_LOC_USER | WEFT_LOC_SIGNED)};
	struct rig r;

	rig_init(&r);
	rig_place(&r, 5, WEFT_TYPE_INT, WEFT_SPACE_KERNEL, ops, N(ops));
	rig_clause(&r, NULL, "sum", "into||s", "value||arg5", NULL);
	rig_load(&r);
	rig_run(&r, words);
	cr_expect(rig_sum(&r, "s") == (uint64_t)INT32_MIN);
	rig_finish(&r);
}

/* The registers that the task entered the kernel with: of the bpf system call that runs the test.
 * Its arguments are command, attributes and their size: rdi, rsi, rdx, DWARF 5, 4, 1. */
Test(compiler_places, task_registers)
{
	static const struct weft_loc_op ops[] = {
		OP(TASK_REG, .size = 4, .imm = 5),
		OP(CONST, .imm = 1000),
		OP(MUL),
		OP(ARG, .imm = 2, .flags = WEFT_LOC_USER),
		OP(ADD),
	};
	struct rig r;

	rig_init(&r);
	rig_place(&r, 5, WEFT_TYPE_INT, WEFT_SPACE_KERNEL, ops, N(ops));
	rig_clause(&r, NULL, "sum", "into||s", "value||arg5", NULL);
	rig_load(&r);
	rig_run(&r, NULL);
	cr_expect(rig_sum(&r, "s") == BPF_PROG_TEST_RUN * 1000 + sizeof(union bpf_attr), "%lu",
		  rig_sum(&r, "s"));
	rig_finish(&r);
}

/* The class is sleepable only where something is read that may have to be waited for. */
Test(compiler_places, sleepable)
{
	static const struct weft_loc_op ops[] = {W0, OP(LOAD, .size = 8, .flags = WEFT_LOC_USER)};
	struct rig r;

	rig_init(&r);
	r.info.load.flags = WEFT_LOAD_SLEEPABLE;
	rig_place(&r, 4, WEFT_TYPE_STRING, WEFT_SPACE_USER, ops, 1);
	rig_place(&r, 5, WEFT_TYPE_INT, WEFT_SPACE_USER, ops, N(ops));
	rig_clause(&r, "arg1 == 1", "count", "into||c", NULL);
	cr_assert(!rig_compile(&r));
	cr_expect(!(r.program.load.flags & WEFT_LOAD_SLEEPABLE));
	rig_clause(&r, "arg5 == 1", "count", "into||c", NULL);
	cr_assert(!rig_compile(&r));
	cr_expect(r.program.load.flags & WEFT_LOAD_SLEEPABLE);
	r.group.clauses++;
	r.group.n_clauses = 0;
	rig_clause(&r, "arg4 == \"x\"", "count", "into||c", NULL);
	r.group.clauses = &r.clauses[2];
	r.group.n_clauses = 1;
	cr_assert(!rig_compile(&r));
	cr_expect(r.program.load.flags & WEFT_LOAD_SLEEPABLE);
	rig_finish(&r);
}
