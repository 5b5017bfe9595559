/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Expressions. BPF divides unsigned only (signed division came with version 4 of the instruction
 * set, Linux 6.6), so signed division works on magnitudes: with s the sign spread over the word (0
 * or -1), |a| = (a ^ s) - s, and the same gives a result its sign back. INT64_MIN needs no case of
 * its own: its magnitude is right as an unsigned number.
 */
#include "core/compiler/location.h"
#include "core/compiler/lower.h"

#include <stdio.h>

static weft_vreg lower_node(struct weft_lower *lw, const struct weft_node *n);

/* The code of a comparison by operator; 0: not one. */
static uint8_t comparison(enum weft_op op, bool is_signed)
{
	switch (op) {
	case WEFT_OP_EQ:
		return BPF_JEQ;
	case WEFT_OP_NE:
		return BPF_JNE;
	case WEFT_OP_LT:
		return is_signed ? BPF_JSLT : BPF_JLT;
	case WEFT_OP_LE:
		return is_signed ? BPF_JSLE : BPF_JLE;
	case WEFT_OP_GT:
		return is_signed ? BPF_JSGT : BPF_JGT;
	case WEFT_OP_GE:
		return is_signed ? BPF_JSGE : BPF_JGE;
	default:
		return 0;
	}
}

static uint8_t inverse(uint8_t code)
{
	switch (code) {
	case BPF_JEQ:
		return BPF_JNE;
	case BPF_JNE:
		return BPF_JEQ;
	case BPF_JGT:
		return BPF_JLE;
	case BPF_JGE:
		return BPF_JLT;
	case BPF_JLT:
		return BPF_JGE;
	case BPF_JLE:
		return BPF_JGT;
	case BPF_JSGT:
		return BPF_JSLE;
	case BPF_JSGE:
		return BPF_JSLT;
	case BPF_JSLT:
		return BPF_JSGE;
	default:
		return BPF_JSGT;
	}
}

/* ---- what the verifier had better not know ---- */

/*
 * Where two ways meet with a different constant each, the verifier goes on with both. That costs
 * nothing as long as no jump depends on them: it stops where it was with any other values. But a jump
 * on something made of n such constants makes it tell them all apart, and walk 2^n ways: thirty
 * `? :` in a sum were refused as too large. So a value that more than a few of them are part of is
 * sent through memory by an atomic addition, from where it returns as any number. (A plain store
 * and load would not do: the verifier follows those.)
 */
#define JOINS_MOST 3u

static weft_vreg forget(struct weft_lower *lw, weft_vreg v)
{
	uint32_t mark = lw->frame_used;
	struct weft_place p = weft_lower_frame(lw, 8);

	weft_lower_store_imm(lw, p, 8, 0);
	weft_ir_atomic(&lw->ir, BPF_ADD, p.base, p.off, v);
	lw->frame_used = mark;
	return weft_lower_load(lw, p, 8);
}

/* ---- division ---- */

static weft_vreg sign_of(struct weft_lower *lw, weft_vreg a)
{
	return weft_ir_alu_imm(&lw->ir, BPF_ARSH, a, 63);
}

/* a where sign is 0, -a where it is -1. */
static weft_vreg apply_sign(struct weft_lower *lw, weft_vreg a, weft_vreg sign)
{
	return weft_ir_alu(&lw->ir, BPF_SUB, weft_ir_alu(&lw->ir, BPF_XOR, a, sign), sign);
}

static weft_vreg divide(struct weft_lower *lw, bool modulo, bool is_signed, weft_vreg a, weft_vreg b)
{
	uint8_t code = modulo ? BPF_MOD : BPF_DIV;
	weft_vreg sa, sb, q;
	int64_t divisor = 0;

	if (!weft_ir_constant(&lw->ir, b, &divisor) || !divisor)
		weft_ir_branch_imm(&lw->ir, BPF_JEQ, b, 0,
				   weft_lower_fault(lw, WEFT_LOSS_FAULT_DIVIDE));
	if (!is_signed)
		return weft_ir_alu(&lw->ir, code, a, b);
	sa = sign_of(lw, a);
	sb = sign_of(lw, b);
	a = apply_sign(lw, a, sa);
	b = apply_sign(lw, b, sb);
	q = weft_ir_alu(&lw->ir, code, a, b);
	return apply_sign(lw, q, modulo ? sa : weft_ir_alu(&lw->ir, BPF_XOR, sa, sb));
}

