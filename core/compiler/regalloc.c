/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Linear scan. Lives are taken in order of birth; each gets a free register that nothing destroys
 * while it lives: a call destroys r0-r5, so what lives across one is confined to r6-r9, and a
 * compare-and-exchange needs r0 for itself. A call in a gap of a life, where nobody reads the
 * register any more before it is written, does no harm. Where none is free, the cheapest life among
 * those that hold a suitable register, or the new one, goes to the stack: the one that is used
 * least for its length. All that fell out in a round is rewritten (spill.c) and the scan begins
 * anew; tiny registers and those whose bounds the verifier follows are pinned and never fall out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/compiler/regalloc.h"

#define N_REGS      10u
#define CALL_MASK   0x03fu /* r0-r5, which a call destroys */
#define ALL_REGS    0x3ffu
#define MAX_ROUNDS  16u
#define NO_REGISTER 0xffu

struct scan {
	struct weft_ir *ir;
	struct weft_interval *intervals;
	uint8_t *reg;
	bool *spill;
	size_t n_spill;
	uint32_t *calls, *swaps; /* positions of calls and of compare-and-exchanges, ascending */
	size_t n_calls, n_swaps;
	weft_vreg active[N_REGS]; /* by register */
};

/* The first position above p, or UINT32_MAX. */
static uint32_t next_above(const uint32_t *positions, size_t n, uint32_t p)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (positions[middle] > p)
			high = middle;
		else
			low = middle + 1;
	}
	return low < n ? positions[low] : UINT32_MAX;
}

static uint32_t suitable(const struct scan *s, const struct weft_interval *i)
{
	uint32_t mask = ALL_REGS;

	if (!i->spared && next_above(s->calls, s->n_calls, i->start) < i->end)
		mask &= ~CALL_MASK;
	if (next_above(s->swaps, s->n_swaps, i->start) <= i->end)
		mask &= ~1u;
	return mask;
}

/* Cheapness: uses for a length. a < b without division. */
static bool cheaper(const struct weft_interval *a, const struct weft_interval *b)
{
	return (uint64_t)a->touches * (b->end - b->start + 1) <
	       (uint64_t)b->touches * (a->end - a->start + 1);
}

static void evict(struct scan *s, weft_vreg v)
{
	s->spill[v] = true;
	s->n_spill++;
	s->reg[v] = NO_REGISTER;
}

static int place(struct scan *s, weft_vreg v)
{
	const struct weft_interval *i = &s->intervals[v];
	uint32_t mask = suitable(s, i), r, worst = NO_REGISTER;

	for (r = 0; r < N_REGS; r++)
		if (s->active[r] && s->intervals[s->active[r]].end < i->start)
			s->active[r] = WEFT_NO_VREG;
	if (i->hint != WEFT_NO_HINT && mask >> i->hint & 1 && !s->active[i->hint]) {
		s->active[i->hint] = v;
		s->reg[v] = i->hint;
		return 0;
	}
	for (r = 0; r < N_REGS; r++) {
		if (mask >> r & 1 && !s->active[r]) {
			s->active[r] = v;
			s->reg[v] = (uint8_t)r;
			return 0;
		}
	}
	for (r = 0; r < N_REGS; r++) {
		if (!(mask >> r & 1) || s->ir->vregs[s->active[r]].pinned)
			continue;
		if (worst == NO_REGISTER ||
		    cheaper(&s->intervals[s->active[r]], &s->intervals[s->active[worst]]))
			worst = r;
	}
	if (!s->ir->vregs[v].pinned &&
	    (worst == NO_REGISTER || !cheaper(&s->intervals[s->active[worst]], i))) {
		evict(s, v);
		return 0;
	}
	if (worst == NO_REGISTER)
		return -E2BIG;
	evict(s, s->active[worst]);
	s->active[worst] = v;
	s->reg[v] = (uint8_t)worst;
	return 0;
}

