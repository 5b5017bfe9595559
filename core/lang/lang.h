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
#include "../btf/enums.h"
#include "../btf/source.h"
#include "../buckets.h"
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
	WEFT_VALUE_SYMBOL, /* an address that is shown as the symbol it belongs to; .space */
	WEFT_VALUE_INET, /* an address of the internet; cap: its bytes, 4 or 16, in network order */
	WEFT_VALUE_CGROUP, /* what a cgroup's u64 id stands for; .field: enum weft_cgroup_field */
	WEFT_VALUE_REGS,   /* all registers, a u64 each; in records only */
	WEFT_VALUE_OBJECT, /* a struct, union or array of BTF: a place while typing, never a value */
};

/* Where an INT's type comes from BTF: what {btf_fd, btf_id} says of it. */
enum weft_btf_role {
	WEFT_ROLE_NONE,
	WEFT_ROLE_ARG, /* a pointer as a provider describes it: its type, or what it points to */
	WEFT_ROLE_TO,  /* a pointer: what it points to */
};

enum weft_cgroup_field { WEFT_CGROUP_NAME, WEFT_CGROUP_CONTAINER };

struct weft_type {
	enum weft_value_kind kind;
	uint8_t size;   /* INT: 1, 2, 4, 8 */
	bool is_signed; /* INT */
	uint8_t space; /* enum weft_space: STACK, SYMBOL, addresses; STRING and BYTES not yet copied */
	uint8_t field;   /* PROBE: enum weft_field; CGROUP: enum weft_cgroup_field */
	bool is_pointer; /* INT that is an address: shown in hexadecimal */
	bool is_dump;    /* BYTES that text shows as a hexdump */
	uint8_t role;    /* INT: enum weft_btf_role */
	uint32_t cap;
	uint32_t btf_id;
	int32_t btf_fd;
	const char *text;                  /* as C writes it; NULL: weft_type_name() makes one */
	const struct weft_btf_enum *names; /* INT: the constants of an enum, or NULL */
};

/* Text for messages: "uint64", "string", "stack". */
const char *weft_type_name(const struct weft_type *t, char buf[32]);

/* ---- the typed tree ---- */

/*
 * What the compiler may rely on; weft_lang_verify() checks it. "64-bit" is int64 or uint64; two types
 * are the same if kind, size and sign are (is_pointer is for display alone, caps are given below).
 *
 *  - Constants are folded, and so is what they decide: no operator has only constant kids, no
 *    condition of COND and no left side of LOGICAL is a constant. An INT's value is extended to 64
 *    bits as its type says. Parameters are constants.
 *  - Arithmetic happens in 64 bits: narrower operands stand under a CAST. A CAST never has the type
 *    of its kid, and both are INT.
 *  - A division's kid[1] is not the constant 0.
 *  - INTs of variables have 64 bits, STRINGs of variables the cap of options.strsize.
 */
