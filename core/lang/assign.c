/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * `set` and `delete`. What is assigned to is an expression of one of four forms; what is assigned
 * may begin with the operator of an update. Updates are those that a processor does in one step, so
 * that none is lost between CPUs; a variable that is multiplied is read, and then set.
 */
#include "core/lang/clause.h"
#include "core/lang/kernel_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct update {
	const char *text;
	enum weft_op op; /* EQ: there is none, `instead` says what to write */
	const char *instead;
} updates[] = {
	{"+=", WEFT_OP_ADD, NULL},  {"-=", WEFT_OP_SUB, NULL}, {"|=", WEFT_OP_OR, NULL},
	{"&=", WEFT_OP_AND, NULL},  {"^=", WEFT_OP_XOR, NULL}, {"++", WEFT_OP_EQ, "+= 1"},
	{"--", WEFT_OP_EQ, "-= 1"}, {"*=", WEFT_OP_EQ, NULL},  {"/=", WEFT_OP_EQ, NULL},
	{"%=", WEFT_OP_EQ, NULL},   {"<<=", WEFT_OP_EQ, NULL}, {">>=", WEFT_OP_EQ, NULL},
};

/* The operator that the value begins with: EQ and *from 0 where it is a value alone. false: reported. */
static bool read_update(struct weft_clause_typer *c, const struct weft_text *text, enum weft_op *op,
			uint32_t *from)
{
	uint32_t at = (uint32_t)strspn(text->s, " \t\r\n");

	*op = WEFT_OP_EQ;
	*from = 0;
	for (size_t i = 0; i < sizeof(updates) / sizeof(updates[0]); i++) {
		const struct update *u = &updates[i];
		size_t n = strlen(u->text);

		if (strncmp(text->s + at, u->text, n) != 0)
			continue;
		*op = u->op;
		*from = at + (uint32_t)n;
		if (u->op != WEFT_OP_EQ)
			return true;
		/* `--x` and `++x` are the beginnings of values. */
		if (u->instead && text->s[*from + strspn(text->s + *from, " \t\r\n")]) {
			*from = 0;
			return true;
		}
		c->s.src.text = text;
		weft_sema_fail(&c->s, at, "STATE_UPDATE",
			       u->instead
				       ? "`%s` is no update; those are +=, -=, |=, &= and ^="
				       : "`%s` cannot be done in one step, as +=, -=, |=, &= and ^= "
					 "can: read the variable and set it",
			       u->text);
		if (u->instead)
			weft_error_suggest(c->s.src.err, u->instead);
		return false;
	}
	return true;
}

/* ---- what is assigned to ---- */

/* The tree and the form of a left side; false: reported. */
static bool read_variable(struct weft_clause_typer *c, const struct weft_text *text,
			  struct weft_ast **ast, struct weft_state_ref *ref)
{
	struct weft_sema *s = &c->s;
	int rc;

	s->src.text = text;
	s->src.from = 0;
	rc = weft_parse(&s->src, ast);
	if (rc) {
		if (!s->rc)
			s->rc = rc;
		return false;
	}
	rc = weft_state_ref(s->src.arena, *ast, ref);
	if (rc < 0) {
		weft_sema_nomem(s);
	} else if (!rc) {
		weft_sema_fail(s, (*ast)->start, "STATE_NAME",
			       "`%.80s` is no variable: those are NAME, self.NAME, this.NAME and "
			       "NAME[KEY, ...]",
			       text->s);
	} else if ((ref->scope == WEFT_STATE_GLOBAL || ref->scope == WEFT_STATE_ARRAY) &&
		   weft_name_is_taken(ref->name)) {
		weft_sema_fail(s, (*ast)->start, "STATE_NAME",
			       "`%.80s` has a meaning of its own and cannot be assigned to",
			       ref->name);
		rc = 0;
	}
	return rc == 1;
}

