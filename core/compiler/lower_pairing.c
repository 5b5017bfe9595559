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

#define ENTRY_SIZE ((int32_t)sizeof(struct weft_frame_entry))
/* Offsets from row + used: of the entry just below, and of the one to be pushed. */
#define BELOW(member)                                                                           \
	((int32_t)(sizeof(struct weft_frame_row) + offsetof(struct weft_frame_entry, member)) - \
	 ENTRY_SIZE)
#define NEXT(member) \
	((int32_t)(sizeof(struct weft_frame_row) + offsetof(struct weft_frame_entry, member)))

/* The thread as the kernel counts; the idle threads, which are all 0, by CPU. */
static struct weft_place thread_key(struct weft_lower *lw)
{
	struct weft_place key = weft_lower_frame(lw, 8);
	weft_vreg tid = weft_ir_extend(&lw->ir, weft_lower_pid_tgid(lw), 4, false), cpu;
	uint32_t done = weft_ir_label(&lw->ir);

	weft_lower_store(lw, key, 8, tid);
	weft_ir_branch_imm(&lw->ir, BPF_JNE, tid, 0, done);
	cpu = weft_ir_call(&lw->ir, BPF_FUNC_get_smp_processor_id, true, NULL, 0);
	cpu = weft_ir_alu(&lw->ir, BPF_OR, cpu, weft_ir_const(&lw->ir, INT64_C(1) << 32));
	weft_lower_store(lw, key, 8, cpu);
	weft_ir_place(&lw->ir, done);
	return key;
}

static weft_vreg lower_frame_value(struct weft_lower *lw)
{
	weft_vreg values[2];
	unsigned n;

	weft_lower_location(lw, &lw->group->info->pairing.frame, 1, 1, "the frame of the pairing",
			    values, &n);
	return values[0];
}

static uint32_t row_bytes(const struct weft_lower *lw)
{
	return lw->plan->set->options.depth * (uint32_t)ENTRY_SIZE;
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
	weft_ir_branch_imm(&lw->ir, BPF_JLT, used, ENTRY_SIZE, out);
	weft_ir_assign(&lw->ir, entry, weft_ir_alu(&lw->ir, BPF_ADD, row, used));
	return weft_ir_load(&lw->ir, 8, entry, BELOW(frame));
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
	weft_ir_step(&lw->ir, BPF_SUB, used, ENTRY_SIZE);
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
	weft_ir_step(&lw->ir, BPF_SUB, *used, ENTRY_SIZE);
	there = weft_ir_load(&lw->ir, 8, *entry, BELOW(pair));
	weft_ir_branch(&lw->ir, BPF_JNE, there, pair, again);
}

static weft_vreg pair_of(struct weft_lower *lw)
{
	return weft_ir_alu_imm(&lw->ir, BPF_RSH, lw->cookie, 1);
}

void weft_lower_push_frame(struct weft_lower *lw)
{
	uint32_t done = weft_ir_label(&lw->ir), full = weft_ir_label(&lw->ir);
	uint32_t push = weft_ir_label(&lw->ir), deep;
	weft_vreg frame, pair, row, error, used, entry;
	struct weft_place key;

	lw->plan->maps[WEFT_PLAN_FRAMES].used = true;
	frame = lower_frame_value(lw);
	pair = pair_of(lw);
	key = thread_key(lw);
	row = weft_lower_row(lw, WEFT_PLAN_FRAMES, key, &error, full);
	drop_dead(lw, row, frame, push);
	find_own(lw, row, frame, pair, push, &used, &entry);
	weft_ir_store(&lw->ir, 8, row, 0, used); /* an earlier activation at the same place */
	weft_ir_place(&lw->ir, push);
	deep = weft_lower_loss(lw, WEFT_LOSS_PAIRING_DEPTH, done);
	used = weft_ir_variable(&lw->ir);
	weft_ir_pin(&lw->ir, used);
	weft_ir_assign(&lw->ir, used, weft_ir_load(&lw->ir, 8, row, 0));
	weft_ir_branch_imm(&lw->ir, BPF_JGT, used, row_bytes(lw) - (uint32_t)ENTRY_SIZE, deep);
	entry = weft_ir_alu(&lw->ir, BPF_ADD, row, used);
	weft_ir_pin(&lw->ir, entry);
	weft_ir_store(&lw->ir, 8, entry, NEXT(frame), frame);
	weft_ir_store(&lw->ir, 8, entry, NEXT(time_ns), lw->timestamp);
	weft_ir_store(&lw->ir, 8, entry, NEXT(pair), pair);
	weft_ir_step(&lw->ir, BPF_ADD, used, ENTRY_SIZE);
	weft_ir_store(&lw->ir, 8, row, 0, used);
	weft_ir_jump(&lw->ir, done);
	weft_ir_place(&lw->ir, full);
	weft_ir_jump(&lw->ir, weft_lower_loss(lw, WEFT_LOSS_PAIRING_FULL, done));
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
	frame = lower_frame_value(lw);
	pair = pair_of(lw);
	key = thread_key(lw);
	row = WEFT_CALL(&lw->ir, BPF_FUNC_map_lookup_elem, WEFT_A_MAP(WEFT_PLAN_FRAMES),
			WEFT_A_FP(key.off));
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, row, 0, done);
	drop_dead(lw, row, frame, done);
	find_own(lw, row, frame, pair, done, &used, &entry);
	then = weft_ir_load(&lw->ir, 8, entry, BELOW(time_ns));
	weft_ir_store(&lw->ir, 8, row, 0, used);
	weft_ir_assign(&lw->ir, lw->elapsed, weft_ir_alu(&lw->ir, BPF_SUB, lw->timestamp, then));
	weft_ir_assign_const(&lw->ir, lw->paired, 1);
	weft_ir_place(&lw->ir, done);
}
