/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Failure at each step: what is said, and that nothing stays in the kernel or in this process. */
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>

#include "harness.h"
#include "kernel_objects.h"

static struct kernel_objects before;

static int prepare_wrong(struct rig *r, const char *wrong, const char *clauses)
{
	return rig_prepare(r,
			   "version: 1\n"
			   "providers: {fx-wrong: {wrong: %s}}\n"
			   "probes:\n%s",
			   wrong, clauses);
}

#define EIGHT                                 \
	"  - probe: 'fx-wrong::[0-7]:call'\n" \
	"    do: [count: {into: n, by: {s: ustack, k: stack}}, emit: [pid], max: {into: m, value: pid}]\n"
#define CONST                                 \
	"  - probe: 'fx-wrong::const:call'\n" \
	"    do: [count: {into: c}]\n"

/* Preparing succeeds, starting fails. */
static void start_fails(const char *wrong, const char *clauses, const char *tag, const char *words)
{
	struct rig r;

	rig_init(&r);
	kernel_objects_read(&before);
	cr_assert_eq(prepare_wrong(&r, wrong, clauses), 0, "%s: %s", wrong, rig_errors(&r));
	kernel_objects_expect_gone(&before); /* preparing has made nothing */
	cr_assert_lt(rig_start(&r), 0, "%s", wrong);
	rig_expect_tag(&r, 0, tag);
	cr_expect(strstr(rig_errors(&r), words), "%s: %s", wrong, rig_errors(&r));
	cr_expect_eq(weft_error_count(r.err), 1, "%s: %s", wrong, rig_errors(&r));
	cr_expect_eq(r.cap.n_ends, 0);
	weft_session_destroy(r.session);
	r.session = NULL;
	kernel_objects_expect_gone(&before);
	rig_finish(&r);
}

Test(failure, the_second_attach)
{
	start_fails("attach-const", EIGHT CONST, "FX_ATTACH", "provider fx-wrong, attach");
}

Test(failure, PLUGIN_SILENT)
{
	start_fails("silent-attach", EIGHT, "PLUGIN_SILENT", "provider fx-wrong, attach");
}

Test(failure, ATTACH_NONE)
{
	start_fails("attach-all", EIGHT, "ATTACH_NONE", "none of 8 probes");
}

Test(failure, PLUGIN_ATTACH_NULL)
{
	start_fails("attach-null", EIGHT, "PLUGIN_ATTACH_NULL", "provider fx-wrong succeeded");
}

/* Both programs were to be attached, and the one attachment is detached once. */
Test(failure, PLUGIN_ATTACH_TWICE)
{
	start_fails("attach-again", EIGHT CONST, "PLUGIN_ATTACH_TWICE",
		    "provider fx-wrong gave one");
}

Test(failure, PLUGIN_ATTACH)
{
	start_fails("attach-status", EIGHT, "PLUGIN_ATTACH", "provider fx-wrong gave a status");
	start_fails("attach-done", EIGHT, "PLUGIN_ATTACH",
		    "provider fx-wrong says that it attached");
	start_fails("attach-unit", EIGHT, "PLUGIN_ATTACH", "provider fx-wrong gave a unit");
}

Test(failure, PLUGIN_WROTE_CONST)
{
	start_fails("write-request", EIGHT, "PLUGIN_WROTE_CONST",
		    "provider fx-wrong has overwritten the request");
}

Test(failure, PROGRAM_REJECTED)
{
	start_fails("load", EIGHT CONST, "PROGRAM_REJECTED", "weft_");
}

/* The clause and the expression that the verifier stopped at. */
Test(failure, PROGRAM_REJECTED_by_the_verifier)
{
	start_fails("verifier",
		    "  - probe: 'fx-wrong::const:call'\n"
		    "    do: [count: {into: c}]\n"
		    "  - probe: 'fx-wrong::const:call'\n"
		    "    when: pid != 0 && args.nr + 1 > 7\n"
		    "    do: [count: {into: c}]\n",
		    "PROGRAM_REJECTED", "clause 2 at `args.nr`");
}

Test(failure, IDENTITY_TWICE)
{
	start_fails("twice", EIGHT, "IDENTITY_TWICE", "fx-wrong");
}

/* A descriptor that is said to be a map, and is none. */
Test(failure, foreign_map)
{
	struct rig r;

	rig_init(&r);
	kernel_objects_read(&before);
	cr_assert_eq(prepare_wrong(&r, "map-other", CONST), 0, "%s", rig_errors(&r));
	cr_assert_lt(rig_start(&r), 0);
	cr_expect_eq(weft_error_count(r.err), 1, "%s", rig_errors(&r));
	weft_session_destroy(r.session);
	r.session = NULL;
	kernel_objects_expect_gone(&before);
	rig_finish(&r);
}

/* ---- in part ---- */

static void call_each(void *arg)
{
	static const long calls[] = {SYS_getppid, SYS_getpid, SYS_gettid,  SYS_getuid,
				     SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getpgrp};

	(void)arg;
	for (size_t i = 0; i < 8; i++)
		syscall(calls[i]);
}

