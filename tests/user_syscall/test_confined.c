/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Programs in sandboxes and namespaces of their own. */
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

#include "tracers.h"

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
	stage_up(&tracers_stage->declared);
	while (!__atomic_load_n(&tracers_stage->done, __ATOMIC_SEQ_CST)) {
		if (weft_probe_enabled(p)) {
			WEFT_FIRE(p, fired);
			fired++;
		}
		usleep(100);
	}
	tracers_stage->tallies[0].n[0] = fired;
}

static void try_sandbox(const struct sandbox *s)
{
	struct cli_run c;
	struct worker w;

	tracers_stage = stage_create();
	sandbox = s;
	worker_fork(&w, in_sandbox, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&tracers_stage->declared, 1));
	tracers_start(&c, w.pid, "500ms");
	cli_wait(&c);
	stage_up(&tracers_stage->done);
	worker_join(&w); /* it lives */
	cr_expect_eq(tracers_stage->tallies[0].n[0] > 0, s->enabled, "action %x, how %d: %s",
		     s->action, s->how, c.err);
	if (s->enabled)
		tracers_expect_contiguous(&c);
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
	stage_up(&tracers_stage->declared);
	if (!sender_wait_enabled(&p, 1))
		_exit(2);
	WEFT_FIRE(p, 0);
	confine(SECCOMP_RET_LOG);
	for (int i = 0; i < 10000 && weft_probe_enabled(p); i++)
		usleep(1000);
	tracers_stage->tallies[0].n[0] = weft_probe_enabled(p);
	stage_up(&tracers_stage->done);
}

Test(user_syscall_tracers, a_filter_while_enabled)
{
	struct cli_run c;
	struct worker w;

	tracers_stage = stage_create();
	worker_fork(&w, close_the_door, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&tracers_stage->declared, 1));
	tracers_start(&c, w.pid, "60s");
	cr_expect(stage_wait(&tracers_stage->done, 1));
	worker_join(&w);
	cr_expect_eq(tracers_stage->tallies[0].n[0], 0);
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
		weft_probe_declare("tracers", tracers_probe, "uint64 v", NULL);
		if (!fork()) {
			tracers_fire(tracers_stage);
			_exit(0);
		}
		if (!stage_wait(&tracers_stage->go, 1))
			_exit(2);
		_exit(0);
	}
	if (waitpid(pid, NULL, 0) != pid)
		_exit(3);
	args.set_tid = (uint64_t)(uintptr_t)&pid;
	if (!syscall(SYS_clone3, &args, sizeof(args))) {
		confine(SECCOMP_RET_LOG);
		stage_up(&tracers_stage->declared);
		stage_wait(&tracers_stage->done, 1);
		_exit(0);
	}
	stage_wait(&tracers_stage->done, 1);
	while (wait(NULL) > 0)
		;
}

Test(user_syscall_tracers, a_filter_of_another_with_that_number)
{
	char yaml[256];
	struct cli_run c;
	struct worker w;
	uint64_t fired;

	snprintf(tracers_probe, sizeof(tracers_probe), "p%d", getpid());
	snprintf(yaml, sizeof(yaml),
		 "version: 1\n"
		 "probes:\n"
		 "  - probe: 'user-syscall:" ME ":tracers:%s'\n"
		 "    do: [count: {into: n}]\n",
		 tracers_probe);
	tracers_stage = stage_create();
	worker_fork(&w, leave_a_number, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&tracers_stage->declared, 1));
	cli_start(&c, NULL,
		  (const char *const[]){"run", BUILT_IN, cli_set(yaml), "--duration", "60s", NULL});
	cr_expect(tracers_wait_word(1, 10000));
	stage_up(&tracers_stage->go);
	cr_expect(stage_wait(&tracers_stage->declared, 2));
	usleep(2500000); /* it is looked at once a second */
	cr_expect_eq(tracers_word(), 1);
	fired = tracers_stage->tallies[0].n[1];
	usleep(100000);
	cr_expect_gt(tracers_stage->tallies[0].n[1], fired, "the child goes on firing");
	kill(c.pid, SIGINT);
	cli_wait(&c);
	cr_expect_eq(tracers_word(), 0);
	stage_up(&tracers_stage->done);
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
		tracers_fire(NULL);
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
	tracers_fire(arg);
}

static void expect_traced(void (*program)(void *))
{
	struct cli_run c;
	struct worker w;

	char yaml[512];

	/* Everybody is traced: so the name is this test's alone. */
	snprintf(tracers_probe, sizeof(tracers_probe), "p%d", getpid());
	snprintf(yaml, sizeof(yaml),
		 "version: 1\n"
		 "probes:\n"
		 "  - probe: 'user-syscall:" ME ":tracers:%s'\n"
		 "    do:\n"
		 "      - count: {into: n}\n"
		 "      - min: {into: lo, value: args.v}\n"
		 "      - max: {into: hi, value: args.v}\n",
		 tracers_probe);
	tracers_stage = stage_create();
	worker_fork(&w, program, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&tracers_stage->declared, 1));
	cli_start(&c, NULL,
		  (const char *const[]){"run", BUILT_IN, cli_set(yaml), "--duration", "1s", NULL});
	cli_wait(&c);
	stage_up(&tracers_stage->done);
	worker_join(&w);
	tracers_expect_contiguous(&c);
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
