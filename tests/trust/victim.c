/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A program that is traced, and looks whether anything of that stays behind. It computes the same
 * sums again and again, by functions and past a guarded static probe, and
 * ends with status 1 at the first wrong one. For each line on standard input it writes one:
 *
 *   ROUNDS same|changed COUNTER
 *
 * how often it went round, whether the code of its functions is byte for byte what it was when it
 * began, and the counter of its static probe. At the end of the input it ends with status 0.
 */
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/usdt.h"

WEFT_USDT_SEMAPHORE(victim, round);

/* Everything in this section is these functions. */
#define CODE __attribute__((noinline, section("victim_code")))
#define WORK(n)                                         \
	CODE long work_##n(long x);                     \
	CODE long work_##n(long x)                      \
	{                                               \
		return x < 2 ? n : work_##n(x / 2) + x; \
	}
#define NAME(n) work_##n,
/* clang-format off: it knows no lists that a macro makes */
#define TEN(f, n) f(n##0) f(n##1) f(n##2) f(n##3) f(n##4) f(n##5) f(n##6) f(n##7) f(n##8) f(n##9)
#define ALL(f) \
	TEN(f, 1) TEN(f, 2) TEN(f, 3) TEN(f, 4) TEN(f, 5) TEN(f, 6) TEN(f, 7) TEN(f, 8) TEN(f, 9)

ALL(WORK)

static long (*const all[])(long) = {ALL(NAME)};
/* clang-format on */
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

extern const char __start_victim_code[], __stop_victim_code[];

static uint64_t hash_of_code(void)
{
	uint64_t h = 14695981039346656037u;

	for (const char *p = __start_victim_code; p < __stop_victim_code; p++)
		h = (h ^ (unsigned char)*p) * 1099511628211u;
	return h;
}

static bool go_round(unsigned long rounds)
{
	for (size_t i = 0; i < COUNT(all); i++)
		if (all[i](40) != 40 + 20 + 10 + 5 + 2 + 10 + (long)i)
			return false;
	WEFT_USDT_GUARDED(victim, round, rounds);
	return true;
}

int main(void)
{
	const uint64_t code = hash_of_code();
	struct pollfd p = {.fd = 0, .events = POLLIN};
	char line[16];

	setvbuf(stdin, NULL, _IONBF, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (unsigned long rounds = 1;; rounds++) {
		if (!go_round(rounds))
			return 1;
		if (poll(&p, 1, 0) != 1)
			continue;
		if (!fgets(line, sizeof(line), stdin))
			return 0;
		printf("%lu %s %u\n", rounds, hash_of_code() == code ? "same" : "changed",
		       (unsigned int)WEFT_USDT_COUNTER_(victim, round));
	}
}
