/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the files of the model share. */
#ifndef WEFT_TESTS_RANDOM_MODEL_H
#define WEFT_TESTS_RANDOM_MODEL_H

#include "core/wide.h"
#include "tests/random/random.h"

struct value {
	int64_t bits; /* INT: extended to 64 bits as its type says */
	struct rnd_text text;
};

struct loss {
	const char *tag;
	uint32_t line, column;
	uint64_t count;
	bool asked;
};

/* An element of an array; of other variables there is one, without keys. */
struct element {
	struct value keys[RND_KEYS];
	struct value value;
	struct element *next;
};

struct row {
	struct value keys[RND_KEYS];
	int64_t *values;
	size_t n_values, cap_values;
	weft_wide buckets[160]; /* where each begins that there is */
	size_t n_buckets;
	size_t n_cleared; /* of them: those of before the last clear, which take room */
	struct row *next;
};

struct model {
	struct rnd_set *set;
	const uint64_t *words;
	struct frame { /* of calls whose return has not come */
		int64_t at;
		const uint64_t *words;
	} frames[RND_FIRINGS];
	uint32_t n_frames;
	const uint64_t *entry; /* the words of the entry that this return belongs to; NULL: unknown */
	int64_t cpu;
	uint32_t probe;
	/* Clauses of probes that there are, those of the first probe first: what is mentioned first. */
	uint32_t order[RND_CLAUSES], n_order;
	bool did[RND_CLAUSES][RND_ACTIONS]; /* SHOW, CLEAR: in this firing */
	struct weft_arena *arena;
	struct element *vars[RND_VARS];
	struct value locals[RND_LOCALS];
	struct row *rows[RND_TABLES];
	uint32_t n_elements[RND_VARS], n_rows[RND_TABLES]; /* what takes room */
	uint32_t seen[RND_CLAUSES];                        /* firings that passed `when` */
	uint32_t passed[RND_CLAUSES];                      /* those that passed `limit` */
	struct loss *losses;
	size_t n_losses, cap_losses;
	bool exited;
	int status;
	FILE *out;
};

/* What a program asks the kernel for; told by the engine, which settles it. */
struct rnd_world {
	int64_t numbers[4]; /* pid tid uid gid */
	int cpus[2];        /* the processors that firings are on; may be one */
	char execname[16];
};
const struct rnd_world *rnd_world(void);

const char *model_name(const struct rnd_type *t, int64_t bits); /* of an enum's constant, or NULL */
void model_lose(struct model *m, const char *tag, uint32_t line, uint32_t column);

void model_say_losses(FILE *f, struct loss *losses, size_t n); /* puts them in order */

/* False: a fault, which has been counted. */
bool model_eval(struct model *m, const struct rnd_x *x, struct value *out);

/* Extends or cuts to a type. */
int64_t model_fit(int64_t bits, struct rnd_type to);

bool model_same(const struct value *a, const struct value *b, bool text);
struct element *model_find(struct model *m, uint32_t var, const struct value *keys);
bool model_keys(struct model *m, const struct rnd_x *x, struct value *keys);
bool model_bytes(struct model *m, const struct rnd_x *x, struct value *out);

weft_wide model_widen(int64_t bits, bool is_signed);
bool model_fault(struct model *m, const char *tag, const struct rnd_x *x); /* false */

/* model_memory.c */
bool model_unreadable(struct model *m, enum rnd_read why, const struct rnd_x *x); /* false */
/* A string of `want` bytes at most. */
bool model_read_text(struct model *m, const struct rnd_x *x, uint64_t address, uint64_t want,
		     bool user, struct value *out);
/* One that an entry kept: there is a FAULT_VALUE if it could not be read then. */
bool model_kept_text(struct model *m, const struct rnd_x *x, uint64_t address, struct value *out);
/* The address and the length of a call that reads; without one, as much as there is. */
bool model_reading(struct model *m, const struct rnd_x *x, uint64_t *address, uint64_t *want);
bool model_is_user(const struct rnd_x *call);
bool model_member(struct model *m, const struct rnd_x *x, struct value *out);

/* model_text.c */
bool model_of_text(struct model *m, const struct rnd_x *x, struct value *out);
bool model_inet(struct model *m, const struct rnd_x *x, struct value *out); /* its bytes */
bool model_substr(struct model *m, const struct rnd_x *x, struct value *out);
bool model_basename(struct model *m, const struct rnd_x *x, struct value *out);

/* Writes what one() writes for each of n, in the order of texts. */
void model_sorted(struct model *m, size_t n, void (*one)(struct model *m, size_t i, void *arg),
		  void *arg);

/* model_tables.c */
void model_add(struct model *m, const struct rnd_action *a, const struct value *keys, int64_t value);
void model_say_tables(struct model *m, const struct rnd_action *only); /* NULL: all, whole */
void model_clear(struct model *m, const struct rnd_action *a);
void model_free_rows(struct model *m);

#endif
