/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Whom events are for: everyone, some processes, a command, its children and what they exec. Counts
 * are exact where two copies of a program run at the same time and one of them is meant.
 */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "counts.h"
#include "support/test_child.h"

#define PROGRAM UPROBE_PROGRAM_DIR "/pie-O2"
#define ROUNDS  50

static const char *const ways[] = {"placement: cheap", "mechanism: perf"};

/* A bystander runs the same while the target does. */
static void some_pids(const char *way)
{
	const char *argv[] = {PROGRAM, "threads", "4", "50", NULL};
	struct worker w, bystander;
	struct rig r;

	worker_program(&w, -1, argv);
	worker_program(&bystander, -1, argv);
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "target: {pid: [%d, %d]}\n"
				 "providers: {uprobe: {%s}}\n"
				 "probes:\n"
				 "  - probe: 'uprobe:%s:eight:entry'\n"
				 "    do: [{count: {into: n}}]\n"
				 "  - probe: 'uprobe:%s:eight:return'\n"
				 "    do: [{count: {into: back, by: [elapsed > 0]}}]\n",
				 w.pid, getpid(), way, PROGRAM, PROGRAM),
		     0, "%s", rig_errors(&r));
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	worker_go(&bystander);
	worker_join(&bystander);
	worker_go(&w);
	cr_assert_eq(rig_run(&r, w.pidfd, 0), 0, "%s", rig_errors(&r));
	worker_join(&w);
	/* All threads of the process, and nobody else. */
	cr_expect_eq(count_of(&r, "n"), 4 * ROUNDS, "%s: %ld", way, (long)count_of(&r, "n"));
	cr_expect_eq(count_of(&r, "back"), 4 * ROUNDS, "%s: %ld", way, (long)count_of(&r, "back"));
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(who, some_processes_and_all_their_threads)
{
	for (size_t i = 0; i < 2; i++)
		some_pids(ways[i]);
}

