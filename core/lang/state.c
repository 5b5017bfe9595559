/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The variables of a set: one table for all of its clauses, made before any of them is typed.
 *
 * A first walk gathers the names from the left sides of `set`. Then types are found out: the
 * clauses are typed in file order as often as that tells the type of another variable, and what is
 * wrong in them is not said, for it will be when they are typed in earnest. A variable whose value
 * hangs on another, assigned further down, gets its type in a later round; ROUNDS bounds their
 * number, so that a hostile file costs no more than a multiple of its size. What is left then, and
 * what hangs on the arguments of a probe that does not exist yet, is an int64.
 */
#include "core/lang/clause.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"

#define ROUNDS 8

/* ---- the table ---- */

static struct weft_state_var **chain_of(const struct weft_state *state, const char *name)
{
	struct weft_hash_key key = {{state->salt[0], state->salt[1]}};

	return &state->chains[weft_hash_bytes(key, name, strlen(name)) % state->n_chains];
}

struct weft_state_var *weft_state_find(const struct weft_state *state, const char *name)
{
	struct weft_state_var *v = state ? *chain_of(state, name) : NULL;

	while (v && strcmp(v->name, name) != 0)
		v = v->next;
	return v;
}

int weft_state_ref(struct weft_arena *arena, const struct weft_ast *a, struct weft_state_ref *out)
{
	const struct weft_ast *of = a->kid[0];

	memset(out, 0, sizeof(*out));
	if (a->kind == WEFT_AST_NAME) {
		out->scope = WEFT_STATE_GLOBAL;
		out->name = a->s;
		return 1;
	}
	if (a->kind == WEFT_AST_INDEX && of->kind == WEFT_AST_NAME) {
		out->scope = WEFT_STATE_ARRAY;
		out->name = of->s;
		out->keys = a->kid[1];
		out->n_keys = a->n;
		return 1;
	}
	if (a->kind != WEFT_AST_MEMBER || of->kind != WEFT_AST_NAME)
		return 0;
	if (strcmp(of->s, "self") == 0)
		out->scope = WEFT_STATE_THREAD;
	else if (strcmp(of->s, "this") == 0)
		out->scope = WEFT_STATE_CLAUSE;
	else
		return 0;
	out->local = a->s;
	out->name = weft_arena_printf(arena, "%s.%s", of->s, a->s);
	return out->name ? 1 : -ENOMEM;
}

bool weft_state_used(const struct weft_set *set)
{
	const struct {
		const struct weft_clause *clauses;
		size_t n;
	} parts[] = {
		{set->begin, set->n_begin},
		{set->clauses, set->n_clauses},
		{set->end, set->n_end},
	};

	for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++)
		for (size_t i = 0; i < parts[p].n; i++)
			for (size_t k = 0; k < parts[p].clauses[i].n_actions; k++)
				if (parts[p].clauses[i].actions[k].spec->group == WEFT_GROUP_STATE)
					return true;
	return false;
}

/* ---- gathering names ---- */

struct builder {
	const struct weft_set *set;
	struct weft_state *state;
	struct weft_arena *arena;
	struct weft_error *err;     /* the caller's */
	struct weft_error *ignored; /* where the rounds report to */
	weft_state_info *info_of;
	void *arg;
	struct weft_btf_source *btf;
	int rc;
};

typedef void walk_clause(struct builder *b, const struct weft_clause *clause);

static void for_all(struct builder *b, walk_clause *walk)
{
	for (size_t i = 0; i < b->set->n_begin && b->rc != -ENOMEM; i++)
		walk(b, &b->set->begin[i]);
	for (size_t i = 0; i < b->set->n_clauses && b->rc != -ENOMEM; i++)
		walk(b, &b->set->clauses[i]);
	for (size_t i = 0; i < b->set->n_end && b->rc != -ENOMEM; i++)
		walk(b, &b->set->end[i]);
}

static void out_of_memory(struct builder *b)
{
	b->rc = weft_nomem(b->err);
}

static void count_clause(struct builder *b, const struct weft_clause *clause)
{
	for (size_t i = 0; i < clause->n_actions; i++)
		if (clause->actions[i].spec->group == WEFT_GROUP_STATE)
			b->state->n_chains += clause->actions[i].n_items;
}

