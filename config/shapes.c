/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The value of a field of an action -> items, by the field's shape. */
#include "config/shapes.h"

#include <stdio.h>
#include <string.h>

/* ---- items ---- */

static void add_item(struct weft_action_reader *a, const struct weft_action_field *field,
		     struct weft_text name, struct weft_text text)
{
	struct weft_action *action = a->action;

	if (action->n_items < a->cap_items)
		action->items[action->n_items++] = (struct weft_item){
			.field = field,
			.name = name,
			.text = text,
		};
}

/* "`into` of `count`", or "`show`" where the field is the action's whole value. */
static const char *field_words(const struct weft_action_reader *a,
			       const struct weft_action_field *field, char buf[96])
{
	if (*field->name)
		snprintf(buf, 96, "`%.40s` of `%.40s`", field->name, a->action->spec->name);
	else
		snprintf(buf, 96, "`%.40s`", a->action->spec->name);
	return buf;
}

static void fail_shape(struct weft_action_reader *a, const struct weft_action_field *field,
		       const struct weft_tree_node *node, const char *expected)
{
	struct weft_tree_words words;
	char what[96];

	if (node->kind == WEFT_TREE_BAD)
		return;
	weft_reader_fail(a->r, weft_tree_is_null(node) && node->key ? node->key->pos : node->pos,
			 "ACTION_SHAPE", "%s takes %s, not %s; for example `%s`",
			 field_words(a, field, what), expected, weft_tree_describe(node, &words),
			 a->action->spec->example);
}

/* The same for one entry of a list or a map. */
static void fail_entry_shape(struct weft_action_reader *a, const struct weft_action_field *field,
			     const struct weft_tree_node *node, const char *expected)
{
	struct weft_tree_words entry, words;
	char what[96];
	bool absent = weft_tree_is_null(node) && node->key;

	if (node->kind == WEFT_TREE_BAD)
		return;
	weft_reader_fail(a->r, absent ? node->key->pos : node->pos, "ACTION_SHAPE",
			 "%s in %s takes %s, not %s%s",
			 node->key ? weft_tree_describe(node->key, &entry) : "an entry",
			 field_words(a, field, what), expected, weft_tree_describe(node, &words),
			 weft_hint_comma(node));
}

static bool is_text(const struct weft_tree_node *node)
{
	return node->kind == WEFT_TREE_SCALAR && (node->size > 0 || node->quoted);
}

/* One scalar as an item. Returns whether the node is cut short by a comma, so that what follows it
 * in its list is the rest of it. */
static bool read_item(struct weft_action_reader *a, const struct weft_action_field *field,
		      const struct weft_tree_node *node, struct weft_text name)
{
	const char *whole = weft_tree_cut(a->r, node, false);

	if (whole)
		weft_tree_fail_cut(a->r, node, whole);
	else
		add_item(a, field, name, node->text);
	return whole != NULL;
}

/* The items of a list or the values of a map. */
static void read_items(struct weft_action_reader *a, const struct weft_action_field *field,
		       const struct weft_tree_node *node, const char *expected)
{
	bool cut = false;

	for (const struct weft_tree_node *v = node->first; v && !a->r->stop; v = v->next) {
		if (cut)
			cut = v->kind != WEFT_TREE_SCALAR || !strchr(v->text.s, ')');
		else if (is_text(v))
			cut = read_item(a, field, v, v->key ? v->key->text : (struct weft_text){0});
		else
			fail_entry_shape(a, field, v, expected);
	}
}

/* ---- shapes ---- */

typedef void read_shape(struct weft_action_reader *a, const struct weft_action_field *field,
			const struct weft_tree_node *node);

static void read_one(struct weft_action_reader *a, const struct weft_action_field *field,
		     const struct weft_tree_node *node, const char *expected)
{
	if (is_text(node))
		read_item(a, field, node, (struct weft_text){0});
	else
		fail_shape(a, field, node, expected);
}

static void read_expr(struct weft_action_reader *a, const struct weft_action_field *field,
		      const struct weft_tree_node *node)
{
	read_one(a, field, node, "an expression");
}

static void read_name(struct weft_action_reader *a, const struct weft_action_field *field,
		      const struct weft_tree_node *node)
{
	read_one(a, field, node, "a name");
}

static void read_names(struct weft_action_reader *a, const struct weft_action_field *field,
		       const struct weft_tree_node *node)
{
	if (node->kind == WEFT_TREE_LIST && node->n > 0)
		read_items(a, field, node, "a name");
	else
		read_one(a, field, node, "a name or a list of names");
}

