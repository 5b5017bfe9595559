/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Peephole improvements, on neighbours only, and jumps to jumps. None may leave an instruction that
 * cannot be reached: the verifier would refuse the program.
 *
 *   if c goto A; ... A: goto B              -> if c goto B; ...
 *   goto L; L:                              -> L:
 *   if c goto A; goto B; A:                 -> if !c goto B; A:
 *   [fp-8] = r1; r2 = [fp-8]                -> [fp-8] = r1; r2 = r1
 *   r1 = r2; r2 = r1                        -> r1 = r2
 *
 * A label between two instructions keeps them apart, since control may come from elsewhere.
 */
#include "core/compiler/emit.h"

#include <errno.h>
#include <stdlib.h>

#include "core/kernel/insn.h"

/* The next instruction that stays, or label; n_insns: none. */
static size_t next(const struct weft_machine *m, size_t i)
{
	for (i++; i < m->n_insns && m->insns[i].dropped; i++)
		;
	return i;
}

/* Whether control that falls out of instruction i arrives at the label without doing anything. */
static bool falls_to(const struct weft_machine *m, size_t i, uint32_t label)
{
	for (i = next(m, i); i < m->n_insns && m->insns[i].is_label; i = next(m, i))
		if (m->insns[i].label == label)
			return true;
	return false;
}

static bool is_goto(const struct weft_machine_insn *i)
{
	return !i->is_label && i->label && i->insn.code == (BPF_JMP | BPF_JA);
}

static bool is_branch(const struct weft_machine_insn *i)
{
	return !i->is_label && i->label && i->insn.code != (BPF_JMP | BPF_JA);
}

static bool inverse(uint8_t code, uint8_t *out)
{
	static const uint8_t pairs[][2] = {{BPF_JEQ, BPF_JNE},
					   {BPF_JGT, BPF_JLE},
					   {BPF_JGE, BPF_JLT},
					   {BPF_JSGT, BPF_JSLE},
					   {BPF_JSGE, BPF_JSLT}};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		for (unsigned k = 0; k < 2; k++) {
			if (BPF_OP(code) == pairs[i][k]) {
				*out = (uint8_t)((code & ~0xf0) | pairs[i][!k]);
				return true;
			}
		}
	}
	return false;
}

/* Where each label is, and how many jumps go to it. */
struct labels {
	size_t *place;
	uint32_t *jumps;
};

/* Where a jump to the label ends up: moves that turned out to be none are gone by now. */
static uint32_t destination(const struct weft_machine *m, const struct labels *l, uint32_t label)
{
	for (unsigned hops = 0; hops < 16; hops++) {
		size_t i = l->place[label];

		while (i < m->n_insns && (m->insns[i].is_label || m->insns[i].dropped))
			i++;
		if (i == m->n_insns || !is_goto(&m->insns[i]) || m->insns[i].stays)
			break;
		label = m->insns[i].label;
	}
	return label;
}

/* Drops labels that nothing goes to, and jumps that only such labels made reachable. */
static void drop_unreached(struct weft_machine *m, struct labels *l)
{
	bool reached = true;

	for (size_t i = 0; i < m->n_insns; i++) {
		struct weft_machine_insn *a = &m->insns[i];

		if (a->dropped)
			continue;
		if (a->is_label) {
			reached |= l->jumps[a->label] != 0;
			a->dropped = !l->jumps[a->label]; /* it keeps nothing apart */
			continue;
		}
		if (!reached && is_goto(a)) {
			l->jumps[a->label]--;
			a->dropped = true;
			continue;
		}
		reached = !is_goto(a) && a->insn.code != (BPF_JMP | BPF_EXIT);
	}
}

static int thread_jumps(struct weft_machine *m)
{
	struct labels l = {.place = calloc(m->n_labels + 1, sizeof(*l.place)),
			   .jumps = calloc(m->n_labels + 1, sizeof(*l.jumps))};
	int ret = -ENOMEM;

	if (!l.place || !l.jumps)
		goto out;
	for (size_t i = 0; i < m->n_insns; i++)
		if (m->insns[i].is_label)
			l.place[m->insns[i].label] = i;
	for (size_t i = 0; i < m->n_insns; i++) {
		struct weft_machine_insn *a = &m->insns[i];

		if (a->is_label || !a->label)
			continue;
		a->label = destination(m, &l, a->label);
		l.jumps[a->label]++;
	}
	drop_unreached(m, &l);
	ret = 0;
out:
	free(l.place);
	free(l.jumps);
	return ret;
}

static void improve_jump(struct weft_machine *m, size_t i)
{
	struct weft_machine_insn *a = &m->insns[i], *b;
	size_t k = next(m, i);
	uint8_t code;

	if (falls_to(m, i, a->label)) {
		a->dropped = true;
		return;
	}
	if (!is_branch(a) || k == m->n_insns)
		return;
	b = &m->insns[k];
	if (!is_goto(b) || b->stays || !falls_to(m, k, a->label) || !inverse(a->insn.code, &code))
		return;
	a->insn.code = code;
	a->label = b->label;
	b->dropped = true;
}

static void improve_reload(struct weft_machine *m, size_t i)
{
	const struct bpf_insn *a = &m->insns[i].insn;
	size_t k = next(m, i);
	struct bpf_insn *b;

	if (k == m->n_insns || m->insns[k].is_label)
		return;
	b = &m->insns[k].insn;
	if (a->dst_reg != BPF_REG_10 || b->code != (BPF_LDX | BPF_MEM | BPF_DW) ||
	    b->src_reg != BPF_REG_10 || a->off != b->off)
		return;
	if (b->dst_reg == a->src_reg)
		m->insns[k].dropped = true;
	else
		*b = INSN_MOV64_REG(b->dst_reg, a->src_reg);
}

static void improve_move(struct weft_machine *m, size_t i)
{
	const struct bpf_insn *a = &m->insns[i].insn, *b;
	size_t k = next(m, i);

	if (k == m->n_insns || m->insns[k].is_label)
		return;
	b = &m->insns[k].insn;
	m->insns[k].dropped =
		b->code == a->code && b->dst_reg == a->src_reg && b->src_reg == a->dst_reg;
}

int weft_peephole(struct weft_machine *m)
{
	int ret = thread_jumps(m);

	if (ret)
		return ret;
	for (size_t i = 0; i < m->n_insns; i++) {
		struct weft_machine_insn *a = &m->insns[i];

		if (a->is_label || a->dropped)
			continue;
		if (a->label)
			improve_jump(m, i);
		else if (a->insn.code == (BPF_STX | BPF_MEM | BPF_DW))
			improve_reload(m, i);
		else if (a->insn.code == (BPF_ALU64 | BPF_MOV | BPF_X))
			improve_move(m, i);
	}
	return 0;
}
