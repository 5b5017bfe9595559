/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A machine for BPF programs: to try code without the kernel, and with helpers that fail. */
#ifndef WEFT_TESTS_COMPILER_MACHINE_H
#define WEFT_TESTS_COMPILER_MACHINE_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs from the first instruction to exit. state is the memory of map 0's value; r1 points to ctx.
 * NULL, or what is wrong: an instruction that is not known, memory out of bounds, registers read
 * before they were written, too many steps. */
const char *machine_run(const struct bpf_insn *insns, uint32_t n, const void *ctx, size_t ctx_size,
			void *state, size_t state_size);

/* The same with helpers: what one returns. args[0] is r1; a map is its index. What it points to
 * must lie in state, which may be longer than map 0's value. */
typedef uint64_t machine_helper(void *arg, int32_t helper, const uint64_t args[5]);
const char *machine_run_calling(const struct bpf_insn *insns, uint32_t n, const void *ctx,
				size_t ctx_size, void *state, size_t state_size,
				machine_helper *helper, void *arg);

#endif
