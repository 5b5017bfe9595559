/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions as only an assembler makes them. */
	.text

/* A call is the last instruction, and the next function follows at once. */
	.globl	target_calls_at_its_end
	.type	target_calls_at_its_end, @function
target_calls_at_its_end:
#if defined(__x86_64__)
	push	%rbp
	mov	%rsp, %rbp
	call	target_never_returns@PLT
#elif defined(__aarch64__)
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	bl	target_never_returns
#endif
	.size	target_calls_at_its_end, . - target_calls_at_its_end

	.globl	target_follows_at_once
	.type	target_follows_at_once, @function
target_follows_at_once:
	ret
	.size	target_follows_at_once, . - target_follows_at_once

/* Its size is said, and what follows is nobody's. */
	.balign	16
	.globl	target_sized
	.type	target_sized, @function
target_sized:
	.skip	16, 0
	.size	target_sized, 16
	.hidden	target_gap
	.globl	target_gap
	.type	target_gap, @object
	.size	target_gap, 16
target_gap:
	.skip	16, 0

/* Neither type nor size. */
	.globl	target_assembler
target_assembler:
	.skip	8, 0
target_assembler_label:
	.skip	8, 0

	.globl	target_end_of_text
	.type	target_end_of_text, @function
target_end_of_text:
	ret
	.size	target_end_of_text, . - target_end_of_text

	.section .note.GNU-stack, "", @progbits
