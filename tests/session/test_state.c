/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Variables through sessions: latency by hand, threads that come and go, and every CPU at once. */
#include <pthread.h>
#include <time.h>

#include "harness.h"

#define SLEEPS   5
#define SLEEP_NS 20000000

static void sleep_some(void *arg)
{
	(void)arg;
	for (int i = 0; i < SLEEPS; i++) {
		const struct timespec t = {.tv_nsec = SLEEP_NS};

		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL);
	}
}

/* What `elapsed` does by itself, done by hand: both say the same but for the moment between. */
Test(state, latency_by_hand)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, sleep_some, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-pair::clock_nanosleep:entry'\n"
		  "    when: pid == %d\n"
		  "    do:\n"
		  "      - set: {self.start: timestamp, calls: += 1}\n"
		  "  - probe: 'fx-pair::clock_nanosleep:return'\n"
		  "    when: pid == %d && defined(self.start)\n"
		  "    do:\n"
		  "      - set: {this.took: timestamp - self.start, total: += this.took}\n"
		  "      - emit: {took: this.took, elapsed: elapsed}\n"
		  "      - delete: self.start\n"
		  "  - probe: 'fx-pair::clock_nanosleep:return'\n"
		  "    when: pid == %d\n"
		  "    do: [count: {into: left, by: defined(self.start)}]\n"
		  "end:\n"
		  "  - emit: {calls: calls, total: total}\n",
		  w.pid, w.pid, w.pid);
	cr_assert_eq(r.cap.n_records, SLEEPS + 1);
	int64_t total = 0;
	for (int i = 0; i < SLEEPS; i++) {
		int64_t took = cap_int(&r.cap.records[i], "took");

		cr_expect_geq(took, SLEEP_NS);
		cr_expect_eq(took, cap_int(&r.cap.records[i], "elapsed"));
		total += took;
	}
	cr_expect_eq(cap_int(&r.cap.records[SLEEPS], "calls"), SLEEPS);
	cr_expect_eq(cap_int(&r.cap.records[SLEEPS], "total"), total);
	cr_expect_eq(cap_only_row(&r.cap, "left")->count, SLEEPS, "deleted before");
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

static void call_3(void *arg)
{
	(void)arg;
	for (int i = 0; i < 3; i++)
		syscall(SYS_getppid);
}

/* What begin sets is there when the first probe fires, and end has the last of it. */
Test(state, lists_share_the_variables)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, call_3, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "begin:\n"
		  "  - set: {n: 100, who: '\"nobody\"', never: += 0}\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::calls'\n"
		  "    when: pid == %d\n"
		  "    do:\n"
		  "      - set:\n"
		  "          n: += 1\n"
		  "          who: execname\n"
		  "          by[pid, execname]: += 2\n"
		  "          last: by[pid, execname]\n"
		  "end:\n"
		  "  - emit: {n: n, who: who, never: never, last: last ?? -1}\n",
		  w.pid);
	cr_assert_eq(r.cap.n_records, 1);
	cr_expect_eq(cap_int(&r.cap.records[0], "n"), 103);
	cr_expect_eq(cap_int(&r.cap.records[0], "last"), 6);
	cr_expect_eq(cap_int(&r.cap.records[0], "never"), 0);
	cr_expect(!cap_is_text(&r.cap.records[0], "who", "nobody"));
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- threads ---- */

#define THREADS 64

static void *call_once(void *arg)
{
	*(pid_t *)arg = (pid_t)syscall(SYS_gettid);
	syscall(SYS_getppid);
	return NULL;
}

static void wait_until_gone(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d", tid);
	while (!access(path, F_OK))
		sched_yield();
}

/* One after the other: each is gone for good before the next begins. */
static void make_threads(void *arg)
{
	pthread_t thread;
	pid_t tid = 0;

	(void)arg;
	for (int i = 0; i < 3 * THREADS; i++) {
		if (pthread_create(&thread, NULL, call_once, &tid))
			abort();
		pthread_join(thread, NULL);
		wait_until_gone(tid);
	}
}

Test(state, threads_that_end_give_their_room_back)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, make_threads, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "options: {threads: %d}\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::calls'\n"
		  "    when: pid == %d\n"
		  "    do:\n"
		  "      - count: {into: seen, by: defined(self.there)}\n"
		  "      - set: {self.there: tid, threads: += 1}\n"
		  "      - count: {into: same, by: self.there == tid}\n"
		  "end: [emit: {n: threads}]\n",
		  THREADS, w.pid);
	cr_expect_eq(cap_int(&r.cap.records[0], "n"), 3 * THREADS);
	cr_expect_eq(cap_only_row(&r.cap, "seen")->count, 3 * THREADS);
	cr_expect_eq(cap_key(cap_only_row(&r.cap, "seen"), "defined(self.there)")->i, 0,
		     "no thread finds what another has left");
	cr_expect_eq(cap_key(cap_only_row(&r.cap, "same"), "self.there == tid")->i, 1);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