static void command(const char *way, const char *mode, bool follow, int64_t want)
{
	struct rig r;

	rig_init(&r);
	rig_trace(&r, NULL,
		  "version: 1\n"
		  "target: {command: [%s, %s, '50'], follow: %s}\n"
		  "providers: {uprobe: {%s}}\n"
		  "probes:\n"
		  "  - probe: 'uprobe:pie-O2:eight:entry'\n"
		  "    do: [{count: {into: n}}]\n"
		  "  - probe: 'uprobe:pie-O2:eight:return'\n"
		  "    do: [{sum: {into: ret, value: retval}}, {count: {into: back}}]\n",
		  PROGRAM, mode, follow ? "true" : "false", way);
	cr_expect_eq(count_of(&r, "n"), want, "%s %s: %ld", way, mode, (long)count_of(&r, "n"));
	cr_expect_eq(count_of(&r, "back"), want, "%s %s: %ld", way, mode,
		     (long)count_of(&r, "back"));
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(who, a_command)
{
	for (size_t i = 0; i < 2; i++) {
		command(ways[i], "calls", false, ROUNDS);
		/* The child is another process, which was not asked for. */
		command(ways[i], "fork", false, ROUNDS);
		/* The process stays the same one through exec. */
		command(ways[i], "exec", false, 2 * ROUNDS);
	}
}

Test(who, a_command_and_what_it_starts)
{
	for (size_t i = 0; i < 2; i++) {
		command(ways[i], "fork", true, 2 * ROUNDS);
		command(ways[i], "exec", true, 2 * ROUNDS);
	}
}

/* Nothing of what we do on the way there is counted as the command's: a search in PATH, calls. All
 * that is seen before it is itself is that it becomes so. */
static void before_its_exec(const char *way)
{
	const struct cap_table *calls;
	struct rig r;
	int64_t own = 0;

	rig_init(&r);
	rig_trace(&r, NULL,
		  "version: 1\n"
		  "target: {command: ['true']}\n"
		  "providers: {uprobe: {%s}}\n"
		  "probes:\n"
		  "  - probe: ['uprobe:libc.so.6:mem*:entry', 'uprobe:libc.so.6:str[clnr]*:entry',\n"
		  "            'uprobe:libc.so.6:exec*:entry', 'uprobe:libc.so.6:read:entry',\n"
		  "            'syscall:::entry', 'syscall:::return']\n"
		  "    do: [{count: {into: calls, by: {who: execname, what: probefunc}}}]\n",
		  way);
	calls = cap_last_table(&r.cap, "calls");
	cr_assert_not_null(calls);
	for (size_t i = 0; i < calls->n_rows; i++) {
		const struct weft_row *row = &calls->rows[i];

		if (!strcmp(cap_key(row, "who")->text.s, "true"))
			own++;
		else
			cr_expect(row->count == 1 && !strcmp(cap_key(row, "what")->text.s, "execve"),
				  "%s: %ld times %s", way, (long)row->count,
				  cap_key(row, "what")->text.s);
	}
	cr_expect_gt(own, 5);
	cr_expect_eq(own + 1, (int64_t)calls->n_rows);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(who, a_command_and_nothing_before_its_exec)
{
	for (size_t i = 0; i < 2; i++)
		before_its_exec(ways[i]);
}

/* Programs that start later are covered: the event belongs to the file. */
Test(who, everyone)
{
	const char *argv[] = {PROGRAM, "calls", "50", NULL};
	struct timespec nap = {.tv_nsec = 100000000};
	struct rig r;

	rig_init(&r);
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "probes:\n"
				 "  - probe: 'uprobe:%s:eight:entry'\n"
				 "    when: execname == \"pie-O2\"\n"
				 "    do: [{count: {into: n, by: [pid]}}]\n",
				 PROGRAM),
		     0, "%s", rig_errors(&r));
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	for (int i = 0; i < 3; i++)
		cr_expect_eq(test_child_run(argv, NULL, 0), 0);
	nanosleep(&nap, NULL);
	cr_assert_eq(rig_run(&r, -1, 1), 0, "%s", rig_errors(&r));
	cr_expect_eq(count_of(&r, "n"), 3 * ROUNDS);
	cr_expect_eq(cap_last_table(&r.cap, "n")->n_rows, 3);
	rig_finish(&r);
}

/* A sink that kills a process when the first record comes. */
struct killer {
	struct weft_sink sink, inner;
	pid_t pid;
};

static int kill_at_record(void *self, const struct weft_record *record)
{
	const struct killer *k = self;

	kill(k->pid, SIGKILL);
	return k->inner.record(k->inner.self, record);
}

static int pass_table(void *self, const struct weft_table *t)
{
	const struct killer *k = self;

	return k->inner.table(k->inner.self, t);
}

static int pass_loss(void *self, const struct weft_loss_report *l)
{
	const struct killer *k = self;

	return k->inner.loss(k->inner.self, l);
}

static int pass_end(void *self, const struct weft_end *e)
{
	const struct killer *k = self;

	return k->inner.end(k->inner.self, e);
}

static int pass_flush(void *self)
{
	const struct killer *k = self;

	return k->inner.flush(k->inner.self);
}

/* What there is of a target that is killed in the middle is told, and nothing stays behind. */
Test(who, a_target_that_is_killed)
{
	const char *argv[] = {PROGRAM, "calls", "100000000", NULL};
	struct killer k = {.sink = {.record = kill_at_record,
				    .table = pass_table,
				    .loss = pass_loss,
				    .end = pass_end,
				    .flush = pass_flush,
				    .self = &k}};
	struct worker w;
	struct rig r;

	worker_program(&w, -1, argv);
	rig_init(&r);
	k.inner = capture_sink(&r.cap);
	k.pid = w.pid;
	r.sink = &k.sink;
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "target: {pid: %d}\n"
				 "probes:\n"
				 "  - probe: 'uprobe:%s:eight:return'\n"
				 "    do: [{count: {into: n}}, {max: {into: e, value: elapsed}}]\n"
				 "  - probe: 'uprobe:%s:eight:return'\n"
				 "    when: '!defined(told)'\n"
				 "    do: [{set: {told: 1}}, {emit: {took: elapsed}}]\n",
				 w.pid, PROGRAM, PROGRAM),
		     0, "%s", rig_errors(&r));
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	worker_go(&w);
	cr_assert_eq(rig_run(&r, -1, 0), 0, "%s", rig_errors(&r));
	cr_expect_str_eq(r.end.reason, "target");
	cr_expect_gt(count_of(&r, "n"), 0);
	cr_expect_eq(r.cap.n_records, 1);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
	waitpid(w.pid, NULL, 0);
}

