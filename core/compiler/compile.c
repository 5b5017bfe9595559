/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* From a group of clauses to a program: lowering, cleaning, registers, instructions. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/compiler/emit.h"
#include "core/compiler/explain.h"
#include "core/compiler/lower.h"
#include "core/kernel/insn.h"

/* A begin or end list runs as a raw tracepoint program that is attached nowhere. */
static const struct weft_load_class list_class = {
	.struct_size = sizeof(struct weft_load_class),
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.ctx_kind = WEFT_CTX_WORDS,
};

static void name_program(const struct weft_plan *plan, const struct weft_group *g,
			 struct weft_program *out)
{
	const struct weft_clause *first = g->n_clauses ? g->clauses[0].clause : NULL;

	if (!first)
		snprintf(out->name, sizeof(out->name), "weft_entry");
	else if (!g->info)
		snprintf(out->name, sizeof(out->name), "weft_%s",
			 plan->set->n_end && first == plan->set->end ? "end" : "begin");
	else
		snprintf(out->name, sizeof(out->name), "weft_clause%u", first->index);
}

static void lower_group(struct weft_lower *lw)
{
	lw->end = weft_ir_label(&lw->ir);
	weft_lower_prologue(lw);
	for (size_t i = 0; i < lw->group->n_clauses && !lw->status; i++)
		weft_lower_clause(lw, &lw->group->clauses[i]);
	weft_ir_place(&lw->ir, lw->end);
	weft_ir_exit(&lw->ir);
}

static int too_large(struct weft_lower *lw, const char *why, uint32_t bytes, uint32_t most)
{
	struct weft_pos pos = {0};

	if (lw->group->n_clauses)
		pos = lw->group->clauses[0].clause->pos;
	return weft_fail_at(lw->err, pos, -E2BIG, "CLAUSE_TOO_LARGE", why, bytes, most);
}

#define MAPS_MOST 64u /* MAX_USED_MAPS of the kernel's include/linux/bpf_verifier.h */

/* How many maps a program refers to. */
static uint32_t count_maps(const struct weft_program *prog, size_t n_maps)
{
	uint32_t n = 0;

	for (size_t map = 0; map < n_maps; map++)
		for (uint32_t i = 0; i < prog->n_insns; i++) {
			const struct bpf_insn *insn = &prog->insns[i];

			if (!INSN_IS_LD_IMM64(insn))
				continue;
			if ((insn->src_reg == BPF_PSEUDO_MAP_FD ||
			     insn->src_reg == BPF_PSEUDO_MAP_VALUE) &&
			    insn->imm == (int32_t)map) {
				n++;
				break;
			}
			i++;
		}
	return n;
}

static int check_maps(struct weft_lower *lw)
{
	uint32_t n = lw->plan->n_maps > MAPS_MOST ? count_maps(lw->program, lw->plan->n_maps) : 0;

	if (n <= MAPS_MOST)
		return 0;
	return too_large(lw,
			 "the clauses of this probe use %u maps, one for each aggregation with keys "
			 "and some besides; the kernel gives a program %u: put clauses into "
			 "probe sets of their own",
			 n, MAPS_MOST);
}

static int finish(struct weft_lower *lw)
{
	struct weft_allocation regs;
	int ret;

	ret = weft_ir_clean(&lw->ir);
	if (!ret)
		ret = weft_ir_narrow(&lw->ir);
	if (ret)
		return weft_nomem(lw->err);
	if (lw->plan->keep_listing) {
		ret = weft_explain_listing(lw->plan, lw->group, &lw->ir, &lw->program->listing);
		if (ret)
			return weft_nomem(lw->err);
	}
	ret = weft_regalloc(&lw->ir, &regs);
	if (ret == -E2BIG)
		return too_large(lw,
				 "the clauses of this probe keep too many values at a time: %u bytes "
				 "of the program's %u; split them or simplify their expressions",
				 regs.stack_bytes, WEFT_BPF_STACK);
	if (ret)
		return weft_nomem(lw->err);
	ret = weft_emit(&lw->ir, &regs, lw->plan->arena, lw->program);
	weft_allocation_finish(&regs);
	if (ret == -E2BIG)
		return too_large(lw,
				 "the clauses of this probe make %u instructions; a jump spans %u "
				 "at most: split them",
				 lw->program->n_insns, INT16_MAX);
	return ret ? weft_nomem(lw->err) : check_maps(lw);
}

int weft_compile_group(struct weft_plan *plan, const struct weft_group *group,
		       struct weft_program *out, struct weft_error *err)
{
	struct weft_lower lw = {.plan = plan, .group = group, .program = out, .err = err};
	int ret;

	*out = (struct weft_program){.dispatch_map = -1, .places_map = -1};
	lw.load = group->info ? &group->info->load : &list_class;
	out->load = *lw.load;
	/* Sleeping is for programs that need it; lowering sets it again where one does. */
	out->load.flags &= ~WEFT_LOAD_SLEEPABLE;
	name_program(plan, group, out);
	ret = weft_lower_needs(&lw);
	if (ret)
		return ret;
	ret = weft_ir_init(&lw.ir);
	if (!ret)
		lower_group(&lw);
	ret = lw.status ? lw.status : lw.ir.status ? weft_nomem(err) : finish(&lw);
	weft_ir_finish(&lw.ir);
	free(lw.cold);
	return ret;
}