static void trace_wrong(struct rig *r, const char *wrong)
{
	struct worker w;

	worker_fork(&w, call_each, NULL);
	rig_init(r);
	rig_trace(r, &w,
		  "version: 1\n"
		  "providers: {fx-wrong: {wrong: %s}}\n"
		  "probes:\n"
		  "  - probe: 'fx-wrong::[0-7]:call'\n"
		  "    when: pid == %d\n"
		  "    do: [count: {into: n, by: [probefunc]}]\n",
		  wrong, w.pid);
	cr_expect_eq(r->end.status, 0);
	cap_expect_no_loss(&r->cap);
}

Test(failure, one_of_eight_is_not_attached)
{
	struct rig r;

	trace_wrong(&r, "attach-one");
	cr_expect_eq(cap_last_table(&r.cap, "n")->n_rows, 7);
	cr_expect_eq(cap_total(cap_last_table(&r.cap, "n")), 7);
	cr_expect(rig_has_said(&r, "weft: 1 of 8 probes of provider fx-wrong were not attached"),
		  "%s", r.said);
	cr_expect(rig_has_said(&r, "weft: fx-wrong::3:call: not attached: No such device or address"),
		  "%s", r.said);
	cr_expect(rig_has_said(&r, "attached on 7 of 8 probes"), "%s", r.said);
	rig_finish(&r);
}

Test(failure, attached_on_7_of_8)
{
	struct rig r;

	trace_wrong(&r, "attach-most");
	cr_expect_eq(cap_total(cap_last_table(&r.cap, "n")), 8);
	cr_expect(rig_has_said(&r, "fx-wrong::0:call and others: attached on 7 of 8 CPUs\n"), "%s",
		  r.said);
	rig_finish(&r);
}

/* ---- probes that are refused, each a program of its own ---- */

static int start_raw(struct rig *r, const char *options, const char *probe)
{
	rig_init(r);
	kernel_objects_read(&before);
	cr_assert_eq(rig_prepare(r,
				 "version: 1\n"
				 "providers: {fx-raw: {%s}}\n"
				 "probes:\n"
				 "  - probe: %s\n"
				 "    do: [count: {into: n, by: [probefunc]}]\n",
				 options, probe),
		     0, "%s", rig_errors(r));
	return rig_start(r);
}

static void leave_nothing(struct rig *r)
{
	weft_session_destroy(r->session);
	r->session = NULL;
	kernel_objects_expect_gone(&before);
	rig_finish(r);
}

Test(failure, a_probe_that_does_not_exist)
{
	struct rig r;

	/* The only one of its clause. */
	cr_expect_eq(start_raw(&r, "", "'fx-raw::no_such_tracepoint:raw'"), -ENOENT);
	rig_expect_tag(&r, 0, "FX_ATTACH");
	leave_nothing(&r);

	/* One of many. */
	cr_assert_eq(start_raw(&r, "", "'fx-raw::*:raw'"), 0, "%s", rig_errors(&r));
	cr_expect_eq(weft_error_count(r.err), 0);
	cr_expect(rig_has_said(&r, "1 of 5 probes of provider fx-raw were not attached"), "%s",
		  r.said);
	cr_expect(rig_has_said(&r, "fx-raw::no_such_tracepoint:raw: not attached: "), "%s", r.said);
	cr_expect_eq(rig_run(&r, -1, 1000000), 0);
	cr_expect_gt(cap_row_text(cap_last_table(&r.cap, "n"), "probefunc", "sys_enter")->count, 0);
	leave_nothing(&r);
}

Test(failure, a_probe_that_its_provider_refuses)
{
	struct rig r;

	cr_assert_eq(start_raw(&r, "only: sys_exit", "'fx-raw::sys_*:raw'"), 0, "%s",
		     rig_errors(&r));
	cr_expect(rig_has_said(&r, "fx-raw::sys_enter:raw: cannot be traced: sys_enter is not "
				   "sys_exit"),
		  "%s", r.said);
	cr_expect(rig_has_said(&r, "1 of 2 probes of provider fx-raw were not attached"), "%s",
		  r.said);
	cr_expect_eq(rig_run(&r, -1, 1000000), 0);
	leave_nothing(&r);

	/* All of them, or one that is named. */
	for (int named = 0; named < 2; named++) {
		rig_init(&r);
		cr_expect_eq(rig_prepare(&r,
					 "version: 1\n"
					 "providers: {fx-raw: {only: nothing}}\n"
					 "probes:\n"
					 "  - probe: 'fx-raw::%s:raw'\n"
					 "    do: [count: {into: n}]\n",
					 named ? "sys_exit" : "sys_*"),
			     -ENOENT);
		rig_expect_tag(&r, 0, "FX_ONLY");
		rig_finish(&r);
	}
}

