/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Fields that must be known when a clause is compiled: the bounds of buckets, and what show wishes. */
#include "core/lang/clause.h"

#include <stdio.h>
#include <string.h>

static const char *const names[WEFT_N_CONSTANTS] = {
	[WEFT_CONSTANT_FROM] = "from",     [WEFT_CONSTANT_TO] = "to",
	[WEFT_CONSTANT_STEP] = "step",     [WEFT_CONSTANT_FACTOR] = "factor",
	[WEFT_CONSTANT_LOW] = "low",       [WEFT_CONSTANT_HIGH] = "high",
	[WEFT_CONSTANT_STEPS] = "steps",   [WEFT_CONSTANT_TOP] = "top",
	[WEFT_CONSTANT_DIVIDE] = "divide", [WEFT_CONSTANT_PER] = "per",
};

void weft_take_constant(struct weft_clause_typer *c, const struct weft_item *item)
{
	struct weft_node *n = weft_sema_expr(&c->s, &item->text);
	char name[32];
	size_t i = 0;

	if (!n)
		return;
	if (n->type.kind != WEFT_VALUE_INT) {
		weft_sema_fail(&c->s, n->span.start, "EXPR_TYPE",
			       "`%s` takes an integer, and this is %s", item->field->name,
			       weft_type_phrase(&n->type, name));
		return;
	}
	if (n->kind != WEFT_NODE_INT) {
		weft_sema_fail(&c->s, n->span.start, "CONSTANT_NEEDED",
			       "`%s` is fixed before tracing begins: it takes numbers and parameters, "
			       "not what a probe knows",
			       item->field->name);
		return;
	}
	while (i < WEFT_N_CONSTANTS && strcmp(names[i], item->field->name) != 0)
		i++;
	if (i < WEFT_N_CONSTANTS)
		c->constants[i] = n;
}

/* Reports something about one of the action's constants, or, where it is absent, about the action. */
static void fail(struct weft_clause_typer *c, enum weft_constant which, const char *tag,
		 const char *what)
{
	const struct weft_node *n = c->constants[which];

	if (n)
		c->s.src.text = n->span.text;
	weft_sema_fail(&c->s, n ? n->span.start : 0, tag, "`%s` %s", c->action->spec->name, what);
}

/* Whether the constant was given and, as it was, is neither negative nor more than `most`. */
static bool take_count(struct weft_clause_typer *c, enum weft_constant which, const char *tag,
		       uint64_t most, uint64_t *out)
{
	const struct weft_node *n = c->constants[which];
	char what[96];

	if (!n)
		return false;
	*out = (uint64_t)n->value;
	if ((n->value >= 0 || !n->type.is_signed) && *out <= most)
		return true;
	snprintf(what, sizeof(what), "needs a `%s` from %d to %llu", names[which],
		 which == WEFT_CONSTANT_LOW || which == WEFT_CONSTANT_HIGH ? 0 : 1,
		 (unsigned long long)most);
	fail(c, which, tag, what);
	return false;
}

/* ---- buckets ---- */

static bool is_beyond(const struct weft_node *n)
{
	return !n->type.is_signed && n->value < 0; /* more than INT64_MAX */
}

static bool take_bound(struct weft_clause_typer *c, enum weft_constant which, int64_t *out)
{
	const struct weft_node *n = c->constants[which];
	const char *what = NULL;

	if (c->out->buckets.is_unsigned && n->type.is_signed && n->value < 0)
		what = "has values of uint64, and a bound that is negative";
	if (!c->out->buckets.is_unsigned && is_beyond(n))
		what = "has values of int64, and a bound that is greater than all of them";
	if (what)
		fail(c, which, "BUCKETS_BAD", what);
	*out = n->value;
	return !what;
}

