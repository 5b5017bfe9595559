/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Fires LTTng-UST's tracepoint and prints "WHAT=NS"; tests/bench/lttng/run brings the session. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "bench_tp.h"

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	const long n = 10000;
	double best = 0;

	for (int turn = 0; turn < 101; turn++) {
		uint64_t from = now();
		double ns;

		for (long i = 0; i < n; i++)
			lttng_ust_tracepoint(weft_bench, fired, i, 2, 3, 4, 5);
		ns = (double)(now() - from) / (double)n;
		if (!turn || ns < best)
			best = ns;
	}
	printf("%s=%.2f\n", argc > 1 ? argv[1] : "LTTng-UST", best);
	return 0;
}
