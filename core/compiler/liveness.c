/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Liveness: which registers live where. Most live within one block. For each of the others, where
 * it is wanted is followed backwards, block by block, to where it is made. That takes as long as
 * the register lives, and a program of hundreds of clauses has many that live shortly.
 *
 * Blocks begin at labels and behind jumps. A block has at most two successors: the one its last
 * instruction jumps to, and the next.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "core/compiler/regalloc.h"

#define NOWHERE UINT32_MAX

struct block {
	uint32_t first, last;  /* instructions */
	uint32_t successor[2]; /* NOWHERE: none */
};

/* Where a register is read or written; of one instruction, reading comes first. */
struct event {
	uint32_t insn, block;
	bool writes;
};

struct flow {
	const struct weft_ir *ir;
	struct weft_interval *intervals;
	struct block *blocks;
	size_t n_blocks;
	uint32_t *block_of_label;
	/* Of register v: events[first_event[v]] up to the next register's first, in order. */
	struct event *events;
	uint32_t *first_event;
	uint32_t *before; /* likewise, of a block: those that it follows */
	uint32_t *first_before;
	uint32_t *calls; /* of an instruction: how many come before it */
	/* Of a block: the register that was last seen to be written in it, to live where it begins,
	 * and where it ends. */
	weft_vreg *written, *in, *out;
	uint32_t *wanted; /* the blocks where the register at hand lives at the beginning */
};

static void find_blocks(struct flow *f)
{
	const struct weft_ir *ir = f->ir;
	bool begins = true;
	size_t i;

	for (i = 0; i < ir->n_insns; i++) {
		const struct weft_ir_insn *insn = &ir->insns[i];

		if (begins || insn->op == WEFT_IR_LABEL) {
			f->blocks[f->n_blocks].first = (uint32_t)i;
			f->n_blocks++;
		}
		f->blocks[f->n_blocks - 1].last = (uint32_t)i;
		if (insn->op == WEFT_IR_LABEL)
			f->block_of_label[insn->label] = (uint32_t)f->n_blocks - 1;
		begins = weft_ir_is_jump(insn) || weft_ir_ends(insn);
	}
	for (i = 0; i < f->n_blocks; i++) {
		struct block *b = &f->blocks[i];
		const struct weft_ir_insn *last = &ir->insns[b->last];

		b->successor[0] = weft_ir_is_jump(last) ? f->block_of_label[last->label] : NOWHERE;
		b->successor[1] =
			weft_ir_ends(last) || i + 1 == f->n_blocks ? NOWHERE : (uint32_t)i + 1;
	}
}

/* ---- who is where ---- */

/* Turns lengths, in first[k + 1], into where each list begins. */
static void begin_lists(uint32_t *first, size_t n)
{
	for (size_t k = 0; k < n; k++)
		first[k + 1] += first[k];
}

/* When lists were filled, each first[k] having moved on to the next list's. */
static void end_lists(uint32_t *first, size_t n)
{
	for (size_t k = n; k; k--)
		first[k] = first[k - 1];
	first[0] = 0;
}

static int find_events(struct flow *f)
{
	const struct weft_ir *ir = f->ir;
	weft_vreg *uses[WEFT_IR_MAX_USES];
	uint32_t block = 0;

	for (size_t i = 0; i < ir->n_insns; i++) {
		for (size_t n = weft_ir_uses(ir, &ir->insns[i], uses); n--;)
			f->first_event[*uses[n] + 1]++;
		f->first_event[ir->insns[i].dst + 1]++;
	}
	begin_lists(f->first_event, ir->n_vregs);
	f->events = calloc(f->first_event[ir->n_vregs] + 1, sizeof(*f->events));
	if (!f->events)
		return -ENOMEM;
	for (uint32_t i = 0; i < ir->n_insns; i++) {
		block += i > f->blocks[block].last;
		for (size_t n = weft_ir_uses(ir, &ir->insns[i], uses); n--;)
			f->events[f->first_event[*uses[n]]++] =
				(struct event){.insn = i, .block = block};
		f->events[f->first_event[ir->insns[i].dst]++] =
			(struct event){.insn = i, .block = block, .writes = true};
		f->calls[i + 1] = f->calls[i] + (ir->insns[i].op == WEFT_IR_CALL);
	}
	end_lists(f->first_event, ir->n_vregs);
	return 0;
}

