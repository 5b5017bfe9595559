/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A clause: predicate, actions, and the paths out of it.
 *
 *          if !when goto next
 *          if `every` or `limit` pass it over goto next
 *          claim scratch               ; only where something needs it
 *          actions
 *          goto leave
 *   f1:    count; goto leave           ; the cold paths, one for each place and kind of loss
 *   leave: give scratch back
 *   next:
 */
#include "core/compiler/lower.h"

#include <errno.h>
#include <string.h>

void weft_lower_status(struct weft_lower *lw, int ret)
{
	if (!lw->status)
		lw->status = ret;
}

struct weft_pos weft_lower_pos(const struct weft_lower *lw)
{
	if (lw->ir.span.text)
		return weft_span_pos(lw->ir.span);
	if (lw->clause)
		return lw->clause->clause->pos;
	return (struct weft_pos){0};
}

/* ---- losses ---- */

static bool same_place(const struct weft_span *a, const struct weft_span *b)
{
	return a->text == b->text && a->start == b->start && a->length == b->length;
}

/* The first of the cold paths that go on at a place; NULL: there is none yet. */
static struct weft_cold *first_of(const struct weft_lower *lw, uint32_t resume)
{
	for (size_t i = 0; i < lw->n_cold; i++)
		if (lw->cold[i].resume == resume)
			return &lw->cold[i];
	return NULL;
}

uint32_t weft_lower_loss(struct weft_lower *lw, enum weft_loss loss, uint32_t resume)
{
	const struct weft_cold *first;
	struct weft_cold *c;
	uint32_t state_offset;
	int ret;

	for (size_t i = 0; i < lw->n_cold; i++) {
		c = &lw->cold[i];
		if (c->loss == loss && c->resume == resume && same_place(&c->span, &lw->ir.span))
			return c->label;
	}
	ret = weft_plan_loss(lw->plan, loss, lw->ir.clause, lw->ir.span, &state_offset, lw->err);
	if (!ret && weft_grow(&lw->cold, &lw->cap_cold, lw->n_cold, sizeof(*lw->cold)))
		ret = weft_nomem(lw->err);
	if (ret) {
		weft_lower_status(lw, ret);
		return resume;
	}
	c = &lw->cold[lw->n_cold++];
	*c = (struct weft_cold){.label = weft_ir_label(&lw->ir),
				.resume = resume,
				.state_offset = state_offset,
				.loss = loss,
				.span = lw->ir.span};
	first = first_of(lw, resume);
	c->tally = first == c ? weft_ir_label(&lw->ir) : first->tally;
	c->word = first == c ? weft_ir_variable(&lw->ir) : first->word;
	return c->label;
}

uint32_t weft_lower_behind(struct weft_lower *lw)
{
	return lw->is_last ? lw->fault_exit : weft_ir_label(&lw->ir);
}

void weft_lower_place_behind(struct weft_lower *lw, uint32_t label)
{
	if (label != lw->fault_exit)
		weft_ir_place(&lw->ir, label);
}

void weft_lower_tally(struct weft_lower *lw, weft_vreg word, uint32_t resume)
{
	struct weft_cold *c = first_of(lw, resume);

	/* Losses are counted behind the clause: from an action before the last the address would be
	 * kept in a register all the way. */
	if (!c || !lw->is_last) {
		weft_ir_atomic(&lw->ir, BPF_ADD, word, 0, weft_ir_const(&lw->ir, 1));
		return;
	}
	weft_ir_assign(&lw->ir, c->word, word);
	weft_ir_jump(&lw->ir, c->tally);
	c->tally_span = lw->ir.span;
}

uint32_t weft_lower_fault(struct weft_lower *lw, enum weft_loss loss)
{
	return lw->quiet ? lw->fault_exit : weft_lower_loss(lw, loss, lw->fault_exit);
}

/* Whether a path that goes on at the same place is still to be written. */
static bool has_other(const struct weft_lower *lw, size_t from, uint32_t resume)
{
	for (size_t i = from; i < lw->n_cold; i++)
		if (lw->cold[i].resume == resume)
			return true;
	return false;
}

/* The paths that go on at one place: each names its counter, the last leads into the counting. */
static void write_cold(struct weft_lower *lw, size_t from, uint32_t resume)
{
	const struct weft_cold *first = &lw->cold[from];

	for (size_t i = from; i < lw->n_cold; i++) {
		const struct weft_cold *c = &lw->cold[i];

		if (c->resume != resume)
			continue;
		lw->ir.span = c->span;
		weft_ir_place(&lw->ir, c->label);
		weft_ir_assign_map_value(&lw->ir, c->word, WEFT_PLAN_STATE, c->state_offset);
		if (has_other(lw, i + 1, resume))
			weft_ir_jump(&lw->ir, c->tally);
	}
	lw->ir.span = first->tally_span;
	weft_ir_place(&lw->ir, first->tally);
	weft_ir_atomic(&lw->ir, BPF_ADD, first->word, 0, weft_ir_const(&lw->ir, 1));
	weft_ir_jump(&lw->ir, resume);
}

void weft_lower_cold(struct weft_lower *lw)
{
	struct weft_span span = lw->ir.span;

	for (size_t i = 0; i < lw->n_cold; i++) {
		bool written = false;

		for (size_t k = 0; k < i; k++)
			written |= lw->cold[k].resume == lw->cold[i].resume;
		if (!written)
			write_cold(lw, i, lw->cold[i].resume);
	}
	lw->n_cold = 0;
	lw->ir.span = span;
}

