/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A library with PROBES static probes of the provider bench, each with two arguments and a site. */
	.altmacro
	.macro site number
9910:	nop
	.pushsection .note.stapsdt, "", %note
	.balign 4
	.4byte 8, 9914f - 9913f, 3
	.asciz "stapsdt"
9913:	.8byte 9910b, _.stapsdt.base, 0
	.asciz "bench"
	.asciz "probe_\number"
	.asciz "-4@%edi 8@-8(%rsp)"
9914:	.balign 4
	.popsection
	.endm

	.text
	.globl bench_sites
	.type bench_sites, @function
bench_sites:
	.set count, 0
	.rept PROBES
	site %count
	.set count, count + 1
	.endr
	ret
	.size bench_sites, . - bench_sites

	.section .stapsdt.base, "aG", %progbits, .stapsdt.base, comdat
	.weak _.stapsdt.base
	.hidden _.stapsdt.base
_.stapsdt.base:
	.zero 1
	.section .note.GNU-stack, "", %progbits
