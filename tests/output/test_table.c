/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "output/support.h"

static void expect_table(const struct weft_table *t, const char *want)
{
	struct capture c;

	capture_begin(&c, "text", 0);
	cr_assert_eq(c.sink.table(c.sink.self, t), 0);
	capture_end(&c);
	cr_expect_str_eq(c.out_text, want);
	cr_expect_str_eq(c.messages_text, "");
	capture_free(&c);
}

Test(table, count_by_two_keys)
{
	const struct weft_named_value a[] = {{"program", TEXT("bash")}, {"cpu", UNSIGNED(0)}};
	const struct weft_named_value b[] = {{"program", TEXT("Web Content")},
					     {"cpu", UNSIGNED(11)}};
	const struct weft_named_value d[] = {{"program", TEXT("gr\xc3\xbcn")}, {"cpu", UNSIGNED(1)}};
	const struct weft_row rows[] = {
		{.keys = a, .n_keys = 2, .count = 12345},
		{.keys = b, .n_keys = 2, .count = 7},
		{.keys = d, .n_keys = 2, .count = 1},
	};

	expect_table(
		&(struct weft_table){
			.name = "oncpu", .kind = WEFT_ACTION_COUNT, .rows = rows, .n_rows = 3},
		"oncpu (count):\n"
		"  program        cpu  count\n"
		"  bash             0  12345\n"
		"  \"Web Content\"   11      7\n"
		"  gr\xc3\xbcn             1      1\n");
}

Test(table, stacks_lie_below_their_row_kernel_first)
{
	static const struct weft_frame user[] = {
		{.address = 0x40,
		 .symbol = "read",
		 .offset = 4,
		 .module = "/lib/libc.so.6",
		 .user = true},
		{.address = 0x50, .symbol = "main", .offset = 0x25, .module = "/bin/bash", .user = true},
	};
	static const struct weft_frame kernel[] = {
		{.address = 1, .symbol = "vfs_read", .offset = 0x10, .module = "vmlinux"},
	};
	const struct weft_named_value a[] = {{"user", STACK(WEFT_SPACE_USER, user)},
					     {"program", TEXT("bash")},
					     {"kernel", STACK(WEFT_SPACE_KERNEL, kernel)}};
	struct weft_named_value b[] = {{"user", STACK(WEFT_SPACE_USER, user)},
				       {"program", TEXT("sh")},
				       {"kernel", STACK(WEFT_SPACE_KERNEL, kernel)}};
	const struct weft_row rows[] = {{.keys = a, .n_keys = 3, .count = 41},
					{.keys = b, .n_keys = 3, .count = 2}};

	b[2].value.stack.n = 0; /* an empty stack has no line */
	expect_table(
		&(struct weft_table){
			.name = "oncpu", .kind = WEFT_ACTION_COUNT, .rows = rows, .n_rows = 2},
		"oncpu (count):\n"
		"  program  count\n"
		"  bash        41\n"
		"      vfs_read+0x10\n"
		"      read+0x4 (/lib/libc.so.6)\n"
		"      main+0x25 (/bin/bash)\n"
		"  sh           2\n"
		"      read+0x4 (/lib/libc.so.6)\n"
		"      main+0x25 (/bin/bash)\n");
}

Test(table, average_has_its_count_beside_it)
{
	const struct weft_named_value a[] = {{"pid", SIGNED(-1)}};
	const struct weft_named_value b[] = {{"pid", SIGNED(100)}};
	const struct weft_row rows[] = {
		{.keys = a, .n_keys = 1, .count = 3, .value = SIGNED(-10)},
		{.keys = b, .n_keys = 1, .count = 2, .value = UNSIGNED(UINT64_MAX)},
	};

	expect_table(&(struct weft_table){.name = "lat",
					  .kind = WEFT_ACTION_AVG,
					  .unit = "ns",
					  .rows = rows,
					  .n_rows = 2},
		     "lat (avg, ns):\n"
		     "  pid          avg  count\n"
		     "   -1      -3.33ns      3\n"
		     "  100  9223372037s      2\n");
	expect_table(
		&(struct weft_table){
			.name = "lat", .kind = WEFT_ACTION_AVG, .rows = rows, .n_rows = 2},
		"lat (avg):\n"
		"  pid                     avg  count\n"
		"   -1                   -3.33      3\n"
		"  100  9223372036854775807.50      2\n");
}