static const char *form_of(enum weft_state_scope scope)
{
	return scope == WEFT_STATE_ARRAY ? "an array" : "a variable without keys";
}

/* Two mentions of one name that cannot both be right. */
static void check_form(struct builder *b, const struct weft_state_var *v,
		       const struct weft_state_ref *ref, struct weft_pos pos)
{
	int rc = 0;

	if (v->scope != ref->scope)
		rc = weft_fail_at(b->err, pos, -EINVAL, "STATE_TYPE",
				  "`%s` is %s here and %s at %u:%u", v->name, form_of(ref->scope),
				  form_of(v->scope), v->pos.line, v->pos.column);
	else if (v->n_keys != ref->n_keys)
		rc = weft_fail_at(b->err, pos, -EINVAL, "STATE_KEYS",
				  "`%s` has %u key%s here and %u at %u:%u", v->name, ref->n_keys,
				  ref->n_keys == 1 ? "" : "s", v->n_keys, v->pos.line,
				  v->pos.column);
	if (rc && !b->rc)
		b->rc = rc;
}

static struct weft_state_var *add_var(struct builder *b, const struct weft_state_ref *ref,
				      struct weft_pos pos)
{
	struct weft_state_var *v = weft_arena_alloc(b->arena, sizeof(*v)), **chain;

	if (v && ref->n_keys) {
		v->keys = weft_arena_array(b->arena, ref->n_keys, sizeof(*v->keys));
		v->keys_typed = weft_arena_array(b->arena, ref->n_keys, sizeof(*v->keys_typed));
	}
	if (!v || (ref->n_keys && (!v->keys || !v->keys_typed))) {
		out_of_memory(b);
		return NULL;
	}
	v->name = ref->name;
	v->scope = ref->scope;
	v->n_keys = ref->n_keys;
	v->pos = pos;
	v->counts = true; /* until an assignment says otherwise */
	chain = chain_of(b->state, v->name);
	v->next = *chain;
	*chain = v;
	b->state->vars[b->state->n_vars++] = v;
	return v;
}

/* Whether the value begins as an update whose beginning is 0. */
static bool counts_up(const struct weft_text *value)
{
	const char *s = value->s ? value->s + strspn(value->s, " \t\r\n") : "";

	return (*s == '+' || *s == '-' || *s == '|' || *s == '^') && s[1] == '=';
}

static void gather_item(struct builder *b, const struct weft_action *a, const struct weft_item *item)
{
	bool assigned = a->spec->kind == WEFT_ACTION_SET;
	const struct weft_text *text = assigned ? &item->name : &item->text;
	struct weft_source src = {.text = text, .arena = b->arena, .err = b->ignored};
	struct weft_state_var *v;
	struct weft_state_ref ref;
	struct weft_ast *ast;
	int rc;

	if (!text->s)
		return;
	rc = weft_parse(&src, &ast);
	if (!rc)
		rc = weft_state_ref(b->arena, ast, &ref);
	if (rc == -ENOMEM)
		out_of_memory(b);
	if (rc != 1 || ref.scope == WEFT_STATE_CLAUSE)
		return;
	v = weft_state_find(b->state, ref.name);
	if (!assigned) {
		if (v)
			v->deleted = true;
		return;
	}
	if (v)
		check_form(b, v, &ref, text->pos);
	else
		v = add_var(b, &ref, text->pos);
	if (v && !counts_up(&item->text))
		v->counts = false;
}

static void gather_clause(struct builder *b, const struct weft_clause *clause)
{
	for (size_t i = 0; i < clause->n_actions; i++)
		for (size_t k = 0; k < clause->actions[i].n_items && b->rc != -ENOMEM; k++)
			if (clause->actions[i].spec->group == WEFT_GROUP_STATE)
				gather_item(b, &clause->actions[i], &clause->actions[i].items[k]);
}

/* ---- types ---- */

