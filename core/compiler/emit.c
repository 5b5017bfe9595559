/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Instruction selection, which with three-address code over BPF is a matter of a move here and
 * there: an operation needs its result in the register of its first operand, a helper its
 * arguments in r1-r5, a compare-and-exchange the expected value in r0.
 */
#include "core/compiler/emit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/insn.h"

struct emitter {
	const struct weft_ir *ir;
	const uint8_t *reg;
	struct weft_machine m;
	const struct weft_ir_insn *current;
};

static struct weft_machine_insn *append(struct emitter *e, struct bpf_insn insn)
{
	static __thread struct weft_machine_insn nowhere;
	struct weft_machine_insn *out = &nowhere;
	struct weft_machine *m = &e->m;

	if (!m->status && weft_grow(&m->insns, &m->cap_insns, m->n_insns, sizeof(*out)))
		m->status = -ENOMEM;
	if (!m->status)
		out = &m->insns[m->n_insns++];
	*out = (struct weft_machine_insn){.insn = insn,
					  .clause = e->current->clause,
					  .ir = (uint32_t)(e->current - e->ir->insns),
					  .span = e->current->span};
	return out;
}

static uint8_t reg_of(const struct emitter *e, weft_vreg v)
{
	return v == WEFT_FP ? BPF_REG_10 : e->reg[v];
}

static uint8_t size_code(uint8_t size)
{
	switch (size) {
	case 1:
		return BPF_B;
	case 2:
		return BPF_H;
	case 4:
		return BPF_W;
	default:
		return BPF_DW;
	}
}

static void move(struct emitter *e, uint8_t dst, uint8_t src)
{
	if (dst != src)
		append(e, INSN_MOV64_REG(dst, src));
}

static void constant(struct emitter *e, uint8_t dst, int64_t value)
{
	if (value == (int32_t)value) {
		append(e, INSN_MOV64_IMM(dst, value));
		return;
	}
	if (value == (int64_t)(uint32_t)value) {
		append(e, INSN_MOV32_IMM(dst, value));
		return;
	}
	append(e, WEFT_INSN(BPF_LD | BPF_DW | BPF_IMM, dst, 0, 0, (uint32_t)value))->imm_high =
		(int32_t)(value >> 32);
}

static void map_reference(struct emitter *e, uint8_t dst, uint8_t kind, int64_t map, int32_t offset)
{
	append(e, WEFT_INSN(BPF_LD | BPF_DW | BPF_IMM, dst, kind, 0, map))->imm_high = offset;
}

static void alu(struct emitter *e, const struct weft_ir_insn *i)
{
	uint8_t d = reg_of(e, i->dst), a = reg_of(e, i->a), b;

	if (!i->b) {
		move(e, d, a);
		append(e, INSN_ALU64_IMM(i->code, d, i->imm));
		return;
	}
	b = reg_of(e, i->b);
	move(e, d, a); /* d is not b: liveness lets b outlive the result's birth */
	append(e, INSN_ALU64_REG(i->code, d, b));
}

static struct weft_machine_insn *jump_to(struct emitter *e, struct bpf_insn insn, uint32_t label)
{
	struct weft_machine_insn *i = append(e, insn);

	i->label = label;
	return i;
}

static void branch(struct emitter *e, const struct weft_ir_insn *i, uint32_t label)
{
	if (i->b)
		jump_to(e, INSN_JMP_REG(i->code, reg_of(e, i->a), reg_of(e, i->b), 0), label);
	else if (i->op == WEFT_IR_BRANCH && i->size == 4)
		jump_to(e, INSN_JMP32_IMM(i->code, reg_of(e, i->a), i->imm, 0), label);
	else
		jump_to(e, INSN_JMP_IMM(i->code, reg_of(e, i->a), i->imm, 0), label);
}

static void place_label(struct emitter *e, uint32_t label)
{
	struct weft_machine_insn *insn = append(e, INSN_JA(0));

	insn->is_label = true;
	insn->label = label;
}

static void set(struct emitter *e, const struct weft_ir_insn *i)
{
	uint32_t done = ++e->m.n_labels;

	append(e, INSN_MOV64_IMM(reg_of(e, i->dst), 1));
	branch(e, i, done);
	append(e, INSN_MOV64_IMM(reg_of(e, i->dst), 0));
	place_label(e, done);
}

