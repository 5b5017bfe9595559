/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What watching system calls costs: a call that is watched, one that nobody asked about, and how
 * long it takes from exec of trace-cli until all is attached; by the number of calls that are
 * watched (a count by name at their entry) and by the mechanism. Time is the thread's own CPU time;
 * of all turns the least holds. Usage: bench-syscall TRACE-CLI
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Short and many: on a machine that is shared some of them are undisturbed. */
#define TURNS 3001
#define CALLS 500
#define MOST  1024

static char names[MOST][64];
static size_t n_names;

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cost_ns(long number)
{
	double least = 1e9;

	for (int turn = 0; turn < TURNS; turn++) {
		double from = seconds(CLOCK_THREAD_CPUTIME_ID), took;

		for (long i = 0; i < CALLS; i++)
			syscall(number, 0);
		took = (seconds(CLOCK_THREAD_CPUTIME_ID) - from) / CALLS * 1e9;
		least = took < least ? took : least;
	}
	return least;
}

/* getpgid is the first of those watched, getppid never is. */
static void read_names(const char *cli)
{
	char command[512], line[256];
	FILE *f;

	snprintf(command, sizeof(command), "%s list syscall:::entry", cli);
	f = popen(command, "r");
	strcpy(names[n_names++], "getpgid");
	while (f && fgets(line, sizeof(line), f) && n_names < MOST) {
		char *name = line + strlen("syscall::");

		if (strlen(line) < 20 || strstr(line, ":getppid:") || strstr(line, ":getpgid:"))
			continue;
		name[strcspn(name, ":")] = '\0';
		snprintf(names[n_names++], sizeof(names[0]), "%.63s", name);
	}
	if (!f || pclose(f) || n_names < 300) {
		fprintf(stderr, "%s lists no system calls\n", cli);
		exit(1);
	}
}

static void write_set(const char *path, size_t n, const char *mechanism)
{
	FILE *f = fopen(path, "w");

	if (!f)
		exit(1);
	fprintf(f, "version: 1\nproviders: {syscall: {mechanism: %s}}\nprobes:\n  - probe:\n",
		mechanism);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "      - syscall::%s:entry\n", names[i]);
	fprintf(f, "    do: [count: {into: calls, by: {call: probefunc}}]\n");
	fclose(f);
}

/* Starts the tracer and returns when it says that all is attached. */
static pid_t start(char **argv, const char *set, int *said)
{
	char text[4096];
	size_t at = 0;
	int pipes[2];
	pid_t pid;

	if (pipe(pipes))
		exit(1);
	pid = fork();
	if (!pid) {
		dup2(pipes[1], 2);
		if (!freopen("/dev/null", "w", stdout))
			_exit(1);
		close(pipes[0]);
		execl(argv[1], argv[1], "run", "-v", set, NULL);
		_exit(127);
	}
	close(pipes[1]);
	for (;;) {
		ssize_t n = read(pipes[0], text + at, sizeof(text) - 1 - at);

		if (n <= 0) {
			fprintf(stderr, "the tracer ended: %s\n", text);
			exit(1);
		}
		at += (size_t)n;
		text[at] = '\0';
		if (strstr(text, "programs, attached"))
			break;
		if (at > sizeof(text) / 2)
			at = 0;
	}
	*said = pipes[0];
	return pid;
}

static void one(char **argv, size_t n, const char *mechanism)
{
	char set[] = "/tmp/bench-syscall.XXXXXX";
	double from, attached, detach, bare = cost_ns(SYS_getpgid),
				       bare_other = cost_ns(SYS_getppid);
	int fd = mkstemp(set), said;
	pid_t pid;

	if (fd < 0)
		exit(1);
	close(fd);
	write_set(set, n, mechanism);
	from = seconds(CLOCK_MONOTONIC);
	pid = start(argv, set, &said);
	attached = seconds(CLOCK_MONOTONIC) - from;
	printf("%5zu  %-7s %6.0f %6.0f %7.0f %6.0f", n, mechanism, bare, cost_ns(SYS_getpgid),
	       bare_other, cost_ns(SYS_getppid));
	kill(pid, SIGINT);
	from = seconds(CLOCK_MONOTONIC);
	waitpid(pid, NULL, 0);
	detach = seconds(CLOCK_MONOTONIC) - from;
	printf(" %12.0f %12.0f\n", attached * 1000, detach * 1000);
	close(said);
	unlink(set);
}

int main(int argc, char **argv)
{
	static const size_t counts[] = {1, 8, 32};

	if (argc < 2)
		return 2;
	read_names(argv[1]);
	setvbuf(stdout, NULL, _IONBF, 0);
	printf("                watched, ns      other, ns        until, ms\n"
	       "calls  by         bare traced   bare traced    attached     detached\n");
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		one(argv, counts[i], "record");
		one(argv, counts[i], "raw");
	}
	/* Not by record: of those that a kernel has not there is none, and it would take a minute. */
	one(argv, n_names, "raw");
	return 0;
}
