/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sums that are exact beyond 64 bits. A word is added to by an atomic instruction that gives what
 * it was before; from that the program knows whether its own addition overflowed, and only then
 * touches the next word. The words' layout: core/plan.h.
 */
#include "core/compiler/lower.h"

/* word += value; goes to `fits` unless that overflowed, as unsigned numbers do. */
static void add_carrying(struct weft_lower *lw, weft_vreg row, uint32_t word, weft_vreg value,
			 uint32_t fits)
{
	weft_vreg old = weft_ir_fetch_add(&lw->ir, row, 8 * (int32_t)word, value);

	weft_ir_branch(&lw->ir, BPF_JGE, weft_ir_alu(&lw->ir, BPF_ADD, old, value), value, fits);
}

void weft_lower_add_sum(struct weft_lower *lw, weft_vreg row, uint32_t word, weft_vreg value,
			bool is_unsigned)
{
	uint32_t fits = weft_ir_label(&lw->ir);
	weft_vreg old, sum, overflow, carry;
	int64_t k;

	if (weft_ir_constant(&lw->ir, value, &k) && !k)
		return;
	if (is_unsigned) {
		add_carrying(lw, row, word, value, fits);
		carry = weft_ir_const(&lw->ir, 1);
	} else {
		/* It overflowed if the sum has another sign than both of what was added. */
		old = weft_ir_fetch_add(&lw->ir, row, 8 * (int32_t)word, value);
		sum = weft_ir_alu(&lw->ir, BPF_ADD, old, value);
		overflow = weft_ir_alu(&lw->ir, BPF_AND, weft_ir_alu(&lw->ir, BPF_XOR, old, sum),
				       weft_ir_alu(&lw->ir, BPF_XOR, sum, value));
		weft_ir_branch_imm(&lw->ir, BPF_JSGE, overflow, 0, fits);
		carry = weft_ir_alu_imm(&lw->ir, BPF_ARSH, value, 63);
		carry = weft_ir_alu_imm(&lw->ir, BPF_OR, carry, 1);
	}
	weft_ir_atomic(&lw->ir, BPF_ADD, row, 8 * (int32_t)(word + 1), carry);
	weft_ir_place(&lw->ir, fits);
}

/*
 * With x = a * 2^32 + b the square is a^2 * 2^64 + ab * 2^33 + b^2; its upper half is less than
 * 2^64 - 1, so that a carry into it never overflows.
 */
void weft_lower_add_square(struct weft_lower *lw, weft_vreg row, uint32_t word, weft_vreg value,
			   bool is_unsigned)
{
	uint32_t fits = weft_ir_label(&lw->ir), done = weft_ir_label(&lw->ir);
	weft_vreg x = value, a, b, ab, low, high = weft_ir_variable(&lw->ir), sign;
	int64_t k;

	if (weft_ir_constant(&lw->ir, value, &k) && !k)
		return;
	if (!is_unsigned) {
		sign = weft_ir_alu_imm(&lw->ir, BPF_ARSH, value, 63);
		x = weft_ir_alu(&lw->ir, BPF_XOR, value, sign);
		x = weft_ir_alu(&lw->ir, BPF_SUB, x, sign);
	}
	a = weft_ir_alu_imm(&lw->ir, BPF_RSH, x, 32);
	b = weft_ir_extend(&lw->ir, x, 4, false);
	ab = weft_ir_alu(&lw->ir, BPF_MUL, a, b);
	b = weft_ir_alu(&lw->ir, BPF_MUL, b, b);
	low = weft_ir_alu(&lw->ir, BPF_ADD, b, weft_ir_alu_imm(&lw->ir, BPF_LSH, ab, 33));
	weft_ir_assign(&lw->ir, high, weft_ir_alu(&lw->ir, BPF_MUL, a, a));
	weft_ir_apply(&lw->ir, BPF_ADD, high, weft_ir_alu_imm(&lw->ir, BPF_RSH, ab, 31));
	weft_ir_apply(&lw->ir, BPF_ADD, high, weft_ir_set(&lw->ir, BPF_JLT, low, b));
	add_carrying(lw, row, word, low, fits);
	weft_ir_step(&lw->ir, BPF_ADD, high, 1);
	weft_ir_place(&lw->ir, fits);
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, high, 0, done); /* most squares are small */
	add_carrying(lw, row, word + 1, high, done);
	weft_ir_atomic(&lw->ir, BPF_ADD, row, 8 * (int32_t)(word + 2), weft_ir_const(&lw->ir, 1));
	weft_ir_place(&lw->ir, done);
}
