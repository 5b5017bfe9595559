/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a program asks of the verifier, as far as it can be told without one.
 *
 * The verifier follows what falls through a branch first and remembers the other way; it refuses to
 * remember more than 8,192 at a time. Where the same code is reached again, it mostly finds that it
 * has been there and turns back. Walking the program in just that order, without following values,
 * tells how many it will have to remember.
 *
 * On the way through many clauses, each with many aggregations, that becomes too much. Such a
 * program is compiled again with passages: a branch before each action, around it, that is never
 * taken when the program runs and that the verifier takes first, since it does not know. It is then
 * at the end of the program soon, with one branch to remember for each action; from there it goes
 * back action by action, and what is behind an action has been seen already.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/compiler/lower.h"
#include "core/kernel/insn.h"

#define BRANCHES_MOST 8192u /* BPF_COMPLEXITY_LIMIT_JMP_SEQ of the kernel's verifier.c, since 5.2 */
#define BRANCHES_FINE 4096u /* room for states that differ where the walk sees none */

static bool is_branch(const struct bpf_insn *insn)
{
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);

	return class == BPF_JMP32 ||
	       (class == BPF_JMP && op != BPF_JA && op != BPF_CALL && op != BPF_EXIT);
}

struct walk {
	const struct weft_program *prog;
	bool *seen;
	uint32_t *pending;
	uint32_t n, most;
};

/* From an instruction until the program ends or what was seen already begins. */
static void follow(struct walk *w, uint32_t i)
{
	while (i < w->prog->n_insns && !w->seen[i]) {
		const struct bpf_insn *insn = &w->prog->insns[i];

		w->seen[i] = true;
		if (insn->code == (BPF_JMP | BPF_EXIT))
			return;
		if (insn->code == (BPF_JMP | BPF_JA)) {
			i += 1 + (uint32_t)insn->off;
			continue;
		}
		if (is_branch(insn)) {
			w->pending[w->n++] = i + 1 + (uint32_t)insn->off;
			if (w->n > w->most)
				w->most = w->n;
		}
		i += 1 + INSN_IS_LD_IMM64(insn);
	}
}

int weft_program_branches(const struct weft_program *prog, uint32_t *most)
{
	struct walk w = {.prog = prog};
	int ret = -ENOMEM;

	w.seen = calloc(prog->n_insns + 1, sizeof(*w.seen));
	w.pending = calloc(prog->n_insns + 1, sizeof(*w.pending));
	if (w.seen && w.pending) {
		follow(&w, 0);
		while (w.n)
			follow(&w, w.pending[--w.n]);
		*most = w.most;
		ret = 0;
	}
	free(w.seen);
	free(w.pending);
	return ret;
}

int weft_lower_burden(struct weft_lower *lw, bool *again)
{
	uint32_t most;

	if (lw->program->n_insns < BRANCHES_FINE)
		return 0;
	if (weft_program_branches(lw->program, &most))
		return weft_nomem(lw->err);
	if (most <= BRANCHES_FINE)
		return 0;
	if (!lw->passages) {
		lw->passages = *again = true;
		return 0;
	}
	if (most <= BRANCHES_MOST - BRANCHES_MOST / 8)
		return 0;
	return weft_fail_at(lw->err, lw->group->clauses[0].clause->pos, -E2BIG, "CLAUSE_TOO_LARGE",
			    "the clauses of this probe make the kernel's verifier remember some %u "
			    "branches at a time, and %u is the most: put clauses into probe sets of "
			    "their own, or simplify their expressions",
			    most, BRANCHES_MOST);
}

uint32_t weft_lower_passage(struct weft_lower *lw)
{
	uint32_t around, in;
	weft_vreg zero;

	if (!lw->passages)
		return 0;
	around = weft_ir_label(&lw->ir);
	in = weft_ir_label(&lw->ir);
	/* Nobody writes to these bytes, but the verifier cannot know. */
	zero = weft_ir_map_value(&lw->ir, WEFT_PLAN_STATE, lw->plan->zeros_offset);
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, weft_ir_load(&lw->ir, 8, zero, 0), 0, in);
	weft_ir_leave(&lw->ir, around);
	weft_ir_place(&lw->ir, in);
	return around;
}
