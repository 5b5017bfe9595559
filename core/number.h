/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Numbers as users write them: strict, the whole text or nothing, no blanks, no fractions. Each
 * function returns 0, -EINVAL (not such a number) or -ERANGE (one, but it does not fit), and
 * leaves *out alone unless it returns 0. Decimal, or hexadecimal after 0x; a leading zero does not
 * mean octal.
 */
#ifndef WEFT_CORE_NUMBER_H
#define WEFT_CORE_NUMBER_H

#include <stdint.h>

int weft_parse_int(const char *s, int64_t *out);   /* with a '-' in front where it is negative */
int weft_parse_uint(const char *s, uint64_t *out); /* any sign is -EINVAL */

/* Digits and a unit: ns us ms s m h d. Only zero may go without a unit. */
int weft_parse_duration(const char *s, uint64_t *ns);

/* Digits (or 0x and digits) and nothing, or k, m, g in either case: powers of 1024. */
int weft_parse_size(const char *s, uint64_t *bytes);

/* A rate: decimal digits, `/` and ms, s or m, as in 1000/s. */
int weft_parse_rate(const char *s, uint64_t *count, uint64_t *per_ns);

#endif
