/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the suites share that need a kernel whose functions can be traced. */
#ifndef TEST_FBT_VM_H
#define TEST_FBT_VM_H

#include "harness.h"

/* The ways that this kernel has, as Debian builds it; NULL ends. */
const char *const *vm_mechanisms(void);
bool vm_has_kprobe_multi(void);

/* How many firings of the program of a probe (as it is written out) found it running. */
uint64_t vm_busy_of(struct rig *r, const char *probe);
/* That nothing was lost; with fentry, nothing but firings that found their program running. */
void vm_expect_no_loss(struct rig *r, const char *mechanism);
/* That the calls of a function that nobody else calls were counted, or told as skipped: exactly. */
void vm_expect_calls(struct rig *r, const char *mechanism, const char *probe, uint64_t counted,
		     uint64_t calls);

#endif