static bool take_linear(struct weft_clause_typer *c)
{
	struct weft_buckets *b = &c->out->buckets;
	const struct weft_node *from = c->constants[WEFT_CONSTANT_FROM];
	const struct weft_node *to = c->constants[WEFT_CONSTANT_TO];
	bool step_given = false;

	if (!from || !to)
		return false;
	if (!c->out->value) /* unknown: the bounds tell */
		b->is_unsigned = is_beyond(from) || is_beyond(to);
	for (size_t i = 0; i < c->action->n_items; i++)
		step_given |= !strcmp(c->action->items[i].field->name, "step");
	b->step = 1;
	if (step_given && !take_count(c, WEFT_CONSTANT_STEP, "BUCKETS_BAD", UINT64_MAX, &b->step))
		return false;
	return take_bound(c, WEFT_CONSTANT_FROM, &b->from) &&
	       take_bound(c, WEFT_CONSTANT_TO, &b->to);
}

static bool take_log_linear(struct weft_clause_typer *c)
{
	struct weft_buckets *b = &c->out->buckets;

	return take_count(c, WEFT_CONSTANT_FACTOR, "BUCKETS_BAD", 65535, &b->factor) &&
	       take_count(c, WEFT_CONSTANT_LOW, "BUCKETS_BAD", 62, &b->low) &&
	       take_count(c, WEFT_CONSTANT_HIGH, "BUCKETS_BAD", 62, &b->high) &&
	       take_count(c, WEFT_CONSTANT_STEPS, "BUCKETS_BAD", UINT32_MAX, &b->steps);
}

void weft_take_buckets(struct weft_clause_typer *c)
{
	struct weft_buckets *b = &c->out->buckets;
	enum weft_constant first = WEFT_CONSTANT_FROM;
	bool whole = false;
	const char *wrong;

	b->is_unsigned =
		c->out->value && c->out->value->type.size == 8 && !c->out->value->type.is_signed;
	if (c->action->spec->kind == WEFT_ACTION_LQUANTIZE) {
		b->how = WEFT_BUCKETS_LINEAR;
		whole = take_linear(c);
	} else if (c->action->spec->kind == WEFT_ACTION_LLQUANTIZE) {
		b->how = WEFT_BUCKETS_LOG_LINEAR;
		first = WEFT_CONSTANT_FACTOR;
		whole = take_log_linear(c);
	}
	wrong = whole ? weft_buckets_check(b) : NULL;
	if (wrong)
		fail(c, first, "BUCKETS_BAD", wrong);
}

/* ---- views ---- */

/* A count of which 0 means that it was not said. */
static uint64_t take_wish(struct weft_clause_typer *c, enum weft_constant which, uint64_t most)
{
	uint64_t n = 0;

	if (take_count(c, which, "VIEW_BAD", most, &n) && !n) {
		char what[64];

		snprintf(what, sizeof(what), "needs a `%s` of at least 1", names[which]);
		fail(c, which, "VIEW_BAD", what);
	}
	return n;
}

void weft_take_view(struct weft_clause_typer *c)
{
	const struct weft_set *set = c->s.env->set;
	struct weft_view *v = &c->out->view;

	v->top = (uint32_t)take_wish(c, WEFT_CONSTANT_TOP, WEFT_VIEW_TOP_MOST);
	v->divide = take_wish(c, WEFT_CONSTANT_DIVIDE, INT64_MAX);
	v->per_ns = take_wish(c, WEFT_CONSTANT_PER, INT64_MAX);
	for (size_t i = 0; set && !c->s.rc && i < c->action->n_items; i++) {
		const struct weft_item *item = &c->action->items[i];
		const struct weft_action *filler;
		const char *misfit;

		if (item->field->shape != WEFT_SHAPE_NAMES || !item->text.s)
			continue;
		c->s.rc = weft_find_filler(set, &item->text, &filler, c->s.src.err);
		if (c->s.rc)
			return;
		misfit = weft_view_misfit(v, filler->spec->kind);
		if (!misfit)
			continue;
		c->s.src.text = &item->text;
		weft_sema_fail(&c->s, 0, "VIEW_BAD", "`%.80s` is filled by `%s`: %s", item->text.s,
			       filler->spec->name, misfit);
	}
}
