/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Whether the calls may be made. A seccomp filter can kill the program for any of them and there is
 * no way to ask it, so under a filter nothing is tried but what the program has said. What tells
 * whether there is a filter is a read of /proc/self/status: open, read and close are what every
 * program's start needs.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"

#ifndef __WALL
#define __WALL 0x40000000
#endif

/* 0: none; 1: strict; 2: a filter, or it cannot be told. */
static int seccomp_mode(void)
{
	static const char key[] = "\nSeccomp:\t";
	char text[4096];
	size_t n = 0;
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 2;
	while (n < sizeof(text) - 1) {
		ssize_t got = read(fd, text + n, sizeof(text) - 1 - n);

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	close(fd);
	text[n] = '\0';
	const char *line = strstr(text, key);
	if (!line)
		return n ? 0 : 2; /* a kernel without seccomp has no such line */
	return line[sizeof(key) - 1] - '0';
}

/* In a child that may be killed for it. 0, or 1: a call failed, 2: getpid is not what it says. */
static int try_calls(void)
{
	long fd = syscall(SYS_memfd_create, WEFT_TABLE_FILE, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	long pid = syscall(SYS_getpid);

	if (fd < 0 || ftruncate((int)fd, 4096) || fcntl((int)fd, F_ADD_SEALS, F_SEAL_SHRINK))
		return 1;
	return pid <= 0 || weft_user_call(WEFT_CALL_WORD(WEFT_CALL_REGISTER), 0, 0, 0, 0, 0) != pid
		       ? 2
		       : 0;
}

/* The child is one of clone: it has the memory of fork(), runs no handlers of it, and sends no SIGCHLD. */
static int try_in_child(void)
{
	int status = 0;
	long pid = syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);

	if (pid < 0)
		return -EACCES;
	if (!pid) {
		signal(SIGSYS, SIG_DFL);
		syscall(SYS_exit_group, try_calls());
	}
	while (syscall(SYS_wait4, pid, &status, __WALL, NULL) < 0)
		if (errno != EINTR)
			return -EACCES;
	if (!WIFEXITED(status) || WEXITSTATUS(status) == 1)
		return -EACCES;
	return WEXITSTATUS(status) ? -ENOSYS : 0;
}

int weft_user_may(enum weft_sandbox how, bool *tried)
{
	const char *env = getenv("WEFT_USER_SANDBOX");

	*tried = false;
	/* Without the vDSO the clock is a system call. */
	if (!getauxval(AT_SYSINFO_EHDR))
		return -ENOSYS;
	if (how == WEFT_SANDBOX_OFF)
		return -EACCES;
	if (how == WEFT_SANDBOX_ASK && env && !strcmp(env, "try"))
		how = WEFT_SANDBOX_TRY;
	if (how == WEFT_SANDBOX_ALLOWED) {
		*tried = true;
		return 0;
	}
	switch (seccomp_mode()) {
	case 0:
		/* A filter of its own that comes later has been thought of. */
		*tried = false;
		return 0;
	case 1:
		return -EACCES;
	default:
		break;
	}
	if (how != WEFT_SANDBOX_TRY)
		return -EACCES;
	*tried = true;
	return try_in_child();
}
