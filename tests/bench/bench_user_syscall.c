/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a probe costs the program that fires it: user-syscall, beside a static probe of weft/usdt.h, a
 * uprobe on an ordinary instruction, and LTTng-UST; and what tracing costs those who have nothing to
 * do with it. Each case has a tracer of its own, which is
 * started and ended around it; a bare getpid is measured before each of them, untraced. Time is the
 * thread's own CPU time, so that other work of the machine counts less; of all turns the least holds.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "weft/usdt.h"
#include "weft/user.h"

/* Short and many: on a machine that is shared some of them are undisturbed. */
#define TURNS 101

static const char *cli, *self, *lttng;
static weft_probe *probe;
static volatile uint64_t sink;

/* ---- what is measured ---- */

static void do_nothing(long n)
{
	for (long i = 0; i < n; i++)
		__asm__ volatile("" ::"r"(i));
}

static void do_check(long n)
{
	for (long i = 0; i < n; i++) {
		__asm__ volatile("" ::"r"(i));
		WEFT_FIRE(probe, i);
	}
}

static void do_getpid(long n)
{
	for (long i = 0; i < n; i++) {
		long ret;

		__asm__ volatile("syscall"
				 : "=a"(ret)
				 : "a"((long)SYS_getpid), "D"(0L)
				 : "rcx", "r11", "memory");
	}
}

static void do_fire(long n)
{
	for (long i = 0; i < n; i++)
		WEFT_FIRE(probe, i, 2, 3, 4, 5);
}

static void do_usdt(long n)
{
	for (long i = 0; i < n; i++)
		WEFT_USDT(bench, fired, i, 2L, 3L, 4L, 5L);
}

/* Begins with an instruction that the kernel does not emulate. */
__attribute__((noinline, noclone, used)) void bench_ordinary(void);
__asm__(".text\n.type bench_ordinary, @function\n.globl bench_ordinary\nbench_ordinary:\n"
	"	xor %eax, %eax\n	ret\n.size bench_ordinary, .-bench_ordinary\n");

static void do_ordinary(long n)
{
	for (long i = 0; i < n; i++)
		bench_ordinary();
}

static void do_getppid(long n)
{
	for (long i = 0; i < n; i++)
		sink = (uint64_t)syscall(SYS_getppid);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static double turn(void (*fn)(long), long n)
{
	double best = 0;

	for (int i = 0; i < TURNS; i++) {
		uint64_t from = now();
		double ns;

		fn(n);
		ns = (double)(now() - from) / (double)n;
		if (!i || ns < best)
			best = ns;
	}
	return best;
}

/* ---- tracers ---- */

static pid_t tracer;

static void stop(void)
{
	if (tracer > 0) {
		kill(tracer, SIGINT);
		waitpid(tracer, NULL, 0);
	}
	tracer = 0;
}

/* Until the tracer says on its standard error that it is attached. */
static int start(const char *yaml)
{
	char path[] = "/tmp/weft-bench-XXXXXX", said[65536] = "";
	int fd = mkstemp(path), err[2];
	size_t n = 0;

	if (fd < 0 || pipe2(err, O_CLOEXEC) || write(fd, yaml, strlen(yaml)) < 0)
		exit(1);
	close(fd);
	tracer = fork();
	if (!tracer) {
		dup2(open("/dev/null", O_WRONLY), 1);
		dup2(err[1], 2);
		execl(cli, cli, "run", path, "-v", "-o", "json", NULL);
		_exit(127);
	}
	close(err[1]);
	while (n < sizeof(said) - 1 && !strstr(said, "maps take")) {
		ssize_t got = read(err[0], said + n, sizeof(said) - 1 - n);

		if (got <= 0)
			break;
		n += (size_t)got;
		said[n] = '\0';
	}
	unlink(path);
	fcntl(err[0], F_SETFL, O_NONBLOCK); /* it says no more than a pipe holds */
	if (strstr(said, "maps take"))
		return 0;
	fprintf(stderr, "%s", said);
	close(err[0]);
	stop();
	return -1;
}

static double bare;

static void row(const char *what, double ns, double base)
{
	printf("%-46s %10.2f ns   %7.2f\n", what, ns - base, (ns - base) / bare);
	fflush(stdout);
}

static void traced(const char *what, const char *yaml, void (*fn)(long), long n)
{
	double b = turn(do_getpid, 10000), nothing = turn(do_nothing, 1000000);

	if (b < bare)
		bare = b;
	if (start(yaml)) {
		printf("%-46s cannot be traced here\n", what);
		return;
	}
	fn(10);
	row(what, turn(fn, n), nothing);
	stop();
}

static void lttng_row(void)
{
	FILE *f = lttng ? popen(lttng, "r") : NULL;
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		double ns;
		char what[128];

		if (sscanf(line, "%127[^=]=%lf", what, &ns) == 2)
			row(what, ns, 0);
	}
	if (f)
		pclose(f);
	else
		printf("LTTng-UST: not installed\n");
}

