/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The language: from texts with places to a typed tree. lex.c splits, parse.c builds nodes by
 * precedence climbing, sema.c resolves names and types against the tables (vars.c, functions.c,
 * actions.c) and what a probe offers. The compiler reads only the typed tree.
 *
 * Integers follow C: operands narrower than 64 bits are promoted to 64-bit signed (every narrower
 * type fits); with one uint64 operand the other is converted to uint64. The result of a comparison
 * or a logical operator is int64 0 or 1. Overflow wraps. Shift counts are taken modulo 64. Division
 * and remainder by zero are faults; INT64_MIN / -1 wraps to INT64_MIN, INT64_MIN % -1 is 0.
 */
#ifndef WEFT_LANG_H
#define WEFT_LANG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../arena.h"
#include "../error.h"
#include "../set.h"
#include "actions.h"
#include "weft/provider.h"

/* ---- types ---- */

enum weft_value_kind {
	WEFT_VALUE_INT, /* size, is_signed */
	WEFT_VALUE_STRING, /* cap: most bytes with the NUL; NUL-padded where it lies in a key or a record */
	WEFT_VALUE_BYTES, /* cap: most bytes; a u32 length precedes them where they lie in memory */
	WEFT_VALUE_STACK, /* space, cap: most frames */
	WEFT_VALUE_PROBE, /* a field of the probe's description; in memory the probe's u64 cookie; .field */
};

struct weft_type {
	enum weft_value_kind kind;
	uint8_t size;    /* INT: 1, 2, 4, 8 */
	bool is_signed;  /* INT */
	uint8_t space;   /* enum weft_space: STACK; STRING and BYTES not yet copied */
	uint8_t field;   /* PROBE: enum weft_field */
	bool is_pointer; /* INT that is an address: shown in hexadecimal */
	uint32_t cap;
};

/* Text for messages: "uint64", "string", "stack". */
const char *weft_type_name(const struct weft_type *t, char buf[32]);

/* ---- the typed tree ---- */

enum weft_node_kind {
	WEFT_NODE_INT,    /* value */
	WEFT_NODE_STRING, /* string */
	WEFT_NODE_VAR,    /* var: a row of the variable table */
	WEFT_NODE_ARG,    /* index: an argument of the probe */
	WEFT_NODE_RETVAL,
	WEFT_NODE_ELAPSED, /* ns since the paired entry */
	WEFT_NODE_UNARY,   /* op, kid[0] */
	WEFT_NODE_BINARY,  /* op, kid[0], kid[1]; both kids INT of the same type, or both STRING or
			    * PROBE  against STRING with == or != */
	WEFT_NODE_LOGICAL, /* op && or ||: kid[1] is evaluated only if it decides */
	WEFT_NODE_COND,    /* kid[0] ? kid[1] : kid[2]; the kids 1 and 2 have the node's type */
	WEFT_NODE_CAST,    /* kid[0] to the node's type */
	WEFT_NODE_STACK,   /* stack or ustack; type.space, type.cap */
};

enum weft_op {
	WEFT_OP_ADD,
	WEFT_OP_SUB,
	WEFT_OP_MUL,
	WEFT_OP_DIV,
	WEFT_OP_MOD,
	WEFT_OP_AND,
	WEFT_OP_OR,
	WEFT_OP_XOR,
	WEFT_OP_SHL,
	WEFT_OP_SHR,
	WEFT_OP_EQ,
	WEFT_OP_NE,
	WEFT_OP_LT,
	WEFT_OP_LE,
	WEFT_OP_GT,
	WEFT_OP_GE,
	WEFT_OP_LOGAND,
	WEFT_OP_LOGOR,
	WEFT_OP_NEG,
	WEFT_OP_NOT,
	WEFT_OP_LOGNOT,
	WEFT_OP_PLUS,
};
const char *weft_op_text(enum weft_op op);

/* Where a node comes from: bytes [start, start + length) of text. */
struct weft_span {
	const struct weft_text *text;
	uint32_t start;
	uint32_t length;
};
struct weft_pos weft_span_pos(struct weft_span s); /* of its first byte, as exactly as text allows */

