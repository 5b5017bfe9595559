/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* begin and end, parameters, exit, and the other ways in which a run ends. */
#include <sys/eventfd.h>

#include "harness.h"

static void call_3(void *arg)
{
	(void)arg;
	for (int i = 0; i < 3; i++)
		syscall(SYS_getppid);
}

Test(lists, begin_and_end)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, call_3, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "begin:\n"
		  "  - emit: {what: '\"begins\"', name: probename, p: probefunc}\n"
		  "  - count: {into: n}\n"
		  "  - max: {into: most, value: 5}\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::calls'\n"
		  "    when: pid == %d\n"
		  "    do:\n"
		  "      - count: {into: n}\n"
		  "      - max: {into: most, value: 4}\n"
		  "      - emit: {what: '\"fires\"', name: probename, p: probefunc}\n"
		  "end:\n"
		  "  - emit: {what: '\"ends\"', name: probename, p: probefunc}\n"
		  "  - count: {into: n}\n"
		  "  - printf: [\"%%s\", probename]\n"
		  "  - show: n\n",
		  w.pid);
	cr_assert_eq(r.cap.n_records, 6);
	cr_expect_str_eq(r.cap.records[0].probe, "begin");
	cr_expect(cap_is_text(&r.cap.records[0], "what", "begins"));
	cr_expect(cap_is_text(&r.cap.records[0], "name", "begin"));
	cr_expect(cap_is_text(&r.cap.records[0], "p", ""));
	for (int i = 1; i <= 3; i++) {
		cr_expect_str_eq(r.cap.records[i].probe,
				 "fx-trace:syscalls:sys_enter_getppid:calls");
		cr_expect(cap_is_text(&r.cap.records[i], "what", "fires"));
	}
	cr_expect_str_eq(r.cap.records[4].probe, "end");
	cr_expect(cap_is_text(&r.cap.records[4], "what", "ends"));
	cr_expect(cap_is_text(&r.cap.records[4], "name", "end"));
	cr_expect(r.cap.records[5].is_printf);
	cr_expect(cap_is_text(&r.cap.records[5], "probename", "end"));

	cr_expect_eq(cap_only_row(&r.cap, "n")->count, 5, "once, three times, once");
	cr_expect_eq(cap_only_row(&r.cap, "most")->value.i, 5);
	cr_assert_eq(r.cap.n_tables, 2, "what `end` has shown is not shown again");
	cr_expect_str_eq(r.cap.tables[0].name, "n");
	cr_expect_str_eq(r.cap.tables[1].name, "most");
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* begin runs before anything is attached; what it says is out before the first firing. */
Test(lists, begin_alone_and_end_alone)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, call_3, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "begin: [printf: \"hello\"]\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::calls'\n"
		  "    when: pid == %d\n"
		  "    do: [count: {into: n}]\n",
		  w.pid);
	cr_assert_eq(r.cap.n_records, 1);
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, 3);
	rig_finish(&r);
}

Test(lists, parameters)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, call_3, NULL);
	rig_init(&r);
	cr_assert_eq(
		rig_prepare(
			&r,
			"version: 1\n"
			"params: {pid: %d, time: 2ms, size: 4k, minus: -3, word: abc, quoted: '12'}\n"
			"probes:\n"
			"  - probe: 'fx-trace:::calls'\n"
			"    when: 'pid == $pid'\n"
			"    do: [emit: {t: $time, s: $size, m: $minus, w: $word, q: $quoted}]\n",
			w.pid),
		0, "%s", rig_errors(&r));
	rig_go(&r, &w);
	cr_assert_eq(r.cap.n_records, 3);
	cr_expect_eq(cap_int(&r.cap.records[0], "t"), 2000000);
	cr_expect_eq(cap_int(&r.cap.records[0], "s"), 4096);
	cr_expect_eq(cap_int(&r.cap.records[0], "m"), -3);
	cr_expect(cap_is_text(&r.cap.records[0], "w", "abc"));
	cr_expect(cap_is_text(&r.cap.records[0], "q", "12"));
	rig_finish(&r);
}

/* ---- ends ---- */

static void call_for_ever(void *arg)
{
	(void)arg;
	for (;;) {
		syscall(SYS_getppid);
		usleep(1000);
	}
}

