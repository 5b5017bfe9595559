/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table of actions: one row is the single source for what config/ accepts, what the JSON Schema
 * and the reference page say, and what the language does with it.
 */
#ifndef WEFT_LANG_ACTIONS_H
#define WEFT_LANG_ACTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum weft_action_kind {
	/* aggregations */
	WEFT_ACTION_COUNT,
	WEFT_ACTION_SUM,
	WEFT_ACTION_AVG,
	WEFT_ACTION_MIN,
	WEFT_ACTION_MAX,
	WEFT_ACTION_STDDEV,
	WEFT_ACTION_QUANTIZE,
	WEFT_ACTION_LQUANTIZE,
	WEFT_ACTION_LLQUANTIZE,
	/* records */
	WEFT_ACTION_EMIT,
	WEFT_ACTION_PRINTF,
	/* control */
	WEFT_ACTION_SHOW,
	WEFT_ACTION_CLEAR,
	WEFT_ACTION_EXIT,
	/* destructive */
	WEFT_ACTION_SIGNAL,
	/* state */
	WEFT_ACTION_SET,
	WEFT_ACTION_DELETE,
};

enum weft_action_group {
	WEFT_GROUP_AGGREGATION,
	WEFT_GROUP_RECORD,
	WEFT_GROUP_CONTROL,
	WEFT_GROUP_DESTRUCTIVE, /* changes what is traced: refused unless the user allows it */
	WEFT_GROUP_STATE,
};

/* The shape of a YAML value. */
enum weft_shape {
	WEFT_SHAPE_EXPR,   /* a scalar: an expression -> one item */
	WEFT_SHAPE_NAME,   /* a scalar: an identifier -> one item */
	WEFT_SHAPE_NAMES,  /* an identifier or a list of them -> an item each */
	WEFT_SHAPE_KEYS,   /* an expression, a list of expressions, or a map name -> expression */
	WEFT_SHAPE_FIELDS, /* a map name -> expression, or a list of expressions */
	WEFT_SHAPE_FORMAT, /* a string, or a list of a string and expressions; the first item is the string */
	WEFT_SHAPE_CHOICE,   /* a scalar: one of choices -> one item */
	WEFT_SHAPE_CONSTANT, /* a scalar: an expression that is known beforehand -> one item */
	WEFT_SHAPE_SIGNAL, /* a scalar: a signal's name, one of choices, or its number -> one item */
	WEFT_SHAPE_ASSIGN,    /* a map variable -> expression, or operator and expression: += x */
	WEFT_SHAPE_VARIABLES, /* a variable or a list of them -> an item each */
};

/* One field of an action whose value is a map ({into: , by: , value: }); or, with name "", the
 * action's whole value when it is not such a map (emit, printf, exit). show has both: a map is
 * taken by its fields, anything else is the whole value. */
struct weft_action_field {
	const char *name;
	enum weft_shape shape;
	bool required;
	const char *choices; /* CHOICE: "ns|us|ms|s|bytes|..." */
	const char *help;    /* one sentence */
};

struct weft_action_spec {
	const char *name;
	enum weft_action_kind kind;
	enum weft_action_group group;
	const struct weft_action_field *fields;
	size_t n_fields;
	const char *help;    /* a sentence or two */
	const char *example; /* a line of YAML */
};

extern const struct weft_action_spec weft_actions[];
extern const size_t weft_n_actions;
const struct weft_action_spec *weft_action_find(const char *name);

#endif
