/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reading ELF files: what the jail costs by itself, and the whole way to a file's functions, beside
 * nm, which reads the same symbols. In turns within one run; medians. FILE...: what to read.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/elf/elf.h"
#include "core/elf/jail.h"
#include "measure.h"

#define ROUNDS 21

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), by_value);
	return values[ROUNDS / 2];
}

static double ms_since(uint64_t start)
{
	return (double)(measure_now() - start) / 1e6;
}

static void nothing(struct weft_region *region, const void *job)
{
	(void)region;
	(void)job;
}

/* An empty piece of work: what the process costs. */
static double empty_jail(void)
{
	struct weft_region region;
	uint64_t start;
	double ms;

	if (weft_region_init(&region, 1 << 20))
		exit(1);
	start = measure_now();
	if (weft_jail_run(nothing, NULL, &region, 1000000000, 1 << 30, "", NULL))
		exit(1);
	ms = ms_since(start);
	weft_region_finish(&region);
	return ms;
}

/* Processor time of ours and of ended children, ms. */
static double cpu_now(void)
{
	struct rusage self, children;
	double us;

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	us = (double)(self.ru_utime.tv_usec + self.ru_stime.tv_usec + children.ru_utime.tv_usec +
		      children.ru_stime.tv_usec);
	return us / 1e3 + 1e3 * (double)(self.ru_utime.tv_sec + self.ru_stime.tv_sec +
					 children.ru_utime.tv_sec + children.ru_stime.tv_sec);
}

static double whole(const char *path, uint32_t want, uint32_t *n)
{
	struct weft_elf_reader *r = weft_elf_reader_create(NULL);
	struct weft_elf_request request = {
		.struct_size = sizeof(request), .path = path, .want = want};
	struct weft_error *err = weft_error_create();
	uint64_t start = measure_now();
	const struct weft_elf *elf;
	double ms;

	request.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (request.fd < 0 || weft_elf_read(r, &request, &elf, err)) {
		fprintf(stderr, "%s: %s\n", path, weft_error_text(err));
		exit(1);
	}
	ms = ms_since(start);
	*n = elf->n_symbols;
	close(request.fd);
	weft_error_destroy(err);
	weft_elf_reader_destroy(r);
	return ms;
}

static double nm(const char *path)
{
	uint64_t start = measure_now();
	int status;
	pid_t pid = fork();

	if (!pid) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		dup2(null, 1);
		dup2(null, 2);
		execlp("nm", "nm", "-D", "--defined-only", path, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return ms_since(start);
}

int main(int argc, char **argv)
{
	double values[3][ROUNDS], cpu;
	uint32_t n = 0;

	for (int i = 0; i < ROUNDS; i++)
		values[0][i] = empty_jail();
	printf("a child that is locked in and does nothing: %.2f ms\n", median(values[0]));
	printf("%-44s %8s %10s %10s %12s %12s\n", "file", "functions", "ms", "CPU ms",
	       "demangled ms", "nm -D ms");
	for (int f = 1; f < argc; f++) {
		cpu = cpu_now();
		for (int i = 0; i < ROUNDS; i++)
			values[0][i] = whole(argv[f], WEFT_ELF_WANT_FUNCTIONS, &n);
		cpu = (cpu_now() - cpu) / ROUNDS;
		for (int i = 0; i < ROUNDS; i++) {
			values[0][i] = whole(argv[f], WEFT_ELF_WANT_FUNCTIONS, &n);
			values[1][i] = whole(argv[f],
					     WEFT_ELF_WANT_FUNCTIONS | WEFT_ELF_WANT_DEMANGLED, &n);
			values[2][i] = nm(argv[f]);
		}
		printf("%-44s %8u %10.2f %10.2f %12.2f %12.2f\n", argv[f], n, median(values[0]),
		       cpu, median(values[1]), median(values[2]));
	}
	return 0;
}
