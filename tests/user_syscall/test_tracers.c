/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Several tracers at once, one that is killed, and programs in sandboxes and namespaces of their own. */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "senders.h"
#include "support.h"
#include "worker.h"

#define ME "test-user-syscall-tracers"

static struct stage *stage;
static char probe_name[24] = "p"; /* of the probe */

/* ---- a program that fires what is enabled, and tells which slots are ---- */

/* With an argument it outlives its parent. */
static void fire_for_ever(void *arg)
{
	weft_probe *p;
	uint64_t v = 0;

	sender_begin();
	if (arg)
		prctl(PR_SET_PDEATHSIG, 0);
	p = weft_probe_declare("tracers", probe_name, "uint64 v", NULL);
	stage_up(&stage->declared);
	while (!__atomic_load_n(&stage->done, __ATOMIC_SEQ_CST)) {
		if (weft_probe_enabled(p)) {
			WEFT_FIRE(p, v);
			v++;
		}
		__atomic_store_n(&stage->tallies[0].n[0], *(uint64_t *)(void *)p, __ATOMIC_SEQ_CST);
		__atomic_store_n(&stage->tallies[0].n[1], v, __ATOMIC_SEQ_CST);
		usleep(100);
	}
}

static uint64_t word(void)
{
	return __atomic_load_n(&stage->tallies[0].n[0], __ATOMIC_SEQ_CST);
}

static bool wait_word(uint64_t wanted, int ms)
{
	for (int i = 0; i < ms && word() != wanted; i++)
		usleep(1000);
	return word() == wanted;
}

static const char contiguous[] = "version: 1\n"
				 "target: {pid: %d}\n"
				 "probes:\n"
				 "  - probe: 'user-syscall:" ME ":tracers:p'\n"
				 "    do:\n"
				 "      - count: {into: n}\n"
				 "      - min: {into: lo, value: args.v}\n"
				 "      - max: {into: hi, value: args.v}\n";

static void start(struct cli_run *c, pid_t pid, const char *duration)
{
	char yaml[1024];

	snprintf(yaml, sizeof(yaml), contiguous, pid);
	cli_start(c, NULL,
		  (const char *const[]){"run", BUILT_IN, cli_set(yaml), "-v", "--duration",
					duration, NULL});
}

static long number_after(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	cr_assert_not_null(at, "%s is not in: %s", name, text);
	return strtol(at + strlen(name), NULL, 10);
}

static void expect_contiguous(const struct cli_run *c)
{
	long n = number_after(c->out, "n (count): ");

	cr_expect_gt(n, 100, "%s%s", c->out, c->err);
	cr_expect_eq(number_after(c->out, "hi (max): ") - number_after(c->out, "lo (min): ") + 1, n,
		     "%s", c->out);
	cr_expect_eq(c->status, 0, "%s", c->err);
}

Test(user_syscall_tracers, several_at_once)
{
	struct cli_run first, second, third;
	struct worker w;

	stage = stage_create();
	worker_fork(&w, fire_for_ever, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&stage->declared, 1));
	start(&first, w.pid, "60s");
	cr_expect(wait_word(0x01, 10000));
	start(&second, w.pid, "2s");
	cr_expect(wait_word(0x0101, 10000), "%llx", (unsigned long long)word());
	cli_wait(&second);
	cr_expect_eq(word(), 0x01, "the other's byte is gone");
	start(&third, w.pid, "1s");
	cr_expect(wait_word(0x0101, 10000));
	cli_wait(&third);
	kill(first.pid, SIGINT);
	cli_wait(&first);
	cr_expect_eq(word(), 0);
	expect_contiguous(&first);
	expect_contiguous(&second);
	expect_contiguous(&third);
	stage_up(&stage->done);
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

	stage = stage_create();
	worker_fork(&w, fire_for_ever, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&stage->declared, 1));
	start(&c, w.pid, "60s");
	cr_assert(wait_word(1, 10000));
	usleep(1500000);
	cr_expect_eq(word(), 1);
	kill(c.pid, SIGKILL);
	cli_wait(&c);
	cr_expect(wait_word(0, 15000), "it is still enabled");
	fired = stage->tallies[0].n[1];
	usleep(50000);
	cr_expect_eq(stage->tallies[0].n[1], fired);
	start(&next, w.pid, "1s");
	cr_expect(wait_word(1, 10000), "the slot is free");
	cli_wait(&next);
	expect_contiguous(&next);
	cr_expect_eq(word(), 0);
	stage_up(&stage->done);
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

	stage = stage_create();
	worker_fork(&w, fire_for_ever, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&stage->declared, 1));
	start(&c, w.pid, "60s");
	cr_assert(wait_word(1, 10000));
	kill(c.pid, SIGKILL);
	cli_wait(&c);
	start(&next, w.pid, "1s");
	cli_wait(&next);
	expect_contiguous(&next);
	cr_expect_eq(word(), 0);
	stage_up(&stage->done);
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

	stage = stage_create();
	worker_fork(&w, fire_for_ever, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&stage->declared, 1));
	start(&c, w.pid, "60s");
	cr_assert(wait_word(1, 10000));
	kill(c.pid, SIGSTOP);
	cr_expect(wait_word(0, 15000));
	kill(c.pid, SIGCONT);
	cr_expect(wait_word(1, 10000), "enabled anew");
	kill(c.pid, SIGINT);
	cli_wait(&c);
	cr_expect_eq(c.status, 3, "%d: %s", c.status, c.err);
	cr_expect_not_null(
		strstr(c.out, "USER_SYSCALL_LEASE") ? c.out : strstr(c.err, "USER_SYSCALL_LEASE"));
	stage_up(&stage->done);
	worker_join(&w);
	cli_finish(&c);
	cli_unlink_sets();
}

