/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A program with probes made by weft/usdt.h, compiled as C and as C++. It passes each probe as
 * often as its argument says, with values that test_header.c knows.
 */
#include <stdint.h>
#include <stdlib.h>
#include <weft/usdt.h>

WEFT_USDT_SEMAPHORE(shop, guarded);
WEFT_USDT_SEMAPHORE(shop, both);

enum below { MINUS_TWO = -2, ZERO };
static int evaluated;

static __attribute__((noinline)) void pass(int i)
{
	int8_t s1 = (int8_t)(-1 - i);
	uint8_t u1 = (uint8_t)(200 + i);
	int16_t s2 = (int16_t)(-300 - i);
	uint16_t u2 = (uint16_t)(60000 + i);
	int32_t s4 = -70000 - i;
	uint32_t u4 = 4000000000u + (uint32_t)i;
	int64_t s8 = INT64_MIN + i;
	uint64_t u8 = UINT64_MAX - (uint64_t)i;
	char text[16] = "a text";
	const char *pointer = text;
	enum below e = MINUS_TWO;

	WEFT_USDT(shop, none);
	WEFT_USDT(shop, one, s4);
	WEFT_USDT(shop, three, s1, u2, pointer);
	WEFT_USDT(shop, twelve, s1, u1, s2, u2, s4, u4, s8, u8, text, (int)e, i == 0,
		  UINT64_C(0xf7f6f5f4f3f2f1f0));
	WEFT_USDT(shop, constants, (signed char)-5, (unsigned char)250, (short)-5,
		  (unsigned short)65531, -5, 4294967291u, INT64_C(-5), UINT64_C(1) << 63);
	WEFT_USDT_GUARDED(shop, guarded, s4, ++evaluated);
	WEFT_USDT(shop, both, 1);
	WEFT_USDT_GUARDED(shop, both, 2);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < n; i++)
		pass(i);
	/* What guarded arguments cost while nobody looks: nothing. */
	return WEFT_USDT_ENABLED(shop, guarded) ? 1 : evaluated ? 2 : 0;
}
