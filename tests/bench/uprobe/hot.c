/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* hot N: calls a function N times, and prints the nanoseconds of a call. It begins with endbr64,
 * which the processor has to step over, and goes on with a push, which the kernel emulates. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline, noclone)) long hot(long a)
{
	__asm__ volatile("" ::: "rbx", "memory");
	return a + 1;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100000, sum = 0;
	double begin = now();

	for (long i = 0; i < n; i++)
		sum += hot(i);
	printf("%.1f\n", (now() - begin) / (double)n);
	return sum == -1;
}
