/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Suites that have a long form, for hours and by hand, beside that of every day. */
#ifndef WEFT_TEST_LONG_H
#define WEFT_TEST_LONG_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* WEFT_LONG is set, and not to nothing or 0. */
static inline bool test_is_long(void)
{
	const char *s = getenv("WEFT_LONG");

	return s && *s && strcmp(s, "0") != 0;
}

/* Where a long form that takes one thing after the other begins, counted from 1: WEFT_LONG_FROM. */
static inline unsigned long test_long_from(void)
{
	const char *s = getenv("WEFT_LONG_FROM");
	unsigned long n = s ? strtoul(s, NULL, 10) : 0;

	return n ? n : 1;
}

#endif
