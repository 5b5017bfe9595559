/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Variables: finding them and reading them. lower_assign.c changes them.
 *
 * A variable is a cell { word, set, text }. Cells of globals lie in STATE; those of a thread side
 * by side in its row of SELF; an element of an array is a row of a map of its own.
 *
 * An integer is one word, changed by an exchange or an atomic operation and read by one load; `set`
 * is written after the word and read before it. (x86 keeps loads in order. Elsewhere the two loads
 * want a barrier.) A variable that is only ever added to has no use for `set`: it begins as 0.
 *
 * A string is longer than what a processor reads at once, and half of one and half of another must
 * never be seen. Its word is a sequence number: a writer makes it odd, writes, makes it even; a
 * reader copies, and has a text if the number was even and the same before and after. A writer that
 * finds another at work leaves it at that: both overlap, so its own text may as well have been
 * there just before the other's. A reader tries WEFT_STATE_ROUNDS times, then counts STATE_BUSY:
 * where it interrupted the writer on its own CPU it could wait for ever.
 *
 * A thread's row is touched by the thread alone, and by what interrupts it. Its key is the address
 * of the kernel's task_struct, which no other thread has before this one's row is removed:
 * core/kernel/threads.c.
 *
 * Elements that are never removed can be changed through the pointer that a look-up gives. Where a
 * set deletes from an array that is not so: the kernel hands a removed element to the next
 * insertion at once, and a program that has looked it up, and was preempted, would add to another
 * key's value. So each such array has 256 words, chosen by a hash of the keys. Who uses an element
 * counts the word up before the look-up and down after the use; who removes one swaps 1, itself
 * alone, for EXCLUSIVE, and only then takes the element out. If others are at work the element is
 * made unset and left where it is, to be found by who sets it next. A user who meets EXCLUSIVE
 * tries again, WEFT_STATE_ROUNDS times, since taking an element out is short; then it counts
 * STATE_BUSY. Users do not keep each other out, so that no addition is lost for want of a turn.
 */
#include <errno.h>
#include <stddef.h>

#include "core/compiler/cell.h"

/* ---- finding ---- */

/* Which of the array's words: any hash will do. */
static weft_vreg lock_of(struct weft_lower *lw, const struct weft_found *f)
{
	weft_vreg h = weft_ir_const(&lw->ir, 0), word, base, at;

	for (uint32_t i = 0; i < f->v.key_size && i < 64; i += 8) {
		word = weft_lower_load(lw, weft_place_at(f->key, (int32_t)i), 8);
		h = weft_ir_alu_imm(&lw->ir, BPF_MUL, weft_ir_alu(&lw->ir, BPF_XOR, h, word),
				    0x5bd1e995);
	}
	base = weft_ir_map_value(&lw->ir, WEFT_PLAN_STATE, f->v.locks_offset);
	at = weft_ir_variable(&lw->ir);
	weft_ir_pin(&lw->ir, at);
	weft_ir_assign(&lw->ir, at, weft_ir_alu_imm(&lw->ir, BPF_RSH, h, 17));
	weft_ir_step(&lw->ir, BPF_AND, at, (int64_t)8 * (WEFT_ARRAY_LOCKS - 1));
	return weft_ir_alu(&lw->ir, BPF_ADD, base, at);
}

static void hold(struct weft_lower *lw, struct weft_found *f)
{
	struct weft_retry retry;
	weft_vreg users;

	f->lock = lock_of(lw, f);
	weft_retry_open(lw, &retry, WEFT_STATE_ROUNDS);
	weft_found_close(lw, f);
	weft_retry_begin(lw, &retry, weft_lower_fault(lw, WEFT_LOSS_STATE_BUSY));
	users = weft_ir_fetch_add(&lw->ir, f->lock, 0, weft_ir_const(&lw->ir, 1));
	weft_ir_branch_imm(&lw->ir, BPF_JGE, users, WEFT_LOCK_EXCLUSIVE, retry.again);
}

void weft_found_close(struct weft_lower *lw, const struct weft_found *f)
{
	if (f->lock)
		weft_ir_atomic(&lw->ir, BPF_ADD, f->lock, 0, weft_ir_const(&lw->ir, -1));
}

