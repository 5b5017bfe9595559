/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Aggregations by name: which action fills one, and whether a wish about showing it suits that. */
#include "core/lang/clause.h"

#include <stdlib.h>
#include <string.h>

struct names {
	const char **names;
	size_t n, cap;
	const struct weft_action *found;
};

/* Looks for the name, gathering those that pass by. */
static int look_in(struct names *out, const char *name, const struct weft_clause *clauses, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < clauses[i].n_actions; j++) {
			const struct weft_action *a = &clauses[i].actions[j];

			if (a->spec->group != WEFT_GROUP_AGGREGATION)
				continue;
			for (size_t k = 0; k < a->n_items; k++) {
				if (a->items[k].field->shape != WEFT_SHAPE_NAME ||
				    !a->items[k].text.s)
					continue;
				if (!strcmp(a->items[k].text.s, name)) {
					out->found = a;
					return 0;
				}
				if (weft_grow(&out->names, &out->cap, out->n, sizeof(*out->names)))
					return -ENOMEM;
				out->names[out->n++] = a->items[k].text.s;
			}
		}
	return 0;
}

int weft_find_filler(const struct weft_set *set, const struct weft_text *name,
		     const struct weft_action **out, struct weft_error *err)
{
	struct weft_span span = {name, 0, 0};
	struct names known = {0};
	const char *near;
	int rc = look_in(&known, name->s, set->begin, set->n_begin);

	if (!rc && !known.found)
		rc = look_in(&known, name->s, set->clauses, set->n_clauses);
	if (!rc && !known.found)
		rc = look_in(&known, name->s, set->end, set->n_end);
	if (rc) {
		weft_nomem(err);
	} else if (!known.found) {
		rc = weft_fail_at(err, weft_span_pos(span), -EINVAL, "AGGREGATION_UNKNOWN",
				  "no action of the set fills an aggregation `%.80s`", name->s);
		near = known.n ? weft_nearest(name->s, known.names, known.n) : NULL;
		if (near)
			weft_error_suggest(err, near);
	}
	free((void *)known.names);
	*out = known.found;
	return rc;
}

const char *weft_view_misfit(const struct weft_view *v, enum weft_action_kind kind)
{
	bool histogram = kind == WEFT_ACTION_QUANTIZE || kind == WEFT_ACTION_LQUANTIZE ||
			 kind == WEFT_ACTION_LLQUANTIZE;
	bool alone = kind == WEFT_ACTION_SUM || kind == WEFT_ACTION_MIN || kind == WEFT_ACTION_MAX;

	if (v->divide && histogram)
		return "`divide` is for numbers, and not for histograms";
	if (v->per_ns && kind != WEFT_ACTION_COUNT && kind != WEFT_ACTION_SUM)
		return "`per` is for counts and sums, which grow with time";
	if (v->sort == WEFT_SORT_COUNT && alone)
		return "it does not know how many values are behind a row, to sort by count";
	return NULL;
}

int weft_lang_check_views(const struct weft_set *set, struct weft_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < set->n_views; i++) {
		const struct weft_named_view *v = &set->views[i];
		struct weft_span span = {&v->name, 0, 0};
		const struct weft_action *filler;
		const char *misfit;
		int found = weft_find_filler(set, &v->name, &filler, err);

		if (!filler) {
			rc = found;
			continue;
		}
		misfit = weft_view_misfit(&v->view, filler->spec->kind);
		if (misfit)
			rc = weft_fail_at(err, weft_span_pos(span), -EINVAL, "VIEW_BAD",
					  "`%.80s` is filled by `%s`: %s", v->name.s,
					  filler->spec->name, misfit);
	}
	return rc;
}
