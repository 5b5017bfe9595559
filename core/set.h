/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A probe set as plain structs: what config/ makes of a YAML file and the core compiles. Texts of
 * expressions are unparsed here and carry their place. Everything is allocated from set->arena.
 */
#ifndef WEFT_CORE_SET_H
#define WEFT_CORE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "error.h"
#include "registry.h"
#include "view.h"

/* A scalar of the file. verbatim: byte i of s stands at column pos.column + i (true of plain and simply
 * quoted one-line scalars without escapes); otherwise errors inside it point at its beginning. */
struct weft_text {
	const char *s; /* NULL: absent */
	struct weft_pos pos;
	bool verbatim;
};

/* One piece of an action, e.g. {field: "by", name: "program", expr: "execname"}. */
struct weft_item {
	const struct weft_action_field *field; /* row of the action's table (lang/actions.h) */
	struct weft_text
		name; /* key of a map entry (emit's field name, set's variable); absent in lists */
	struct weft_text text; /* expression, name, number or format, as field->shape says */
};

struct weft_action {
	const struct weft_action_spec *spec;
	struct weft_pos pos;
	struct weft_item *items; /* in file order */
	size_t n_items;
};

/* option: value pairs for providers, unchecked texts. */
struct weft_setting {
	struct weft_text name;
	struct weft_text value;
};

/* At most `count` in `per_ns`, as written in text; count 0: without limit. */
struct weft_rate {
	uint64_t count, per_ns;
	struct weft_text text;
};

struct weft_clause {
	uint32_t index; /* in file order; `begin` clauses first, then probes, then `end` */
	struct weft_pos pos;
	struct weft_pattern *patterns; /* none for begin and end */
	struct weft_pos *pattern_pos;
	size_t n_patterns;
	struct weft_text when; /* s NULL: always */
	/* Of the firings that pass `when`: only each n-th (0: each), and of those so many in a time. */
	uint64_t every;
	struct weft_rate limit;
	struct weft_action *actions;
	size_t n_actions;
	struct weft_setting *with;
	size_t n_with;
};

struct weft_provider_settings {
	struct weft_text provider;
	struct weft_setting *settings;
	size_t n_settings;
};

struct weft_param {
	struct weft_text name;
	struct weft_text value; /* as written; the language types it (integer, time, size or string) */
	bool quoted;            /* a quoted YAML scalar is a string whatever it looks like */
};

struct weft_target_spec {
	int32_t *pids;
	size_t n_pids;
	char **command; /* argv, NULL-terminated, or NULL */
	bool follow;
	struct weft_pos pos;
};

/* Defaults and ranges are rows of config's schema table. Sizes in bytes, times in ns. */
struct weft_options {
	uint32_t strsize;     /* most bytes of a string with its NUL: 16..1024, default 128 */
	uint32_t stackframes; /* most frames of a stack: 1..127, default 64 */
	uint64_t interval;    /* print aggregations this often; 0: only at the end */
	uint64_t buffer;      /* record buffer, a power of two >= page: default 1 MiB */
	uint32_t rows;        /* capacity of each aggregation: default 10,240 */
	uint32_t stacks;      /* distinct stacks remembered: default 10,240 */
	uint32_t depth;       /* nested entry/return frames a thread: 1..256, default 64 */
	uint32_t threads;     /* threads with state at a time: default 10,240 */
};

/* An entry of `aggregations`. */
struct weft_named_view {
	struct weft_text name;
	struct weft_view view;
};

struct weft_set {
	struct weft_arena *arena; /* owned */
	const char *file;
	struct weft_text name, description;
	struct weft_target_spec target;
	struct weft_param *params;
	size_t n_params;
	struct weft_options options;
	struct weft_provider_settings *providers;
	size_t n_providers;
	struct weft_named_view *views;
	size_t n_views;
	struct weft_clause *begin;
	size_t n_begin; /* 0 or 1: the `begin:` list is one clause */
	struct weft_clause *clauses;
	size_t n_clauses;
	struct weft_clause *end;
	size_t n_end; /* 0 or 1 */
};

void weft_set_destroy(struct weft_set *set);

/* Replaces a parameter's value (--param k=v). PARAM_UNKNOWN with the nearest name. */
int weft_set_param(struct weft_set *set, const char *name, const char *value,
		   struct weft_error *err);

/* Puts the values of parameters into descriptions of probes: a field that is $NAME, and nothing else,
 * becomes the value, globs and all. Reports every unknown name (PARAM_UNKNOWN) and bad pattern. */
int weft_set_fill_patterns(struct weft_set *set, struct weft_error *err);

#endif
