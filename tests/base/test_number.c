/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>

#include "core/number.h"

#define N(a)      (sizeof(a) / sizeof((a)[0]))
#define UNTOUCHED UINT64_C(0xdeadbeef)

struct row {
	const char *text;
	int result;
	uint64_t value;
};

static void check(const char *what, int (*parse)(const char *, uint64_t *), const struct row *rows,
		  size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t v = UNTOUCHED;
		int rc = parse(rows[i].text, &v);

		cr_expect_eq(rc, rows[i].result, "%s '%s' returned %d, not %d", what, rows[i].text,
			     rc, rows[i].result);
		cr_expect_eq(v, rows[i].result ? UNTOUCHED : rows[i].value, "%s '%s' gave %" PRIu64,
			     what, rows[i].text, v);
	}
}

Test(number, uint)
{
	static const struct row rows[] = {
		{"0", 0, 0},
		{"1", 0, 1},
		{"007", 0, 7},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE, 0},
		{"18446744073709551620", -ERANGE, 0},
		{"99999999999999999999999999", -ERANGE, 0},
		{"000000000000000000000000001", 0, 1},
		{"0x0", 0, 0},
		{"0xff", 0, 255},
		{"0XfF", 0, 255},
		{"0xffffffffffffffff", 0, UINT64_MAX},
		{"0x10000000000000000", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"x", -EINVAL, 0},
		{"0x", -EINVAL, 0},
		{"0xg", -EINVAL, 0},
		{"1a", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
		{"1.0", -EINVAL, 0},
		{"1e3", -EINVAL, 0},
		{"1_000", -EINVAL, 0},
		{"99999999999999999999x", -EINVAL, 0},
		{"\xd9\xa1", -EINVAL, 0}, /* a digit of another script */
	};

	check("uint", weft_parse_uint, rows, N(rows));
}

Test(number, int)
{
	static const struct {
		const char *text;
		int result;
		int64_t value;
	} rows[] = {
		{"0", 0, 0},
		{"-0", 0, 0},
		{"-1", 0, -1},
		{"9223372036854775807", 0, INT64_MAX},
		{"9223372036854775808", -ERANGE, 0},
		{"-9223372036854775808", 0, INT64_MIN},
		{"-9223372036854775809", -ERANGE, 0},
		{"18446744073709551616", -ERANGE, 0},
		{"0x7fffffffffffffff", 0, INT64_MAX},
		{"0x8000000000000000", -ERANGE, 0},
		{"-0x8000000000000000", 0, INT64_MIN},
		{"-0x10", 0, -16},
		{"", -EINVAL, 0},
		{"-", -EINVAL, 0},
		{"--1", -EINVAL, 0},
		{"- 1", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{"1k", -EINVAL, 0},
	};

	for (size_t i = 0; i < N(rows); i++) {
		int64_t v = 77;
		int rc = weft_parse_int(rows[i].text, &v);

		cr_expect_eq(rc, rows[i].result, "'%s' returned %d", rows[i].text, rc);
		cr_expect_eq(v, rows[i].result ? 77 : rows[i].value, "'%s' gave %" PRId64,
			     rows[i].text, v);
	}
}

Test(number, duration)
{
	static const struct row rows[] = {
		{"0", 0, 0},
		{"0s", 0, 0},
		{"1ns", 0, 1},
		{"5us", 0, 5000},
		{"10ms", 0, 10000000},
		{"2s", 0, UINT64_C(2000000000)},
		{"3m", 0, UINT64_C(180000000000)},
		{"1h", 0, UINT64_C(3600000000000)},
		{"1d", 0, UINT64_C(86400000000000)},
		{"18446744073709551615ns", 0, UINT64_MAX},
		{"18446744073709551616ns", -ERANGE, 0},
		{"18446744073s", 0, UINT64_C(18446744073000000000)},
		{"18446744074s", -ERANGE, 0},
		{"213503d", 0, UINT64_C(18446659200000000000)},
		{"213504d", -ERANGE, 0},
		{"99999999999999999999s", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"1", -EINVAL, 0},
		{"00", -EINVAL, 0},
		{"s", -EINVAL, 0},
		{"1 s", -EINVAL, 0},
		{"1S", -EINVAL, 0},
		{"1sec", -EINVAL, 0},
		{"1s ", -EINVAL, 0},
		{"-1s", -EINVAL, 0},
		{"1.5s", -EINVAL, 0},
		{"0x1d", -EINVAL, 0},
		{"1s1ms", -EINVAL, 0},
		{"99999999999999999999y", -EINVAL, 0},
	};

	check("duration", weft_parse_duration, rows, N(rows));
}

Test(number, size)
{
	static const struct row rows[] = {
		{"0", 0, 0},
		{"4096", 0, 4096},
		{"4k", 0, 4096},
		{"4K", 0, 4096},
		{"1m", 0, 1048576},
		{"1M", 0, 1048576},
		{"2g", 0, UINT64_C(2147483648)},
		{"2G", 0, UINT64_C(2147483648)},
		{"0x10k", 0, 16384},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18014398509481983k", 0, UINT64_C(18446744073709550592)},
		{"18014398509481984k", -ERANGE, 0},
		{"17179869183g", 0, UINT64_C(18446744072635809792)},
		{"17179869184g", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"k", -EINVAL, 0},
		{"4kb", -EINVAL, 0},
		{"4 k", -EINVAL, 0},
		{"4t", -EINVAL, 0},
		{"-4k", -EINVAL, 0},
		{"1.5k", -EINVAL, 0},
	};

	check("size", weft_parse_size, rows, N(rows));
}
