/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What differs between architectures, as one table; arch_ARCH.c fills it in. */
#ifndef WEFT_COMPILER_ARCH_H
#define WEFT_COMPILER_ARCH_H

#include <stdint.h>

#define WEFT_ARCH_ARGS 8u

/* Offsets are bytes into the kernel's struct pt_regs, as BPF programs see it. */
struct weft_arch {
	const char *name;
	uint32_t regs_size;
	int16_t ip, sp, retval;
	int16_t c_args[WEFT_ARCH_ARGS]; /* integer arguments of the C convention */
	uint32_t n_c_args;
	int16_t syscall_args[6];
	const int16_t *dwarf; /* by DWARF register number; -1: not in pt_regs */
	uint32_t n_dwarf;
	/* All that `regs` shows, in the order in which people read them. */
	const char *const *reg_names;
	const int16_t *regs;
	uint32_t n_regs;
	/* The context was interrupted in user space if (word at mode & mode_mask) == mode_user. */
	int16_t mode;
	uint32_t mode_mask, mode_user;
};

extern const struct weft_arch weft_arch;

#endif