struct weft_node {
	enum weft_node_kind kind;
	enum weft_op op;
	struct weft_type type;
	struct weft_span span;
	int64_t value;      /* INT: the bits */
	const char *string; /* STRING: bytes without NUL inside */
	uint32_t length;    /* STRING: bytes without the NUL */
	const struct weft_var *var;
	uint32_t index;
	struct weft_node *kid[3];
};

/* ---- variables ---- */

enum weft_var_id {
	WEFT_VAR_PID,
	WEFT_VAR_TID,
	WEFT_VAR_PPID,
	WEFT_VAR_UID,
	WEFT_VAR_GID,
	WEFT_VAR_EXECNAME,
	WEFT_VAR_CPU,
	WEFT_VAR_TIMESTAMP,
	WEFT_VAR_WALLTIMESTAMP,
	WEFT_VAR_CGROUP,
	WEFT_VAR_ERRNO,
	WEFT_VAR_PROBEPROV,
	WEFT_VAR_PROBEMOD,
	WEFT_VAR_PROBEFUNC,
	WEFT_VAR_PROBENAME,
	WEFT_VAR_STACK,
	WEFT_VAR_USTACK,
	WEFT_VAR_RETVAL,
	WEFT_VAR_ELAPSED,
};

/* A row of the variable table: the single source of resolution and of the reference page. */
struct weft_var {
	const char *name;
	enum weft_var_id id;
	struct weft_type type; /* caps of STRING and STACK are filled in from the options */
	const char *help;      /* a sentence; units and range */
};
extern const struct weft_var weft_vars[];
extern const size_t weft_n_vars;

/* ---- typed clauses ---- */

struct weft_typed_item {
	const struct weft_item *item;
	const char *name;       /* the field's or key's name: given, or the expression's text */
	struct weft_node *node; /* NULL for names, choices and formats */
};

struct weft_typed_action {
	const struct weft_action *action;
	/* The parts by meaning; unused ones are empty. */
	const char *into;             /* aggregations */
	struct weft_typed_item *keys; /* `by` */
	size_t n_keys;
	struct weft_node *value;        /* aggregations; exit's status */
	const char *unit;               /* or NULL */
	struct weft_typed_item *fields; /* emit's fields, printf's arguments */
	size_t n_fields;
	const char *format; /* printf, checked against fields */
	const char **names; /* show, clear: empty means all */
	size_t n_names;
};

struct weft_typed_clause {
	const struct weft_clause *clause;
	struct weft_node *when; /* INT, or NULL */
	struct weft_typed_action *actions;
	size_t n_actions;
	bool uses_elapsed, uses_ustack, uses_stack;
};

/* What the language needs to know of the probe that a clause is typed for. info NULL: a begin or
 * end clause, where no argument exists. */
struct weft_lang_env {
	const struct weft_set *set; /* params, options */
	const struct weft_probe_info *info;
	const char *probe; /* for messages */
	bool destructive;
};

/* Types one clause for one kind of probe. Reports every error it finds; the result lives in arena.
 * Tags: EXPR_SYNTAX, EXPR_CHARACTER, EXPR_NUMBER_RANGE, EXPR_STRING_UNCLOSED, EXPR_ESCAPE,
 * EXPR_TYPE, EXPR_TOO_DEEP, EXPR_TOO_LONG, NAME_UNKNOWN, ARG_UNKNOWN, ARG_UNREADABLE, RETVAL_NONE,
 * ELAPSED_NONE, PARAM_UNKNOWN, FUNCTION_UNKNOWN, FUNCTION_ARGUMENTS, FORMAT_BAD, FORMAT_ARGUMENTS,
 * NAME_BAD, NAME_TWICE, DIVIDE_BY_ZERO (by a constant), STRING_TOO_LONG, VALUE_MISSING. */
int weft_lang_clause(const struct weft_lang_env *env, const struct weft_clause *clause,
		     struct weft_arena *arena, struct weft_typed_clause *out,
		     struct weft_error *err);

/* Parses and types one expression (tests, the fuzzer). */
int weft_lang_expr(const struct weft_lang_env *env, const struct weft_text *text,
		   struct weft_arena *arena, struct weft_node **out, struct weft_error *err);

/* Syntax only: what can be said of a clause without knowing its probe. */
int weft_lang_check_syntax(const struct weft_set *set, const struct weft_clause *clause,
			   struct weft_error *err);

#endif
