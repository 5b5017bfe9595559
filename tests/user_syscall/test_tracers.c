/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Several tracers at once, one that is killed, one that stands still, and what they show. */
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>

#include "tracers.h"

Test(user_syscall_tracers, several_at_once)
{
	struct cli_run first, second, third;
	struct worker w;

	tracers_stage = stage_create();
	worker_fork(&w, tracers_fire, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&tracers_stage->declared, 1));
	tracers_start(&first, w.pid, "60s");
	cr_expect(tracers_wait_word(0x01, 10000));
	tracers_start(&second, w.pid, "2s");
	cr_expect(tracers_wait_word(0x0101, 10000), "%llx", (unsigned long long)tracers_word());
	cli_wait(&second);
	cr_expect_eq(tracers_word(), 0x01, "the other's byte is gone");
	tracers_start(&third, w.pid, "1s");
	cr_expect(tracers_wait_word(0x0101, 10000));
	cli_wait(&third);
	kill(first.pid, SIGINT);
	cli_wait(&first);
	cr_expect_eq(tracers_word(), 0);
	tracers_expect_contiguous(&first);
	tracers_expect_contiguous(&second);
	tracers_expect_contiguous(&third);
	stage_up(&tracers_stage->done);
	worker_join(&w);
	cli_finish(&first);
	cli_finish(&second);
	cli_finish(&third);
	cli_unlink_sets();
}

/* The tracer is killed: the program gives it up by itself, and the next one has the slot. */
Test(user_syscall_tracers, killed)
{
	struct cli_run c, next;
	struct worker w;
	uint64_t fired;

	tracers_stage = stage_create();
	worker_fork(&w, tracers_fire, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&tracers_stage->declared, 1));
	tracers_start(&c, w.pid, "60s");
	cr_assert(tracers_wait_word(1, 10000));
	usleep(1500000);
	cr_expect_eq(tracers_word(), 1);
	kill(c.pid, SIGKILL);
	cli_wait(&c);
	cr_expect(tracers_wait_word(0, 15000), "it is still enabled");
	fired = tracers_stage->tallies[0].n[1];
	usleep(50000);
	cr_expect_eq(tracers_stage->tallies[0].n[1], fired);
	tracers_start(&next, w.pid, "1s");
	cr_expect(tracers_wait_word(1, 10000), "the slot is free");
	cli_wait(&next);
	tracers_expect_contiguous(&next);
	cr_expect_eq(tracers_word(), 0);
	stage_up(&tracers_stage->done);
	worker_join(&w);
	cli_finish(&c);
	cli_finish(&next);
	cli_unlink_sets();
}

/* One that comes before the program gave the dead one up clears what that had left enabled. */
Test(user_syscall_tracers, killed_and_followed_at_once)
{
	struct cli_run c, next;
	struct worker w;

	tracers_stage = stage_create();
	worker_fork(&w, tracers_fire, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&tracers_stage->declared, 1));
	tracers_start(&c, w.pid, "60s");
	cr_assert(tracers_wait_word(1, 10000));
	kill(c.pid, SIGKILL);
	cli_wait(&c);
	tracers_start(&next, w.pid, "1s");
	cli_wait(&next);
	tracers_expect_contiguous(&next);
	cr_expect_eq(tracers_word(), 0);
	stage_up(&tracers_stage->done);
	worker_join(&w);
	cli_finish(&c);
	cli_finish(&next);
	cli_unlink_sets();
}

/* A tracer that stands still for too long is given up; when it goes on it says so and enables anew. */
Test(user_syscall_tracers, USER_SYSCALL_LEASE)
{
	struct cli_run c;
	struct worker w;

	tracers_stage = stage_create();
	worker_fork(&w, tracers_fire, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&tracers_stage->declared, 1));
	tracers_start(&c, w.pid, "60s");
	cr_assert(tracers_wait_word(1, 10000));
	kill(c.pid, SIGSTOP);
	cr_expect(tracers_wait_word(0, 15000));
	kill(c.pid, SIGCONT);
	cr_expect(tracers_wait_word(1, 10000), "enabled anew");
	kill(c.pid, SIGINT);
	cli_wait(&c);
	cr_expect_eq(c.status, 3, "%d: %s", c.status, c.err);
	cr_expect_not_null(
		strstr(c.out, "USER_SYSCALL_LEASE") ? c.out : strstr(c.err, "USER_SYSCALL_LEASE"));
	stage_up(&tracers_stage->done);
	worker_join(&w);
	cli_finish(&c);
	cli_unlink_sets();
}

/* ---- names that would upset a terminal ---- */

/* The test's program under another name, executed; it does not come as far as main. */
__attribute__((constructor(101))) static void declare_badly(void)
{
	weft_probe *p;

	if (!getenv("WEFT_TEST_BAD_NAMES"))
		return;
	sender_begin();
	p = weft_probe_declare("\033]0;owned\007", "a\nb:c%\xe2\x80\xae", "uint64 v", NULL);
	for (uint64_t v = 0;; v++) {
		WEFT_FIRE(p, v);
		usleep(1000);
	}
}

static void expect_plain(const char *text)
{
	for (const char *s = text; *s; s++)
		cr_assert(((unsigned char)*s >= 0x20 && *s != 0x7f) || *s == '\n' || *s == '\t',
			  "byte %02x in: %s", (unsigned char)*s, text);
	cr_expect_null(strstr(text, "\xe2\x80\xae"), "%s", text);
}

