/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reading a map by the rows of its level. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "config/schema.h"
#include "core/base/base.h"

#define MAX_KEYS 64 /* of a level or a list of candidates; what is beyond is never suggested */

static const struct weft_key *find_key(const struct weft_level *level, const char *name)
{
	for (size_t i = 0; i < level->n_keys; i++) {
		if (strcmp(level->keys[i].name, name) == 0)
			return &level->keys[i];
	}
	return NULL;
}

static const struct weft_tree_node *find_value(const struct weft_tree_node *map, const char *name)
{
	for (const struct weft_tree_node *v = map->first; v; v = v->next) {
		if (strcmp(v->key->text.s, name) == 0)
			return v;
	}
	return NULL;
}

void weft_fail_unknown(struct weft_reader *r, struct weft_pos pos, const char *tag,
		       const char *sentence, const char *word, const char *const *names, size_t n)
{
	const char *near = weft_nearest(word, names, n);
	bool reporting = !r->stop;
	char all[400];

	if (near)
		weft_reader_fail(r, pos, tag, "%s", sentence);
	else
		weft_reader_fail(r, pos, tag, "%s; there %s %s", sentence, n == 1 ? "is" : "are",
				 weft_list_names(names, n, all, sizeof(all)));
	if (reporting && near)
		weft_error_suggest(r->err, near);
}

const char *weft_hint_comma(const struct weft_tree_node *value)
{
	return value->flow && value->key && weft_tree_is_null(value)
		       ? ": if it belongs to the value before it, that value needs quotes"
		       : "";
}

static size_t key_names(const struct weft_level *level, const char *names[MAX_KEYS])
{
	size_t n = 0;

	for (; n < level->n_keys && n < MAX_KEYS; n++)
		names[n] = level->keys[n].name;
	return n;
}

/* Whether the key is there, or a misspelt one that was reported with this name as the right one. */
static bool is_given(const struct weft_level *level, const struct weft_tree_node *map,
		     const char *name)
{
	const char *names[MAX_KEYS], *near;
	size_t n = key_names(level, names);

	if (find_value(map, name))
		return true;
	for (const struct weft_tree_node *v = map->first; v; v = v->next) {
		near = find_key(level, v->key->text.s) ? NULL
						       : weft_nearest(v->key->text.s, names, n);
		if (near && strcmp(near, name) == 0)
			return true;
	}
	return false;
}

static void fail_key(struct weft_reader *r, const struct weft_level *level,
		     const struct weft_tree_node *value)
{
	const struct weft_tree_node *key = value->key;
	const char *names[MAX_KEYS];
	struct weft_tree_words words;
	char sentence[256];
	size_t n = key_names(level, names);

	snprintf(sentence, sizeof(sentence), "%s has no key %s%s", level->title,
		 weft_tree_describe(key, &words), weft_hint_comma(value));
	weft_fail_unknown(r, key->pos, "CONFIG_KEY_UNKNOWN", sentence, key->text.s, names, n);
}

static void fail_missing(struct weft_reader *r, const struct weft_level *level,
			 const struct weft_key *key, struct weft_pos pos)
{
	bool lines = strchr(key->example, '\n') != NULL;

	weft_reader_fail(r, pos, "CONFIG_MISSING", "%s needs the key `%s`%s%s%s", level->title,
			 key->name, lines ? "" : ", for example `", lines ? "" : key->example,
			 lines ? "" : "`");
}

static void check_missing(struct weft_reader *r, const struct weft_level *level,
			  const struct weft_tree_node *map)
{
	char names[128] = "";
	bool wanted = false, found = false;

	for (size_t i = 0; i < level->n_keys; i++) {
		const struct weft_key *key = &level->keys[i];
		bool given = (key->required || key->one_of) && is_given(level, map, key->name);
		size_t n = strlen(names);

		if (key->required && !given)
			fail_missing(r, level, key, map->pos);
		if (!key->one_of)
			continue;
		found |= given;
		snprintf(names + n, sizeof(names) - n, "%s`%s`", wanted ? " or " : "", key->name);
		wanted = true;
	}
	if (wanted && !found)
		weft_reader_fail(r, map->pos, "CONFIG_MISSING", "%s needs %s", level->title, names);
}

void weft_read_defaults(struct weft_reader *r, const struct weft_level *level, void *base)
{
	for (size_t i = 0; i < level->n_keys && !r->stop; i++) {
		const struct weft_key *key = &level->keys[i];
		struct weft_tree_node node = {
			.kind = WEFT_TREE_SCALAR,
			.text.s = key->default_text,
		};

		if (key->type == WEFT_KEY_LEVEL)
			weft_read_defaults(r, key->level, (char *)base + key->offset);
		if (!key->default_text)
			continue;
		node.size = strlen(key->default_text);
		weft_key_types[key->type].read(r, key, &node, base);
	}
}

void weft_read_level(struct weft_reader *r, const struct weft_level *level,
		     const struct weft_tree_node *node, void *base)
{
	if (node->kind == WEFT_TREE_BAD)
		return;
	if (node->kind != WEFT_TREE_MAP) {
		weft_fail_type(r, node, level->title, "a map of keys and values");
		return;
	}
	for (const struct weft_tree_node *v = node->first; v && !r->stop; v = v->next) {
		const struct weft_key *key = find_key(level, v->key->text.s);

		if (!key)
			fail_key(r, level, v);
		else if (v->kind != WEFT_TREE_BAD)
			weft_key_types[key->type].read(r, key, v, base);
	}
	check_missing(r, level, node);
}

void weft_read_sublevel(struct weft_reader *r, const struct weft_key *key,
			const struct weft_tree_node *node, void *base)
{
	weft_read_level(r, key->level, node, (char *)base + key->offset);
}
