/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What actions want of their items: one handler for each shape of the action table. */
#include "core/lang/clause.h"

#include <errno.h>
#include <string.h>

/* Reports something about a text that is no expression. */
static void fail_text(struct weft_clause_typer *c, const struct weft_text *text, const char *tag,
		      const char *format, const char *what)
{
	c->s.src.text = text;
	weft_sema_fail(&c->s, 0, tag, format, what);
}

static bool check_name(struct weft_clause_typer *c, const struct weft_text *text)
{
	const char *p = text->s;

	if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_')
		while ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_' ||
		       (*p >= '0' && *p <= '9'))
			p++;
	if (p != text->s && !*p)
		return true;
	fail_text(c, text, "NAME_BAD",
		  "`%.80s` is not a name: names consist of letters, digits and `_` and do not begin "
		  "with a digit",
		  text->s);
	return false;
}

/* ---- shapes ---- */

static struct weft_typed_item *add_item(struct weft_clause_typer *c, struct weft_typed_item **items,
					size_t *n, const struct weft_item *item)
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
	return t;
}

/* The expression's text without what surrounds it. */
static const char *trimmed(struct weft_clause_typer *c, const char *s)
{
	size_t n;
	char *copy;

	s += strspn(s, " \t\r\n");
	n = strlen(s);
	while (n && strchr(" \t\r\n", s[n - 1]))
		n--;
	copy = weft_arena_strndup(c->s.src.arena, s, n);
	if (!copy)
		weft_sema_nomem(&c->s);
	return copy ? copy : "";
}

/* Types a key, a field or an argument, and names it; earlier ones must not have the name. */
static struct weft_typed_item *named_item(struct weft_clause_typer *c,
					  struct weft_typed_item **items, size_t *n,
					  const struct weft_item *item, bool unique)
{
	struct weft_typed_item *t = add_item(c, items, n, item);
	const struct weft_text *place = item->name.s ? &item->name : &item->text;

	if (!t)
		return NULL;
	if (!item->name.s || check_name(c, &item->name))
		t->name = trimmed(c, place->s);
	else
		t->name = item->name.s;
	for (size_t i = 0; unique && i + 1 < *n; i++)
		if (strcmp((*items)[i].name, t->name) == 0) {
			fail_text(c, place, "NAME_TWICE", "`%.80s` is there twice", t->name);
			break;
		}
	t->node = weft_sema_expr(&c->s, &item->text);
	if (t->node && !weft_string_fits(&c->s, t->node))
		t->node = NULL;
	return t;
}

static void take_expr(struct weft_clause_typer *c, const struct weft_item *item)
{
	struct weft_node *n = weft_sema_expr(&c->s, &item->text);
	char name[32];

	if (!n)
		return;
	if (n->type.kind != WEFT_VALUE_INT) {
		weft_sema_fail(&c->s, n->span.start, "EXPR_TYPE",
			       "`%s` takes an integer, and this is %s", c->action->spec->name,
			       weft_type_phrase(&n->type, name));
		return;
	}
	if (c->action->spec->group == WEFT_GROUP_AGGREGATION)
		n = weft_node_promote(&c->s, n);
	else if (n->kind == WEFT_NODE_INT && (n->value < 0 || n->value > 255))
		weft_sema_fail(&c->s, n->span.start, "EXPR_NUMBER_RANGE",
			       "an exit status lies between 0 and 255");
	c->out->value = n;
}

static void take_name(struct weft_clause_typer *c, const struct weft_item *item)
{
	if (check_name(c, &item->text))
		c->out->into = item->text.s;
}

static void take_names(struct weft_clause_typer *c, const struct weft_item *item)
{
	struct weft_typed_action *out = c->out;
	const struct weft_action *filler;

	if (!check_name(c, &item->text))
		return;
	if (c->s.env->set) {
		int rc = weft_find_filler(c->s.env->set, &item->text, &filler, c->s.src.err);

		c->s.rc = rc ? rc : c->s.rc;
	}
	if (!out->names)
		out->names =
			weft_arena_array(c->s.src.arena, c->action->n_items, sizeof(*out->names));
	if (!out->names) {
		weft_sema_nomem(&c->s);
		return;
	}
	out->names[out->n_names++] = item->text.s;
}

static void take_keys(struct weft_clause_typer *c, const struct weft_item *item)
{
	struct weft_typed_item *t = named_item(c, &c->out->keys, &c->out->n_keys, item, true);

	if (t && t->node && t->node->type.kind == WEFT_VALUE_BYTES)
		weft_sema_fail(
			&c->s, t->node->span.start, "EXPR_TYPE",
			"bytes are no key: two keys are equal or not, and bytes differ in length");
	if (t && t->node && t->node->type.kind == WEFT_VALUE_REGS)
		weft_sema_fail(&c->s, t->node->span.start, "EXPR_TYPE",
			       "registers are no key: they are a field of `emit`, or an argument of "
			       "`printf`");
}

static void take_fields(struct weft_clause_typer *c, const struct weft_item *item)
{
	named_item(c, &c->out->fields, &c->out->n_fields, item, true);
}

static void take_format(struct weft_clause_typer *c, const struct weft_item *item)
{
	if (!c->out->format)
		c->out->format = item->text.s;
	else
		named_item(c, &c->out->fields, &c->out->n_fields, item, false);
}

/* The place of a word among a field's choices, from 1; 0: it is none of them. */
static unsigned int choice_of(const struct weft_item *item)
{
	size_t n = strlen(item->text.s);
	unsigned int i = 0;

	for (const char *p = item->field->choices; p && *p; p += strcspn(p, "|"), p += *p == '|') {
		i++;
		if (strcspn(p, "|") == n && memcmp(p, item->text.s, n) == 0)
			return i;
	}
	return 0;
}

static void take_choice(struct weft_clause_typer *c, const struct weft_item *item)
{
	unsigned int choice = choice_of(item);

	if (!choice) {
		c->s.src.text = &item->text;
		weft_sema_fail(&c->s, 0, "NAME_UNKNOWN", "`%s` is `%.80s`, and can be %s",
			       item->field->name, item->text.s, item->field->choices);
	} else if (!strcmp(item->field->name, "sort")) {
		c->out->view.sort = choice;
	} else if (!strcmp(item->field->name, "order")) {
		c->out->view.order = choice;
	} else {
		c->out->unit = item->text.s;
	}
}

static void (*const take[])(struct weft_clause_typer *, const struct weft_item *) = {
	[WEFT_SHAPE_EXPR] = take_expr,
	[WEFT_SHAPE_NAME] = take_name,
	[WEFT_SHAPE_NAMES] = take_names,
	[WEFT_SHAPE_KEYS] = take_keys,
	[WEFT_SHAPE_FIELDS] = take_fields,
	[WEFT_SHAPE_FORMAT] = take_format,
	[WEFT_SHAPE_CHOICE] = take_choice,
	[WEFT_SHAPE_CONSTANT] = weft_take_constant,
	[WEFT_SHAPE_ASSIGN] = weft_take_assignment,
	[WEFT_SHAPE_VARIABLES] = weft_take_variable,
	[WEFT_SHAPE_SIGNAL] = weft_take_signal,
};

void weft_take_item(struct weft_clause_typer *c, const struct weft_item *item)
{
	take[item->field->shape](c, item);
}
