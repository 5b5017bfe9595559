/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What tests of the compiler share: clauses from texts, through the language, into a program; and
 * the program in the kernel, run as a raw tracepoint by BPF_PROG_RUN with its arguments as context.
 *
 * A rig begins with arg0..arg5, int64, in the six words of the context, one probe with cookie 2 and
 * CONST identity, and scope EXACT. Tests change r->info, r->set.options and r->plan as they like
 * between rig_init() and rig_compile().
 */
#ifndef WEFT_TESTS_COMPILER_RIG_H
#define WEFT_TESTS_COMPILER_RIG_H

#include <criterion/criterion.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/kernel/kernel.h"
#include "core/lang/lang.h"
#include "core/plan.h"

#define RIG_ARGS    6u
#define RIG_CLAUSES 256u
#define RIG_COOKIE  2u
#define RIG_ACTIONS 256u
#define RIG_ITEMS   256u
#define N(a)        (sizeof(a) / sizeof((a)[0]))

struct rig {
	struct weft_arena *arena;
	struct weft_error *err;
	struct weft_set set;
	struct weft_probe_info info;
	struct weft_arg args[RIG_ARGS];
	struct weft_loc_op arg_ops[RIG_ARGS];
	struct weft_lang_env env;
	struct weft_plan *plan;
	struct weft_clause raw[RIG_CLAUSES];
	struct weft_typed_clause clauses[RIG_CLAUSES];
	size_t n_clauses;
	struct weft_group_probe probe;
	struct weft_group group;
	struct weft_program program;
	struct weft_maps maps;
	int prog_fd; /* -1 */
	uint8_t *ring;
	size_t ring_size;
};

void rig_init(struct rig *r);
void rig_finish(struct rig *r);

void rig_arg(struct rig *r, unsigned index, uint8_t size, bool is_signed);
void rig_place(struct rig *r, unsigned index, uint32_t kind, uint32_t space,
	       const struct weft_loc_op *ops, uint32_t n);

/* A clause of one action: its name, then its items, each "field|name|text"; NULL ends them. The
 * action "" is none. rig_action() adds another to the newest clause. Both type what there is. */
void rig_clause(struct rig *r, const char *when, const char *action, ...);
void rig_action(struct rig *r, const char *action, ...);

int rig_compile(struct rig *r); /* what weft_compile_group() returns */
void rig_load(struct rig *r); /* compiles, creates maps, loads, enables; fails the test if it cannot */
void rig_reload(struct rig *r); /* compiles and loads r->group anew, maps as they are */
void rig_run(struct rig *r, const uint64_t words[RIG_ARGS]); /* words NULL: zeros */
struct weft_control *rig_control(struct rig *r);

uint64_t rig_loss(const struct rig *r, enum weft_loss loss); /* the sum over its sites */
uint64_t rig_losses(const struct rig *r);                    /* all of them */
const struct weft_aggregation *rig_agg(const struct rig *r, const char *name);
uint64_t rig_slot(const struct rig *r, const char *name,
		  unsigned word);                        /* sum or greatest over CPUs */
uint64_t rig_sum(const struct rig *r, const char *name); /* of a sum, below 2^64 */
void rig_clear_slots(struct rig *r, const char *name);

/* The rows of a map, values summed over CPUs (all words of it). */
struct rig_row {
	uint8_t key[1024];
	uint64_t value[192];
};
size_t rig_rows(struct rig *r, int map, struct rig_row *rows, size_t most);

/* The next record that waits in the ring; NULL: none. Valid until the next call. */
const struct weft_record_header *rig_record(struct rig *r, uint32_t *size);

const char *rig_tag(const struct rig *r);

#endif
