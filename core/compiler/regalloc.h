/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From virtual registers to r0-r9. Instruction i reads at position 2i and writes at 2i + 1; the
 * life of a register is the span of positions from its first definition to its last use, widened
 * over the blocks that it lives through.
 */
#ifndef WEFT_COMPILER_REGALLOC_H
#define WEFT_COMPILER_REGALLOC_H

#include <stdbool.h>
#include <stdint.h>

#include "core/compiler/ir.h"

#define WEFT_BPF_STACK 512u /* bytes; MAX_BPF_STACK of the kernel */

struct weft_interval {
	uint32_t start, end; /* both inclusive; start > end: never lives */
	uint32_t touches;    /* definitions and uses */
	uint8_t hint;        /* a register that would save a move; WEFT_NO_HINT */
	bool spared; /* what calls lie between start and end, it does not live across any of them */
};
#define WEFT_NO_HINT 0xffu

/* Fills in intervals[ir->n_vregs]. */
int weft_liveness(const struct weft_ir *ir, struct weft_interval *intervals);

struct weft_allocation {
	uint8_t *reg;         /* by virtual register; valid for those that occur */
	uint32_t n_spilled;   /* virtual registers that went to the stack, for the tests */
	uint32_t stack_bytes; /* of the frame in all */
};

/* Allocates registers, rewriting ir where it spills. -E2BIG: the frame would exceed WEFT_BPF_STACK,
 * stack_bytes saying how much it would need. */
int weft_regalloc(struct weft_ir *ir, struct weft_allocation *out);
void weft_allocation_finish(struct weft_allocation *a);

/* spill.c: gives every register with spill[v] a place on the stack, numbered from *n_slots, and
 * rewrites its uses and definitions by tiny registers; constants are made anew at each use. */
int weft_spill(struct weft_ir *ir, const bool *spill, const struct weft_interval *intervals,
	       uint32_t *n_slots, uint32_t *n_spilled);

#endif
