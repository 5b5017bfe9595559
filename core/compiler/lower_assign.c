/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* `set` and `delete`; lower_state.c says what a variable is and why it is changed this way. */
#include <errno.h>
#include <stddef.h>

#include "core/compiler/cell.h"

/* ---- this.NAME ---- */

bool weft_clause_keeps_strings(const struct weft_typed_clause *clause)
{
	for (size_t i = 0; i < clause->n_locals; i++)
		if (clause->locals[i].type.kind == WEFT_VALUE_STRING)
			return true;
	return false;
}

/* An integer is a register; a string has its place for as long as the clause runs. */
void weft_lower_locals(struct weft_lower *lw, const struct weft_typed_clause *clause)
{
	lw->locals = weft_arena_array(lw->plan->arena, clause->n_locals + 1, sizeof(*lw->locals));
	if (!lw->locals) {
		weft_lower_status(lw, weft_nomem(lw->err));
		return;
	}
	lw->scratch_used = 0;
	for (size_t i = 0; i < clause->n_locals; i++) {
		const struct weft_type *t = &clause->locals[i].type;

		if (t->kind == WEFT_VALUE_STRING || lw->frugal)
			lw->locals[i].place =
				weft_lower_scratch(lw, t->kind == WEFT_VALUE_STRING ? t->cap : 8);
		else
			lw->locals[i].value = weft_ir_variable(&lw->ir);
	}
	lw->scratch_kept = lw->scratch_used;
}

static uint8_t code_of(enum weft_op op)
{
	switch (op) {
	case WEFT_OP_AND:
		return BPF_AND;
	case WEFT_OP_OR:
		return BPF_OR;
	case WEFT_OP_XOR:
		return BPF_XOR;
	default: /* ADD, and SUB of what was negated */
		return BPF_ADD;
	}
}

static weft_vreg operand(struct weft_lower *lw, const struct weft_node *to,
			 const struct weft_node *value)
{
	weft_vreg v = weft_lower_value(lw, value);

	return to->op == WEFT_OP_SUB ? weft_ir_neg(&lw->ir, v) : v;
}

static void set_local(struct weft_lower *lw, const struct weft_node *to,
		      const struct weft_node *value)
{
	struct weft_lower_local *l = &lw->locals[to->index];
	struct weft_place text;
	weft_vreg v;

	if (to->type.kind == WEFT_VALUE_STRING) {
		/* By way of a copy: the value may be made of the variable itself. */
		text = weft_lower_temp(lw, to->type.cap);
		weft_lower_string(lw, value, text, to->type.cap);
		weft_lower_copy(lw, l->place, text, to->type.cap);
	} else if (lw->frugal) {
		v = to->op == WEFT_OP_EQ
			    ? weft_lower_value(lw, value)
			    : weft_ir_alu(&lw->ir, code_of(to->op),
					  weft_lower_load(lw, l->place, 8), operand(lw, to, value));
		weft_lower_store(lw, l->place, 8, v);
	} else if (to->op == WEFT_OP_EQ) {
		weft_ir_assign(&lw->ir, l->value, weft_lower_value(lw, value));
	} else {
		weft_ir_apply(&lw->ir, code_of(to->op), l->value, operand(lw, to, value));
	}
}

/* ---- failures ---- */

static const enum weft_loss losses[] = {WEFT_LOSS_STATE_BUSY, WEFT_LOSS_STATE_FULL,
					WEFT_LOSS_STATE_NOMEM};

/* Where there is no row to be had. What open holds is given back on the way. */
static struct weft_failures failures(struct weft_lower *lw, const struct weft_found *f,
				     uint32_t done)
{
	uint32_t to[3];

	for (size_t i = 0; i < 3; i++)
		to[i] = f->lock ? weft_ir_label(&lw->ir) : weft_lower_loss(lw, losses[i], done);
	return (struct weft_failures){.busy = to[0], .full = to[1], .nomem = to[2]};
}

