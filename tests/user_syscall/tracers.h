/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A program that fires what is enabled, and trace-cli, which traces it. */
#ifndef TEST_USER_SYSCALL_TRACERS_H
#define TEST_USER_SYSCALL_TRACERS_H

#include "senders.h"
#include "support.h"
#include "worker.h"

#define ME "test-user-syscall-tracers" /* the module of its probes */

extern struct stage *tracers_stage;
extern char tracers_probe[24]; /* its probe's name: p, unless somebody gives it another */

/* For worker_fork(): declares the probe, fires it with 0, 1, 2 ... while it is enabled, until the
 * stage is done. With an argument it outlives its parent. */
void tracers_fire(void *arg);
/* Of its probe: a byte for each slot of tracers, as it last saw them. */
uint64_t tracers_word(void);
bool tracers_wait_word(uint64_t wanted, int ms);

/* Traces probe p of a process. */
void tracers_start(struct cli_run *c, pid_t pid, const char *duration);
/* That the run, which has ended, saw firings without a gap. */
void tracers_expect_contiguous(const struct cli_run *c);

#endif
