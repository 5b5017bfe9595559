/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Pairing: which entry does a return belong to, and how long ago was it?
 *
 * A thread's row of FRAMES is a stack of entries { frame, time, pair }. frame is the stack pointer
 * at the call, pair names the entry and return probe that belong together (cookie >> 1), for a
 * function that ends in a jump to another has that one's frame. The stack grows downwards, so an
 * activation that is alive lies above, in addresses, whatever happens now:
 *
 *   entry at S:   every entry with frame < S is dead (a longjmp, or a return that was missed), and so
 *                 is one with frame == S and the same pair: both are dropped, then S is pushed.
 *   return at S:  every entry with frame < S is dead and is dropped; the topmost with frame == S and
 *                 the same pair is ours, and it and what lies on it is dropped.
 *
 * Frames are compared as signed numbers. That makes the kernel's stacks, in the upper half of the
 * address space, lie below every user stack, which is just right: when user code runs, no
 * activation in the kernel is alive, and while the kernel runs, all those in user space are. A
 * constant as frame (a system call's) works likewise.
 *
 * An interrupt's stack is not comparable with the task's: pairs of functions that run in interrupts
 * can cost the pairs that they interrupt, which is then counted as PAIRING_NO_ENTRY.
 *
 * Both walk down in two loops, over the dead and over those with the same frame; each has one way to
 * go on, so that the verifier, who walks all rounds, does not see paths multiply. What a loop found
 * goes into row->used and is read back with a bound: behind the loop all rounds look the same.
 */
#include <stddef.h>

#include "core/compiler/lower.h"
#include "core/compiler/pairing.h"

/* Offsets from row + used: of the entry to be pushed, and of the one just below. */
#define NEXT(member) \
	((int32_t)(sizeof(struct weft_frame_row) + offsetof(struct weft_frame_entry, member)))
#define BELOW(lw, member) (NEXT(member) - entry_size(lw))
#define NEXT_HAVE         ((int32_t)(sizeof(struct weft_frame_row) + sizeof(struct weft_frame_entry)))

static int32_t entry_size(const struct weft_lower *lw)
{
	return (int32_t)weft_pairing_entry_size(lw->plan);
}

static weft_vreg lower_frame_value(struct weft_lower *lw)
{
	weft_vreg values[2];
	unsigned n;

	lw->program->uses |= WEFT_USES_FRAME;
	weft_lower_location(lw, &lw->group->info->pairing.frame, 1, 1, "the frame of the pairing",
			    values, &n);
	return values[0];
}

static uint32_t row_bytes(const struct weft_lower *lw)
{
	return lw->plan->set->options.depth * (uint32_t)entry_size(lw);
}

/* row->used, bounded; more cannot be there, but the verifier does not know. */
static weft_vreg bounded_used(struct weft_lower *lw, weft_vreg row, uint32_t impossible)
{
	weft_vreg used = weft_ir_variable(&lw->ir);

	weft_ir_pin(&lw->ir, used);
	weft_ir_assign(&lw->ir, used, weft_ir_load(&lw->ir, 8, row, 0));
	weft_ir_branch_imm(&lw->ir, BPF_JGT, used, row_bytes(lw), impossible);
	return used;
}

/* The entry below *used, as an address for BELOW, and its frame; goes to out where there is none. */
static weft_vreg look_below(struct weft_lower *lw, weft_vreg row, weft_vreg used, weft_vreg entry,
			    uint32_t out)
{
	weft_ir_branch_imm(&lw->ir, BPF_JLT, used, entry_size(lw), out);
	weft_ir_assign(&lw->ir, entry, weft_ir_alu(&lw->ir, BPF_ADD, row, used));
	return weft_ir_load(&lw->ir, 8, entry, BELOW(lw, frame));
}

/* Lowers row->used past all entries with a frame below the one given. */
static void drop_dead(struct weft_lower *lw, weft_vreg row, weft_vreg frame, uint32_t impossible)
{
	uint32_t again = weft_ir_label(&lw->ir), out = weft_ir_label(&lw->ir);
	weft_vreg used = bounded_used(lw, row, impossible), there;
	weft_vreg entry = weft_ir_variable(&lw->ir);

	weft_ir_pin(&lw->ir, entry);
	weft_ir_place(&lw->ir, again);
	there = look_below(lw, row, used, entry, out);
	weft_ir_branch(&lw->ir, BPF_JSGE, there, frame, out);
	weft_ir_step(&lw->ir, BPF_SUB, used, entry_size(lw));
	weft_ir_store(&lw->ir, 8, row, 0, used);
	weft_ir_jump(&lw->ir, again);
	weft_ir_place(&lw->ir, out);
}

/* Looks for our pair among the entries with this frame, from the top. Falls out where it is found:
 * *entry is its address for BELOW, *used what is taken without it and what lies on it. */
static void find_own(struct weft_lower *lw, weft_vreg row, weft_vreg frame, weft_vreg pair,
		     uint32_t absent, weft_vreg *used, weft_vreg *entry)
{
	uint32_t again = weft_ir_label(&lw->ir);
	weft_vreg there;

	*used = bounded_used(lw, row, absent);
	*entry = weft_ir_variable(&lw->ir);
	weft_ir_pin(&lw->ir, *entry);
	weft_ir_place(&lw->ir, again);
	there = look_below(lw, row, *used, *entry, absent);
	weft_ir_branch(&lw->ir, BPF_JNE, there, frame, absent);
	weft_ir_step(&lw->ir, BPF_SUB, *used, entry_size(lw));
	there = weft_ir_load(&lw->ir, 8, *entry, BELOW(lw, pair));
	weft_ir_branch(&lw->ir, BPF_JNE, there, pair, again);
}

/* ---- arguments of the entry ---- */

/* Where the value of argument i lies, counted from the values' beginning. */
static unsigned rank(uint64_t capture, uint32_t i)
{
	return (unsigned)__builtin_popcountll(capture & ((UINT64_C(1) << i) - 1));
}

/*
 * Evaluates what is to be kept, before the row is looked at. What cannot be read is no fault of the
 * entry: its bit in `have` stays 0, and the clause of the return that asks for it has the fault.
 */
static weft_vreg capture(struct weft_lower *lw, weft_vreg values[WEFT_MAX_ARGS])
{
	uint64_t wanted = lw->group->capture;
	uint32_t outer = lw->fault_exit, mark = lw->frame_used;
	weft_vreg have = weft_ir_variable(&lw->ir);

	weft_ir_assign_const(&lw->ir, have, 0);
	lw->quiet = true;
	lw->conditional++;
	for (uint32_t i = 0; i < WEFT_MAX_ARGS; i++) {
		struct weft_node arg = {.kind = WEFT_NODE_ARG, .index = i};

		if (!(wanted >> i & 1) || lw->group->texts >> i & 1 ||
		    !weft_lang_arg_type(lw->plan->set, lw->group->info, i, &arg.type))
			continue;
		lw->fault_exit = weft_ir_label(&lw->ir);
		values[i] = weft_ir_variable(&lw->ir);
		weft_ir_assign_const(&lw->ir, values[i], 0);
		weft_ir_assign(&lw->ir, values[i], weft_lower_value(lw, &arg));
		weft_ir_apply(&lw->ir, BPF_OR, have,
			      weft_ir_const(&lw->ir, (int64_t)(UINT64_C(1) << rank(wanted, i))));
		weft_ir_place(&lw->ir, lw->fault_exit);
		lw->frame_used = mark;
	}
	lw->conditional--;
	lw->quiet = false;
	lw->fault_exit = outer;
	return have;
}

static void store_captured(struct weft_lower *lw, weft_vreg entry, weft_vreg have,
			   const weft_vreg values[WEFT_MAX_ARGS])
{
	weft_ir_store(&lw->ir, 8, entry, NEXT_HAVE, have);
	for (uint32_t i = 0; i < WEFT_MAX_ARGS; i++)
		if (values[i])
			weft_ir_store(&lw->ir, 8, entry,
				      NEXT_HAVE + 8 + 8 * (int32_t)rank(lw->group->capture, i),
				      values[i]);
}

/* From row + used: of the text that argument i is. */
static int32_t text_offset(const struct weft_lower *lw, uint32_t i)
{
	return NEXT_HAVE + 8 + 8 * (int32_t)lw->plan->entry_words +
	       (int32_t)(rank(lw->group->texts, i) * weft_pairing_text_size(lw->plan));
}

/* Texts are read right into the row: what spoils it meanwhile spoils the frame as well. */
static void store_texts(struct weft_lower *lw, weft_vreg entry, weft_vreg have)
{
	uint32_t outer = lw->fault_exit, mark = lw->frame_used;
	weft_vreg length;

	lw->quiet = true;
	lw->conditional++;
	for (uint32_t i = 0; i < WEFT_MAX_ARGS; i++) {
		struct weft_node arg = {.kind = WEFT_NODE_ARG, .index = i};
		struct weft_place to = {entry, text_offset(lw, i) + 8};

		if (!(lw->group->texts >> i & 1) ||
		    !weft_lang_arg_type(lw->plan->set, lw->group->info, i, &arg.type))
			continue;
		lw->fault_exit = weft_ir_label(&lw->ir);
		if (arg.type.kind == WEFT_VALUE_STRING) {
			weft_lower_argument_text(lw, &arg, to, arg.type.cap);
		} else {
			weft_lower_blob(lw, &arg, to, &length);
			weft_ir_store(&lw->ir, 8, entry, to.off - 8, length);
		}
		weft_ir_apply(&lw->ir, BPF_OR, have,
			      weft_ir_const(&lw->ir,
					    (int64_t)(UINT64_C(1) << rank(lw->group->capture, i))));
		weft_ir_place(&lw->ir, lw->fault_exit);
		lw->frame_used = mark;
	}
	lw->conditional--;
	lw->quiet = false;
	lw->fault_exit = outer;
}

static uint64_t used_by_clauses(const struct weft_group *g)
{
	uint64_t all = 0;

	for (size_t i = 0; i < g->n_clauses; i++)
		all |= g->clauses[i].entry_args;
	return all & g->capture;
}

static void declare_captured(struct weft_lower *lw)
{
	uint64_t used = used_by_clauses(lw->group);

	if (!used)
		return;
	lw->entry_have = weft_ir_variable(&lw->ir);
	weft_ir_assign_const(&lw->ir, lw->entry_have, 0);
	if (used & lw->group->texts) {
		lw->entry_at = weft_ir_variable(&lw->ir);
		lw->entry_time = weft_ir_variable(&lw->ir);
		weft_ir_assign_const(&lw->ir, lw->entry_at, 0);
		weft_ir_assign_const(&lw->ir, lw->entry_time, 0);
	}
	for (uint32_t i = 0; i < WEFT_MAX_ARGS; i++) {
		if (!(used & ~lw->group->texts & UINT64_C(1) << i))
			continue;
		lw->entry_value[i] = weft_ir_variable(&lw->ir);
		weft_ir_assign_const(&lw->ir, lw->entry_value[i], 0);
	}
}

static void load_captured(struct weft_lower *lw, weft_vreg entry)
{
	int32_t at = NEXT_HAVE - entry_size(lw);

	if (!lw->entry_have)
		return;
	weft_ir_assign(&lw->ir, lw->entry_have, weft_ir_load(&lw->ir, 8, entry, at));
	for (uint32_t i = 0; i < WEFT_MAX_ARGS; i++)
		if (lw->entry_value[i])
			weft_ir_assign(
				&lw->ir, lw->entry_value[i],
				weft_ir_load(&lw->ir, 8, entry,
					     at + 8 + 8 * (int32_t)rank(lw->group->capture, i)));
}

/* The entry was found, and has kept the argument; else a fault. */
static void expect_kept(struct weft_lower *lw, const struct weft_node *n)
{
	weft_vreg bit;

	weft_ir_branch_imm(&lw->ir, BPF_JEQ, lw->paired, 0,
			   weft_lower_fault(lw, WEFT_LOSS_PAIRING_NO_ENTRY));
	bit = weft_ir_alu_imm(&lw->ir, BPF_AND, lw->entry_have,
			      (int64_t)(UINT64_C(1) << rank(lw->group->capture, n->index)));
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, bit, 0, weft_lower_fault(lw, WEFT_LOSS_FAULT_VALUE));
}

