/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/number.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit durations[] = {
	{"ns", 1},
	{"us", UINT64_C(1000)},
	{"ms", UINT64_C(1000000)},
	{"s", UINT64_C(1000000000)},
	{"m", UINT64_C(60000000000)},
	{"h", UINT64_C(3600000000000)},
	{"d", UINT64_C(86400000000000)},
	{NULL, 0},
};

static const struct unit sizes[] = {
	{"", 1},
	{"k", UINT64_C(1) << 10},
	{"K", UINT64_C(1) << 10},
	{"m", UINT64_C(1) << 20},
	{"M", UINT64_C(1) << 20},
	{"g", UINT64_C(1) << 30},
	{"G", UINT64_C(1) << 30},
	{NULL, 0},
};

static int digit_value(char c, unsigned int base)
{
	int v = -1;

	if (c >= '0' && c <= '9')
		v = c - '0';
	else if (c >= 'a' && c <= 'f')
		v = c - 'a' + 10;
	else if (c >= 'A' && c <= 'F')
		v = c - 'A' + 10;
	return v >= 0 && (unsigned int)v < base ? v : -1;
}

/* Reads the digits at *s and moves *s behind them. A number that is too large is read to its end
 * all the same: "99999999999999999999x" is no number at all rather than one out of range. */
static int read_digits(const char **s, uint64_t *out, bool *too_large)
{
	unsigned int base = 10;
	const char *p = *s;
	uint64_t v = 0;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		base = 16;
		p += 2;
	}
	if (digit_value(*p, base) < 0)
		return -EINVAL;
	*too_large = false;
	for (int d; (d = digit_value(*p, base)) >= 0; p++) {
		if (__builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)d, &v))
			*too_large = true;
	}
	*s = p;
	*out = v;
	return 0;
}

int weft_parse_uint(const char *s, uint64_t *out)
{
	bool too_large;
	uint64_t v;
	int rc;

	rc = read_digits(&s, &v, &too_large);
	if (rc || *s != '\0')
		return -EINVAL;
	if (too_large)
		return -ERANGE;
	*out = v;
	return 0;
}

int weft_parse_int(const char *s, int64_t *out)
{
	bool negative = *s == '-';
	uint64_t most = (uint64_t)INT64_MAX + (negative ? 1 : 0);
	uint64_t v;
	int rc;

	rc = weft_parse_uint(s + (negative ? 1 : 0), &v);
	if (rc)
		return rc;
	if (v > most)
		return -ERANGE;
	*out = (int64_t)(negative ? 0 - v : v);
	return 0;
}

static int parse_with_unit(const char *s, const struct unit *units, uint64_t *out)
{
	bool too_large;
	uint64_t v;
	int rc;

	rc = read_digits(&s, &v, &too_large);
	if (rc)
		return rc;
	while (units->name && strcmp(units->name, s) != 0)
		units++;
	if (!units->name)
		return -EINVAL;
	if (too_large || __builtin_mul_overflow(v, units->factor, &v))
		return -ERANGE;
	*out = v;
	return 0;
}

int weft_parse_duration(const char *s, uint64_t *ns)
{
	/* Hexadecimal would make 0x1d ambiguous. */
	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		return -EINVAL;
	if (strcmp(s, "0") == 0) {
		*ns = 0;
		return 0;
	}
	return parse_with_unit(s, durations, ns);
}

int weft_parse_size(const char *s, uint64_t *bytes)
{
	return parse_with_unit(s, sizes, bytes);
}

int weft_parse_rate(const char *s, uint64_t *count, uint64_t *per_ns)
{
	static const char *const units[] = {"ms", "s", "m"};
	bool too_large;
	uint64_t n;
	int rc;

	if (s[0] == '0' && s[1] != '/')
		return -EINVAL;
	rc = read_digits(&s, &n, &too_large);
	if (rc || *s++ != '/')
		return -EINVAL;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(s, units[i]))
			continue;
		if (too_large)
			return -ERANGE;
		for (const struct unit *u = durations; u->name; u++)
			if (!strcmp(u->name, units[i]))
				*per_ns = u->factor;
		*count = n;
		return 0;
	}
	return -EINVAL;
}
