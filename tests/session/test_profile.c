/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where time goes, by the profile provider, on the machine as it is: other programs may run. What
 * is asserted of shares holds within five standard deviations of a binomial with as many samples as
 * there were, which chance exceeds once in 1.7 million runs.
 */
#include <math.h>
#include <sys/wait.h>
#include <time.h>

#include "harness.h"

#define SPIN FIXTURE_WORKLOAD_DIR "/spin"

static bool symbol_is(const struct weft_value *stack, size_t i, const char *symbol)
{
	return stack->stack.n > i && stack->stack.frames[i].symbol &&
	       !strcmp(stack->stack.frames[i].symbol, symbol);
}

/* The counts of rows whose innermost frame is that symbol. */
static uint64_t samples_in(const struct cap_table *t, const char *symbol)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->n_rows; i++)
		if (symbol_is(cap_key(&t->rows[i], "s"), 0, symbol))
			n += t->rows[i].count;
	return n;
}

/* Shares of two functions, against what the program has measured of itself. It is started by the
 * session, so its mappings come from process events, and has ended when they are needed. */
Test(profile, shares_by_symbol)
{
	int fds[2];
	struct worker w;
	struct rig r;
	unsigned long long heavy_ns = 0, light_ns = 0;
	FILE *f;

	cr_assert_eq(pipe(fds), 0);
	worker_program(&w, fds[1], (const char *const[]){SPIN, "2.5", NULL});
	close(fds[1]);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'profile:::profile-1999hz'\n"
		  "    with: {idle: false}\n"
		  "    when: pid == %d && arg1 != 0\n"
		  "    do: [count: {into: n, by: {s: ustack(3)}}]\n",
		  w.pid);
	f = fdopen(fds[0], "r");
	cr_assert_eq(fscanf(f, "heavy %llu light %llu", &heavy_ns, &light_ns), 2);
	fclose(f);

	const struct cap_table *t = cap_last_table(&r.cap, "n");
	uint64_t heavy = samples_in(t, "heavy"), light = samples_in(t, "light"), n = heavy + light;
	uint64_t called = 0;
	double truth = (double)heavy_ns / (double)(heavy_ns + light_ns);
	double share = (double)heavy / (double)n;
	double sigma = sqrt(truth * (1 - truth) / (double)n);

	cr_expect(truth > 0.74 && truth < 0.76, "the workload: %f", truth);
	cr_expect_gt(n, 1000, "%llu samples", (unsigned long long)n);
	cr_expect_gt((double)n, 0.95 * (double)cap_total(t), "nearly all of it is in the two");
	cr_expect_lt(fabs(share - truth), 5 * sigma, "%f of %llu samples, truth %f, sigma %f",
		     share, (unsigned long long)n, truth, sigma);
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct weft_value *s = cap_key(&t->rows[i], "s");

		if (!symbol_is(s, 0, "heavy") && !symbol_is(s, 0, "light"))
			continue;
		cr_expect_str_eq(s->stack.frames[0].module, SPIN);
		if (symbol_is(s, 1, "work") && symbol_is(s, 2, "main"))
			called += t->rows[i].count;
	}
	/* In its first two instructions a function has no frame yet, and its caller is not seen. */
	cr_expect_gt((double)called, 0.99 * (double)n);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

static bool same_place(const struct weft_value *a, const struct weft_value *b)
{
	for (size_t i = 0; i < 3; i++)
		if (a->stack.n != 3 || b->stack.n != 3 || !a->stack.frames[i].symbol ||
		    !symbol_is(b, i, a->stack.frames[i].symbol) ||
		    a->stack.frames[i].offset != b->stack.frames[i].offset)
			return false;
	return true;
}