weft_vreg weft_lower_entry(struct weft_lower *lw, const struct weft_node *n)
{
	if (!lw->paired || !lw->entry_value[n->index])
		return weft_ir_const(&lw->ir, 0);
	expect_kept(lw, n);
	return lw->entry_value[n->index];
}

/*
 * A text is left in the row, above what is taken of it, and copied when it is asked for. Another
 * call of the thread that began since (within an interrupt, or as its memory was brought in) may
 * have been pushed over it; then the time there is another, and that is a fault.
 */
void weft_lower_entry_text(struct weft_lower *lw, const struct weft_node *n, struct weft_place to,
			   uint32_t cap, weft_vreg *length)
{
	uint32_t mark = lw->frame_used, spoilt;
	int32_t at = text_offset(lw, n->index);
	weft_vreg row, used, entry, time;
	struct weft_place key;

	if (length)
		*length = weft_ir_const(&lw->ir, 0);
	if (!lw->paired || !lw->entry_at) {
		weft_lower_zero(lw, to, cap);
		return;
	}
	expect_kept(lw, n);
	spoilt = weft_lower_fault(lw, WEFT_LOSS_FAULT_VALUE);
	key = weft_lower_thread_key(lw);
	row = WEFT_CALL(&lw->ir, BPF_FUNC_map_lookup_elem, WEFT_A_MAP(WEFT_PLAN_FRAMES),
			WEFT_A_FP(key.off));
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, row, 0, spoilt);
	used = weft_ir_variable(&lw->ir);
	weft_ir_pin(&lw->ir, used);
	weft_ir_assign(&lw->ir, used, lw->entry_at);
	weft_ir_branch_imm(&lw->ir, BPF_JGT, used, row_bytes(lw) - (uint32_t)entry_size(lw), spoilt);
	entry = weft_ir_alu(&lw->ir, BPF_ADD, row, used);
	weft_ir_pin(&lw->ir, entry);
	weft_lower_copy(lw, to, (struct weft_place){entry, at + 8}, cap);
	if (n->type.kind == WEFT_VALUE_STRING && cap < n->type.cap)
		weft_lower_store_imm(lw, weft_place_at(to, (int32_t)cap - 1), 1, 0);
	if (length)
		*length = weft_ir_load(&lw->ir, 8, entry, at);
	time = weft_ir_load(&lw->ir, 8, entry, NEXT(time_ns));
	weft_ir_branch(&lw->ir, BPF_JNE, time, lw->entry_time, spoilt);
	lw->frame_used = mark;
}