/*
 * Arguments that are in registers move at once: a register is written only when nothing is to be
 * read from it any more, and a cycle is broken through r0, which is free by then: what r0 holds can
 * only be the beginning of a chain, and chains are moved first.
 */
static void move_arguments(struct emitter *e, const struct weft_ir_insn *i)
{
	uint8_t from[6], left = 0;
	uint8_t pending = 0; /* by target register */
	uint8_t r, k;

	for (r = 1; r <= i->n_args; r++) {
		const struct weft_ir_arg *arg = &e->ir->args[i->args + r - 1];

		from[r] = r;
		if (arg->kind != WEFT_ARG_VREG || reg_of(e, arg->vreg) == r)
			continue;
		from[r] = reg_of(e, arg->vreg);
		pending |= (uint8_t)(1u << r);
		left++;
	}
	while (left) {
		bool moved = false;

		for (r = 1; r <= i->n_args; r++) {
			bool wanted = false;

			if (!(pending >> r & 1))
				continue;
			for (k = 1; k <= i->n_args; k++)
				wanted |= k != r && pending >> k & 1 && from[k] == r;
			if (wanted)
				continue;
			move(e, r, from[r]);
			pending &= (uint8_t) ~(1u << r);
			left--;
			moved = true;
		}
		if (moved)
			continue;
		for (r = 1; !(pending >> r & 1); r++)
			;
		move(e, BPF_REG_0, r);
		for (k = 1; k <= i->n_args; k++)
			if (pending >> k & 1 && from[k] == r)
				from[k] = BPF_REG_0;
	}
}

static void call(struct emitter *e, const struct weft_ir_insn *i)
{
	move_arguments(e, i);
	for (uint8_t r = 1; r <= i->n_args; r++) {
		const struct weft_ir_arg *arg = &e->ir->args[i->args + r - 1];

		switch (arg->kind) {
		case WEFT_ARG_VREG:
			break;
		case WEFT_ARG_IMM:
			constant(e, r, arg->imm);
			break;
		case WEFT_ARG_STACK:
			append(e, INSN_MOV64_REG(r, BPF_REG_10));
			append(e, INSN_ALU64_IMM(BPF_ADD, r, arg->imm));
			break;
		case WEFT_ARG_MAP:
			map_reference(e, r, BPF_PSEUDO_MAP_FD, arg->imm, 0);
			break;
		}
	}
	append(e, INSN_CALL(i->imm));
	if (i->dst)
		move(e, reg_of(e, i->dst), BPF_REG_0);
}

static void store(struct emitter *e, const struct weft_ir_insn *i)
{
	uint8_t size = size_code(i->size);

	if (i->b)
		append(e, INSN_STX(size, reg_of(e, i->a), i->off, reg_of(e, i->b)));
	else
		append(e, INSN_ST(size, reg_of(e, i->a), i->off, i->imm));
}