static void write_failures(struct weft_lower *lw, const struct weft_found *f,
			   const struct weft_failures *to, uint32_t done)
{
	const uint32_t labels[] = {to->busy, to->full, to->nomem};

	for (size_t i = 0; i < 3 && f->lock; i++) {
		weft_ir_place(&lw->ir, labels[i]);
		weft_found_close(lw, f);
		weft_ir_jump(&lw->ir, weft_lower_loss(lw, losses[i], done));
	}
}

/* ---- writing ---- */

static void mark_set(struct weft_lower *lw, const struct weft_found *f)
{
	weft_lower_store_imm(lw, weft_place_at(f->cell, WEFT_CELL(set)), 8, 1);
}

/* Makes the sequence number odd; goes to other where somebody else has. *before was even. */
static void begin_text(struct weft_lower *lw, const struct weft_found *f, uint32_t other,
		       weft_vreg *before)
{
	weft_vreg got, odd;

	*before = weft_lower_load(lw, weft_place_at(f->cell, WEFT_CELL(word)), 8);
	weft_ir_branch_imm(&lw->ir, BPF_JSET, *before, 1, other);
	odd = weft_ir_alu_imm(&lw->ir, BPF_ADD, *before, 1);
	got = weft_ir_cmpxchg(&lw->ir, f->cell.base, f->cell.off + WEFT_CELL(word), *before, odd);
	weft_ir_branch(&lw->ir, BPF_JNE, got, *before, other);
}

static void end_text(struct weft_lower *lw, const struct weft_found *f, weft_vreg before)
{
	weft_ir_xchg(&lw->ir, f->cell.base, f->cell.off + WEFT_CELL(word),
		     weft_ir_alu_imm(&lw->ir, BPF_ADD, before, 2));
}

static void write_string(struct weft_lower *lw, const struct weft_found *f, struct weft_place text)
{
	uint32_t other = weft_ir_label(&lw->ir);
	weft_vreg before;

	begin_text(lw, f, other, &before);
	weft_lower_copy(lw, weft_place_at(f->cell, WEFT_CELL(text)), text, f->v.var->type.cap);
	mark_set(lw, f);
	end_text(lw, f, before);
	weft_ir_place(&lw->ir, other);
}

static void write_int(struct weft_lower *lw, const struct weft_node *to, const struct weft_found *f,
		      weft_vreg value, uint32_t unset)
{
	int32_t word = f->cell.off + WEFT_CELL(word);
	weft_vreg set;

	if (to->op == WEFT_OP_EQ) {
		weft_ir_xchg(&lw->ir, f->cell.base, word, value);
		mark_set(lw, f);
		return;
	}
	if (!to->state->counts) {
		set = weft_lower_load(lw, weft_place_at(f->cell, WEFT_CELL(set)), 8);
		weft_ir_branch_imm(&lw->ir, BPF_JEQ, set, 0, unset);
	}
	weft_ir_atomic(&lw->ir, code_of(to->op), f->cell.base, word, value);
}

static void set_state(struct weft_lower *lw, const struct weft_node *to,
		      const struct weft_node *value)
{
	uint32_t done = weft_lower_behind(lw), missing = weft_ir_label(&lw->ir);
	bool creates = to->op == WEFT_OP_EQ || to->state->counts, in_map;
	bool is_text = to->type.kind == WEFT_VALUE_STRING;
	struct weft_place text = {0};
	struct weft_failures failed = {0};
	weft_vreg v = WEFT_NO_VREG;
	struct weft_found f;

	if (is_text) {
		text = weft_lower_temp(lw, to->type.cap);
		weft_lower_string(lw, value, text, to->type.cap);
	} else {
		v = operand(lw, to, value);
	}
	weft_found_open(lw, to, &f);
	if (lw->status)
		return;
	in_map = f.v.map != WEFT_PLAN_STATE;
	if (creates && in_map)
		failed = failures(lw, &f, done);
	if (creates)
		weft_found_make(lw, &f, &failed);
	else
		weft_found_look(lw, &f, missing);
	if (is_text)
		write_string(lw, &f, text);
	else
		write_int(lw, to, &f, v, missing);
	weft_found_close(lw, &f);
	weft_ir_jump(&lw->ir, done);
	if (!creates) {
		weft_ir_place(&lw->ir, missing);
		weft_found_close(lw, &f);
		weft_ir_jump(&lw->ir, weft_lower_fault(lw, WEFT_LOSS_STATE_UNSET));
	} else if (in_map) {
		write_failures(lw, &f, &failed, done);
	}
	weft_lower_place_behind(lw, done);
}

