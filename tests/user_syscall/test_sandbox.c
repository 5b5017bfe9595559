/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Under seccomp: the library works, or says that it does not, and the program lives in any case. */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "weft/user.h"

/* From now on `nr` is answered with `action`; all else is allowed. */
static void forbid(int nr, uint32_t action)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {.len = 4, .filter = filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(99);
}

struct want {
	int nr;
	uint32_t action;
	enum weft_sandbox how;
	int error;
};

static void expect(const struct want *w)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		int error = 1;
		weft_probe *p;

		forbid(w->nr, w->action);
		weft_user_sandbox(w->how);
		p = weft_probe_declare("p", "n", "uint64 v", &error);
		WEFT_FIRE(p, 1);
		weft_probe_fire(p, 1, 2, 3, 4, 5);
		_exit(error == w->error ? 0 : -error);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status), "killed by %d: call %d, action %x", WTERMSIG(status), w->nr,
		  w->action);
	cr_expect_eq(WEXITSTATUS(status), 0, "call %d, action %x: error %d", w->nr, w->action,
		     WEXITSTATUS(status));
}

Test(user_sandbox, nothing_is_tried_unasked)
{
	static const uint32_t actions[] = {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD,
					   SECCOMP_RET_TRAP, SECCOMP_RET_ERRNO | EPERM,
					   SECCOMP_RET_LOG};
	static const int calls[] = {SYS_getpid, SYS_memfd_create, SYS_ftruncate, SYS_fcntl,
				    SYS_clone};

	for (size_t a = 0; a < 5; a++)
		for (size_t c = 0; c < 5; c++)
			expect(&(struct want){calls[c], actions[a], WEFT_SANDBOX_ASK, -EACCES});
}

Test(user_sandbox, tried_in_a_child)
{
	static const struct want wants[] = {
		{SYS_getpid, SECCOMP_RET_KILL_PROCESS, WEFT_SANDBOX_TRY, -EACCES},
		{SYS_getpid, SECCOMP_RET_KILL_THREAD, WEFT_SANDBOX_TRY, -EACCES},
		{SYS_getpid, SECCOMP_RET_TRAP, WEFT_SANDBOX_TRY, -EACCES},
		{SYS_getpid, SECCOMP_RET_ERRNO | EPERM, WEFT_SANDBOX_TRY, -ENOSYS},
		{SYS_getpid, SECCOMP_RET_LOG, WEFT_SANDBOX_TRY, 0},
		{SYS_memfd_create, SECCOMP_RET_KILL_PROCESS, WEFT_SANDBOX_TRY, -EACCES},
		{SYS_fcntl, SECCOMP_RET_KILL_PROCESS, WEFT_SANDBOX_TRY, -EACCES},
		{SYS_memfd_create, SECCOMP_RET_ERRNO | ENOSYS, WEFT_SANDBOX_TRY, -EACCES},
		{SYS_clone, SECCOMP_RET_ERRNO | EPERM, WEFT_SANDBOX_TRY, -EACCES},
		{SYS_getppid, SECCOMP_RET_KILL_PROCESS, WEFT_SANDBOX_TRY, 0},
		{SYS_getppid, SECCOMP_RET_KILL_PROCESS, WEFT_SANDBOX_ALLOWED, 0},
		{SYS_getpid, SECCOMP_RET_KILL_PROCESS, WEFT_SANDBOX_OFF, -EACCES},
	};

	for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++)
		expect(&wants[i]);
}

Test(user_sandbox, asked_for_by_the_environment)
{
	setenv("WEFT_USER_SANDBOX", "try", 1);
	expect(&(struct want){SYS_getppid, SECCOMP_RET_KILL_PROCESS, WEFT_SANDBOX_ASK, 0});
	expect(&(struct want){SYS_getpid, SECCOMP_RET_KILL_PROCESS, WEFT_SANDBOX_ASK, -EACCES});
}

/* A program that closes the door behind itself says so before. */
Test(user_sandbox, turned_off_before_a_filter)
{
	weft_probe *p = weft_probe_declare("p", "n", "", NULL);
	int status;
	pid_t pid = fork();

	if (!pid) {
		weft_user_sandbox(WEFT_SANDBOX_OFF);
		forbid(SYS_getpid, SECCOMP_RET_KILL_PROCESS);
		*(uint64_t *)(void *)p = 1;
		weft_probe_fire(p, 1, 2, 3, 4, 5);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	cr_expect_eq(status, 0);
}
