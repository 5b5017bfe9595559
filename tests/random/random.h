/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Probe sets by chance, and what they have to do.
 *
 * A case is a probe set and firings for it. draw.c and make_*.c make one from a number; write.c
 * writes the set as YAML, as a user would; engine.c takes that text down the whole road, through
 * config, lang and compiler into the kernel, fires, and writes down through the consumer whatever
 * can be seen: records, tables, losses with their places, variables that are left. model_*.c work
 * the same out from the tree itself, by the words of docs/language.md and without a line of what is
 * tested. The two texts have to be equal. Where they are not, shrink.c looks for the least set that
 * still shows it.
 *
 * Trees are never changed once they are made, but by the shrinker.
 */
#ifndef WEFT_TESTS_RANDOM_H
#define WEFT_TESTS_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/arena.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

/* ---- the tree ---- */

/* PROBE: a field of the probe. As a key of an array it tells probes apart, else it is a text. */
/* INET: an address of the network, of cap bytes. */
enum rnd_kind { RND_INT, RND_TEXT, RND_BYTES, RND_PROBE, RND_INET };

struct rnd_type {
	enum rnd_kind kind;
	uint8_t size; /* INT: bytes */
	bool is_signed;
	bool is_enum; /* INT: printed by the names of rnd_constants */
	enum { RND_PLAIN, RND_USER, RND_KERNEL } points; /* INT: whose address it is */
	uint32_t cap; /* TEXT: more than the bytes it can ever have; BYTES: the most */
};

struct rnd_text {
	const uint8_t *s;
	uint32_t n;
};

enum rnd_node {
	X_INT,    /* spelling, bits */
	X_TEXT,   /* text */
	X_PARAM,  /* index */
	X_ARG,    /* index, spelling */
	X_VAR,    /* spelling; bits or text by model.c */
	X_PROBE,  /* spelling; index: the field */
	X_UNARY,  /* op */
	X_BINARY, /* op: comparisons of texts too */
	X_LOGICAL,
	X_COND,
	X_CAST,
	X_STATE, /* index; kids are the keys */
	X_LOCAL, /* index */
	X_DEFAULT,
	X_DEFINED,
	X_CALL,  /* function */
	X_ENTRY, /* index: of the argument of the entry */
	X_MEMBER, /* index: of rnd_members; kid: whose it is, an address or a MEMBER; then an index */
};

enum rnd_op {
	O_NONE,
	O_NEG,
	O_NOT,
	O_LOGNOT,
	O_PLUS,
	O_MUL,
	O_DIV,
	O_MOD,
	O_ADD,
	O_SUB,
	O_SHL,
	O_SHR,
	O_DEFAULT,
	O_LT,
	O_LE,
	O_GT,
	O_GE,
	O_EQ,
	O_NE,
	O_AND,
	O_XOR,
	O_OR,
	O_LOGAND,
	O_LOGOR,
};

struct rnd_op_row {
	const char *text;
	unsigned level; /* of docs/reference/language.md */
};
extern const struct rnd_op_row rnd_ops[];

enum rnd_function {
	F_COPYINSTR,
	F_STR,
	F_KSTR,
	F_COPYIN,
	F_MEM,
	F_KMEM,
	F_PEEK,
	F_KPEEK,
	F_STRLEN,
	F_SUBSTR,
	F_BASENAME,
	F_STRCONTAINS,
	F_STARTSWITH,
	F_ENDSWITH,
	F_ABS,
	F_MIN,
	F_MAX,
	F_LOG2,
	F_NTOHS,
	F_NTOHL,
	F_NTOHLL,
	F_HTONS,
	F_HTONL,
	F_HTONLL,
	F_IPV4,
	F_IPV6,
};
extern const char *const rnd_functions[];

#define RND_KIDS 3

struct rnd_x {
	enum rnd_node node;
	enum rnd_op op;
	enum rnd_function function;
	struct rnd_type type;
	const char *spelling;
	int64_t bits; /* INT: extended to 64 bits as the type says */
	struct rnd_text text;
	uint32_t index;
	struct rnd_x *kid[RND_KIDS];
	uint32_t n_kids;
	bool parens; /* more than are needed */
	/* Where it begins, once it is written. */
	uint32_t line, column;
};

/* ---- sets ---- */

#define RND_WORDS   12u /* of the context */
#define RND_ARGS    11u
#define RND_INTS    6u /* arg0 ... arg5 */
#define RND_PARAMS  4u
#define RND_VARS    8u
#define RND_KEYS    3u
#define RND_LOCALS  4u
#define RND_TABLES  12u
#define RND_ACTIONS 24u
#define RND_FIELDS  16u
#define RND_CLAUSES 6u
#define RND_FIRINGS 160u
#define RND_PROBES  3u
#define RND_FRAME   9u
#define RND_ENTRY   1u
#define RND_RETURN  2u

struct rnd_param {
	const char *name, *spelling; /* as YAML has it, after --param or in quotes */
	struct rnd_type type;
	int64_t bits;
	struct rnd_text text;
};

enum rnd_scope { RND_GLOBAL, RND_THREAD, RND_ARRAY };

