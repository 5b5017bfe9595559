/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * For suites in which every allocation fails once, each in a run of its own: they count calls of
 * what allocates, and one of them fails. Which functions that are is said with WRAP, and again to
 * the linker, which leads the calls here (-Wl,--wrap=NAME).
 */
#ifndef WEFT_TEST_SUPPORT_FAILING_H
#define WEFT_TEST_SUPPORT_FAILING_H

#include <stdbool.h>
#include <stddef.h>

static bool armed;
static size_t countdown, calls; /* the call that fails, from 1 on; how many there were */

static bool fails(void)
{
	return armed && ++calls == countdown;
}

static inline void fail_at(size_t call)
{
	countdown = call;
	calls = 0;
	armed = true;
}

static inline bool has_failed(void)
{
	return countdown && calls >= countdown;
}

#define WRAP(type, name, params, args)                      \
	type __real_##name params;                          \
	type __wrap_##name params;                          \
	type __wrap_##name params                           \
	{                                                   \
		return fails() ? NULL : __real_##name args; \
	}

#endif