enum weft_node_kind {
	WEFT_NODE_INT,    /* value */
	WEFT_NODE_STRING, /* string; type.cap > length */
	WEFT_NODE_VAR,    /* var: a row of the variable table, but for those that have kinds below
			   * and errno, which becomes a tree over RETVAL */
	WEFT_NODE_ARG,    /* index: an argument of the probe */
	WEFT_NODE_RETVAL,
	WEFT_NODE_ELAPSED, /* ns since the paired entry; int64 */
	WEFT_NODE_UNARY, /* NEG, NOT: kid[0] has the node's type, 64-bit. LOGNOT: kid[0] any INT */
	WEFT_NODE_BINARY, /* op, kid[0], kid[1]; both kids INT of the same 64-bit type (the count of a
			   * shift too), which is the node's or, of comparisons, gives int64; or both
			   * STRING, or kid[0] PROBE and kid[1] a STRING constant, with == or != */
	WEFT_NODE_LOGICAL, /* op && or ||: kid[1] is evaluated only if it decides; kids any INT */
	WEFT_NODE_COND,  /* kid[0] ? kid[1] : kid[2]; kid[0] any INT. Of INT: the kids 1 and 2 have
			  * the node's type. Of STRING: their caps are at most the node's */
	WEFT_NODE_CAST,  /* kid[0] to the node's type: truncation or extension by kid[0]'s sign */
	WEFT_NODE_STACK, /* stack or ustack; type.space, type.cap */
	WEFT_NODE_ENTRY, /* index: an INT argument of the entry that a return is paired with */
	WEFT_NODE_STATE, /* state: a variable; of an array kid[0] is the TUPLE of its keys. As what
			  * is assigned to: op is EQ, or ADD, SUB, AND, OR, XOR of an update */
	WEFT_NODE_LOCAL, /* index: this.NAME of the clause, assigned to before; op likewise */
	WEFT_NODE_TUPLE, /* kid[0]: a key, which has the node's type but for the cap; kid[1]: the
			  * other keys or none. INT keys have 64 bits */
	WEFT_NODE_DEFAULT, /* kid[0], a STATE, or kid[1] while that is unset. INT: of one type.
			    * STRING: caps are at most the node's */
	WEFT_NODE_DEFINED, /* int64: kid[0], a STATE or ELAPSED, is set */
	WEFT_NODE_CALL, /* function; the kids are its arguments, INT ones of 64 bits. Of what reads
			 * memory type.space says whose, and type.cap bounds what is read */
	WEFT_NODE_READ, /* an INT in memory, `value` bytes on from the address kid[0]; access says
			 * whose memory, and what of it for a bit field */
	WEFT_NODE_ELEMENT, /* an address: kid[0] + kid[1] * value. index: kid[1], taken as unsigned,
			    * has to be below it, else it is a fault; 0: anything does */
	WEFT_NODE_PLACE,   /* while typing: an OBJECT, `value` bytes on from the address kid[0] */
};

/* READ, PLACE: the type that lies there, and how it is read. */
struct weft_access {
	int32_t fd;
	uint32_t id;
	uint8_t space; /* enum weft_space */
	uint8_t bytes; /* that are read: the INT's size, or those that a bit field touches */
	uint8_t shift; /* of a bit field: its first bit */
	uint8_t bits;  /* of a bit field: how many; else 0 */
};

/* In the order of weft_functions. */
enum weft_function_id {
	WEFT_FN_STACK, /* these two become STACK nodes */
	WEFT_FN_USTACK,
	WEFT_FN_COPYINSTR,
	WEFT_FN_STR,
	WEFT_FN_KSTR,
	WEFT_FN_COPYIN,
	WEFT_FN_MEM,
	WEFT_FN_KMEM,
	WEFT_FN_PEEK,
	WEFT_FN_KPEEK,
	WEFT_FN_STRLEN,
	WEFT_FN_SUBSTR,
	WEFT_FN_BASENAME,
	WEFT_FN_STRCONTAINS,
	WEFT_FN_STARTSWITH,
	WEFT_FN_ENDSWITH,
	WEFT_FN_ABS,
	WEFT_FN_MIN,
	WEFT_FN_MAX,
	WEFT_FN_LOG2,
	WEFT_FN_NTOHS,
	WEFT_FN_NTOHL,
	WEFT_FN_NTOHLL,
	WEFT_FN_HTONS,
	WEFT_FN_HTONL,
	WEFT_FN_HTONLL,
	WEFT_FN_KSYM,
	WEFT_FN_USYM,
	WEFT_FN_IPV4,
	WEFT_FN_IPV6,
	WEFT_FN_DEFINED, /* becomes a DEFINED node */
	WEFT_N_FUNCTIONS
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
	WEFT_OP_DEFAULT, /* ?? */
	WEFT_OP_DEREF,   /* *p */
	WEFT_OP_ADDRESS, /* &x */
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
	const struct weft_state_var *state;
	uint32_t index;
	enum weft_function_id function;
	struct weft_access access;
	struct weft_node *kid[3];
};

/* ---- state ---- */

enum weft_state_scope {
	WEFT_STATE_GLOBAL,
	WEFT_STATE_THREAD, /* self.NAME */
	WEFT_STATE_CLAUSE, /* this.NAME; not in the set's table: each clause has its own */
	WEFT_STATE_ARRAY,
};

