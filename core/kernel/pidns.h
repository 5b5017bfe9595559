/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef WEFT_KERNEL_PIDNS_H
#define WEFT_KERNEL_PIDNS_H

#include <stdint.h>

#include "core/error.h"

/* The number that a process of the caller's pid namespace has in the initial one, which is what
 * programs see. In the initial namespace that is the number itself, and costs nothing. -ESRCH:
 * there is no such process. */
int weft_pid_initial(int32_t pid, int32_t *out, struct weft_error *err);

#endif
