/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Calls that do not go in and out like others: those that never return, return twice, are made
 * again, are refused, or come from the table of 32-bit programs. By both mechanisms. */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <time.h>

#include "syscalls.h"

#define CALLS_PROGRAM FIXTURE_WORKLOAD_DIR "/calls"

/* ---- never ---- */

static void on_signal(int number)
{
	(void)number;
}

static void *end_thread(void *arg)
{
	syscall(SYS_exit, 0);
	return arg;
}

#define SIGNALS  9
#define CHILDREN 4

static void never_return(void *arg)
{
	pthread_t t;

	(void)arg;
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < SIGNALS; i++)
		raise(SIGUSR1);
	if (pthread_create(&t, NULL, end_thread, NULL) || pthread_join(t, NULL))
		_exit(1);
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (!pid)
			syscall(SYS_exit_group, 0);
		waitpid(pid, NULL, 0);
	}
}

Test(syscall_odd, calls_that_never_return)
{
	BOTH(mechanism)
	{
		const struct cap_table *in, *out;
		struct worker w;
		struct rig r;

		worker_fork(&w, never_return, NULL);
		rig_init(&r);
		rig_trace(
			&r, &w,
			SET("  - probe: ['syscall::exit:entry', 'syscall::exit_group:entry', 'syscall::rt_sigreturn:entry']\n"
			    "    do: [count: {into: in, by: {call: probefunc}}]\n"
			    "  - probe: ['syscall::exit:return', 'syscall::exit_group:return',\n"
			    "            'syscall::rt_sigreturn:return', 'syscall::getpid:return']\n"
			    "    do: [count: {into: out, by: {call: probefunc, took: elapsed >= 0}}]\n"),
			w.pid, *mechanism);
		in = cap_last_table(&r.cap, "in");
		cr_expect_eq(cap_row_text(in, "call", "rt_sigreturn")->count, SIGNALS);
		cr_expect_geq(cap_row_text(in, "call", "exit")->count, 1);
		cr_expect_eq(cap_row_text(in, "call", "exit_group")->count, CHILDREN + 1,
			     "and the worker itself");
		/* raise() asks who it is, on some C libraries. */
		out = cap_last_table(&r.cap, "out");
		for (size_t i = 0; i < out->n_rows; i++)
			cr_expect_eq(cap_key(&out->rows[i], "call")->text.n, strlen("getpid"));
		cap_expect_no_loss(&r.cap);
		rig_finish(&r);
	}
}

/* ---- exec: fails and returns, or returns into another program ---- */

