/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* t0 to t9999, each called once. */
	.altmacro
	.macro fn n
	.globl t\n
	.type t\n, @function
t\n:
	nop
	ret
	.size t\n, . - t\n
	.endm
	.macro go n
	call t\n
	.endm

	.text
	.set i, 0
	.rept 10000
	fn %i
	.set i, i + 1
	.endr

	.globl main
	.type main, @function
main:
	sub $8, %rsp
	.set i, 0
	.rept 10000
	go %i
	.set i, i + 1
	.endr
	add $8, %rsp
	xor %eax, %eax
	ret
	.size main, . - main
	.section .note.GNU-stack, "", @progbits
