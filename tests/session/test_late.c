/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How late a firing came, to the nanosecond. An event is due at its first expiry and every period
 * after it, so that timestamp - late, modulo the period, is one number for all its firings, however
 * late each of them was.
 *
 * That holds until the kernel stops and restarts the event, which it does when another perf event
 * comes or goes on that CPU. Such a run is repeated: what would not be exact at all would have as
 * many numbers as firings in each of them.
 */
#include <time.h>

#include "harness.h"
#include "support/test_spin.h"

#define RUNS 8
#define S    UINT64_C(1000000000)

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * S + (uint64_t)t.tv_nsec;
}

static uint64_t due(const struct cap_record *r)
{
	return (uint64_t)cap_int(r, "at") - (uint64_t)cap_int(r, "late");
}

struct grid {
	const char *name;
	uint64_t period, run_ns;
	bool everywhere; /* an event on each CPU; else one */
};

/* What was due on one CPU. */
struct seen {
	uint64_t first, last; /* 0: none */
	uint64_t skipped;     /* between them */
};

/* What is counted as missed is what was due between firings, exactly, and some before and behind. */
static void expect_missed(const struct capture *c, const struct grid *g, const struct seen *seen,
			  uint64_t begin, uint64_t end)
{
	uint64_t between = 0, around = 0, n = cap_lost(c, "FIRINGS_MISSED");

	for (int cpu = 0; cpu < 256; cpu++) {
		if (!seen[cpu].first)
			continue;
		between += seen[cpu].skipped;
		around += (seen[cpu].first - begin) / g->period + (end - seen[cpu].last) / g->period;
	}
	cr_expect(n >= between && n <= between + around, "%s: %llu, not %llu to %llu", g->name,
		  (unsigned long long)n, (unsigned long long)between,
		  (unsigned long long)(between + around));
	cap_expect_only_ticks_missed(c);
}

/* Runs it once. Returns how often the grid of a CPU moved. */
static unsigned run(const struct grid *g)
{
	struct seen seen[256] = {0};
	uint64_t before, attached;
	unsigned moved = 0, cpus = 0;
	struct rig r;

	rig_init(&r);
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "probes:\n"
				 "  - probe: 'profile:::%s'\n"
				 "    do: [emit: {at: timestamp, late: args.late}]\n",
				 g->name),
		     0, "%s", rig_errors(&r));
	before = now_ns();
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	attached = now_ns();
	cr_assert_eq(rig_run(&r, -1, g->run_ns), 0, "%s", rig_errors(&r));

	/* An emulated machine misses many. */
	cr_expect_gt(r.cap.n_records, g->run_ns / g->period / 20);
	for (size_t i = 0; i < r.cap.n_records; i++) {
		const struct cap_record *rec = &r.cap.records[i];
		struct seen *on;

		cr_expect_geq(cap_int(rec, "late"), 0);
		cr_expect(cap_field(rec, "late")->type.is_signed);
		cr_assert_lt(rec->cpu, 256u);
		on = &seen[rec->cpu];
		if (!on->last) {
			on->first = due(rec);
			cpus++;
		} else {
			moved += (due(rec) - on->last) % g->period != 0;
			on->skipped += (due(rec) - on->last) / g->period - 1;
		}
		on->last = due(rec);
		/* The first expiry is a period after the event was made, and that was just now. */
		cr_expect_geq(due(rec), before + g->period);
		if (!moved)
			cr_expect_leq((due(rec) - before) % g->period, attached - before, "%s",
				      g->name);
	}
	cr_expect_eq(cpus, g->everywhere ? (unsigned)rig_cpus() : 1);
	if (!moved)
		expect_missed(&r.cap, g, seen, before, now_ns());
	rig_finish(&r);
	return moved;
}

/* An idle processor of a virtual machine may run the timer outside of any interrupt, and the kernel
 * then makes no sample: all are kept busy. */
static void expect_grid(const struct grid *g)
{
	pid_t spinner[256];
	unsigned moved = 1;

	for (int cpu = 0; cpu < rig_cpus(); cpu++)
		spinner[cpu] = test_spin_start(cpu);
	for (int i = 0; moved && i < RUNS; i++)
		moved = run(g);
	for (int cpu = 0; cpu < rig_cpus(); cpu++)
		test_spin_stop(spinner[cpu]);
	cr_expect_eq(moved, 0, "%s: the last of %d runs moved %u times", g->name, RUNS, moved);
}

Test(late, a_fast_tick)
{
	expect_grid(&(struct grid){"tick-1000hz", S / 1000, 2 * S, false});
}

Test(late, a_slow_tick)
{
	expect_grid(&(struct grid){"tick-400ms", S * 2 / 5, 2 * S, false});
}

Test(late, a_period_that_is_no_round_number)
{
	expect_grid(&(struct grid){"profile-1003009ns", 1003009, S, true});
}

static void spin(void *arg, int cpu)
{
	(void)arg;
	(void)cpu;
	for (uint64_t end = now_ns() + 3 * S; now_ns() < end;)
		;
}

static void spin_on_all(void *arg)
{
	worker_on_cpus(rig_cpus(), spin, arg);
}

/* With the processors busy, and in one set with what needs other members of kernel structs. */
Test(late, busy_processors)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, spin_on_all, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'profile:::tick-1000'\n"
		  "    do:\n"
		  "      - quantize: {into: dist, value: args.late, unit: ns}\n"
		  "      - min: {into: least, value: args.late}\n"
		  "  - probe: 'profile:::tick-1000'\n"
		  "    when: 'pid == %d || ppid == %d'\n"
		  "    do: [count: {into: mine}]\n",
		  w.pid, w.pid);
	const struct weft_row *dist = cap_only_row(&r.cap, "dist");

	cr_expect_gt(dist->count, 100);
	cr_expect_gt(cap_only_row(&r.cap, "mine")->count, 10);
	for (size_t i = 0; i < dist->n_buckets; i++)
		cr_expect_geq(dist->buckets[i].from, 0);
	cr_expect_geq(cap_only_row(&r.cap, "least")->value.i, dist->buckets[0].from);
	cr_expect_lt(cap_only_row(&r.cap, "least")->value.i, dist->buckets[0].to);
	cap_expect_only_ticks_missed(&r.cap);
	rig_finish(&r);
}