/* ---- operators ---- */

static uint8_t alu_code(enum weft_op op, bool is_signed)
{
	switch (op) {
	case WEFT_OP_ADD:
		return BPF_ADD;
	case WEFT_OP_SUB:
		return BPF_SUB;
	case WEFT_OP_MUL:
		return BPF_MUL;
	case WEFT_OP_AND:
		return BPF_AND;
	case WEFT_OP_OR:
		return BPF_OR;
	case WEFT_OP_XOR:
		return BPF_XOR;
	case WEFT_OP_SHL:
		return BPF_LSH;
	default: /* WEFT_OP_SHR */
		return is_signed ? BPF_ARSH : BPF_RSH;
	}
}

/* 0 or 1, made by jumping: for what is a jump by nature. */
static weft_vreg truth(struct weft_lower *lw, const struct weft_node *n)
{
	weft_vreg result = weft_ir_variable(&lw->ir);
	uint32_t done = weft_ir_label(&lw->ir);

	weft_ir_assign_const(&lw->ir, result, 1);
	weft_lower_jump(lw, n, true, done);
	weft_ir_assign_const(&lw->ir, result, 0);
	weft_ir_place(&lw->ir, done);
	lw->joins++;
	return result;
}

static weft_vreg lower_binary(struct weft_lower *lw, const struct weft_node *n)
{
	const struct weft_type *t = &n->kid[0]->type;
	uint8_t code = comparison(n->op, t->is_signed);
	weft_vreg a, b;

	if (t->kind != WEFT_VALUE_INT)
		return truth(lw, n);
	a = weft_lower_value(lw, n->kid[0]);
	b = weft_lower_value(lw, n->kid[1]);
	if (code) {
		lw->joins++;
		return weft_ir_set(&lw->ir, code, a, b);
	}
	if (n->op == WEFT_OP_DIV || n->op == WEFT_OP_MOD)
		return divide(lw, n->op == WEFT_OP_MOD, t->is_signed, a, b);
	if (n->op == WEFT_OP_SHL || n->op == WEFT_OP_SHR)
		b = weft_ir_alu_imm(&lw->ir, BPF_AND, b, 63);
	return weft_ir_alu(&lw->ir, alu_code(n->op, t->is_signed), a, b);
}

static weft_vreg lower_unary(struct weft_lower *lw, const struct weft_node *n)
{
	weft_vreg a = weft_lower_value(lw, n->kid[0]);

	switch (n->op) {
	case WEFT_OP_NEG:
		return weft_ir_neg(&lw->ir, a);
	case WEFT_OP_NOT:
		return weft_ir_alu_imm(&lw->ir, BPF_XOR, a, -1);
	case WEFT_OP_LOGNOT:
		lw->joins++;
		return weft_ir_set_imm(&lw->ir, BPF_JEQ, a, 0);
	default:
		return a;
	}
}

static weft_vreg lower_cond(struct weft_lower *lw, const struct weft_node *n)
{
	weft_vreg result = weft_ir_variable(&lw->ir);
	uint32_t otherwise = weft_ir_label(&lw->ir), done = weft_ir_label(&lw->ir);

	weft_lower_jump(lw, n->kid[0], false, otherwise);
	lw->conditional++;
	weft_ir_assign(&lw->ir, result, weft_lower_value(lw, n->kid[1]));
	weft_ir_jump(&lw->ir, done);
	weft_ir_place(&lw->ir, otherwise);
	weft_ir_assign(&lw->ir, result, weft_lower_value(lw, n->kid[2]));
	lw->conditional--;
	weft_ir_place(&lw->ir, done);
	lw->joins++;
	return result;
}

static weft_vreg lower_elapsed(struct weft_lower *lw)
{
	if (!lw->paired)
		return weft_ir_const(&lw->ir, 0);
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, lw->paired, 0,
			   weft_lower_fault(lw, WEFT_LOSS_PAIRING_NO_ENTRY));
	return lw->elapsed;
}