struct crowd {
	pthread_barrier_t ready;
};

static void *call_and_wait(void *arg)
{
	struct crowd *crowd = arg;

	syscall(SYS_getppid);
	pthread_barrier_wait(&crowd->ready);
	return NULL;
}

#define CROWD (THREADS + 21)

static void make_crowd(void *arg)
{
	pthread_t threads[CROWD];
	struct crowd crowd;

	(void)arg;
	pthread_barrier_init(&crowd.ready, NULL, CROWD);
	for (int i = 0; i < CROWD; i++)
		if (pthread_create(&threads[i], NULL, call_and_wait, &crowd))
			abort();
	for (int i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
}

Test(state, STATE_FULL)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, make_crowd, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "options: {threads: %d}\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::calls'\n"
		  "    when: pid == %d\n"
		  "    do:\n"
		  "      - set: {self.there: 1}\n"
		  "      - count: {into: there, by: defined(self.there)}\n",
		  THREADS, w.pid);
	cap_expect_loss(&r.cap, "STATE_FULL", CROWD - THREADS);
	cr_expect_eq(cap_row_int(cap_last_table(&r.cap, "there"), "defined(self.there)", 1)->count,
		     THREADS);
	cr_expect_eq(cap_row_int(cap_last_table(&r.cap, "there"), "defined(self.there)", 0)->count,
		     CROWD - THREADS);
	rig_finish(&r);
}

/* ---- every CPU ---- */

#define CALLS 20000

static void *call_many(void *arg)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((long)arg, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	return NULL;
}

static void call_everywhere(void *arg)
{
	pthread_t threads[256];
	long n = (long)(size_t)arg;

	for (long i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, call_many, (void *)i))
			abort();
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

Test(state, no_addition_is_lost)
{
	long n = rig_cpus() < 256 ? rig_cpus() : 256;
	struct worker w;
	struct rig r;

	worker_fork(&w, call_everywhere, (void *)n);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::calls'\n"
		  "    when: pid == %d\n"
		  "    do:\n"
		  "      - set: {n: += 3, self.n: += 1, 'e[pid]': += 1}\n"
		  "      - max: {into: most, value: self.n}\n"
		  "      - max: {into: elements, value: 'e[pid]'}\n"
		  "end: [emit: {n: n}]\n",
		  w.pid);
	cr_expect_eq(cap_int(&r.cap.records[0], "n"), 3 * n * CALLS);
	cr_expect_eq(cap_only_row(&r.cap, "most")->value.i, CALLS);
	cr_expect_eq(cap_only_row(&r.cap, "elements")->value.i, n * CALLS);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(state, STATE_UNSET)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, call_3, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::calls'\n"
		  "    when: pid == %d\n"
		  "    do:\n"
		  "      - count: {into: n, by: self.first}\n"
		  "  - probe: 'fx-trace:::calls'\n"
		  "    when: pid == %d\n"
		  "    do: [set: {self.first: 1}]\n",
		  w.pid, w.pid);
	cap_expect_loss(&r.cap, "STATE_UNSET", 1);
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, 2);
	rig_finish(&r);
}

/* ---- what is wrong is said before anything is attached ---- */

Test(state, STATE_TYPE)
{
	struct weft_report report;
	struct rig r;

	rig_init(&r);
	cr_expect_lt(rig_prepare(&r, "version: 1\n"
				     "probes:\n"
				     "  - probe: 'fx-trace:::calls'\n"
				     "    do: [set: {self.x: execname}]\n"
				     "  - probe: 'fx-trace:::calls'\n"
				     "    do: [set: {self.x: pid}]\n"),
		     0);
	rig_expect_tag(&r, 0, "STATE_TYPE");
	weft_error_report(r.err, 0, &report);
	cr_expect(strstr(report.text, "a string at 4:16"), "%s", report.text);
	cr_expect(report.pos.line == 6 && report.pos.column == 24, "%u:%u", report.pos.line,
		  report.pos.column);
	rig_finish(&r);
}

Test(state, STATE_UNASSIGNED)
{
	struct weft_report report;
	struct rig r;

	rig_init(&r);
	cr_expect_lt(rig_prepare(&r, "version: 1\n"
				     "probes:\n"
				     "  - probe: 'fx-trace:::calls'\n"
				     "    do: [set: {self.start: timestamp}]\n"
				     "end:\n"
				     "  - emit: {x: self.strat}\n"),
		     0);
	rig_expect_tag(&r, 0, "STATE_UNASSIGNED");
	weft_error_report(r.err, 0, &report);
	cr_expect_str_eq(report.suggestion, "self.start");
	cr_expect(report.pos.line == 6 && report.pos.column == 15);
	rig_finish(&r);
}