struct rnd_var {
	const char *name;
	enum rnd_scope scope;
	struct rnd_type type;
	bool counts; /* only ever changed by += and the like */
	uint32_t n_keys;
	enum rnd_kind keys[RND_KEYS];
	bool assigned, deleted, mentioned; /* by some clause; the first has been made */
};

enum rnd_table_kind {
	T_COUNT,
	T_SUM,
	T_AVG,
	T_MIN,
	T_MAX,
	T_STDDEV,
	T_QUANTIZE,
	T_LQUANTIZE,
	T_LLQUANTIZE,
};
extern const char *const rnd_tables[];

struct rnd_table {
	const char *name;
	enum rnd_table_kind kind;
	bool is_unsigned;
	bool is_list; /* its keys have no names but their texts; one action adds to it */
	const char *names[RND_KEYS]; /* then, once they are written */
	uint32_t n_keys;
	struct rnd_type keys[RND_KEYS];
	int64_t from, to;
	uint64_t step, factor, low, high, steps;
	struct rnd_x *probes[RND_KEYS]; /* keys that are fields of the probe */
	bool mentioned;
};

enum rnd_action_kind {
	A_TABLE,
	A_EMIT,
	A_PRINTF,
	A_SET,
	A_DELETE,
	A_EXIT,
	A_SHOW,  /* of one table, or of all */
	A_CLEAR, /* likewise */
};

struct rnd_item {
	const char *name;    /* a field */
	struct rnd_x *x;     /* what is evaluated: value, field */
	struct rnd_x *var;   /* SET, DELETE */
	enum rnd_op op;      /* SET: of an update, or NONE */
	const char *convert; /* PRINTF: the conversion */
};

struct rnd_action {
	enum rnd_action_kind kind;
	uint32_t table;                    /* SHOW, CLEAR: n_tables for all */
	uint32_t top;                      /* SHOW */
	struct rnd_x *value;               /* TABLE, EXIT; NULL: none */
	struct rnd_item items[RND_FIELDS]; /* TABLE: keys */
	uint32_t n_items;
	bool is_list;          /* EMIT: fields that are named by their texts */
	uint32_t line, column; /* of its name, once it is written */
};

struct rnd_local {
	const char *name;
	struct rnd_type type;
};

struct rnd_clause {
	struct rnd_x *when;
	uint32_t probes;       /* bit i: of probe i */
	uint32_t every, limit; /* 0: none */
	struct rnd_local locals[RND_LOCALS];
	uint32_t n_locals;
	struct rnd_action actions[RND_ACTIONS];
	uint32_t n_actions;
	uint32_t line, column, limit_line, limit_column;
};

struct rnd_memory; /* what pointers lead to: memory.c */

struct rnd_set {
	struct weft_arena *arena;
	uint64_t seed;
	uint32_t strsize, rows;
	struct rnd_type args[RND_ARGS];
	struct rnd_param params[RND_PARAMS];
	uint32_t n_params;
	struct rnd_var vars[RND_VARS];
	uint32_t n_vars;
	struct rnd_table tables[RND_TABLES];
	uint32_t n_tables;
	struct rnd_clause clauses[RND_CLAUSES];
	uint32_t n_clauses;
	struct rnd_clause begin, end; /* lists of actions; with none where n_actions is 0 */
	bool pairs; /* the third probe is the return of the second; word RND_FRAME is the frame */
	uint64_t firings[RND_FIRINGS][RND_WORDS];
	uint32_t cpus[RND_FIRINGS]; /* which of those that there are */
	uint32_t probe[RND_FIRINGS];
	uint32_t n_probes;
	uint32_t n_firings;
	uint32_t steps;   /* of the verifier, for the program that took most; once it has run */
	uint32_t at_once; /* not 0: two processors do all firings at once, so many times each */
};

extern const char *const rnd_probes[RND_PROBES][4]; /* provider, module, function, name */

/* Members of `struct item`, whose type the engine gives and pointers of the process lead to. */
struct rnd_member {
	const char *text;
	uint32_t offset;
	struct rnd_type type;
	uint32_t bit, bits; /* of a bit field; bits 0: it is none */
	uint32_t n;         /* elements of an array; TEXT: its bytes */
};
enum { M_A, M_KIND, M_B, M_LO, M_MID, M_HI, M_C, M_NAME, M_NUMS, M_E, M_F, M_NEXT, M_MEMBERS };
extern const struct rnd_member rnd_members[M_MEMBERS];
/* Of the enum that M_KIND is of. */
extern const struct rnd_constant {
	const char *name;
	int64_t value;
} rnd_constants[4];
/* The number that stands for a probe in programs. */
static inline uint64_t rnd_cookie(const struct rnd_set *set, uint32_t probe)
{
	return set->pairs && probe == RND_RETURN ? 2 * RND_ENTRY + 3 : 2 * probe + 2;
}

/* ---- draw.c: numbers, by chance ---- */

struct rnd_draw {
	uint64_t state;
};