Test(table, one_number_needs_no_table)
{
	const struct weft_row sum = {.value = SIGNED(INT64_MIN)},
			      max = {.value = UNSIGNED(UINT64_MAX)};
	const struct weft_row avg = {.count = 4, .value = SIGNED(10)}, count = {.count = 9};

	expect_table(
		&(struct weft_table){.name = "s", .kind = WEFT_ACTION_SUM, .rows = &sum, .n_rows = 1},
		"s (sum): -9223372036854775808\n");
	expect_table(
		&(struct weft_table){.name = "m", .kind = WEFT_ACTION_MAX, .rows = &max, .n_rows = 1},
		"m (max): 18446744073709551615\n");
	expect_table(
		&(struct weft_table){.name = "a", .kind = WEFT_ACTION_AVG, .rows = &avg, .n_rows = 1},
		"a (avg): 2.50 of 4\n");
	expect_table(
		&(struct weft_table){
			.name = "c", .kind = WEFT_ACTION_COUNT, .rows = &count, .n_rows = 1},
		"c (count): 9\n");
	expect_table(&(struct weft_table){.name = "c", .kind = WEFT_ACTION_COUNT},
		     "c (count): no rows\n");
}

/* What has a unit is rounded, whatever its kind. */
Test(table, units)
{
	static const struct {
		const char *unit;
		int64_t value;
		const char *text;
	} cases[] = {
		{"ns", 0, "0ns"},
		{"ns", 1, "1ns"},
		{"ns", 999, "999ns"},
		{"ns", 1000, "1us"},
		{"ns", 1024, "1.02us"},
		{"ns", -12345, "-12.3us"},
		{"ns", 999499, "999us"},
		{"ns", 999500, "1ms"},
		{"ns", 123456789, "123ms"},
		{"ns", 10000000000, "10s"},
		{"ns", INT64_MAX, "9223372037s"},
		{"ns", INT64_MIN, "-9223372037s"},
		{"us", 1500, "1.5ms"},
		{"ms", 61000, "61s"},
		{"s", 86400, "86400s"},
		{"bytes", 1023, "1023B"},
		{"bytes", 1024, "1KiB"},
		{"bytes", 4200, "4.1KiB"},
		{"bytes", (INT64_C(1) << 20) - 1, "1MiB"},
		{"bytes", INT64_MAX, "8EiB"},
	};
	static const enum weft_action_kind kinds[] = {WEFT_ACTION_SUM, WEFT_ACTION_MIN,
						      WEFT_ACTION_MAX};
	static const char *const names[] = {"sum", "min", "max"};
	char want[128];

	for (size_t i = 0; i < 3 * COUNT(cases); i++) {
		struct weft_row row = {.value = SIGNED(cases[i / 3].value)};

		snprintf(want, sizeof(want), "v (%s, %s): %s\n", names[i % 3], cases[i / 3].unit,
			 cases[i / 3].text);
		expect_table(&(struct weft_table){.name = "v",
						  .kind = kinds[i % 3],
						  .unit = cases[i / 3].unit,
						  .rows = &row,
						  .n_rows = 1},
			     want);
	}
}

Test(table, stddev_has_mean_and_count_beside_it)
{
	const struct weft_named_value a[] = {{"pid", SIGNED(7)}};
	const struct weft_row rows[] = {
		{.keys = a, .n_keys = 1, .count = 8, .value = SIGNED(40), .stddev = 2}};
	const struct weft_row alone = {.count = 8, .value = SIGNED(40000), .stddev = 2000};

	expect_table(
		&(struct weft_table){
			.name = "j", .kind = WEFT_ACTION_STDDEV, .rows = rows, .n_rows = 1},
		"j (stddev):\n"
		"  pid  stddev   avg  count\n"
		"    7    2.00  5.00      8\n");
	expect_table(&(struct weft_table){.name = "j",
					  .kind = WEFT_ACTION_STDDEV,
					  .unit = "us",
					  .rows = &alone,
					  .n_rows = 1},
		     "j (stddev, us): 2ms around 5ms of 8\n");
}

