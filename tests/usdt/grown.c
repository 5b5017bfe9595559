/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What loaded.c is, with the sites of its probe elsewhere: VARIANT 1 has one more, with its
 * argument in memory; 2 has 20, of which no two have theirs in the same place; 3 has one that no
 * clause can ask for, since it is a floating-point number.
 */
#include <stdint.h>
#include <weft/usdt.h>

WEFT_USDT_SEMAPHORE(lib, grown);

__attribute__((visibility("default"))) int lib_sites(void);
__attribute__((visibility("default"))) void lib_pass(int from, int to);

#define TEN(f, d) f(d##0) f(d##1) f(d##2) f(d##3) f(d##4) f(d##5) f(d##6) f(d##7) f(d##8) f(d##9)
int lib_sites(void)
{
	return VARIANT == 3 ? 0 : VARIANT == 2 ? 20 : 1;
}

#if VARIANT == 0
static __attribute__((noinline)) void site(int64_t x)
{
	WEFT_USDT_GUARDED(lib, grown, x);
}
#elif VARIANT == 1
static __attribute__((noinline)) void site(int64_t x)
{
	int64_t volatile pair[4] = {x, x, x, x};

	WEFT_USDT_GUARDED(lib, grown, pair[2]);
}
#elif VARIANT == 2
#define SITE(i)                                                           \
	static __attribute__((noinline)) void site_##i(const int64_t *at) \
	{                                                                 \
		WEFT_USDT_GUARDED(lib, grown, at[i - 10]);                \
	}
TEN(SITE, 1)
TEN(SITE, 2)

static void site(int64_t x)
{
	int64_t at[20];

	for (int i = 0; i < 20; i++)
		at[i] = x;
	__asm__ volatile("" ::: "memory");
#define CALL(i) site_##i(at);
	TEN(CALL, 1)
	TEN(CALL, 2)
}
#else
static __attribute__((noinline)) void site(int64_t x)
{
	/* As other headers write it. */
	__asm__ volatile("990: nop\n"
			 ".pushsection .note.stapsdt,\"?\",\"note\"\n"
			 ".balign 4\n.4byte 992f-991f, 994f-993f, 3\n"
			 "991: .asciz \"stapsdt\"\n992: .balign 4\n"
			 "993: .8byte 990b, _.stapsdt.base, 0\n"
			 ".asciz \"lib\"\n.asciz \"grown\"\n.asciz \"8f@%%xmm0\"\n"
			 "994: .balign 4\n.popsection\n" ::"r"(x));
}
#endif

void lib_pass(int from, int to)
{
	for (int64_t i = from; i < to; i++)
		site(i);
}
