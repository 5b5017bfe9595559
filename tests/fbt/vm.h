/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the suites share that need a kernel whose functions can be traced. */
#ifndef TEST_FBT_VM_H
#define TEST_FBT_VM_H

#include "harness.h"

/* The ways that this kernel has, as Debian builds it; NULL ends. */
const char *const *vm_mechanisms(void);
bool vm_has_kprobe_multi(void);

#endif
