/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/file.h"
#include "support/nearest.h"

static void with_content(const char *text, char *path)
{
	strcpy(path, "/tmp/weft-test-file-XXXXXX");
	int fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

Test(file, numbers)
{
	static const struct {
		const char *text;
		int ret;
		uint64_t value;
	} cases[] = {
		{"0\n", 0, 0},
		{"100000\n", 0, 100000},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"-1\n", -EINVAL, 0},
		{"1 2\n", -EINVAL, 0},
		{"7\n\n", -EINVAL, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char path[64];
		uint64_t value = 0;
		with_content(cases[i].text, path);
		cr_expect_eq(support_read_u64(path, &value), cases[i].ret, "'%s'", cases[i].text);
		cr_expect_eq(value, cases[i].value, "'%s'", cases[i].text);
		unlink(path);
	}
}

Test(file, text_that_does_not_fit)
{
	char path[64], buf[4];

	with_content("1234", path);
	cr_expect_eq(support_read_text(path, buf, 4), -E2BIG, "no room for the NUL");
	unlink(path);
	with_content("123", path);
	cr_expect_eq(support_read_text(path, buf, 4), 3);
	cr_expect_str_eq(buf, "123");
	unlink(path);
	cr_expect_eq(support_read_text(path, buf, 4), -ENOENT);
}

Test(file, nearest_names)
{
	static const char *const names[] = {"hz", "msec", "sec", "hour"};

	cr_expect_str_eq(support_nearest("mesc", names, 4), "msec", "a swap");
	cr_expect_str_eq(support_nearest("hours", names, 4), "hour");
	cr_expect_str_eq(support_nearest("HZZ", names, 4), "hz");
	cr_expect_null(support_nearest("x", names, 4));
	cr_expect_null(support_nearest("fortnight", names, 4));
	cr_expect_null(support_nearest("", names, 4));
}
