/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory: the BPF stack, the scratch slot, and copying.
 *
 * A scratch slot is { u64 busy; u8 data[] }. It is claimed by exchanging busy 0 -> 1: a program
 * that interrupts another on the same CPU finds it taken and uses the next. All four taken is a
 * firing within a firing within a firing: counted as NESTED, and the clause ends.
 */
#include <errno.h>
#include <string.h>

#include "core/compiler/lower.h"

#define FRAME_MOST 320u /* bytes of the BPF stack that lowering uses; the rest is for spilling */
#define TEMP_MOST  64u  /* a larger piece goes to scratch */
#define UNROLLED   64u  /* bytes that are copied or zeroed one word at a time */

struct weft_place weft_place_at(struct weft_place p, int32_t off)
{
	p.off += off;
	return p;
}

struct weft_place weft_lower_frame(struct weft_lower *lw, uint32_t size)
{
	lw->frame_used += (size + 7) & ~7u;
	if (lw->frame_used > FRAME_MOST)
		weft_lower_status(
			lw, weft_fail_at(lw->err, weft_lower_pos(lw), -E2BIG, "CLAUSE_TOO_LARGE",
					 "the action keeps more in memory than the kernel "
					 "gives a program (%u bytes); use fewer strings",
					 FRAME_MOST));
	if (lw->frame_used > lw->ir.frame_size)
		lw->ir.frame_size = lw->frame_used;
	return (struct weft_place){WEFT_FP, -(int32_t)lw->frame_used};
}

struct weft_place weft_lower_scratch(struct weft_lower *lw, uint32_t size)
{
	struct weft_place p = {lw->scratch, 8 + (int32_t)lw->scratch_used};

	lw->scratch_used += (size + 7) & ~7u;
	weft_lower_status(lw, weft_plan_need_scratch(lw->plan, 8 + lw->scratch_used,
						     weft_lower_pos(lw), lw->err));
	return p;
}

struct weft_place weft_lower_temp(struct weft_lower *lw, uint32_t size)
{
	if (lw->scratch && (size > TEMP_MOST || lw->frame_used + size > FRAME_MOST / 2))
		return weft_lower_scratch(lw, size);
	return weft_lower_frame(lw, size);
}

void weft_lower_claim(struct weft_lower *lw)
{
	weft_vreg slot = weft_ir_variable(&lw->ir), taken;
	uint32_t nested = weft_lower_fault(lw, WEFT_LOSS_NESTED);
	uint32_t claimed = weft_ir_label(&lw->ir);
	uint32_t mark = lw->frame_used;
	struct weft_place index = weft_lower_frame(lw, 8);

	weft_lower_status(lw, weft_plan_need_scratch(lw->plan, 8, weft_lower_pos(lw), lw->err));
	for (uint32_t i = 0; i < WEFT_SCRATCH_SLOTS; i++) {
		weft_lower_store_imm(lw, index, 4, i);
		weft_ir_assign(&lw->ir, slot,
			       WEFT_CALL(&lw->ir, BPF_FUNC_map_lookup_elem,
					 WEFT_A_MAP(WEFT_PLAN_SCRATCH), WEFT_A_FP(index.off)));
		weft_ir_branch_imm(&lw->ir, BPF_JEQ, slot, 0, nested);
		taken = weft_ir_xchg(&lw->ir, slot, 0, weft_ir_const(&lw->ir, 1));
		weft_ir_branch_imm(&lw->ir, BPF_JEQ, taken, 0, claimed);
	}
	weft_ir_jump(&lw->ir, nested);
	weft_ir_place(&lw->ir, claimed);
	lw->scratch = slot;
	lw->frame_used = mark;
}

struct weft_ir_arg weft_lower_address(struct weft_lower *lw, struct weft_place p)
{
	if (p.base == WEFT_FP)
		return WEFT_A_FP(p.off);
	return WEFT_A(weft_ir_alu_imm(&lw->ir, BPF_ADD, p.base, p.off));
}

weft_vreg weft_lower_load(struct weft_lower *lw, struct weft_place p, uint8_t size)
{
	return weft_ir_load(&lw->ir, size, p.base, p.off);
}

void weft_lower_store(struct weft_lower *lw, struct weft_place p, uint8_t size, weft_vreg value)
{
	weft_ir_store(&lw->ir, size, p.base, p.off, value);
}

