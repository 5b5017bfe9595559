/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Values of fixed size that are neither integers nor strings. */
#include "core/compiler/arch.h"
#include "core/compiler/lower.h"

void weft_lower_ipv6(struct weft_lower *lw, const struct weft_node *n, struct weft_place to)
{
	const struct weft_node *bytes = n->kid[0];
	uint32_t mark = lw->frame_used, scratch_mark = lw->scratch_used;
	struct weft_span outer = lw->ir.span;
	weft_vreg length;
	struct weft_place at;
	int64_t known;

	if (n->span.text)
		lw->ir.span = n->span;
	at = weft_lower_temp(lw, bytes->type.cap);
	weft_lower_blob(lw, bytes, at, &length);
	if (!weft_ir_constant(&lw->ir, length, &known) || known != n->type.cap)
		weft_ir_branch_imm(&lw->ir, BPF_JNE, length, n->type.cap,
				   weft_lower_fault(lw, WEFT_LOSS_FAULT_RANGE));
	weft_lower_copy(lw, to, at, n->type.cap);
	lw->frame_used = mark;
	lw->scratch_used = scratch_mark;
	lw->ir.span = outer;
}

void weft_lower_regs(struct weft_lower *lw, struct weft_place to)
{
	lw->program->uses |= WEFT_USES_REGS;
	for (uint32_t i = 0; i < weft_arch.n_regs; i++)
		weft_lower_store(lw, weft_place_at(to, (int32_t)(8 * i)), 8,
				 weft_ir_load(&lw->ir, 8, lw->ctx, weft_arch.regs[i]));
}