void weft_found_open(struct weft_lower *lw, const struct weft_node *n, struct weft_found *f)
{
	const struct weft_node *key = n->kid[0];
	uint32_t index = 0;

	*f = (struct weft_found){0};
	weft_lower_status(lw, weft_plan_variable(lw->plan, n->state, &index, lw->err));
	if (lw->status)
		return;
	f->v = lw->plan->variables[index];
	f->map = weft_lower_map(lw, f->v.map, WEFT_LOSS_STATE_BUSY, 0);
	if (n->state->scope == WEFT_STATE_THREAD)
		f->key = weft_lower_thread_key(lw);
	if (n->state->scope != WEFT_STATE_ARRAY)
		return;
	f->key = weft_lower_temp(lw, f->v.key_size);
	for (uint32_t i = 0; i < n->state->n_keys && key; i++, key = key->kid[1])
		weft_lower_key(lw, &f->v.keys[i], key->kid[0],
			       weft_place_at(f->key, (int32_t)f->v.keys[i].offset));
	if (f->v.locks_offset)
		hold(lw, f);
}

static bool in_state(const struct weft_found *f)
{
	return f->v.map == WEFT_PLAN_STATE;
}

static struct weft_place global_cell(struct weft_lower *lw, const struct weft_found *f)
{
	return (struct weft_place){weft_ir_map_value(&lw->ir, WEFT_PLAN_STATE, f->v.offset), 0};
}

void weft_found_look(struct weft_lower *lw, struct weft_found *f, uint32_t absent)
{
	weft_vreg row;

	if (in_state(f)) {
		f->cell = global_cell(lw, f);
		return;
	}
	row = WEFT_CALL(&lw->ir, BPF_FUNC_map_lookup_elem, f->map, weft_lower_address(lw, f->key));
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, row, 0, absent);
	f->cell = (struct weft_place){row, (int32_t)f->v.offset};
}

void weft_found_make(struct weft_lower *lw, struct weft_found *f, const struct weft_failures *to)
{
	if (in_state(f)) {
		f->cell = global_cell(lw, f);
		return;
	}
	f->cell.base = weft_lower_row(lw, f->map, f->key, to);
	f->cell.off = (int32_t)f->v.offset;
}

/* ---- reading ---- */

static void need_set(struct weft_lower *lw, const struct weft_found *f, uint32_t unset)
{
	weft_vreg set = weft_lower_load(lw, weft_place_at(f->cell, WEFT_CELL(set)), 8);

	weft_ir_branch_imm(&lw->ir, BPF_JEQ, set, 0, unset);
}

/* The value of an integer; goes to unset where there is none. */
static weft_vreg read_int(struct weft_lower *lw, const struct weft_node *n, uint32_t unset)
{
	uint32_t mark = lw->frame_used, missing = unset, done = weft_ir_label(&lw->ir);
	weft_vreg v = weft_ir_variable(&lw->ir);
	struct weft_found f;

	weft_found_open(lw, n, &f);
	if (f.lock || n->state->counts)
		missing = weft_ir_label(&lw->ir);
	weft_found_look(lw, &f, missing);
	if (!n->state->counts)
		need_set(lw, &f, missing);
	weft_ir_assign(&lw->ir, v, weft_lower_load(lw, weft_place_at(f.cell, WEFT_CELL(word)), 8));
	weft_found_close(lw, &f);
	if (missing != unset) {
		weft_ir_jump(&lw->ir, done);
		weft_ir_place(&lw->ir, missing);
		weft_found_close(lw, &f);
		if (n->state->counts)
			weft_ir_assign_const(&lw->ir, v, 0);
		else
			weft_ir_jump(&lw->ir, unset);
		weft_ir_place(&lw->ir, done);
	}
	lw->frame_used = mark;
	return v;
}

/* The text into `size` bytes; goes to unset where there is none. Only an even number can be the
 * same before and after once its lowest bit is taken away: numbers grow. */
static void read_string(struct weft_lower *lw, const struct weft_node *n, struct weft_place to,
			uint32_t size, uint32_t unset)
{
	uint32_t missing = unset, given_up = weft_lower_fault(lw, WEFT_LOSS_STATE_BUSY);
	uint32_t busy = given_up, done = weft_ir_label(&lw->ir), mark = lw->frame_used;
	weft_vreg before = weft_ir_variable(&lw->ir), set, after;
	struct weft_retry retry;
	struct weft_found f;

	weft_found_open(lw, n, &f);
	if (f.lock) {
		missing = weft_ir_label(&lw->ir);
		given_up = weft_ir_label(&lw->ir);
	}
	weft_found_look(lw, &f, missing);
	weft_retry_open(lw, &retry, WEFT_STATE_ROUNDS);
	weft_retry_begin(lw, &retry, given_up);
	weft_ir_assign(&lw->ir, before,
		       weft_lower_load(lw, weft_place_at(f.cell, WEFT_CELL(word)), 8));
	weft_ir_step(&lw->ir, BPF_AND, before, -2);
	set = weft_lower_load(lw, weft_place_at(f.cell, WEFT_CELL(set)), 8);
	weft_lower_copy(lw, to, weft_place_at(f.cell, WEFT_CELL(text)), size);
	after = weft_lower_load(lw, weft_place_at(f.cell, WEFT_CELL(word)), 8);
	weft_ir_branch(&lw->ir, BPF_JNE, after, before, retry.again);
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, set, 0, missing);
	if (f.lock) {
		weft_ir_jump(&lw->ir, done);
		weft_ir_place(&lw->ir, given_up);
		weft_found_close(lw, &f);
		weft_ir_jump(&lw->ir, busy);
		weft_ir_place(&lw->ir, missing);
		weft_found_close(lw, &f);
		weft_ir_jump(&lw->ir, unset);
	}
	weft_ir_place(&lw->ir, done);
	weft_found_close(lw, &f);
	lw->frame_used = mark;
}

