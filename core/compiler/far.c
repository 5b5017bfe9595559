/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Maps beyond what a program can refer to.
 *
 * The kernel lets a program name 64 maps (MAX_USED_MAPS), and every aggregation with keys is one,
 * every array variable another. A program that has more reaches some of them through an array of
 * maps: the array is one map, its elements are as many as are wanted, all of one type with keys and
 * values of one size, and the look-up of an element costs a few instructions. So the clauses of a
 * probe stay one program however many maps they have, with one order, one time, one claim of
 * scratch and one count of what the kernel skipped. Tail calls would have cut the program at
 * clauses; but a sleepable program cannot make one (the verifier refuses the map of programs), a
 * clause may have more than 64 maps by itself, and nothing but the context crosses a tail call.
 *
 * A program is compiled as if it could name all; if it has more than 64, maps of the shape that is
 * most common among them become far until it fits, and it is compiled again. Where a map is in its
 * array is the plan's, and the same for all programs. Elements are put there before anything is
 * attached: only a system call can, no program, and it would make firings of others vanish. So a
 * group that comes while tracing has the far maps of those before it, and no new ones. It would take
 * more than 63 aggregations and arrays that no probe at the start has, in the clauses of one probe.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/compiler/lower.h"
#include "core/kernel/insn.h"

#define MAPS_MOST 64u   /* MAX_USED_MAPS of the kernel's include/linux/bpf_verifier.h */
#define SLOTS     1024u /* of an array of maps: 8 KiB */

/* ---- which maps a program refers to ---- */

static bool refers(const struct bpf_insn *insn)
{
	return INSN_IS_LD_IMM64(insn) &&
	       (insn->src_reg == BPF_PSEUDO_MAP_FD || insn->src_reg == BPF_PSEUDO_MAP_VALUE);
}

/* Marks the maps; returns how many. */
static uint32_t mark_used(const struct weft_program *prog, bool *used)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < prog->n_insns; i++) {
		const struct bpf_insn *insn = &prog->insns[i];

		if (refers(insn) && !used[insn->imm]) {
			used[insn->imm] = true;
			n++;
		}
		i += INSN_IS_LD_IMM64(insn);
	}
	return n;
}

/* ---- which become far ---- */

static bool may_be_far(const struct weft_map_spec *m)
{
	return m->role == WEFT_MAP_AGG || m->role == WEFT_MAP_ARRAY;
}

static bool same_shape(const struct weft_map_spec *a, const struct weft_map_spec *b)
{
	return a->type == b->type && a->key_size == b->key_size && a->value_size == b->value_size &&
	       a->flags == b->flags;
}

/* The map whose shape most of the used ones have, and how many those are. */
static size_t most_common(const struct weft_lower *lw, const bool *used, uint32_t *count)
{
	const struct weft_map_spec *maps = lw->plan->maps;
	size_t best = 0;

	*count = 0;
	for (size_t i = 0; i < lw->n_far; i++) {
		uint32_t n = 0;

		if (!used[i] || !may_be_far(&maps[i]))
			continue;
		for (size_t k = i; k < lw->n_far; k++)
			n += used[k] && may_be_far(&maps[k]) && same_shape(&maps[i], &maps[k]);
		if (n > *count) {
			*count = n;
			best = i;
		}
	}
	return best;
}

/* The array of maps of that shape that has room, made if there is none. */
static int array_for(struct weft_plan *plan, size_t map, uint32_t *index, struct weft_error *err)
{
	struct weft_map_spec spec = {.role = WEFT_MAP_MAPS,
				     .type = BPF_MAP_TYPE_ARRAY_OF_MAPS,
				     .key_size = 4,
				     .value_size = 4,
				     .max_entries = SLOTS,
				     .inner = (uint32_t)map,
				     .extern_fd = -1};

	for (size_t i = WEFT_PLAN_FIRST_FREE; i < plan->n_maps; i++) {
		const struct weft_map_spec *m = &plan->maps[i];

		if (m->role == WEFT_MAP_MAPS && m->n_inner < SLOTS &&
		    same_shape(&plan->maps[m->inner], &plan->maps[map])) {
			*index = (uint32_t)i;
			return 0;
		}
	}
	snprintf(spec.name, sizeof(spec.name), "weft_maps%zu", plan->n_maps);
	return weft_plan_map(plan, &spec, index, err);
}

