/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Building the intermediate form: arithmetic, comparisons and branches. Constants fold here, once,
 * for every part of the lowering. */
#include <linux/bpf.h>

#include "core/compiler/ir.h"

bool weft_ir_compare(uint8_t code, int64_t a, int64_t b)
{
	uint64_t ua = (uint64_t)a, ub = (uint64_t)b;

	switch (code) {
	case BPF_JEQ:
		return a == b;
	case BPF_JNE:
		return a != b;
	case BPF_JGT:
		return ua > ub;
	case BPF_JGE:
		return ua >= ub;
	case BPF_JLT:
		return ua < ub;
	case BPF_JLE:
		return ua <= ub;
	case BPF_JSGT:
		return a > b;
	case BPF_JSGE:
		return a >= b;
	case BPF_JSLT:
		return a < b;
	case BPF_JSLE:
		return a <= b;
	default: /* BPF_JSET */
		return ua & ub;
	}
}

bool weft_ir_compute(uint8_t code, int64_t a, int64_t b, int64_t *result)
{
	uint64_t ua = (uint64_t)a, ub = (uint64_t)b, r;

	switch (code) {
	case BPF_ADD:
		r = ua + ub;
		break;
	case BPF_SUB:
		r = ua - ub;
		break;
	case BPF_MUL:
		r = ua * ub;
		break;
	case BPF_DIV:
		if (!ub)
			return false;
		r = ua / ub;
		break;
	case BPF_MOD:
		if (!ub)
			return false;
		r = ua % ub;
		break;
	case BPF_AND:
		r = ua & ub;
		break;
	case BPF_OR:
		r = ua | ub;
		break;
	case BPF_XOR:
		r = ua ^ ub;
		break;
	case BPF_LSH:
		r = ua << (ub & 63);
		break;
	case BPF_RSH:
		r = ua >> (ub & 63);
		break;
	case BPF_ARSH:
		r = (uint64_t)(a >> (ub & 63));
		break;
	default:
		return false;
	}
	*result = (int64_t)r;
	return true;
}

static bool commutes(uint8_t code)
{
	return code == BPF_ADD || code == BPF_MUL || code == BPF_AND || code == BPF_OR ||
	       code == BPF_XOR;
}

/* a code imm is a itself. */
static bool is_neutral(uint8_t code, int64_t imm)
{
	switch (code) {
	case BPF_ADD:
	case BPF_SUB:
	case BPF_OR:
	case BPF_XOR:
	case BPF_LSH:
	case BPF_RSH:
	case BPF_ARSH:
		return imm == 0;
	case BPF_MUL:
	case BPF_DIV:
		return imm == 1;
	case BPF_AND:
		return imm == -1;
	default:
		return false;
	}
}

/* A cheaper form of the same: multiplication and unsigned division by powers of two. */
static void strength(uint8_t *code, int64_t *imm)
{
	uint64_t u = (uint64_t)*imm;

	if (!u || (u & (u - 1)))
		return;
	if (*code == BPF_MOD) {
		*code = BPF_AND;
		*imm = (int64_t)(u - 1);
	} else if (*code == BPF_MUL || *code == BPF_DIV) {
		*code = *code == BPF_MUL ? BPF_LSH : BPF_RSH;
		*imm = __builtin_ctzll(u);
	}
}

weft_vreg weft_ir_alu_imm(struct weft_ir *ir, uint8_t code, weft_vreg a, int64_t imm)
{
	struct weft_ir_insn *insn;
	int64_t value, result;
	weft_vreg dst, b;

	if (weft_ir_constant(ir, a, &value) && weft_ir_compute(code, value, imm, &result))
		return weft_ir_const(ir, result);
	strength(&code, &imm);
	if (is_neutral(code, imm))
		return a;
	b = weft_fits32(imm) ? WEFT_NO_VREG : weft_ir_const(ir, imm);
	insn = weft_ir_define(ir, WEFT_IR_ALU, &dst);
	insn->code = code;
	insn->a = a;
	insn->b = b;
	insn->imm = b ? 0 : imm;
	return dst;
}

weft_vreg weft_ir_alu(struct weft_ir *ir, uint8_t code, weft_vreg a, weft_vreg b)
{
	struct weft_ir_insn *insn;
	int64_t value;
	weft_vreg dst;

	if (weft_ir_constant(ir, b, &value))
		return weft_ir_alu_imm(ir, code, a, value);
	if (commutes(code) && weft_ir_constant(ir, a, &value))
		return weft_ir_alu_imm(ir, code, b, value);
	insn = weft_ir_define(ir, WEFT_IR_ALU, &dst);
	insn->code = code;
	insn->a = a;
	insn->b = b;
	return dst;
}

