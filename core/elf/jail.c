/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A child process for one piece of work on untrusted bytes.
 *
 * It is forked, not kept: a worker that once read a hostile file must not read the next one, and
 * what a worker may touch (the file, the region for its result) exists before it is locked in and
 * is inherited as memory, so it needs neither descriptors nor a protocol. Before the first byte of
 * the file is looked at, the child
 *
 *  - dies with its parent, is not dumpable, blocks signals, has the default action for those that
 *    cannot be blocked;
 *  - closes every descriptor;
 *  - has limits: address space (what it has now plus an allowance), processor time, no files, no
 *    core;
 *  - and locks itself in (filter.c).
 *
 * Results come back in shared memory. The parent waits with a pidfd and a clock of its own: what is
 * late is killed. It reads the result after the child is gone.
 *
 * A child that touches a page of its mapping which the file no longer has dies of SIGBUS; the
 * parent never touches the mapping.
 */
#include "core/elf/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How a child ends of itself. */
#define EXIT_DONE       0
#define EXIT_NO_MEMORY  3
#define EXIT_NOT_LOCKED 4

/* The last word: a mark and one of the above. */
#define LAST_WORD    0x77656600u
#define LAST_UNKNOWN 0xffu

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

static struct weft_region *leaves; /* in the child: where its result goes */

static _Noreturn void leave(uint32_t how)
{
	*(volatile uint32_t *)(void *)leaves->base = LAST_WORD | how;
	_exit((int)how);
}

void weft_jail_done(void)
{
	leave(EXIT_DONE);
}

void weft_jail_no_memory(void)
{
	leave(EXIT_NO_MEMORY);
}

/* Bytes of address space in use, which the limit counts. 0: unknown. */
static uint64_t address_space(void)
{
	char text[128];
	ssize_t n;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	return strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int limit(int resource, rlim_t most)
{
	struct rlimit l = {.rlim_cur = most, .rlim_max = most}, old;

	if (getrlimit(resource, &old))
		return -errno;
	if (old.rlim_max < most) /* stricter already */
		l.rlim_cur = l.rlim_max = old.rlim_max;
	return setrlimit(resource, &l) ? -errno : 0;
}

static int compare_bytes(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

/* glibc asks at its first large sort how much memory there is, and remembers. */
static void sort_once(void)
{
	char bytes[2048] = {0};

	qsort(bytes, sizeof(bytes), 1, compare_bytes);
}

static int lock_in(pid_t parent, uint64_t time_ns, uint64_t memory)
{
	uint64_t space = address_space();
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t all;

	if (!space || prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent ||
	    prctl(PR_SET_DUMPABLE, 0))
		return -EPERM;
	sort_once();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int s = 1; s < NSIG; s++) /* some cannot be set, and need not */
		sigaction(s, &action, NULL);
	if (syscall(SYS_close_range, 0u, ~0u, 0u))
		return -errno;
	if (limit(RLIMIT_AS, space + memory) || limit(RLIMIT_CORE, 0) || limit(RLIMIT_NOFILE, 0) ||
	    limit(RLIMIT_CPU, time_ns / 1000000000u + 2))
		return -EPERM;
	return weft_filter_lock();
}

/* Waits for the end; true if it came in time. */
static bool wait_until(int pidfd, uint64_t time_ns)
{
	struct timespec now;
	uint64_t end = 0, t;

	for (;;) {
		struct pollfd p = {.fd = pidfd, .events = POLLIN};
		int n;

		clock_gettime(CLOCK_MONOTONIC, &now);
		t = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
		if (!end)
			end = t + time_ns;
		n = poll(&p, 1, t >= end ? 0 : (int)((end - t + 999999) / 1000000));
		if (n > 0)
			return true;
		if (n == 0 && t >= end)
			return false;
		if (n < 0 && errno != EINTR)
			return false;
	}
}

static int judge(const siginfo_t *info, uint64_t memory, const char *path, struct weft_error *err)
{
	if (info->si_code == CLD_EXITED) {
		switch (info->si_status) {
		case EXIT_DONE:
			return 0;
		case EXIT_NO_MEMORY:
			return weft_fail(err, -ENOMEM, "ELF_MEMORY_LIMIT",
					 "%s: reading it takes more than the %llu MiB of memory "
					 "that a file may take",
					 path, (unsigned long long)(memory >> 20));
		case EXIT_NOT_LOCKED:
			return weft_fail(err, -EPERM, "ELF_WORKER_START",
					 "%s: not read, since the process that would read it could "
					 "not be locked in",
					 path);
		default:
			return weft_fail(err, -EIO, "ELF_WORKER_DIED",
					 "%s: the process that read it ended with status %d", path,
					 info->si_status);
		}
	}
	if (info->si_status == SIGBUS)
		return weft_fail(err, -EIO, "ELF_FILE_CHANGED",
				 "%s: became shorter, or could not be read, while it was read",
				 path);
	if (info->si_status == SIGXCPU)
		return weft_fail(err, -ETIMEDOUT, "ELF_TIME_LIMIT",
				 "%s: reading it takes more processor time than a file may take",
				 path);
	return weft_fail(err, -EIO, "ELF_WORKER_DIED",
			 "%s: the process that read it was killed by signal %d (%s)%s", path,
			 info->si_status, strsignal(info->si_status),
			 info->si_status == SIGSYS ? ": it tried what no reader needs" : "");
}

int weft_jail_run(weft_jail_work work, const void *job, struct weft_region *region,
		  uint64_t time_ns, uint64_t memory, const char *path, struct weft_error *err)
{
	siginfo_t info = {0};
	pid_t parent = getpid(), pid;
	bool in_time = true;
	int pidfd, r;

	pid = fork();
	if (pid < 0)
		return weft_fail(err, -errno, "ELF_WORKER_START",
				 "%s: no process to read it in: %s", path, strerror(errno));
	if (!pid) {
		if (lock_in(parent, time_ns, memory))
			_exit(EXIT_NOT_LOCKED);
		leaves = region;
		*(volatile uint32_t *)(void *)region->base = LAST_WORD | LAST_UNKNOWN;
		work(region, job);
		leave(EXIT_DONE);
	}
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0 && errno != ESRCH) {
		r = -errno;
		kill(pid, SIGKILL); /* ours, and not yet waited for */
		waitpid(pid, NULL, 0);
		return weft_fail(err, r, "ELF_WORKER_START", "%s: %s", path, strerror(-r));
	}
	r = -ECHILD; /* gone, and buried, before we looked */
	if (pidfd >= 0) {
		in_time = wait_until(pidfd, time_ns);
		if (!in_time)
			syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
		do {
			r = waitid((idtype_t)P_PIDFD, (id_t)pidfd, &info, WEXITED) ? -errno : 0;
		} while (r == -EINTR);
		close(pidfd);
	}
	if (!in_time)
		return weft_fail(err, -ETIMEDOUT, "ELF_TIME_LIMIT",
				 "%s: reading it takes longer than the %llu ms that a file may take",
				 path, (unsigned long long)(time_ns / 1000000));
	if (r == -ECHILD && *(uint32_t *)(void *)region->base >> 8 == LAST_WORD >> 8) {
		info = (siginfo_t){.si_code = CLD_EXITED};
		info.si_status = (int)(*(uint32_t *)(void *)region->base & 0xff);
		r = 0;
	}
	if (r)
		return weft_fail(err, r, "ELF_WORKER_DIED",
				 "%s: how the process that read it ended is unknown: %s", path,
				 strerror(-r));
	return judge(&info, memory, path, err);
}
