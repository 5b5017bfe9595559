/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "tests/kernel/failing.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/arena.h"
#include "support/test_failing.h"

WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t m), (n, m))
WRAP(void *, realloc, (void *p, size_t n), (p, n))
WRAP(void *, weft_arena_alloc, (struct weft_arena * a, size_t n), (a, n))
WRAP(void *, weft_arena_array, (struct weft_arena * a, size_t n, size_t m), (a, n, m))
WRAP(void *, weft_arena_memdup, (struct weft_arena * a, const void *p, size_t n), (a, p, n))

size_t failing_run(int (*work)(void *arg, struct weft_error *err), void *arg)
{
	size_t n = 0;
	int ret;

	for (;;) {
		struct weft_error *err = weft_error_create();

		countdown = n + 1;
		calls = 0;
		armed = true;
		ret = work(arg, err);
		armed = false;
		if (calls < countdown) {
			cr_expect_eq(ret, 0, "without a failure: %s", weft_error_text(err));
			weft_error_destroy(err);
			return n;
		}
		if (ret)
			cr_expect_neq(weft_error_count(err), 0u,
				      "allocation %zu: error %d is not said", n + 1, ret);
		if (ret == -ENOMEM)
			cr_expect_str_eq(weft_error_tag(err), "NO_MEMORY", "allocation %zu", n + 1);
		weft_error_destroy(err);
		n++;
		cr_assert_lt(n, 100000u);
	}
}