/* ---- sandboxes ---- */

static void confine(uint32_t action)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {.len = 4, .filter = filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(99);
}

struct sandbox {
	uint32_t action;
	enum weft_sandbox how;
	bool before; /* the filter is in force before the probe is declared */
	bool enabled;
	const char *said;
};

static const struct sandbox *sandbox;

static void in_sandbox(void *arg)
{
	weft_probe *p;
	uint64_t fired = 0;

	(void)arg;
	sender_begin();
	weft_user_sandbox(sandbox->how);
	if (sandbox->before)
		confine(sandbox->action);
	p = weft_probe_declare("tracers", "p", "uint64 v", NULL);
	if (!sandbox->before)
		confine(sandbox->action);
	stage_up(&stage->declared);
	while (!__atomic_load_n(&stage->done, __ATOMIC_SEQ_CST)) {
		if (weft_probe_enabled(p)) {
			WEFT_FIRE(p, fired);
			fired++;
		}
		usleep(100);
	}
	stage->tallies[0].n[0] = fired;
}

static void try_sandbox(const struct sandbox *s)
{
	struct cli_run c;
	struct worker w;

	stage = stage_create();
	sandbox = s;
	worker_fork(&w, in_sandbox, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&stage->declared, 1));
	start(&c, w.pid, "500ms");
	cli_wait(&c);
	stage_up(&stage->done);
	worker_join(&w); /* it lives */
	cr_expect_eq(stage->tallies[0].n[0] > 0, s->enabled, "action %x, how %d: %s", s->action,
		     s->how, c.err);
	if (s->enabled)
		expect_contiguous(&c);
	if (s->said)
		cr_expect_not_null(strstr(c.err, s->said), "action %x, how %d: %s", s->action,
				   s->how, c.err);
	cli_finish(&c);
	cli_unlink_sets();
}

