/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Locations, lowered: the stack machine is run at compile time, over registers.
 *
 * Two programs look at their context through narrow windows. In a perf event's only whole words may
 * be loaded; there the word is loaded and cut. In a tracing program (fentry, BTF raw tracepoints) a
 * loaded word may be a typed pointer, on which the verifier allows no arithmetic; there the word is
 * copied by a helper, which makes it a number.
 */
#include <errno.h>
#include <stddef.h>

#include "core/compiler/arch.h"
#include "core/compiler/location.h"
#include "core/compiler/lower.h"

struct machine {
	const struct weft_location *where;
	const char *what; /* for messages */
	weft_vreg stack[WEFT_LOC_MAX_DEPTH + 1];
	unsigned depth;
};

static void push(struct machine *m, weft_vreg v)
{
	m->stack[m->depth++] = v;
}

static weft_vreg pop(struct machine *m)
{
	return m->stack[--m->depth];
}

/* The address of a byte of the context, as a number: the verifier lets nobody compute with the
 * pointer, but a helper reads it like any other word of memory. */
weft_vreg weft_lower_context_address(struct weft_lower *lw, int64_t offset)
{
	uint32_t mark = lw->frame_used;
	struct weft_place from = weft_lower_frame(lw, 8), to = weft_lower_frame(lw, 8);
	weft_vreg number;

	weft_lower_store(lw, from, 8, lw->ctx);
	WEFT_CALL_VOID(&lw->ir, BPF_FUNC_probe_read_kernel, WEFT_A_FP(to.off), WEFT_A_IMM(8),
		       WEFT_A_FP(from.off));
	number = weft_lower_load(lw, to, 8);
	lw->frame_used = mark;
	return weft_ir_alu_imm(&lw->ir, BPF_ADD, number, offset);
}

/* Cuts size bytes from bit `shift` on out of a word. */
static weft_vreg cut(struct weft_lower *lw, weft_vreg word, unsigned shift, uint8_t size,
		     bool is_signed)
{
	return weft_ir_extend(&lw->ir, weft_ir_alu_imm(&lw->ir, BPF_RSH, word, shift), size,
			      is_signed);
}

static weft_vreg context_bytes(struct weft_lower *lw, int64_t at, uint8_t size, bool is_signed)
{
	weft_vreg v;

	if (lw->load->prog_type == BPF_PROG_TYPE_TRACING ||
	    lw->load->prog_type == BPF_PROG_TYPE_LSM) {
		v = weft_lower_read(lw, weft_lower_context_address(lw, at), size, false);
		return is_signed ? weft_ir_extend(&lw->ir, v, size, true) : v;
	}
	if (lw->load->ctx_kind == WEFT_CTX_PERF_EVENT) {
		v = weft_ir_load(&lw->ir, 8, lw->ctx, (int32_t)(at & ~7));
		return cut(lw, v, 8 * (unsigned)(at & 7), size, is_signed);
	}
	v = weft_ir_load(&lw->ir, size, lw->ctx, (int32_t)at);
	return is_signed ? weft_ir_extend(&lw->ir, v, size, true) : v;
}

static weft_vreg context_reg(struct weft_lower *lw, int16_t at)
{
	return weft_ir_load(&lw->ir, 8, lw->ctx, at);
}

/* A word of the registers that the current task entered the kernel with. */
static weft_vreg task_reg(struct weft_lower *lw, int16_t at)
{
	weft_vreg task = weft_ir_call(&lw->ir, BPF_FUNC_get_current_task_btf, true, NULL, 0);
	weft_vreg regs = WEFT_CALL(&lw->ir, BPF_FUNC_task_pt_regs, WEFT_A(task));

	return weft_ir_load(&lw->ir, 8, regs, at);
}

/* The program counter if the mode is the one asked for, else 0. */
static weft_vreg counter_in(struct weft_lower *lw, bool user)
{
	weft_vreg result = weft_ir_variable(&lw->ir);
	uint32_t done = weft_ir_label(&lw->ir);
	weft_vreg mode = context_reg(lw, weft_arch.mode);

	mode = weft_ir_alu_imm(&lw->ir, BPF_AND, mode, weft_arch.mode_mask);
	weft_ir_assign_const(&lw->ir, result, 0);
	weft_ir_branch_imm(&lw->ir, user ? BPF_JNE : BPF_JEQ, mode, weft_arch.mode_user, done);
	weft_ir_assign(&lw->ir, result, context_reg(lw, weft_arch.ip));
	weft_ir_place(&lw->ir, done);
	return result;
}

