/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a clause asks to be spared: `every` and `limit`, in this order, of the firings that pass
 * `when`. Both keep one count for the whole machine, however many probes and programs the clause
 * has, and every firing is accounted for: it runs the actions or is counted as passed over.
 *
 * every: n. A word counts all firings; the actions run for the n-th, the 2n-th ... The word alone
 * tells how many were passed over, so that it is the counter of SAMPLED_OUT as well.
 *
 * limit: N in P. A bucket of N tokens that is full at first and gets one each T = P / N ns, rounded
 * up. It is kept as the one number that tells when it will be full again, `full`: a token is there
 * if full <= now + (N - 1) T, and taking it makes that max(full, now) + T (the generic cell rate
 * algorithm, ITU-T I.371). One compare-and-exchange does it. In any span of P this lets 2 N through
 * at the very most, N of them because nothing came for P before; over any longer time N in P.
 *
 * Who loses the exchange tries again with what the winner left. Losing every round means that as
 * many others took tokens within a microsecond: the firing counts as surplus as well.
 */
#include <string.h>

#include "core/compiler/lower.h"

#define ROUNDS 16

static void pass_each(struct weft_lower *lw, uint64_t every)
{
	uint32_t offset;
	weft_vreg word, n;
	int ret;

	ret = weft_plan_sampled(lw->plan, lw->ir.clause, every, &offset, lw->err);
	if (ret) {
		weft_lower_status(lw, ret);
		return;
	}
	word = weft_ir_map_value(&lw->ir, WEFT_PLAN_STATE, offset);
	n = weft_ir_fetch_add(&lw->ir, word, 0, weft_ir_const(&lw->ir, 1));
	n = weft_ir_alu_imm(&lw->ir, BPF_ADD, n, 1);
	n = weft_ir_alu_imm(&lw->ir, BPF_MOD, n, (int64_t)every);
	weft_ir_branch_imm(&lw->ir, BPF_JNE, n, 0, lw->fault_exit);
}

static void pass_limit(struct weft_lower *lw, const struct weft_rate *rate)
{
	struct weft_span outer = lw->ir.span;
	int64_t step = (int64_t)((rate->per_ns + rate->count - 1) / rate->count);
	uint32_t later = weft_ir_label(&lw->ir), limited, offset;
	weft_vreg bucket, now, most, full, start, got;
	struct weft_retry retry;
	int ret;

	lw->ir.span =
		(struct weft_span){.text = &rate->text, .length = (uint32_t)strlen(rate->text.s)};
	ret = weft_plan_bucket(lw->plan, lw->ir.clause, lw->ir.span, &offset, lw->err);
	if (ret) {
		weft_lower_status(lw, ret);
		return;
	}
	limited = weft_lower_loss(lw, WEFT_LOSS_RATE_LIMITED, lw->fault_exit);
	now = lw->timestamp;
	if (!now)
		now = weft_ir_call(&lw->ir, BPF_FUNC_ktime_get_ns, true, NULL, 0);
	most = weft_ir_alu_imm(&lw->ir, BPF_ADD, now, ((int64_t)rate->count - 1) * step);
	bucket = weft_ir_map_value(&lw->ir, WEFT_PLAN_STATE, offset);
	full = weft_ir_variable(&lw->ir);
	start = weft_ir_variable(&lw->ir);
	got = weft_ir_variable(&lw->ir);
	weft_ir_assign(&lw->ir, full, weft_ir_load(&lw->ir, 8, bucket, 0));
	weft_retry_open(lw, &retry, ROUNDS);
	weft_ir_assign(&lw->ir, full, got);
	weft_retry_begin(lw, &retry, limited);
	weft_ir_branch(&lw->ir, BPF_JGT, full, most, limited);
	weft_ir_assign(&lw->ir, start, full);
	weft_ir_branch(&lw->ir, BPF_JGE, full, now, later);
	weft_ir_assign(&lw->ir, start, now);
	weft_ir_place(&lw->ir, later);
	weft_ir_assign(&lw->ir, got,
		       weft_ir_cmpxchg(&lw->ir, bucket, 0, full,
				       weft_ir_alu_imm(&lw->ir, BPF_ADD, start, step)));
	weft_ir_branch(&lw->ir, BPF_JNE, got, full, retry.again);
	lw->ir.span = outer;
}

void weft_lower_limits(struct weft_lower *lw, const struct weft_clause *clause)
{
	lw->ir.span = (struct weft_span){0};
	if (clause->every > 1)
		pass_each(lw, clause->every);
	if (clause->limit.count)
		pass_limit(lw, &clause->limit);
}