/* A sum of more than 64 bits is all there. */
Test(table, wide_sums)
{
	const struct weft_row row = {.value = SIGNED(INT64_MAX), .wraps = 1},
			      low = {.value = SIGNED(0), .wraps = INT64_MIN},
			      positive = {.value = UNSIGNED(UINT64_MAX), .wraps = 1};

	expect_table(
		&(struct weft_table){.name = "s", .kind = WEFT_ACTION_SUM, .rows = &row, .n_rows = 1},
		"s (sum): 27670116110564327423\n");
	expect_table(
		&(struct weft_table){.name = "s", .kind = WEFT_ACTION_SUM, .rows = &low, .n_rows = 1},
		"s (sum): -170141183460469231731687303715884105728\n");
	expect_table(
		&(struct weft_table){
			.name = "s", .kind = WEFT_ACTION_SUM, .rows = &positive, .n_rows = 1},
		"s (sum): 36893488147419103231\n");
}

Test(table, scaled_and_cut)
{
	const struct weft_named_value a[] = {{"pid", SIGNED(1)}}, b[] = {{"pid", SIGNED(2)}};
	const struct weft_row rows[] = {
		{.keys = a, .n_keys = 1, .count = 3000, .value = SIGNED(5000000)},
		{.keys = b, .n_keys = 1, .count = 7, .value = SIGNED(1024)},
	};
	struct weft_table t = {
		.name = "n",
		.kind = WEFT_ACTION_COUNT,
		.rows = rows,
		.n_rows = 2,
		.n_left_out = 41,
		.scale = {.per_ns = 1000000000, .elapsed_ns = 2000000000},
	};

	expect_table(&t, "n (count, per 1s), 2 of 43 rows:\n"
			 "  pid    count\n"
			 "    1  1500.00\n"
			 "    2     3.50\n");
	t.n_left_out = 0;
	t.kind = WEFT_ACTION_SUM;
	t.unit = "bytes";
	t.scale.elapsed_ns = 500000000;
	expect_table(&t, "n (sum, bytes, per 1s):\n"
			 "  pid      sum\n"
			 "    1  9.54MiB\n"
			 "    2     2KiB\n");
	t.scale = (struct weft_scale){.divide = 1000};
	t.unit = "ns";
	expect_table(&t, "n (sum, ns, / 1000):\n"
			 "  pid      sum\n"
			 "    1  5000.00\n"
			 "    2     1.02\n");
}

Test(table, hostile_keys_stay_in_their_cell)
{
	const struct weft_named_value a[] = {{"program", TEXT("x\n  fake  99")}};
	const struct weft_named_value b[] = {{"program", TEXT("\x1b[31m")}};
	const struct weft_row rows[] = {{.keys = a, .n_keys = 1, .count = 2},
					{.keys = b, .n_keys = 1, .count = 1}};

	expect_table(
		&(struct weft_table){
			.name = "n", .kind = WEFT_ACTION_COUNT, .rows = rows, .n_rows = 2},
		"n (count):\n"
		"  program          count\n"
		"  \"x\\n  fake  99\"      2\n"
		"  \\x1b[31m             1\n");
}

Test(table, long_tables_are_complete)
{
	enum { ROWS = 20000 };
	struct weft_named_value *keys = calloc(ROWS, sizeof(*keys));
	struct weft_row *rows = calloc(ROWS, sizeof(*rows));
	struct capture c;
	size_t lines = 0;
	char last[64];

	for (size_t i = 0; i < ROWS; i++) {
		keys[i] = (struct weft_named_value){"key", UNSIGNED(i)};
		rows[i] = (struct weft_row){.keys = &keys[i], .n_keys = 1, .count = ROWS - i};
	}
	capture_begin(&c, "text", 0);
	cr_assert_eq(c.sink.table(c.sink.self, &(struct weft_table){.name = "n",
								    .kind = WEFT_ACTION_COUNT,
								    .rows = rows,
								    .n_rows = ROWS}),
		     0);
	capture_end(&c);
	for (const char *p = c.out_text; *p; p++)
		lines += *p == '\n';
	cr_expect_eq(lines, ROWS + 2);
	snprintf(last, sizeof(last), "\n  %5d  %5d\n", ROWS - 1, 1);
	cr_expect(strstr(c.out_text, last) == c.out_text + c.out_size - strlen(last),
		  "ends with %s", last);
	capture_free(&c);
	free(rows);
	free(keys);
}
