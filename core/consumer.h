/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The consumer: records from the ring in time order, aggregations as tables, losses, controls. */
#ifndef WEFT_CONSUMER_H
#define WEFT_CONSUMER_H

#include "kernel/kernel.h"
#include "plan.h"
#include "symbols/symbols.h"
#include "value.h"

struct weft_consumer;

struct weft_consumer_env {
	struct weft_plan *plan;
	struct weft_maps *maps;
	struct weft_symbols *symbols;
	const struct weft_sink *sink;
	/* Which probe a cookie stands for; the text of one of its fields, or of all with field -1. Borrowed. */
	const char *(*probe_text)(void *arg, uint64_t cookie, int field);
	void *arg;
};

int weft_consumer_create(const struct weft_consumer_env *env, struct weft_consumer **out,
			 struct weft_error *err);
void weft_consumer_destroy(struct weft_consumer *c);
/* Readable when there is something to do: for epoll, level-triggered or not. It is there whether or
 * not the plan has a ring; a ring that is created later is watched from the next poll on. */
int weft_consumer_fd(const struct weft_consumer *c);
/* Drains the ring, emits the records that are settled, and acts on show and clear. attached:
 * programs may be running. *exiting is set once an exit action ran. */
int weft_consumer_poll(struct weft_consumer *c, bool attached, bool *exiting,
		       struct weft_error *err);
/* When programs began to run and when they ended, by CLOCK_MONOTONIC: what values by time are
 * divided by. A start of 0 leaves what was said; an end of 0 is none yet. */
void weft_consumer_span(struct weft_consumer *c, uint64_t start_ns, uint64_t stop_ns);
/* Prints the aggregations named, or all (names that the plan does not have are passed over);
 * `attached` decides between readers and map system calls. */
int weft_consumer_show(struct weft_consumer *c, const char *const *names, size_t n, bool attached,
		       struct weft_error *err);
/* After detach: the rest of the records, all of them in order, and the show and clear actions that
 * were not acted on. May be called again. */
int weft_consumer_finish(struct weft_consumer *c, struct weft_error *err);
/* Reports every loss that was counted; *total is the sum of those that nobody asked for. extra:
 * losses counted in user space. */
int weft_consumer_losses(struct weft_consumer *c, const struct weft_loss_report *extra,
			 size_t n_extra, uint64_t *total);

#endif
