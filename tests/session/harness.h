/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A rig: a session over the providers of the build tree, loaded by the real loader, with a probe
 * set from a text and a sink that keeps everything. The whole road, but for the command line.
 */
#ifndef TEST_SESSION_HARNESS_H
#define TEST_SESSION_HARNESS_H

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture.h"
#include "config/config.h"
#include "core/session/session.h"
#include "plugins/loader.h"
#include "worker.h"

#define MAGIC 0x77656674L /* what fx-trace's math and fx-map listen to */

struct rig {
	struct weft_loader *loader;
	const struct weft_provider *providers[64];
	size_t n_providers;
	struct weft_error *err;
	struct weft_set *set;
	struct weft_session *session;
	struct capture cap;
	struct weft_end end;
	const struct weft_sink *sink; /* instead of the one that keeps everything; or NULL */
	bool destructive;             /* actions that change the system are allowed */
	char *said;                   /* what was logged: a line each, "source: text" */
	size_t n_said, cap_said;
	void (*on_said)(const char *text, void *arg); /* or NULL */
	void *on_said_arg;
	int *n_attached; /* memory shared with workers, counts "... attached" that is said; or NULL */
};

void rig_init(struct rig *r);
void rig_finish(struct rig *r);

/* Reads the set, creates the session and prepares it. Returns the first failure. */
int rig_prepare(struct rig *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
int rig_start(struct rig *r);
/* Runs until stop_fd is readable, the duration is over or the session ends by itself, and stops. */
int rig_run(struct rig *r, int stop_fd, uint64_t duration_ns);

/* All of it, and that it went well: prepare, start, let the worker go, run until it has ended,
 * stop. Without a worker: until the session ends by itself. */
void rig_trace(struct rig *r, struct worker *w, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* From a prepared session on. */
void rig_go(struct rig *r, struct worker *w);

bool rig_has_said(const struct rig *r, const char *text);

/* That the n-th report has this tag. */
void rig_expect_tag(const struct rig *r, size_t i, const char *tag);
const char *rig_errors(const struct rig *r); /* all reports, for messages; in the rig's memory */

/* The number of CPUs; they are 0 .. n - 1 on the machines that tests run on. */
int rig_cpus(void);

#endif
