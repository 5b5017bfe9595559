/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The call, by the instruction: what a C library would add is errno, which is the program's. */
#include <sys/syscall.h>

#include "internal.h"

#if defined(__x86_64__)
/*
 * The kernel leaves the registers as they are. A plain getpid() that the program calls next would
 * find the word still in rdi and fire again: it is cleared.
 */
long weft_user_call(uint64_t word, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	register uint64_t r10 __asm__("r10") = c;
	register uint64_t r8 __asm__("r8") = d;
	register uint64_t r9 __asm__("r9") = e;
	long ret;

	__asm__ volatile("syscall\n\txorl %%edi, %%edi"
			 : "=a"(ret), "+D"(word)
			 : "a"((long)SYS_getpid), "S"(a), "d"(b), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory", "cc");
	return ret;
}
#elif defined(__aarch64__)
long weft_user_call(uint64_t word, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	register uint64_t x0 __asm__("x0") = word;
	register uint64_t x1 __asm__("x1") = a;
	register uint64_t x2 __asm__("x2") = b;
	register uint64_t x3 __asm__("x3") = c;
	register uint64_t x4 __asm__("x4") = d;
	register uint64_t x5 __asm__("x5") = e;
	register long x8 __asm__("x8") = SYS_getpid;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5), "r"(x8)
			 : "memory");
	return (long)x0;
}
#else
#error "the call of this architecture is missing here"
#endif
