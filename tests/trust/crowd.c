/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A program with places for probes by the thousand, all in one section: CROWD_FUNCTIONS functions,
 * of one instruction before they return, and CROWD_SITES sites of one guarded static probe. It says
 * where they are, in a line of numbers, and waits for the end of its input:
 *
 *   ADDRESS LENGTH ADDRESS_OF_COUNTER
 */
#include <stdio.h>

#include "weft/usdt.h"

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

__asm__(".set crowd_functions, " TEXT(CROWD_FUNCTIONS));
__asm__(".pushsection crowd_code, \"ax\", %progbits\n"
	".macro one_of_the_crowd n\n"
	"	.type many_\\n, %function\n"
	"many_\\n:\n"
	"	nop\n"
	"	ret\n"
	"	.size many_\\n, .-many_\\n\n"
	".endm\n"
	".altmacro\n"
	".set i, 0\n"
	".rept crowd_functions\n"
	"	one_of_the_crowd %i\n"
	"	.set i, i + 1\n"
	".endr\n"
	".noaltmacro\n"
	".popsection\n");

WEFT_USDT_SEMAPHORE(crowd, site);

#define ONE       WEFT_USDT_GUARDED(crowd, site);
#define TEN(what) what what what what what what what what what what

_Static_assert(CROWD_SITES == 1000, "as many as are written down");

__attribute__((noinline, section("crowd_code"))) static void pass(void)
{
	TEN(TEN(TEN(ONE)))
}

extern const char __start_crowd_code[], __stop_crowd_code[];

int main(void)
{
	pass();
	printf("%lu %lu %lu\n", (unsigned long)__start_crowd_code,
	       (unsigned long)(__stop_crowd_code - __start_crowd_code),
	       (unsigned long)&WEFT_USDT_COUNTER_(crowd, site));
	fflush(stdout);
	return getchar() == EOF ? 0 : 1;
}
