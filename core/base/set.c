/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What can be done to a probe set after it was read. */
#include "core/set.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "core/base/base.h"

static void clauses_finish(struct weft_clause *clauses, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < clauses[i].n_patterns; k++)
			weft_pattern_finish(&clauses[i].patterns[k]);
	}
}

/* The set lies in its own arena; only the patterns own memory beside it. */
void weft_set_destroy(struct weft_set *set)
{
	if (!set)
		return;
	clauses_finish(set->begin, set->n_begin);
	clauses_finish(set->clauses, set->n_clauses);
	clauses_finish(set->end, set->n_end);
	weft_arena_destroy(set->arena);
}

/* ---- parameters ---- */

static int fail_unknown(const struct weft_set *set, const char *name, struct weft_error *err)
{
	struct weft_near near;

	if (set->n_params == 0)
		return weft_fail(err, -ENOENT, "PARAM_UNKNOWN",
				 "the probe set has no parameter '%s': it has none at all", name);
	weft_near_init(&near, name);
	for (size_t i = 0; i < set->n_params; i++)
		weft_near_offer(&near, set->params[i].name.s);
	weft_fail(err, -ENOENT, "PARAM_UNKNOWN", "the probe set has no parameter '%s'", name);
	weft_error_suggest(err, near.best);
	return -ENOENT;
}

int weft_set_param(struct weft_set *set, const char *name, const char *value, struct weft_error *err)
{
	char *copy;

	for (size_t i = 0; i < set->n_params; i++) {
		struct weft_param *p = &set->params[i];

		if (strcmp(p->name.s, name) != 0)
			continue;
		copy = weft_arena_strdup(set->arena, value);
		if (!copy)
			return weft_nomem(err);
		/* The value is no longer in the file, so errors must not point into it. `quoted`
		 * stays: a parameter that the file says is a string remains one. */
		p->value = (struct weft_text){.s = copy};
		return 0;
	}
	return fail_unknown(set, name, err);
}

/* ---- parameters in descriptions ---- */

static const struct weft_param *find_param(const struct weft_set *set, const char *name)
{
	for (size_t i = 0; i < set->n_params; i++)
		if (!strcmp(set->params[i].name.s, name))
			return &set->params[i];
	return NULL;
}

static bool is_reference(const char *field)
{
	if (field[0] != '$' || !(isalpha((unsigned char)field[1]) || field[1] == '_'))
		return false;
	for (field++; *field; field++)
		if (!isalnum((unsigned char)*field) && *field != '_')
			return false;
	return true;
}

static int fill(struct weft_set *set, struct weft_pattern *p, struct weft_error *err)
{
	const char *fields[WEFT_N_FIELDS];
	struct weft_pattern filled;
	bool any = false;
	int ret;

	for (int f = 0; f < WEFT_N_FIELDS; f++) {
		const struct weft_param *param;

		fields[f] = p->field[f];
		if (!is_reference(p->field[f]))
			continue;
		param = find_param(set, p->field[f] + 1);
		if (!param)
			return fail_unknown(set, p->field[f] + 1, err);
		fields[f] = param->value.s;
		any = true;
	}
	if (!any)
		return 0;
	ret = weft_pattern_from_fields(fields, &filled, err);
	if (ret)
		return ret;
	weft_pattern_finish(p);
	*p = filled;
	return 0;
}

int weft_set_fill_patterns(struct weft_set *set, struct weft_error *err)
{
	int ret = 0;

	for (size_t i = 0; i < set->n_clauses; i++) {
		struct weft_clause *c = &set->clauses[i];

		for (size_t k = 0; k < c->n_patterns; k++) {
			int failed = fill(set, &c->patterns[k], err);

			if (failed)
				weft_error_set_pos(err, c->pattern_pos[k]);
			if (failed && !ret)
				ret = failed;
		}
	}
	return ret;
}
