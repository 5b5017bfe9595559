/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Children that do something exactly known between start and stop. A worker is forked before the
 * session exists, so that its pid can stand in the probe set, and waits until it is told to go; its
 * end is what ends the run.
 */
#ifndef TEST_SESSION_WORKER_H
#define TEST_SESSION_WORKER_H

#include <stdint.h>
#include <sys/types.h>

struct worker {
	pid_t pid;
	int go;    /* closing it lets the worker run */
	int pidfd; /* readable once it has ended */
};

/* fn runs in the child, once, after worker_go(). */
void worker_fork(struct worker *w, void (*fn)(void *arg), void *arg);
/* The same for a program: a workload of the build tree, or anything with a path. argv ends with
 * NULL. What it prints goes to out_fd, or nowhere with -1. */
void worker_program(struct worker *w, int out_fd, const char *const argv[]);
void worker_go(struct worker *w);
void worker_join(struct worker *w); /* that it ended with status 0 */
void worker_kill(struct worker *w);

/* Memory that children of the test share with it. */
void *worker_shared(size_t size);

void worker_pin(int cpu); /* the calling thread */

/* Runs fn(arg, cpu) on a thread pinned to each of n CPUs at the same time. */
void worker_on_cpus(int n, void (*fn)(void *arg, int cpu), void *arg);

#endif