/* The kernel's filter is for the first thread, which another one replaces when it executes a
 * program: the gap is reported, and what comes behind it is seen. */
Test(who, UPROBE_EXEC, .timeout = 60)
{
	const char *argv[] = {PROGRAM, "texec", "100000000", NULL};
	struct worker w;
	struct rig r;

	worker_program(&w, -1, argv);
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "target: {pid: %d}\n"
				 "probes:\n"
				 "  - probe: 'uprobe:%s:eight:entry'\n"
				 "    do: [{count: {into: n}}]\n",
				 w.pid, PROGRAM),
		     0, "%s", rig_errors(&r));
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	worker_go(&w);
	cr_assert_eq(rig_run(&r, -1, 3000000000u), 0, "%s", rig_errors(&r));
	cr_expect_eq(cap_lost(&r.cap, "UPROBE_EXEC"), 1);
	cr_expect_gt(count_of(&r, "n"), 0);
	kill(w.pid, SIGKILL);
	waitpid(w.pid, NULL, 0);
	rig_finish(&r);
}

/* Two tracers on one place: the kernel keeps one breakpoint for both, each gets every firing. */
Test(who, two_tracers_on_one_place)
{
	const char *argv[] = {PROGRAM, "calls", "50", NULL};
	const char *set = "version: 1\n"
			  "target: {pid: %d}\n"
			  "probes:\n"
			  "  - probe: 'uprobe:%s:eight:%s'\n"
			  "    do: [{count: {into: n}}]\n";
	struct rig first, second;
	struct worker w;

	worker_program(&w, -1, argv);
	rig_init(&first);
	rig_init(&second);
	cr_assert_eq(rig_prepare(&first, set, w.pid, PROGRAM, "entry"), 0, "%s", rig_errors(&first));
	cr_assert_eq(rig_prepare(&second, set, w.pid, PROGRAM, "*"), 0, "%s", rig_errors(&second));
	cr_assert_eq(rig_start(&first), 0, "%s", rig_errors(&first));
	cr_assert_eq(rig_start(&second), 0, "%s", rig_errors(&second));
	worker_go(&w);
	cr_assert_eq(rig_run(&second, w.pidfd, 0), 0);
	cr_assert_eq(rig_run(&first, w.pidfd, 0), 0);
	worker_join(&w);
	cr_expect_eq(count_of(&first, "n"), ROUNDS);
	cr_expect_eq(count_of(&second, "n"), 2 * ROUNDS);
	rig_finish(&second);
	rig_finish(&first);
}

Test(who, the_price_is_said)
{
	const char *argv[] = {PROGRAM, "calls", "1", NULL};
	const char *text;
	struct worker w;
	struct rig r;

	worker_program(&w, -1, argv);
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "target: {pid: %d, follow: true}\n"
				 "probes:\n"
				 "  - probe: 'uprobe:%s:eight:entry'\n"
				 "    do: [{count: {into: n}}]\n",
				 w.pid, PROGRAM),
		     0, "%s", rig_errors(&r));
	cr_assert_eq(weft_session_mechanism(r.session, "uprobe", &text, r.err), 0);
	cr_expect_not_null(strstr(text, "about 0.5 us a hit for others"), "%s", text);
	rig_go(&r, &w);
	cr_expect(rig_has_said(&r, "about 0.5 us a hit for others"));
	rig_finish(&r);
}
