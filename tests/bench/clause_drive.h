/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Driving programs on the tracepoints of ioprio_set, and the kernel's own account of their time. */
#ifndef WEFT_BENCH_CLAUSE_DRIVE_H
#define WEFT_BENCH_CLAUSE_DRIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define DRIVE_SIDES 2

struct drive {
	uint32_t events[DRIVE_SIDES]; /* ids of the tracepoints: the call begins, it ends */
	int stats_fd;                 /* the kernel measures as long as it is open */
	bool varied;                  /* `who` differs from call to call, over 16 powers of two */
};

/* Pins this thread to a CPU. */
int drive_init(struct drive *d);
void drive_finish(struct drive *d);

struct turn {
	double ns; /* a firing, with the cost of measuring */
	uint64_t firings;
};

/* n calls with a program on each side, or -1, and what they took together. */
int drive_turn(const struct drive *d, const int programs[DRIVE_SIDES], uint64_t n, struct turn *out);
/* The same with the program of a bpftrace of its own, which is started and ended. -ENOENT: there is
 * no bpftrace. */
int drive_bpftrace(const struct drive *d, const char *text, uint64_t n, struct turn *out);

/* Forgets what is in a ring buffer; returns its bytes. */
uint64_t drive_drain(int ring);

#endif