/* The location of an argument or of the return value: the value, or an address; *length is none
 * where the location has no length. */
weft_vreg weft_lower_argument(struct weft_lower *lw, const struct weft_node *n, weft_vreg *length,
			      bool *user)
{
	const struct weft_probe_info *info = lw->group->info;
	const struct weft_arg_type *type = &info->retval_type;
	const struct weft_location *where = &info->retval;
	char what[96] = "the return value";
	unsigned least = 1, most = 1, left = 0;
	weft_vreg values[2];

	if (n->kind == WEFT_NODE_ARG) {
		lw->program->used_args |= UINT64_C(1) << n->index;
		type = &info->args[n->index].type;
		where = &info->args[n->index].where;
		snprintf(what, sizeof(what), "argument %u (%.60s)", n->index,
			 info->args[n->index].name ? info->args[n->index].name : "without a name");
	}
	if (n->type.kind == WEFT_VALUE_BYTES)
		least = most = 2;
	else if (n->type.kind == WEFT_VALUE_STRING)
		most = 2;
	weft_lower_location(lw, where, least, most, what, values, &left);
	*length = left == 2 ? values[1] : WEFT_NO_VREG;
	*user = type->space == WEFT_SPACE_USER;
	return values[0];
}

/* Whether a location ends in what extends its value just as the type does. */
static bool extends_alike(const struct weft_location *where, const struct weft_type *t)
{
	const struct weft_loc_op *last = where->n_ops ? &where->ops[where->n_ops - 1] : NULL;

	if (!last || last->size != t->size || !(last->flags & WEFT_LOC_SIGNED) != !t->is_signed)
		return false;
	return last->op == WEFT_LOC_CTX || last->op == WEFT_LOC_REG || last->op == WEFT_LOC_LOAD ||
	       last->op == WEFT_LOC_TASK_REG || last->op == WEFT_LOC_RETVAL ||
	       last->op == WEFT_LOC_EXTEND;
}

static weft_vreg lower_argument_int(struct weft_lower *lw, const struct weft_node *n)
{
	const struct weft_probe_info *info = lw->group->info;
	const struct weft_location *where =
		n->kind == WEFT_NODE_ARG ? &info->args[n->index].where : &info->retval;
	weft_vreg length, v;
	bool user;

	if (n->kind == WEFT_NODE_ARG && lw->group->scattered)
		return weft_lower_placed(lw, n->index);
	v = weft_lower_argument(lw, n, &length, &user);
	if (extends_alike(where, &n->type))
		return v;
	return weft_ir_extend(&lw->ir, v, n->type.size, n->type.is_signed);
}

static weft_vreg lower_node(struct weft_lower *lw, const struct weft_node *n)
{

	switch (n->kind) {
	case WEFT_NODE_INT:
		return weft_ir_const(&lw->ir, n->value);
	case WEFT_NODE_VAR:
		return weft_lower_variable(lw, n);
	case WEFT_NODE_ARG:
	case WEFT_NODE_RETVAL:
		return lower_argument_int(lw, n);
	case WEFT_NODE_ELAPSED:
		return lower_elapsed(lw);
	case WEFT_NODE_ENTRY:
		return weft_lower_entry(lw, n);
	case WEFT_NODE_UNARY:
		return lower_unary(lw, n);
	case WEFT_NODE_BINARY:
		return lower_binary(lw, n);
	case WEFT_NODE_LOGICAL:
		return truth(lw, n);
	case WEFT_NODE_COND:
		return lower_cond(lw, n);
	case WEFT_NODE_CAST:
		return weft_ir_extend(&lw->ir, weft_lower_value(lw, n->kid[0]), n->type.size,
				      n->type.is_signed);
	case WEFT_NODE_STACK:
		return weft_lower_stack_id(lw, n);
	case WEFT_NODE_CALL:
		return weft_lower_call(lw, n);
	case WEFT_NODE_READ:
		return weft_lower_member(lw, n);
	case WEFT_NODE_ELEMENT:
		return weft_lower_element(lw, n);
	case WEFT_NODE_STATE:
	case WEFT_NODE_LOCAL:
	case WEFT_NODE_DEFAULT:
	case WEFT_NODE_DEFINED:
		return weft_lower_state_value(lw, n);
	default: /* a STRING is never a value in a register */
		return weft_ir_const(&lw->ir, 0);
	}
}

