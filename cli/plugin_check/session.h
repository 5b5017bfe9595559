/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What checks are made of: sessions with the plugin, its probes, and what it leaves behind. */
#ifndef WEFT_PLUGIN_CHECK_SESSION_H
#define WEFT_PLUGIN_CHECK_SESSION_H

#include <stdint.h>
#include <stdio.h>

#include "cli/plugin_check/check.h"

/* ---- session.c ---- */

/* A defect, or the provider's right: it says so by its tag. */
bool check_is_defect(const char *tag);
/* Sorts out all that went wrong, and forgets it. */
void check_take_errors(struct check *c, const char *doing);
/* A session's log. Warnings bear a defect's tag at their end. */
void check_take_log(void *arg, enum weft_log_level level, const char *source, const char *text);

/* A set with the plan's options, and what `body` writes behind `probes:`. NULL: see c->err. */
struct weft_set *check_make_set(struct check *c, void (*body)(FILE *to, const void *arg),
				const void *arg);
/* A session with the plugin, opened if there are options: they come with a set. */
struct weft_session *check_begin(struct check *c, struct weft_set **set);
void check_finish(struct weft_session *s, struct weft_set *set);

/* ---- sample.c ---- */

#define CHECK_MOST_SAMPLED 64

/* Of the plan's probes so many, evenly spread. */
struct check_sample {
	const struct weft_probe *probes[CHECK_MOST_SAMPLED];
	size_t n, most, total, step, at;
	uint64_t hash;
	const struct weft_probe_info *info; /* of the only one; NULL: no argument is used */
};

void check_take_sample(struct check *c, struct weft_session *session, size_t most,
		       struct check_sample *s);
/* For weft_session_find(); arg: a sample, whose total grows. */
int check_count_probe(const struct weft_probe *probe, void *arg);

void check_put_probe(FILE *to, const struct weft_probe *probe);
/* A clause that uses all that can be read of probes that are like this. */
void check_put_actions(FILE *to, const struct weft_probe_info *info);
/* The body of a set; arg: a sample. */
void check_put_sample(FILE *to, const void *arg);

/* ---- left.c ---- */

struct check_belongings {
	char fds[1024]; /* one byte each: whether it is open */
	size_t n_threads;
};

void check_look_around(struct check_belongings *b);
void check_expect_same(const struct check *c, const struct check_belongings *before,
		       const char *after);

/* ---- attach.c ---- */

void check_attaches(struct check *c);
void check_starves(struct check *c);

#endif