Test(user_syscall_tracers, sandboxes)
{
	static const struct sandbox all[] = {
		/* Put in force after declaring, and nobody said anything: not enabled. */
		{SECCOMP_RET_KILL_PROCESS, WEFT_SANDBOX_ASK, false, false, "seccomp filter"},
		{SECCOMP_RET_ERRNO | EPERM, WEFT_SANDBOX_ASK, false, false, "seccomp filter"},
		{SECCOMP_RET_LOG, WEFT_SANDBOX_ASK, false, false, "seccomp filter"},
		/* Tried. */
		{SECCOMP_RET_LOG, WEFT_SANDBOX_TRY, true, true, NULL},
		{SECCOMP_RET_ERRNO | EPERM, WEFT_SANDBOX_TRY, true, false, "hides the call"},
		{SECCOMP_RET_KILL_PROCESS, WEFT_SANDBOX_TRY, true, false, NULL},
		{SECCOMP_RET_KILL_THREAD, WEFT_SANDBOX_TRY, true, false, NULL},
		{SECCOMP_RET_TRAP, WEFT_SANDBOX_TRY, true, false, NULL},
		/* Known to be allowed. */
		{SECCOMP_RET_ALLOW, WEFT_SANDBOX_ALLOWED, true, true, NULL},
		{SECCOMP_RET_LOG, WEFT_SANDBOX_ALLOWED, false, true, NULL},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		try_sandbox(&all[i]);
}

/* A filter that comes while the probe is enabled: within a second or two it is not any more. */
static void close_the_door(void *arg)
{
	weft_probe *p;

	(void)arg;
	sender_begin();
	p = weft_probe_declare("tracers", "p", "uint64 v", NULL);
	stage_up(&stage->declared);
	if (!sender_wait_enabled(&p, 1))
		_exit(2);
	WEFT_FIRE(p, 0);
	confine(SECCOMP_RET_LOG);
	for (int i = 0; i < 10000 && weft_probe_enabled(p); i++)
		usleep(1000);
	stage->tallies[0].n[0] = weft_probe_enabled(p);
	stage_up(&stage->done);
}

Test(user_syscall_tracers, a_filter_while_enabled)
{
	struct cli_run c;
	struct worker w;

	stage = stage_create();
	worker_fork(&w, close_the_door, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&stage->declared, 1));
	start(&c, w.pid, "60s");
	cr_expect(stage_wait(&stage->done, 1));
	worker_join(&w);
	cr_expect_eq(stage->tallies[0].n[0], 0);
	cli_wait(&c); /* its target has ended */
	cr_expect_not_null(strstr(c.err, "seccomp filter"), "%s", c.err);
	cli_finish(&c);
	cli_unlink_sets();
}

/* Another process has the number of the one that declared, and a filter: it is not its child's. */
static void leave_a_number(void *arg)
{
	struct clone_args args = {.exit_signal = SIGCHLD, .set_tid_size = 1};
	pid_t pid;

	(void)arg;
	sender_begin();
	pid = fork();
	if (!pid) {
		weft_probe_declare("tracers", probe_name, "uint64 v", NULL);
		if (!fork()) {
			fire_for_ever(stage);
			_exit(0);
		}
		if (!stage_wait(&stage->go, 1))
			_exit(2);
		_exit(0);
	}
	if (waitpid(pid, NULL, 0) != pid)
		_exit(3);
	args.set_tid = (uint64_t)(uintptr_t)&pid;
	if (!syscall(SYS_clone3, &args, sizeof(args))) {
		confine(SECCOMP_RET_LOG);
		stage_up(&stage->declared);
		stage_wait(&stage->done, 1);
		_exit(0);
	}
	stage_wait(&stage->done, 1);
	while (wait(NULL) > 0)
		;
}

Test(user_syscall_tracers, a_filter_of_another_with_that_number)
{
	char yaml[256];
	struct cli_run c;
	struct worker w;
	uint64_t fired;

	snprintf(probe_name, sizeof(probe_name), "p%d", getpid());
	snprintf(yaml, sizeof(yaml),
		 "version: 1\n"
		 "probes:\n"
		 "  - probe: 'user-syscall:" ME ":tracers:%s'\n"
		 "    do: [count: {into: n}]\n",
		 probe_name);
	stage = stage_create();
	worker_fork(&w, leave_a_number, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&stage->declared, 1));
	cli_start(&c, NULL,
		  (const char *const[]){"run", BUILT_IN, cli_set(yaml), "--duration", "60s", NULL});
	cr_expect(wait_word(1, 10000));
	stage_up(&stage->go);
	cr_expect(stage_wait(&stage->declared, 2));
	usleep(2500000); /* it is looked at once a second */
	cr_expect_eq(word(), 1);
	fired = stage->tallies[0].n[1];
	usleep(100000);
	cr_expect_gt(stage->tallies[0].n[1], fired, "the child goes on firing");
	kill(c.pid, SIGINT);
	cli_wait(&c);
	cr_expect_eq(word(), 0);
	stage_up(&stage->done);
	worker_join(&w);
	cli_finish(&c);
	cli_unlink_sets();
}

/* ---- namespaces: another pid, mount, user and time namespace, and another user ---- */

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

