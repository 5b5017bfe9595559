/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Every call of the library that can fail does so once, each in a process of its own: as the first
 * probe is declared, and as a child of fork() makes a table of its own. It is said, nothing is left
 * open, firing does no harm, and what a child had goes on.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "weft/user.h"

static bool armed;
static int countdown, calls;

static bool fails(void)
{
	if (!armed || ++calls != countdown)
		return false;
	errno = ENOMEM;
	return true;
}

#define WRAP(type, name, params, args, failure)                \
	type __real_##name params;                             \
	type __wrap_##name params;                             \
	type __wrap_##name params                              \
	{                                                      \
		return fails() ? failure : __real_##name args; \
	}

WRAP(void *, mmap, (void *p, size_t n, int prot, int flags, int fd, off_t at),
     (p, n, prot, flags, fd, at), MAP_FAILED)
WRAP(int, madvise, (void *p, size_t n, int how), (p, n, how), -1)
WRAP(int, ftruncate, (int fd, off_t n), (fd, n), -1)
WRAP(int, fstat, (int fd, struct stat *st), (fd, st), -1)

/* Of those with more arguments, those that the library gives. */
int __real_fcntl(int fd, int op, ...);
int __wrap_fcntl(int fd, int op, ...);
int __wrap_fcntl(int fd, int op, ...)
{
	va_list ap;
	int arg;

	va_start(ap, op);
	arg = va_arg(ap, int);
	va_end(ap);
	return fails() ? -1 : __real_fcntl(fd, op, arg);
}

void *__real_mremap(void *p, size_t from, size_t to, int flags, ...);
void *__wrap_mremap(void *p, size_t from, size_t to, int flags, ...);
void *__wrap_mremap(void *p, size_t from, size_t to, int flags, ...)
{
	va_list ap;
	void *where;

	va_start(ap, flags);
	where = va_arg(ap, void *);
	va_end(ap);
	return fails() ? MAP_FAILED : __real_mremap(p, from, to, flags, where);
}

static int lowest_free(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* The exit status of a process: 0: the call failed and all is well, 1: there was no such call. */
static int declare_first(void)
{
	int error = 1, fd = lowest_free();
	weft_probe *p;

	armed = true;
	p = weft_probe_declare("nomem", "p", "uint64 v", &error);
	armed = false;
	if (calls < countdown)
		return error ? 2 : 1;
	if (error >= 0 || weft_probe_enabled(p) || weft_probe_word(p) || lowest_free() != fd)
		return 3;
	WEFT_FIRE(p, 1);
	weft_probe_fire(p, 1, 2, 3, 4, 5);
	weft_probe_undeclare(p);
	return 0;
}

static weft_probe *parents;

static int declare_in_child(void)
{
	int error = 1, fd = lowest_free();
	const uint64_t word = weft_probe_word(parents);
	weft_probe *p;

	armed = true;
	p = weft_probe_declare("nomem", "child", "uint64 v", &error);
	armed = false;
	if (calls < countdown)
		return error ? 2 : 1;
	if (error >= 0 || weft_probe_enabled(p) || weft_probe_word(p) || lowest_free() != fd)
		return 3;
	if (weft_probe_word(parents) != word || weft_probe_enabled(parents))
		return 4;
	weft_probe_fire(parents, 1, 2, 3, 4, 5);
	/* It may try again. */
	p = weft_probe_declare("nomem", "child", "uint64 v", &error);
	return error || !weft_probe_word(p) || weft_probe_word(parents) != word ? 5 : 0;
}

static void each(int (*fn)(void), int least)
{
	for (countdown = 1; countdown < 100; countdown++) {
		int status;
		pid_t pid = fork();

		calls = 0;
		if (!pid)
			_exit(fn());
		cr_assert_eq(waitpid(pid, &status, 0), pid);
		cr_assert(WIFEXITED(status), "call %d: 0x%x", countdown, status);
		cr_assert_leq(WEXITSTATUS(status), 1, "call %d: step %d", countdown,
			      WEXITSTATUS(status));
		if (WEXITSTATUS(status) == 1)
			break;
	}
	cr_expect_gt(countdown, least, "%d calls", countdown - 1);
}

Test(user_library_nomem, as_the_first_is_declared)
{
	each(declare_first, 7);
}

Test(user_library_nomem, as_a_child_makes_its_own)
{
	int error;

	parents = weft_probe_declare("nomem", "p", "uint64 v", &error);
	cr_assert_eq(error, 0);
	each(declare_in_child, 5);
}
