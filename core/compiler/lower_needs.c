/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What has to be known before a group is lowered. The time of a firing is read before the clauses,
 * so whether one of them asks must be known by then. And offsets of kernel structs come from type
 * information that is long, so that it is read only if something needs it, and then once for all
 * that does: the plan collects members, the caller finds them and calls the compiler again.
 */
#include <errno.h>

#include "core/compiler/location.h"
#include "core/compiler/lower.h"

struct needs {
	struct weft_lower *lw;
	bool timed;
	const char *wanted; /* a member that has not been looked for; its text is the plan's */
	bool no_memory;
};

static void want(struct needs *s, const char *path)
{
	const struct weft_kernel_member *m = weft_plan_want_member(s->lw->plan, path);

	if (!m)
		s->no_memory = true;
	else if (m->state == WEFT_MEMBER_WANTED)
		s->wanted = m->path;
}

/* A location that has not been checked yet; what is wrong with it will be said when it is lowered. */
static void look_at_location(struct needs *s, const struct weft_location *l)
{
	for (uint32_t i = 0; l->ops && i < l->n_ops && i < WEFT_LOC_MAX_OPS; i++) {
		const struct weft_loc_op *op = &l->ops[i];

		if (op->op == WEFT_LOC_TIME)
			s->timed = true;
		else if (op->op == WEFT_LOC_MEMBER && weft_location_name(l, op->imm))
			want(s, weft_location_name(l, op->imm));
	}
}

static void look_at_var(struct needs *s, const struct weft_var *var)
{
	if (var->id == WEFT_VAR_TIMESTAMP)
		s->timed = true;
	if (var->id == WEFT_VAR_PPID && !s->lw->plan->pidns_ino)
		for (size_t i = 0; i < 2; i++)
			want(s, weft_ppid_members[i]);
}

static void look_at(struct needs *s, const struct weft_node *n)
{
	const struct weft_probe_info *info = s->lw->group->info;

	if (!n)
		return;
	if (n->kind == WEFT_NODE_VAR)
		look_at_var(s, n->var);
	else if (n->kind == WEFT_NODE_ARG)
		look_at_location(s, &info->args[n->index].where);
	else if (n->kind == WEFT_NODE_RETVAL)
		look_at_location(s, &info->retval);
	for (size_t i = 0; i < 3; i++)
		look_at(s, n->kid[i]);
}

static void look_at_clause(struct needs *s, const struct weft_typed_clause *c)
{
	look_at(s, c->when);
	for (size_t i = 0; i < c->n_actions; i++) {
		const struct weft_typed_action *a = &c->actions[i];
		size_t k;

		look_at(s, a->value);
		for (k = 0; k < a->n_keys; k++)
			look_at(s, a->keys[k].node);
		for (k = 0; k < a->n_fields; k++)
			look_at(s, a->fields[k].node);
	}
}

/* What is evaluated before the clauses. It reads the time where it comes to it. */
static void look_at_info(struct needs *s, const struct weft_probe_info *info)
{
	bool timed = s->timed;

	look_at_location(s, &info->guard);
	for (uint32_t i = 0; i < WEFT_IDENTITY_MAX_KEYS; i++)
		look_at_location(s, &info->identity.key[i]);
	look_at_location(s, &info->pairing.frame);
	look_at_location(s, &info->schedule.due);
	s->timed = timed;
}

int weft_lower_needs(struct weft_lower *lw)
{
	struct needs s = {.lw = lw};

	for (size_t i = 0; i < lw->group->n_clauses; i++)
		look_at_clause(&s, &lw->group->clauses[i]);
	if (lw->group->info)
		look_at_info(&s, lw->group->info);
	lw->timed = s.timed;
	if (s.no_memory)
		return weft_nomem(lw->err);
	if (s.wanted)
		return weft_fail(lw->err, -EAGAIN, "NEEDS_BTF",
				 "the place of %s in this kernel is not known yet", s.wanted);
	return 0;
}
