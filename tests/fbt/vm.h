/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the suites share that need a kernel whose functions can be traced. */
#ifndef TEST_FBT_VM_H
#define TEST_FBT_VM_H

#include "harness.h"

/* The ways that this kernel has, as Debian builds it; NULL ends. */
const char *const *vm_mechanisms(void);
bool vm_has_kprobe_multi(void);

/* That nothing was lost; with fentry, nothing but firings that found the program running, of which
 * it is told how many. */
uint64_t vm_busy(struct rig *r, const char *mechanism);
/* That all calls were counted; with fentry, all but those skipped, which may be others' as well. */
void vm_expect_calls(struct rig *r, const char *mechanism, uint64_t counted, uint64_t calls);

#endif
