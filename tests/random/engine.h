/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the files of the engine share. */
#ifndef WEFT_TESTS_RANDOM_ENGINE_H
#define WEFT_TESTS_RANDOM_ENGINE_H

#include "config/config.h"
#include "core/btf/source.h"
#include "core/consumer.h"
#include "core/kernel/kernel.h"
#include "tests/random/model.h"

struct part {
	struct weft_typed_clause clauses[RND_CLAUSES];
	struct weft_group_probe probes[RND_PROBES];
	struct weft_group group;
	struct weft_program program;
	int fd;
};

/* begin and end. */
struct list {
	struct weft_typed_clause clause;
	struct weft_group_probe probe;
	struct weft_group group;
	struct weft_program program;
	int fd;
};

struct engine {
	struct rnd_set *set;
	struct weft_error *err;
	struct weft_set *config;
	struct weft_state *state;
	struct weft_probe_info infos[RND_PROBES];
	struct weft_arg args[RND_ARGS];
	struct weft_loc_op ops[RND_ARGS][2];
	struct weft_typed_clause clauses[RND_CLAUSES];
	struct weft_registry_core *registry;
	struct weft_group_probe probes[RND_PROBES];
	struct part parts[RND_PROBES]; /* programs; probes with the same clauses share one */
	struct part *part_of[RND_PROBES];
	size_t n_parts;
	struct list lists[2];
	struct weft_plan *plan;
	struct weft_maps maps;
	struct weft_consumer *consumer;
	FILE *out;
	char *text;
	size_t size;
	char **lines; /* that are to be sorted */
	size_t n_lines, cap_lines;
	struct loss *losses;
	size_t n_losses, cap_losses;
};

/* engine_probe.c */
extern struct weft_btf_source engine_types;
void engine_make_probe(struct engine *e);
void engine_make_identity(struct engine *e);
int engine_make_probes(struct engine *e);
void engine_make_parts(struct engine *e);

/* engine_see.c: a sink, and what is left in variables */
int engine_see_record(void *self, const struct weft_record *r);
int engine_see_table(void *self, const struct weft_table *t);
int engine_see_loss(void *self, const struct weft_loss_report *l);
const char *engine_probe_text(void *arg, uint64_t cookie, int field);
int engine_say_variables(struct engine *e);

#endif
