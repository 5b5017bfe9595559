/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads from typed places, and addresses of elements.
 *
 * What a clause has read from a place it does not read again: `args.file.f_inode.i_ino` and
 * `args.file.f_inode.i_size` follow the one pointer once. That is less work, and what changes
 * meanwhile does not make a clause disagree with itself. Only what is read whatever the clause
 * decides is remembered.
 */
#include "core/compiler/lower.h"

/* ---- what was read before ---- */

/* Kinds that give the same wherever in a clause they stand. */
static bool is_pure(enum weft_node_kind kind)
{
	switch (kind) {
	case WEFT_NODE_INT:
	case WEFT_NODE_ARG:
	case WEFT_NODE_RETVAL:
	case WEFT_NODE_ENTRY:
	case WEFT_NODE_UNARY:
	case WEFT_NODE_BINARY:
	case WEFT_NODE_CAST:
	case WEFT_NODE_READ:
	case WEFT_NODE_ELEMENT:
		return true;
	default:
		return false;
	}
}

static bool same_access(const struct weft_access *a, const struct weft_access *b)
{
	return a->space == b->space && a->bytes == b->bytes && a->shift == b->shift &&
	       a->bits == b->bits;
}

static bool same(const struct weft_node *a, const struct weft_node *b)
{
	if (!a || !b)
		return a == b;
	if (!is_pure(a->kind) || a->kind != b->kind || a->op != b->op || a->value != b->value ||
	    a->index != b->index || a->type.kind != b->type.kind || a->type.size != b->type.size ||
	    a->type.is_signed != b->type.is_signed || !same_access(&a->access, &b->access))
		return false;
	for (int i = 0; i < 3; i++)
		if (!same(a->kid[i], b->kid[i]))
			return false;
	return true;
}

static weft_vreg known(const struct weft_lower *lw, const struct weft_node *n)
{
	for (size_t i = 0; i < lw->n_members; i++)
		if (same(lw->members[i].node, n))
			return lw->members[i].value;
	return WEFT_NO_VREG;
}

static void remember(struct weft_lower *lw, const struct weft_node *n, weft_vreg v)
{
	if (lw->conditional || lw->n_members == WEFT_KNOWN_MEMBERS || !same(n, n))
		return;
	lw->members[lw->n_members].node = n;
	lw->members[lw->n_members++].value = v;
}

/* ---- reading ---- */

/* The field's bits to the top, then down with its sign: the machine is little-endian. */
static weft_vreg cut_out(struct weft_lower *lw, const struct weft_node *n, weft_vreg v)
{
	const struct weft_access *a = &n->access;

	v = weft_ir_alu_imm(&lw->ir, BPF_LSH, v, 64 - a->shift - a->bits);
	return weft_ir_alu_imm(&lw->ir, n->type.is_signed ? BPF_ARSH : BPF_RSH, v, 64 - a->bits);
}

weft_vreg weft_lower_member(struct weft_lower *lw, const struct weft_node *n)
{
	weft_vreg v = known(lw, n), address;

	if (v)
		return v;
	address = weft_lower_value(lw, n->kid[0]);
	if (n->value)
		address = weft_ir_alu_imm(&lw->ir, BPF_ADD, address, n->value);
	v = weft_lower_read(lw, address, n->access.bytes, n->access.space == WEFT_SPACE_USER);
	if (n->access.bits)
		v = cut_out(lw, n, v);
	else if (n->type.is_signed)
		v = weft_ir_extend(&lw->ir, v, n->type.size, true);
	remember(lw, n, v);
	return v;
}

weft_vreg weft_lower_element(struct weft_lower *lw, const struct weft_node *n)
{
	weft_vreg base = weft_lower_value(lw, n->kid[0]), index = weft_lower_value(lw, n->kid[1]);

	if (n->index) /* as unsigned numbers: a negative one is too large */
		weft_ir_branch_imm(&lw->ir, BPF_JGE, index, n->index,
				   weft_lower_fault(lw, WEFT_LOSS_FAULT_INDEX));
	return weft_ir_alu(&lw->ir, BPF_ADD, base,
			   weft_ir_alu_imm(&lw->ir, BPF_MUL, index, n->value));
}
