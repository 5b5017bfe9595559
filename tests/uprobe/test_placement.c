/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Code is a stranger's: whatever the bytes are, looking at them ends and reads nothing beside them. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "uprobe.h"

static uint64_t seed = 7;

static uint32_t chance(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

static void nothing(void *arg, uint64_t to)
{
	*(uint64_t *)arg ^= to;
}

Test(placement, hostile_code, .timeout = 100)
{
	/* What a byte at random seldom is: prefixes, and the openings of long instructions. */
	static const uint8_t openings[] = {0x66, 0xf0, 0xf2, 0x48, 0x62, 0xc4, 0xc5, 0x0f,
					   0xe8, 0xe9, 0xff, 0x8f, 0x2e, 0x64, 0xd5, 0x67};
	uint64_t sum = 0;

	for (int round = 0; round < 20000; round++) {
		size_t n = chance(80);
		uint8_t *code = malloc(n ? n : 1); /* exact, so that the sanitizer sees its end */
		struct weft_uprobe_place place;

		cr_assert_not_null(code);
		for (size_t i = 0; i < n; i++)
			code[i] = chance(3) ? (uint8_t)chance(256) : openings[chance(16)];
		weft_uprobe_arch_place(code, n, 0x1000, chance(2), &place);
		cr_assert_not_null(place.reason);
		cr_assert(!place.cheap || place.delta < n);
		if (place.cheap)
			cr_assert_null(weft_uprobe_arch_unfit(code + place.delta, n - place.delta));
		sum += weft_uprobe_arch_begins(code, n, 0x1000, chance(90));
		cr_assert_leq(weft_uprobe_arch_vector_length(code, n), n);
		weft_uprobe_arch_landings(code, n, 0x1000, nothing, &sum);
		free(code);
	}
	cr_log_info("%lu", (unsigned long)sum);
}

struct expectation {
	const char *what;
	uint8_t code[24];
	size_t n;
	bool cheap;
	uint32_t delta, touched;
};

Test(placement, by_hand)
{
	static const struct expectation all[] = {
		{"push rbp; ret", {0x55, 0xc3}, 2, false, 0, 0},
		{"endbr64; push rbp; ret", {0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0xc3}, 6, true, 4, 0},
		{"mov edi, 1; push rbp; ret", {0xbf, 1, 0, 0, 0, 0x55, 0xc3}, 7, true, 5, 1},
		{"sub rsp, 8; jmp +0; ret",
		 {0x48, 0x83, 0xec, 0x08, 0xeb, 0x00, 0xc3},
		 7,
		 true,
		 4,
		 WEFT_UPROBE_TOUCHES_STACK},
		{"mov [rdi], eax; push rbp; ret",
		 {0x89, 0x07, 0x55, 0xc3},
		 4,
		 true,
		 2,
		 WEFT_UPROBE_TOUCHES_MEMORY},
		{"mov rbp, rsp; push rbp; ret",
		 {0x48, 0x89, 0xe5, 0x55, 0xc3},
		 5,
		 true,
		 3,
		 WEFT_UPROBE_TOUCHES_FRAME},
		{"xor eax, eax; ret", {0x31, 0xc0, 0xc3}, 3, false, 0, 0},
		{"syscall; push rbp; ret", {0x0f, 0x05, 0x55, 0xc3}, 4, false, 0, 0},
		/* a jump back to the push */
		{"xor eax, eax; push rbp; pop rbp; jmp -4",
		 {0x31, 0xc0, 0x55, 0x5d, 0xeb, 0xfc},
		 6,
		 false,
		 0,
		 0},
		/* an indirect jump, and a place that saves nothing */
		{"xor eax, eax; jmp +0; jmp rax", {0x31, 0xc0, 0xeb, 0x00, 0xff, 0xe0}, 6, false, 0, 0},
		{"xor eax, eax; push rbx; jmp rax", {0x31, 0xc0, 0x53, 0xff, 0xe0}, 5, true, 2, 0},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct expectation *e = &all[i];
		struct weft_uprobe_place p;

		weft_uprobe_arch_place(e->code, e->n, 0x1000, true, &p);
		cr_expect_eq(p.cheap, e->cheap, "%s: %s", e->what, p.reason);
		cr_expect_eq(p.delta, e->delta, "%s: %u", e->what, p.delta);
		cr_expect_eq(p.touched, e->touched, "%s: %x", e->what, p.touched);
		/* Without its end nothing is proven. */
		weft_uprobe_arch_place(e->code, e->n, 0x1000, false, &p);
		cr_expect(!p.cheap, "%s", e->what);
	}
}
