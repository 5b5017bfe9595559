/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Lists of actions, read by the language's table: an action has fields, a field has a shape, and
 * nothing here knows what any action does. A field without a name is the action's whole value.
 *
 * An entry is a map of one key, `- count: {into: x}`; where no field is required a bare word will do,
 * `- show`.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "config/schema.h"
#include "core/lang/actions.h"

#define MAX_NAMES 64 /* candidates for a suggestion */

struct action_reader {
	struct weft_reader *r;
	struct weft_action *action;
	size_t cap_items;
};

/* ---- items ---- */

static void add_item(struct action_reader *a, const struct weft_action_field *field,
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
static const char *field_words(const struct action_reader *a, const struct weft_action_field *field,
			       char buf[96])
{
	if (*field->name)
		snprintf(buf, 96, "`%.40s` of `%.40s`", field->name, a->action->spec->name);
	else
		snprintf(buf, 96, "`%.40s`", a->action->spec->name);
	return buf;
}

static void fail_shape(struct action_reader *a, const struct weft_action_field *field,
		       const struct weft_tree_node *node, const char *expected)
{
	struct weft_tree_words words;
	char what[96];
	bool absent = weft_tree_is_null(node);

	if (node->kind == WEFT_TREE_BAD)
		return;
	weft_reader_fail(a->r, absent && node->key ? node->key->pos : node->pos, "ACTION_SHAPE",
			 "%s takes %s, not %s; for example `%s`", field_words(a, field, what),
			 expected, weft_tree_describe(node, &words), a->action->spec->example);
}

/* One scalar as an item. Returns whether the node was cut by a comma, so that what follows it in
 * its list is the rest of it. */
static bool read_item(struct action_reader *a, const struct weft_action_field *field,
		      const struct weft_tree_node *node, const char *expected)
{
	struct weft_text name = {.s = NULL};
	const char *whole;

	if (node->kind == WEFT_TREE_BAD)
		return false;
	if (node->kind != WEFT_TREE_SCALAR || (node->size == 0 && !node->quoted)) {
		fail_shape(a, field, node, expected);
		return false;
	}
	whole = weft_tree_cut(a->r, node);
	if (whole) {
		weft_tree_fail_cut(a->r, node, whole);
		return true;
	}
	if (node->key)
		name = node->key->text;
	add_item(a, field, name, node->text);
	return false;
}

/* The items of a list or the values of a map. */
static void read_items(struct action_reader *a, const struct weft_action_field *field,
		       const struct weft_tree_node *node, const char *expected)
{
	bool cut = false;

	for (const struct weft_tree_node *v = node->first; v && !a->r->stop; v = v->next) {
		if (!cut)
			cut = read_item(a, field, v, expected);
		else if (v->kind == WEFT_TREE_SCALAR && strchr(v->text.s, ')'))
			cut = false;
	}
}

/* ---- shapes ---- */

typedef void read_shape(struct action_reader *a, const struct weft_action_field *field,
			const struct weft_tree_node *node);

static void read_one(struct action_reader *a, const struct weft_action_field *field,
		     const struct weft_tree_node *node, const char *expected)
{
	/* The key of a field is the field's name, not the item's. */
	struct weft_tree_node value = *node;

	if (node->kind == WEFT_TREE_SCALAR && node->size > 0)
		value.key = NULL;
	read_item(a, field, &value, expected);
}

static void read_expr(struct action_reader *a, const struct weft_action_field *field,
		      const struct weft_tree_node *node)
{
	read_one(a, field, node, "an expression");
}

static void read_name(struct action_reader *a, const struct weft_action_field *field,
		      const struct weft_tree_node *node)
{
	read_one(a, field, node, "a name");
}

static void read_names(struct action_reader *a, const struct weft_action_field *field,
		       const struct weft_tree_node *node)
{
	if (node->kind == WEFT_TREE_LIST && node->n > 0)
		read_items(a, field, node, "names");
	else
		read_one(a, field, node, "a name or a list of names");
}

static void read_keys(struct action_reader *a, const struct weft_action_field *field,
		      const struct weft_tree_node *node)
{
	static const char expected[] =
		"an expression, a list of expressions, or a map of names and expressions";

	if (node->kind == WEFT_TREE_SCALAR)
		read_one(a, field, node, expected);
	else if (node->n > 0)
		read_items(a, field, node, expected);
	else
		fail_shape(a, field, node, expected);
}

static void read_fields(struct action_reader *a, const struct weft_action_field *field,
			const struct weft_tree_node *node)
{
	static const char expected[] = "a map of names and expressions, or a list of expressions";

	if (node->kind != WEFT_TREE_SCALAR && node->n > 0)
		read_items(a, field, node, expected);
	else
		fail_shape(a, field, node, expected);
}

static void read_format(struct action_reader *a, const struct weft_action_field *field,
			const struct weft_tree_node *node)
{
	static const char expected[] = "a format, or a list of a format and expressions";

	if (node->kind == WEFT_TREE_SCALAR)
		read_one(a, field, node, expected);
	else if (node->kind == WEFT_TREE_LIST && node->n > 0)
		read_items(a, field, node, expected);
	else
		fail_shape(a, field, node, expected);
}

/* Splits "ns|us|ms" into names that live in the arena. Returns how many. */
static size_t split_choices(struct weft_reader *r, const char *choices, const char *names[MAX_NAMES])
{
	char *copy = weft_arena_strdup(r->arena, choices);
	size_t n = 0;

	if (!copy) {
		weft_reader_nomem(r);
		return 0;
	}
	for (char *word; n < MAX_NAMES && (word = strsep(&copy, "|"));)
		names[n++] = word;
	return n;
}

static void read_choice(struct action_reader *a, const struct weft_action_field *field,
			const struct weft_tree_node *node)
{
	const char *names[MAX_NAMES], *choices = field->choices ? field->choices : "";
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

static read_shape *const shapes[] = {
	[WEFT_SHAPE_EXPR] = read_expr,     [WEFT_SHAPE_NAME] = read_name,
	[WEFT_SHAPE_NAMES] = read_names,   [WEFT_SHAPE_KEYS] = read_keys,
	[WEFT_SHAPE_FIELDS] = read_fields, [WEFT_SHAPE_FORMAT] = read_format,
	[WEFT_SHAPE_CHOICE] = read_choice,
};

static void read_field(struct action_reader *a, const struct weft_action_field *field,
		       const struct weft_tree_node *node)
{
	if (node->kind == WEFT_TREE_BAD)
		return;
	if ((size_t)field->shape < sizeof(shapes) / sizeof(shapes[0]) && shapes[field->shape])
		shapes[field->shape](a, field, node);
	else
		fail_shape(a, field, node, "a shape that this weft does not know");
}

/* ---- actions ---- */

static const struct weft_action_field *find_field(const struct weft_action_spec *spec,
						  const char *name)
{
	for (size_t i = 0; i < spec->n_fields; i++) {
		if (strcmp(spec->fields[i].name, name) == 0)
			return &spec->fields[i];
	}
	return NULL;
}

static bool has_named_fields(const struct weft_action_spec *spec)
{
	for (size_t i = 0; i < spec->n_fields; i++) {
		if (*spec->fields[i].name)
			return true;
	}
	return false;
}

static void fail_field(struct action_reader *a, const struct weft_tree_node *value)
{
	const struct weft_action_spec *spec = a->action->spec;
	const char *names[MAX_NAMES];
	struct weft_tree_words words;
	char sentence[160];
	size_t n = 0;

	for (size_t i = 0; i < spec->n_fields && n < MAX_NAMES; i++) {
		if (*spec->fields[i].name)
			names[n++] = spec->fields[i].name;
	}
	snprintf(sentence, sizeof(sentence), "`%.40s` has no field %s", spec->name,
		 weft_tree_describe(value->key, &words));
	weft_fail_unknown(a->r, value->key->pos, "ACTION_FIELD_UNKNOWN", sentence,
			  value->key->text.s, names, n);
}

/* value: the action's value, or NULL where there is none. */
static void check_missing(struct action_reader *a, const struct weft_tree_node *value)
{
	const struct weft_action_spec *spec = a->action->spec;

	for (size_t i = 0; i < spec->n_fields && !a->r->stop; i++) {
		const struct weft_action_field *field = &spec->fields[i];
		bool given = false;

		for (const struct weft_tree_node *v = value ? value->first : NULL; v; v = v->next)
			given |= v->key && strcmp(v->key->text.s, field->name) == 0;
		if (!field->required || given)
			continue;
		if (*field->name)
			weft_reader_fail(a->r, a->action->pos, "ACTION_FIELD_MISSING",
					 "`%s` needs `%s`, for example `%s`", spec->name,
					 field->name, spec->example);
		else
			weft_reader_fail(a->r, a->action->pos, "ACTION_FIELD_MISSING",
					 "`%s` needs a value, for example `%s`", spec->name,
					 spec->example);
	}
}

static void read_named(struct action_reader *a, const struct weft_tree_node *value)
{
	for (const struct weft_tree_node *v = value->first; v && !a->r->stop; v = v->next) {
		const struct weft_action_field *field = find_field(a->action->spec, v->key->text.s);

		if (!field || !*field->name)
			fail_field(a, v);
		else
			read_field(a, field, v);
	}
	check_missing(a, value);
}

/* An upper bound of the items that the value can become. */
static size_t count_items(const struct weft_tree_node *value)
{
	size_t n = 1 + value->n;

	for (const struct weft_tree_node *v = value->first; v; v = v->next)
		n += v->n;
	return n;
}

static void read_value(struct action_reader *a, const struct weft_tree_node *value)
{
	const struct weft_action_spec *spec = a->action->spec;
	const struct weft_action_field *whole = find_field(spec, "");
	struct weft_tree_words words;

	if (value->kind == WEFT_TREE_BAD)
		return;
	if (value->kind == WEFT_TREE_SCALAR && value->size == 0 && !value->quoted) {
		check_missing(a, NULL);
		return;
	}
	a->cap_items = count_items(value);
	a->action->items = weft_reader_alloc(a->r, a->cap_items, sizeof(*a->action->items));
	if (!a->action->items)
		return;
	if (has_named_fields(spec) && (!whole || value->kind == WEFT_TREE_MAP)) {
		if (value->kind == WEFT_TREE_MAP)
			read_named(a, value);
		else
			weft_reader_fail(a->r, value->pos, "ACTION_SHAPE",
					 "`%s` takes a map of its fields, not %s; for example `%s`",
					 spec->name, weft_tree_describe(value, &words),
					 spec->example);
	} else if (whole) {
		read_field(a, whole, value);
	} else {
		weft_reader_fail(a->r, value->pos, "ACTION_SHAPE", "`%s` takes no value, not %s",
				 spec->name, weft_tree_describe(value, &words));
	}
}

static void fail_action(struct weft_reader *r, const struct weft_tree_node *name)
{
	const char *names[MAX_NAMES];
	struct weft_tree_words words;
	char sentence[160];
	size_t n = 0;

	for (; n < weft_n_actions && n < MAX_NAMES; n++)
		names[n] = weft_actions[n].name;
	snprintf(sentence, sizeof(sentence), "there is no action %s",
		 weft_tree_describe(name, &words));
	weft_fail_unknown(r, name->pos, "ACTION_UNKNOWN", sentence, name->text.s, names, n);
}

/* Several keys in one entry: either a `- ` is missing, or the fields are not indented. */
static void fail_entry(struct weft_reader *r, const struct weft_tree_node *entry)
{
	const struct weft_tree_node *first = entry->first, *second = first ? first->next : NULL;
	const struct weft_action_spec *spec = first ? weft_action_find(first->key->text.s) : NULL;
	struct weft_tree_words words;

	if (!second)
		weft_reader_fail(r, entry->pos, "ACTION_SHAPE",
				 "an entry of a list of actions is one action, not an empty map");
	else if (spec && weft_tree_is_null(first) && find_field(spec, second->key->text.s))
		weft_reader_fail(r, second->key->pos, "ACTION_SHAPE",
				 "`%s` is a field of `%s`: indent it further than `%s`",
				 second->key->text.s, spec->name, spec->name);
	else
		weft_reader_fail(
			r, second->key->pos, "ACTION_SHAPE",
			"an entry of a list of actions is one action: begin %s on a line of its "
			"own with `- `",
			weft_tree_describe(second->key, &words));
}

static void read_entry(struct weft_reader *r, const struct weft_tree_node *entry,
		       struct weft_clause *clause)
{
	const struct weft_tree_node *name =
		entry->kind == WEFT_TREE_MAP && entry->n == 1 ? entry->first->key : entry;
	struct action_reader a = {.r = r};
	const struct weft_action_spec *spec;
	struct weft_tree_words words;

	if (entry->kind == WEFT_TREE_BAD)
		return;
	if (entry->kind == WEFT_TREE_MAP && entry->n != 1) {
		fail_entry(r, entry);
		return;
	}
	if (name->kind != WEFT_TREE_SCALAR || weft_tree_is_null(name)) {
		weft_reader_fail(r, name->pos, "ACTION_SHAPE",
				 "an entry of a list of actions is one action, not %s",
				 weft_tree_describe(name, &words));
		return;
	}
	spec = weft_action_find(name->text.s);
	if (!spec) {
		fail_action(r, name);
		return;
	}
	a.action = &clause->actions[clause->n_actions++];
	a.action->spec = spec;
	a.action->pos = name->pos;
	if (entry->kind == WEFT_TREE_MAP)
		read_value(&a, entry->first);
	else
		check_missing(&a, NULL);
}

void weft_read_action_list(struct weft_reader *r, const struct weft_tree_node *node,
			   const char *what, struct weft_clause *clause)
{
	if (node->kind != WEFT_TREE_LIST || node->n == 0) {
		weft_fail_type(r, node, what, "a list of actions, each on a line with `- `");
		return;
	}
	clause->actions = weft_reader_alloc(r, node->n, sizeof(*clause->actions));
	for (const struct weft_tree_node *v = node->first; v && !r->stop; v = v->next)
		read_entry(r, v, clause);
}