void weft_lower_store_imm(struct weft_lower *lw, struct weft_place p, uint8_t size, int64_t value)
{
	weft_ir_store_imm(&lw->ir, size, p.base, p.off, value);
}

/* The largest access of n bytes at an offset: on the BPF stack it has to be aligned. */
static uint8_t step_of(uint32_t n, int32_t off)
{
	uint8_t step = n >= 8 ? 8 : n >= 4 ? 4 : n >= 2 ? 2 : 1;

	while (off & (step - 1))
		step /= 2;
	return step;
}

void weft_lower_zero(struct weft_lower *lw, struct weft_place p, uint32_t size)
{
	if (size > UNROLLED && size <= lw->plan->zeros_size) {
		struct weft_ir_arg to = weft_lower_address(lw, p);
		weft_vreg zeros =
			weft_ir_map_value(&lw->ir, WEFT_PLAN_STATE, lw->plan->zeros_offset);

		WEFT_CALL_VOID(&lw->ir, BPF_FUNC_probe_read_kernel, to, WEFT_A_IMM(size),
			       WEFT_A(zeros));
		return;
	}
	for (uint32_t i = 0; i < size;) {
		uint8_t step = step_of(size - i, p.off + (int32_t)i);

		weft_lower_store_imm(lw, weft_place_at(p, (int32_t)i), step, 0);
		i += step;
	}
}

void weft_lower_gaps(struct weft_lower *lw, const struct weft_field_layout *fields, size_t n,
		     uint32_t total, struct weft_place p)
{
	uint32_t at = 0;

	for (size_t i = 0; i <= n; i++) {
		uint32_t next = i < n ? fields[i].offset : total;

		if (next > at)
			weft_lower_zero(lw, weft_place_at(p, (int32_t)at), next - at);
		if (i < n)
			at = fields[i].offset + fields[i].size;
	}
}

void weft_lower_bytes(struct weft_lower *lw, struct weft_place p, const void *bytes, uint32_t size,
		      uint32_t total)
{
	uint32_t i = 0;

	while (i < size) {
		/* A whole word where there is room for one: what is beyond the bytes is zero. */
		uint8_t step = step_of(total - i, p.off + (int32_t)i);
		int64_t word = 0;

		memcpy(&word, (const char *)bytes + i, size - i < step ? size - i : step);
		weft_lower_store_imm(lw, weft_place_at(p, (int32_t)i), step, word);
		i += step;
	}
	if (i < total)
		weft_lower_zero(lw, weft_place_at(p, (int32_t)i), total - i);
}

void weft_lower_copy(struct weft_lower *lw, struct weft_place to, struct weft_place from,
		     uint32_t size)
{
	if (size > UNROLLED) {
		/* Both sides are memory of ours: it cannot fail. */
		struct weft_ir_arg dst = weft_lower_address(lw, to);

		WEFT_CALL_VOID(&lw->ir, BPF_FUNC_probe_read_kernel, dst, WEFT_A_IMM(size),
			       weft_lower_address(lw, from));
		return;
	}
	for (uint32_t i = 0; i < size;) {
		uint8_t step = step_of(size - i, (to.off + (int32_t)i) | (from.off + (int32_t)i));

		weft_lower_store(lw, weft_place_at(to, (int32_t)i), step,
				 weft_lower_load(lw, weft_place_at(from, (int32_t)i), step));
		i += step;
	}
}

void weft_lower_copy_some(struct weft_lower *lw, struct weft_place to, struct weft_place from,
			  weft_vreg n, uint32_t most)
{
	uint32_t skip = weft_ir_label(&lw->ir);
	weft_vreg size = weft_ir_variable(&lw->ir);
	struct weft_ir_arg dst = weft_lower_address(lw, to), src = weft_lower_address(lw, from);

	/* The verifier has to see the bound on the register that the helper gets. */
	weft_ir_pin(&lw->ir, size);
	weft_ir_assign(&lw->ir, size, n);
	weft_ir_branch_imm(&lw->ir, BPF_JGT, size, most, skip);
	WEFT_CALL_VOID(&lw->ir, BPF_FUNC_probe_read_kernel, dst, WEFT_A(size), src);
	weft_ir_place(&lw->ir, skip);
}