/* A variable of the set: one row for all clauses (state.c). */
struct weft_state_var {
	const char *name; /* as written, without keys: total, self.start, sizes */
	enum weft_state_scope scope;
	struct weft_pos pos;       /* of its first assignment */
	bool typed;                /* true of all once the table is made */
	struct weft_type type;     /* INT of 64 bits or STRING */
	struct weft_pos typed_pos; /* of the assignment that says the type */
	/* Only ever changed by updates, of which 0 is the beginning: never unset. */
	bool counts;
	bool deleted;           /* some action deletes it */
	struct weft_type *keys; /* ARRAY; kind is INT of 64 bits, STRING, PROBE or STACK */
	bool *keys_typed;
	uint32_t n_keys;
	struct weft_state_var *next; /* in the table's chain */
};

/* The variables of a set, in the order of their first assignments. */
struct weft_state {
	struct weft_state_var **vars;
	size_t n_vars;
	struct weft_state_var **chains;
	size_t n_chains;
	uint64_t salt[2];
	bool inferring; /* types are being found out: what is not known yet is no error */
};

/* What is known of the probes that a clause (its index in file order) is for; NULL: nothing yet,
 * or a begin or end list. *entry, which is NULL before: of the entry of a return. */
typedef const struct weft_probe_info *weft_state_info(void *arg, uint32_t clause,
						      const struct weft_probe_info **entry);

/*
 * The variables of a set and their types: of each the first assignment in file order whose type can
 * be told. Types that hang on a probe that is not there yet are int64. Says nothing of what is wrong
 * in clauses but STATE_KEYS and STATE_TYPE where two mentions of a name disagree in form; typing the
 * clauses says the rest. *out is NULL where the set has no variables. Tags besides: NO_MEMORY.
 */
int weft_state_build(const struct weft_set *set, weft_state_info *info_of, void *arg,
		     struct weft_btf_source *btf, struct weft_arena *arena, struct weft_state **out,
		     struct weft_error *err);

/* A variable and its type as one line, for explain: "sizes[int64, string]  uint64". */
char *weft_state_var_text(const struct weft_state_var *v, struct weft_arena *arena);

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
	WEFT_VAR_CGROUPNAME,
	WEFT_VAR_CONTAINER,
	WEFT_VAR_ERRNO,
	WEFT_VAR_PROBEPROV,
	WEFT_VAR_PROBEMOD,
	WEFT_VAR_PROBEFUNC,
	WEFT_VAR_PROBENAME,
	WEFT_VAR_REGS,
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
	const char *name;       /* the field's or key's name: given, or the expression's text;
				 * printf's arguments: the expression's text */
	struct weft_node *node; /* NULL for names, choices and formats */
};

struct weft_typed_action {
	const struct weft_action *action;
	/* The parts by meaning; unused ones are empty. */
	const char *into;             /* aggregations */
	struct weft_typed_item *keys; /* `by`: INT of any size, STRING, PROBE, STACK; set, delete:
				       * the variables, STATE or LOCAL */
	size_t n_keys;
	struct weft_node *value;        /* aggregations: 64-bit; exit's status: any INT */
	const char *unit;               /* or NULL */
	struct weft_buckets buckets;    /* quantize, lquantize, llquantize */
	struct weft_view view;          /* show */
	struct weft_typed_item *fields; /* emit's fields, printf's arguments; set: the values, one
					 * for each variable, of its type (but for a STRING's cap) */
	size_t n_fields;
	const char *format; /* printf, checked against fields */
	const char **names; /* show, clear: empty means all */
	size_t n_names;
	int signal; /* signal: its number */
};

struct weft_typed_clause {
	const struct weft_clause *clause;
	struct weft_node *when; /* INT, or NULL */
	struct weft_typed_action *actions;
	size_t n_actions;
	bool uses_elapsed, uses_ustack, uses_stack;
	uint64_t entry_args; /* the arguments of the entry that it uses: bit i for arg i */
	uint64_t args;       /* and those of the probe itself */
	struct weft_local {  /* this.NAME, in order of assignment */
		const char *name;
		bool typed; /* false only after errors, and where the probe is not known */
		struct weft_type type;
		struct weft_pos pos;
	} * locals;
	size_t n_locals;
};

/* What the language needs to know of the probe that a clause is typed for. info NULL: a begin or
 * end clause, where no argument exists. */
struct weft_lang_env {
	const struct weft_set *set; /* params, options */
	const struct weft_probe_info *info;
	const char *probe; /* for messages */
	bool destructive;
	const struct weft_probe_info *entry_info; /* of a return: what its entry is like; or NULL */
	struct weft_state *state; /* the set's variables; NULL: found out anew, as if all clauses of
				   * the set were for this probe (tests) */
	struct weft_btf_source *btf; /* type information; NULL: there is none */
};