static struct weft_local *find_local(struct weft_clause_typer *c, const char *name)
{
	for (size_t i = 0; i < c->clause->n_locals; i++)
		if (strcmp(c->clause->locals[i].name, name) == 0)
			return &c->clause->locals[i];
	return NULL;
}

static struct weft_local *add_local(struct weft_clause_typer *c, const char *name,
				    struct weft_pos pos)
{
	struct weft_typed_clause *out = c->clause;
	size_t cap = c->cap_locals ? 2 * c->cap_locals : 8;
	struct weft_local *l;

	if (out->n_locals == c->cap_locals) {
		l = weft_arena_array(c->s.src.arena, cap, sizeof(*l));
		if (!l) {
			weft_sema_nomem(&c->s);
			return NULL;
		}
		if (out->n_locals)
			memcpy(l, out->locals, out->n_locals * sizeof(*l));
		out->locals = l;
		c->cap_locals = cap;
	}
	l = &out->locals[out->n_locals++];
	*l = (struct weft_local){.name = name, .pos = pos};
	return l;
}

/* ---- what is assigned ---- */

static bool is_value(struct weft_clause_typer *c, const struct weft_node *n)
{
	char name[32];

	if (n->type.kind == WEFT_VALUE_INT)
		return true;
	if (n->type.kind == WEFT_VALUE_STRING)
		return weft_string_fits(&c->s, n);
	weft_sema_fail(&c->s, n->span.start, "STATE_TYPE",
		       "a variable holds an integer or a string, and this is %s",
		       weft_type_phrase(&n->type, name));
	return false;
}

/* The type that a variable gets from its first value. */
static struct weft_type type_from(struct weft_clause_typer *c, const struct weft_node *n)
{
	struct weft_type t = n->type;

	if (t.kind == WEFT_VALUE_STRING) {
		t.cap = weft_env_strsize(c->s.env);
		t.space = 0;
		return t;
	}
	t.is_signed = t.size < 8 || t.is_signed;
	t.size = 8;
	t.cap = 0;
	return t;
}

/* The value, checked and converted; NULL: reported, or not known yet. */
static struct weft_node *convert_value(struct weft_clause_typer *c, struct weft_node *n,
				       enum weft_op op, const struct weft_type *to,
				       const char *name, struct weft_pos typed_pos)
{
	char have[32], want[32];

	if (n->type.kind != to->kind)
		return weft_sema_fail(&c->s, n->span.start, "STATE_TYPE",
				      "`%s` is given %s here and %s at %u:%u", name,
				      weft_type_phrase(&n->type, have), weft_type_phrase(to, want),
				      typed_pos.line, typed_pos.column);
	if (to->kind != WEFT_VALUE_INT) {
		if (op == WEFT_OP_EQ)
			return n;
		return weft_sema_fail(&c->s, 0, "STATE_TYPE",
				      "`%s=` changes integers, and `%s` is %s", weft_op_text(op),
				      name, weft_type_phrase(to, want));
	}
	if (op != WEFT_OP_EQ && to->role != WEFT_ROLE_NONE)
		return weft_sema_fail(&c->s, 0, "POINTER_ARITHMETIC",
				      "`%s=` changes numbers, and `%s` is %s: set it to &%s[1] for "
				      "the next element",
				      weft_op_text(op), name, weft_type_phrase(to, want), name);
	if (op == WEFT_OP_EQ && to->role != WEFT_ROLE_NONE && !weft_pointer_fits(&c->s, n, to))
		return weft_sema_fail(&c->s, n->span.start, "STATE_TYPE",
				      "`%s` is given %s here and %s at %u:%u; a cast makes one of the "
				      "other",
				      name, weft_type_phrase(&n->type, have),
				      weft_type_phrase(to, want), typed_pos.line, typed_pos.column);
	return weft_node_convert(&c->s, weft_node_promote(&c->s, n), 8, to->is_signed);
}