static void find_before(struct flow *f)
{
	for (size_t b = 0; b < f->n_blocks; b++)
		for (size_t k = 0; k < 2; k++)
			if (f->blocks[b].successor[k] != NOWHERE)
				f->first_before[f->blocks[b].successor[k] + 1]++;
	begin_lists(f->first_before, f->n_blocks);
	for (uint32_t b = 0; b < f->n_blocks; b++)
		for (size_t k = 0; k < 2; k++)
			if (f->blocks[b].successor[k] != NOWHERE)
				f->before[f->first_before[f->blocks[b].successor[k]]++] = b;
	end_lists(f->first_before, f->n_blocks);
}

/* ---- where one lives ---- */

static void extend(struct weft_interval *i, uint32_t position)
{
	if (position < i->start)
		i->start = position;
	if (position > i->end)
		i->end = position;
}

/* Whether dst is written before the operands have been read for the last time. */
static bool is_early(const struct weft_ir_insn *insn)
{
	return insn->op == WEFT_IR_SET || insn->op == WEFT_IR_XCHG;
}

/* Whether b has to outlive the writing of dst: dst = a; dst op= b. */
static bool outlives(const struct weft_ir_insn *insn)
{
	return insn->op == WEFT_IR_ALU && insn->b && insn->a != insn->b;
}

static void hint(struct weft_interval *i, uint8_t reg)
{
	if (i->hint == WEFT_NO_HINT)
		i->hint = reg;
}

static void local_lives(struct flow *f)
{
	weft_vreg *uses[WEFT_IR_MAX_USES];

	for (size_t i = 0; i < f->ir->n_insns; i++) {
		const struct weft_ir_insn *insn = &f->ir->insns[i];
		uint32_t at = 2 * (uint32_t)i;

		for (size_t n = weft_ir_uses(f->ir, insn, uses); n--;) {
			extend(&f->intervals[*uses[n]], at);
			f->intervals[*uses[n]].touches++;
		}
		if (outlives(insn))
			extend(&f->intervals[insn->b], at + 1);
		for (size_t k = 0; k < insn->n_args; k++) {
			const struct weft_ir_arg *arg = &f->ir->args[insn->args + k];

			if (arg->kind == WEFT_ARG_VREG)
				hint(&f->intervals[arg->vreg], (uint8_t)(k + 1));
		}
		if (!insn->dst)
			continue;
		extend(&f->intervals[insn->dst], is_early(insn) ? at : at + 1);
		f->intervals[insn->dst].touches++;
		if (insn->op == WEFT_IR_CALL || insn->op == WEFT_IR_CMPXCHG)
			hint(&f->intervals[insn->dst], BPF_REG_0);
		else if (insn->op == WEFT_IR_CONTEXT)
			hint(&f->intervals[insn->dst], BPF_REG_1);
	}
}

static void want(struct flow *f, weft_vreg v, uint32_t b, uint32_t *n)
{
	if (f->in[b] == v)
		return;
	f->in[b] = v;
	extend(&f->intervals[v], 2 * f->blocks[b].first);
	f->wanted[(*n)++] = b;
}