/* Types one clause for one kind of probe. Reports every error it finds; the result lives in arena.
 * Tags: EXPR_SYNTAX, EXPR_CHARACTER, EXPR_NUMBER_RANGE, EXPR_STRING_UNCLOSED, EXPR_ESCAPE,
 * EXPR_TYPE, EXPR_TOO_DEEP, EXPR_TOO_LONG, NAME_UNKNOWN, ARG_UNKNOWN, ARG_UNREADABLE, RETVAL_NONE,
 * REGS_NONE, ELAPSED_NONE, ENTRY_NONE, PARAM_UNKNOWN, FUNCTION_UNKNOWN, FUNCTION_ARGUMENTS, FORMAT_BAD,
 * FORMAT_ARGUMENTS, AGGREGATION_UNKNOWN, NAME_BAD, NAME_TWICE, DIVIDE_BY_ZERO (by a constant),
 * STRING_TOO_LONG, VALUE_MISSING, DESTRUCTIVE, SIGNAL_NONE, CONSTANT_NEEDED,
 * BUCKETS_BAD, VIEW_BAD, STATE_UNASSIGNED, STATE_TYPE, STATE_KEYS, STATE_NAME, STATE_UPDATE;
 * of kernel types MEMBER_UNKNOWN, MEMBER_NONE, DEREF_NONE, DEREF_VOID, ADDRESS_NONE, INDEX_RANGE,
 * OBJECT_VALUE, POINTER_ARITHMETIC, TYPE_UNKNOWN, TYPE_INCOMPLETE, TYPE_UNREADABLE, BTF_MISSING,
 * BTF_MALFORMED, BTF_FD. */
int weft_lang_clause(const struct weft_lang_env *env, const struct weft_clause *clause,
		     struct weft_arena *arena, struct weft_typed_clause *out,
		     struct weft_error *err);

/* Parses and types one expression (tests, the fuzzer). */
int weft_lang_expr(const struct weft_lang_env *env, const struct weft_text *text,
		   struct weft_arena *arena, struct weft_node **out, struct weft_error *err);

/* What can be said of a clause without knowing its probe: everything but what hangs on arguments,
 * retval and elapsed. env: set and state count. */
int weft_lang_check_clause(const struct weft_lang_env *env, const struct weft_clause *clause,
			   struct weft_error *err);
int weft_lang_check_syntax(const struct weft_set *set, const struct weft_clause *clause,
			   bool destructive, struct weft_error *err);

/* How often a clause's texts say `entry.`: not less than the arguments of the entry that it uses,
 * and 0 only if it uses none. */
uint32_t weft_lang_entry_mentions(const struct weft_clause *clause);

/* Whether a clause may use what its own probe gives: arguments, the value returned. Before typing,
 * by its texts; true more often than need be. */
bool weft_lang_args_mentions(const struct weft_clause *clause);

/* The type that an argument of a probe has in the language; false: not understood. */
bool weft_lang_arg_type(const struct weft_set *set, const struct weft_probe_info *info,
			uint32_t index, struct weft_type *out);

/* What `aggregations` of a set say: every name has an action that fills it, and every wish suits
 * that action. Reports all errors: AGGREGATION_UNKNOWN, VIEW_BAD. */
int weft_lang_check_views(const struct weft_set *set, struct weft_error *err);
/* What of a view does not suit a kind of action: the end of a sentence, or NULL. */
const char *weft_view_misfit(const struct weft_view *v, enum weft_action_kind kind);

/* ---- looking at trees ---- */

/* A tree as one line: (+ (int64 pid) 1); types: with the type of each node, (+:int64 ...). NULL:
 * out of memory. */
char *weft_node_print(const struct weft_node *n, bool types, struct weft_arena *arena);

/* Checks what the comment on the typed tree promises: NULL, or what is wrong. For tests. */
const char *weft_lang_verify(const struct weft_node *n);
const char *weft_lang_verify_clause(const struct weft_typed_clause *c);

/* The reference page of the language (docs/reference/language.md), made from the tables. */
char *weft_lang_reference(struct weft_arena *arena);

#endif