static int note_destroyers(struct scan *s)
{
	s->calls = calloc(s->ir->n_insns + 1, sizeof(*s->calls));
	s->swaps = calloc(s->ir->n_insns + 1, sizeof(*s->swaps));
	if (!s->calls || !s->swaps)
		return -ENOMEM;
	for (size_t i = 0; i < s->ir->n_insns; i++) {
		if (s->ir->insns[i].op == WEFT_IR_CALL)
			s->calls[s->n_calls++] = 2 * (uint32_t)i;
		else if (s->ir->insns[i].op == WEFT_IR_CMPXCHG)
			s->swaps[s->n_swaps++] = 2 * (uint32_t)i;
	}
	return 0;
}

/* A result likes the register of what it is made from: dst = a; dst op= b. */
static void hint_result(struct scan *s, const struct weft_ir_insn *insn)
{
	if (insn->op != WEFT_IR_MOVE && insn->op != WEFT_IR_ALU && insn->op != WEFT_IR_NEG &&
	    insn->op != WEFT_IR_SWAP)
		return;
	if (s->intervals[insn->dst].hint != WEFT_NO_HINT || insn->a < WEFT_FIRST ||
	    s->reg[insn->a] >= N_REGS)
		return;
	s->intervals[insn->dst].hint = s->reg[insn->a];
}

static int scan(struct scan *s)
{
	size_t n_positions = 2 * s->ir->n_insns + 2, v;
	uint32_t *head = calloc(n_positions, sizeof(*head));
	uint32_t *next = calloc(s->ir->n_vregs, sizeof(*next));
	int ret = -ENOMEM;

	if (!head || !next)
		goto out;
	for (v = s->ir->n_vregs; v-- > WEFT_FIRST;) {
		const struct weft_interval *i = &s->intervals[v];

		s->reg[v] = NO_REGISTER;
		if (i->start > i->end)
			continue;
		next[v] = head[i->start];
		head[i->start] = (uint32_t)v;
	}
	ret = 0;
	for (size_t p = 0; p < n_positions && !ret; p++) {
		if (head[p] && p / 2 < s->ir->n_insns)
			hint_result(s, &s->ir->insns[p / 2]);
		for (uint32_t w = head[p]; w && !ret; w = next[w])
			ret = place(s, w);
	}
out:
	free(head);
	free(next);
	return ret;
}

static void scan_finish(struct scan *s)
{
	free(s->intervals);
	free(s->spill);
	free(s->calls);
	free(s->swaps);
}

/* One round. *again: something was spilled. */
static int allocate_round(struct weft_ir *ir, struct weft_allocation *out, uint32_t *n_slots,
			  bool *again)
{
	struct scan s = {.ir = ir};
	int ret = -ENOMEM;

	free(out->reg);
	out->reg = s.reg = calloc(ir->n_vregs, sizeof(*s.reg));
	s.intervals = calloc(ir->n_vregs, sizeof(*s.intervals));
	s.spill = calloc(ir->n_vregs, sizeof(*s.spill));
	if (!s.reg || !s.intervals || !s.spill)
		goto out;
	ret = weft_liveness(ir, s.intervals);
	if (!ret)
		ret = note_destroyers(&s);
	if (!ret)
		ret = scan(&s);
	if (ret)
		goto out;
	*again = s.n_spill > 0;
	if (*again)
		ret = weft_spill(ir, s.spill, s.intervals, n_slots, &out->n_spilled);
out:
	scan_finish(&s);
	return ret;
}

int weft_regalloc(struct weft_ir *ir, struct weft_allocation *out)
{
	uint32_t n_slots = 0;
	bool again = true;
	int ret = 0;

	*out = (struct weft_allocation){0};
	for (unsigned round = 0; again && !ret; round++)
		ret = round < MAX_ROUNDS ? allocate_round(ir, out, &n_slots, &again) : -E2BIG;
	out->stack_bytes = ir->frame_size + 8 * n_slots;
	if (!ret && out->stack_bytes > WEFT_BPF_STACK)
		ret = -E2BIG;
	if (ret)
		weft_allocation_finish(out);
	return ret;
}

void weft_allocation_finish(struct weft_allocation *a)
{
	free(a->reg);
	a->reg = NULL;
}
