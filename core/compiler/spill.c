/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Spilling. A spilled register lives on the BPF stack; each instruction that reads it gets a tiny
 * register that is loaded just before, each that writes it one that is stored just after. What is
 * cheaper to make than to load - a constant, the address of a map's value - is made anew instead.
 *
 * Registers spilled in one round share a slot where their lives do not overlap.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/compiler/regalloc.h"

struct spiller {
	struct weft_ir *ir;
	const bool *spill;
	size_t n_vregs;       /* before the rewriting */
	int32_t *slot;        /* by register: offset from the frame pointer */
	uint32_t *definition; /* by register: index + 1 of the one definition to make anew */
	struct weft_ir_insn *old;
	size_t n_old;
};

static bool remade(const struct weft_ir_insn *insn)
{
	return insn->op == WEFT_IR_CONST || insn->op == WEFT_IR_MAP_VALUE;
}

static void find_definitions(struct spiller *s)
{
	for (size_t i = 0; i < s->n_old; i++) {
		const struct weft_ir_insn *insn = &s->old[i];

		if (insn->dst && s->spill[insn->dst] && !s->ir->vregs[insn->dst].is_variable &&
		    remade(insn))
			s->definition[insn->dst] = (uint32_t)i + 1;
	}
}

struct pending {
	weft_vreg v;
	uint32_t start, end;
};

static int by_start(const void *a, const void *b)
{
	const struct pending *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* First fit over slots, in order of birth. */
static int assign_slots(struct spiller *s, const struct weft_interval *intervals, uint32_t *n_slots,
			uint32_t *n_spilled)
{
	struct pending *list = calloc(s->n_vregs, sizeof(*list));
	uint32_t *busy_until = calloc(s->n_vregs, sizeof(*busy_until));
	uint32_t base = *n_slots, used = 0, k;
	size_t n = 0, i;
	int ret = -ENOMEM;

	if (!list || !busy_until)
		goto out;
	for (i = 0; i < s->n_vregs; i++)
		if (s->spill[i] && !s->definition[i])
			list[n++] = (struct pending){(weft_vreg)i, intervals[i].start,
						     intervals[i].end};
	qsort(list, n, sizeof(*list), by_start);
	for (i = 0; i < n; i++) {
		for (k = 0; k < used; k++)
			if (busy_until[k] < list[i].start)
				break;
		if (k == used)
			used++;
		busy_until[k] = list[i].end;
		s->slot[list[i].v] = -(int32_t)(s->ir->frame_size + 8 * (base + k + 1));
	}
	*n_slots += used;
	*n_spilled += (uint32_t)n;
	ret = 0;
out:
	free(list);
	free(busy_until);
	return ret;
}

static weft_vreg tiny(struct spiller *s)
{
	weft_vreg v = weft_ir_vreg(s->ir);

	weft_ir_pin(s->ir, v);
	return v;
}

/* Brings a spilled register into a tiny one. */
static weft_vreg fetch(struct spiller *s, weft_vreg v)
{
	weft_vreg t = tiny(s);
	struct weft_ir_insn *insn;

	if (s->definition[v]) {
		const struct weft_ir_insn *made = &s->old[s->definition[v] - 1];

		insn = weft_ir_append(s->ir, WEFT_IR_CONST);
		insn->op = made->op;
		insn->imm = made->imm;
		insn->off = made->off;
	} else {
		insn = weft_ir_append(s->ir, WEFT_IR_LOAD);
		insn->size = 8;
		insn->a = WEFT_FP;
		insn->off = s->slot[v];
	}
	insn->dst = t;
	return t;
}

static void rewrite(struct spiller *s, struct weft_ir_insn insn)
{
	weft_vreg *uses[WEFT_IR_MAX_USES], was[WEFT_IR_MAX_USES], dst = insn.dst;
	size_t n = weft_ir_uses(s->ir, &insn, uses), i, k;

	s->ir->span = insn.span;
	s->ir->clause = insn.clause;
	for (i = 0; i < n; i++)
		was[i] = *uses[i];
	for (i = 0; i < n; i++) {
		if (was[i] >= s->n_vregs || !s->spill[was[i]])
			continue;
		for (k = 0; k < i && was[k] != was[i]; k++)
			;
		*uses[i] = k < i ? *uses[k] : fetch(s, was[i]);
	}
	if (!dst || !s->spill[dst]) {
		*weft_ir_append(s->ir, WEFT_IR_LABEL) = insn;
		return;
	}
	if (s->definition[dst])
		return; /* made where it is used */
	insn.dst = tiny(s);
	*weft_ir_append(s->ir, WEFT_IR_LABEL) = insn;
	weft_ir_store(s->ir, 8, WEFT_FP, s->slot[dst], insn.dst);
}

int weft_spill(struct weft_ir *ir, const bool *spill, const struct weft_interval *intervals,
	       uint32_t *n_slots, uint32_t *n_spilled)
{
	struct spiller s = {.ir = ir,
			    .spill = spill,
			    .n_vregs = ir->n_vregs,
			    .old = ir->insns,
			    .n_old = ir->n_insns};
	int ret = -ENOMEM;

	s.slot = calloc(s.n_vregs, sizeof(*s.slot));
	s.definition = calloc(s.n_vregs, sizeof(*s.definition));
	if (!s.slot || !s.definition)
		goto out;
	find_definitions(&s);
	ret = assign_slots(&s, intervals, n_slots, n_spilled);
	if (ret)
		goto out;
	ir->insns = NULL;
	ir->n_insns = ir->cap_insns = 0;
	for (size_t i = 0; i < s.n_old; i++)
		rewrite(&s, s.old[i]);
	free(s.old);
	ret = ir->status;
out:
	free(s.slot);
	free(s.definition);
	return ret;
}
