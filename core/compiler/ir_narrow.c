/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Values that are extended from 32 bits with their sign and then do nothing but decide branches:
 * an int32 in a predicate, the error of a helper. Extension keeps every order, signed and unsigned,
 * and so the lower halves can be compared as they are, which saves two instructions.
 *
 *   t = x << 32; v = t s>> 32; if v s< 10 goto L    ->    v = x; if (32 bits of) v s< 10 goto L
 *
 * Constants that fit 32 bits are extended ones as well.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>

#include "core/compiler/ir.h"

static bool shifts(const struct weft_ir_insn *insn, uint8_t code)
{
	return insn->op == WEFT_IR_ALU && insn->code == code && !insn->b && insn->imm == 32;
}

/* Whether the instruction at i and the one before extend a value. The first's result may have no
 * other user: users counts them. */
static bool extends(const struct weft_ir *ir, size_t i, const uint32_t *users)
{
	const struct weft_ir_insn *insn = &ir->insns[i];

	return i && shifts(insn, BPF_ARSH) && shifts(insn - 1, BPF_LSH) &&
	       insn[-1].dst == insn->a && users[insn->a] == 1 && !ir->vregs[insn->a].is_variable;
}

static bool compares(const struct weft_ir_insn *insn)
{
	return insn->op == WEFT_IR_BRANCH && !insn->b;
}

/* Finds the registers that are more than what branches compare, or not extended. */
static void find_wide(const struct weft_ir *ir, uint32_t *users, bool *wide)
{
	weft_vreg *uses[WEFT_IR_MAX_USES];
	size_t i, n;

	for (i = 0; i < ir->n_insns; i++) {
		for (n = weft_ir_uses(ir, &ir->insns[i], uses); n--;) {
			users[*uses[n]]++;
			wide[*uses[n]] |= !compares(&ir->insns[i]);
		}
	}
	for (i = 0; i < ir->n_insns; i++) {
		const struct weft_ir_insn *insn = &ir->insns[i];

		if (insn->dst && !extends(ir, i, users) &&
		    !(insn->op == WEFT_IR_CONST && insn->imm == (int32_t)insn->imm))
			wide[insn->dst] = true;
	}
}

int weft_ir_narrow(struct weft_ir *ir)
{
	uint32_t *users = calloc(ir->n_vregs, sizeof(*users));
	bool *wide = calloc(ir->n_vregs, sizeof(*wide));
	size_t i, n = 0;

	if (!users || !wide) {
		free(users);
		free(wide);
		return -ENOMEM;
	}
	find_wide(ir, users, wide);
	for (i = 0; i < ir->n_insns; i++) {
		struct weft_ir_insn insn = ir->insns[i];

		if (compares(&insn) && !wide[insn.a]) {
			insn.size = 4;
		} else if (insn.dst && !wide[insn.dst] && extends(ir, i, users)) {
			n--; /* the shift to the left */
			insn.op = WEFT_IR_MOVE;
			insn.a = ir->insns[i - 1].a;
		}
		ir->insns[n++] = insn;
	}
	ir->n_insns = n;
	free(users);
	free(wide);
	return 0;
}