weft_vreg weft_lower_value(struct weft_lower *lw, const struct weft_node *n)
{
	struct weft_span outer = lw->ir.span;
	uint32_t joins = lw->joins;
	weft_vreg v;

	if (n->span.text)
		lw->ir.span = n->span;
	v = lower_node(lw, n);
	if (lw->joins - joins >= JOINS_MOST && n->type.kind == WEFT_VALUE_INT) {
		v = forget(lw, v);
		lw->joins = joins;
	}
	lw->ir.span = outer;
	return v;
}

/* ---- conditions ---- */

static void jump_logical(struct weft_lower *lw, const struct weft_node *n, bool sense,
			 uint32_t label)
{
	/* With && one false operand decides for false, with || one true operand for true. */
	bool decisive = n->op == WEFT_OP_LOGOR;
	uint32_t out = label;

	if (sense != decisive)
		out = weft_ir_label(&lw->ir);
	weft_lower_jump(lw, n->kid[0], decisive, out);
	lw->conditional++;
	weft_lower_jump(lw, n->kid[1], sense, label);
	lw->conditional--;
	if (out != label)
		weft_ir_place(&lw->ir, out);
}

static void jump_probe(struct weft_lower *lw, const struct weft_node *n, bool sense, uint32_t label)
{
	int known;
	weft_vreg bit = weft_lower_probe_bit(lw, n, &known);

	if (n->op == WEFT_OP_NE)
		sense = !sense;
	if (bit)
		weft_ir_branch_imm(&lw->ir, sense ? BPF_JNE : BPF_JEQ, bit, 0, label);
	else if ((bool)known == sense)
		weft_ir_jump(&lw->ir, label);
}

static void jump_binary(struct weft_lower *lw, const struct weft_node *n, bool sense, uint32_t label)
{
	uint8_t code = comparison(n->op, n->kid[0]->type.is_signed);
	weft_vreg a, b;

	a = weft_lower_value(lw, n->kid[0]);
	b = weft_lower_value(lw, n->kid[1]);
	weft_ir_branch(&lw->ir, sense ? code : inverse(code), a, b, label);
}

static void lower_jump(struct weft_lower *lw, const struct weft_node *n, bool sense, uint32_t label)
{
	if (n->kind == WEFT_NODE_LOGICAL) {
		jump_logical(lw, n, sense, label);
		return;
	}
	if (n->kind == WEFT_NODE_UNARY && n->op == WEFT_OP_LOGNOT) {
		weft_lower_jump(lw, n->kid[0], !sense, label);
		return;
	}
	if (n->kind == WEFT_NODE_BINARY && n->kid[0]->type.kind == WEFT_VALUE_STRING) {
		weft_lower_string_jump(lw, n, sense, label);
		return;
	}
	if (n->kind == WEFT_NODE_CALL && weft_call_is_search(n)) {
		weft_lower_text_jump(lw, n, sense, label);
		return;
	}
	if (n->kind == WEFT_NODE_BINARY && n->kid[0]->type.kind == WEFT_VALUE_PROBE) {
		jump_probe(lw, n, sense, label);
		return;
	}
	if (n->kind == WEFT_NODE_BINARY && comparison(n->op, false)) {
		jump_binary(lw, n, sense, label);
		return;
	}
	weft_ir_branch_imm(&lw->ir, sense ? BPF_JNE : BPF_JEQ, weft_lower_value(lw, n), 0, label);
}

void weft_lower_jump(struct weft_lower *lw, const struct weft_node *n, bool sense, uint32_t label)
{
	struct weft_span outer = lw->ir.span;

	if (n->span.text)
		lw->ir.span = n->span;
	lower_jump(lw, n, sense, label);
	lw->ir.span = outer;
}
