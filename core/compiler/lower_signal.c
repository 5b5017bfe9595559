/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Destructive actions: a signal to the process that is running. */
#include "core/compiler/lower.h"

void weft_lower_destructive(struct weft_lower *lw, const struct weft_typed_action *a)
{
	uint32_t done = weft_lower_behind(lw);
	weft_vreg failed;

	failed = WEFT_CALL(&lw->ir, BPF_FUNC_send_signal, WEFT_A_IMM(a->signal));
	weft_ir_branch_imm(&lw->ir, BPF_JNE, failed, 0,
			   weft_lower_loss(lw, WEFT_LOSS_SIGNAL_FAILED, done));
	weft_lower_place_behind(lw, done);
}
