/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Many sites of one name: 300 whose arguments lie in 300 places, 400 that are alike, 100 copies of
 * an inlined function; and constants at every width. Compiled with weft/usdt.h and with sys/sdt.h,
 * with and without semaphores, as a program and as a library. It passes each site once for each of
 * its argument's rounds.
 */
#include <stdint.h>
#include <stdlib.h>

#if defined(USE_SDT)
#define SDT_USE_VARIADIC
#if defined(SEMAPHORES)
#define _SDT_HAS_SEMAPHORES 1
#define S(n)                __attribute__((section(".probes"))) volatile unsigned short many_##n##_semaphore;
#else
#define S(n)
#endif
#include <sys/sdt.h>
#define P(n, ...) STAP_PROBEV(many, n, ##__VA_ARGS__)
#define DEFINE(n) S(n)
#define GUARD(n)
#else
#include <weft/usdt.h>
#if defined(SEMAPHORES)
#define P(n, ...) WEFT_USDT_GUARDED(many, n, ##__VA_ARGS__)
#define DEFINE(n) WEFT_USDT_SEMAPHORE(many, n);
#else
#define P(n, ...) WEFT_USDT(many, n, ##__VA_ARGS__)
#define DEFINE(n)
#endif
#endif

DEFINE(distinct)
DEFINE(equal)
DEFINE(inlined)
DEFINE(widths)
DEFINE(none)
DEFINE(three)
DEFINE(twelve)

#define TEN(f, d) f(d##0) f(d##1) f(d##2) f(d##3) f(d##4) f(d##5) f(d##6) f(d##7) f(d##8) f(d##9)
#define HUNDRED(f, d) \
	TEN(f, d##0)  \
	TEN(f, d##1)  \
	TEN(f, d##2)  \
	TEN(f, d##3) TEN(f, d##4) TEN(f, d##5) TEN(f, d##6) TEN(f, d##7) TEN(f, d##8) TEN(f, d##9)

/* A constant and a place in memory of its own at each site. */
#define DISTINCT(i)                                                             \
	static __attribute__((noinline)) void distinct_##i(const int64_t *base) \
	{                                                                       \
		P(distinct, (int64_t)i, base[i - 100]);                         \
	}
HUNDRED(DISTINCT, 1)
HUNDRED(DISTINCT, 2)
HUNDRED(DISTINCT, 3)

#define EQUAL(i)                                                   \
	static __attribute__((noinline)) void equal_##i(int32_t x) \
	{                                                          \
		P(equal, x);                                       \
	}
HUNDRED(EQUAL, 1)
HUNDRED(EQUAL, 2)
HUNDRED(EQUAL, 3)
HUNDRED(EQUAL, 4)

static inline __attribute__((always_inline)) void inlined(int32_t x, const char *s)
{
	P(inlined, x, s);
}

#define BIG UINT64_C(0xf7f6f5f4f3f2f1f0)

static __attribute__((noinline)) void widths(int64_t x)
{
	int8_t s1 = (int8_t)BIG;
	uint8_t u1 = (uint8_t)BIG;
	int16_t s2 = (int16_t)BIG;
	uint16_t u2 = (uint16_t)BIG;
	int32_t s4 = (int32_t)BIG;
	uint32_t u4 = (uint32_t)BIG;
	int64_t s8 = (int64_t)BIG;
	uint64_t u8 = BIG;

	P(none);
	P(widths, s1, u1, s2, u2, s4, u4, s8, u8);
	s1 = (int8_t)(x * 3 - 100);
	u1 = (uint8_t)(x * 3 + 200);
	s2 = (int16_t)(x * 3 - 30000);
	u2 = (uint16_t)(x * 3 + 60000);
	s4 = (int32_t)(x * 3 - 2000000000);
	u4 = (uint32_t)(x * 3 + 4000000000);
	s8 = INT64_MIN + x * 3;
	u8 = UINT64_MAX - (uint64_t)x * 3;
	P(three, s1, u4, s8);
	P(twelve, s1, u1, s2, u2, s4, u4, s8, u8, x, -x, (int8_t)x, (uint16_t)(x + 1));
}

__attribute__((visibility("default"))) int sites(int rounds);
int sites(int rounds)
{
	static int64_t base[300];

	for (int i = 0; i < 300; i++)
		base[i] = 1000 + i;
	for (int round = 0; round < rounds; round++) {
#define CALL_DISTINCT(i) distinct_##i(base);
		HUNDRED(CALL_DISTINCT, 1)
		HUNDRED(CALL_DISTINCT, 2)
		HUNDRED(CALL_DISTINCT, 3)
#define CALL_EQUAL(i) equal_##i(i);
		HUNDRED(CALL_EQUAL, 1)
		HUNDRED(CALL_EQUAL, 2)
		HUNDRED(CALL_EQUAL, 3)
		HUNDRED(CALL_EQUAL, 4)
#define CALL_INLINED(i) inlined(i + round, "inlined");
		HUNDRED(CALL_INLINED, 1)
		widths(round);
	}
	return 0;
}

#if !defined(LIBRARY)
int main(int argc, char **argv)
{
	return sites(argc > 1 ? atoi(argv[1]) : 1);
}
#endif