static void exec_twice(void *arg)
{
	char *const argv[] = {(char *)"calls", (char *)"0", NULL};
	pid_t pid = fork();

	(void)arg;
	if (!pid) {
		execv("/no/such/program", argv);
		execv(CALLS_PROGRAM, argv);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

Test(syscall_odd, exec_returns_into_the_new_program)
{
	BOTH(mechanism)
	{
		const struct cap_table *t;
		struct worker w;
		struct rig r;

		worker_fork(&w, exec_twice, NULL);
		rig_init(&r);
		rig_trace(&r, &w,
			  SET("  - probe: syscall::execve:entry\n"
			      "    do: [count: {into: in}]\n"
			      "  - probe: syscall::execve:return\n"
			      "    when: elapsed > 0\n"
			      "    do: [count: {into: out, by: {ret: retval, as: execname}}]\n"),
			  w.pid, *mechanism);
		cr_expect_eq(cap_only_row(&r.cap, "in")->count, 2);
		t = cap_last_table(&r.cap, "out");
		cr_expect_eq(cap_total(t), 2);
		cr_expect_eq(cap_row_int(t, "ret", -ENOENT)->count, 1);
		cr_expect_eq(cap_row_int(t, "ret", 0)->count, 1);
		cr_expect_eq(cap_key(cap_row_int(t, "ret", 0), "as")->text.n, strlen("calls"));
		cap_expect_no_loss(&r.cap);
		rig_finish(&r);
	}
}

/* ---- a call that returns twice ---- */

static void fork_some(void *arg)
{
	(void)arg;
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = (pid_t)syscall(SYS_fork);

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

Test(syscall_odd, fork_returns_in_the_child_too)
{
	BOTH(mechanism)
	{
		struct worker w;
		struct rig r;

		worker_fork(&w, fork_some, NULL);
		rig_init(&r);
		rig_trace(&r, &w,
			  SET("  - probe: syscall::fork:entry\n"
			      "    do: [count: {into: in}]\n"
			      "  - probe: syscall::fork:return\n"
			      "    when: retval == 0\n"
			      "    do: [count: {into: children}]\n"
			      "  - probe: syscall::fork:return\n"
			      "    when: retval > 0 && elapsed > 0\n"
			      "    do: [count: {into: parents}]\n"),
			  w.pid, *mechanism);
		cr_expect_eq(cap_only_row(&r.cap, "in")->count, CHILDREN);
		cr_expect_eq(cap_only_row(&r.cap, "children")->count, CHILDREN);
		cr_expect_eq(cap_only_row(&r.cap, "parents")->count, CHILDREN);
		cap_expect_no_loss(&r.cap);
		rig_finish(&r);
		/* Or without knowing what stands for a child. */
		worker_fork(&w, fork_some, NULL);
		rig_init(&r);
		rig_trace(&r, &w,
			  SET("  - probe: syscall::fork:return\n"
			      "    do: [count: {into: n, by: {seen: defined(elapsed)}}]\n"),
			  w.pid, *mechanism);
		cr_expect_eq(cap_row_int(cap_last_table(&r.cap, "n"), "seen", 0)->count, CHILDREN);
		cr_expect_eq(cap_row_int(cap_last_table(&r.cap, "n"), "seen", 1)->count, CHILDREN);
		cap_expect_no_loss(&r.cap);
		rig_finish(&r);
		/* The child has never been inside: who asks how long it was, asks for what is not. */
		worker_fork(&w, fork_some, NULL);
		rig_init(&r);
		rig_trace(&r, &w,
			  SET("  - probe: syscall::fork:return\n"
			      "    when: elapsed > 0\n"
			      "    do: [count: {into: parents}]\n"),
			  w.pid, *mechanism);
		cr_expect_eq(cap_only_row(&r.cap, "parents")->count, CHILDREN);
		cap_expect_loss(&r.cap, "PAIRING_NO_ENTRY", CHILDREN);
		rig_finish(&r);
	}
}

/* ---- a call that is made again ---- */

/* Whether the process has ended, or waits in one of the calls that are made again. */
static bool settled(pid_t pid)
{
	char path[64], line[256];
	bool pending = false;
	int nr = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "State:\tZ", 8)) {
			fclose(f);
			return true;
		}
		if (!strncmp(line, "ShdPnd:", 7))
			pending = strtoull(line + 7, NULL, 16) != 0;
	}
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/syscall", pid); /* "running", or a number first */
	f = fopen(path, "r");
	if (!f || fscanf(f, "%d", &nr) != 1)
		nr = -1;
	if (f)
		fclose(f);
	return !pending && (nr == SYS_read || nr == SYS_nanosleep || nr == SYS_restart_syscall);
}

static void settle(pid_t pid)
{
	for (int i = 0; i < 10000 && !settled(pid); i++)
		usleep(1000);
}

static void interrupt(int flags, void (*wait)(int fd), bool stop)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = flags};
	int pipes[2];
	pid_t pid;

	sigaction(SIGUSR1, &sa, NULL);
	if (pipe(pipes))
		_exit(1);
	pid = fork();
	if (!pid) {
		wait(pipes[0]);
		_exit(0);
	}
	settle(pid);
	if (stop) {
		kill(pid, SIGSTOP);
		waitpid(pid, NULL, WUNTRACED);
		kill(pid, SIGCONT);
	} else {
		kill(pid, SIGUSR1);
	}
	settle(pid);
	if (write(pipes[1], "x", 1) != 1)
		_exit(1);
	waitpid(pid, NULL, 0);
}

static void read_one(int fd)
{
	char c;

	if (syscall(SYS_read, fd, &c, 1L) != 1)
		_exit(1);
}

static void read_none(int fd)
{
	char c;

	if (syscall(SYS_read, fd, &c, 1L) != -1 || errno != EINTR)
		_exit(1);
}

static void rest(int fd)
{
	struct timespec t = {.tv_sec = 1};

	(void)fd;
	if (syscall(SYS_nanosleep, &t, NULL))
		_exit(1);
}

static void make_again(void *arg)
{
	(void)arg;
	interrupt(SA_RESTART, read_one, false);
	interrupt(0, read_none, false);
	interrupt(0, rest, true);
}

#define ERESTARTSYS           512
#define ERESTART_RESTARTBLOCK 516

