/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What was lost, by place. A clause that was compiled for several kinds of probe has its places
 * several times; they are one to the reader. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/consumer/internal.h"

static uint64_t counter(const struct weft_consumer *c, const struct weft_loss_site *site)
{
	const uint64_t *word =
		(const uint64_t *)((const uint8_t *)c->env.maps->state + site->state_offset);

	uint64_t count = __atomic_load_n(word, __ATOMIC_RELAXED);

	/* The word of `every` counts all that came; each n-th of them went on. */
	return site->every ? count - count / site->every : count;
}

static const struct weft_clause *clause_of(const struct weft_set *set, uint32_t index)
{
	size_t i;

	for (i = 0; i < set->n_begin; i++)
		if (set->begin[i].index == index)
			return &set->begin[i];
	for (i = 0; i < set->n_clauses; i++)
		if (set->clauses[i].index == index)
			return &set->clauses[i];
	for (i = 0; i < set->n_end; i++)
		if (set->end[i].index == index)
			return &set->end[i];
	return NULL;
}

/* "set.yaml:12:9: arg0 / arg1"; *out is NULL where there is no place. */
static int place_of(const struct weft_consumer *c, const struct weft_loss_site *site,
		    struct weft_arena *arena, const char **out)
{
	const struct weft_set *set = c->env.plan->set;
	const char *file = set && set->file ? set->file : "";
	const char *colon = *file ? ":" : "";
	const struct weft_clause *clause;
	struct weft_pos pos;

	*out = NULL;
	if (site->span.text) {
		pos = weft_span_pos(site->span);
		*out = weft_arena_printf(arena, "%s%s%u:%u: %.*s", file, colon, pos.line,
					 pos.column, (int)site->span.length,
					 site->span.text->s + site->span.start);
		return *out ? 0 : -ENOMEM;
	}
	clause = set && site->clause != UINT32_MAX ? clause_of(set, site->clause) : NULL;
	if (!clause)
		return 0;
	*out = weft_arena_printf(arena, "%s%s%u:%u", file, colon, clause->pos.line,
				 clause->pos.column);
	return *out ? 0 : -ENOMEM;
}

static bool same_place(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void add(struct weft_loss_report *all, size_t *n, enum weft_loss loss, const char *where,
		uint64_t count)
{
	const struct weft_loss_spec *spec = &weft_losses[loss];
	size_t i;

	for (i = 0; i < *n; i++) {
		if (all[i].tag == spec->tag && same_place(all[i].where, where)) {
			all[i].count += count;
			return;
		}
	}
	all[(*n)++] = (struct weft_loss_report){
		.tag = spec->tag,
		.meaning = spec->meaning,
		.count = count,
		.where = where,
		.remedy = spec->remedy,
		.asked = weft_loss_is_asked_for(loss),
	};
}

int weft_consumer_losses(struct weft_consumer *c, const struct weft_loss_report *extra,
			 size_t n_extra, uint64_t *total)
{
	const struct weft_plan *plan = c->env.plan;
	struct weft_arena *arena = weft_arena_create();
	struct weft_loss_report *all;
	size_t i, n = 0;
	int ret = -ENOMEM;

	*total = 0;
	all = arena ? weft_arena_array(arena, plan->n_losses + c->n_aggs + n_extra + 1, sizeof(*all))
		    : NULL;
	if (!all)
		goto out;
	for (i = 0; i < plan->n_losses && c->env.maps->state; i++) {
		const struct weft_loss_site *site = &plan->losses[i];
		uint64_t count = counter(c, site);
		const char *where;

		if (!count || site->loss >= WEFT_N_LOSSES)
			continue;
		ret = place_of(c, site, arena, &where);
		if (ret)
			goto out;
		add(all, &n, site->loss, where, count);
	}
	for (i = 0; i < c->n_aggs; i++)
		if (c->aggs[i].unsettled)
			add(all, &n, WEFT_LOSS_AGGREGATION_UNSETTLED, plan->aggregations[i].name,
			    c->aggs[i].unsettled);
	for (i = 0; i < n_extra; i++)
		if (extra[i].count)
			all[n++] = extra[i];
	ret = 0;
	for (i = 0; i < n && !ret; i++) {
		if (!all[i].asked)
			*total += all[i].count;
		ret = c->env.sink->loss(c->env.sink->self, &all[i]);
	}
out:
	weft_arena_destroy(arena);
	return ret;
}
