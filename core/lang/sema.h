/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Typing, by concept: fold.c knows what operators compute, typing.c what they take and give,
 * names.c what names mean, clause.c what actions want.
 *
 * Functions here return a node, or NULL after something was wrong. That was reported already (or
 * cannot be known yet: unknown_probe), so callers pass NULL on and say nothing of their own; hence
 * one error makes one report and the next expression is typed all the same.
 */
#ifndef WEFT_LANG_SEMA_H
#define WEFT_LANG_SEMA_H

#include "core/lang/ast.h"

struct weft_sema {
	struct weft_source src; /* the expression at hand */
	const struct weft_lang_env *env;
	bool unknown_probe;       /* arguments, retval and elapsed are taken on trust */
	unsigned dead;            /* inside something that a constant keeps from being evaluated */
	struct weft_state *state; /* the set's variables; NULL: it has none */
	const struct weft_typed_clause *clause; /* whose locals there are; NULL: none */
	int rc;                                 /* 0, or of the first error */
};

/* Reports, remembers and returns NULL. */
struct weft_node *weft_sema_fail(struct weft_sema *s, uint32_t at, const char *tag,
				 const char *format, ...) __attribute__((format(printf, 4, 5)));
struct weft_node *weft_sema_nomem(struct weft_sema *s);

/* Parses and types one text. NULL: see above, or s->rc. */
struct weft_node *weft_sema_expr(struct weft_sema *s, const struct weft_text *text);
struct weft_node *weft_sema_expr_from(struct weft_sema *s, const struct weft_text *text,
				      uint32_t from);

/* "an int64", "a string", "bytes". */
const char *weft_type_phrase(const struct weft_type *t, char buf[32]);

/* ---- typing.c ---- */

struct weft_node *weft_type_ast(struct weft_sema *s, const struct weft_ast *a);
/* The same, but what is a struct, a union or an array stays one: an OBJECT. */
struct weft_node *weft_type_place(struct weft_sema *s, const struct weft_ast *a);
struct weft_node *weft_node_new(struct weft_sema *s, enum weft_node_kind kind,
				struct weft_type type, const struct weft_ast *from);
struct weft_node *weft_node_int(struct weft_sema *s, int64_t value, bool is_unsigned,
				const struct weft_ast *from);
struct weft_node *weft_node_string(struct weft_sema *s, const char *string, uint32_t n,
				   const struct weft_ast *from);
struct weft_node *weft_node_convert(struct weft_sema *s, struct weft_node *n, uint8_t size,
				    bool is_signed);
struct weft_node *weft_node_promote(struct weft_sema *s, struct weft_node *n); /* to 64 bits */
/* Both operands to one 64-bit type: uint64 if one of them is. */
bool weft_node_balance(struct weft_sema *s, struct weft_node **a, struct weft_node **b);
struct weft_node *weft_node_binary(struct weft_sema *s, enum weft_op op, struct weft_node *a,
				   struct weft_node *b, const struct weft_ast *from);
struct weft_node *weft_node_logical(struct weft_sema *s, enum weft_op op, struct weft_node *a,
				    struct weft_node *b, const struct weft_ast *from);
struct weft_node *weft_node_cond(struct weft_sema *s, struct weft_node *c, struct weft_node *a,
				 struct weft_node *b, const struct weft_ast *from);
struct weft_node *weft_node_unary(struct weft_sema *s, enum weft_op op, struct weft_node *a,
				  const struct weft_ast *from);

/* An integer is wanted; what says for what. Else EXPR_TYPE. */
bool weft_want_int(struct weft_sema *s, const struct weft_node *n, const char *what);

/* ---- compare.c ---- */

/* == and != where a side is not an integer; other operators are refused. */
struct weft_node *weft_node_compare(struct weft_sema *s, enum weft_op op, struct weft_node *a,
				    struct weft_node *b, const struct weft_ast *from);

/* After an error: where an address of text stands for the text, how to read it. */
void weft_suggest_reading(struct weft_sema *s, const struct weft_node *n);

/* A string constant that is longer than a string may be: STRING_TOO_LONG. */
bool weft_string_fits(struct weft_sema *s, const struct weft_node *n);

/* ---- names.c, args.c, entry.c ---- */

struct weft_node *weft_resolve_name(struct weft_sema *s, const struct weft_ast *a);
struct weft_node *weft_resolve_param(struct weft_sema *s, const struct weft_ast *a);
struct weft_node *weft_resolve_member(struct weft_sema *s, const struct weft_ast *a);
struct weft_node *weft_resolve_call(struct weft_sema *s, const struct weft_ast *a);

/* ---- state.c, resolve_state.c ---- */

/* A mention of a variable: what its tree says, whether there is such a one or not. */
struct weft_state_ref {
	enum weft_state_scope scope;
	const char *name;  /* in the arena: self.start */
	const char *local; /* CLAUSE: without `this.` */
	const struct weft_ast *keys;
	uint32_t n_keys;
};

/* 1: a variable's form; 0: something else; -ENOMEM. */
int weft_state_ref(struct weft_arena *arena, const struct weft_ast *a, struct weft_state_ref *out);
struct weft_state_var *weft_state_find(const struct weft_state *state, const char *name);
bool weft_state_used(const struct weft_set *set); /* whether any clause assigns or deletes */
/* Names that mean something already. */
bool weft_name_is_taken(const char *name);

