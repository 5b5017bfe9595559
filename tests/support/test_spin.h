/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Work that keeps CPUs from going idle. Some virtual machines take an idle CPU's timer interrupt
 * without registers, and the kernel makes no sample of that: a test that counts firings on a CPU
 * gives that CPU something to do.
 */
#ifndef WEFT_TEST_SPIN_H
#define WEFT_TEST_SPIN_H

#include <stdint.h>
#include <sys/types.h>

uint64_t test_now(void); /* CLOCK_MONOTONIC, ns */

void test_pin(int cpu);          /* this thread to one CPU; the test fails if it cannot be */
void test_spin_for(uint64_t ns); /* here */
/* The same, on the clock: how many firings of a timer with that period may not have come since this
 * CPU stood still (its host ran something else) or ran something else. */
uint64_t test_spin_watching(uint64_t ns, uint64_t period);
pid_t test_spin_start(int cpu); /* in a child on that CPU; it dies with this process */
void test_spin_stop(pid_t pid);

#endif
