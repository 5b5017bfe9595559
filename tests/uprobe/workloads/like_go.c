/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Has the section by which Go programs are known, and functions whose ways out cannot all be probed. */
#define KEEP __attribute__((noinline, used))

__attribute__((section(".go.buildinfo"), used)) static const char info[] = "\xff Go buildinf:";

KEEP void never(void)
{
	for (;;)
		__asm__ volatile("");
}

__asm__(".text\n"
	".globl leaves\n.type leaves, @function\n"
	"leaves:\n	jmp never\n.size leaves, .-leaves\n"
	".globl chooses\n.type chooses, @function\n"
	"chooses:\n	test %edi, %edi\n	jne 1f\n	ret\n1:	jmp *%rsi\n.size chooses, .-chooses\n");

int main(void)
{
	return 0;
}