Test(user_syscall_tracers, names_are_escaped_wherever_they_are_shown)
{
	char path[512] = "", bad[1024], pid[16];
	const char *const argv[] = {bad, NULL};
	struct cli_run c;
	struct worker w;
	bool seen = false;

	cr_assert_gt(readlink("/proc/self/exe", path, sizeof(path) - 1), 0);
	snprintf(bad, sizeof(bad), "%.*s/x\033[2J\n:y%d", (int)(strrchr(path, '/') - path), path,
		 getpid());
	unlink(bad);
	cr_assert_eq(link(path, bad), 0);
	setenv("WEFT_TEST_BAD_NAMES", "1", 1);
	worker_program(&w, -1, argv);
	worker_go(&w);
	unsetenv("WEFT_TEST_BAD_NAMES");
	snprintf(pid, sizeof(pid), "%d", w.pid);
	for (int i = 0; i < 50 && !seen; i++) {
		CLI(&c, "list", "user-syscall:x*::", "-v", "-p", pid, BUILT_IN);
		expect_plain(c.out);
		expect_plain(c.err);
		seen = strstr(c.out, ":%1B]0;owned%07:a%0Ab%3Ac%25%E2%80%AE") &&
		       strstr(c.out, "user-syscall:x%1B[2J%0A%3Ay") && strstr(c.out, "uid 0") &&
		       strstr(c.out, "cgroup") && strstr(c.out, "/x%1B[2J%0A:y");
		if (i == 49)
			cr_expect(seen, "%s", c.out);
		cli_finish(&c);
		usleep(50000);
	}
	for (int json = 0; json < 2; json++) {
		CLI(&c, "run", BUILT_IN, "-v", "-p", pid, "--duration", "500ms", "-o",
		    json ? "json" : "text",
		    cli_set("version: 1\n"
			    "probes:\n"
			    "  - probe: 'user-syscall:x*::'\n"
			    "    do:\n"
			    "      - count: {into: n, by: {m: probemod, f: probefunc, p: probename}}\n"
			    "      - emit: {v: args.v, m: probemod}\n"));
		expect_plain(c.out);
		expect_plain(c.err);
		cr_expect_not_null(strstr(c.out, "a%0Ab%3Ac%25%E2%80%AE"), "%s%s", c.out, c.err);
		cli_finish(&c);
	}
	worker_kill(&w);
	unlink(bad);
	cli_unlink_sets();
}

/* ---- a kernel that has no event of getpid alone ---- */

static void set_of(char *yaml, size_t size, const char *mechanism, pid_t pid)
{
	snprintf(yaml, size,
		 "version: 1\n"
		 "target: {pid: %d}\n"
		 "providers: {user-syscall: {mechanism: %s}}\n"
		 "probes:\n"
		 "  - probe: 'user-syscall:" ME ":tracers:p'\n"
		 "    do:\n"
		 "      - count: {into: n}\n"
		 "      - min: {into: lo, value: args.v}\n"
		 "      - max: {into: hi, value: args.v}\n",
		 pid, mechanism);
}

Test(user_syscall_tracers, mechanism)
{
	char yaml[512];
	struct cli_run c;
	struct worker w;

	tracers_stage = stage_create();
	worker_fork(&w, tracers_fire, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&tracers_stage->declared, 1));
	CLI(&c, "info", BUILT_IN);
	cr_expect_not_null(strstr(c.out, "of 64-bit programs, at its own tracepoint\n"), "%s",
			   c.out);
	cli_finish(&c);
	/* From here on, for this test and what it starts, there is none. */
	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	cr_assert_eq(mount("none", "/sys/kernel/tracing/events/syscalls", "tmpfs", 0, NULL), 0,
		     "%s", strerror(errno));
	CLI(&c, "info", BUILT_IN);
	cr_expect_not_null(strstr(c.out, "this kernel has no tracepoint of getpid alone"), "%s",
			   c.out);
	cli_finish(&c);
	set_of(yaml, sizeof(yaml), "auto", w.pid);
	CLI(&c, "run", BUILT_IN, cli_set(yaml), "--duration", "1s");
	tracers_expect_contiguous(&c);
	cli_finish(&c);
	set_of(yaml, sizeof(yaml), "tracepoint", w.pid);
	CLI(&c, "run", BUILT_IN, cli_set(yaml), "--duration", "1s");
	cr_expect_eq(c.status, 1);
	cr_expect_not_null(strstr(c.err, "USER_SYSCALL_ATTACH"), "%s", c.err);
	cr_expect_not_null(strstr(c.err, "mechanism: raw"), "%s", c.err);
	cli_finish(&c);
	cr_expect_eq(tracers_word(), 0);
	stage_up(&tracers_stage->done);
	worker_join(&w);
	cli_unlink_sets();
}

/* ---- a tracer that the kernel's numbers mean nothing to ---- */

Test(user_syscall_tracers, USER_SYSCALL_PIDNS)
{
	const struct cli_how how = {.program = "/usr/bin/unshare"};
	struct cli_run c;
	struct worker w;

	tracers_stage = stage_create();
	worker_fork(&w, tracers_fire, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&tracers_stage->declared, 1));
	CLI_HOW(&c, &how, "--pid", "--fork", TRACE_CLI, "run", BUILT_IN,
		cli_set("version: 1\n"
			"probes:\n"
			"  - probe: 'user-syscall:" ME ":tracers:p'\n"
			"    do: [count: {into: n}]\n"),
		"--duration", "1s");
	cr_expect_eq(c.status, 1);
	cr_expect_not_null(strstr(c.err, "USER_SYSCALL_PIDNS"), "%s", c.err);
	cr_expect_eq(tracers_word(), 0);
	stage_up(&tracers_stage->done);
	worker_join(&w);
	cli_finish(&c);
	cli_unlink_sets();
}
