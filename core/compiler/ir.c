/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Building the intermediate form: registers, labels, memory, calls. Arithmetic is in ir_arith.c. */
#include "core/compiler/ir.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

int weft_ir_init(struct weft_ir *ir)
{
	*ir = (struct weft_ir){.clause = UINT32_MAX};
	while (ir->n_vregs < WEFT_FIRST && !ir->status)
		weft_ir_variable(ir);
	return ir->status;
}

void weft_ir_finish(struct weft_ir *ir)
{
	free(ir->insns);
	free(ir->args);
	free(ir->vregs);
	*ir = (struct weft_ir){0};
}

/* ---- registers and labels ---- */

weft_vreg weft_ir_vreg(struct weft_ir *ir)
{
	if (ir->status)
		return WEFT_NO_VREG;
	if (weft_grow(&ir->vregs, &ir->cap_vregs, ir->n_vregs, sizeof(*ir->vregs))) {
		ir->status = -ENOMEM;
		return WEFT_NO_VREG;
	}
	ir->vregs[ir->n_vregs] = (struct weft_vreg_info){0};
	return (weft_vreg)ir->n_vregs++;
}

weft_vreg weft_ir_variable(struct weft_ir *ir)
{
	weft_vreg v = weft_ir_vreg(ir);

	if (!ir->status)
		ir->vregs[v].is_variable = true;
	return v;
}

void weft_ir_pin(struct weft_ir *ir, weft_vreg v)
{
	if (!ir->status)
		ir->vregs[v].pinned = true;
}

bool weft_ir_constant(const struct weft_ir *ir, weft_vreg v, int64_t *value)
{
	if (ir->status || !ir->vregs[v].is_constant)
		return false;
	*value = ir->vregs[v].value;
	return true;
}

uint32_t weft_ir_label(struct weft_ir *ir)
{
	return ++ir->n_labels;
}

void weft_ir_place(struct weft_ir *ir, uint32_t label)
{
	weft_ir_append(ir, WEFT_IR_LABEL)->label = label;
}

struct weft_ir_insn *weft_ir_append(struct weft_ir *ir, enum weft_ir_op op)
{
	static __thread struct weft_ir_insn nowhere; /* written to when memory is short */
	struct weft_ir_insn *insn = &nowhere;

	if (!ir->status && weft_grow(&ir->insns, &ir->cap_insns, ir->n_insns, sizeof(*insn)))
		ir->status = -ENOMEM;
	if (!ir->status)
		insn = &ir->insns[ir->n_insns++];
	*insn = (struct weft_ir_insn){.op = (uint8_t)op, .clause = ir->clause, .span = ir->span};
	return insn;
}

struct weft_ir_insn *weft_ir_define(struct weft_ir *ir, enum weft_ir_op op, weft_vreg *dst)
{
	struct weft_ir_insn *insn;

	*dst = weft_ir_vreg(ir);
	insn = weft_ir_append(ir, op);
	insn->dst = *dst;
	return insn;
}

/* ---- the rest ---- */

weft_vreg weft_ir_context(struct weft_ir *ir)
{
	weft_vreg dst;

	weft_ir_define(ir, WEFT_IR_CONTEXT, &dst);
	return dst;
}

weft_vreg weft_ir_const(struct weft_ir *ir, int64_t value)
{
	weft_vreg dst;

	weft_ir_define(ir, WEFT_IR_CONST, &dst)->imm = value;
	if (!ir->status) {
		ir->vregs[dst].is_constant = true;
		ir->vregs[dst].value = value;
	}
	return dst;
}

weft_vreg weft_ir_map_value(struct weft_ir *ir, uint32_t map, uint32_t offset)
{
	struct weft_ir_insn *insn;
	weft_vreg dst;

	insn = weft_ir_define(ir, WEFT_IR_MAP_VALUE, &dst);
	insn->imm = map;
	insn->off = (int32_t)offset;
	return dst;
}

weft_vreg weft_ir_load(struct weft_ir *ir, uint8_t size, weft_vreg base, int32_t off)
{
	struct weft_ir_insn *insn;
	weft_vreg dst;

	insn = weft_ir_define(ir, WEFT_IR_LOAD, &dst);
	insn->size = size;
	insn->a = base;
	insn->off = off;
	return dst;
}

void weft_ir_store(struct weft_ir *ir, uint8_t size, weft_vreg base, int32_t off, weft_vreg value)
{
	struct weft_ir_insn *insn;
	int64_t constant;

	if (weft_ir_constant(ir, value, &constant) && (weft_fits32(constant) || size <= 4)) {
		weft_ir_store_imm(ir, size, base, off, constant);
		return;
	}
	insn = weft_ir_append(ir, WEFT_IR_STORE);
	insn->size = size;
	insn->a = base;
	insn->off = off;
	insn->b = value;
}

void weft_ir_store_imm(struct weft_ir *ir, uint8_t size, weft_vreg base, int32_t off, int64_t value)
{
	struct weft_ir_insn *insn;

	if (size == 8 && !weft_fits32(value)) {
		weft_ir_store(ir, size, base, off, weft_ir_const(ir, value));
		return;
	}
	insn = weft_ir_append(ir, WEFT_IR_STORE);
	insn->size = size;
	insn->a = base;
	insn->off = off;
	insn->imm = (int32_t)value;
}

