/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "support/shield.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct call {
	void (*work)(void *arg);
	void *arg;
	bool begun;
};

static int in_child(void *arg)
{
	struct call *c = arg;

	/* Whole groups are killed, too: by a shell's kill %1, by timeout -k. */
	syscall(SYS_setpgid, 0, 0);
	c->begun = true;
	c->work(c->arg);
	return 0;
}

void support_shielded(void (*work)(void *arg), void *arg)
{
	/* Of the caller's stack, so that nothing has to be had or given back. It is not touched
	 * by the caller before the child has ended, or ever again if he is killed. */
	_Alignas(16) char stack[24 * 1024];
	struct call c = {work, arg, false};
	sigset_t all, before;

	/* The child would run the caller's handlers. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	/* No signal tells of its end: neither the caller's SIGCHLD nor his waitpid(-1) sees it. */
	pid_t child =
		clone(in_child, stack + sizeof(stack), CLONE_VM | CLONE_FILES | CLONE_VFORK, &c);
	while (child > 0 && syscall(SYS_wait4, child, NULL, __WCLONE, NULL) < 0 && errno == EINTR)
		;
	if (!c.begun)
		work(arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void close_it(void *arg)
{
	syscall(SYS_close, *(const int *)arg);
}

void support_shielded_close(int fd)
{
	support_shielded(close_it, &fd);
}
