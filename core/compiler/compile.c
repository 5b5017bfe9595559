/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* From a group of clauses to a program: lowering, cleaning, registers, instructions. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/compiler/emit.h"
#include "core/compiler/explain.h"
#include "core/compiler/lower.h"

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
	if (!lw->exits_early || !lw->group->info)
		weft_ir_place(&lw->ir, lw->end);
	weft_ir_exit(&lw->ir);
}

static int too_large(struct weft_lower *lw, uint32_t clause, const char *why, uint32_t n,
		     uint32_t most)
{
	const struct weft_group *g = lw->group;
	struct weft_pos pos = {0};

	for (size_t i = g->n_clauses; i--;) {
		pos = g->clauses[i].clause->pos; /* the first, where it is none's */
		if (g->clauses[i].clause->index == clause)
			break;
	}
	return weft_fail_at(lw->err, pos, -E2BIG, "CLAUSE_TOO_LARGE", why, n, most);
}

static uint32_t insns_of(const struct weft_program *prog, uint32_t clause)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < prog->n_insns; i++)
		n += prog->clause_of[i] == clause;
	return n;
}

/*
 * Values that are in use at the same time share the BPF stack. Where they do not fit, the program
 * is made once more and frugal: fields of a record and variables of the clause wait in scratch, in
 * clauses that would not have needed any. What is still too much is a single expression.
 *
 * Values of one clause are no other's: the one that has too many of them has so alone as well. */
static int too_many_values(struct weft_lower *lw, uint32_t bytes)
{
	struct weft_group alone = *lw->group;
	struct weft_program unused;
	int ret = 0;

	alone.n_clauses = 1;
	for (size_t i = 0; lw->group->n_clauses > 1 && i < lw->group->n_clauses && !ret; i++) {
		alone.clauses = &lw->group->clauses[i];
		ret = weft_compile_group(lw->plan, &alone, &unused, lw->err);
	}
	return ret ? ret
		   : too_large(lw, UINT32_MAX,
			       "the clause keeps too many values at a time: %u bytes of the "
			       "program's %u; split it or simplify its expressions",
			       bytes, WEFT_BPF_STACK);
}

/* What comes before the clauses jumps to the end: it gets one of its own, where it has not yet. */
static int too_far(struct weft_lower *lw, uint32_t clause, bool *again)
{
	if (clause == UINT32_MAX && !lw->exits_early) {
		lw->exits_early = *again = true;
		return 0;
	}
	return too_large(lw, clause,
			 "the clause makes %u instructions, and a jump spans no more than %u: split "
			 "it into clauses of one probe",
			 insns_of(lw->program, clause), INT16_MAX);
}

/* From what lowering made to instructions. */
static int finish(struct weft_lower *lw, bool *again)
{
	struct weft_allocation regs;
	uint32_t clause = UINT32_MAX;
	int ret;

	ret = weft_ir_clean(&lw->ir);
	if (!ret)
		ret = weft_ir_narrow(&lw->ir);
	if (ret)
		return weft_nomem(lw->err);
	ret = weft_regalloc(&lw->ir, &regs);
	if (ret == -E2BIG && !lw->frugal) {
		lw->frugal = *again = true;
		return 0;
	}
	if (ret == -E2BIG)
		return too_many_values(lw, regs.stack_bytes);
	if (!ret && lw->plan->keep_listing)
		ret = weft_explain_keep(lw->plan, lw->group, &lw->ir, lw->program);
	if (ret) {
		weft_allocation_finish(&regs);
		return weft_nomem(lw->err);
	}
	ret = weft_emit(&lw->ir, &regs, lw->plan->arena, lw->program, &clause);
	weft_allocation_finish(&regs);
	if (ret == -E2BIG)
		return too_far(lw, clause, again);
	return ret ? weft_nomem(lw->err) : 0;
}

/* Again: with what was learnt. */
static int compile_once(struct weft_lower *lw, bool *again)
{
	int ret = weft_ir_init(&lw->ir);

	if (!ret)
		lower_group(lw);
	ret = lw->status ? lw->status : lw->ir.status ? weft_nomem(lw->err) : finish(lw, again);
	weft_ir_finish(&lw->ir);
	free(lw->cold);
	if (!ret && !*again)
		ret = weft_lower_spread(lw, again);
	if (!ret && !*again)
		ret = weft_lower_burden(lw, again);
	return ret;
}

int weft_compile_group(struct weft_plan *plan, const struct weft_group *group,
		       struct weft_program *out, struct weft_error *err)
{
	struct weft_lower lw = {.plan = plan, .group = group, .program = out, .err = err}, first;
	bool again = false;
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
	first = lw;
	do {
		again = false;
		ret = compile_once(&lw, &again);
		/* Again with what this time has told. */
		first.far = lw.far;
		first.n_far = lw.n_far;
		first.passages = lw.passages;
		first.exits_early = lw.exits_early;
		first.frugal = lw.frugal;
		lw = first;
	} while (!ret && again);
	return ret;
}