static struct weft_node *local_target(struct weft_clause_typer *c, const struct weft_ast *ast,
				      const struct weft_state_ref *ref, enum weft_op op,
				      struct weft_node **value, const struct weft_text *text)
{
	struct weft_local *l = find_local(c, ref->name);
	struct weft_node *n;

	if (!l && op != WEFT_OP_EQ) {
		c->s.src.text = text;
		return weft_state_node(&c->s, ast, ref, true); /* which says that it is unset */
	}
	if (!l)
		l = add_local(c, ref->name, text->pos);
	if (!l || !*value)
		return NULL;
	if (!l->typed) {
		l->type = type_from(c, *value);
		l->typed = true;
	}
	*value = convert_value(c, *value, op, &l->type, l->name, l->pos);
	c->s.src.text = text;
	n = weft_state_node(&c->s, ast, ref, true);
	if (n)
		n->op = op;
	return n;
}

static struct weft_node *state_target(struct weft_clause_typer *c, const struct weft_ast *ast,
				      const struct weft_state_ref *ref, enum weft_op op,
				      struct weft_node **value, const struct weft_text *value_text,
				      const struct weft_text *text)
{
	struct weft_state_var *v = weft_state_find(c->s.state, ref->name);
	struct weft_node *n;

	if (v && !v->typed && *value) {
		v->type = type_from(c, *value);
		v->typed = true;
		v->typed_pos = text->pos;
	}
	c->s.src.text = text;
	n = weft_state_node(&c->s, ast, ref, true);
	if (n)
		n->op = op;
	c->s.src.text = value_text;
	if (n && *value)
		*value = convert_value(c, *value, op, &v->type, v->name, v->typed_pos);
	return n;
}

static struct weft_typed_item *item_of(struct weft_clause_typer *c, struct weft_typed_item **items,
				       size_t *n, const struct weft_item *item, const char *name,
				       struct weft_node *node)
{
	struct weft_typed_item *t;

	if (!*items)
		*items = weft_arena_array(c->s.src.arena, c->action->n_items, sizeof(**items));
	if (!*items) {
		weft_sema_nomem(&c->s);
		return NULL;
	}
	t = &(*items)[(*n)++];
	t->item = item;
	t->name = name;
	t->node = node;
	return t;
}

void weft_take_assignment(struct weft_clause_typer *c, const struct weft_item *item)
{
	struct weft_node *target, *value;
	struct weft_state_ref ref;
	struct weft_ast *ast;
	enum weft_op op;
	uint32_t from;
	bool ok;

	if (!item->name.s)
		return;
	ok = read_variable(c, &item->name, &ast, &ref);
	if (!read_update(c, &item->text, &op, &from))
		return;
	value = weft_sema_expr_from(&c->s, &item->text, from);
	if (value && !is_value(c, value))
		value = NULL;
	if (!ok)
		return;
	target = ref.scope == WEFT_STATE_CLAUSE
			 ? local_target(c, ast, &ref, op, &value, &item->name)
			 : state_target(c, ast, &ref, op, &value, &item->text, &item->name);
	if (target && value && item_of(c, &c->out->keys, &c->out->n_keys, item, item->name.s, target))
		item_of(c, &c->out->fields, &c->out->n_fields, item, item->name.s, value);
}

void weft_take_variable(struct weft_clause_typer *c, const struct weft_item *item)
{
	struct weft_state_ref ref;
	struct weft_node *target;
	struct weft_ast *ast;

	if (!read_variable(c, &item->text, &ast, &ref))
		return;
	if (ref.scope == WEFT_STATE_CLAUSE) {
		weft_sema_fail(&c->s, ast->start, "STATE_NAME",
			       "`%.80s` ends with the clause and cannot be deleted", ref.name);
		return;
	}
	target = weft_state_node(&c->s, ast, &ref, false);
	if (target)
		item_of(c, &c->out->keys, &c->out->n_keys, item, item->text.s, target);
}
