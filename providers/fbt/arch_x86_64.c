/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * x86-64. At a function's entry the stack pointer points at the return address. When the function
 * has returned, and a return probe runs instead of the caller, that address has been popped: the
 * handlers of kretprobe and fprobe (both through rethook) give the registers as the caller would
 * see them, with the stack pointer one word further up.
 */
#if defined(__x86_64__)
#include "fbt.h"

#define RSP 7 /* DWARF */

static const struct weft_loc_op entry_ops[] = {{.op = WEFT_LOC_REG, .size = 8, .imm = RSP}};
static const struct weft_loc_op return_ops[] = {
	{.op = WEFT_LOC_REG, .size = 8, .imm = RSP},
	{.op = WEFT_LOC_CONST, .imm = 8},
	{.op = WEFT_LOC_SUB},
};

const struct weft_location weft_fbt_frame_entry = {.ops = entry_ops, .n_ops = 1};
const struct weft_location weft_fbt_frame_return = {.ops = return_ops, .n_ops = 3};
const uint32_t weft_fbt_reg_args = 6;
const struct weft_loc_op weft_fbt_stack_pointer = {.op = WEFT_LOC_REG, .size = 8, .imm = RSP};
const int64_t weft_fbt_stack_args = 8; /* behind the return address */
#endif
