/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Variables where they are used: as a value, as what is assigned to, and before `??`. */
#include "core/lang/kernel_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- names of nothing ---- */

static const char *without_scope(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot ? dot + 1 : name;
}

const char *weft_same_name(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(without_scope(names[i]), without_scope(name)))
			return names[i];
	return NULL;
}

static struct weft_node *unassigned(struct weft_sema *s, const struct weft_ast *a,
				    const struct weft_state_ref *ref)
{
	const char **names, *near = NULL;
	size_t n = 0, most = 1;

	weft_sema_fail(s, a->start, "STATE_UNASSIGNED", "no `set` of the %s gives `%s%s` a value",
		       ref->scope == WEFT_STATE_CLAUSE ? "clause before this" : "set", ref->name,
		       ref->scope == WEFT_STATE_ARRAY ? "[]" : "");
	most += s->state ? s->state->n_vars : 0;
	most += s->clause ? s->clause->n_locals : 0;
	names = calloc(most, sizeof(*names));
	if (!names)
		return NULL;
	for (size_t i = 0; s->state && i < s->state->n_vars; i++)
		names[n++] = s->state->vars[i]->name;
	for (size_t i = 0; s->clause && i < s->clause->n_locals; i++)
		names[n++] = s->clause->locals[i].name;
	near = weft_same_name(ref->name, names, n);
	if (!near && n)
		near = weft_nearest(ref->name, names, n);
	if (near)
		weft_error_suggest(s->src.err, near);
	free((void *)names);
	return NULL;
}

/* ---- keys ---- */

static bool fits_slot(struct weft_sema *s, const struct weft_type *slot, const struct weft_node *n,
		      const struct weft_state_var *v, uint32_t index)
{
	char have[32], want[32];

	if (n->type.kind == slot->kind &&
	    (slot->kind != WEFT_VALUE_STACK || n->type.space == slot->space))
		return true;
	weft_sema_fail(s, n->span.start, "STATE_TYPE",
		       "key %u of `%s` is %s here and %s where it is assigned at %u:%u", index + 1,
		       v->name, weft_type_phrase(&n->type, have), weft_type_phrase(slot, want),
		       v->pos.line, v->pos.column);
	return false;
}

static struct weft_type slot_type(struct weft_sema *s, const struct weft_node *n)
{
	struct weft_type t = n->type;

	if (t.kind == WEFT_VALUE_INT)
		t = (struct weft_type){.kind = WEFT_VALUE_INT, .size = 8, .is_signed = true};
	else if (t.kind == WEFT_VALUE_STRING)
		t.cap = weft_env_strsize(s->env);
	t.is_pointer = false;
	return t;
}

/* One key as a node of the tuple. assigned: it may say the slot's type. */
static struct weft_node *type_key(struct weft_sema *s, const struct weft_ast *a,
				  struct weft_state_var *v, uint32_t index, bool assigned)
{
	struct weft_node *n = weft_type_ast(s, a), *tuple;
	char name[32];

	if (!n)
		return NULL;
	if (n->type.kind != WEFT_VALUE_INT && n->type.kind != WEFT_VALUE_STRING &&
	    n->type.kind != WEFT_VALUE_PROBE && n->type.kind != WEFT_VALUE_STACK)
		return weft_sema_fail(s, n->span.start, "EXPR_TYPE",
				      "the keys of an array are integers, strings, stacks and probe "
				      "fields, and this is %s",
				      weft_type_phrase(&n->type, name));
	if (!weft_string_fits(s, n))
		return NULL;
	if (assigned && s->state->inferring && !v->keys_typed[index]) {
		v->keys[index] = slot_type(s, n);
		v->keys_typed[index] = true;
	}
	if (s->state->inferring && !v->keys_typed[index])
		return NULL;
	if (!fits_slot(s, &v->keys[index], n, v, index))
		return NULL;
	if (n->type.kind == WEFT_VALUE_INT)
		n = weft_node_convert(s, n, 8, n->type.size == 8 ? n->type.is_signed : true);
	if (n && n->type.kind == WEFT_VALUE_INT)
		n = weft_node_convert(s, n, 8, v->keys[index].is_signed);
	tuple = n ? weft_node_new(s, WEFT_NODE_TUPLE, v->keys[index], a) : NULL;
	if (tuple)
		tuple->kid[0] = n;
	return tuple;
}

static bool type_keys(struct weft_sema *s, const struct weft_state_ref *ref,
		      struct weft_state_var *v, bool assigned, struct weft_node **out)
{
	bool ok = true;
	uint32_t i = 0;

	for (const struct weft_ast *k = ref->keys; k; k = k->next, i++) {
		*out = type_key(s, k, v, i, assigned);
		if (*out)
			out = &(*out)->kid[1];
		else
			ok = false;
	}
	return ok;
}

/* ---- variables ---- */

static struct weft_node *local_node(struct weft_sema *s, const struct weft_ast *a,
				    const struct weft_state_ref *ref)
{
	struct weft_node *n;

	for (size_t i = 0; s->clause && i < s->clause->n_locals; i++) {
		const struct weft_local *l = &s->clause->locals[i];

		if (strcmp(l->name, ref->name) != 0)
			continue;
		if (!l->typed)
			return NULL;
		n = weft_node_new(s, WEFT_NODE_LOCAL, l->type, a);
		if (n)
			n->index = (uint32_t)i;
		return n;
	}
	return unassigned(s, a, ref);
}

