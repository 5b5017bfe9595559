/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Probes that fire by the clock (struct weft_schedule): of each firing, the time that it was due at
 * is kept for its CPU, and what came due since the one before without firing is counted.
 *
 * Two due times of one timer differ by a multiple of the period, exactly. Where they do not, it is
 * another timer: the CPU was away, the provider made the event anew, and nothing was due between.
 * What lies before the first firing and behind the last is the session's to count (session/schedule.c).
 *
 * The words of a CPU need no atomic instructions: firings of one timer do not interrupt each other.
 */
#include "core/compiler/location.h"
#include "core/compiler/lower.h"

/* A kernel without the members that tell: better no count than no probe. */
static bool is_known(const struct weft_lower *lw, const struct weft_location *due)
{
	for (uint32_t i = 0; i < due->n_ops; i++) {
		const char *name = due->ops[i].op == WEFT_LOC_MEMBER
					   ? weft_location_name(due, due->ops[i].imm)
					   : "";

		if (name && *name && !weft_plan_known_member(lw->plan, name))
			return false;
	}
	return true;
}

static void count_skipped(struct weft_lower *lw, weft_vreg slot, weft_vreg gap, weft_vreg period,
			  uint32_t done)
{
	weft_vreg n;

	weft_ir_branch_imm(&lw->ir, BPF_JSLE, gap, 0, done);
	weft_ir_branch_imm(&lw->ir, BPF_JNE, weft_ir_alu(&lw->ir, BPF_MOD, gap, period), 0, done);
	n = weft_ir_alu_imm(&lw->ir, BPF_SUB, weft_ir_alu(&lw->ir, BPF_DIV, gap, period), 1);
	n = weft_ir_alu(&lw->ir, BPF_ADD, n, weft_ir_load(&lw->ir, 8, slot, WEFT_SCHEDULE_MISSED));
	weft_ir_store(&lw->ir, 8, slot, WEFT_SCHEDULE_MISSED, n);
}

void weft_lower_schedule(struct weft_lower *lw)
{
	const struct weft_schedule *schedule = &lw->group->info->schedule;
	uint32_t outer = lw->fault_exit, done = weft_ir_label(&lw->ir), ready;
	struct weft_schedule_site *site;
	weft_vreg values[2], slot, last, period, gap;
	unsigned n;
	int ret;

	if (!is_known(lw, &schedule->due))
		return;
	ret = weft_plan_schedule(lw->plan, lw->group->probes[0].cookie, schedule->period_ns, &site,
				 lw->err);
	if (ret) {
		weft_lower_status(lw, ret);
		return;
	}
	lw->fault_exit = done;
	lw->quiet = true;
	slot = weft_lower_slot(lw, site->state_offset);
	weft_lower_location(lw, &schedule->due, 1, 1, "the time at which a firing is due", values,
			    &n);
	last = weft_ir_load(&lw->ir, 8, slot, WEFT_SCHEDULE_LAST);
	weft_ir_store(&lw->ir, 8, slot, WEFT_SCHEDULE_LAST, values[0]);
	ready = weft_ir_label(&lw->ir);
	weft_ir_branch_imm(&lw->ir, BPF_JNE, last, 0, ready);
	weft_ir_store(&lw->ir, 8, slot, WEFT_SCHEDULE_FIRST, values[0]);
	weft_ir_jump(&lw->ir, done);
	weft_ir_place(&lw->ir, ready);
	period = weft_ir_const(&lw->ir, (int64_t)schedule->period_ns);
	gap = weft_ir_alu(&lw->ir, BPF_SUB, values[0], last);
	weft_ir_branch(&lw->ir, BPF_JEQ, gap, period, done);
	count_skipped(lw, slot, gap, period, done);
	weft_ir_place(&lw->ir, done);
	lw->quiet = false;
	lw->fault_exit = outer;
}