void rnd_seed(struct rnd_draw *d, uint64_t seed);
uint64_t rnd_next(struct rnd_draw *d);
uint32_t rnd_below(struct rnd_draw *d, uint32_t n);
static inline bool rnd_one_in(struct rnd_draw *d, uint32_t n)
{
	return !rnd_below(d, n);
}
uint64_t rnd_value(struct rnd_draw *d); /* mostly where something changes: powers of two, ends */
/* Bytes without a zero, mostly of few letters; most: how many. */
struct rnd_text rnd_text(struct rnd_draw *d, struct weft_arena *arena, uint32_t most);

/* ---- memory.c: what addresses lead to ---- */

/*
 * Six pages at a fixed address: [0] cannot be read, [1] and [2] can and hold texts, [3] cannot,
 * [4] could, but nothing has touched it, so that it is not in memory, [5] cannot.
 */
#define RND_MEMORY UINT64_C(0x300000000000)
#define RND_PAGE   4096u

int rnd_memory_map(void); /* once a process */
void rnd_memory_fill(struct rnd_draw *d, uint32_t strsize);
uint64_t rnd_address(struct rnd_draw *d);        /* mostly of a text */
uint64_t rnd_kernel_address(struct rnd_draw *d); /* of memory of the kernel that is as [1] and [2] */

enum rnd_read { RND_READ, RND_NOT_THERE, RND_NO_ADDRESS };
/* n bytes, if all can be read. */
enum rnd_read rnd_memory_read(uint64_t address, uint64_t n, bool user, uint8_t *out);

/* ---- making ---- */

struct rnd_maker {
	struct rnd_draw draw;
	struct rnd_set *set;
	struct rnd_clause *clause;
	uint32_t n_locals; /* that are assigned by now */
	bool large;        /* as much of everything as there is room for */
	bool quiet;        /* no memory and no state: nothing that depends on the moment */
	bool is_list;      /* begin or end: no probe, and so no arguments */
	bool is_return;    /* of a call whose entry may be known */
};

/* make_set.c. The set belongs to the arena. */
struct rnd_set *rnd_make(struct weft_arena *arena, uint64_t seed, bool large);

/* make_int.c, make_text.c */
struct rnd_x *rnd_node(struct rnd_maker *m, enum rnd_node node, struct rnd_type type);
struct rnd_x *rnd_int(struct rnd_maker *m, unsigned depth);
struct rnd_x *rnd_text_x(struct rnd_maker *m, unsigned depth);
struct rnd_x *rnd_bytes(struct rnd_maker *m);
struct rnd_x *rnd_inet(struct rnd_maker *m, uint32_t cap);
struct rnd_x *rnd_enum(struct rnd_maker *m);
struct rnd_x *rnd_probe(struct rnd_maker *m);
struct rnd_x *rnd_member(struct rnd_maker *m, bool text);
struct rnd_x *rnd_read_text(struct rnd_maker *m); /* copyinstr and its like */
struct rnd_x *rnd_literal(struct rnd_maker *m, uint64_t value);
struct rnd_x *rnd_text_literal(struct rnd_maker *m, uint32_t cap);
struct rnd_x *rnd_cast(struct rnd_maker *m, struct rnd_x *x, uint8_t size, bool is_signed);
/* Whether it can be used where the clause is: a list has no probe. */
bool rnd_var_suits(const struct rnd_maker *m, uint32_t var);
struct rnd_x *rnd_state(struct rnd_maker *m, uint32_t var, unsigned depth);
struct rnd_type rnd_promoted(struct rnd_type t);

/* ---- write.c ---- */

/* The set as YAML, in set->arena; notes in the tree where everything stands. */
const char *rnd_write(struct rnd_set *set);

/* ---- say.c: how what is seen is written down, by both sides ---- */

void rnd_say_int(FILE *f, int64_t bits, uint8_t size, bool is_signed);
void rnd_say_text(FILE *f, const char *quote, const void *s, size_t n);

/* ---- the model ---- */

/* Whether the language takes it for a constant, and which. */
bool rnd_is_const(const struct rnd_set *set, const struct rnd_x *x);
int64_t rnd_const(const struct rnd_set *set, const struct rnd_x *x);
uint32_t rnd_const_length(const struct rnd_set *set, const struct rnd_x *x); /* of a text */

/* What is to be seen, in set->arena. */
const char *rnd_expect(struct rnd_set *set);

/* ---- the engine ---- */

enum rnd_outcome { RND_RAN, RND_REFUSED, RND_BROKEN };
/* Runs the set. *seen is what was seen; REFUSED: the tag of what the language or the compiler says
 * against it; BROKEN: why it could not be loaded or read. In set->arena. */
enum rnd_outcome rnd_run(struct rnd_set *set, const char *yaml, const char **seen);

/* ---- test_random.c's own ---- */

/* Whether two texts say the same. */
bool rnd_same(const char *expected, const char *seen);
/* Makes the set smaller as long as fails() says that it still shows the difference. */
void rnd_shrink(struct rnd_set *set, bool (*fails)(struct rnd_set *set, void *arg), void *arg);
/* Why the set's case fails, as a text for people; NULL: it does not. *refused: it was refused. */
const char *rnd_check(struct rnd_set *set, const char **refused);
const char *rnd_explain(struct rnd_set *set); /* YAML, firings */

#endif