/* A run that ends by an exit action, whatever else there is. */
static void expect_exit(const char *actions, int status)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, call_for_ever, NULL);
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "probes:\n"
				 "  - probe: 'fx-trace:::calls'\n"
				 "    when: pid == %d\n"
				 "    do: [%s]\n",
				 w.pid, actions),
		     0, "%s", rig_errors(&r));
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	worker_go(&w);
	cr_expect_eq(rig_run(&r, -1, 0), 0);
	cr_expect_str_eq(r.end.reason, "exit");
	cr_expect_eq(r.end.status, status);
	cr_expect_eq(r.cap.end.status, status);
	cr_expect_geq(cap_only_row(&r.cap, "n")->count, 1);
	worker_kill(&w);
	rig_finish(&r);
}

Test(lists, exit)
{
	expect_exit("count: {into: n}, exit", 0);
	expect_exit("count: {into: n}, exit: 7", 7);
	expect_exit("count: {into: n}, exit: (uint8) 255", 255);
}

/* Only the first counts. */
Test(lists, exit_status_of_the_first)
{
	expect_exit("count: {into: n}, exit: 4, exit: 5", 4);
}

/* Lost events do not hide the status that was asked for. */
Test(lists, exit_status_and_losses)
{
	expect_exit("count: {into: n}, exit: 9, emit: {x: 1 / (pid - pid)}", 9);
}

Test(lists, exit_in_begin)
{
	struct rig r;

	rig_init(&r);
	rig_trace(&r, NULL,
		  "version: 1\n"
		  "begin: [printf: \"no more\", exit: 6]\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::calls'\n"
		  "    do: [count: {into: n}]\n"
		  "end: [printf: \"the end\"]\n");
	cr_expect_str_eq(r.end.reason, "exit");
	cr_expect_eq(r.end.status, 6);
	cr_assert_eq(r.cap.n_records, 2);
	cr_expect_str_eq(r.cap.records[1].probe, "end");
	rig_finish(&r);
}

Test(lists, duration)
{
	struct rig r;

	rig_init(&r);
	cr_assert_eq(rig_prepare(&r, "version: 1\n"
				     "probes:\n"
				     "  - probe: 'fx-trace:::calls'\n"
				     "    do: [count: {into: n}]\n"),
		     0);
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	cr_expect_eq(rig_run(&r, -1, 100000000), 0);
	cr_expect_str_eq(r.end.reason, "duration");
	cr_expect_eq(r.end.status, 0);
	cr_expect_eq(r.cap.n_flushes, 1);
	rig_finish(&r);
}

Test(lists, signal)
{
	int fd = eventfd(1, EFD_CLOEXEC);
	struct rig r;

	cr_assert_geq(fd, 0);
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r, "version: 1\n"
				     "probes:\n"
				     "  - probe: 'profile:::tick-1'\n"
				     "    do: [count: {into: n}]\n"),
		     0);
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	cr_expect_eq(rig_run(&r, fd, 0), 0);
	cr_expect_str_eq(r.end.reason, "signal");
	cr_expect_eq(r.end.status, 0);
	close(fd);
	rig_finish(&r);
}

/* A sink that can no longer write ends the run, and what it says comes back. */
Test(lists, OUTPUT_WRITE)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, call_for_ever, NULL);
	rig_init(&r);
	r.cap.fail = -EPIPE;
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "probes:\n"
				 "  - probe: 'fx-trace:::calls'\n"
				 "    when: pid == %d\n"
				 "    do: [emit: {x: 1}]\n",
				 w.pid),
		     0);
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	worker_go(&w);
	cr_expect_eq(rig_run(&r, -1, 0), -EPIPE);
	cr_expect_eq(r.end.status, 1);
	rig_expect_tag(&r, 0, "OUTPUT_WRITE");
	worker_kill(&w);
	rig_finish(&r);
}

/* The states of a session. */
Test(lists, SESSION_STATE)
{
	struct weft_sink sink;
	struct rig r;

	rig_init(&r);
	cr_assert_eq(rig_prepare(&r, "version: 1\n"
				     "probes:\n"
				     "  - probe: 'fx-trace:::calls'\n"
				     "    do: [count: {into: n}]\n"),
		     0);
	cr_expect_eq(rig_run(&r, -1, 1), -EINVAL, "it was not started");
	rig_expect_tag(&r, 0, "SESSION_STATE");
	weft_error_clear(r.err);
	cr_expect_eq(weft_session_prepare(r.session, r.set, r.err), -EINVAL, "a second set");
	rig_expect_tag(&r, 0, "SESSION_STATE");
	weft_error_clear(r.err);
	cr_assert_eq(rig_start(&r), 0);
	sink = capture_sink(&r.cap);
	cr_expect_eq(weft_session_start(r.session, &sink, NULL, r.err), -EINVAL, "it runs");
	rig_expect_tag(&r, 0, "SESSION_STATE");
	rig_finish(&r); /* destroying stops it */
}