/* Without sysfs there is no telling how many values a row has. */
Test(failure, CPUS)
{
	struct rig r;

	rig_init(&r);
	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	cr_assert_eq(mount("none", "/sys/devices/system/cpu", "tmpfs", 0, NULL), 0);
	cr_expect_eq(rig_prepare(&r, "version: 1\nprobes:\n" CONST), -ENOENT);
	rig_expect_tag(&r, 0, "CPUS");
	cr_expect(strstr(rig_errors(&r), "/sys/devices/system/cpu/possible: No such file"), "%s",
		  rig_errors(&r));
	rig_finish(&r);
}

Test(failure, TOO_MANY_PROGRAMS)
{
	struct rig r;

	cr_expect_eq(start_raw(&r, "most: 2", "'fx-raw::*:raw'"), -E2BIG);
	rig_expect_tag(&r, 0, "TOO_MANY_PROGRAMS");
	cr_expect(strstr(rig_errors(&r), "5 probes of provider fx-raw"), "%s", rig_errors(&r));
	cr_expect(strstr(rig_errors(&r), "limit from 2"), "%s", rig_errors(&r));
	leave_nothing(&r);
	cr_expect_eq(start_raw(&r, "most: 2", "'fx-raw::sys_*:raw'"), 0, "%s", rig_errors(&r));
	cr_expect_eq(rig_run(&r, -1, 1000000), 0);
	leave_nothing(&r);
}

/* ---- all well ---- */

/* A run with everything in it: readers of maps, stacks, a command and what it starts, process events. */
Test(failure, nothing_is_left_of_a_run)
{
	struct rig r;

	rig_init(&r);
	kernel_objects_read(&before);
	rig_trace(&r, NULL,
		  "version: 1\n"
		  "target: {command: [" FIXTURE_WORKLOAD_DIR
		  "/calls, '2000', '2', '2'], follow: true}\n"
		  "options: {interval: 100ms}\n"
		  "begin: [count: {into: lists}]\n"
		  "probes:\n"
		  "  - probe: 'fx-wrong::[0-7]:call'\n"
		  "    do:\n"
		  "      - count: {into: n, by: {s: ustack, k: stack, f: probefunc}}\n"
		  "      - min: {into: lo, by: [pid], value: timestamp}\n"
		  "  - probe: 'fx-wrong::pair:return'\n"
		  "    do: [quantize: {into: q, value: elapsed}]\n"
		  "  - probe: 'profile:::profile-199hz'\n"
		  "    do: [count: {into: cpus, by: [cpu]}, show, clear]\n"
		  "  - probe: 'fx-process:x::'\n"
		  "    do: [exit]\n"
		  "end: [count: {into: lists}]\n");
	cr_expect_str_eq(r.end.reason, "target");
	weft_session_destroy(r.session);
	r.session = NULL;
	kernel_objects_expect_gone(&before);
	rig_finish(&r);
}

/* Destroying a session that runs is enough. */
Test(failure, nothing_is_left_of_a_session_that_is_destroyed)
{
	struct rig r;

	rig_init(&r);
	kernel_objects_read(&before);
	cr_assert_eq(rig_prepare(&r, "version: 1\n"
				     "target: {command: [sleep, '0.5'], follow: true}\n"
				     "probes:\n"
				     "  - probe: ['fx-wrong::*:call', 'profile:::tick-1']\n"
				     "    do: [count: {into: n, by: [ustack]}]\n"),
		     0, "%s", rig_errors(&r));
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	weft_session_destroy(r.session);
	r.session = NULL;
	kernel_objects_expect_gone(&before);
	rig_finish(&r);
}

/* ---- what the kernel had no room for ---- */

static void map_code(unsigned n)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	while (n--) {
		void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		cr_assert_neq(p, MAP_FAILED);
		munmap(p, 4096);
	}
	close(fd);
}

/* More mappings than the buffer holds before it is read; the kernel says so with the next. */
Test(failure, PROCESS_EVENTS_LOST)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	cpu_set_t one;
	struct rig r;
	pid_t child;
	int pidfd;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	cr_assert_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r, "version: 1\n"
				     "probes:\n"
				     "  - probe: 'fx-trace:::calls'\n"
				     "    do: [count: {into: n, by: ustack}]\n"),
		     0, "%s", rig_errors(&r));
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	map_code(20000);
	child = fork();
	if (!child) {
		for (int i = 0; i < 50; i++) {
			nanosleep(&pause, NULL);
			map_code(10);
		}
		_exit(0);
	}
	/* Until the child has ended: where CPUs are busy it may begin late. */
	pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	cr_assert_geq(pidfd, 0);
	cr_assert_eq(rig_run(&r, pidfd, 0), 0, "%s", rig_errors(&r));
	close(pidfd);
	waitpid(child, NULL, 0);
	cr_expect_gt(cap_lost(&r.cap, "PROCESS_EVENTS_LOST"), 0);
	cr_expect_eq(r.end.status, 3);
	rig_finish(&r);
}
