/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>

#include "output/support.h"

static const struct weft_frame kernel_frames[] = {
	{.address = 0xffffffff81000010, .symbol = "vfs_read", .offset = 0x10, .module = "vmlinux"},
	{.address = 0xffffffffc0000020, .symbol = "ext4_get", .offset = 0x20, .module = "ext4"},
	{.address = 0xffffffffdeadbeef},
};
static const struct weft_frame user_frames[] = {
	{.address = 0x401234,
	 .symbol = "read",
	 .offset = 0xd,
	 .module = "/usr/lib/libc.so.6",
	 .user = true,
	 .file = "io/rea\x1b"
		 "d.c",
	 .line = 26},
	{.address = 0x7f0000001040, .offset = 0x1040, .module = "/usr/bin/x y", .user = true},
	{.address = 0x7f1111111111, .user = true},
};

static void expect_record(const struct weft_record *r, const char *want)
{
	struct capture c;

	capture_begin(&c, "text", 0);
	cr_assert_eq(c.sink.record(c.sink.self, r), 0);
	capture_end(&c);
	cr_expect_str_eq(c.out_text, want);
	cr_expect_str_eq(c.messages_text, "");
	capture_free(&c);
}

Test(text, emit_is_one_line_and_its_stacks)
{
	const struct weft_named_value fields[] = {
		{"program", TEXT("bash")},
		{"ustack", STACK(WEFT_SPACE_USER, user_frames)},
		{"ret", SIGNED(-2)},
		{"title", TEXT("a b\x1b[0m")},
		{"addr", POINTER(0x7fff00001000)},
		{"raw", BYTES("\x00\xff\x10")},
		{"probefunc", PROBE("read")},
		{"stack", STACK(WEFT_SPACE_KERNEL, kernel_frames)},
	};

	expect_record(&(struct weft_record){.time_ns = 12345678901234,
					    .cpu = 3,
					    .probe = "uprobe:libc.so.6:read:return",
					    .fields = fields,
					    .n_fields = COUNT(fields)},
		      "12345.678901 uprobe:libc.so.6:read:return program=bash ret=-2 "
		      "title=\"a b\\x1b[0m\" addr=0x7fff00001000 raw=00ff10 probefunc=read\n"
		      "    ustack:\n"
		      "        read+0xd (/usr/lib/libc.so.6) at io/rea\\x1bd.c:26\n"
		      "        0x7f0000001040 (/usr/bin/x y+0x1040)\n"
		      "        0x7f1111111111\n"
		      "    stack:\n"
		      "        vfs_read+0x10\n"
		      "        ext4_get+0x20 (ext4)\n"
		      "        0xffffffffdeadbeef\n");
}

/* A constant of an enum is its name, the first of two; what has no name is a number. */
Test(text, enums_by_name)
{
	const struct weft_named_value fields[] = {
		{"a", ENUM(1)}, {"b", ENUM(2)}, {"c", ENUM(3)}, {"d", ENUM(-1)}};

	expect_record(
		&(struct weft_record){
			.time_ns = 1000, .probe = "p", .fields = fields, .n_fields = COUNT(fields)},
		"0.000001 p a=RED b=\"a b\" c=3 d=-1\n");
}

