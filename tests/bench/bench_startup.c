/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How long from exec to attached, and how much memory at the most: trace-cli with a probe set,
 * beside bpftrace doing the same, in turns within one run. Both start a command only when
 * everything is attached, so the command is this program again: it writes down the time at which
 * its main() begins. The time of starting it directly, without a tracer, is measured too and shown.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"

#define ROUNDS 21

static const char *const bpftrace_program =
	"profile:hz:99 /pid != 0/ { @oncpu[comm, kstack, ustack] = count(); }";

static int stamp(const char *path)
{
	uint64_t t = measure_now();
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, &t, sizeof(t)) != sizeof(t))
		return 1;
	return close(fd) ? 1 : 0;
}

static int run(char *const argv[], const char *path, struct sample *out)
{
	uint64_t end;
	int fd, ret;

	unlink(path);
	ret = measure_run(argv, out);
	if (ret)
		return ret;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, &end, sizeof(end)) != sizeof(end)) {
		fprintf(stderr, "%s: the command was not started (exit status %d)\n", argv[0],
			out->status);
		ret = -ENOENT;
	} else {
		out->ms = (double)(end - out->start_ns) / 1e6;
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

int main(int argc, char **argv)
{
	char self[4096], path[] = "/tmp/weft-bench-XXXXXX", command[8192];
	struct sample samples[3][ROUNDS];
	ssize_t n;
	int i, k, fd;

	if (argc == 3 && !strcmp(argv[1], "--stamp"))
		return stamp(argv[2]);
	if (argc != 3) {
		fprintf(stderr, "usage: bench-startup TRACE_CLI SET.yaml\n");
		return 2;
	}
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	fd = mkstemp(path);
	if (n < 0 || fd < 0) {
		perror("bench-startup");
		return 1;
	}
	close(fd);
	self[n] = '\0';
	snprintf(command, sizeof(command), "%s --stamp %s", self, path);

	char *direct[] = {self, "--stamp", path, NULL};
	char *weft[] = {argv[1], "run", argv[2], "-c", command, NULL};
	char *peer[] = {"bpftrace", "-c", command, "-e", (char *)bpftrace_program, NULL};
	struct {
		const char *name;
		char **argv;
	} subjects[3] = {{"the command alone", direct}, {"trace-cli", weft}, {"bpftrace", peer}};

	for (i = 0; i < ROUNDS; i++)
		for (k = 0; k < 3; k++)
			if (subjects[k].argv && run(subjects[k].argv, path, &samples[k][i]))
				subjects[k].argv = NULL;
	unlink(path);

	printf("from exec to the first instruction of the traced command, %d rounds in turns\n",
	       ROUNDS);
	measure_header("");
	for (k = 0; k < 3; k++) {
		if (subjects[k].argv)
			measure_row(subjects[k].name, samples[k], ROUNDS);
		else
			printf("%-24s did not run\n", subjects[k].name);
	}
	if (subjects[1].argv && subjects[2].argv)
		printf("bpftrace needs %.1f times the time and %.1f times the memory\n",
		       samples[2][ROUNDS / 2].ms / samples[1][ROUNDS / 2].ms,
		       (double)samples[2][ROUNDS / 2].kib / (double)samples[1][ROUNDS / 2].kib);
	return subjects[1].argv ? 0 : 1;
}
