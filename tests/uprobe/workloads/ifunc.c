/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Two indirect functions: the bodies of one bear its name, those of the other do not. */
#define KEEP __attribute__((used, noinline))

KEEP long varied_avx2(long a)
{
	__asm__ volatile("" ::: "memory");
	return a + 2;
}

KEEP long varied_sse2(long a)
{
	__asm__ volatile("" ::: "memory");
	return a + 1;
}

static long (*choose_varied(void))(long)
{
	return varied_sse2;
}

KEEP long body(long a)
{
	__asm__ volatile("" ::: "memory");
	return a;
}

static long (*choose(void))(long)
{
	return body;
}

long varied(long) __attribute__((ifunc("choose_varied")));
long chosen(long) __attribute__((ifunc("choose")));

int main(void)
{
	return varied(1) + chosen(2) == 0;
}