static void select_insn(struct emitter *e, const struct weft_ir_insn *i)
{
	switch (i->op) {
	case WEFT_IR_LABEL:
		place_label(e, i->label);
		break;
	case WEFT_IR_CONTEXT:
		move(e, reg_of(e, i->dst), BPF_REG_1);
		break;
	case WEFT_IR_CONST:
		constant(e, reg_of(e, i->dst), i->imm);
		break;
	case WEFT_IR_MAP_VALUE:
		map_reference(e, reg_of(e, i->dst), BPF_PSEUDO_MAP_VALUE, i->imm, i->off);
		break;
	case WEFT_IR_MOVE:
		move(e, reg_of(e, i->dst), reg_of(e, i->a));
		break;
	case WEFT_IR_ALU:
		alu(e, i);
		break;
	case WEFT_IR_NEG:
		move(e, reg_of(e, i->dst), reg_of(e, i->a));
		append(e, INSN_NEG64(reg_of(e, i->dst)));
		break;
	case WEFT_IR_SWAP:
		move(e, reg_of(e, i->dst), reg_of(e, i->a));
		append(e, INSN_TO_BE(reg_of(e, i->dst), i->size));
		break;
	case WEFT_IR_LOW32:
		append(e, INSN_MOV32_REG(reg_of(e, i->dst), reg_of(e, i->a)));
		break;
	case WEFT_IR_SET:
		set(e, i);
		break;
	case WEFT_IR_LOAD:
		append(e, INSN_LDX(size_code(i->size), reg_of(e, i->dst), reg_of(e, i->a), i->off));
		break;
	case WEFT_IR_STORE:
		store(e, i);
		break;
	case WEFT_IR_ATOMIC:
		append(e, INSN_ATOMIC(BPF_DW, i->code, reg_of(e, i->a), i->off, reg_of(e, i->b)));
		break;
	case WEFT_IR_XCHG:
		move(e, reg_of(e, i->dst), reg_of(e, i->b));
		append(e, INSN_ATOMIC(BPF_DW, i->code, reg_of(e, i->a), i->off, reg_of(e, i->dst)));
		break;
	case WEFT_IR_CMPXCHG:
		move(e, BPF_REG_0, reg_of(e, i->c));
		append(e,
		       INSN_ATOMIC(BPF_DW, BPF_CMPXCHG, reg_of(e, i->a), i->off, reg_of(e, i->b)));
		move(e, reg_of(e, i->dst), BPF_REG_0);
		break;
	case WEFT_IR_CALL:
		call(e, i);
		break;
	case WEFT_IR_JUMP:
		jump_to(e, INSN_JA(0), i->label)->stays = i->imm == 1;
		break;
	case WEFT_IR_BRANCH:
		branch(e, i, i->label);
		break;
	default: /* WEFT_IR_EXIT */
		append(e, INSN_MOV64_IMM(BPF_REG_0, 0));
		append(e, INSN_EXIT());
		break;
	}
}

/* Numbers the instructions, resolves jumps and copies everything into the program. */
static int assemble(const struct weft_machine *m, struct weft_arena *arena,
		    struct weft_program *out, uint32_t *too_far)
{
	uint32_t *position = calloc(m->n_labels + 1, sizeof(*position)), at = 0;
	int ret = -ENOMEM;
	size_t i;

	if (!position)
		return -ENOMEM;
	for (i = 0; i < m->n_insns; i++) {
		const struct weft_machine_insn *mi = &m->insns[i];

		if (mi->is_label)
			position[mi->label] = at;
		else if (!mi->dropped)
			at += INSN_IS_LD_IMM64(&mi->insn) ? 2 : 1;
	}
	out->n_insns = at;
	out->insns = weft_arena_array(arena, at, sizeof(*out->insns));
	out->spans = weft_arena_array(arena, at, sizeof(*out->spans));
	out->clause_of = weft_arena_array(arena, at, sizeof(*out->clause_of));
	out->ir_of = out->ir_text ? weft_arena_array(arena, at, sizeof(*out->ir_of)) : NULL;
	if (!out->insns || !out->spans || !out->clause_of || (out->ir_text && !out->ir_of))
		goto out;
	ret = 0;
	for (i = 0, at = 0; i < m->n_insns; i++) {
		const struct weft_machine_insn *mi = &m->insns[i];
		unsigned n = INSN_IS_LD_IMM64(&mi->insn) ? 2 : 1;

		if (mi->is_label || mi->dropped)
			continue;
		out->insns[at] = mi->insn;
		if (mi->label) {
			int64_t distance = (int64_t)position[mi->label] - at - 1;

			if (distance != (int16_t)distance && !ret) {
				*too_far = mi->clause;
				ret = -E2BIG;
			}
			out->insns[at].off = (int16_t)distance;
		}
		if (n == 2)
			out->insns[at + 1].imm = mi->imm_high;
		while (n--) {
			out->spans[at] = mi->span;
			if (out->ir_of)
				out->ir_of[at] = mi->ir;
			out->clause_of[at++] = mi->clause;
		}
	}
out:
	free(position);
	return ret;
}

int weft_emit(const struct weft_ir *ir, const struct weft_allocation *regs,
	      struct weft_arena *arena, struct weft_program *out, uint32_t *too_far)
{
	struct emitter e = {.ir = ir, .reg = regs->reg, .m.n_labels = ir->n_labels};
	int ret;

	for (size_t i = 0; i < ir->n_insns; i++) {
		e.current = &ir->insns[i];
		select_insn(&e, e.current);
	}
	ret = e.m.status;
	if (!ret)
		ret = weft_peephole(&e.m);
	if (!ret) {
		ret = assemble(&e.m, arena, out, too_far);
	}
	free(e.m.insns);
	return ret;
}
