/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which bucket a value falls into: core/buckets.h, in BPF. */
#include "core/compiler/lower.h"

weft_vreg weft_lower_powers(struct weft_lower *lw, weft_vreg value, bool is_unsigned)
{
	weft_vreg sign = WEFT_NO_VREG, v = value, bits = WEFT_NO_VREG;

	if (!is_unsigned) {
		sign = weft_ir_alu_imm(&lw->ir, BPF_ARSH, value, 63);
		v = weft_ir_alu(&lw->ir, BPF_XOR, value, sign);
		v = weft_ir_alu(&lw->ir, BPF_SUB, v, sign);
	}
	/* The number of significant bits, by halving: (0 - x) >> 63 is 1 for 0 < x < 2^63. */
	for (unsigned half = 32; half; half /= 2) {
		weft_vreg upper = weft_ir_alu_imm(&lw->ir, BPF_RSH, v, half), shift;

		shift = weft_ir_alu_imm(&lw->ir, BPF_RSH, weft_ir_neg(&lw->ir, upper), 63);
		shift = weft_ir_alu_imm(&lw->ir, BPF_MUL, shift, half);
		v = weft_ir_alu(&lw->ir, BPF_RSH, v, shift);
		bits = bits ? weft_ir_alu(&lw->ir, BPF_ADD, bits, shift) : shift;
	}
	bits = weft_ir_alu(&lw->ir, BPF_ADD, bits, v); /* what is left of it is 0 or 1 */
	if (is_unsigned)
		return bits;
	bits = weft_ir_alu(&lw->ir, BPF_XOR, bits, sign);
	return weft_ir_alu(&lw->ir, BPF_SUB, bits, sign);
}

/* Goes to label if the value is less than a bound. */
static void branch_less(struct weft_lower *lw, const struct weft_buckets *b, weft_vreg value,
			int64_t bound, uint32_t label)
{
	weft_ir_branch_imm(&lw->ir, b->is_unsigned ? BPF_JLT : BPF_JSLT, value, bound, label);
}

/* bucket = first + (value - from) / width, which is right for a difference of 64 bits. */
static void place_in(struct weft_lower *lw, weft_vreg bucket, weft_vreg value, int64_t from,
		     uint64_t width, int32_t first)
{
	weft_vreg d = weft_ir_alu(&lw->ir, BPF_SUB, value, weft_ir_const(&lw->ir, from));

	d = weft_ir_alu(&lw->ir, BPF_DIV, d, weft_ir_const(&lw->ir, (int64_t)width));
	weft_ir_assign(&lw->ir, bucket, weft_ir_alu_imm(&lw->ir, BPF_ADD, d, first));
}

/* Below the lowest bound the bucket is 0, and the rest is passed over. */
static weft_vreg begin(struct weft_lower *lw, const struct weft_buckets *b, weft_vreg value,
		       int64_t lowest, uint32_t done)
{
	weft_vreg bucket = weft_ir_variable(&lw->ir);

	weft_ir_assign_const(&lw->ir, bucket, 0);
	branch_less(lw, b, value, lowest, done);
	return bucket;
}

static weft_vreg linear(struct weft_lower *lw, weft_vreg value, const struct weft_buckets *b)
{
	uint32_t inside = weft_ir_label(&lw->ir), done = weft_ir_label(&lw->ir);
	weft_vreg bucket = begin(lw, b, value, b->from, done);

	branch_less(lw, b, value, b->to, inside);
	weft_ir_assign_const(&lw->ir, bucket, weft_buckets_last(b));
	weft_ir_jump(&lw->ir, done);
	weft_ir_place(&lw->ir, inside);
	place_in(lw, bucket, value, b->from, b->step, 1);
	weft_ir_place(&lw->ir, done);
	return bucket;
}

static weft_vreg log_linear(struct weft_lower *lw, weft_vreg value, const struct weft_buckets *b)
{
	struct weft_magnitude m = weft_buckets_magnitude(b, b->low);
	uint32_t done = weft_ir_label(&lw->ir);
	weft_vreg bucket = begin(lw, b, value, (int64_t)m.from, done);

	for (uint64_t at = b->low; at <= b->high; at++) {
		uint32_t inside = weft_ir_label(&lw->ir), next = weft_ir_label(&lw->ir);

		m = weft_buckets_magnitude(b, at);
		branch_less(lw, b, value, (int64_t)m.to, inside);
		weft_ir_jump(&lw->ir, next);
		weft_ir_place(&lw->ir, inside);
		place_in(lw, bucket, value, (int64_t)m.from, m.width, m.first);
		weft_ir_jump(&lw->ir, done);
		weft_ir_place(&lw->ir, next);
	}
	weft_ir_assign_const(&lw->ir, bucket, weft_buckets_last(b));
	weft_ir_place(&lw->ir, done);
	return bucket;
}

weft_vreg weft_lower_bucket(struct weft_lower *lw, weft_vreg value, const struct weft_buckets *b)
{
	switch (b->how) {
	case WEFT_BUCKETS_LINEAR:
		return linear(lw, value, b);
	case WEFT_BUCKETS_LOG_LINEAR:
		return log_linear(lw, value, b);
	default:
		return weft_lower_powers(lw, value, b->is_unsigned);
	}
}