static weft_vreg lower_defined(struct weft_lower *lw, const struct weft_node *n)
{
	uint32_t missing = weft_ir_label(&lw->ir), mark = lw->frame_used;
	weft_vreg v = weft_ir_variable(&lw->ir), set;
	struct weft_found f;

	weft_found_open(lw, n->kid[0], &f);
	weft_ir_assign_const(&lw->ir, v, 0);
	weft_found_look(lw, &f, missing);
	set = weft_lower_load(lw, weft_place_at(f.cell, WEFT_CELL(set)), 8);
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, set, 0, missing);
	weft_ir_assign_const(&lw->ir, v, 1);
	weft_ir_place(&lw->ir, missing);
	weft_found_close(lw, &f);
	lw->frame_used = mark;
	return v;
}

static weft_vreg lower_default(struct weft_lower *lw, const struct weft_node *n)
{
	uint32_t unset = weft_ir_label(&lw->ir), done = weft_ir_label(&lw->ir);
	weft_vreg v = weft_ir_variable(&lw->ir);

	weft_ir_assign(&lw->ir, v, read_int(lw, n->kid[0], unset));
	weft_ir_jump(&lw->ir, done);
	weft_ir_place(&lw->ir, unset);
	lw->conditional++;
	weft_ir_assign(&lw->ir, v, weft_lower_value(lw, n->kid[1]));
	lw->conditional--;
	weft_ir_place(&lw->ir, done);
	return v;
}

weft_vreg weft_lower_state_value(struct weft_lower *lw, const struct weft_node *n)
{
	switch (n->kind) {
	case WEFT_NODE_LOCAL:
		return lw->frugal ? weft_lower_load(lw, lw->locals[n->index].place, 8)
				  : lw->locals[n->index].value;
	case WEFT_NODE_DEFAULT:
		return lower_default(lw, n);
	case WEFT_NODE_DEFINED:
		if (n->kid[0]->kind == WEFT_NODE_ELAPSED)
			return lw->paired ? lw->paired : weft_ir_const(&lw->ir, 0);
		return lower_defined(lw, n);
	default:
		return read_int(lw, n, weft_lower_fault(lw, WEFT_LOSS_STATE_UNSET));
	}
}

/* What is behind the text in a buffer of cap bytes. */
static void pad(struct weft_lower *lw, struct weft_place to, uint32_t own, uint32_t cap)
{
	if (own < cap)
		weft_lower_zero(lw, weft_place_at(to, (int32_t)own), cap - own);
	else if (cap)
		weft_lower_store_imm(lw, weft_place_at(to, (int32_t)cap - 1), 1, 0);
}

void weft_lower_state_string(struct weft_lower *lw, const struct weft_node *n, struct weft_place to,
			     uint32_t cap)
{
	const struct weft_node *v = n->kind == WEFT_NODE_DEFAULT ? n->kid[0] : n;
	uint32_t own = v->type.cap < cap ? v->type.cap : cap;
	uint32_t unset, done;

	if (n->kind == WEFT_NODE_LOCAL) {
		weft_lower_copy(lw, to, lw->locals[n->index].place, own);
		pad(lw, to, own, cap);
		return;
	}
	if (n->kind != WEFT_NODE_DEFAULT) {
		read_string(lw, n, to, own, weft_lower_fault(lw, WEFT_LOSS_STATE_UNSET));
		pad(lw, to, own, cap);
		return;
	}
	unset = weft_ir_label(&lw->ir);
	done = weft_ir_label(&lw->ir);
	read_string(lw, v, to, own, unset);
	pad(lw, to, own, cap);
	weft_ir_jump(&lw->ir, done);
	weft_ir_place(&lw->ir, unset);
	lw->conditional++;
	weft_lower_string(lw, n->kid[1], to, cap);
	lw->conditional--;
	weft_ir_place(&lw->ir, done);
}
