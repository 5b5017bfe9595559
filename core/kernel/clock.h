/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* CLOCK_MONOTONIC in ns, ordered against what is read from shared memory afterwards. */
#ifndef WEFT_KERNEL_CLOCK_H
#define WEFT_KERNEL_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Loads that follow in program order are made after the clock was read. The clock is a register of
 * the processor, which fences of memory alone do not order. */
static inline uint64_t weft_clock_before(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
#if defined(__x86_64__)
	__asm__ volatile("lfence" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory");
#endif
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
