/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Why the kernel may have said EPERM. */
#ifndef WEFT_KERNEL_PRIVILEGE_H
#define WEFT_KERNEL_PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes a phrase to go after a colon: the capabilities that this process lacks ("CAP_BPF and
 * CAP_PERFMON are missing; run it as root"), or, where it has them all, what else forbids it. */
void weft_privilege_lacking(char *buf, size_t size);

/* Whether kernel.perf_event_paranoid has a value with which kernels of some distributions (Debian's:
 * 3, its default) give no perf event to this process, CAP_PERFMON or not; if so, the value. */
bool weft_privilege_paranoid(int *level);

#endif
