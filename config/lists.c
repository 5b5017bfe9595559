/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The parts of a set whose names are the writer's: the command, parameters, providers' settings. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "config/schema.h"

/* ---- target.command ---- */

static void read_words(struct weft_reader *r, const struct weft_tree_node *node,
		       struct weft_target_spec *target)
{
	static const char blanks[] = " \t\r\n";
	const char *p = node->text.s;
	size_t n = 0;

	target->command = weft_reader_alloc(r, node->size / 2 + 2, sizeof(*target->command));
	if (!target->command)
		return;
	for (p += strspn(p, blanks); *p; p += strspn(p, blanks)) {
		size_t size = strcspn(p, blanks);

		target->command[n] = weft_arena_strndup(r->arena, p, size);
		if (!target->command[n]) {
			weft_reader_nomem(r);
			return;
		}
		n++;
		p += size;
	}
	if (n == 0)
		weft_reader_fail(r, node->pos, "CONFIG_TYPE", "`command` is blank");
}

static void read_argv(struct weft_reader *r, const struct weft_tree_node *node,
		      struct weft_target_spec *target)
{
	size_t n = 0;

	target->command = weft_reader_alloc(r, node->n + 1, sizeof(*target->command));
	for (const struct weft_tree_node *v = node->first; v && !r->stop; v = v->next) {
		if (!weft_expect_scalar(r, v, "a word of `command`", "a text"))
			continue;
		target->command[n] = weft_arena_strndup(r->arena, v->text.s, v->size);
		if (!target->command[n])
			weft_reader_nomem(r);
		n++;
	}
	if (target->command && node->first && node->first->kind == WEFT_TREE_SCALAR &&
	    node->first->size == 0 && node->first->quoted)
		weft_reader_fail(r, node->first->pos, "CONFIG_TYPE",
				 "the first word of `command`, the program, is empty");
}

void weft_read_command(struct weft_reader *r, const struct weft_key *key,
		       const struct weft_tree_node *node, void *base)
{
	struct weft_target_spec *target = base;

	target->pos = node->pos; /* what is wrong with a target is mostly its command */
	if (node->kind == WEFT_TREE_LIST && node->n > 0)
		read_argv(r, node, target);
	else if (node->kind == WEFT_TREE_SCALAR && !weft_tree_is_null(node))
		read_words(r, node, target);
	else
		weft_fail_type(r, node, "`command`", weft_key_types[key->type].noun);
}

/* ---- params ---- */

static bool expect_map(struct weft_reader *r, const struct weft_tree_node *node, const char *what,
		       const char *expected)
{
	if (node->kind == WEFT_TREE_MAP)
		return true;
	if (node->kind != WEFT_TREE_BAD)
		weft_fail_type(r, node, what, expected);
	return false;
}

static void read_param(struct weft_reader *r, const struct weft_tree_node *v, struct weft_set *set)
{
	struct weft_tree_words words;
	char what[128];

	if (!weft_is_name(v->key->text.s)) {
		weft_reader_fail(r, v->key->pos, "CONFIG_NAME",
				 "the name of a parameter consists of letters, digits and _, "
				 "and does not begin with a digit: %s is none",
				 weft_tree_describe(v->key, &words));
		return;
	}
	snprintf(what, sizeof(what), "the parameter %s", weft_tree_describe(v->key, &words));
	if (!weft_expect_scalar(r, v, what, "a number, a duration, a size or a text") ||
	    weft_refuse_octal(r, v))
		return;
	set->params[set->n_params++] = (struct weft_param){
		.name = v->key->text,
		.value = v->text,
		.quoted = v->quoted,
	};
}

void weft_read_params(struct weft_reader *r, const struct weft_key *key,
		      const struct weft_tree_node *node, void *base)
{
	struct weft_set *set = base;

	if (!expect_map(r, node, "`params`", weft_key_types[key->type].noun))
		return;
	set->params = weft_reader_alloc(r, node->n, sizeof(*set->params));
	for (const struct weft_tree_node *v = node->first; v && !r->stop; v = v->next)
		read_param(r, v, set);
}

/* ---- settings ---- */

static struct weft_setting *read_map(struct weft_reader *r, const struct weft_tree_node *node,
				     size_t *n)
{
	struct weft_setting *settings = weft_reader_alloc(r, node->n, sizeof(*settings));
	struct weft_tree_words words;
	char what[128];

	for (const struct weft_tree_node *v = node->first; v && !r->stop; v = v->next) {
		snprintf(what, sizeof(what), "the option %s", weft_tree_describe(v->key, &words));
		if (weft_expect_scalar(r, v, what, "one value"))
			settings[(*n)++] = (struct weft_setting){v->key->text, v->text};
	}
	return settings;
}

void weft_read_settings(struct weft_reader *r, const struct weft_key *key,
			const struct weft_tree_node *node, void *base)
{
	struct weft_clause *clause = base;

	if (expect_map(r, node, "`with`", weft_key_types[key->type].noun))
		clause->with = read_map(r, node, &clause->n_with);
}

void weft_read_providers(struct weft_reader *r, const struct weft_key *key,
			 const struct weft_tree_node *node, void *base)
{
	struct weft_set *set = base;
	struct weft_tree_words words;
	char what[128];

	if (!expect_map(r, node, "`providers`", weft_key_types[key->type].noun))
		return;
	set->providers = weft_reader_alloc(r, node->n, sizeof(*set->providers));
	for (const struct weft_tree_node *v = node->first; v && !r->stop; v = v->next) {
		struct weft_provider_settings *p = &set->providers[set->n_providers];

		snprintf(what, sizeof(what), "the provider %s", weft_tree_describe(v->key, &words));
		if (!expect_map(r, v, what, "a map of options and values"))
			continue;
		p->provider = v->key->text;
		p->settings = read_map(r, v, &p->n_settings);
		set->n_providers++;
	}
}

/* ---- aggregations ---- */

void weft_read_views(struct weft_reader *r, const struct weft_key *key,
		     const struct weft_tree_node *node, void *base)
{
	struct weft_set *set = base;

	if (!expect_map(r, node, "`aggregations`", weft_key_types[key->type].noun))
		return;
	set->views = weft_reader_alloc(r, node->n, sizeof(*set->views));
	for (const struct weft_tree_node *v = node->first; v && !r->stop; v = v->next) {
		struct weft_named_view *view = &set->views[set->n_views];

		if (v->kind == WEFT_TREE_BAD)
			continue;
		view->name = v->key->text;
		weft_read_level(r, key->level, v, &view->view);
		set->n_views++;
	}
}
