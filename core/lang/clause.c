/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A clause as a whole. All of it is looked at, whatever is wrong with what came before. */
#include "core/lang/clause.h"
#include "core/lang/format.h"

#include <string.h>

/* ---- formats against arguments ---- */

static const char *mismatch(char conv, const struct weft_type *type)
{
	enum weft_value_kind kind = type->kind;

	if (conv == 's')
		return kind == WEFT_VALUE_INT && !type->names
			       ? "anything but integers, which %d prints"
			       : NULL;
	if (conv == 'x' && kind == WEFT_VALUE_BYTES)
		return NULL;
	return kind == WEFT_VALUE_INT ? NULL : "an integer (%s prints the rest)";
}

static void check_format(struct weft_clause_typer *c, const struct weft_text *text)
{
	struct weft_typed_action *out = c->out;
	struct weft_span span = {text, 0, 0};
	struct weft_format format;
	char name[32];
	size_t at, k = 0;
	int rc;

	c->s.src.text = text;
	rc = weft_format_parse(text->s, c->s.src.arena, &format, &at, c->s.src.err);
	if (rc) {
		span.start = (uint32_t)at;
		weft_error_set_pos(c->s.src.err, weft_span_pos(span));
		c->s.rc = rc;
		return;
	}
	if (format.n_conversions != out->n_fields) {
		weft_sema_fail(&c->s, 0, "FORMAT_ARGUMENTS",
			       "the format has %zu conversion%s, and %zu argument%s",
			       format.n_conversions, format.n_conversions == 1 ? "" : "s",
			       out->n_fields, out->n_fields == 1 ? " follows" : "s follow");
		return;
	}
	for (size_t i = 0; i < format.n_pieces && k < out->n_fields; i++) {
		const struct weft_typed_item *arg = &out->fields[k];
		const char *wanted;

		if (!format.pieces[i].conv)
			continue;
		k++;
		if (!arg->node)
			continue;
		wanted = mismatch(format.pieces[i].conv, &arg->node->type);
		c->s.src.text = &arg->item->text;
		if (!wanted)
			continue;
		weft_sema_fail(&c->s, arg->node->span.start, "FORMAT_ARGUMENTS",
			       "%%%c takes %s, and argument %zu is %s", format.pieces[i].conv,
			       wanted, k, weft_type_phrase(&arg->node->type, name));
		if (format.pieces[i].conv == 's')
			weft_suggest_reading(&c->s, arg->node);
	}
}

/* ---- clauses ---- */

static void check_required(struct weft_clause_typer *c)
{
	const struct weft_action_spec *spec = c->action->spec;
	struct weft_text place = {.s = "", .pos = c->action->pos};

	for (size_t i = 0; i < spec->n_fields; i++) {
		bool there = !spec->fields[i].required;

		for (size_t k = 0; k < c->action->n_items; k++)
			there |= c->action->items[k].field == &spec->fields[i] &&
				 c->action->items[k].text.s;
		if (there)
			continue;
		c->s.src.text = &place;
		if (spec->fields[i].name[0])
			weft_sema_fail(&c->s, 0, "VALUE_MISSING", "`%s` needs `%s`", spec->name,
				       spec->fields[i].name);
		else
			weft_sema_fail(&c->s, 0, "VALUE_MISSING", "`%s` needs a value", spec->name);
	}
}

static void type_action(struct weft_clause_typer *c, const struct weft_action *a,
			struct weft_typed_action *out)
{
	const struct weft_text *format = NULL;

	c->action = a;
	c->out = out;
	memset(c->constants, 0, sizeof(c->constants));
	out->action = a;
	check_required(c);
	weft_check_destructive(c);
	for (size_t i = 0; i < a->n_items; i++) {
		const struct weft_item *item = &a->items[i];

		if (!item->text.s)
			continue;
		if (item->field->shape == WEFT_SHAPE_FORMAT && !format)
			format = &item->text;
		weft_take_item(c, item);
	}
	if (format)
		check_format(c, format);
	weft_take_buckets(c);
	if (a->spec->kind == WEFT_ACTION_SHOW)
		weft_take_view(c);
}

static void type_when(struct weft_clause_typer *c, const struct weft_clause *clause,
		      struct weft_typed_clause *out)
{
	char name[32];

