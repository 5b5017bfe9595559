/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>

#include "support/tracefs.h"

static const char format[] = "name: sys_enter_write\nID: 840\nformat:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
			     "\n"
			     "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
			     "\tfield:const char * buf;\toffset:24;\tsize:8;\tsigned:0;\n"
			     "\tfield:unsigned long args[6];\toffset:32;\tsize:48;\tsigned:0;\n"
			     "\tfield:char *glued;\toffset:80;\tsize:8;\tsigned:0;\n"
			     "\nprint fmt: \"fd: 0x%08lx\", ((unsigned long)(REC->fd))\n";

Test(tracefs, fields_of_a_format)
{
	static const struct {
		const char *name;
		struct support_field want;
	} cases[] = {
		{"common_type", {0, 2, false, false}}, {"common_pid", {4, 4, true, false}},
		{"filename", {8, 4, false, true}},     {"buf", {24, 8, false, false}},
		{"args", {32, 48, false, false}},      {"glued", {80, 8, false, false}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct support_field f;
		cr_assert_eq(support_format_field(format, cases[i].name, &f), 0, "%s",
			     cases[i].name);
		cr_expect_eq(f.offset, cases[i].want.offset, "%s", cases[i].name);
		cr_expect_eq(f.size, cases[i].want.size, "%s", cases[i].name);
		cr_expect_eq(f.is_signed, cases[i].want.is_signed, "%s", cases[i].name);
		cr_expect_eq(f.data_loc, cases[i].want.data_loc, "%s", cases[i].name);
	}
}

Test(tracefs, absent_fields)
{
	static const char *const absent[] = {"fd", "type", "pid", "char", "", "name", "arg"};
	struct support_field f;

	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		cr_expect_eq(support_format_field(format, absent[i], &f), -ENOENT, "'%s'",
			     absent[i]);
	cr_expect_eq(support_format_field("", "fd", &f), -ENOENT);
	cr_expect_eq(support_format_field("\tfield:int x", "x", &f), -ENOENT, "cut short");
	cr_expect_eq(support_format_field("\tfield:int x;\toffset:", "x", &f), -ENOENT);
}

Test(tracefs, this_kernel)
{
	struct support_field f;
	uint64_t id = 0;

	cr_assert_eq(support_tracefs_mount(), 0);
	cr_assert_not_null(support_tracefs_path());
	cr_expect_eq(support_tracepoint_id("sched", "sched_process_exec", &id), 0);
	cr_expect_gt(id, 0);
	cr_expect_eq(support_tracepoint_id("sched", "sched_process_dance", &id), -ENOENT);
	cr_expect_eq(support_tracepoint_field("sched", "sched_process_exec", "filename", &f), 0);
	cr_expect(f.data_loc);
	cr_expect_eq(f.size, 4);
	cr_expect_eq(support_tracepoint_field("sched", "sched_process_exec", "pid", &f), 0);
	cr_expect(f.is_signed);
	cr_expect_eq(support_tracepoint_field("sched", "none", "pid", &f), -ENOENT);
}
