/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Aggregations. Where the numbers are kept and in which form: core/plan.h. Every update is one
 * atomic instruction, on per-CPU memory too, since a program may be preempted by another that
 * updates the same word on the same CPU.
 *
 * A row that is not there is inserted as zeros, and then looked up again, whoever inserted it. The
 * reasons for which that can fail are told apart by the helper's error.
 */
#include <errno.h>
#include <string.h>

#include "core/compiler/lower.h"

#define SWAP_ROUNDS 16 /* of a compare-and-exchange, before it is given up as busy */

/* ---- keys ---- */

void weft_lower_key(struct weft_lower *lw, const struct weft_field_layout *f,
		    const struct weft_node *n, struct weft_place to)
{
	switch (f->type.kind) {
	case WEFT_VALUE_STRING:
		weft_lower_string(lw, n, to, f->size);
		break;
	case WEFT_VALUE_INT:
		weft_lower_store(lw, to, (uint8_t)f->size, weft_lower_value(lw, n));
		break;
	case WEFT_VALUE_SYMBOL:
		weft_lower_store(lw, to, 8,
				 (f->type.space == WEFT_SPACE_USER ? weft_lower_symbol_id
								   : weft_lower_value)(lw, n));
		break;
	case WEFT_VALUE_INET:
		if (f->type.cap == 4)
			weft_lower_store(lw, to, 4, weft_lower_value(lw, n));
		else
			weft_lower_ipv6(lw, n, to);
		break;
	default: /* the id of a stack, the cookie of a probe, the id of a cgroup */
		weft_lower_store(lw, to, 8, weft_lower_value(lw, n));
		break;
	}
}

/* ---- rows and slots ---- */

/* The verifier calls the map's own function in the helper's place, and before Linux 6.4 that
 * returns an int: what the upper half of the register holds then is anything, so that no error
 * would be equal to its number. */
weft_vreg weft_lower_update(struct weft_lower *lw, struct weft_ir_arg map, struct weft_ir_arg key,
			    struct weft_ir_arg value, uint64_t flags)
{
	weft_vreg ret =
		WEFT_CALL(&lw->ir, BPF_FUNC_map_update_elem, map, key, value, WEFT_A_IMM(flags));

	return weft_ir_extend(&lw->ir, ret, 4, true);
}

weft_vreg weft_lower_row(struct weft_lower *lw, struct weft_ir_arg map, struct weft_place key,
			 const struct weft_failures *to)
{
	uint32_t found = weft_ir_label(&lw->ir), again = weft_ir_label(&lw->ir);
	weft_vreg row = weft_ir_variable(&lw->ir), zeros, error;
	struct weft_ir_arg address = weft_lower_address(lw, key);

	weft_ir_assign(&lw->ir, row, WEFT_CALL(&lw->ir, BPF_FUNC_map_lookup_elem, map, address));
	weft_ir_branch_imm(&lw->ir, BPF_JNE, row, 0, found);
	zeros = weft_ir_map_value(&lw->ir, WEFT_PLAN_STATE, lw->plan->zeros_offset);
	error = weft_lower_update(lw, map, address, WEFT_A(zeros), BPF_NOEXIST);
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, error, 0, again);
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, error, -EEXIST, again);
	if (to->full != to->busy)
		weft_ir_branch_imm(&lw->ir, BPF_JEQ, error, -E2BIG, to->full);
	if (to->nomem != to->busy)
		weft_ir_branch_imm(&lw->ir, BPF_JEQ, error, -ENOMEM, to->nomem);
	weft_ir_jump(&lw->ir, to->busy);
	weft_ir_place(&lw->ir, again);
	weft_ir_assign(&lw->ir, row, WEFT_CALL(&lw->ir, BPF_FUNC_map_lookup_elem, map, address));
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, row, 0, to->busy);
	weft_ir_place(&lw->ir, found);
	return row;
}

weft_vreg weft_lower_slot(struct weft_lower *lw, uint32_t state_offset)
{
	uint32_t slots = weft_plan_slots(lw->plan);
	weft_vreg base, at;

	if (slots == 1)
		return weft_ir_map_value(&lw->ir, WEFT_PLAN_STATE, state_offset);
	at = weft_ir_variable(&lw->ir);
	weft_ir_pin(&lw->ir, at);
	weft_ir_assign(&lw->ir, at,
		       weft_ir_alu_imm(&lw->ir, BPF_MUL, weft_lower_cpu(lw), WEFT_SLOT_STRIDE));
	weft_ir_step(&lw->ir, BPF_AND, at, (int64_t)(slots - 1) * WEFT_SLOT_STRIDE);
	base = weft_ir_map_value(&lw->ir, WEFT_PLAN_STATE, state_offset);
	return weft_ir_alu(&lw->ir, BPF_ADD, base, at);
}

/* ---- updates ---- */

static void add_one(struct weft_lower *lw, weft_vreg row, uint32_t word)
{
	weft_ir_atomic(&lw->ir, BPF_ADD, row, 8 * (int32_t)word, weft_ir_const(&lw->ir, 1));
}

/*
 * min and max keep t, which only grows, so that all zero means nothing. One value would be t == 0
 * itself; it is told by the second word.
 */