/* struct bpf_perf_event_value begins with the counter. */
static weft_vreg timer_count(struct weft_lower *lw)
{
	uint32_t mark = lw->frame_used;
	struct weft_place to = weft_lower_frame(lw, sizeof(struct bpf_perf_event_value));
	weft_vreg failed =
		WEFT_CALL(&lw->ir, BPF_FUNC_perf_prog_read_value, WEFT_A(lw->ctx),
			  WEFT_A_FP(to.off), WEFT_A_IMM(sizeof(struct bpf_perf_event_value)));

	weft_ir_branch_imm(&lw->ir, BPF_JNE, failed, 0, weft_lower_fault(lw, WEFT_LOSS_FAULT_VALUE));
	lw->frame_used = mark;
	return weft_lower_load(lw, to, 8);
}

static void push_one(struct weft_lower *lw, struct machine *m, const struct weft_loc_op *op)
{
	bool is_signed = op->flags & WEFT_LOC_SIGNED;
	weft_vreg v;

	switch (op->op) {
	case WEFT_LOC_CONST:
		push(m, weft_ir_const(&lw->ir, op->imm));
		return;
	case WEFT_LOC_CTX:
		push(m, context_bytes(lw, op->imm, op->size, is_signed));
		return;
	case WEFT_LOC_CTX_ADDR:
		push(m, weft_lower_context_address(lw, op->imm));
		return;
	case WEFT_LOC_REG:
		v = context_reg(lw, weft_arch.dwarf[op->imm]);
		push(m, cut(lw, v, op->aux, op->size, is_signed));
		return;
	case WEFT_LOC_TASK_REG:
		v = task_reg(lw, weft_arch.dwarf[op->imm]);
		push(m, cut(lw, v, op->aux, op->size, is_signed));
		return;
	case WEFT_LOC_COOKIE:
		push(m, WEFT_CALL(&lw->ir, BPF_FUNC_get_attach_cookie, WEFT_A(lw->ctx)));
		return;
	case WEFT_LOC_KERNEL_PC:
		push(m, counter_in(lw, false));
		return;
	case WEFT_LOC_USER_PC:
		push(m, counter_in(lw, true));
		return;
	case WEFT_LOC_TIMER_COUNT:
		push(m, timer_count(lw));
		return;
	case WEFT_LOC_TIME:
		push(m, weft_lower_time(lw));
		return;
	case WEFT_LOC_TASK:
		push(m, weft_lower_task(lw));
		return;
	case WEFT_LOC_RETVAL:
		v = context_reg(lw, weft_arch.retval);
		push(m, cut(lw, v, 0, op->size, is_signed));
		return;
	default: /* WEFT_LOC_ARG */
		if (op->flags & WEFT_LOC_USER)
			push(m, task_reg(lw, weft_arch.syscall_args[op->imm]));
		else
			push(m, context_reg(lw, weft_arch.c_args[op->imm]));
		return;
	}
}

/* Binary operations: the BPF operation, or the comparison. */
static const struct binary {
	uint8_t code, signed_code;
	bool compares, divides;
} binaries[] = {
	[WEFT_LOC_ADD] = {BPF_ADD, BPF_ADD, false, false},
	[WEFT_LOC_SUB] = {BPF_SUB, BPF_SUB, false, false},
	[WEFT_LOC_MUL] = {BPF_MUL, BPF_MUL, false, false},
	[WEFT_LOC_DIV] = {BPF_DIV, BPF_DIV, false, true},
	[WEFT_LOC_MOD] = {BPF_MOD, BPF_MOD, false, true},
	[WEFT_LOC_AND] = {BPF_AND, BPF_AND, false, false},
	[WEFT_LOC_OR] = {BPF_OR, BPF_OR, false, false},
	[WEFT_LOC_XOR] = {BPF_XOR, BPF_XOR, false, false},
	[WEFT_LOC_SHL] = {BPF_LSH, BPF_LSH, false, false},
	[WEFT_LOC_SHR] = {BPF_RSH, BPF_ARSH, false, false},
	[WEFT_LOC_EQ] = {BPF_JEQ, BPF_JEQ, true, false},
	[WEFT_LOC_NE] = {BPF_JNE, BPF_JNE, true, false},
	[WEFT_LOC_LT] = {BPF_JLT, BPF_JSLT, true, false},
	[WEFT_LOC_LE] = {BPF_JLE, BPF_JSLE, true, false},
};

