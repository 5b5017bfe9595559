/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>

#include "output/support.h"

static const struct weft_frame user[] = {
	{.address = 0x40, .symbol = "leaf;f\n", .offset = 4, .module = "/lib/libc.so.6", .user = true},
	{.address = 0x50, .offset = 0x25, .module = "/opt/a;b/lib x.so", .user = true},
	{.address = 0x60, .user = true},
	{.address = 0x70, .symbol = "operator new(unsigned long)", .module = "/bin/x", .user = true},
};
static const struct weft_frame kernel[] = {
	{.address = 1, .symbol = "vfs_read", .offset = 0x10, .module = "vmlinux"},
	{.address = 2},
	{.address = 3, .symbol = "entry", .module = "vmlinux"},
};

static void expect_table(const struct weft_table *t, const char *want, const char *messages)
{
	struct capture c;

	capture_begin(&c, "folded", 0);
	cr_assert_eq(c.sink.table(c.sink.self, t), 0);
	cr_assert_eq(c.sink.table(c.sink.self, t), 0);
	capture_end(&c);
	if (*want) { /* twice the same */
		size_t n = strlen(want);

		cr_expect_eq(c.out_size, 2 * n);
		c.out_text[n] = '\0';
	}
	cr_expect_str_eq(c.out_text, want);
	cr_expect_str_eq(c.messages_text, messages);
	capture_free(&c);
}

Test(folded, keys_then_user_then_kernel_outermost_first)
{
	const struct weft_named_value keys[] = {{"k", STACK(WEFT_SPACE_KERNEL, kernel)},
						{"program", TEXT("a;b")},
						{"u", STACK(WEFT_SPACE_USER, user)},
						{"pid", SIGNED(7)},
						{"at", SYMBOL(WEFT_SPACE_USER, &user[0])},
						{"cgroup", CGROUP("/a;\\")},
						{"to", INET("\x0a\0\0\1")}};
	const struct weft_row row = {.keys = keys, .n_keys = 7, .count = 42};

	expect_table(
		&(struct weft_table){
			.name = "t", .kind = WEFT_ACTION_COUNT, .rows = &row, .n_rows = 1},
		"a\\x3bb;7;leaf\\x3bf\\n;/a\\x3b\\\\;10.0.0.1;operator new(unsigned long);[unknown];[lib x.so];leaf\\x3bf\\n;"
		"entry_[k];[unknown]_[k];vfs_read_[k] 42\n",
		"");
}

Test(folded, sums_and_extremes_too)
{
	const struct weft_named_value a[] = {{"k", STACK(WEFT_SPACE_KERNEL, kernel)}};
	struct weft_named_value b[] = {{"k", STACK(WEFT_SPACE_KERNEL, kernel)}};
	const struct weft_row rows[] = {
		{.keys = a, .n_keys = 1, .count = 1, .value = UNSIGNED(UINT64_MAX)},
		{.keys = b, .n_keys = 1, .count = 1, .value = SIGNED(-3)}};
	struct weft_table t = {.name = "t", .kind = WEFT_ACTION_SUM, .rows = rows, .n_rows = 2};

	b[0].value.stack.n = 0;
	expect_table(&t,
		     "entry_[k];[unknown]_[k];vfs_read_[k] 18446744073709551615\n"
		     "[unknown] -3\n",
		     "");
	t.kind = WEFT_ACTION_MAX;
	expect_table(&t,
		     "entry_[k];[unknown]_[k];vfs_read_[k] 18446744073709551615\n"
		     "[unknown] -3\n",
		     "");
}

/* Rows that differ only in offsets read alike here, and alike lines are one, ordered by what they
 * make together. */
Test(folded, lines_that_read_alike_are_one)
{
	static const struct weft_frame here[] = {{.symbol = "f", .offset = 1, .user = true}};
	static const struct weft_frame there[] = {{.symbol = "f", .offset = 9, .user = true}};
	static const struct weft_frame other[] = {{.symbol = "g", .offset = 1, .user = true}};
	const struct weft_named_value a[] = {{"u", STACK(WEFT_SPACE_USER, here)}};
	const struct weft_named_value b[] = {{"u", STACK(WEFT_SPACE_USER, there)}};
	const struct weft_named_value c[] = {{"u", STACK(WEFT_SPACE_USER, other)}};
	const struct weft_row rows[] = {{.keys = c, .n_keys = 1, .count = 5, .value = SIGNED(5)},
					{.keys = a, .n_keys = 1, .count = 4, .value = SIGNED(4)},
					{.keys = b, .n_keys = 1, .count = 3, .value = SIGNED(-3)}};
	struct weft_table t = {.name = "t", .kind = WEFT_ACTION_COUNT, .rows = rows, .n_rows = 3};

	expect_table(&t, "f 7\ng 5\n", "");
	t.kind = WEFT_ACTION_SUM;
	expect_table(&t, "g 5\nf 1\n", "");
	t.kind = WEFT_ACTION_MIN;
	expect_table(&t, "g 5\nf -3\n", "");
	t.kind = WEFT_ACTION_MAX;
	expect_table(&t, "g 5\nf 4\n", "");
}

Test(folded, what_has_no_place_is_said_once)
{
	const struct weft_named_value plain[] = {{"program", TEXT("x")}};
	const struct weft_named_value stack[] = {{"k", STACK(WEFT_SPACE_KERNEL, kernel)}};
	const struct weft_row without = {.keys = plain, .n_keys = 1, .count = 1};
	const struct weft_row with = {.keys = stack, .n_keys = 1, .count = 1};

	expect_table(
		&(struct weft_table){
			.name = "t", .kind = WEFT_ACTION_COUNT, .rows = &without, .n_rows = 1},
		"", "folded: t is left out: it has no stack among its keys\n");
	expect_table(
		&(struct weft_table){
			.name = "q", .kind = WEFT_ACTION_QUANTIZE, .rows = &with, .n_rows = 1},
		"", "folded: q is left out: a line needs one whole number\n");
	expect_table(&(struct weft_table){.name = "e", .kind = WEFT_ACTION_COUNT}, "", "");
}

Test(folded, records_are_said_once)
{
	struct capture c;

	capture_begin(&c, "folded", 0);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(c.sink.record(c.sink.self, &(struct weft_record){.probe = "p"}), 0);
	capture_end(&c);
	cr_expect_str_eq(c.out_text, "");
	cr_expect_str_eq(c.messages_text, "folded: records are left out\n");
	capture_free(&c);
}