#define SET(probe, does)                                  \
	"version: 1\n"                                    \
	"providers: {user-syscall: {rate: 1000000000}}\n" \
	"options: {buffer: 16m}\n"                        \
	"probes:\n  - probe: '" probe "'\n    do: [" does "]\n"

int main(int argc, char **argv)
{
	static const char five[] = "emit: {a: args.a, b: args.b, c: args.c, d: args.d, e: args.e}";
	char yaml[4096], path[1024];
	double tax, untaxed;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (argc < 2 || n < 0) {
		fprintf(stderr, "usage: bench-user-syscall TRACE-CLI [LTTNG-COMMAND]\n");
		return 2;
	}
	path[n] = '\0';
	self = path;
	cli = argv[1];
	lttng = argc > 2 ? argv[2] : NULL;
	probe = weft_probe_declare("bench", "fired", "int64 a, int64 b, int64 c, int64 d, int64 e",
				   NULL);
	bare = turn(do_getpid, 10000);

	printf("%-46s %13s   %7s\n", "the cost of one", "", "getpids");
	row("getpid, nobody traces", bare, 0);
	row("user-syscall, disabled", turn(do_check, 1000000), turn(do_nothing, 1000000));
	row("USDT, disabled", turn(do_usdt, 1000000), turn(do_nothing, 1000000));
	traced("user-syscall, count",
	       SET("user-syscall:bench-user-syscall:bench:fired", "count: {into: n}"), do_fire,
	       10000);
	traced("a plain getpid meanwhile",
	       SET("user-syscall:bench-user-syscall:bench:fired", "count: {into: n}"), do_getpid,
	       10000);
	traced("user-syscall, count, mechanism raw",
	       "version: 1\nproviders: {user-syscall: {mechanism: raw, rate: 1000000000}}\nprobes:\n"
	       "  - probe: user-syscall:bench-user-syscall:bench:fired\n"
	       "    do: [count: {into: n}]\n",
	       do_fire, 10000);
	traced("user-syscall, count by value",
	       SET("user-syscall:bench-user-syscall:bench:fired",
		   "count: {into: n, by: {v: args.b}}"),
	       do_fire, 10000);
	snprintf(yaml, sizeof(yaml), SET("user-syscall:bench-user-syscall:bench:fired", "%s"), five);
	traced("user-syscall, record of 5 words", yaml, do_fire, 2000);
	snprintf(yaml, sizeof(yaml), SET("usdt:%s:bench:fired", "count: {into: n}"), self);
	traced("USDT, count", yaml, do_usdt, 5000);
	snprintf(yaml, sizeof(yaml),
		 SET("usdt:%s:bench:fired", "emit: {a: arg0, b: arg1, c: arg2, d: arg3, e: arg4}"),
		 self);
	traced("USDT, record of 5 words", yaml, do_usdt, 2000);
	snprintf(yaml, sizeof(yaml),
		 "version: 1\nproviders: {uprobe: {placement: exact}}\nprobes:\n"
		 "  - probe: 'uprobe:%s:bench_ordinary:entry'\n    do: [count: {into: n}]\n",
		 self);
	traced("uprobe, ordinary instruction, count", yaml, do_ordinary, 200);
	lttng_row();

	untaxed = turn(do_getppid, 10000);
	row("getppid, nobody traces", untaxed, 0);
	for (int raw = 0; raw < 2; raw++) {
		snprintf(yaml, sizeof(yaml),
			 "version: 1\nproviders: {user-syscall: {mechanism: %s}}\nprobes:\n"
			 "  - probe: 'user-syscall:bench-user-syscall:bench:fired'\n"
			 "    do: [count: {into: n}]\n",
			 raw ? "raw" : "tracepoint");
		if (start(yaml))
			continue;
		tax = turn(do_getppid, 10000);
		stop();
		row(raw ? "the tax on it, mechanism raw" : "the tax on it, mechanism tracepoint",
		    tax, untaxed);
	}
	row("the tax that is left when tracing has ended", turn(do_getppid, 10000), untaxed);
	return 0;
}
