/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A function with the name of one in target.c. */
long other_round(long i);

#ifdef __clang__
#define STATIC static __attribute__((noinline, used))
#else
#define STATIC static __attribute__((noinline, noclone, used))
#endif

STATIC long helper(long i)
{
	__asm__ volatile("" ::: "memory");
	return i + 2;
}

long other_round(long i)
{
	return helper(i);
}