static weft_vreg pair_of(struct weft_lower *lw)
{
	return weft_ir_alu_imm(&lw->ir, BPF_RSH, lw->cookie, 1);
}

void weft_lower_push_frame(struct weft_lower *lw)
{
	uint32_t done = weft_ir_label(&lw->ir), push = weft_ir_label(&lw->ir), deep, full;
	weft_vreg frame, pair, row, used, entry, have = WEFT_NO_VREG;
	weft_vreg values[WEFT_MAX_ARGS] = {WEFT_NO_VREG};
	struct weft_place key;

	lw->plan->maps[WEFT_PLAN_FRAMES].used = true;
	frame = lower_frame_value(lw);
	pair = pair_of(lw);
	if (lw->group->capture)
		have = capture(lw, values);
	key = weft_lower_thread_key(lw);
	full = weft_lower_loss(lw, WEFT_LOSS_PAIRING_FULL, done);
	row = weft_lower_row(lw, WEFT_A_MAP(WEFT_PLAN_FRAMES), key,
			     &(struct weft_failures){full, full, full});
	drop_dead(lw, row, frame, push);
	find_own(lw, row, frame, pair, push, &used, &entry);
	weft_ir_store(&lw->ir, 8, row, 0, used); /* an earlier activation at the same place */
	weft_ir_place(&lw->ir, push);
	deep = weft_lower_loss(lw, WEFT_LOSS_PAIRING_DEPTH, done);
	used = weft_ir_variable(&lw->ir);
	weft_ir_pin(&lw->ir, used);
	weft_ir_assign(&lw->ir, used, weft_ir_load(&lw->ir, 8, row, 0));
	weft_ir_branch_imm(&lw->ir, BPF_JGT, used, row_bytes(lw) - (uint32_t)entry_size(lw), deep);
	entry = weft_ir_alu(&lw->ir, BPF_ADD, row, used);
	weft_ir_pin(&lw->ir, entry);
	weft_ir_store(&lw->ir, 8, entry, NEXT(frame), frame);
	if (have && lw->group->texts)
		store_texts(lw, entry, have);
	if (have) /* behind the frame: whoever interrupts and pushes here, spoils that as well */
		store_captured(lw, entry, have, values);
	weft_ir_store(&lw->ir, 8, entry, NEXT(time_ns), lw->timestamp);
	weft_ir_store(&lw->ir, 8, entry, NEXT(pair), pair);
	weft_ir_step(&lw->ir, BPF_ADD, used, entry_size(lw));
	weft_ir_store(&lw->ir, 8, row, 0, used);
	weft_ir_place(&lw->ir, done);
}