struct weft_node *weft_state_node(struct weft_sema *s, const struct weft_ast *a,
				  const struct weft_state_ref *ref, bool assigned)
{
	struct weft_state_var *v;
	struct weft_node *n, *keys = NULL;

	if (ref->scope == WEFT_STATE_CLAUSE)
		return local_node(s, a, ref);
	v = weft_state_find(s->state, ref->name);
	if (!v)
		return unassigned(s, a, ref);
	if (v->scope != ref->scope)
		return weft_sema_fail(s, a->start, "STATE_KEYS",
				      v->n_keys ? "`%s` is an array: one of its elements is written "
						  "%s[...], with %u key%s"
						: "`%s` is no array, as %s has no keys where it is "
						  "assigned",
				      v->name, v->name, v->n_keys, v->n_keys == 1 ? "" : "s");
	if (v->n_keys != ref->n_keys)
		return weft_sema_fail(s, a->start, "STATE_KEYS",
				      "`%s` has %u key%s here and %u where it is assigned at %u:%u",
				      v->name, ref->n_keys, ref->n_keys == 1 ? "" : "s", v->n_keys,
				      v->pos.line, v->pos.column);
	if (!type_keys(s, ref, v, assigned, &keys))
		return NULL;
	if (!v->typed && !assigned)
		return NULL; /* types are being found out */
	n = weft_node_new(s, WEFT_NODE_STATE, v->type, a);
	if (n) {
		n->state = v;
		n->op = WEFT_OP_EQ;
		n->kid[0] = keys;
	}
	return n;
}

struct weft_node *weft_resolve_state(struct weft_sema *s, const struct weft_ast *a, bool *mine)
{
	struct weft_state_ref ref;
	int rc = weft_state_ref(s->src.arena, a, &ref);

	*mine = rc != 0;
	if (rc < 0)
		return weft_sema_nomem(s);
	/* A bare name may be anything: that it is nothing is said elsewhere. */
	if (rc && ref.scope == WEFT_STATE_GLOBAL && !weft_state_find(s->state, ref.name))
		*mine = false;
	return *mine ? weft_state_node(s, a, &ref, false) : NULL;
}

struct weft_node *weft_resolve_index(struct weft_sema *s, const struct weft_ast *a)
{
	const struct weft_ast *of = a->kid[0];
	struct weft_node *n;
	const struct weft_state_var *v;
	bool mine, pointer;
	char name[32];

	v = of->kind == WEFT_AST_NAME ? weft_state_find(s->state, of->s) : NULL;
	pointer = v && !v->n_keys && v->type.role != WEFT_ROLE_NONE; /* what it leads to */
	if (of->kind != WEFT_AST_NAME || weft_name_is_taken(of->s) || pointer) {
		n = weft_type_place(s, of);
		if (!n || weft_has_elements(n))
			return n ? weft_resolve_element(s, n, a) : NULL;
		if (of->kind != WEFT_AST_NAME && n->kind != WEFT_NODE_STATE &&
		    n->kind != WEFT_NODE_LOCAL)
			return weft_sema_fail(s, a->start, "DEREF_NONE",
					      "`[ ]` takes an array or a pointer to a type, and "
					      "this is %s",
					      weft_type_phrase(&n->type, name));
	}
	if (of->kind == WEFT_AST_NAME && weft_name_is_taken(of->s))
		return weft_sema_fail(s, a->start, "STATE_KEYS", "`%s` is no array", of->s);
	n = weft_resolve_state(s, a, &mine);
	if (mine)
		return n;
	return weft_sema_fail(
		s, a->start, "STATE_KEYS",
		"only arrays have keys, NAME[KEY, ...]; what belongs to a thread is told "
		"apart by the key `tid`");
}

struct weft_node *weft_resolve_default(struct weft_sema *s, const struct weft_ast *a)
{
	struct weft_node *v = weft_type_ast(s, a->kid[0]), *d = weft_type_ast(s, a->kid[1]), *n;
	char nv[32], nd[32];

	if (!v || !d)
		return NULL;
	if (v->kind != WEFT_NODE_STATE && v->kind != WEFT_NODE_LOCAL)
		return weft_sema_fail(s, v->span.start, "EXPR_TYPE",
				      "`??` gives a variable that is unset another value, and this is "
				      "no variable");
	if (v->type.kind != d->type.kind)
		return weft_sema_fail(
			s, d->span.start, "EXPR_TYPE",
			"`??` chooses between two integers or two strings, not between "
			"%s and %s",
			weft_type_phrase(&v->type, nv), weft_type_phrase(&d->type, nd));
	if (!weft_string_fits(s, d))
		return NULL;
	if (v->kind == WEFT_NODE_LOCAL || v->state->counts)
		return v; /* never unset */
	if (v->type.kind == WEFT_VALUE_INT) {
		d = weft_node_convert(s, weft_node_promote(s, d), 8, v->type.is_signed);
		if (!d)
			return NULL;
	}
	n = weft_node_new(s, WEFT_NODE_DEFAULT, v->type, a);
	if (!n)
		return NULL;
	if (d->type.cap > n->type.cap)
		n->type.cap = d->type.cap;
	n->kid[0] = v;
	n->kid[1] = d;
	return n;
}
