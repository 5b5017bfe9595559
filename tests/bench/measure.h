/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Running a command and measuring it; what the benchmarks of whole commands share. */
#ifndef WEFT_BENCH_MEASURE_H
#define WEFT_BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>

struct sample {
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC: before vfork, after wait */
	double ms;
	long kib; /* peak resident memory */
	int status;
};

uint64_t measure_now(void);

/* Runs argv with its output thrown away. Returns 0, or -errno if it could not be run. */
int measure_run(char *const argv[], struct sample *out);

/* "LABEL least median most memory"; sorts the samples by time. */
void measure_header(const char *what);
void measure_row(const char *label, struct sample *samples, size_t n);

#endif
