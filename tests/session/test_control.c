/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a set asks of the run: limits, samples, signals, arguments of entries. */
#include <signal.h>
#include <sys/wait.h>

#include "harness.h"

#define ENTER 0x656e746572L
#define LEAVE 0x6c65617665L
enum { F, G };

static void enter(int function, long frame, long value)
{
	syscall(SYS_getpid, ENTER, function, frame, value);
}

static void leave(int function, long frame, long value)
{
	syscall(SYS_getpid, LEAVE, function, frame, value);
}

/* ---- every, limit ---- */

#define CALLS 100

static void call_often(void *arg)
{
	(void)arg;
	for (int i = 0; i < CALLS; i++)
		enter(F, 1000, i);
}

/* What is asked for is reported and leaves the status alone. */
Test(control, RATE_LIMITED)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, call_often, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-call:::entry'\n"
		  "    when: pid == %d\n"
		  "    limit: 7/m\n"
		  "    do: [count: {into: n}]\n",
		  w.pid);
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, 7);
	cr_expect_eq(cap_lost(&r.cap, "RATE_LIMITED"), CALLS - 7);
	cr_assert_eq(r.cap.n_losses, 1);
	cr_expect(r.cap.losses[0].asked);
	cr_expect(strstr(r.cap.losses[0].where, ":5:12: 7/m"), "%s", r.cap.losses[0].where);
	cr_expect_eq(r.end.status, 0);
	rig_finish(&r);
}

/* One sample for the whole clause, not one for each of its probes or programs. */
static void call_both(void *arg)
{
	(void)arg;
	for (int i = 0; i < CALLS; i++) {
		enter(F, 1000, i);
		leave(F, 1000, i);
	}
}

Test(control, SAMPLED_OUT)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, call_both, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: ['fx-call:::entry', 'fx-call:::return']\n"
		  "    when: pid == %d\n"
		  "    every: 8\n"
		  "    do: [count: {into: n}]\n",
		  w.pid);
	cr_expect_geq(weft_session_n_programs(r.session), 2);
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, 2 * CALLS / 8);
	cr_assert_eq(r.cap.n_losses, 1);
	cr_expect_eq(cap_lost(&r.cap, "SAMPLED_OUT"), 2 * CALLS - 2 * CALLS / 8);
	cr_expect(r.cap.losses[0].asked);
	cr_expect_eq(r.end.status, 0);
	rig_finish(&r);
}

/* ---- arguments of the entry ---- */

static void recursion(void *arg)
{
	(void)arg;
	for (int i = 0; i < 5; i++)
		enter(i % 2, 1000 - 16 * i, 100 + i);
	for (int i = 4; i >= 0; i--)
		leave(i % 2, 1000 - 16 * i, i);
}

Test(control, entry_arguments)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, recursion, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-call:::return'\n"
		  "    when: pid == %d && entry.frame > 0\n"
		  "    do: [emit: {f: probefunc, v: retval, was: entry.value, frame: entry.frame}]\n",
		  w.pid);
	cr_assert_eq(r.cap.n_records, 5);
	for (int i = 0; i < 5; i++) {
		const struct cap_record *rec = &r.cap.records[i];

		cr_expect_eq(cap_int(rec, "v"), 4 - i);
		cr_expect_eq(cap_int(rec, "was"), 104 - i);
		cr_expect_eq(cap_int(rec, "frame"), 1000 - 16 * (4 - i));
	}
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* Two clauses of a return want different arguments, and the entry has a clause of its own. */
Test(control, entry_arguments_of_several_clauses)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, recursion, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-call::f:return'\n"
		  "    when: pid == %d\n"
		  "    do: [sum: {into: values, value: entry.value}]\n"
		  "  - probe: 'fx-call:::return'\n"
		  "    when: pid == %d\n"
		  "    do: [sum: {into: frames, value: entry.frame}, count: {into: returns}]\n"
		  "  - probe: 'fx-call:::entry'\n"
		  "    when: pid == %d\n"
		  "    do: [count: {into: entries}]\n",
		  w.pid, w.pid, w.pid);
	cr_expect_eq(cap_only_row(&r.cap, "values")->value.i, 100 + 102 + 104);
	cr_expect_eq(cap_only_row(&r.cap, "frames")->value.i, 5 * 1000 - 160);
	cr_expect_eq(cap_only_row(&r.cap, "returns")->count, 5);
	cr_expect_eq(cap_only_row(&r.cap, "entries")->count, 5);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

static void expect_refused(const char *clause, const char *tag, const char *suggestion)
{
	struct weft_report report;
	struct rig r;

	rig_init(&r);
	cr_expect(rig_prepare(&r, "version: 1\nprobes:\n  - probe: %s\n", clause) < 0, "%s", clause);
	rig_expect_tag(&r, 0, tag);
	cr_assert(!weft_error_report(r.err, 0, &report));
	cr_expect((suggestion == NULL) == (report.suggestion == NULL) &&
			  (!suggestion || !strcmp(suggestion, report.suggestion)),
		  "%s", report.suggestion ? report.suggestion : "nothing is suggested");
	cr_expect_eq(weft_error_count(r.err), 1, "%s", rig_errors(&r));
	rig_finish(&r);
}

Test(control, ENTRY_NONE)
{
	expect_refused("'fx-call:::entry'\n    do: [emit: {a: entry.value}]", "ENTRY_NONE", NULL);
}

Test(control, ARG_UNKNOWN_of_the_entry)
{
	expect_refused("'fx-call:::return'\n    do: [emit: {a: entry.valeu}]", "ARG_UNKNOWN",
		       "entry.value");
}

/* ---- signal ---- */

static void call_and_wait(void *arg)
{
	int *seen = arg;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	enter(F, 1000, 1);
	*seen = sigtimedwait(&set, NULL, &(struct timespec){.tv_sec = 5});
}

Test(control, signal)
{
	int *seen = worker_shared(sizeof(*seen));
	struct worker w;
	struct rig r;

	worker_fork(&w, call_and_wait, seen);
	rig_init(&r);
	r.destructive = true;
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-call:::entry'\n"
		  "    when: pid == %d\n"
		  "    do: [signal: USR1, count: {into: n}]\n",
		  w.pid);
	cr_expect_eq(*seen, SIGUSR1);
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, 1);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(control, DESTRUCTIVE)
{
	expect_refused("'fx-call:::entry'\n    do: [signal: KILL]", "DESTRUCTIVE", NULL);
}
