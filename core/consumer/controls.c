/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * show, clear and exit. A program counts up a word of STATE; we compare with what we last acted on.
 * Words are read first, with the clock after them, and acted on once every record of up to that
 * time has been delivered: so what a clause emitted before it said `show` comes before the table.
 * Several shows between two looks are one.
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

/* Reads the words, unless what was read before still waits to be acted on. */
int weft_controls_look(struct weft_consumer *c)
{
	struct weft_captured *k = &c->captured;
	size_t n = c->env.plan->n_controls, i;

	if (!c->env.maps->state || k->waiting)
		return 0;
	if (n > k->n) {
		size_t n_want = k->n, n_done = k->n;

		if (weft_zero_grow(&k->want, &n_want, n, sizeof(*k->want)) ||
		    weft_zero_grow(&k->done, &n_done, n, sizeof(*k->done)))
			return -ENOMEM;
		k->n = n;
	}
	k->exit = exit_requested(c);
	k->waiting = k->exit;
	for (i = 0; i < n; i++) {
		k->want[i] = word_of(c, i);
		k->waiting |= changed(k, i);
	}
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