static void infer_clause(struct builder *b, const struct weft_clause *clause)
{
	struct weft_lang_env env = {.set = b->set, .state = b->state, .btf = b->btf};
	struct weft_typed_clause out;
	struct weft_clause_typer c = {
		.s = {.src = {.arena = b->arena, .err = b->ignored}, .env = &env}};
	bool list = (b->set->n_begin && clause == b->set->begin) ||
		    (b->set->n_end && clause == b->set->end);
	int rc;

	if (!list)
		env.info = b->info_of ? b->info_of(b->arg, clause->index, &env.entry_info) : NULL;
	c.s.unknown_probe = !list && !env.info;
	rc = weft_type_clause(&c, clause, &out);
	weft_error_clear(b->ignored);
	if (rc == -ENOMEM)
		out_of_memory(b);
}

static size_t count_typed(const struct weft_state *state)
{
	size_t n = 0;

	for (size_t i = 0; i < state->n_vars; i++) {
		n += state->vars[i]->typed;
		for (uint32_t k = 0; k < state->vars[i]->n_keys; k++)
			n += state->vars[i]->keys_typed[k];
	}
	return n;
}

static void infer(struct builder *b)
{
	static const struct weft_type integer = {
		.kind = WEFT_VALUE_INT, .size = 8, .is_signed = true};
	size_t before, after = 0;
	int round = 0;

	b->state->inferring = true;
	do {
		before = after;
		for_all(b, infer_clause);
		after = count_typed(b->state);
	} while (b->rc != -ENOMEM && after != before && ++round < ROUNDS);
	b->state->inferring = false;
	for (size_t i = 0; i < b->state->n_vars; i++) {
		struct weft_state_var *v = b->state->vars[i];

		if (!v->typed) {
			v->type = integer;
			v->typed_pos = v->pos;
		}
		v->typed = true;
		for (uint32_t k = 0; k < v->n_keys; k++)
			if (!v->keys_typed[k])
				v->keys[k] = integer;
	}
}

static void gather_deletes(struct builder *b, const struct weft_clause *clause)
{
	for (size_t i = 0; i < clause->n_actions; i++)
		for (size_t k = 0; k < clause->actions[i].n_items && b->rc != -ENOMEM; k++)
			if (clause->actions[i].spec->kind == WEFT_ACTION_DELETE)
				gather_item(b, &clause->actions[i], &clause->actions[i].items[k]);
}

static int build(struct builder *b)
{
	struct weft_hash_key salt = weft_hash_key_random();
	struct weft_state *state = b->state;

	memcpy(state->salt, salt.k, sizeof(state->salt));
	for_all(b, count_clause);
	state->vars =
		weft_arena_array(b->arena, state->n_chains + 1, sizeof(struct weft_state_var *));
	state->chains =
		weft_arena_array(b->arena, ++state->n_chains, sizeof(struct weft_state_var *));
	if (!state->vars || !state->chains)
		return weft_nomem(b->err);
	for_all(b, gather_clause);
	/* What is deleted further up than it is assigned. */
	for_all(b, gather_deletes);
	weft_error_clear(b->ignored);
	if (state->n_vars && b->rc != -ENOMEM)
		infer(b);
	return b->rc;
}

int weft_state_build(const struct weft_set *set, weft_state_info *info_of, void *arg,
		     struct weft_btf_source *btf, struct weft_arena *arena, struct weft_state **out,
		     struct weft_error *err)
{
	struct builder b = {
		.set = set, .arena = arena, .err = err, .info_of = info_of, .arg = arg, .btf = btf};
	int rc;

	*out = NULL;
	if (!weft_state_used(set))
		return 0;
	b.state = weft_arena_alloc(arena, sizeof(*b.state));
	b.ignored = weft_error_create();
	rc = b.state && b.ignored ? build(&b) : weft_nomem(err);
	weft_error_destroy(b.ignored);
	if (!rc)
		*out = b.state;
	return rc;
}

char *weft_state_var_text(const struct weft_state_var *v, struct weft_arena *arena)
{
	char name[32], *text = weft_arena_printf(arena, "%s", v->name);

	for (uint32_t i = 0; text && i < v->n_keys; i++)
		text = weft_arena_printf(arena, "%s%s%s%s", text, i ? ", " : "[",
					 weft_type_name(&v->keys[i], name),
					 i + 1 == v->n_keys ? "]" : "");
	if (text)
		text = weft_arena_printf(arena, "%s  %s%s", text, weft_type_name(&v->type, name),
					 v->counts ? ", from 0" : "");
	return text;
}
