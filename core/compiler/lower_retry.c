/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Trying again, a number of times, what others may be in the way of.
 *
 *            round = rounds; goto begin
 *   again:   what is to be done before another try
 *            if (!--round) goto given_up
 *   begin:   a try; if it fails goto again
 *
 * Success falls through. The verifier follows what falls through first and remembers each branch
 * until it comes back to it; it remembers no more than 8,192 (BPF_COMPLEXITY_LIMIT_JMP_SEQ), of all
 * clauses together. In this order a loop costs it the branches of one round; with the way back
 * falling through it would be those of all rounds.
 *
 * A try has one branch to `again`, at its end. Two would double the verifier's ways with each round:
 * it forgets most of where it has been in a loop that counts (6.1 does so before the loop is through).
 */
#include "core/compiler/lower.h"

void weft_retry_open(struct weft_lower *lw, struct weft_retry *r, uint32_t rounds)
{
	r->again = weft_ir_label(&lw->ir);
	r->begin = weft_ir_label(&lw->ir);
	r->round = weft_ir_variable(&lw->ir);
	weft_ir_assign_const(&lw->ir, r->round, rounds);
	weft_ir_jump(&lw->ir, r->begin);
	weft_ir_place(&lw->ir, r->again);
}

void weft_retry_begin(struct weft_lower *lw, const struct weft_retry *r, uint32_t given_up)
{
	weft_ir_step(&lw->ir, BPF_SUB, r->round, 1);
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, r->round, 0, given_up);
	weft_ir_place(&lw->ir, r->begin);
}