/* Clocks of children begin 11 days later. */
static bool shift_time(void)
{
	static const char offsets[] = "monotonic 1000000 0\nboottime 1000000 0\n";
	int fd;
	bool done;

	if (unshare(CLONE_NEWTIME))
		return false;
	fd = open("/proc/self/timens_offsets", O_WRONLY);
	done = fd >= 0 && write(fd, offsets, sizeof(offsets) - 1) == (ssize_t)sizeof(offsets) - 1;
	close(fd);
	return done;
}

static void in_namespaces(void *arg)
{
	int status;

	(void)arg;
	sender_begin();
	if (!shift_time())
		_exit(84);
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS))
		_exit(80);
	if (!fork()) {
		if (getpid() != 1)
			_exit(81);
		if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("none", "/tmp", "tmpfs", 0, NULL) || chroot("/tmp"))
			_exit(82);
		weft_user_sandbox(WEFT_SANDBOX_ALLOWED); /* there is no /proc to look at */
		fire_for_ever(NULL);
		_exit(0);
	}
	wait(&status);
	if (status)
		_exit(83);
}

/* Another user, without privileges, who will have no new ones either. */
static void as_nobody(void *arg)
{
	sender_begin();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || setresgid(65534, 65534, 65534) ||
	    setresuid(65534, 65534, 65534))
		_exit(85);
	fire_for_ever(arg);
}

static void expect_traced(void (*program)(void *))
{
	struct cli_run c;
	struct worker w;

	char yaml[512];

	/* Everybody is traced: so the name is this test's alone. */
	snprintf(probe_name, sizeof(probe_name), "p%d", getpid());
	snprintf(yaml, sizeof(yaml),
		 "version: 1\n"
		 "probes:\n"
		 "  - probe: 'user-syscall:" ME ":tracers:%s'\n"
		 "    do:\n"
		 "      - count: {into: n}\n"
		 "      - min: {into: lo, value: args.v}\n"
		 "      - max: {into: hi, value: args.v}\n",
		 probe_name);
	stage = stage_create();
	worker_fork(&w, program, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&stage->declared, 1));
	cli_start(&c, NULL,
		  (const char *const[]){"run", BUILT_IN, cli_set(yaml), "--duration", "1s", NULL});
	cli_wait(&c);
	stage_up(&stage->done);
	worker_join(&w);
	expect_contiguous(&c);
	cli_finish(&c);
	cli_unlink_sets();
}

Test(user_syscall_tracers, namespaces)
{
	expect_traced(in_namespaces);
}

Test(user_syscall_tracers, another_user_and_no_new_privileges)
{
	expect_traced(as_nobody);
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

	stage = stage_create();
	worker_fork(&w, fire_for_ever, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&stage->declared, 1));
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
	expect_contiguous(&c);
	cli_finish(&c);
	set_of(yaml, sizeof(yaml), "tracepoint", w.pid);
	CLI(&c, "run", BUILT_IN, cli_set(yaml), "--duration", "1s");
	cr_expect_eq(c.status, 1);
	cr_expect_not_null(strstr(c.err, "USER_SYSCALL_ATTACH"), "%s", c.err);
	cr_expect_not_null(strstr(c.err, "mechanism: raw"), "%s", c.err);
	cli_finish(&c);
	cr_expect_eq(word(), 0);
	stage_up(&stage->done);
	worker_join(&w);
	cli_unlink_sets();
}

/* ---- a tracer that the kernel's numbers mean nothing to ---- */

Test(user_syscall_tracers, USER_SYSCALL_PIDNS)
{
	const struct cli_how how = {.program = "/usr/bin/unshare"};
	struct cli_run c;
	struct worker w;

	stage = stage_create();
	worker_fork(&w, fire_for_ever, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&stage->declared, 1));
	CLI_HOW(&c, &how, "--pid", "--fork", TRACE_CLI, "run", BUILT_IN,
		cli_set("version: 1\n"
			"probes:\n"
			"  - probe: 'user-syscall:" ME ":tracers:p'\n"
			"    do: [count: {into: n}]\n"),
		"--duration", "1s");
	cr_expect_eq(c.status, 1);
	cr_expect_not_null(strstr(c.err, "USER_SYSCALL_PIDNS"), "%s", c.err);
	cr_expect_eq(word(), 0);
	stage_up(&stage->done);
	worker_join(&w);
	cli_finish(&c);
	cli_unlink_sets();
}