static void binary(struct weft_lower *lw, struct machine *m, const struct weft_loc_op *op)
{
	const struct binary *how = &binaries[op->op];
	uint8_t code = op->flags & WEFT_LOC_SIGNED ? how->signed_code : how->code;
	weft_vreg b = pop(m), a = pop(m);

	if (how->compares) {
		push(m, weft_ir_set(&lw->ir, code, a, b));
		return;
	}
	if (how->divides)
		weft_ir_branch_imm(&lw->ir, BPF_JEQ, b, 0,
				   weft_lower_fault(lw, WEFT_LOSS_FAULT_DIVIDE));
	if (op->op == WEFT_LOC_SHL || op->op == WEFT_LOC_SHR)
		b = weft_ir_alu_imm(&lw->ir, BPF_AND, b, 63);
	push(m, weft_ir_alu(&lw->ir, code, a, b));
}

static void select_one(struct weft_lower *lw, struct machine *m)
{
	weft_vreg b = pop(m), a = pop(m), condition = pop(m);
	weft_vreg result = weft_ir_variable(&lw->ir);
	uint32_t done = weft_ir_label(&lw->ir);

	weft_ir_assign(&lw->ir, result, a);
	weft_ir_branch_imm(&lw->ir, BPF_JNE, condition, 0, done);
	weft_ir_assign(&lw->ir, result, b);
	weft_ir_place(&lw->ir, done);
	push(m, result);
}

/* The u32 holds the offset from the record's beginning in its low half, the length in its high. */
static void data_loc(struct weft_lower *lw, struct machine *m, const struct weft_loc_op *op)
{
	weft_vreg word = context_bytes(lw, op->imm, 4, false);
	weft_vreg offset = weft_ir_alu_imm(&lw->ir, BPF_AND, word, 0xffff);

	push(m, weft_ir_alu(&lw->ir, BPF_ADD, weft_lower_context_address(lw, 0), offset));
	push(m, weft_ir_alu_imm(&lw->ir, BPF_RSH, word, 16));
}

static void member(struct weft_lower *lw, struct machine *m, const struct weft_loc_op *op)
{
	const char *path = weft_location_name(m->where, op->imm);
	const struct weft_kernel_member *k = weft_plan_known_member(lw->plan, path);

	if (!k)
		weft_lower_status(lw, weft_fail_at(lw->err, weft_lower_pos(lw), -ENOENT,
						   "LOCATION_MEMBER",
						   "%s cannot be read on this kernel: its type "
						   "information has no member %s",
						   m->what, path));
	push(m, weft_ir_alu_imm(&lw->ir, BPF_ADD, pop(m), k ? k->offset : 0));
}

static void lower_op(struct weft_lower *lw, struct machine *m, const struct weft_loc_op *op)
{
	weft_vreg a, b;

	switch (op->op) {
	case WEFT_LOC_LOAD:
		a = weft_ir_alu_imm(&lw->ir, BPF_ADD, pop(m), op->imm);
		a = weft_lower_read(lw, a, op->size, op->flags & WEFT_LOC_USER);
		if (op->flags & WEFT_LOC_SIGNED)
			a = weft_ir_extend(&lw->ir, a, op->size, true);
		push(m, a);
		return;
	case WEFT_LOC_MEMBER:
		member(lw, m, op);
		return;
	case WEFT_LOC_EXTEND:
		push(m, weft_ir_extend(&lw->ir, pop(m), op->size, op->flags & WEFT_LOC_SIGNED));
		return;
	case WEFT_LOC_NEG:
		push(m, weft_ir_neg(&lw->ir, pop(m)));
		return;
	case WEFT_LOC_NOT:
		push(m, weft_ir_alu_imm(&lw->ir, BPF_XOR, pop(m), -1));
		return;
	case WEFT_LOC_SELECT:
		select_one(lw, m);
		return;
	case WEFT_LOC_DUP:
		a = pop(m);
		push(m, a);
		push(m, a);
		return;
	case WEFT_LOC_SWAP:
		b = pop(m);
		a = pop(m);
		push(m, b);
		push(m, a);
		return;
	case WEFT_LOC_DATA_LOC:
		data_loc(lw, m, op);
		return;
	default:
		if (op->op >= WEFT_LOC_ADD)
			binary(lw, m, op);
		else
			push_one(lw, m, op);
	}
}

void weft_lower_location(struct weft_lower *lw, const struct weft_location *where, unsigned least,
			 unsigned most, const char *what, weft_vreg values[2], unsigned *n)
{
	struct machine m = {.where = where, .what = what};
	int ret = weft_location_check(where, lw->load, least, most, n, what, lw->err);

	values[0] = values[1] = weft_ir_const(&lw->ir, 0);
	if (ret) {
		weft_lower_status(lw, ret);
		*n = least;
		return;
	}
	for (uint32_t i = 0; i < where->n_ops; i++)
		lower_op(lw, &m, &where->ops[i]);
	for (uint32_t i = 0; i < m.depth && i < 2; i++)
		values[i] = m.stack[i];
}
