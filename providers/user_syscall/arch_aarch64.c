/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* struct pt_regs: the register of a system call's first argument, x0. */
#if defined(__aarch64__)
#include "kernel.h"

const int16_t us_first_argument = 0;
#endif
