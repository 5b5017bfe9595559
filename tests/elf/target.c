/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the files are made of whose symbols and types are to be read. */
#include <stddef.h>
#include <stdint.h>

/* Its first bytes are these and no others: its place in the file can be checked. */
__asm__(".text\n"
	".globl target_marker\n"
	".type target_marker, @function\n"
	"target_marker:\n"
	".byte 0xc3, 0x57, 0x45, 0x46, 0x54, 0x6d, 0x61, 0x72, 0x6b, 0x21\n"
	".size target_marker, 10\n"
	".globl target_alias\n"
	".type target_alias, @function\n"
	".set target_alias, target_marker\n"
	".globl target_untyped\n"
	"target_untyped:\n"
	"ret\n");

int target_data = 7;
int target_bss[100];
_Thread_local int target_tls = 1;

int target_cxx(int n) __asm__("_ZN2ns4type6methodEi");
int target_cxx(int n)
{
	return n + 1;
}

int target_template(int n) __asm__("_ZN2ns5twiceIiEET_S1_");
int target_template(int n)
{
	return n + 2;
}

int target_rust(int n) __asm__("_RNvCs1234_7mycrate3foo");
int target_rust(int n)
{
	return n + 3;
}

int target_rust_legacy(int n) __asm__("_ZN7mycrate3bar17h05af221e174051e9E");
int target_rust_legacy(int n)
{
	return n + 4;
}

static __attribute__((noinline, used)) int target_local(int n)
{
	__asm__ volatile("");
	return n + 5;
}

static int resolved(int n)
{
	return n + 6;
}

static int (*resolver(void))(int)
{
	return resolved;
}

int target_indirect(int n) __attribute__((ifunc("resolver")));

#ifdef TARGET_LIBRARY
int versioned_old(int n);
int versioned_old(int n)
{
	return n;
}

int versioned_new(int n);
int versioned_new(int n)
{
	return n + 1;
}

__asm__(".symver versioned_old, versioned@V1");
__asm__(".symver versioned_new, versioned@@V2");
#else
int main(void)
{
	return target_local(target_data) + target_tls + target_bss[1];
}
#endif
