/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Liveness: which registers live where. Few registers live across blocks, so only those take part
 * in the data flow over bit sets; the rest is seen within its block.
 *
 * Blocks begin at labels and behind jumps. A block has at most two successors: the one its last
 * instruction jumps to, and the next.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/compiler/regalloc.h"

#define NOWHERE UINT32_MAX

struct block {
	uint32_t first, last;  /* instructions */
	uint32_t successor[2]; /* NOWHERE: none */
};

struct flow {
	const struct weft_ir *ir;
	struct weft_interval *intervals;
	struct block *blocks;
	size_t n_blocks;
	uint32_t *block_of_label;
	uint32_t *seen;  /* by register: the block + 1 that last defined it */
	uint32_t *dense; /* by register: index + 1 among those that live across blocks */
	weft_vreg *wide; /* the inverse */
	size_t n_wide, words;
	uint64_t *in, *use,
		*def; /* a bit set for each block; what is live at its end is not kept */
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

/* Calls fn for every use of a block that no definition in the block precedes. */
static void exposed_uses(struct flow *f, size_t b, void (*fn)(struct flow *, size_t, weft_vreg))
{
	weft_vreg *uses[WEFT_IR_MAX_USES];

	for (uint32_t i = f->blocks[b].first; i <= f->blocks[b].last; i++) {
		const struct weft_ir_insn *insn = &f->ir->insns[i];

		for (size_t n = weft_ir_uses(f->ir, insn, uses); n--;)
			if (f->seen[*uses[n]] != b + 1)
				fn(f, b, *uses[n]);
		if (insn->dst)
			f->seen[insn->dst] = (uint32_t)b + 1;
	}
}

static void note_wide(struct flow *f, size_t b, weft_vreg v)
{
	(void)b;
	if (f->dense[v])
		return;
	f->wide[f->n_wide++] = v;
	f->dense[v] = (uint32_t)f->n_wide;
}

static void set_bit(uint64_t *set, size_t i)
{
	set[i / 64] |= UINT64_C(1) << (i % 64);
}

static void clear_bit(uint64_t *set, size_t i)
{
	set[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

static void note_use(struct flow *f, size_t b, weft_vreg v)
{
	set_bit(&f->use[b * f->words], f->dense[v] - 1);
}

static int data_flow(struct flow *f)
{
	bool changed = true;
	size_t b, w, k;

	f->words = (f->n_wide + 63) / 64;
	f->in = calloc(f->n_blocks * f->words + 1, sizeof(*f->in));
	f->use = calloc(f->n_blocks * f->words + 1, sizeof(*f->use));
	f->def = calloc(f->n_blocks * f->words + 1, sizeof(*f->def));
	if (!f->in || !f->use || !f->def)
		return -ENOMEM;
	memset(f->seen, 0, f->ir->n_vregs * sizeof(*f->seen));
	for (b = 0; b < f->n_blocks; b++) {
		exposed_uses(f, b, note_use);
		for (uint32_t i = f->blocks[b].first; i <= f->blocks[b].last; i++) {
			weft_vreg dst = f->ir->insns[i].dst;

			if (dst && f->dense[dst])
				set_bit(&f->def[b * f->words], f->dense[dst] - 1);
		}
	}
	while (changed) {
		changed = false;
		for (b = f->n_blocks; b--;) {
			for (w = 0; w < f->words; w++) {
				uint64_t out = 0, in;

				for (k = 0; k < 2; k++)
					if (f->blocks[b].successor[k] != NOWHERE)
						out |= f->in[f->blocks[b].successor[k] * f->words + w];
				in = f->use[b * f->words + w] | (out & ~f->def[b * f->words + w]);
				changed |= in != f->in[b * f->words + w];
				f->in[b * f->words + w] = in;
			}
		}
	}
	return 0;
}

static void live_out(const struct flow *f, size_t b, uint64_t *out)
{
	for (size_t w = 0; w < f->words; w++) {
		out[w] = 0;
		for (size_t k = 0; k < 2; k++)
			if (f->blocks[b].successor[k] != NOWHERE)
				out[w] |= f->in[f->blocks[b].successor[k] * f->words + w];
	}
}

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
			hint(&f->intervals[insn->dst], 0);
	}
}

/* Everything in a set lives at the position. Sets are sparse: few values live anywhere at a time. */
static void extend_all(struct flow *f, const uint64_t *set, uint32_t position)
{
	for (size_t w = 0; w < f->words; w++)
		for (uint64_t bits = set[w]; bits; bits &= bits - 1)
			extend(&f->intervals[f->wide[64 * w + (size_t)__builtin_ctzll(bits)]],
			       position);
}

static void wide_lives(struct flow *f)
{
	for (size_t b = 0; b < f->n_blocks; b++) {
		extend_all(f, &f->in[b * f->words], 2 * f->blocks[b].first);
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what f holds is freed by its owner */
		for (size_t k = 0; k < 2; k++) {
			uint32_t s = f->blocks[b].successor[k];

			if (s != NOWHERE)
				extend_all(f, &f->in[s * f->words], 2 * f->blocks[b].last + 1);
		}
	}
}

/* Finds what lives across a call; of what lives within one block the span already tells. */
static int spare(struct flow *f)
{
	uint64_t *live = calloc(f->words + 1, sizeof(*live));
	uint64_t *across = calloc(f->words + 1, sizeof(*across));
	weft_vreg *uses[WEFT_IR_MAX_USES];
	int ret;

	for (size_t b = 0; live && across && b < f->n_blocks; b++) {
		live_out(f, b, live);
		for (uint32_t i = f->blocks[b].last + 1; i-- > f->blocks[b].first;) {
			const struct weft_ir_insn *insn = &f->ir->insns[i];

			if (insn->dst && f->dense[insn->dst])
				clear_bit(live, f->dense[insn->dst] - 1);
			for (size_t w = 0; insn->op == WEFT_IR_CALL && w < f->words; w++)
				across[w] |= live[w];
			for (size_t n = weft_ir_uses(f->ir, insn, uses); n--;)
				if (f->dense[*uses[n]])
					set_bit(live, f->dense[*uses[n]] - 1);
		}
	}
	for (size_t k = 0; across && k < f->n_wide; k++)
		f->intervals[f->wide[k]].spared = !(across[k / 64] >> (k % 64) & 1);
	ret = live && across ? 0 : -ENOMEM;
	free(across);
	free(live);
	return ret;
}

int weft_liveness(const struct weft_ir *ir, struct weft_interval *intervals)
{
	struct flow f = {.ir = ir, .intervals = intervals};
	int ret = -ENOMEM;
	size_t b;

	for (size_t v = 0; v < ir->n_vregs; v++)
		intervals[v] = (struct weft_interval){.start = UINT32_MAX, .hint = WEFT_NO_HINT};
	f.blocks = calloc(ir->n_insns + 1, sizeof(*f.blocks));
	f.block_of_label = calloc(ir->n_labels + 1, sizeof(*f.block_of_label));
	f.seen = calloc(ir->n_vregs + 1, sizeof(*f.seen));
	f.dense = calloc(ir->n_vregs + 1, sizeof(*f.dense));
	f.wide = calloc(ir->n_vregs + 1, sizeof(*f.wide));
	if (!f.blocks || !f.block_of_label || !f.seen || !f.dense || !f.wide)
		goto out;
	find_blocks(&f);
	for (b = 0; b < f.n_blocks; b++)
		exposed_uses(&f, b, note_wide);
	ret = data_flow(&f);
	if (ret)
		goto out;
	local_lives(&f);
	wide_lives(&f);
	ret = spare(&f);
out:
	free(f.blocks);
	free(f.block_of_label);
	free(f.seen);
	free(f.dense);
	free(f.wide);
	free(f.in);
	free(f.use);
	free(f.def);
	return ret;
}
