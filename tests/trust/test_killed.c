/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The tracer is killed at a random moment, again and again: while it loads plugins, compiles,
 * attaches, runs or detaches. Each time, what it had in the kernel is gone, the code of the traced
 * program is again what it was and the counter of its static probe 0; and all the time the program
 * computes the right sums.
 *
 * WEFT_LONG=1: 500 times. Otherwise 20.
 */
#include <sys/wait.h>
#include <time.h>

#include "kernel_objects.h"
#include "support.h"
#include "support/test_long.h"

static const char set_text[] =
	"version: 1\n"
	"options: {interval: 100ms}\n"
	"probes:\n"
	"  - probe: 'uprobe:" VICTIM ":work_*:entry'\n"
	"    do: [count: {into: calls, by: {f: probefunc, s: ustack(4)}}, emit: [arg0]]\n"
	"  - probe: 'uprobe:" VICTIM ":work_1*:return'\n"
	"    do: [quantize: {into: took, value: elapsed, unit: ns}]\n"
	"  - probe: 'usdt:" VICTIM ":victim:round'\n"
	"    do: [set: {self.seen: += 1}, sum: {into: rounds, value: self.seen}]\n"
	"  - probe: ['tracepoint:raw_syscalls::sys_enter', 'tracepoint:sched::sched_switch']\n"
	"    do: [count: {into: events, by: [execname]}]\n"
	"  - probe: 'profile:::profile-97'\n"
	"    do: [count: {into: samples, by: {s: stack(8)}}]\n";

static struct kernel_objects before;

struct victim {
	FILE *to, *from;
	pid_t pid;
	unsigned long rounds;
};

static void victim_start(struct victim *v)
{
	int in[2], out[2];

	cr_assert(!pipe(in) && !pipe(out));
	v->pid = fork();
	cr_assert_geq(v->pid, 0);
	if (!v->pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close_range(3, ~0u, 0);
		execl(VICTIM, VICTIM, NULL);
		_exit(126);
	}
	close(in[0]);
	close(out[1]);
	v->to = fdopen(in[1], "w");
	v->from = fdopen(out[0], "r");
	v->rounds = 0;
	cr_assert(v->to && v->from);
}

/* It goes on, unharmed. The kernel puts code back after the tracer's end, a little later. */
static void victim_expect_clean(struct victim *v, int round)
{
	char what[16] = "";
	unsigned int counter = 1;
	unsigned long rounds = 0;

	for (int i = 0; i < 3000; i++) {
		fputs("\n", v->to);
		fflush(v->to);
		cr_assert_eq(fscanf(v->from, "%lu %15s %u", &rounds, what, &counter), 3,
			     "round %d: the traced program has ended", round);
		if (!strcmp(what, "same") && !counter)
			break;
		usleep(10000);
	}
	cr_expect_str_eq(what, "same", "round %d: breakpoints stay behind", round);
	cr_expect_eq(counter, 0, "round %d: a counter stays up: %u", round, counter);
	cr_expect_gt(rounds, v->rounds, "round %d: the traced program stands still", round);
	v->rounds = rounds;
}

static void victim_end(struct victim *v)
{
	int status;

	fclose(v->to);
	cr_assert_eq(waitpid(v->pid, &status, 0), v->pid);
	cr_expect_eq(status, 0, "the traced program computed something wrong: %d", status);
	fclose(v->from);
}

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

Test(trust_killed, at_random_moments, .timeout = 4000)
{
	const int times = test_is_long() ? 500 : 20;
	uint64_t seed = (uint64_t)time(NULL) | 1, most_us = 0;
	const char *set = cli_set(set_text);
	const char *const args[] = {"run", BUILT_IN, set, "--duration", "300ms", NULL};
	int killed = 0, ended = 0;
	struct timespec from, to;
	struct victim v;
	struct cli_run c;

	victim_start(&v);
	kernel_objects_read(&before);
	/* How long a whole run takes here. */
	clock_gettime(CLOCK_MONOTONIC, &from);
	cli_start(&c, NULL, args);
	cli_wait(&c);
	clock_gettime(CLOCK_MONOTONIC, &to);
	cr_assert(c.status == 0 || c.status == 3, "%s", c.err);
	cr_assert_not_null(strstr(c.out, "rounds"), "nothing is traced:\n%s%s", c.out, c.err);
	cli_finish(&c);
	most_us = (uint64_t)(to.tv_sec - from.tv_sec) * 1000000 +
		  (uint64_t)(to.tv_nsec / 1000 - from.tv_nsec / 1000);
	for (int i = 0; i < times; i++) {
		cli_start(&c, NULL, args);
		usleep((useconds_t)(next(&seed) % most_us));
		kill(c.pid, SIGKILL);
		cli_wait(&c);
		killed += c.status == 128 + SIGKILL;
		ended += c.status == 0 || c.status == 3;
		cr_expect(c.status == 128 + SIGKILL || c.status == 0 || c.status == 3, "%d: %s",
			  c.status, c.err);
		cli_finish(&c);
		victim_expect_clean(&v, i);
		kernel_objects_expect_gone(&before);
	}
	victim_end(&v);
	cli_unlink_sets();
	cr_expect_gt(killed, times / 2);
	fprintf(stderr,
		"%d runs were killed, %d had ended before, the traced program went round %lu times\n",
		killed, ended, v.rounds);
}
