/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* System calls by the instruction, where no function of a library may be called. */
#ifndef WEFT_SESSION_RAW_H
#define WEFT_SESSION_RAW_H

/* Returns what the kernel does: -errno if it fails. Part of whoever calls it at every level of
 * optimisation, so that it is no function itself. */
__attribute__((always_inline)) static inline long weft_raw_call(long number, long a, long b, long c)
{
#if defined(__x86_64__)
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory", "cc");
	return ret;
#elif defined(__aarch64__)
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x8 __asm__("x8") = number;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x8) : "memory");
	return x0;
#else
#error "the system call of this architecture is missing here"
#endif
}

#endif