/* ---- deleting ---- */

static void unset_cell(struct weft_lower *lw, const struct weft_node *n, const struct weft_found *f)
{
	uint32_t other = weft_ir_label(&lw->ir);
	struct weft_place set = weft_place_at(f->cell, WEFT_CELL(set));
	weft_vreg before;

	if (n->type.kind == WEFT_VALUE_STRING) {
		begin_text(lw, f, other, &before);
		weft_lower_store_imm(lw, set, 8, 0);
		end_text(lw, f, before);
	} else if (n->state->counts) {
		weft_ir_xchg(&lw->ir, f->cell.base, f->cell.off + WEFT_CELL(word),
			     weft_ir_const(&lw->ir, 0));
	} else {
		weft_lower_store_imm(lw, set, 8, 0);
	}
	weft_ir_place(&lw->ir, other);
}

/* Takes the element out if nobody else uses one of its word's; then goes to done. */
static void remove_element(struct weft_lower *lw, const struct weft_found *f, uint32_t done)
{
	weft_vreg got, one = weft_ir_const(&lw->ir, 1);
	uint32_t others = weft_ir_label(&lw->ir);
	struct weft_retry retry;

	weft_retry_open(lw, &retry, WEFT_STATE_ROUNDS);
	weft_retry_begin(lw, &retry, others);
	got = weft_ir_cmpxchg(&lw->ir, f->lock, 0, one,
			      weft_ir_const(&lw->ir, WEFT_LOCK_EXCLUSIVE + 1));
	weft_ir_branch_imm(&lw->ir, BPF_JNE, got, 1, retry.again);
	WEFT_CALL_VOID(&lw->ir, BPF_FUNC_map_delete_elem, f->map, weft_lower_address(lw, f->key));
	weft_ir_atomic(&lw->ir, BPF_ADD, f->lock, 0,
		       weft_ir_const(&lw->ir, -(int64_t)WEFT_LOCK_EXCLUSIVE - 1));
	weft_ir_jump(&lw->ir, done);
	weft_ir_place(&lw->ir, others);
}

static void delete_state(struct weft_lower *lw, const struct weft_node *n)
{
	uint32_t done = weft_ir_label(&lw->ir), absent = weft_ir_label(&lw->ir);
	struct weft_found f;

	weft_found_open(lw, n, &f);
	if (lw->status)
		return;
	if (f.lock)
		remove_element(lw, &f, done);
	weft_found_look(lw, &f, absent);
	unset_cell(lw, n, &f);
	weft_ir_place(&lw->ir, absent);
	weft_found_close(lw, &f);
	weft_ir_place(&lw->ir, done);
}

/* ---- actions ---- */

void weft_lower_state(struct weft_lower *lw, const struct weft_typed_action *a)
{
	uint32_t frame = lw->frame_used, scratch = lw->scratch_used;
	bool is_last = lw->is_last;

	for (size_t i = 0; i < a->n_keys && !lw->status; i++) {
		const struct weft_node *to = a->keys[i].node;

		lw->ir.span = to->span;
		lw->is_last = is_last && i + 1 == a->n_keys;
		lw->frame_used = frame;
		lw->scratch_used = scratch;
		if (a->action->spec->kind == WEFT_ACTION_DELETE)
			delete_state(lw, to);
		else if (to->kind == WEFT_NODE_LOCAL)
			set_local(lw, to, a->fields[i].node);
		else
			set_state(lw, to, a->fields[i].node);
	}
}
