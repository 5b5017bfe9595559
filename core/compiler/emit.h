/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* From the intermediate form with registers to BPF instructions. */
#ifndef WEFT_COMPILER_EMIT_H
#define WEFT_COMPILER_EMIT_H

#include "core/compiler/ir.h"
#include "core/compiler/regalloc.h"
#include "core/plan.h"

/* An instruction whose jump still goes to a label; or a label. */
struct weft_machine_insn {
	struct bpf_insn insn;
	int32_t imm_high; /* the second half of a 64-bit constant */
	uint32_t label;   /* is_label: its number; else the jump's target, 0: none */
	bool is_label;
	bool dropped;
	bool stays; /* a jump that is not to become one with the branch before it */
	uint32_t clause;
	uint32_t ir; /* index of what it was made from */
	struct weft_span span;
};

struct weft_machine {
	struct weft_machine_insn *insns;
	size_t n_insns, cap_insns;
	uint32_t n_labels;
	int status;
};

/* Improves jumps and what stands side by side; marks instructions as dropped. -ENOMEM. */
int weft_peephole(struct weft_machine *m);

/* Fills in insns, spans, clause_of and n_insns of out, in arena. -E2BIG: a jump of the clause
 * *too_far spans more than there are bits for. */
int weft_emit(const struct weft_ir *ir, const struct weft_allocation *regs,
	      struct weft_arena *arena, struct weft_program *out, uint32_t *too_far);

#endif