	if (!clause->when.s)
		return;
	out->when = weft_sema_expr(&c->s, &clause->when);
	if (out->when && out->when->type.kind != WEFT_VALUE_INT)
		weft_sema_fail(&c->s, out->when->span.start, "EXPR_TYPE",
			       "`when` is an integer that is 0 or not, and this is %s",
			       weft_type_phrase(&out->when->type, name));
}

static void note_uses(struct weft_typed_clause *out, const struct weft_node *n)
{
	if (!n)
		return;
	out->uses_elapsed |= n->kind == WEFT_NODE_ELAPSED;
	if (n->kind == WEFT_NODE_ENTRY)
		out->entry_args |= UINT64_C(1) << n->index;
	if (n->kind == WEFT_NODE_ARG)
		out->args |= UINT64_C(1) << n->index;
	out->uses_ustack |= (n->kind == WEFT_NODE_STACK || n->type.kind == WEFT_VALUE_SYMBOL) &&
			    n->type.space == WEFT_SPACE_USER;
	out->uses_stack |= n->kind == WEFT_NODE_STACK && n->type.space == WEFT_SPACE_KERNEL;
	for (int i = 0; i < 3; i++)
		note_uses(out, n->kid[i]);
}

static void note_all_uses(struct weft_typed_clause *out)
{
	note_uses(out, out->when);
	for (size_t i = 0; i < out->n_actions; i++) {
		const struct weft_typed_action *a = &out->actions[i];

		note_uses(out, a->value);
		for (size_t k = 0; k < a->n_keys; k++)
			note_uses(out, a->keys[k].node);
		for (size_t k = 0; k < a->n_fields; k++)
			note_uses(out, a->fields[k].node);
	}
}

int weft_type_clause(struct weft_clause_typer *c, const struct weft_clause *clause,
		     struct weft_typed_clause *out)
{
	memset(out, 0, sizeof(*out));
	out->clause = clause;
	c->clause = out;
	c->s.clause = out;
	c->s.state = c->s.env->state;
	type_when(c, clause, out);
	if (clause->n_actions) {
		out->actions =
			weft_arena_array(c->s.src.arena, clause->n_actions, sizeof(*out->actions));
		if (!out->actions)
			return weft_nomem(c->s.src.err);
	}
	out->n_actions = clause->n_actions;
	for (size_t i = 0; i < clause->n_actions; i++)
		type_action(c, &clause->actions[i], &out->actions[i]);
	if (!c->s.rc)
		note_all_uses(out);
	return c->s.rc;
}

static const struct weft_probe_info *one_info(void *arg, uint32_t clause,
					      const struct weft_probe_info **entry)
{
	const struct weft_lang_env *env = arg;

	(void)clause;
	*entry = env->entry_info;
	return env->info;
}

/* Types a clause; where the caller has no table of the set's variables, it is made here. */
static int type_alone(struct weft_clause_typer *c, const struct weft_lang_env *env,
		      const struct weft_clause *clause, struct weft_typed_clause *out)
{
	struct weft_lang_env own = *env;
	int rc;

	if (!own.state && own.set) {
		rc = weft_state_build(own.set, one_info, &own, own.btf, c->s.src.arena, &own.state,
				      c->s.src.err);
		if (rc)
			return rc;
	}
	c->s.env = &own;
	rc = weft_type_clause(c, clause, out);
	c->s.env = env;
	return rc;
}

int weft_lang_clause(const struct weft_lang_env *env, const struct weft_clause *clause,
		     struct weft_arena *arena, struct weft_typed_clause *out, struct weft_error *err)
{
	struct weft_clause_typer c = {.s = {.src = {.arena = arena, .err = err}}};

	return type_alone(&c, env, clause, out);
}

int weft_lang_check_clause(const struct weft_lang_env *env, const struct weft_clause *clause,
			   struct weft_error *err)
{
	struct weft_arena *arena = weft_arena_create();
	struct weft_clause_typer c = {
		.s = {.src = {.arena = arena, .err = err}, .unknown_probe = true}};
	struct weft_typed_clause out;
	int rc;

	if (!arena)
		return weft_nomem(err);
	rc = type_alone(&c, env, clause, &out);
	weft_arena_destroy(arena);
	return rc;
}

int weft_lang_check_syntax(const struct weft_set *set, const struct weft_clause *clause,
			   bool destructive, struct weft_error *err)
{
	struct weft_lang_env env = {.set = set, .destructive = destructive};

	return weft_lang_check_clause(&env, clause, err);
}