void weft_lower_pop_frame(struct weft_lower *lw)
{
	uint32_t done = weft_ir_label(&lw->ir);
	weft_vreg frame, pair, row, used, entry, then;
	struct weft_place key;

	lw->plan->maps[WEFT_PLAN_FRAMES].used = true;
	lw->paired = weft_ir_variable(&lw->ir);
	lw->elapsed = weft_ir_variable(&lw->ir);
	weft_ir_assign_const(&lw->ir, lw->paired, 0);
	weft_ir_assign_const(&lw->ir, lw->elapsed, 0);
	declare_captured(lw);
	frame = lower_frame_value(lw);
	pair = pair_of(lw);
	key = weft_lower_thread_key(lw);
	row = WEFT_CALL(&lw->ir, BPF_FUNC_map_lookup_elem, WEFT_A_MAP(WEFT_PLAN_FRAMES),
			WEFT_A_FP(key.off));
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, row, 0, done);
	drop_dead(lw, row, frame, done);
	find_own(lw, row, frame, pair, done, &used, &entry);
	then = weft_ir_load(&lw->ir, 8, entry, BELOW(lw, time_ns));
	load_captured(lw, entry);
	if (lw->entry_at) {
		weft_ir_assign(&lw->ir, lw->entry_at, used);
		weft_ir_assign(&lw->ir, lw->entry_time, then);
	}
	weft_ir_store(&lw->ir, 8, row, 0, used);
	weft_ir_assign(&lw->ir, lw->elapsed, weft_ir_alu(&lw->ir, BPF_SUB, lw->timestamp, then));
	weft_ir_assign_const(&lw->ir, lw->paired, 1);
	weft_ir_place(&lw->ir, done);
}
