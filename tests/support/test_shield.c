/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/shield.h"

#define NOBODY 65534

struct done {
	int times;
	pid_t by, group;
};

static void note(void *arg)
{
	struct done *d = arg;

	d->times++;
	d->by = (pid_t)syscall(SYS_getpid);
	d->group = (pid_t)syscall(SYS_getpgid, 0);
}

static volatile sig_atomic_t n_signals;

static void on_signal(int number)
{
	(void)number;
	n_signals++;
}

Test(support_shield, another_process_does_it_that_nobody_notices)
{
	struct done d = {0};
	sigset_t before, after;

	n_signals = 0;
	signal(SIGCHLD, on_signal);
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	support_shielded(note, &d);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	cr_expect_eq(d.times, 1);
	cr_expect_neq(d.by, getpid());
	cr_expect_eq(d.group, d.by, "a group of its own");
	cr_expect_eq(n_signals, 0, "a signal tells of its end");
	for (int i = 1; i < SIGRTMAX; i++)
		cr_expect_eq(sigismember(&before, i), sigismember(&after, i), "signal %d", i);
	cr_expect_eq(kill(d.by, 0), -1);
	cr_expect_eq(errno, ESRCH, "it stays as a zombie");
	cr_expect_eq(waitpid(-1, NULL, __WALL), -1);
	cr_expect_eq(errno, ECHILD);
}

Test(support_shield, descriptors_are_the_caller_s)
{
	int ends[2];
	char c;

	cr_assert_eq(pipe(ends), 0);
	support_shielded_close(ends[1]);
	cr_expect_eq(read(ends[0], &c, 1), 0, "the end that writes is still there");
	cr_expect_eq(close(ends[1]), -1);
	close(ends[0]);
}

Test(support_shield, without_a_process_to_be_had_the_caller_does_it)
{
	const struct rlimit none = {0, 0};
	int status;
	pid_t pid = fork();

	cr_assert_geq(pid, 0);
	if (!pid) {
		struct done d = {0};

		if (setrlimit(RLIMIT_NPROC, &none) || setgid(NOBODY) || setuid(NOBODY))
			_exit(100);
		support_shielded(note, &d);
		_exit(d.times != 1 ? 101 : d.by != getpid() ? 102 : 0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0, "%d", WEXITSTATUS(status));
}

/* ---- the caller is killed ---- */

enum { BEGUN, GO_ON, DONE, PIPES };

static void slowly(void *arg)
{
	int(*pipes)[2] = arg;
	char c = '.';

	syscall(SYS_write, pipes[BEGUN][1], &c, 1);
	syscall(SYS_read, pipes[GO_ON][0], &c, 1);
	syscall(SYS_write, pipes[DONE][1], &c, 1);
}

/* to_group: whoever kills it kills its group. */
static void kill_amid(bool to_group)
{
	int pipes[PIPES][2], status;
	char text[8];

	for (int i = 0; i < PIPES; i++)
		cr_assert_eq(pipe(pipes[i]), 0);
	pid_t pid = fork();
	cr_assert_geq(pid, 0);
	if (!pid) {
		setpgid(0, 0);
		support_shielded(slowly, pipes);
		_exit(1);
	}
	cr_assert_eq(read(pipes[BEGUN][0], text, 1), 1);
	cr_assert_eq(kill(to_group ? -pid : pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid, "it dies at once");
	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	cr_assert_eq(write(pipes[GO_ON][1], ".", 1), 1);
	close(pipes[DONE][1]);
	cr_expect_eq(read(pipes[DONE][0], text, sizeof(text)), 1, "it is finished");
	cr_expect_eq(read(pipes[DONE][0], text, sizeof(text)), 0, "and nothing else is done");
	for (int i = 0; i < PIPES; i++) {
		close(pipes[i][0]);
		if (i != DONE)
			close(pipes[i][1]);
	}
}

Test(support_shield, it_is_finished_though_the_caller_is_killed, .timeout = 60)
{
	kill_amid(false);
}

Test(support_shield, it_is_finished_though_the_caller_s_group_is_killed, .timeout = 60)
{
	kill_amid(true);
}
