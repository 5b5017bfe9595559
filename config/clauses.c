/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Clauses: begin, the entries of probes, end; and the descriptions of probes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "config/config.h"
#include "config/schema.h"

static void read_lifecycle(struct weft_reader *r, const struct weft_key *key,
			   const struct weft_tree_node *node, struct weft_clause **clause, size_t *n)
{
	char what[32];

	*clause = weft_reader_alloc(r, 1, sizeof(**clause));
	if (!*clause)
		return;
	*n = 1;
	(*clause)->pos = node->key->pos;
	snprintf(what, sizeof(what), "`%.20s`", key->name);
	weft_read_action_list(r, node, what, *clause);
}

void weft_read_begin(struct weft_reader *r, const struct weft_key *key,
		     const struct weft_tree_node *node, void *base)
{
	struct weft_set *set = base;

	read_lifecycle(r, key, node, &set->begin, &set->n_begin);
}

void weft_read_end(struct weft_reader *r, const struct weft_key *key,
		   const struct weft_tree_node *node, void *base)
{
	struct weft_set *set = base;

	read_lifecycle(r, key, node, &set->end, &set->n_end);
}

void weft_read_actions(struct weft_reader *r, const struct weft_key *key,
		       const struct weft_tree_node *node, void *base)
{
	(void)key;
	weft_read_action_list(r, node, "`do`", base);
}

void weft_read_probes(struct weft_reader *r, const struct weft_key *key,
		      const struct weft_tree_node *node, void *base)
{
	struct weft_set *set = base;

	if (node->kind != WEFT_TREE_LIST || node->n == 0) {
		weft_fail_type(r, node, "`probes`", weft_key_types[key->type].noun);
		return;
	}
	set->clauses = weft_reader_alloc(r, node->n, sizeof(*set->clauses));
	for (const struct weft_tree_node *v = node->first; v && !r->stop; v = v->next) {
		struct weft_clause *clause = &set->clauses[set->n_clauses++];

		clause->pos = v->pos;
		weft_read_level(r, key->level, v, clause);
	}
}

/* ---- probe: ---- */

static void read_description(struct weft_reader *r, const struct weft_tree_node *node,
			     struct weft_clause *clause)
{
	struct weft_pattern *pattern = &clause->patterns[clause->n_patterns];
	int rc;

	if (!weft_expect_scalar(r, node, "`probe`",
				"a probe description (provider:module:function:name)"))
		return;
	if (!strcasecmp(node->text.s, "begin") || !strcasecmp(node->text.s, "end")) {
		weft_reader_fail(r, node->text.pos, "PATTERN_FIELDS",
				 "'%s' is no probe: what is done before and after tracing are "
				 "lists of actions of the set, `begin:` and `end:`",
				 node->text.s);
		return;
	}
	rc = weft_pattern_parse(node->text.s, pattern, r->err);
	if (rc)
		weft_error_set_pos(r->err, node->text.pos);
	else
		clause->pattern_pos[clause->n_patterns++] = node->text.pos;
	weft_reader_note(r, rc);
}

static void read_fields(struct weft_reader *r, const struct weft_level *level,
			const struct weft_tree_node *node, struct weft_clause *clause)
{
	struct weft_pattern *pattern = &clause->patterns[clause->n_patterns];
	const char *fields[WEFT_N_FIELDS] = {"", "", "", ""};
	unsigned int errors = r->n_errors;
	int rc;

	weft_read_level(r, level, node, fields);
	if (r->stop || r->n_errors > errors)
		return;
	rc = weft_pattern_from_fields(fields, pattern, r->err);
	if (rc)
		weft_error_set_pos(r->err, node->pos);
	else
		clause->pattern_pos[clause->n_patterns++] = node->pos;
	weft_reader_note(r, rc);
}

static void read_pattern(struct weft_reader *r, const struct weft_key *key,
			 const struct weft_tree_node *node, struct weft_clause *clause)
{
	if (node->kind == WEFT_TREE_MAP)
		read_fields(r, key->level, node, clause);
	else
		read_description(r, node, clause);
}

void weft_read_patterns(struct weft_reader *r, const struct weft_key *key,
			const struct weft_tree_node *node, void *base)
{
	struct weft_clause *clause = base;
	size_t most = node->kind == WEFT_TREE_LIST ? node->n : 1;

	if (most == 0) {
		weft_fail_type(r, node, "`probe`", weft_key_types[key->type].noun);
		return;
	}
	clause->patterns = weft_reader_alloc(r, most, sizeof(*clause->patterns));
	clause->pattern_pos = weft_reader_alloc(r, most, sizeof(*clause->pattern_pos));
	if (!clause->patterns || !clause->pattern_pos)
		return;
	if (node->kind != WEFT_TREE_LIST) {
		read_pattern(r, key, node, clause);
		return;
	}
	for (const struct weft_tree_node *v = node->first; v && !r->stop; v = v->next)
		read_pattern(r, key, v, clause);
}
