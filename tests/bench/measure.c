/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "measure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

uint64_t measure_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int measure_run(char *const argv[], struct sample *out)
{
	struct rusage usage;
	int fd, status;
	pid_t pid;

	out->start_ns = measure_now();
	pid = vfork();
	if (pid == 0) {
		fd = open("/dev/null", O_RDWR);
		dup2(fd, 1);
		dup2(fd, 2);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return -errno;
	out->end_ns = measure_now();
	out->ms = (double)(out->end_ns - out->start_ns) / 1e6;
	out->kib = usage.ru_maxrss;
	out->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	if (out->status == 127) {
		fprintf(stderr, "%s: cannot be run\n", argv[0]);
		return -ENOENT;
	}
	return 0;
}

static int by_ms(const void *a, const void *b)
{
	double x = ((const struct sample *)a)->ms, y = ((const struct sample *)b)->ms;

	return (x > y) - (x < y);
}

void measure_header(const char *what)
{
	printf("%-24s %12s %12s %12s %16s\n", what, "least ms", "median ms", "most ms",
	       "peak memory KiB");
}

void measure_row(const char *label, struct sample *samples, size_t n)
{
	qsort(samples, n, sizeof(*samples), by_ms);
	printf("%-24s %12.2f %12.2f %12.2f %16ld\n", label, samples[0].ms, samples[n / 2].ms,
	       samples[n - 1].ms, samples[n / 2].kib);
}
