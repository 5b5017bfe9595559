/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The jail, with workers that do what a subverted parser would do. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/elf/jail.h"
#include "elf/rig.h"

#define SECOND 1000000000u
#define MIB    (1u << 20)

/* Runs a worker and returns its tag, "" if it ended well. What it left is in *region. */
static const char *jailed(weft_jail_work work, const void *job, struct weft_region *region,
			  uint64_t time_ns, uint64_t memory, char *text, size_t size)
{
	struct weft_error *err = weft_error_create();
	static char tag[64];
	int ret;

	cr_assert_eq(weft_region_init(region, MIB), 0);
	ret = weft_jail_run(work, job, region, time_ns, memory, "FILE", err);
	cr_assert_eq(!ret, !*weft_error_tag(err));
	snprintf(tag, sizeof(tag), "%s", weft_error_tag(err));
	if (text)
		snprintf(text, size, "%s", weft_error_text(err));
	weft_error_destroy(err);
	/* Nothing of it is left, not even its corpse. */
	cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1);
	cr_assert_eq(errno, ECHILD);
	return tag;
}

static unsigned int n_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void speak(struct weft_region *region, const void *job)
{
	(void)weft_region_string(region, job);
}

Test(elf_jail, what_a_worker_leaves_is_there)
{
	unsigned int before = n_descriptors();
	struct weft_region region;

	cr_assert_str_empty(jailed(speak, "words", &region, SECOND * 10, 64 * MIB, NULL, 0));
	cr_assert_str_eq(region.base + region.zone, "words");
	weft_region_finish(&region);
	cr_assert_eq(n_descriptors(), before);
}

static void crash(struct weft_region *region, const void *job)
{
	(void)region;
	(void)job;
	volatile uintptr_t nowhere = 8;

	/* as a stack that ran over does, without a sanitizer's word on it */
	signal(SIGSEGV, SIG_DFL);
	*(volatile char *)nowhere = 1;
}

static void crash_plainly(struct weft_region *region, const void *job)
{
	(void)region;
	(void)job;
	__builtin_trap();
}

static void leave(struct weft_region *region, const void *job)
{
	(void)region;
	(void)job;
	_exit(7);
}

Test(elf_jail, ELF_WORKER_DIED)
{
	struct weft_region region;
	char text[256];

	cr_assert_str_eq(
		jailed(crash_plainly, NULL, &region, SECOND * 10, 64 * MIB, text, sizeof(text)),
		"ELF_WORKER_DIED");
	cr_assert(strstr(text, "FILE: ") && strstr(text, "signal 4"), "%s", text);
	weft_region_finish(&region);
	cr_assert_str_eq(jailed(leave, NULL, &region, SECOND * 10, 64 * MIB, text, sizeof(text)),
			 "ELF_WORKER_DIED");
	cr_assert(strstr(text, "status 7"), "%s", text);
	weft_region_finish(&region);
	/* signal() is no call that it may make */
	cr_assert_str_eq(jailed(crash, NULL, &region, SECOND * 10, 64 * MIB, text, sizeof(text)),
			 "ELF_WORKER_DIED");
	cr_assert(strstr(text, "Bad system call"), "%s", text);
	weft_region_finish(&region);
}

static void spin(struct weft_region *region, const void *job)
{
	(void)job;
	for (volatile uint64_t i = 0;; i++)
		region->base[8] = 1;
}

Test(elf_jail, ELF_TIME_LIMIT)
{
	struct weft_region region;
	char text[256];

	cr_assert_str_eq(jailed(spin, NULL, &region, SECOND / 20, 64 * MIB, text, sizeof(text)),
			 "ELF_TIME_LIMIT");
	cr_assert(strstr(text, "50 ms"), "%s", text);
	weft_region_finish(&region);
}

/* Takes memory until there is none; *job tells how. */
static void eat(struct weft_region *region, const void *job)
{
	size_t *eaten = (size_t *)(void *)(region->base + 8);

	(void)job;
	for (;;) {
		void *p =
			mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			weft_jail_no_memory();
		memset(p, 1, MIB);
		*eaten += MIB;
	}
}

Test(elf_jail, ELF_MEMORY_LIMIT)
{
	struct weft_region region;
	char text[256];
	size_t eaten;

	cr_assert_str_eq(jailed(eat, NULL, &region, SECOND * 20, 32 * MIB, text, sizeof(text)),
			 "ELF_MEMORY_LIMIT");
	cr_assert(strstr(text, "32 MiB"), "%s", text);
	memcpy(&eaten, region.base + 8, sizeof(eaten));
	cr_assert_leq(eaten, 32 * MIB);
	cr_assert_geq(eaten, 16 * MIB);
	weft_region_finish(&region);
}

static void read_past(struct weft_region *region, const void *job)
{
	region->base[8] = ((const volatile char *)job)[8192];
}

Test(elf_jail, ELF_FILE_CHANGED)
{
	char page[3 * 4096] = "x";
	int fd = scratch(page, sizeof(page));
	void *p = mmap(NULL, sizeof(page), PROT_READ, MAP_PRIVATE, fd, 0);
	struct weft_region region;

	cr_assert_neq(p, MAP_FAILED);
	cr_assert_eq(ftruncate(fd, 4096), 0);
	cr_assert_str_eq(jailed(read_past, p, &region, SECOND * 10, 64 * MIB, NULL, 0),
			 "ELF_FILE_CHANGED");
	weft_region_finish(&region);
	close(fd);
}