/* ---- whether a clause needs a scratch slot ---- */

#define TEMPS_ON_STACK 192u /* bytes of strings that an action may keep on the BPF stack */

/* Functions of strings compute offsets; a user symbol as a key makes a row of STACKS. */
static bool wants_scratch(const struct weft_node *n)
{
	if (n->type.kind == WEFT_VALUE_SYMBOL)
		return n->type.space == WEFT_SPACE_USER;
	return n->kind == WEFT_NODE_CALL && n->kid[0]->type.kind == WEFT_VALUE_STRING;
}

/* Bytes of strings that evaluating n keeps in memory; more than the limit where it needs scratch. */
static uint32_t memory_of(const struct weft_node *n)
{
	uint32_t sum = 0;

	if (!n)
		return 0;
	if (n->kind == WEFT_NODE_STACK || wants_scratch(n))
		return TEMPS_ON_STACK + 1;
	if (n->kind == WEFT_NODE_TUPLE)
		sum = 8; /* more, where it is a string */
	if (n->type.kind == WEFT_VALUE_STRING || n->type.kind == WEFT_VALUE_BYTES) {
		if (n->type.cap > 64)
			return TEMPS_ON_STACK + 1;
		sum = (n->type.cap + 7) & ~7u;
	}
	for (size_t i = 0; i < 3; i++)
		sum += memory_of(n->kid[i]);
	return sum;
}

static bool action_needs_scratch(const struct weft_typed_action *a)
{
	uint32_t sum = memory_of(a->value);
	size_t i;

	for (i = 0; i < a->n_keys; i++)
		sum += memory_of(a->keys[i].node) + 8;
	for (i = 0; i < a->n_fields; i++)
		sum += memory_of(a->fields[i].node);
	return sum > TEMPS_ON_STACK;
}

static bool actions_need_scratch(const struct weft_typed_clause *clause)
{
	for (size_t i = 0; i < clause->n_actions; i++)
		if (action_needs_scratch(&clause->actions[i]))
			return true;
	return false;
}

/* ---- the clause ---- */

static void (*const lower_group[])(struct weft_lower *, const struct weft_typed_action *) = {
	[WEFT_GROUP_AGGREGATION] = weft_lower_aggregation,
	[WEFT_GROUP_RECORD] = weft_lower_record,
	[WEFT_GROUP_CONTROL] = weft_lower_control,
	[WEFT_GROUP_DESTRUCTIVE] = weft_lower_destructive,
	[WEFT_GROUP_STATE] = weft_lower_state,
};

static void lower_action(struct weft_lower *lw, const struct weft_typed_action *a)
{
	const struct weft_item *first = a->action->n_items ? &a->action->items[0] : NULL;
	bool defines = a->action->spec->group == WEFT_GROUP_STATE; /* this.NAME */
	uint32_t around = defines ? 0 : weft_lower_passage(lw);

	if (around)
		lw->conditional++;
	lw->frame_used = 0;
	lw->scratch_used = lw->scratch_kept;
	lw->ir.span = (struct weft_span){0};
	if (first && first->text.s)
		lw->ir.span = (struct weft_span){.text = &first->text,
						 .length = (uint32_t)strlen(first->text.s)};
	lower_group[a->action->spec->group](lw, a);
	if (around) {
		lw->conditional--;
		weft_ir_place(&lw->ir, around);
	}
}

static void claim(struct weft_lower *lw, uint32_t leave)
{
	lw->ir.span = (struct weft_span){0};
	weft_lower_claim(lw);
	lw->fault_exit = leave;
}

void weft_lower_clause(struct weft_lower *lw, const struct weft_typed_clause *clause)
{
	uint32_t leave = weft_ir_label(&lw->ir), next = weft_ir_label(&lw->ir);
	weft_vreg cached[WEFT_N_CACHED];

	memcpy(cached, lw->cached, sizeof(cached));
	lw->clause = clause;
	lw->ir.clause = clause->clause->index;
	lw->fault_exit = next;
	lw->scratch = WEFT_NO_VREG;
	lw->frame_used = lw->scratch_used = lw->scratch_kept = 0;
	if (memory_of(clause->when) > TEMPS_ON_STACK)
		claim(lw, leave);
	if (clause->when)
		weft_lower_jump(lw, clause->when, false, lw->fault_exit);
	weft_lower_limits(lw, clause->clause);
	if (!lw->scratch &&
	    (lw->frugal || actions_need_scratch(clause) || weft_clause_keeps_strings(clause)))
		claim(lw, leave);
	weft_lower_locals(lw, clause);
	for (size_t i = 0; i < clause->n_actions && !lw->status; i++) {
		lw->is_last = i + 1 == clause->n_actions;
		lower_action(lw, &clause->actions[i]);
	}
	lw->ir.span = (struct weft_span){0};
	weft_ir_jump(&lw->ir, leave);
	weft_lower_cold(lw);
	weft_ir_place(&lw->ir, leave);
	if (lw->scratch)
		weft_ir_store_imm(&lw->ir, 8, lw->scratch, 0, 0);
	weft_ir_place(&lw->ir, next);
	lw->scratch = WEFT_NO_VREG;
	lw->n_stacks = lw->n_members = 0;
	lw->ir.clause = UINT32_MAX;
	lw->clause = NULL;
	memcpy(lw->cached, cached, sizeof(cached));
}
