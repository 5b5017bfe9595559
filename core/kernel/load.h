/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef WEFT_KERNEL_LOAD_H
#define WEFT_KERNEL_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/kernel/kernel.h"

/* What the verifier's log says at its end. */
struct weft_verdict {
	bool has_insn;
	uint32_t insn;      /* the last instruction that it speaks of */
	const char *reason; /* into the log, not NUL-terminated */
	size_t reason_size;
};
/* Reads a log of n bytes. Without anything to be read, the reason is empty. */
void weft_verdict_read(const char *log, size_t n, struct weft_verdict *out);

/* Loads the instructions of one of the core's own programs, map descriptors already in place. */
int weft_program_load_own(const char *name, const struct weft_load_class *load,
			  const struct bpf_insn *insns, uint32_t n_insns, int *fd,
			  struct weft_error *err);
/* The same of all that a program can have. */
struct weft_bpf_program;
int weft_program_load_made(const struct weft_bpf_program *p, int *fd, struct weft_error *err);

#endif
