/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The system calls of a jailed parser: read and write (it has no descriptors), exit, memory.
 *
 * Memory means brk, munmap and mmap of anonymous memory that is not executable. mremap, mprotect
 * and madvise fail with EPERM: malloc tries them and manages without. So do open and readlink:
 * libdw looks for files that a file refers to, and has to hear that there are none. Everything
 * else, and any call by another architecture's numbers, ends the process.
 *
 * Written by hand, since it is two dozen instructions and a library for it would be loaded into
 * every run of the tracer.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/elf/jail.h"

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#else
#error "the jail needs this architecture's AUDIT_ARCH_*"
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LOW_WORD(n) (offsetof(struct seccomp_data, args) + (size_t)(n)*8)
#else
#define LOW_WORD(n) (offsetof(struct seccomp_data, args) + (size_t)(n)*8 + 4)
#endif

#define LOAD(offset)           BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define RETURN(verdict)        BPF_STMT(BPF_RET | BPF_K, (verdict))
#define ALLOW(nr)              ON(nr, SECCOMP_RET_ALLOW)
#define REFUSE(nr)             ON(nr, SECCOMP_RET_ERRNO | EPERM)
#define ON(nr, verdict)        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), RETURN(verdict)
#define UNLESS_SET(bits, skip) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, (skip))
#define IF_SET(bits, skip)     BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), (skip), 0)
#define UNLESS_EQUAL(nr, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, (skip))

#ifdef __has_feature
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

int weft_filter_lock(void)
{
	static const struct sock_filter program[] = {
		LOAD(offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(offsetof(struct seccomp_data, nr)),
		ALLOW(__NR_munmap),
		ALLOW(__NR_brk),
		ALLOW(__NR_exit_group),
		ALLOW(__NR_exit),
		ALLOW(__NR_read),
		ALLOW(__NR_write),
		ALLOW(__NR_rt_sigreturn),
#ifdef __SANITIZE_ADDRESS__ /* it asks before every call that does not return */
		ALLOW(__NR_sigaltstack),
#endif
		REFUSE(__NR_mremap),
		REFUSE(__NR_mprotect),
		REFUSE(__NR_madvise),
#ifdef __NR_open
		REFUSE(__NR_open),
		REFUSE(__NR_readlink),
#endif
		REFUSE(__NR_sysinfo),
		REFUSE(__NR_openat),
		REFUSE(__NR_readlinkat),
		UNLESS_EQUAL(__NR_mmap, 5),
		LOAD(LOW_WORD(3)),
		UNLESS_SET(MAP_ANONYMOUS, 3),
		LOAD(LOW_WORD(2)),
		IF_SET(PROT_EXEC, 1),
		RETURN(SECCOMP_RET_ALLOW),
		RETURN(SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog fprog = {
		.len = sizeof(program) / sizeof(program[0]),
		.filter = (struct sock_filter *)program,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &fprog) ? -errno : 0;
}