void weft_ir_atomic(struct weft_ir *ir, uint8_t code, weft_vreg base, int32_t off, weft_vreg value)
{
	struct weft_ir_insn *insn = weft_ir_append(ir, WEFT_IR_ATOMIC);

	insn->code = code;
	insn->size = 8;
	insn->a = base;
	insn->off = off;
	insn->b = value;
}

weft_vreg weft_ir_xchg(struct weft_ir *ir, weft_vreg base, int32_t off, weft_vreg value)
{
	struct weft_ir_insn *insn;
	weft_vreg dst;

	insn = weft_ir_define(ir, WEFT_IR_XCHG, &dst);
	insn->code = BPF_XCHG;
	insn->a = base;
	insn->off = off;
	insn->b = value;
	return dst;
}

weft_vreg weft_ir_fetch_add(struct weft_ir *ir, weft_vreg base, int32_t off, weft_vreg value)
{
	struct weft_ir_insn *insn;
	weft_vreg dst;

	insn = weft_ir_define(ir, WEFT_IR_XCHG, &dst);
	insn->code = BPF_ADD | BPF_FETCH;
	insn->a = base;
	insn->off = off;
	insn->b = value;
	return dst;
}

weft_vreg weft_ir_cmpxchg(struct weft_ir *ir, weft_vreg base, int32_t off, weft_vreg expected,
			  weft_vreg value)
{
	struct weft_ir_insn *insn;
	weft_vreg dst;

	insn = weft_ir_define(ir, WEFT_IR_CMPXCHG, &dst);
	insn->a = base;
	insn->off = off;
	insn->b = value;
	insn->c = expected;
	return dst;
}

weft_vreg weft_ir_call(struct weft_ir *ir, int32_t helper, bool wanted,
		       const struct weft_ir_arg *args, size_t n)
{
	struct weft_ir_insn *insn;
	size_t first = ir->n_args, i;
	weft_vreg dst = wanted ? weft_ir_vreg(ir) : WEFT_NO_VREG;

	for (i = 0; i < n && !ir->status; i++) {
		if (weft_grow(&ir->args, &ir->cap_args, ir->n_args, sizeof(*args))) {
			ir->status = -ENOMEM;
			break;
		}
		ir->args[ir->n_args] = args[i];
		if (args[i].kind == WEFT_ARG_VREG &&
		    weft_ir_constant(ir, args[i].vreg, &ir->args[ir->n_args].imm))
			ir->args[ir->n_args].kind = WEFT_ARG_IMM;
		ir->n_args++;
	}
	insn = weft_ir_append(ir, WEFT_IR_CALL);
	insn->dst = dst;
	insn->imm = helper;
	insn->args = (uint32_t)first;
	insn->n_args = (uint8_t)n;
	return dst;
}

void weft_ir_jump(struct weft_ir *ir, uint32_t label)
{
	weft_ir_append(ir, WEFT_IR_JUMP)->label = label;
}

void weft_ir_leave(struct weft_ir *ir, uint32_t label)
{
	struct weft_ir_insn *insn = weft_ir_append(ir, WEFT_IR_JUMP);

	insn->label = label;
	insn->imm = 1;
}

void weft_ir_exit(struct weft_ir *ir)
{
	weft_ir_append(ir, WEFT_IR_EXIT);
}

void weft_ir_assign(struct weft_ir *ir, weft_vreg variable, weft_vreg a)
{
	struct weft_ir_insn *insn;
	int64_t value;

	if (weft_ir_constant(ir, a, &value)) {
		weft_ir_assign_const(ir, variable, value);
		return;
	}
	insn = weft_ir_append(ir, WEFT_IR_MOVE);
	insn->dst = variable;
	insn->a = a;
}

void weft_ir_assign_const(struct weft_ir *ir, weft_vreg variable, int64_t value)
{
	struct weft_ir_insn *insn = weft_ir_append(ir, WEFT_IR_CONST);

	insn->dst = variable;
	insn->imm = value;
}

void weft_ir_assign_map_value(struct weft_ir *ir, weft_vreg variable, uint32_t map, uint32_t offset)
{
	struct weft_ir_insn *insn = weft_ir_append(ir, WEFT_IR_MAP_VALUE);

	insn->dst = variable;
	insn->imm = map;
	insn->off = (int32_t)offset;
}

void weft_ir_step(struct weft_ir *ir, uint8_t code, weft_vreg variable, int64_t imm)
{
	struct weft_ir_insn *insn = weft_ir_append(ir, WEFT_IR_ALU);

	insn->code = code;
	insn->dst = variable;
	insn->a = variable;
	insn->imm = imm;
}

void weft_ir_apply(struct weft_ir *ir, uint8_t code, weft_vreg variable, weft_vreg b)
{
	struct weft_ir_insn *insn = weft_ir_append(ir, WEFT_IR_ALU);

	insn->code = code;
	insn->dst = variable;
	insn->a = variable;
	insn->b = b;
}
