/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Calls that give an integer, and the memory that a call reads. */
#include "core/compiler/lower.h"

/* The address, and the length where it is not constant: a negative one is a fault. */
void weft_lower_call_memory(struct weft_lower *lw, const struct weft_node *n,
			    struct weft_memory *out)
{
	const struct weft_node *length = n->kid[1];

	*out = (struct weft_memory){.user = n->type.space == WEFT_SPACE_USER};
	out->address = weft_lower_value(lw, n->kid[0]);
	if (!length)
		return;
	if (length->kind == WEFT_NODE_INT) {
		/* A string's constant length is its capacity, less the NUL. */
		out->cut_is_meant = length->value < (int64_t)n->type.cap;
		if (out->cut_is_meant && n->type.kind == WEFT_VALUE_STRING)
			out->length = weft_ir_const(&lw->ir, length->value);
		return;
	}
	out->length = weft_lower_value(lw, length);
	if (length->type.is_signed)
		weft_ir_branch_imm(&lw->ir, BPF_JSLT, out->length, 0,
				   weft_lower_fault(lw, WEFT_LOSS_FAULT_RANGE));
}

static weft_vreg lower_peek(struct weft_lower *lw, const struct weft_node *n)
{
	return weft_lower_read(lw, weft_lower_value(lw, n->kid[0]), n->type.size,
			       n->type.space == WEFT_SPACE_USER);
}

/* ---- numbers ---- */

static weft_vreg lower_abs(struct weft_lower *lw, const struct weft_node *n)
{
	weft_vreg v = weft_lower_value(lw, n->kid[0]), sign;

	if (!n->type.is_signed)
		return v;
	sign = weft_ir_alu_imm(&lw->ir, BPF_ARSH, v, 63);
	return weft_ir_alu(&lw->ir, BPF_SUB, weft_ir_alu(&lw->ir, BPF_XOR, v, sign), sign);
}

static weft_vreg lower_extreme(struct weft_lower *lw, const struct weft_node *n)
{
	bool min = n->function == WEFT_FN_MIN, is_signed = n->type.is_signed;
	weft_vreg a = weft_lower_value(lw, n->kid[0]), b = weft_lower_value(lw, n->kid[1]);
	weft_vreg result = weft_ir_variable(&lw->ir);
	uint32_t done = weft_ir_label(&lw->ir);
	uint8_t code = min ? (is_signed ? BPF_JSLE : BPF_JLE) : (is_signed ? BPF_JSGE : BPF_JGE);

	weft_ir_assign(&lw->ir, result, a);
	weft_ir_branch(&lw->ir, code, a, b, done);
	weft_ir_assign(&lw->ir, result, b);
	weft_ir_place(&lw->ir, done);
	return result;
}

static weft_vreg lower_log2(struct weft_lower *lw, const struct weft_node *n)
{
	weft_vreg v = weft_lower_value(lw, n->kid[0]);

	weft_ir_branch_imm(&lw->ir, n->kid[0]->type.is_signed ? BPF_JSLE : BPF_JEQ, v, 0,
			   weft_lower_fault(lw, WEFT_LOSS_FAULT_RANGE));
	return weft_ir_alu_imm(&lw->ir, BPF_SUB, weft_lower_powers(lw, v, true), 1);
}

static weft_vreg lower_swap(struct weft_lower *lw, const struct weft_node *n)
{
	return weft_ir_swap(&lw->ir, weft_lower_value(lw, n->kid[0]), n->type.size);
}

/* The address itself; what shows it as a symbol comes later. */
static weft_vreg lower_first(struct weft_lower *lw, const struct weft_node *n)
{
	return weft_lower_value(lw, n->kid[0]);
}

static weft_vreg lower_truth(struct weft_lower *lw, const struct weft_node *n)
{
	weft_vreg result = weft_ir_variable(&lw->ir);
	uint32_t done = weft_ir_label(&lw->ir);

	weft_ir_assign_const(&lw->ir, result, 1);
	weft_lower_text_jump(lw, n, true, done);
	weft_ir_assign_const(&lw->ir, result, 0);
	weft_ir_place(&lw->ir, done);
	return result;
}

static weft_vreg (*const lower_table[WEFT_N_FUNCTIONS])(struct weft_lower *,
							const struct weft_node *) = {
	[WEFT_FN_PEEK] = lower_peek,
	[WEFT_FN_KPEEK] = lower_peek,
	[WEFT_FN_STRLEN] = weft_lower_strlen,
	[WEFT_FN_STRCONTAINS] = lower_truth,
	[WEFT_FN_STARTSWITH] = lower_truth,
	[WEFT_FN_ENDSWITH] = lower_truth,
	[WEFT_FN_ABS] = lower_abs,
	[WEFT_FN_MIN] = lower_extreme,
	[WEFT_FN_MAX] = lower_extreme,
	[WEFT_FN_LOG2] = lower_log2,
	[WEFT_FN_NTOHS] = lower_swap,
	[WEFT_FN_NTOHL] = lower_swap,
	[WEFT_FN_NTOHLL] = lower_swap,
	[WEFT_FN_HTONS] = lower_swap,
	[WEFT_FN_HTONL] = lower_swap,
	[WEFT_FN_HTONLL] = lower_swap,
	[WEFT_FN_KSYM] = lower_first,
	[WEFT_FN_USYM] = lower_first,
	[WEFT_FN_IPV4] = lower_first,
};

weft_vreg weft_lower_call(struct weft_lower *lw, const struct weft_node *n)
{
	if (lower_table[n->function])
		return lower_table[n->function](lw, n);
	return weft_ir_const(&lw->ir, 0); /* what gives no integer is lowered into memory */
}