/* Programs that start and end while tracing, each for a moment. */
Test(profile, symbols_of_short_lived_programs)
{
	uint64_t known = 0;
	struct rig r;

	rig_init(&r);
	rig_trace(&r, NULL,
		  "version: 1\n"
		  "target: {command: [sh, -c, 'for i in 1 2 3 4 5 6 7 8; do " SPIN
		  " 0.05 >/dev/null; done'], "
		  "follow: true}\n"
		  "probes:\n"
		  "  - probe: 'profile:::profile-1999hz'\n"
		  "    when: execname == \"spin\" && arg1 != 0\n"
		  "    do: [count: {into: n, by: {s: ustack(3)}}, count: {into: p, by: [pid]}]\n");
	const struct cap_table *t = cap_last_table(&r.cap, "n");
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct weft_value *s = cap_key(&t->rows[i], "s");

		if (symbol_is(s, 1, "work") && symbol_is(s, 2, "main"))
			known += t->rows[i].count;
	}
	cr_expect_eq(cap_last_table(&r.cap, "p")->n_rows, 8);
	/* The rest is the dynamic linker's and the beginning of each. */
	cr_expect_gt((double)known, 0.9 * (double)cap_total(t), "%llu of %llu",
		     (unsigned long long)known, (unsigned long long)cap_total(t));
	cr_expect_eq(samples_in(t, "heavy") > 0 && samples_in(t, "light") > 0, true);
	/* Eight processes, each somewhere else in memory; one row for each place in the program. */
	for (size_t i = 0; i < t->n_rows; i++)
		for (size_t k = 0; k < i; k++)
			cr_expect(!same_place(cap_key(&t->rows[i], "s"), cap_key(&t->rows[k], "s")),
				  "two rows for one stack");
	rig_finish(&r);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct timers {
	const char *probe;
	uint64_t period;
	unsigned n; /* one on each CPU, or one */
};

/* What came and what is counted as missed, and the least and the most that was due. A timer may be
 * one short: what is due right before the end does not count as missed. */
static bool all_accounted_for(const struct timers *w, char *why, size_t size)
{
	uint64_t start = now_ns(), length, n, least, most;
	const struct cap_table *t;
	struct rig r;

	rig_init(&r);
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "probes:\n"
				 "  - probe: 'profile:::%s'\n"
				 "    do: [count: {into: n, by: [cpu]}]\n",
				 w->probe),
		     0, "%s", rig_errors(&r));
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	cr_assert_eq(rig_run(&r, -1, 2000000000), 0);
	length = now_ns() - start;
	t = cap_last_table(&r.cap, "n");
	cr_expect_leq(t->n_rows, w->n);
	n = cap_total(t) + cap_lost(&r.cap, "FIRINGS_MISSED");
	least = w->n * (2000000000 / w->period - 1);
	most = w->n * (length / w->period + 1);
	snprintf(why, size, "%s: %llu, not %llu to %llu", w->probe, (unsigned long long)n,
		 (unsigned long long)least, (unsigned long long)most);
	cap_expect_only_ticks_missed(&r.cap);
	rig_finish(&r);
	return n >= least && n <= most;
}

/* Firings that came and firings that are counted as missed are together as many as were due, on
 * CPUs that are busy and on such as are idle, which in a virtual machine may miss all of them. When
 * another perf event comes or goes on a CPU the kernel begins anew, and what was due moves: such a
 * run is repeated. */
Test(profile, every_firing_that_is_due_is_accounted_for)
{
	const struct timers all[] = {
		{"profile-1ms", 1000000, (unsigned)rig_cpus()},
		{"profile-100ms", 100000000, (unsigned)rig_cpus()},
		{"tick-1ms", 1000000, 1},
		{"tick-100ms", 100000000, 1},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char why[128];
		bool good = false;

		for (int run = 0; !good && run < 4; run++)
			good = all_accounted_for(&all[i], why, sizeof(why));
		cr_expect(good, "%s", why);
	}
}

/* Every CPU, busy or not; with a target too, since a timer is not about processes. */
static void spin_on(void *arg, int cpu)
{
	(void)arg;
	(void)cpu;
	for (volatile long i = 0; i < 300000000; i++)
		;
}

static void spin_on_all(void *arg)
{
	worker_on_cpus(rig_cpus(), spin_on, arg);
}

