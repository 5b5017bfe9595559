/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * show, clear and exit. A program counts up a word of STATE; we compare with what we last acted on.
 * Words are read first, with the clock after them, and acted on once every record of up to that
 * time has been delivered: so what a clause emitted before it said `show` comes before the table.
 * Several shows between two looks are one.
 *
 * A clause that shows and then clears does so at once: what is counted between the two would be in
 * no table. So a look must not see one without the other. Words are read from the last to the
 * first, so that whose clear is seen, of that the show is; and a show whose clear has not come yet
 * (its clause is just running, on another CPU) is left for the next look. A clause that ended early
 * between the two never clears: what stays apart for long is accepted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/consumer/internal.h"
#include "core/kernel/clock.h"

static uint64_t word_of(const struct weft_consumer *c, size_t i)
{
	const uint64_t *word = (const uint64_t *)((const uint8_t *)c->env.maps->state +
						  c->env.plan->controls[i].state_offset);

	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static bool exit_requested(const struct weft_consumer *c)
{
	const struct weft_control *control = c->env.maps->state;

	return __atomic_load_n(&control->exit_requested, __ATOMIC_ACQUIRE);
}

static bool changed(const struct weft_captured *k, size_t i)
{
	return k->want[i] != k->done[i];
}

static bool covers(const struct weft_typed_action *action, const char *name)
{
	size_t i;

	for (i = 0; i < action->n_names; i++)
		if (!strcmp(action->names[i], name))
			return true;
	return !action->n_names;
}

static bool is_clear(const struct weft_control_site *site)
{
	return site->action->action->spec->kind == WEFT_ACTION_CLEAR;
}

/* The actions of a clause are an array. */
static bool same_clause(const struct weft_consumer *c, size_t a, size_t b)
{
	const struct weft_set *set = c->env.plan->set;
	const struct weft_action *first = c->env.plan->controls[a].action->action;
	const struct weft_action *second = c->env.plan->controls[b].action->action;
	size_t i;

	for (i = 0; set && i < set->n_clauses; i++) {
		const struct weft_clause *clause = &set->clauses[i];
		const struct weft_action *end = clause->actions + clause->n_actions;

		if (first >= clause->actions && first < end)
			return second >= clause->actions && second < end;
	}
	return false;
}

/* A clear that comes later in the show's clause and clears what it shows; -1: there is none. */
static ssize_t partner_of(const struct weft_consumer *c, size_t show)
{
	const struct weft_plan *plan = c->env.plan;
	size_t i, k;

	if (is_clear(&plan->controls[show]))
		return -1;
	for (i = show + 1; i < plan->n_controls; i++) {
		if (!is_clear(&plan->controls[i]) || !same_clause(c, show, i))
			continue;
		for (k = 0; k < plan->n_aggregations; k++)
			if (covers(plan->controls[show].action, plan->aggregations[k].name) &&
			    covers(plan->controls[i].action, plan->aggregations[k].name))
				return (ssize_t)i;
	}
	return -1;
}

#define APART_NS 200000000u /* longer than a program takes, even where it is preempted */

/* Leaves shows that are still without their clear for the next look. */
static void leave_half(struct weft_consumer *c, bool attached)
{
	struct weft_captured *k = &c->captured;
	uint64_t now = weft_clock_before();
	bool half = false, accept;
	ssize_t partner;
	size_t i;

	accept = !attached || (k->half_since_ns && now - k->half_since_ns > APART_NS);
	for (i = 0; i < k->n; i++) {
		uint64_t apart;

		partner = partner_of(c, i);
		if (partner < 0)
			continue;
		apart = k->want[i] - k->want[partner];
		if (apart != k->apart[i] && !accept) {
			k->want[i] -= apart - k->apart[i];
			half = true;
		} else {
			k->apart[i] = apart;
		}
	}
	if (!half)
		k->half_since_ns = 0;
	else if (!k->half_since_ns)
		k->half_since_ns = now;
}

/* Reads the words, unless what was read before still waits to be acted on. */
int weft_controls_look(struct weft_consumer *c, bool attached)
{
	struct weft_captured *k = &c->captured;
	size_t n = c->env.plan->n_controls, i;

	if (!c->env.maps->state || k->waiting)
		return 0;
	if (n > k->n) {
		size_t n_want = k->n, n_done = k->n, n_apart = k->n;

		if (weft_zero_grow(&k->want, &n_want, n, sizeof(*k->want)) ||
		    weft_zero_grow(&k->apart, &n_apart, n, sizeof(*k->apart)) ||
		    weft_zero_grow(&k->done, &n_done, n, sizeof(*k->done)))
			return -ENOMEM;
		k->n = n;
	}
	k->exit = exit_requested(c);
	k->waiting = k->exit;
	for (i = n; i--;)
		k->want[i] = word_of(c, i);
	leave_half(c, attached);
	for (i = 0; i < n; i++)
		k->waiting |= changed(k, i);
	k->time_ns = weft_clock_before();
	return 0;
}

/* Whether there is something that the last look did not see. */
bool weft_controls_changed(const struct weft_consumer *c)
{
	const struct weft_captured *k = &c->captured;
	size_t i;

	if (!c->env.maps->state)
		return false;
	if (exit_requested(c) != k->exit || c->env.plan->n_controls != k->n)
		return true;
	for (i = 0; i < k->n; i++)
		if (word_of(c, i) != k->want[i])
			return true;
	return false;
}

static bool clear_follows(const struct weft_consumer *c, size_t site, const char *name)
{
	const struct weft_plan *plan = c->env.plan;
	size_t i;

	for (i = site + 1; i < c->captured.n; i++)
		if (changed(&c->captured, i) && is_clear(&plan->controls[i]) &&
		    covers(plan->controls[i].action, name))
			return true;
	return false;
}

static int act_on(struct weft_consumer *c, size_t site, bool attached, struct weft_error *err)
{
	const struct weft_plan *plan = c->env.plan;
	const struct weft_control_site *s = &plan->controls[site];
	struct weft_agg_state *state;
	size_t i;
	int ret = 0;

	for (i = 0; i < plan->n_aggregations && !ret; i++) {
		if (!covers(s->action, plan->aggregations[i].name))
			continue;
		state = weft_agg_state(c, i);
		if (!state)
			return weft_nomem(err);
		state->clear_follows = clear_follows(c, site, plan->aggregations[i].name);
		ret = is_clear(s) ? weft_aggregate_clear(c, i, attached, err)
				  : weft_aggregate_show(c, i, &s->action->view, attached, err);
		state->clear_follows = false;
	}
	return ret;
}

int weft_controls_act(struct weft_consumer *c, bool attached, bool *exiting, struct weft_error *err)
{
	struct weft_captured *k = &c->captured;
	size_t i;
	int ret = 0;

	if (!k->waiting)
		return 0;
	for (i = 0; i < k->n && !ret; i++) {
		if (!changed(k, i))
			continue;
		ret = act_on(c, i, attached, err);
		k->done[i] = k->want[i];
	}
	*exiting |= k->exit;
	k->waiting = false;
	return ret;
}