weft_vreg weft_ir_neg(struct weft_ir *ir, weft_vreg a)
{
	int64_t value;
	weft_vreg dst;

	if (weft_ir_constant(ir, a, &value))
		return weft_ir_const(ir, (int64_t)(0 - (uint64_t)value));
	weft_ir_define(ir, WEFT_IR_NEG, &dst)->a = a;
	return dst;
}

weft_vreg weft_ir_swap(struct weft_ir *ir, weft_vreg a, uint8_t size)
{
	struct weft_ir_insn *insn;
	weft_vreg dst;

	insn = weft_ir_define(ir, WEFT_IR_SWAP, &dst);
	insn->a = a;
	insn->size = size;
	return dst;
}

weft_vreg weft_ir_extend(struct weft_ir *ir, weft_vreg a, uint8_t size, bool is_signed)
{
	unsigned bits = 64 - 8u * size;
	weft_vreg dst;
	int64_t value;

	if (size >= 8)
		return a;
	if (is_signed)
		return weft_ir_alu_imm(ir, BPF_ARSH, weft_ir_alu_imm(ir, BPF_LSH, a, bits), bits);
	if (size < 4)
		return weft_ir_alu_imm(ir, BPF_AND, a, (INT64_C(1) << (8 * size)) - 1);
	if (weft_ir_constant(ir, a, &value))
		return weft_ir_const(ir, (int64_t)(uint32_t)value);
	weft_ir_define(ir, WEFT_IR_LOW32, &dst)->a = a;
	return dst;
}

static uint8_t swapped(uint8_t code)
{
	switch (code) {
	case BPF_JGT:
		return BPF_JLT;
	case BPF_JGE:
		return BPF_JLE;
	case BPF_JLT:
		return BPF_JGT;
	case BPF_JLE:
		return BPF_JGE;
	case BPF_JSGT:
		return BPF_JSLT;
	case BPF_JSGE:
		return BPF_JSLE;
	case BPF_JSLT:
		return BPF_JSGT;
	case BPF_JSLE:
		return BPF_JSGE;
	default:
		return code;
	}
}

weft_vreg weft_ir_set_imm(struct weft_ir *ir, uint8_t code, weft_vreg a, int64_t imm)
{
	struct weft_ir_insn *insn;
	weft_vreg dst, b;
	int64_t value;

	if (weft_ir_constant(ir, a, &value))
		return weft_ir_const(ir, weft_ir_compare(code, value, imm));
	b = weft_fits32(imm) ? WEFT_NO_VREG : weft_ir_const(ir, imm);
	insn = weft_ir_define(ir, WEFT_IR_SET, &dst);
	insn->code = code;
	insn->a = a;
	insn->b = b;
	insn->imm = b ? 0 : imm;
	return dst;
}

weft_vreg weft_ir_set(struct weft_ir *ir, uint8_t code, weft_vreg a, weft_vreg b)
{
	struct weft_ir_insn *insn;
	int64_t value;
	weft_vreg dst;

	if (weft_ir_constant(ir, b, &value))
		return weft_ir_set_imm(ir, code, a, value);
	if (weft_ir_constant(ir, a, &value))
		return weft_ir_set_imm(ir, swapped(code), b, value);
	insn = weft_ir_define(ir, WEFT_IR_SET, &dst);
	insn->code = code;
	insn->a = a;
	insn->b = b;
	return dst;
}

void weft_ir_branch_imm(struct weft_ir *ir, uint8_t code, weft_vreg a, int64_t imm, uint32_t label)
{
	struct weft_ir_insn *insn;
	int64_t value;
	weft_vreg b;

	if (weft_ir_constant(ir, a, &value)) {
		if (weft_ir_compare(code, value, imm))
			weft_ir_jump(ir, label);
		return;
	}
	b = weft_fits32(imm) ? WEFT_NO_VREG : weft_ir_const(ir, imm);
	insn = weft_ir_append(ir, WEFT_IR_BRANCH);
	insn->code = code;
	insn->a = a;
	insn->b = b;
	insn->imm = b ? 0 : imm;
	insn->label = label;
}

void weft_ir_branch(struct weft_ir *ir, uint8_t code, weft_vreg a, weft_vreg b, uint32_t label)
{
	struct weft_ir_insn *insn;
	int64_t value;

	if (weft_ir_constant(ir, b, &value)) {
		weft_ir_branch_imm(ir, code, a, value, label);
		return;
	}
	if (weft_ir_constant(ir, a, &value)) {
		weft_ir_branch_imm(ir, swapped(code), b, value, label);
		return;
	}
	insn = weft_ir_append(ir, WEFT_IR_BRANCH);
	insn->code = code;
	insn->a = a;
	insn->b = b;
	insn->label = label;
}
