/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/symbols/store.h"

/* Against an array, which cannot be wrong. */
Test(store, map_keeps_what_was_put)
{
	enum { KEYS = 300 };
	struct weft_u64map m = {0};
	void *truth[KEYS] = {NULL};
	char values[KEYS];
	size_t n = 0;

	srand(1);
	cr_expect_null(weft_u64map_get(&m, 0));
	weft_u64map_remove(&m, 0);
	for (int round = 0; round < 20000; round++) {
		size_t k = (size_t)rand() % KEYS;

		if (rand() % 2) {
			void *value = &values[rand() % KEYS];

			n += !truth[k];
			truth[k] = value;
			cr_assert_eq(weft_u64map_put(&m, k * 0x100000001, value), 0);
		} else {
			n -= !!truth[k];
			truth[k] = NULL;
			weft_u64map_remove(&m, k * 0x100000001);
		}
		cr_assert_eq(m.n, n);
		k = (size_t)rand() % KEYS;
		cr_assert_eq(weft_u64map_get(&m, k * 0x100000001), truth[k]);
	}
	for (size_t k = 0; k < KEYS; k++)
		cr_expect_eq(weft_u64map_get(&m, k * 0x100000001), truth[k]);
	weft_u64map_finish(&m);
}

Test(store, texts_exist_once)
{
	struct weft_texts s = {0};
	const char *first[500];
	char text[32], *big = malloc(100000);

	for (int i = 0; i < 500; i++) {
		snprintf(text, sizeof(text), "text %d", i);
		first[i] = weft_texts_intern(&s, text, strlen(text));
		cr_expect_str_eq(first[i], text);
	}
	for (int i = 0; i < 500; i++) {
		snprintf(text, sizeof(text), "text %dmore", i);
		cr_expect_eq(weft_texts_intern(&s, text, strlen(text) - 4), first[i]);
		cr_expect_neq(weft_texts_intern(&s, text, strlen(text)), first[i]);
	}
	memset(big, 'x', 100000);
	cr_expect_eq(strlen(weft_texts_intern(&s, big, 100000)), 100000u);
	cr_expect_str_eq(weft_texts_intern(&s, "", 0), "");
	cr_expect_str_eq(weft_texts_intern(&s, "a\0b", 3), "a");
	free(big);
	weft_texts_finish(&s);
}
