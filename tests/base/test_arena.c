/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"

static bool all_zero(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i])
			return false;
	}
	return true;
}

Test(arena, pieces_are_aligned_zeroed_and_apart)
{
	struct weft_arena *arena = weft_arena_create();
	unsigned char *pieces[500];

	for (size_t i = 0; i < 500; i++) {
		size_t size = i * 7 % 300;

		pieces[i] = weft_arena_alloc(arena, size);
		cr_assert_not_null(pieces[i]);
		cr_assert_eq((uintptr_t)pieces[i] % 16, 0, "piece %zu of %zu bytes", i, size);
		cr_assert(all_zero(pieces[i], size));
		memset(pieces[i], (int)(i % 255) + 1, size);
	}
	for (size_t i = 0; i < 500; i++) {
		for (size_t k = 0; k < i * 7 % 300; k++)
			cr_assert_eq(pieces[i][k], i % 255 + 1, "piece %zu was overwritten", i);
	}
	weft_arena_destroy(arena);
}

Test(arena, empty_pieces_have_addresses_of_their_own)
{
	struct weft_arena *arena = weft_arena_create();
	void *a = weft_arena_alloc(arena, 0);
	void *b = weft_arena_alloc(arena, 0);

	cr_expect_not_null(a);
	cr_expect_not_null(b);
	cr_expect_neq(a, b);
	weft_arena_destroy(arena);
}

Test(arena, a_large_piece_does_not_waste_the_current_chunk)
{
	struct weft_arena *arena = weft_arena_create();
	unsigned char *before = weft_arena_alloc(arena, 16);
	unsigned char *large = weft_arena_alloc(arena, 10000000);
	unsigned char *after = weft_arena_alloc(arena, 16);

	cr_assert_not_null(large);
	cr_expect(all_zero(large, 10000000));
	cr_expect(after > before && after - before < 2048,
		  "what follows lies in the chunk that was being filled");
	weft_arena_destroy(arena);
}

Test(arena, sizes_that_overflow_are_refused)
{
	struct weft_arena *arena = weft_arena_create();

	cr_expect_null(weft_arena_alloc(arena, SIZE_MAX));
	cr_expect_null(weft_arena_alloc(arena, SIZE_MAX - 15));
	cr_expect_null(weft_arena_alloc(arena, SIZE_MAX / 2 + 1));
	cr_expect_null(weft_arena_array(arena, SIZE_MAX / 2, 3));
	cr_expect_null(weft_arena_array(arena, SIZE_MAX, SIZE_MAX));
	cr_expect_not_null(weft_arena_array(arena, 0, SIZE_MAX));
	cr_expect_not_null(weft_arena_alloc(arena, 1), "it goes on after a refusal");
	weft_arena_destroy(arena);
}

Test(arena, copies)
{
	struct weft_arena *arena = weft_arena_create();
	static const char bytes[] = {'a', '\0', 'b'};
	char *s;

	cr_expect_str_eq(weft_arena_strdup(arena, "text"), "text");
	cr_expect_str_eq(weft_arena_strdup(arena, ""), "");
	cr_expect_str_eq(weft_arena_strndup(arena, "text", 2), "te");
	cr_expect_str_eq(weft_arena_strndup(arena, "text", 9), "text");
	cr_expect_arr_eq(weft_arena_memdup(arena, bytes, 3), bytes, 3);
	cr_expect_not_null(weft_arena_memdup(arena, NULL, 0));
	s = weft_arena_printf(arena, "%s-%05d", "x", 42);
	cr_expect_str_eq(s, "x-00042");
	s = weft_arena_printf(arena, "%*s", 5000, "end");
	cr_expect_eq(strlen(s), 5000);
	cr_expect_str_eq(s + 4997, "end");
	weft_arena_destroy(arena);
	weft_arena_destroy(NULL);
}

Test(arena, grow_makes_room_for_one_more)
{
	struct item {
		int a, b, c;
	} *items = NULL;
	size_t cap = 0;

	for (size_t n = 0; n < 1000; n++) {
		cr_assert_eq(weft_grow(&items, &cap, n, sizeof(*items)), 0);
		cr_assert_gt(cap, n);
		items[n] = (struct item){(int)n, 1, 2};
	}
	for (size_t n = 0; n < 1000; n++)
		cr_assert_eq(items[n].a, (int)n);
	cr_expect_leq(cap, 2048, "it doubles");
	free(items);
}

Test(arena, grow_refuses_overflow_and_leaves_the_array)
{
	int one = 1, *items = &one;
	size_t cap = SIZE_MAX / 2 + 1;

	cr_expect_eq(weft_grow(&items, &cap, cap, sizeof(*items)), -ENOMEM);
	cap = SIZE_MAX / 8;
	cr_expect_eq(weft_grow(&items, &cap, cap, sizeof(*items) * 8), -ENOMEM);
	cr_expect_eq(items, &one);
	cr_expect_eq(cap, SIZE_MAX / 8);
}
