/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A clause as two loaded programs: weft's, and clang's over the same maps. */
#ifndef WEFT_BENCH_CLAUSE_PROGRAMS_H
#define WEFT_BENCH_CLAUSE_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "clause_drive.h"
#include "core/kernel/kernel.h"
#include "core/lang/lang.h"
#include "core/plan.h"
#include "core/set.h"

struct bpf_object;

/* A probe set: its first clause is one of the beginning of ioprio_set, whose arguments are arg0 to
 * arg2, its second one of the end. */
struct compiled {
	struct weft_error *err;
	struct weft_set *set;
	struct weft_plan *plan;
	struct weft_typed_clause *typed;
	struct weft_state *variables;
	struct weft_program *programs; /* one for each clause */
	size_t n_programs;
};

/* Reads, types and compiles; says what is wrong on stderr. */
int compiled_init(struct compiled *c, const char *yaml);
void compiled_finish(struct compiled *c);

struct program {
	int fd[DRIVE_SIDES]; /* -1: none on that side */
	uint32_t xlated,
		jited; /* instructions as the kernel keeps them, bytes of machine code: all */
};

struct loaded {
	struct weft_maps maps;
	struct bpf_object *object;
	char *bss; /* of the object, shared with its program */
	size_t bss_size;
	struct program weft, clang;
};

/* Loads the one or two programs of a set, and the object's over the set's maps; enables them. */
int loaded_init(struct loaded *l, struct compiled *c, const char *object);
void loaded_finish(struct loaded *l);

/* What the clause has counted in all: rows of the aggregation, or slots of either program. */
uint64_t loaded_total(const struct loaded *l, const struct compiled *c);
/* What either program has lost. */
uint64_t loaded_lost(const struct loaded *l, const struct compiled *c);

int program_empty(struct program *p); /* return 0, on both sides */

#endif
