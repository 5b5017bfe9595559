/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What an instruction reads and does, and the cleaning of the list: jumps to jumps go to their end,
 * code that cannot be reached is dropped (the verifier refuses a program that has any), and so is
 * what computes a value nobody uses, and the move of a value that was made for it alone.
 */
#include "core/compiler/ir.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>

size_t weft_ir_uses(const struct weft_ir *ir, const struct weft_ir_insn *insn,
		    weft_vreg *uses[WEFT_IR_MAX_USES])
{
	const weft_vreg *fixed[3] = {&insn->a, &insn->b, &insn->c};
	size_t n = 0, i;

	for (i = 0; i < 3; i++)
		if (*fixed[i] > WEFT_FP)
			uses[n++] = (weft_vreg *)fixed[i];
	for (i = 0; i < insn->n_args; i++) {
		struct weft_ir_arg *arg = &ir->args[insn->args + i];

		if (arg->kind == WEFT_ARG_VREG && n < WEFT_IR_MAX_USES)
			uses[n++] = &arg->vreg;
	}
	return n;
}

bool weft_ir_is_jump(const struct weft_ir_insn *insn)
{
	return insn->op == WEFT_IR_JUMP || insn->op == WEFT_IR_BRANCH;
}

bool weft_ir_ends(const struct weft_ir_insn *insn)
{
	return insn->op == WEFT_IR_JUMP || insn->op == WEFT_IR_EXIT;
}

bool weft_ir_is_pure(const struct weft_ir_insn *insn)
{
	switch (insn->op) {
	case WEFT_IR_CONTEXT:
	case WEFT_IR_CONST:
	case WEFT_IR_MAP_VALUE:
	case WEFT_IR_MOVE:
	case WEFT_IR_ALU:
	case WEFT_IR_NEG:
	case WEFT_IR_SWAP:
	case WEFT_IR_LOW32:
	case WEFT_IR_SET:
	case WEFT_IR_LOAD:
		return true;
	default:
		return false;
	}
}

struct cleaner {
	struct weft_ir *ir;
	uint32_t *place; /* by label: index of its instruction */
	bool *reached;   /* by instruction */
	uint32_t *pending;
	uint32_t *users; /* by register */
};

/* Where a jump to the label ends up, jumps on the way followed. */
static uint32_t destination(const struct cleaner *c, uint32_t label)
{
	for (unsigned hops = 0; hops < 16; hops++) {
		size_t i = c->place[label];

		while (i < c->ir->n_insns && c->ir->insns[i].op == WEFT_IR_LABEL)
			i++;
		if (i == c->ir->n_insns || c->ir->insns[i].op != WEFT_IR_JUMP)
			break;
		label = c->ir->insns[i].label;
	}
	return label;
}

static void reach(struct cleaner *c)
{
	struct weft_ir *ir = c->ir;
	size_t n_pending = 0;
	uint32_t i = 0;

	for (;;) {
		while (i < ir->n_insns && !c->reached[i]) {
			struct weft_ir_insn *insn = &ir->insns[i];

			c->reached[i] = true;
			if (weft_ir_is_jump(insn)) {
				insn->label = destination(c, insn->label);
				c->pending[n_pending++] = c->place[insn->label];
			}
			if (weft_ir_ends(insn))
				break;
			i++;
		}
		if (!n_pending)
			break;
		i = c->pending[--n_pending];
	}
}

static void count_users(struct cleaner *c)
{
	weft_vreg *uses[WEFT_IR_MAX_USES];

	for (size_t i = 0; i < c->ir->n_insns; i++) {
		if (!c->reached[i])
			continue;
		for (size_t n = weft_ir_uses(c->ir, &c->ir->insns[i], uses); n--;)
			c->users[*uses[n]]++;
	}
}

/* Helpers that do nothing but tell. */
static bool only_tells(int64_t helper)
{
	switch (helper) {
	case BPF_FUNC_get_attach_cookie:
	case BPF_FUNC_get_current_pid_tgid:
	case BPF_FUNC_get_current_uid_gid:
	case BPF_FUNC_get_current_task:
	case BPF_FUNC_get_current_cgroup_id:
	case BPF_FUNC_get_smp_processor_id:
	case BPF_FUNC_ktime_get_ns:
		return true;
	default:
		return false;
	}
}

/* Backwards, so that what only fed a dropped instruction is dropped as well. */
static void drop_unused(struct cleaner *c)
{
	weft_vreg *uses[WEFT_IR_MAX_USES];

	for (size_t i = c->ir->n_insns; i--;) {
		struct weft_ir_insn *insn = &c->ir->insns[i];

		if (!c->reached[i] || !insn->dst || c->users[insn->dst])
			continue;
		if (insn->op == WEFT_IR_CALL && !only_tells(insn->imm)) {
			insn->dst = WEFT_NO_VREG;
			continue;
		}
		if (insn->op != WEFT_IR_CALL && !weft_ir_is_pure(insn))
			continue;
		c->reached[i] = false;
		for (size_t n = weft_ir_uses(c->ir, insn, uses); n--;)
			c->users[*uses[n]]--;
	}
}

/* t = ...; v = t, and nobody else wants t: v = ... An operation that reads v keeps its own result,
 * since it would be written too early. */
static void join_move(struct cleaner *c, struct weft_ir_insn *made, size_t move)
{
	weft_vreg t = made->dst, v = c->ir->insns[move].dst, *uses[WEFT_IR_MAX_USES];

	if (c->ir->insns[move].op != WEFT_IR_MOVE || !t || c->ir->insns[move].a != t ||
	    c->users[t] != 1 || c->ir->vregs[t].is_variable || c->ir->vregs[t].pinned)
		return;
	for (size_t n = weft_ir_uses(c->ir, made, uses); n--;)
		if (*uses[n] == v)
			return;
	made->dst = v;
	c->reached[move] = false;
}

static void join_moves(struct cleaner *c)
{
	struct weft_ir_insn *last = NULL;

	for (size_t i = 0; i < c->ir->n_insns; i++) {
		if (!c->reached[i])
			continue;
		if (last)
			join_move(c, last, i);
		if (c->reached[i])
			last = &c->ir->insns[i];
	}
}

int weft_ir_clean(struct weft_ir *ir)
{
	struct cleaner c = {.ir = ir};
	int ret = -ENOMEM;
	size_t i, n = 0;

	if (ir->status)
		return ir->status;
	c.place = calloc(ir->n_labels + 1, sizeof(*c.place));
	c.reached = calloc(ir->n_insns + 1, sizeof(*c.reached));
	c.pending = calloc(ir->n_insns + 1, sizeof(*c.pending));
	c.users = calloc(ir->n_vregs, sizeof(*c.users));
	if (!c.place || !c.reached || !c.pending || !c.users)
		goto out;
	for (i = 0; i < ir->n_insns; i++)
		if (ir->insns[i].op == WEFT_IR_LABEL)
			c.place[ir->insns[i].label] = (uint32_t)i;
	reach(&c);
	count_users(&c);
	drop_unused(&c);
	join_moves(&c);
	for (i = 0; i < ir->n_insns; i++)
		if (c.reached[i])
			ir->insns[n++] = ir->insns[i];
	ir->n_insns = n;
	ret = 0;
out:
	free(c.place);
	free(c.reached);
	free(c.pending);
	free(c.users);
	return ret;
}