Test(syscall_odd, calls_that_are_made_again)
{
	BOTH(mechanism)
	{
		const struct cap_table *t;
		struct worker w;
		struct rig r;

		worker_fork(&w, make_again, NULL);
		rig_init(&r);
		rig_trace(
			&r, &w,
			SET("  - probe: syscall::read:entry\n"
			    "    when: arg2 == 1\n"
			    "    do: [count: {into: reads}]\n"
			    "  - probe: syscall::read:return\n"
			    "    when: defined(elapsed) && (retval == 1 || retval <= -512)\n"
			    "    do: [count: {into: results, by: {ret: retval}}]\n"
			    "  - probe: ['syscall::nanosleep:entry', 'syscall::restart_syscall:entry']\n"
			    "    do: [count: {into: rests, by: {call: probefunc}}]\n"
			    "  - probe: ['syscall::nanosleep:return', 'syscall::restart_syscall:return']\n"
			    "    do: [count: {into: rested, by: {call: probefunc, ret: retval}}]\n"),
			w.pid, *mechanism);
		/* One that was made again, one that was not: the program was told of EINTR. */
		cr_expect_eq(cap_only_row(&r.cap, "reads")->count, 3);
		t = cap_last_table(&r.cap, "results");
		cr_expect_eq(cap_row_int(t, "ret", -ERESTARTSYS)->count, 2);
		cr_expect_eq(cap_row_int(t, "ret", 1)->count, 1);
		t = cap_last_table(&r.cap, "rests");
		cr_expect_eq(cap_row_text(t, "call", "nanosleep")->count, 1);
		cr_expect_eq(cap_row_text(t, "call", "restart_syscall")->count, 1);
		t = cap_last_table(&r.cap, "rested");
		cr_expect_eq(cap_total(t), 2);
		cr_expect_eq(cap_row_int(t, "ret", -ERESTART_RESTARTBLOCK)->count, 1);
		cr_expect_eq(cap_row_int(t, "ret", 0)->count, 1);
		cap_expect_no_loss(&r.cap);
		rig_finish(&r);
	}
}

/* ---- calls that a filter refuses ---- */

#define REFUSED 50

static void be_refused(void *arg)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	(void)arg;
	syscall(SYS_getppid);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(1);
	for (int i = 0; i < REFUSED; i++)
		if (syscall(SYS_getppid) != -1 || errno != EXDEV)
			_exit(1);
}

Test(syscall_odd, calls_that_a_filter_refuses)
{
	BOTH(mechanism)
	{
		const struct cap_table *t;
		struct worker w;
		struct rig r;

		worker_fork(&w, be_refused, NULL);
		rig_init(&r);
		rig_trace(&r, &w,
			  SET("  - probe: syscall::getppid:entry\n"
			      "    do: [count: {into: in}]\n"
			      "  - probe: syscall::getppid:return\n"
			      "    do: [count: {into: out, by: {ret: retval}}]\n"),
			  w.pid, *mechanism);
		cr_expect_eq(cap_only_row(&r.cap, "in")->count, 1, "the filter comes first");
		t = cap_last_table(&r.cap, "out");
		cr_expect_eq(cap_total(t), 1 + REFUSED);
		cr_expect_eq(cap_row_int(t, "ret", -EXDEV)->count, REFUSED);
		cap_expect_no_loss(&r.cap);
		rig_finish(&r);
	}
}

/* ---- 32-bit programs ---- */

#define OLD_CALLS 200

/* Number 20 is getpid in their table, writev in ours; 39 is getpid in ours, mkdir in theirs. */
static long old_call(long number)
{
	long ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(number), "b"(0L), "c"(0L), "d"(0L)
			 : "memory", "r8", "r9", "r10", "r11");
	return ret;
}

static sigjmp_buf refused;

static void on_refusal(int signal)
{
	(void)signal;
	siglongjmp(refused, 1);
}

static void call_as_of_old(void *arg)
{
	long pid = syscall(SYS_getpid);

	(void)arg;
	/* A kernel without 32-bit calls answers with a signal. */
	signal(SIGSEGV, on_refusal);
	if (!sigsetjmp(refused, 1)) {
		for (int i = 0; i < OLD_CALLS; i++)
			if (old_call(20) != pid)
				_exit(1);
		old_call(39);
	}
	syscall(SYS_getpid);
	syscall(SYS_writev, -1, NULL, 0L);
}

Test(syscall_odd, calls_of_32_bit_programs_are_none)
{
	BOTH(mechanism)
	{
		const struct cap_table *t;
		struct worker w;
		struct rig r;

		worker_fork(&w, call_as_of_old, NULL);
		rig_init(&r);
		rig_trace(
			&r, &w,
			SET("  - probe: ['syscall::getpid:', 'syscall::writev:', 'syscall::mkdir:']\n"
			    "    do: [count: {into: n, by: {call: probefunc, name: probename}}]\n"),
			w.pid, *mechanism);
		t = cap_last_table(&r.cap, "n");
		cr_expect_eq(t->n_rows, 4);
		cr_expect_eq(cap_total(t), 6);
		for (size_t i = 0; i < t->n_rows; i++) {
			const struct weft_value *call = cap_key(&t->rows[i], "call");

			cr_expect_eq(t->rows[i].count,
				     call->text.n == strlen("getpid") &&
						     !strncmp(call->text.s, "getpid", 6)
					     ? 2
					     : 1);
		}
		cap_expect_no_loss(&r.cap);
		rig_finish(&r);
	}
}