Test(profile, fires_on_every_cpu)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, spin_on_all, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "probes:\n"
		  "  - probe: 'profile:::profile-499'\n"
		  "    do:\n"
		  "      - count: {into: all, by: [cpu]}\n"
		  "      - max: {into: late, value: arg2}\n"
		  "  - probe: 'profile:::profile-499'\n"
		  "    when: pid == %d\n"
		  "    do: [count: {into: mine, by: [cpu]}]\n"
		  "  - probe: 'profile:::profile-499'\n"
		  "    when: pid != 0\n"
		  "    do: [count: {into: busy, by: [pid]}]\n",
		  w.pid, w.pid);
	const struct cap_table *all = cap_last_table(&r.cap, "all");
	const struct cap_table *mine = cap_last_table(&r.cap, "mine");
	const struct cap_table *busy = cap_last_table(&r.cap, "busy");
	uint64_t first;

	cr_assert_eq(all->n_rows, (size_t)rig_cpus());
	first = cap_row_int(all, "cpu", 0)->count;
	for (int cpu = 0; cpu < rig_cpus(); cpu++) {
		uint64_t n = cap_row_int(all, "cpu", cpu)->count;

		/* A virtual CPU that waits for its turn misses firings, so this is a wide bound. */
		cr_expect(2 * n >= first && 2 * first >= n, "%llu on CPU %d, %llu on CPU 0",
			  (unsigned long long)n, cpu, (unsigned long long)first);
		cr_expect_gt(cap_row_int(mine, "cpu", cpu)->count, 10);
	}
	for (size_t i = 0; i < busy->n_rows; i++)
		cr_expect_neq(cap_key(&busy->rows[i], "pid")->i, 0);
	cr_expect_geq(cap_total(busy), cap_total(mine));
	rig_finish(&r);
}

/* A program that lives in the kernel. */
Test(profile, kernel_stacks_have_symbols)
{
	uint64_t named = 0, total = 0;
	struct rig r;

	rig_init(&r);
	rig_trace(&r, NULL,
		  "version: 1\n"
		  "target: {command: [dd, if=/dev/zero, of=/dev/null, bs=4M, count=8000, status=none]}\n"
		  "probes:\n"
		  "  - probe: 'profile:::profile-997'\n"
		  "    with: {idle: false}\n"
		  "    when: execname == \"dd\" && arg0 != 0\n"
		  "    do: [count: {into: n, by: {s: stack}}]\n");
	const struct cap_table *t = cap_last_table(&r.cap, "n");
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct weft_value *s = cap_key(&t->rows[i], "s");
		bool all = s->stack.n > 0;

		for (size_t k = 0; k < s->stack.n; k++)
			all &= s->stack.frames[k].symbol && s->stack.frames[k].module &&
			       !s->stack.frames[k].user;
		total += t->rows[i].count;
		named += all ? t->rows[i].count : 0;
	}
	cr_expect_gt(total, 50, "%llu samples in the kernel", (unsigned long long)total);
	cr_expect_eq(named, total, "%llu of %llu have symbols", (unsigned long long)named,
		     (unsigned long long)total);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- the sets that are shipped ---- */

static void run_shipped(const char *path, const char *table, unsigned hz)
{
	struct weft_session_env env = {0};
	struct worker w;
	struct rig r;
	uint64_t spin = 0;

	worker_program(&w, -1, (const char *const[]){SPIN, "1", NULL});
	rig_init(&r);
	env.providers = r.providers;
	env.n_providers = r.n_providers;
	cr_assert_eq(weft_config_load_file(path, &r.set, r.err), 0, "%s", rig_errors(&r));
	cr_assert_eq(weft_session_create(&env, &r.session, r.err), 0);
	cr_assert_eq(weft_session_prepare(r.session, r.set, r.err), 0, "%s", rig_errors(&r));
	rig_go(&r, &w);
	const struct cap_table *t = cap_last_table(&r.cap, table);
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct weft_value *program = cap_key(&t->rows[i], "program");

		cr_expect(program->text.n < 8 || memcmp(program->text.s, "swapper/", 8) != 0,
			  "idle is not excluded");
		if (program->text.n == 4 && !memcmp(program->text.s, "spin", 4))
			spin += t->rows[i].count;
	}
	/* A second of CPU time; more where the virtual CPU had to wait meanwhile. */
	cr_expect_gt(spin, hz * 8 / 10, "%s: %llu", path, (unsigned long long)spin);
	rig_finish(&r);
}

Test(profile, shipped_sets)
{
	run_shipped(WEFT_SOURCE_DIR "/config/sets/on-cpu.yaml", "oncpu", 99);
	run_shipped(WEFT_SOURCE_DIR "/config/sets/cpu-share.yaml", "samples", 997);
}