Test(text, emit_shows_symbols_addresses_dumps_and_registers)
{
	static const struct weft_reg regs[] = {
		{"rip", 0x401234}, {"rsp", 1}, {"rbp", UINT64_MAX}, {"rax", 0}, {"orig_rax", 2}};
	const struct weft_named_value fields[] = {
		{"u", SYMBOL(WEFT_SPACE_USER, &user_frames[0])},
		{"buf", DUMP("hello world\0\xff~|\x7f!")},
		{"k", SYMBOL(WEFT_SPACE_KERNEL, &kernel_frames[0])},
		{"odd", SYMBOL(WEFT_SPACE_USER, &user_frames[1])},
		{"none", SYMBOL(WEFT_SPACE_KERNEL, &kernel_frames[2])},
		{"v4", INET("\x7f\0\0\1")},
		{"v6", INET("\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\1")},
		{"regs", REGS(regs)},
		{"cgroup", CGROUP("/a b")},
		{"empty", DUMP("")},
	};

	expect_record(
		&(struct weft_record){.probe = "p", .fields = fields, .n_fields = COUNT(fields)},
		"0.000000 p u=\"read+0xd (/usr/lib/libc.so.6) at io/rea\\x1bd.c:26\" k=vfs_read+0x10 "
		"odd=\"0x7f0000001040 (/usr/bin/x y+0x1040)\" none=0xffffffffdeadbeef "
		"v4=127.0.0.1 v6=2001:db8::1 cgroup=\"/a b\"\n"
		"    buf:\n"
		"        00000000  68 65 6c 6c 6f 20 77 6f  72 6c 64 00 ff 7e 7c 7f  "
		"|hello world..~|.|\n"
		"        00000010  21                                                "
		"|!|\n"
		"    regs:\n"
		"        rip      0000000000401234  rsp      0000000000000001  "
		"rbp      ffffffffffffffff  rax      0000000000000000\n"
		"        orig_rax 0000000000000002\n"
		"    empty:\n");
}

Test(text, emit_shows_integers_at_the_extremes)
{
	const struct weft_named_value fields[] = {
		{"a", SIGNED(INT64_MIN)}, {"b", SIGNED(INT64_MAX)},   {"c", UNSIGNED(UINT64_MAX)},
		{"d", POINTER(0)},        {"e", POINTER(UINT64_MAX)},
	};

	expect_record(
		&(struct weft_record){.probe = "begin", .fields = fields, .n_fields = COUNT(fields)},
		"0.000000 begin a=-9223372036854775808 b=9223372036854775807 "
		"c=18446744073709551615 d=0x0 e=0xffffffffffffffff\n");
}

Test(text, printf_ends_its_line_once)
{
	struct weft_format_piece bare[] = {{.literal = "done", .literal_size = 4}};
	struct weft_format_piece ended[] = {{.literal = "done\n", .literal_size = 5}};
	struct weft_format a = {bare, 1, 0}, b = {ended, 1, 0}, none = {NULL, 0, 0};

	expect_record(&(struct weft_record){.probe = "end", .format = &a}, "done\n");
	expect_record(&(struct weft_record){.probe = "end", .format = &b}, "done\n");
	expect_record(&(struct weft_record){.probe = "end", .format = &none}, "\n");
}

Test(text, losses_and_the_end_go_to_messages)
{
	struct capture c;

	capture_begin(&c, "text", 0);
	c.sink.loss(c.sink.self,
		    &(struct weft_loss_report){.tag = "RECORD_BUFFER_FULL",
					       .meaning = "the record buffer was full",
					       .count = 12,
					       .remedy = "raise options.buffer",
					       .where = "a\x1b.yaml:12:9: arg0 / arg1"});
	c.sink.loss(c.sink.self,
		    &(struct weft_loss_report){.tag = "NESTED", .meaning = "nested", .count = 1});
	c.sink.loss(c.sink.self,
		    &(struct weft_loss_report){
			    .tag = "SAMPLED_OUT", .meaning = "sampled", .count = 99, .asked = true});
	c.sink.end(c.sink.self, &(struct weft_end){.reason = "duration"});
	c.sink.end(c.sink.self, &(struct weft_end){.reason = "exit", .status = 3});
	capture_end(&c);
	cr_expect_str_eq(c.out_text, "");
	cr_expect_str_eq(c.messages_text,
			 "lost: 12 x RECORD_BUFFER_FULL: the record buffer was full "
			 "(raise options.buffer) at a\\x1b.yaml:12:9: arg0 / arg1\n"
			 "lost: 1 x NESTED: nested\n"
			 "skipped: 99 x SAMPLED_OUT: sampled\n"
			 "ended: duration\n"
			 "ended: exit, status 3\n");
	capture_free(&c);
}