/* Finds all blocks where v lives at the beginning; returns how many. */
static uint32_t follow(struct flow *f, weft_vreg v)
{
	uint32_t end = f->first_event[v + 1], seen = NOWHERE, n = 0;

	for (uint32_t i = f->first_event[v]; i < end; i++)
		if (f->events[i].writes)
			f->written[f->events[i].block] = v;
	for (uint32_t i = f->first_event[v]; i < end; i++) {
		if (f->events[i].block != seen && !f->events[i].writes)
			want(f, v, f->events[i].block, &n); /* read first, in this block */
		seen = f->events[i].block;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t b = f->wanted[i];

		for (uint32_t k = f->first_before[b]; k < f->first_before[b + 1]; k++) {
			uint32_t p = f->before[k];

			f->out[p] = v;
			extend(&f->intervals[v], 2 * f->blocks[p].last + 1);
			if (f->written[p] != v)
				want(f, v, p, &n);
		}
	}
	return n;
}

/* Whether v lives across a call in the block of event *at, which moves on to the next block's. */
static bool across_in_block(const struct flow *f, weft_vreg v, uint32_t *at)
{
	uint32_t b = f->events[*at].block, end = f->first_event[v + 1];
	uint32_t calls = f->calls[f->blocks[b].first]; /* before its life begins */
	bool across = false;

	for (; *at < end && f->events[*at].block == b; ++*at) {
		const struct event *e = &f->events[*at];

		if (e->writes)
			calls = f->calls[e->insn + 1];
		else
			across |= f->calls[e->insn] > calls;
	}
	return across || (f->out[b] == v && f->calls[f->blocks[b].last + 1] > calls);
}

static bool is_spared(const struct flow *f, weft_vreg v, uint32_t n_wanted)
{
	for (uint32_t i = 0; i < n_wanted; i++) {
		const struct block *b = &f->blocks[f->wanted[i]];

		if (f->out[f->wanted[i]] == v && f->written[f->wanted[i]] != v &&
		    f->calls[b->last + 1] > f->calls[b->first])
			return false;
	}
	for (uint32_t i = f->first_event[v]; i < f->first_event[v + 1];)
		if (across_in_block(f, v, &i))
			return false;
	return true;
}

int weft_liveness(const struct weft_ir *ir, struct weft_interval *intervals)
{
	struct flow f = {.ir = ir, .intervals = intervals};
	size_t n = ir->n_insns + 2;
	int ret = -ENOMEM;

	for (size_t v = 0; v < ir->n_vregs; v++)
		intervals[v] = (struct weft_interval){.start = UINT32_MAX, .hint = WEFT_NO_HINT};
	f.blocks = calloc(n, sizeof(*f.blocks));
	f.block_of_label = calloc(ir->n_labels + 1, sizeof(*f.block_of_label));
	f.first_event = calloc(ir->n_vregs + 1, sizeof(*f.first_event));
	f.before = calloc(2 * n, sizeof(*f.before));
	f.first_before = calloc(n, sizeof(*f.first_before));
	f.calls = calloc(n, sizeof(*f.calls));
	f.written = calloc(n, sizeof(*f.written));
	f.in = calloc(n, sizeof(*f.in));
	f.out = calloc(n, sizeof(*f.out));
	f.wanted = calloc(n, sizeof(*f.wanted));
	if (!f.blocks || !f.block_of_label || !f.first_event || !f.before || !f.first_before ||
	    !f.calls || !f.written || !f.in || !f.out || !f.wanted)
		goto out;
	find_blocks(&f);
	find_before(&f);
	ret = find_events(&f);
	if (ret)
		goto out;
	local_lives(&f);
	for (weft_vreg v = WEFT_FIRST; v < ir->n_vregs; v++) {
		uint32_t n_wanted = follow(&f, v);

		if (n_wanted) /* of what lives within one block the span tells enough */
			intervals[v].spared = is_spared(&f, v, n_wanted);
	}
out:
	free(f.blocks);
	free(f.block_of_label);
	free(f.events);
	free(f.first_event);
	free(f.before);
	free(f.first_before);
	free(f.calls);
	free(f.written);
	free(f.in);
	free(f.out);
	free(f.wanted);
	return ret;
}
