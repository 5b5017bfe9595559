/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A library that comes and goes. LIB_FACTOR tells two builds apart. */
long lib_fn(long i);

__attribute__((visibility("default"), noinline)) long lib_fn(long i)
{
	__asm__ volatile("" ::: "memory");
	return LIB_FACTOR * (i + 1);
}