static int make_far(struct weft_lower *lw, size_t map)
{
	struct weft_plan *plan = lw->plan;
	uint32_t outer = plan->maps[map].outer;
	int ret;

	lw->far[map] = true;
	if (outer)
		return 0;
	if (weft_plan_is_created(plan))
		return weft_fail_at(
			lw->err, lw->group->clauses[0].clause->pos, -E2BIG, "CLAUSE_TOO_LARGE",
			"the clauses of a probe that appeared while tracing use more maps "
			"than the %u that the kernel gives a program, and further ones "
			"cannot be made reachable once probes are attached: put clauses into "
			"probe sets of their own, or begin when the probe is there",
			MAPS_MOST);
	ret = array_for(plan, map, &outer, lw->err);
	if (ret)
		return ret;
	plan->maps[map].outer = outer;
	plan->maps[map].slot = plan->maps[outer].n_inner++;
	return 0;
}

static int too_many(struct weft_lower *lw, uint32_t n)
{
	return weft_fail_at(lw->err, lw->group->clauses[0].clause->pos, -E2BIG, "CLAUSE_TOO_LARGE",
			    "the clauses of this probe use %u maps that cannot share, one for each "
			    "aggregation with keys of a size of its own and some besides; the kernel "
			    "gives a program %u: put clauses into probe sets of their own",
			    n, MAPS_MOST);
}

/* Makes maps of one shape far, the last first, until n is no more than 64 or none is left. */
static int make_shape_far(struct weft_lower *lw, size_t like, bool *used, uint32_t *n)
{
	bool first = true;
	int ret = 0;

	for (size_t i = lw->n_far; i-- > like && !ret && (first || *n > MAPS_MOST);) {
		if (!used[i] || !may_be_far(&lw->plan->maps[i]) ||
		    !same_shape(&lw->plan->maps[i], &lw->plan->maps[like]))
			continue;
		used[i] = false;
		*n -= !first; /* the first is replaced by the array */
		first = false;
		ret = make_far(lw, i);
	}
	return ret;
}

int weft_lower_spread(struct weft_lower *lw, bool *again)
{
	size_t n_maps = lw->plan->n_maps;
	uint32_t n, alike;
	size_t like;
	bool *used;
	int ret = 0;

	if (n_maps <= MAPS_MOST)
		return 0;
	used = weft_arena_array(lw->plan->arena, n_maps, sizeof(*used));
	if (!used)
		return weft_nomem(lw->err);
	n = mark_used(lw->program, used);
	if (n <= MAPS_MOST)
		return 0;
	if (lw->far || !lw->group->n_clauses)
		return too_many(lw, n);
	lw->far = weft_arena_array(lw->plan->arena, n_maps, sizeof(*lw->far));
	if (!lw->far)
		return weft_nomem(lw->err);
	lw->n_far = n_maps;
	while (!ret && n > MAPS_MOST) {
		like = most_common(lw, used, &alike);
		if (alike < 2)
			return too_many(lw, n);
		ret = make_shape_far(lw, like, used, &n);
	}
	*again = true;
	return ret;
}

/* ---- reaching one ---- */

struct weft_ir_arg weft_lower_map(struct weft_lower *lw, int32_t map, enum weft_loss loss,
				  uint32_t resume)
{
	const struct weft_map_spec *m = &lw->plan->maps[map];
	struct weft_place slot;
	weft_vreg row;
	uint32_t mark = lw->frame_used;

	if ((size_t)map >= lw->n_far || !lw->far[map])
		return WEFT_A_MAP(map);
	slot = weft_lower_frame(lw, 8);
	weft_lower_store_imm(lw, slot, 4, m->slot);
	row = WEFT_CALL(&lw->ir, BPF_FUNC_map_lookup_elem, WEFT_A_MAP(m->outer),
			WEFT_A_FP(slot.off));
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, row, 0,
			   resume ? weft_lower_loss(lw, loss, resume) : weft_lower_fault(lw, loss));
	lw->frame_used = mark;
	return WEFT_A(row);
}