/* The variable as a node; what it is not is an error. assigned: to be given a value, not read. */
struct weft_node *weft_state_node(struct weft_sema *s, const struct weft_ast *a,
				  const struct weft_state_ref *ref, bool assigned);
/* A name that is nothing else, or a member of self or this, or an element: NULL with *mine false
 * where it is no variable's form. */
struct weft_node *weft_resolve_state(struct weft_sema *s, const struct weft_ast *a, bool *mine);
/* One of names that differs from a name in its scope alone (self., this.), or NULL. */
const char *weft_same_name(const char *name, const char *const *names, size_t n);
struct weft_node *weft_resolve_index(struct weft_sema *s, const struct weft_ast *a);
struct weft_node *weft_resolve_default(struct weft_sema *s, const struct weft_ast *a);

struct weft_node *weft_resolve_arg(struct weft_sema *s, uint32_t index, const struct weft_ast *a);
struct weft_node *weft_resolve_retval(struct weft_sema *s, const struct weft_ast *a);
struct weft_node *weft_resolve_errno(struct weft_sema *s, const struct weft_ast *a);
struct weft_node *weft_resolve_regs(struct weft_sema *s, const struct weft_var *v,
				    const struct weft_ast *a);
struct weft_node *weft_resolve_elapsed(struct weft_sema *s, const struct weft_ast *a);
struct weft_node *weft_resolve_entry(struct weft_sema *s, const struct weft_ast *a);
/* arg0, arg12; not arg, arg01, arg1x. */
bool weft_arg_index(const char *name, uint32_t *index);
/* The provider's type as the language's; false: not understood. */
bool weft_arg_value_type(const struct weft_lang_env *env, const struct weft_arg_type *t,
			 struct weft_type *out);
size_t weft_n_args(const struct weft_lang_env *env);
/* One argument, whatever size the plugin's struct has. */
void weft_arg_get(const struct weft_lang_env *env, size_t i, struct weft_arg *out);

/* ---- functions.c ---- */

#define WEFT_MAX_FUNCTION_ARGS 3u /* as many as a node has kids */

/* What an argument has to be. Integers are promoted. */
enum weft_takes {
	WEFT_TAKES_INT,
	WEFT_TAKES_CONST,  /* a constant integer */
	WEFT_TAKES_USER,   /* an address; one that is typed points into user memory */
	WEFT_TAKES_KERNEL, /* likewise into the kernel's */
	WEFT_TAKES_STRING,
	WEFT_TAKES_TEXT, /* a constant string */
	WEFT_TAKES_BYTES,
	WEFT_TAKES_ANY, /* whatever it is, as it is */
};

struct weft_function {
	const char *name;
	enum weft_function_id id;
	const char *signature; /* "stack(N)" */
	enum weft_takes params[WEFT_MAX_FUNCTION_ARGS];
	uint32_t min_args, max_args;
	struct weft_type result; /* INT of size 0: the type of the arguments */
	/* The arguments are typed and fit; NULL after an error. */
	struct weft_node *(*type)(struct weft_sema *s, const struct weft_function *f,
				  struct weft_node **args, const struct weft_ast *a);
	const char *help;
};
extern const struct weft_function weft_functions[];
extern const size_t weft_n_functions;

/* Whether an argument is what the function takes: reports what is not; promotes integers. */
bool weft_param_fits(struct weft_sema *s, const struct weft_function *f, size_t i,
		     struct weft_node **arg);

/* ---- calls_memory.c, calls_text.c, calls_number.c: what becomes of calls ---- */

#define WEFT_MAX_BYTES 4096u /* that a clause may copy at a time */

typedef struct weft_node *weft_type_call(struct weft_sema *s, const struct weft_function *f,
					 struct weft_node **args, const struct weft_ast *a);
weft_type_call weft_call_string_read, weft_call_bytes_read, weft_call_peek;
weft_type_call weft_call_strlen, weft_call_substr, weft_call_basename, weft_call_find;
weft_type_call weft_call_unary, weft_call_extreme;
weft_type_call weft_call_symbol, weft_call_ipv4, weft_call_ipv6;

/* A CALL of the result's type. */
struct weft_node *weft_node_call(struct weft_sema *s, const struct weft_function *f,
				 struct weft_node **args, struct weft_type type,
				 const struct weft_ast *a);

/* ---- fold.c ---- */

/* What op gives of two operands that are both int64 or both uint64; false: division by zero. */
bool weft_fold_binary(enum weft_op op, bool is_signed, int64_t a, int64_t b, int64_t *out);
int64_t weft_fold_unary(enum weft_op op, int64_t a);
int64_t weft_fold_cast(int64_t value, uint8_t size, bool is_signed);

/* Limits that hold where a set does not say (tests). */
#define WEFT_DEFAULT_STRSIZE     128u
#define WEFT_DEFAULT_STACKFRAMES 64u
#define WEFT_MAX_STACKFRAMES     127u /* sysctl kernel.perf_event_max_stack's default */
uint32_t weft_env_strsize(const struct weft_lang_env *env);
uint32_t weft_env_stackframes(const struct weft_lang_env *env);

#endif
