/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Whom a probe fires for: the scopes that a provider can claim, with a target and without. */
#include "harness.h"

static void call_40(void *arg)
{
	(void)arg;
	for (int i = 0; i < 40; i++)
		syscall(SYS_getppid);
}

/* Two processes do the same; counts by pid and probe. */
static void trace_two(struct rig *r, struct worker *w, struct worker *other, const char *target)
{
	char line[64];

	worker_fork(w, call_40, NULL);
	worker_fork(other, call_40, NULL);
	snprintf(line, sizeof(line), target, w->pid);
	rig_init(r);
	cr_assert_eq(
		rig_prepare(r,
			    "version: 1\n%s"
			    "probes:\n"
			    "  - probe: ['fx-trace:::calls', 'fx-trace:::coarse', 'fx-trace:::exact']\n"
			    "    when: pid == %d || pid == %d\n"
			    "    do:\n"
			    "      - count: {into: calls, by: {name: probename, pid: pid}}\n"
			    "      - count: {into: sums, by: {name: probename}}\n",
			    line, w->pid, other->pid),
		0, "%s", rig_errors(r));
	cr_assert_eq(rig_start(r), 0, "%s", rig_errors(r));
	worker_join(other);
	worker_go(w);
	cr_assert_eq(rig_run(r, *target ? -1 : w->pidfd, 0), 0);
	worker_join(w);
	cap_expect_no_loss(&r->cap);
}

Test(scope, without_a_target_everyone_counts)
{
	struct worker w, other;
	struct rig r;

	trace_two(&r, &w, &other, "");
	const struct cap_table *t = cap_last_table(&r.cap, "calls");
	cr_expect_eq(t->n_rows, 6);
	for (size_t i = 0; i < t->n_rows; i++)
		cr_expect_eq(t->rows[i].count, 40);
	rig_finish(&r);
}

Test(scope, with_a_target_the_core_checks_all_but_exact)
{
	struct worker w, other;
	struct rig r;

	trace_two(&r, &w, &other, "target: {pid: %d}\n");
	cr_expect_str_eq(r.end.reason, "target");
	const struct cap_table *t = cap_last_table(&r.cap, "sums");
	cr_expect_eq(cap_row_text(t, "name", "calls")->count, 40);
	cr_expect_eq(cap_row_text(t, "name", "coarse")->count, 40);
	cr_expect_eq(cap_row_text(t, "name", "exact")->count, 80,
		     "the provider says it fires for "
		     "the target only");
	t = cap_last_table(&r.cap, "calls");
	cr_expect_eq(t->n_rows, 4);
	cr_expect_eq(cap_row_int(t, "pid", other.pid)->count, 40);
	cr_expect_eq(cap_row_int(t, "pid", w.pid)->count, 40);
	rig_finish(&r);
}

/* Threads of the target are the target. */
static void call_on_cpu(void *arg, int cpu)
{
	(void)cpu;
	call_40(arg);
}

static void call_on_all_cpus(void *arg)
{
	worker_on_cpus(rig_cpus(), call_on_cpu, arg);
}

Test(scope, threads_of_the_target)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, call_on_all_cpus, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::calls'\n"
		  "    do:\n"
		  "      - count: {into: all, by: {pid: pid}}\n"
		  "      - count: {into: threads, by: {tid: tid, cpu: cpu}}\n",
		  w.pid);
	cr_expect_eq(cap_row_int(cap_last_table(&r.cap, "all"), "pid", w.pid)->count,
		     40u * (unsigned)rig_cpus());
	const struct cap_table *t = cap_last_table(&r.cap, "threads");
	cr_assert_eq(t->n_rows, (size_t)rig_cpus());
	for (int cpu = 0; cpu < rig_cpus(); cpu++)
		cr_expect_eq(cap_row_int(t, "cpu", cpu)->count, 40);
	for (size_t i = 0; i < t->n_rows; i++)
		cr_expect_neq(cap_key(&t->rows[i], "tid")->i, w.pid);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}