Test(elf_jail, ELF_WORKER_START)
{
	struct weft_region region;

	/* Without /proc it cannot know what it has, so it is not locked in, so it does not work. */
	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	cr_assert_eq(mount("none", "/proc", "tmpfs", 0, NULL), 0);
	cr_assert_str_eq(jailed(speak, "words", &region, SECOND * 10, 64 * MIB, NULL, 0),
			 "ELF_WORKER_START");
	cr_assert_eq(umount("/proc"), 0);
	cr_assert_str_empty(region.base + region.zone);
	weft_region_finish(&region);
}

/* ---- what it cannot do ---- */

/* Calls straight to the kernel, so that nothing of the C library is in the way. */
struct attempt {
	const char *name;
	long nr, args[6];
	bool allowed; /* with this result */
	long result;
};

static void attempt(struct weft_region *region, const void *job)
{
	const struct attempt *a = job;
	long r = syscall(a->nr, a->args[0], a->args[1], a->args[2], a->args[3], a->args[4],
			 a->args[5]);

	*(long *)(void *)(region->base + 8) = r < 0 ? -errno : r;
}

static char a_path[] = "/etc/passwd";

Test(elf_jail, nothing_but_computing_is_left)
{
	const struct attempt attempts[] = {
		{"open", SYS_open, {(long)a_path, O_RDONLY}, true, -EPERM},
		{"openat", SYS_openat, {AT_FDCWD, (long)a_path, O_RDONLY}, true, -EPERM},
		{"openat2", SYS_openat2, {AT_FDCWD, (long)a_path, 0, 24}, false, 0},
		{"socket", SYS_socket, {AF_UNIX, SOCK_STREAM}, false, 0},
		{"execve", SYS_execve, {(long)a_path}, false, 0},
		{"fork", SYS_fork, {0}, false, 0},
		{"clone", SYS_clone, {SIGCHLD}, false, 0},
		{"clone3", SYS_clone3, {0}, false, 0},
		{"kill", SYS_kill, {0, 0}, false, 0},
		{"ptrace", SYS_ptrace, {PTRACE_TRACEME}, false, 0},
		{"process_vm_writev", SYS_process_vm_writev, {0}, false, 0},
		{"bpf", SYS_bpf, {0}, false, 0},
		{"unlink", SYS_unlink, {(long)a_path}, false, 0},
		{"prctl", SYS_prctl, {0}, false, 0},
		{"setrlimit", SYS_setrlimit, {RLIMIT_AS}, false, 0},
		{"io_uring_setup", SYS_io_uring_setup, {1}, false, 0},
		{"getpid", SYS_getpid, {0}, false, 0},
		{"dup", SYS_dup, {0}, false, 0},
		{"a 32-bit call's number", 0x40000000 + 0, {0}, false, 0},
		{"mmap of a file", SYS_mmap, {0, 4096, PROT_READ, MAP_PRIVATE, 0, 0}, false, 0},
		{"mmap of code",
		 SYS_mmap,
		 {0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0},
		 false,
		 0},
		{"mprotect", SYS_mprotect, {0, 4096, PROT_EXEC}, true, -EPERM},
		{"mremap", SYS_mremap, {0, 4096, 8192, 0}, true, -EPERM},
		{"madvise", SYS_madvise, {0, 4096, 4}, true, -EPERM},
		{"munmap", SYS_munmap, {1, 4096}, true, -EINVAL},
		{"sysinfo", SYS_sysinfo, {(long)a_path}, true, -EPERM},
		/* it has no descriptors */
		{"read", SYS_read, {0, (long)a_path, 1}, true, -EBADF},
		{"write", SYS_write, {1, (long)a_path, 1}, true, -EBADF},
		{"write to standard error", SYS_write, {2, (long)a_path, 1}, true, -EBADF},
	};

	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		struct weft_region region;
		const char *tag =
			jailed(attempt, &attempts[i], &region, SECOND * 10, 64 * MIB, NULL, 0);
		long result;

		memcpy(&result, region.base + 8, sizeof(result));
		cr_expect_str_eq(tag, attempts[i].allowed ? "" : "ELF_WORKER_DIED", "%s: %s",
				 attempts[i].name, tag);
		cr_expect_eq(result, attempts[i].result, "%s: %ld", attempts[i].name, result);
		weft_region_finish(&region);
	}
}

static void hold_descriptors(struct weft_region *region, const void *job)
{
	(void)job;
	for (int fd = 0; fd < 1024; fd++)
		if (read(fd, region->base + 9, 1) >= 0 || errno != EBADF)
			region->base[8] = 1;
}

Test(elf_jail, no_descriptor_reaches_it)
{
	struct weft_region region;
	int pair[2];

	cr_assert_eq(pipe(pair), 0);
	cr_assert_str_empty(jailed(hold_descriptors, NULL, &region, SECOND * 10, 64 * MIB, NULL, 0));
	cr_assert_eq(region.base[8], 0);
	weft_region_finish(&region);
}

/* A tracer started with SIGCHLD ignored has no corpses to look at. */
Test(elf_jail, an_ignored_sigchld_is_no_excuse)
{
	struct weft_region region;

	signal(SIGCHLD, SIG_IGN);
	cr_assert_str_empty(jailed(speak, "words", &region, SECOND * 10, 64 * MIB, NULL, 0));
	weft_region_finish(&region);
	cr_assert_str_eq(jailed(crash_plainly, NULL, &region, SECOND * 10, 64 * MIB, NULL, 0),
			 "ELF_WORKER_DIED");
	weft_region_finish(&region);
}
