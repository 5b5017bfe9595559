/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Lists of actions, read by the language's table: an action has fields, a field has a shape, and
 * nothing here knows what any action does. A field without a name is the action's whole value.
 *
 * An entry is a map of one key, `- count: {into: x}`; where no field is required a bare word will do,
 * `- show`.
 */
#include <stdio.h>
#include <string.h>

#include "config/shapes.h"

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

static size_t field_names(const struct weft_action_spec *spec,
			  const char *names[WEFT_MAX_CANDIDATES])
{
	size_t n = 0;

	for (size_t i = 0; i < spec->n_fields && n < WEFT_MAX_CANDIDATES; i++) {
		if (*spec->fields[i].name)
			names[n++] = spec->fields[i].name;
	}
	return n;
}

/* Whether the field is there, or a misspelt one that was reported with this name as the right one. */
static bool is_given(const struct weft_action_spec *spec, const struct weft_tree_node *value,
		     const char *name)
{
	const char *names[WEFT_MAX_CANDIDATES], *near;
	size_t n = field_names(spec, names);

	for (const struct weft_tree_node *v = value ? value->first : NULL; v; v = v->next) {
		near = v->key->text.s;
		if (!find_field(spec, near))
			near = weft_nearest(near, names, n);
		if (near && strcmp(near, name) == 0)
			return true;
	}
	return false;
}

static void fail_field(struct weft_action_reader *a, const struct weft_tree_node *value)
{
	const struct weft_action_spec *spec = a->action->spec;
	const char *names[WEFT_MAX_CANDIDATES];
	struct weft_tree_words words;
	char sentence[256];
	size_t n = field_names(spec, names);

	snprintf(sentence, sizeof(sentence), "`%.40s` has no field %s%s", spec->name,
		 weft_tree_describe(value->key, &words), weft_hint_comma(value));
	weft_fail_unknown(a->r, value->key->pos, "ACTION_FIELD_UNKNOWN", sentence,
			  value->key->text.s, names, n);
}

/* value: the action's value, or NULL where there is none. */
static void check_missing(struct weft_action_reader *a, const struct weft_tree_node *value)
{
	const struct weft_action_spec *spec = a->action->spec;

	for (size_t i = 0; i < spec->n_fields && !a->r->stop; i++) {
		const struct weft_action_field *field = &spec->fields[i];

		if (!field->required || is_given(spec, value, field->name))
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

static void read_named(struct weft_action_reader *a, const struct weft_tree_node *value)
{
	for (const struct weft_tree_node *v = value->first; v && !a->r->stop; v = v->next) {
		const struct weft_action_field *field = find_field(a->action->spec, v->key->text.s);

		if (!field || !*field->name)
			fail_field(a, v);
		else
			weft_read_action_field(a, field, v);
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

static void read_value(struct weft_action_reader *a, const struct weft_tree_node *value)
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
		weft_read_action_field(a, whole, value);
	} else {
		weft_reader_fail(a->r, value->pos, "ACTION_SHAPE", "`%s` takes no value, not %s",
				 spec->name, weft_tree_describe(value, &words));
	}
}

static void fail_action(struct weft_reader *r, const struct weft_tree_node *name)
{
	const char *names[WEFT_MAX_CANDIDATES];
	struct weft_tree_words words;
	char sentence[160];
	size_t n = 0;

	for (; n < weft_n_actions && n < WEFT_MAX_CANDIDATES; n++)
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
	struct weft_action_reader a = {.r = r};
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