static void read_keys(struct weft_action_reader *a, const struct weft_action_field *field,
		      const struct weft_tree_node *node)
{
	static const char expected[] =
		"an expression, a list of expressions, or a map of names and expressions";

	if (node->kind == WEFT_TREE_SCALAR)
		read_one(a, field, node, expected);
	else if (node->n > 0)
		read_items(a, field, node, "an expression");
	else
		fail_shape(a, field, node, expected);
}

static void read_fields(struct weft_action_reader *a, const struct weft_action_field *field,
			const struct weft_tree_node *node)
{
	static const char expected[] = "a map of names and expressions, or a list of expressions";

	if (node->kind != WEFT_TREE_SCALAR && node->n > 0)
		read_items(a, field, node, "an expression");
	else
		fail_shape(a, field, node, expected);
}

static void read_format(struct weft_action_reader *a, const struct weft_action_field *field,
			const struct weft_tree_node *node)
{
	static const char expected[] = "a format, or a list of a format and expressions";

	if (node->kind == WEFT_TREE_SCALAR)
		read_one(a, field, node, expected);
	else if (node->kind == WEFT_TREE_LIST && node->n > 0)
		read_items(a, field, node, "an expression");
	else
		fail_shape(a, field, node, expected);
}

static void read_assign(struct weft_action_reader *a, const struct weft_action_field *field,
			const struct weft_tree_node *node)
{
	if (node->kind == WEFT_TREE_MAP && node->n > 0)
		read_items(a, field, node, "an expression");
	else
		fail_shape(a, field, node, "a map of variables and expressions");
}

static void read_variables(struct weft_action_reader *a, const struct weft_action_field *field,
			   const struct weft_tree_node *node)
{
	if (node->kind == WEFT_TREE_LIST && node->n > 0)
		read_items(a, field, node, "a variable");
	else
		read_one(a, field, node, "a variable or a list of variables");
}

/* Splits "ns|us|ms" into names that live in the arena. Returns how many. */
static size_t split_choices(struct weft_reader *r, const char *choices,
			    const char *names[WEFT_MAX_CANDIDATES])
{
	char *copy = weft_arena_strdup(r->arena, choices);
	size_t n = 0;

	if (!copy) {
		weft_reader_nomem(r);
		return 0;
	}
	for (char *word; n < WEFT_MAX_CANDIDATES && (word = strsep(&copy, "|"));)
		names[n++] = word;
	return n;
}

static void read_choice(struct weft_action_reader *a, const struct weft_action_field *field,
			const struct weft_tree_node *node)
{
	const char *names[WEFT_MAX_CANDIDATES], *choices = field->choices ? field->choices : "";
	struct weft_tree_words words;
	char what[96], sentence[320];
	size_t n;

	if (node->kind != WEFT_TREE_SCALAR || weft_tree_is_null(node)) {
		fail_shape(a, field, node, "one word");
		return;
	}
	n = split_choices(a->r, choices, names);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(names[i], node->text.s) == 0) {
			read_one(a, field, node, "one word");
			return;
		}
	}
	snprintf(sentence, sizeof(sentence), "%s is one of %s, not %s", field_words(a, field, what),
		 choices, weft_tree_describe(node, &words));
	weft_fail_unknown(a->r, node->text.pos, "ACTION_CHOICE", sentence, node->text.s, names, n);
}

static void read_signal(struct weft_action_reader *a, const struct weft_action_field *field,
			const struct weft_tree_node *node)
{
	read_one(a, field, node, "the name of a signal, or its number");
}

static read_shape *const shapes[] = {
	[WEFT_SHAPE_EXPR] = read_expr,           [WEFT_SHAPE_NAME] = read_name,
	[WEFT_SHAPE_NAMES] = read_names,         [WEFT_SHAPE_KEYS] = read_keys,
	[WEFT_SHAPE_FIELDS] = read_fields,       [WEFT_SHAPE_FORMAT] = read_format,
	[WEFT_SHAPE_CHOICE] = read_choice,       [WEFT_SHAPE_CONSTANT] = read_expr,
	[WEFT_SHAPE_SIGNAL] = read_signal,       [WEFT_SHAPE_ASSIGN] = read_assign,
	[WEFT_SHAPE_VARIABLES] = read_variables,
};

void weft_read_action_field(struct weft_action_reader *a, const struct weft_action_field *field,
			    const struct weft_tree_node *node)
{
	if (node->kind == WEFT_TREE_BAD)
		return;
	if ((size_t)field->shape < sizeof(shapes) / sizeof(shapes[0]) && shapes[field->shape])
		shapes[field->shape](a, field, node);
	else
		fail_shape(a, field, node, "a shape that this weft does not know");
}