static void update_extreme(struct weft_lower *lw, const struct weft_aggregation *agg, weft_vreg row,
			   weft_vreg value, uint32_t done)
{
	weft_vreg t = value, old = weft_ir_variable(&lw->ir), got = weft_ir_variable(&lw->ir);
	uint32_t grow = weft_ir_label(&lw->ir);
	struct weft_retry retry;

	/* Biased by 2^63, signed order is unsigned order; min counts from the other end. */
	if (agg->value_type.is_signed)
		t = weft_ir_alu(&lw->ir, BPF_XOR, t, weft_ir_const(&lw->ir, INT64_MIN));
	if (agg->kind == WEFT_ACTION_MIN)
		t = weft_ir_alu_imm(&lw->ir, BPF_XOR, t, -1);
	weft_ir_branch_imm(&lw->ir, BPF_JNE, t, 0, grow);
	weft_ir_atomic(&lw->ir, BPF_OR, row, 8, weft_ir_const(&lw->ir, 1));
	weft_ir_jump(&lw->ir, done);
	weft_ir_place(&lw->ir, grow);
	weft_ir_assign(&lw->ir, old, weft_ir_load(&lw->ir, 8, row, 0));
	weft_retry_open(lw, &retry, SWAP_ROUNDS);
	weft_ir_assign(&lw->ir, old, got);
	weft_retry_begin(lw, &retry, weft_lower_loss(lw, WEFT_LOSS_AGGREGATION_BUSY, done));
	weft_ir_branch(&lw->ir, BPF_JGE, old, t, done);
	weft_ir_assign(&lw->ir, got, weft_ir_cmpxchg(&lw->ir, row, 0, old, t));
	weft_ir_branch(&lw->ir, BPF_JNE, got, old, retry.again);
}

static void update(struct weft_lower *lw, const struct weft_aggregation *agg, weft_vreg row,
		   weft_vreg value, uint32_t done)
{
	bool is_unsigned = !agg->value_type.is_signed;

	switch (agg->kind) {
	case WEFT_ACTION_SUM:
	case WEFT_ACTION_AVG:
	case WEFT_ACTION_STDDEV:
		add_one(lw, row, agg->value_words - 1);
		weft_lower_add_sum(lw, row, WEFT_SUM_WORD, value, is_unsigned);
		if (agg->kind == WEFT_ACTION_STDDEV)
			weft_lower_add_square(lw, row, WEFT_SQUARES_WORD, value, is_unsigned);
		weft_lower_tally(lw, row, done);
		return;
	case WEFT_ACTION_MIN:
	case WEFT_ACTION_MAX:
		update_extreme(lw, agg, row, value, done);
		return;
	default: /* count, and histograms, whose key says the bucket */
		weft_lower_tally(lw, row, done);
	}
}

static struct weft_place lower_keys(struct weft_lower *lw, const struct weft_typed_action *a,
				    const struct weft_aggregation *agg, weft_vreg value)
{
	struct weft_place key = weft_lower_temp(lw, agg->key_size);

	for (size_t i = 0; i < a->n_keys; i++)
		weft_lower_key(lw, &agg->keys[i], a->keys[i].node,
			       weft_place_at(key, (int32_t)agg->keys[i].offset));
	weft_lower_gaps(lw, agg->keys, agg->n_keys, agg->key_size, key);
	if (agg->bucket_offset >= 0)
		weft_lower_store(lw, weft_place_at(key, agg->bucket_offset), 4,
				 weft_lower_bucket(lw, value, &agg->buckets));
	return key;
}

void weft_lower_aggregation(struct weft_lower *lw, const struct weft_typed_action *a)
{
	struct weft_span action_span = lw->ir.span;
	struct weft_aggregation agg;
	weft_vreg value = WEFT_NO_VREG, row;
	struct weft_failures to;
	uint32_t index, done;
	struct weft_place key;
	struct weft_ir_arg map;
	int ret;

	ret = weft_plan_aggregation(lw->plan, a, &index, lw->err);
	if (ret) {
		weft_lower_status(lw, ret);
		return;
	}
	agg = lw->plan->aggregations[index]; /* a copy: the array may move */
	done = weft_lower_behind(lw);
	if (a->value)
		value = weft_lower_value(lw, a->value);
	if (agg.map < 0) {
		row = weft_lower_slot(lw, agg.state_offset);
		update(lw, &agg, row, value, done);
		weft_lower_place_behind(lw, done);
		return;
	}
	key = lower_keys(lw, a, &agg, value);
	lw->ir.span = action_span;
	to.busy = weft_lower_loss(lw, WEFT_LOSS_AGGREGATION_BUSY, done);
	to.full = weft_lower_loss(lw, WEFT_LOSS_AGGREGATION_FULL, done);
	to.nomem = weft_lower_loss(lw, WEFT_LOSS_AGGREGATION_NOMEM, done);
	map = weft_lower_map(lw, agg.map, WEFT_LOSS_AGGREGATION_BUSY, done);
	row = weft_lower_row(lw, map, key, &to);
	update(lw, &agg, row, value, done);
	weft_lower_place_behind(lw, done);
}
