/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Why the kernel may have said EPERM. */
#ifndef WEFT_KERNEL_PRIVILEGE_H
#define WEFT_KERNEL_PRIVILEGE_H

#include <stddef.h>

/* Writes a phrase to go after a colon: the capabilities that this process lacks ("CAP_BPF and
 * CAP_PERFMON are missing; run it as root"), or, where it has them all, what else forbids it. */
void weft_privilege_lacking(char *buf, size_t size);

#endif
