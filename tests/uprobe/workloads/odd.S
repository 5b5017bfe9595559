/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions that begin oddly, and a main that calls each seven times. */
	.macro fn name
	.globl \name
	.type \name, @function
\name:
	.endm
	.macro end name
	.size \name, . - \name
	.endm

	.text
	/* The kernel takes vzeroupper for a jump. */
	fn vector_first
	vzeroupper
	mov $1, %eax
	ret
	end vector_first

	/* It puts no probe on a locked instruction; everything behind it is as good, but memory. */
	fn locked_first
	lock incl counter(%rip)
	nop
	ret
	end locked_first

	fn locked_only
	lock incl counter(%rip)
	ret
	end locked_only

	/* Jumps back to behind its first instruction: five times around. */
	fn loops_back
	mov $5, %ecx
1:	push %rax
	pop %rax
	dec %ecx
	jnz 1b
	ret
	end loops_back

	/* Overwrites its first argument before the first cheap instruction. */
	fn overwrites
	xor %edi, %edi
	push %rbx
	pop %rbx
	ret
	end overwrites

	/* Moves the stack pointer before it. */
	fn moves_stack
	sub $24, %rsp
	jmp 1f
1:	add $24, %rsp
	ret
	end moves_stack

	/* Others jump into it. */
	fn entered_twice
	xor %eax, %eax
	.globl second_entry
	.type second_entry, @function
second_entry:
	push %rbx
	pop %rbx
	ret
	.size second_entry, . - second_entry
	end entered_twice

	fn jumps_in
	.byte 0xe9
	.long second_entry - . - 4
	end jumps_in

	fn main
	push %rbx
	mov $7, %ebx
1:	mov $11, %edi
	call vector_first
	call locked_first
	call locked_only
	call loops_back
	mov $11, %edi
	call overwrites
	pushq $42
	pushq $41
	call moves_stack
	add $16, %rsp
	call entered_twice
	call jumps_in
	dec %ebx
	jnz 1b
	pop %rbx
	xor %eax, %eax
	ret
	end main

	.local counter
	.comm counter, 4, 4
	.section .note.GNU-stack, "", @progbits
