/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table of the format: levels (maps of the file) and their keys. A row says where its value
 * goes in the struct of its level, so that reading a map is one loop over rows; the same rows are
 * printed as JSON Schema and as the reference page.
 */
#ifndef WEFT_CONFIG_SCHEMA_H
#define WEFT_CONFIG_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/tree.h"

enum weft_key_type {
	WEFT_KEY_VERSION,
	WEFT_KEY_TEXT,      /* struct weft_text */
	WEFT_KEY_FIELD,     /* const char *, a field of a probe description */
	WEFT_KEY_EXPR,      /* struct weft_text */
	WEFT_KEY_BOOL,      /* bool */
	WEFT_KEY_INT,       /* uint32_t or uint64_t, within min..max */
	WEFT_KEY_DURATION,  /* the same, ns */
	WEFT_KEY_SIZE,      /* the same, bytes */
	WEFT_KEY_RATE,      /* struct weft_rate */
	WEFT_KEY_CHOICE,    /* uint32_t: the place of a word among choices, from 1 */
	WEFT_KEY_LEVEL,     /* a map with a level of its own, in the same struct at offset */
	WEFT_KEY_COMMAND,   /* these read into the struct of their level: weft_target_spec */
	WEFT_KEY_PIDS,      /* weft_target_spec */
	WEFT_KEY_PARAMS,    /* weft_set */
	WEFT_KEY_PROVIDERS, /* weft_set */
	WEFT_KEY_VIEWS,     /* weft_set */
	WEFT_KEY_PROBES,    /* weft_set */
	WEFT_KEY_BEGIN,     /* weft_set */
	WEFT_KEY_END,       /* weft_set */
	WEFT_KEY_PATTERNS,  /* weft_clause */
	WEFT_KEY_ACTIONS,   /* weft_clause */
	WEFT_KEY_SETTINGS,  /* weft_clause */
	WEFT_N_KEY_TYPES
};

#define WEFT_RATE_MOST 1000000u /* a second; the interval of tokens is kept in whole nanoseconds */

struct weft_level;

struct weft_key {
	const char *name;
	enum weft_key_type type;
	bool required;
	bool one_of;       /* at least one of the level's keys so marked is required */
	bool zero;         /* 0 is allowed beside min..max */
	bool power_of_two; /* SIZE */
	uint64_t min, max; /* INT, DURATION, SIZE; both 0: unbounded */
	const char *min_text, *max_text; /* as a user writes them; DURATION, SIZE */
	const char *choices;             /* CHOICE: "a|b|c" */
	const char *default_text;        /* NULL: none */
	const char *help;                /* a sentence or two */
	const char *example;            /* YAML; more lines are indented by two blanks each level */
	const struct weft_level *level; /* LEVEL, PROBES, PATTERNS, VIEWS: of their maps */
	size_t offset, size;            /* of the member of the level's struct */
};

struct weft_level {
	const char *name;  /* of the level, for headings and messages: "target" */
	const char *title; /* for messages: "a probe set", "`target`" */
	const char *help;
	const struct weft_key *keys;
	size_t n_keys;
};

extern const struct weft_level weft_level_top, weft_level_target, weft_level_options,
	weft_level_clause, weft_level_probe, weft_level_view;
extern const struct weft_level *const weft_levels[];
extern const size_t weft_n_levels;

/* Reads one value that lies under key into base. Every function takes what is not BAD. */
typedef void weft_key_read(struct weft_reader *r, const struct weft_key *key,
			   const struct weft_tree_node *node, void *base);

/* What the pages say of a type, and who reads it. */
struct weft_key_type_spec {
	weft_key_read *read;
	const char *noun; /* for messages: "an integer" */
	const char *page; /* for the reference page: "integer" */
};
extern const struct weft_key_type_spec weft_key_types[WEFT_N_KEY_TYPES];

/* Reads the map node by the rows of level into base (defaults first). Reports CONFIG_TYPE if it is
 * no map, CONFIG_KEY_UNKNOWN, CONFIG_MISSING and whatever the rows' types report. */
void weft_read_level(struct weft_reader *r, const struct weft_level *level,
		     const struct weft_tree_node *node, void *base);
void weft_read_defaults(struct weft_reader *r, const struct weft_level *level, void *base);

weft_key_read weft_read_version, weft_read_text, weft_read_field, weft_read_expr_key,
	weft_read_bool, weft_read_int, weft_read_duration, weft_read_size, weft_read_rate,
	weft_read_sublevel, weft_read_command, weft_read_pids, weft_read_params,
	weft_read_providers, weft_read_probes, weft_read_choice, weft_read_views, weft_read_begin,
	weft_read_end, weft_read_patterns, weft_read_actions, weft_read_settings;

/* "`what` takes expected, not found": CONFIG_TYPE at the node. */
void weft_fail_type(struct weft_reader *r, const struct weft_tree_node *node, const char *what,
		    const char *expected);
/* Whether the node is a scalar with something in it; else reports CONFIG_TYPE. */
bool weft_expect_scalar(struct weft_reader *r, const struct weft_tree_node *node, const char *what,
			const char *expected);
/* An expression: reports CONFIG_TYPE, CONFIG_QUOTE. */
bool weft_read_expr(struct weft_reader *r, const struct weft_tree_node *node, const char *what,
		    struct weft_text *out);
/* A name: [A-Za-z_][A-Za-z0-9_]*. */
bool weft_is_name(const char *s);
/* A number such as 0755, which YAML readers take for octal: CONFIG_TYPE, and true. */
bool weft_refuse_octal(struct weft_reader *r, const struct weft_tree_node *node);

/* Reports an unknown word at a place, with the nearest right one. */
void weft_fail_unknown(struct weft_reader *r, struct weft_pos pos, const char *tag,
		       const char *sentence, const char *word, const char *const *names, size_t n);

/* What to add to a report of a key whose value is missing: in { } a comma may be to blame; or "". */
const char *weft_hint_comma(const struct weft_tree_node *value);

/* core/lang's actions, by the shapes of its table (config/actions.c). */
struct weft_action;
void weft_read_action_list(struct weft_reader *r, const struct weft_tree_node *node,
			   const char *what, struct weft_clause *clause);

#endif
