/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Gangs: enablings that one program serves. */
#include <errno.h>
#include <stdlib.h>

#include "core/session/compile.h"

static bool alone(const struct weft_class *class)
{
	return class->info.identity.kind == WEFT_IDENTITY_CONST ||
	       class->info.load.flags & WEFT_LOAD_ONE_PER_PROBE ||
	       class->info.schedule.period_ns; /* what was due last is kept for one probe */
}

/*
 * A loaded program can take a probe more if nothing in it was decided by the probes that it had:
 * comparisons of probe fields are decided when compiling where all agree, so a newcomer must agree
 * as well, and the elements of a dispatch map are written before its program is loaded.
 */
static bool takes_more(struct weft_session *s, const struct weft_gang *g,
		       const struct weft_enabling *e)
{
	const struct weft_probe *first = s->enablings[g->members[0]].probe;

	if (g->dropped)
		return false;
	if (!g->closed)
		return true;
	if (g->class->info.identity.kind == WEFT_IDENTITY_FIELD || g->shape)
		return false;
	return !((weft_plan_probe_bits(s->plan, e->probe) ^ weft_plan_probe_bits(s->plan, first)) &
		 g->program.decided_bits);
}

const struct weft_enabling *weft_entry_of(const struct weft_session *s,
					  const struct weft_enabling *e)
{
	return e->entry ? &s->enablings[e->entry - 1] : e;
}

static uint64_t capture_of(const struct weft_session *s, const struct weft_enabling *e)
{
	return weft_entry_of(s, e)->capture;
}

/*
 * Probes that differ only in what their clauses do not ask for are served by one program: they have
 * one view. Where there are too many views that differ only in where the arguments lie, that is in
 * one shape, what comes beyond is served by a program that looks the places up.
 */
#define WEFT_MOST_VIEWS 8u

static bool scatters(const struct weft_enabling *e)
{
	return e->shape && e->shape->kinds > WEFT_MOST_VIEWS;
}

static bool belongs(const struct weft_session *s, const struct weft_gang *g,
		    const struct weft_enabling *e)
{
	if (g->shape ? !scatters(e) || g->shape != e->shape : g->view != e->view)
		return false;
	return g->list == e->list && g->pairing_entry == e->pairing_entry &&
	       g->capture == capture_of(s, e) && g->entry_class == weft_entry_class(s, e, e->list);
}

/* Whether the places of these arguments can be looked up. */
static bool can_scatter(const struct weft_enabling *e, uint64_t args)
{
	const struct weft_probe_info *info = &e->class->info;
	uint32_t i;

	if (info->identity.kind != WEFT_IDENTITY_COOKIE || info->load.ctx_kind != WEFT_CTX_REGS ||
	    info->pairing.role != WEFT_PAIRING_NONE || !args)
		return false;
	for (i = 0; i < info->n_args; i++)
		if (args >> i & 1 && !weft_places_fit(&info->args[i].where, &info->args[i].type))
			return false;
	return true;
}

static int find_view(struct weft_session *s, struct weft_enabling *e, struct weft_error *err)
{
	struct weft_needs needs = {0};
	bool made, ignored;
	int ret;

	ret = weft_typed_list(s, e->list, e, NULL, &needs, err);
	if (!ret)
		ret = weft_class_view(s, e->class, e->list, needs.args | e->capture, true, &e->view,
				      &made, err);
	e->shape = NULL;
	if (ret || !can_scatter(e, needs.args))
		return ret;
	ret = weft_class_view(s, e->class, e->list, needs.args, false, &e->shape, &ignored, err);
	if (!ret && made)
		e->shape->kinds++;
	return ret;
}

static struct weft_gang *find_gang(struct weft_session *s, const struct weft_enabling *e)
{
	size_t i = s->n_gangs;

	if (alone(e->class))
		return NULL;
	while (i--) {
		struct weft_gang *g = s->gangs[i];

		if (belongs(s, g, e) && takes_more(s, g, e))
			return g;
	}
	return NULL;
}

int weft_session_gang_all(struct weft_session *s, struct weft_error *err)
{
	struct weft_gang *last = NULL, *g;
	size_t i;
	int ret;

	/* All views are known before any program is begun: their number decides. */
	for (i = 0; i < s->n_enablings; i++) {
		if (s->enablings[i].grouped)
			continue;
		ret = find_view(s, &s->enablings[i], err);
		if (ret)
			return ret;
	}
	for (i = 0; i < s->n_enablings; i++) {
		struct weft_enabling *e = &s->enablings[i];

		if (e->grouped)
			continue;
		/* Neighbours are mostly alike. */
		if (last && !alone(e->class) && !last->closed && belongs(s, last, e))
			g = last;
		else
			g = find_gang(s, e);
		if (!g) {
			if (weft_grow(&s->gangs, &s->cap_gangs, s->n_gangs,
				      sizeof(struct weft_gang *)))
				return weft_nomem(err);
			g = calloc(1, sizeof(*g));
			if (!g)
				return weft_nomem(err);
			g->provider = e->class->provider;
			g->class = e->class;
			g->view = e->view;
			g->shape = scatters(e) ? e->shape : NULL;
			g->list = e->list;
			g->pairing_entry = e->pairing_entry;
			g->capture = capture_of(s, e);
			g->entry_class = weft_entry_class(s, e, e->list);
			g->fd = -1;
			s->gangs[s->n_gangs++] = g;
		}
		if (weft_grow(&g->members, &g->cap_members, g->n_members, sizeof(*g->members)))
			return weft_nomem(err);
		g->members[g->n_members++] = (uint32_t)i;
		e->grouped = true;
		last = g;
	}
	return 0;
}

void weft_gang_destroy(struct weft_gang *g)
{
	if (!g)
		return;
	if (g->fd >= 0)
		close(g->fd);
	free(g->members);
	free(g);
}
