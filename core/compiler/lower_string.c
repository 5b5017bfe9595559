/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Strings lie in buffers of a fixed capacity and are NUL-padded, so that two are equal if their
 * words are, and a key is the same key however it came about.
 */
#include "core/compiler/lower.h"

#define COMM_LEN 16u /* TASK_COMM_LEN: bytes of a thread's name with its NUL */

/* On 6.1 the helper leaves what is behind the NUL as it was, so the buffer is cleared first. */
static void lower_execname(struct weft_lower *lw, struct weft_place to, uint32_t cap)
{
	struct weft_ir_arg buffer;
	weft_vreg failed;

	weft_lower_zero(lw, to, cap);
	buffer = weft_lower_address(lw, to);
	failed = WEFT_CALL(&lw->ir, BPF_FUNC_get_current_comm, buffer,
			   WEFT_A_IMM(cap < COMM_LEN ? cap : COMM_LEN));
	weft_ir_branch_imm(&lw->ir, BPF_JNE, failed, 0, weft_lower_fault(lw, WEFT_LOSS_FAULT_VALUE));
}

static void lower_cond_string(struct weft_lower *lw, const struct weft_node *n,
			      struct weft_place to, uint32_t cap)
{
	uint32_t otherwise = weft_ir_label(&lw->ir), done = weft_ir_label(&lw->ir);

	weft_lower_jump(lw, n->kid[0], false, otherwise);
	lw->conditional++;
	weft_lower_string(lw, n->kid[1], to, cap);
	weft_ir_jump(&lw->ir, done);
	weft_ir_place(&lw->ir, otherwise);
	weft_lower_string(lw, n->kid[2], to, cap);
	lw->conditional--;
	weft_ir_place(&lw->ir, done);
}

void weft_lower_string(struct weft_lower *lw, const struct weft_node *n, struct weft_place to,
		       uint32_t cap)
{
	struct weft_span outer = lw->ir.span;
	uint32_t own = n->type.cap < cap ? n->type.cap : cap;

	if (n->span.text)
		lw->ir.span = n->span;
	switch (n->kind) {
	case WEFT_NODE_STRING:
		weft_lower_bytes(lw, to, n->string, n->length < cap ? n->length : cap - 1, cap);
		break;
	case WEFT_NODE_VAR:
		lower_execname(lw, to, cap);
		break;
	case WEFT_NODE_COND:
		lower_cond_string(lw, n, to, cap);
		break;
	case WEFT_NODE_STATE:
	case WEFT_NODE_LOCAL:
	case WEFT_NODE_DEFAULT:
		weft_lower_state_string(lw, n, to, cap);
		break;
	case WEFT_NODE_ENTRY:
		weft_lower_entry_text(lw, n, to, own, NULL);
		if (own < cap)
			weft_lower_zero(lw, weft_place_at(to, (int32_t)own), cap - own);
		break;
	default: /* an argument, the return value, a call */
		(n->kind == WEFT_NODE_CALL ? weft_lower_text : weft_lower_argument_text)(lw, n, to,
											 own);
		if (own < cap)
			weft_lower_zero(lw, weft_place_at(to, (int32_t)own), cap - own);
		break;
	}
	lw->ir.span = outer;
}

/* ---- comparing ---- */

/* Goes to differ unless the string in memory is the constant; else on. The constant's NUL is
 * compared as well, so what follows it needs no look. */
static void compare_constant(struct weft_lower *lw, struct weft_place p, uint32_t cap,
			     const struct weft_node *constant, uint32_t differ)
{
	const char *s = constant->string;
	uint32_t size = constant->length + 1, i = 0;

	if (size > cap) {
		weft_ir_jump(&lw->ir, differ);
		return;
	}
	while (i < size) {
		uint32_t left = cap - i;
		uint8_t step = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
		uint64_t word = 0;
		weft_vreg v;

		for (uint32_t k = 0; k < step && i + k < constant->length; k++)
			word |= (uint64_t)(uint8_t)s[i + k] << (8 * k);
		v = weft_lower_load(lw, weft_place_at(p, (int32_t)i), step);
		weft_ir_branch_imm(&lw->ir, BPF_JNE, v, (int64_t)word, differ);
		i += step;
	}
}

static void compare_memory(struct weft_lower *lw, struct weft_place a, struct weft_place b,
			   uint32_t cap, uint32_t differ)
{
	for (uint32_t i = 0; i < cap;) {
		uint32_t left = cap - i;
		uint8_t step = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
		weft_vreg x = weft_lower_load(lw, weft_place_at(a, (int32_t)i), step);
		weft_vreg y = weft_lower_load(lw, weft_place_at(b, (int32_t)i), step);

		weft_ir_branch(&lw->ir, BPF_JNE, x, y, differ);
		i += step;
	}
}

void weft_lower_string_jump(struct weft_lower *lw, const struct weft_node *n, bool sense,
			    uint32_t label)
{
	const struct weft_node *a = n->kid[0], *b = n->kid[1];
	bool equal_jumps = (n->op == WEFT_OP_EQ) == sense;
	uint32_t mark = lw->frame_used, scratch_mark = lw->scratch_used;
	uint32_t differ = equal_jumps ? weft_ir_label(&lw->ir) : label;
	uint32_t cap = a->type.cap > b->type.cap ? a->type.cap : b->type.cap;
	struct weft_place left, right;

	if (a->kind == WEFT_NODE_STRING) {
		a = n->kid[1];
		b = n->kid[0];
	}
	if (b->kind == WEFT_NODE_STRING) {
		cap = a->type.cap;
		left = weft_lower_temp(lw, cap);
		weft_lower_string(lw, a, left, cap);
		compare_constant(lw, left, cap, b, differ);
	} else {
		left = weft_lower_temp(lw, cap);
		right = weft_lower_temp(lw, cap);
		weft_lower_string(lw, a, left, cap);
		weft_lower_string(lw, b, right, cap);
		compare_memory(lw, left, right, cap, differ);
	}
	lw->frame_used = mark;
	lw->scratch_used = scratch_mark;
	if (equal_jumps) {
		weft_ir_jump(&lw->ir, label);
		weft_ir_place(&lw->ir, differ);
	}
}
