/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Format files: what the kernel writes, and what it never would. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tracepoint.h"

static struct tracepoint_format format;

static int parse(const char *text)
{
	cr_assert_lt(strlen(text), sizeof(format.text));
	strcpy(format.text, text);
	return tracepoint_parse(&format);
}

#define COMMON                                                                         \
	"name: x\nID: 1\nformat:\n"                                                    \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static void expect(uint32_t i, const char *type, const char *name, uint32_t offset, uint32_t size,
		   uint32_t elements, bool is_signed, int place)
{
	const struct tracepoint_field *f = &format.fields[i];

	cr_assert_lt(i, format.n_fields);
	cr_expect_str_eq(f->type, type);
	cr_expect_str_eq(f->name, name);
	cr_expect_eq(f->offset, offset, "%s", name);
	cr_expect_eq(f->size, size, "%s", name);
	cr_expect_eq(f->elements, elements, "%s: %u", name, f->elements);
	cr_expect_eq(f->is_signed, is_signed, "%s", name);
	cr_expect_eq((int)f->place, place, "%s", name);
}

Test(tracepoint_format, every_kind_of_field)
{
	cr_assert_eq(parse(COMMON "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				  "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
				  "\tfield:unsigned long long a;\toffset:32;\tsize:8;\tsigned:0;\n"
				  "\tfield:const struct sock * sk;\toffset:40;\tsize:8;\tsigned:0;\n"
				  "\tfield:enum zone_type zone;\toffset:48;\tsize:4;\tsigned:0;\n"
				  "\tfield:__data_loc char[] name;\toffset:52;\tsize:4;\tsigned:0;\n"
				  "\tfield:__rel_loc u8[] blob;\toffset:56;\tsize:4;\tsigned:0;\n"
				  "\tfield:u8 mac[ETH_ALEN];\toffset:60;\tsize:6;\tsigned:0;\n"
				  "\nprint fmt: \"field:int no; offset:1; size:1;\"\n"),
		     0);
	cr_expect_eq(format.size, 66);
	cr_assert_eq(format.n_fields, 8);
	expect(0, "char", "prev_comm", 8, 16, 16, false, FIELD_HERE);
	expect(1, "pid_t", "prev_pid", 24, 4, 0, true, FIELD_HERE);
	expect(2, "unsigned long long", "a", 32, 8, 0, false, FIELD_HERE);
	expect(3, "const struct sock *", "sk", 40, 8, 0, false, FIELD_HERE);
	expect(4, "enum zone_type", "zone", 48, 4, 0, false, FIELD_HERE);
	expect(5, "char", "name", 52, 4, 0, false, FIELD_DATA_LOC);
	expect(6, "u8", "blob", 56, 4, 0, false, FIELD_REL_LOC);
	expect(7, "u8", "mac", 60, 6, 1, false, FIELD_HERE);
}

Test(tracepoint_format, what_is_not_understood_is_passed_over)
{
	cr_assert_eq(parse(COMMON "\tfield:;\toffset:8;\tsize:4;\tsigned:1;\n"
				  "\tfield:int;\toffset:8;\tsize:4;\tsigned:1;\n"
				  "\tfield:x];\toffset:8;\tsize:4;\tsigned:1;\n"
				  "\tfield:int 9;\toffset:8;\tsize:4;\tsigned:1;\n"
				  "\tfield:int a;\toffset:99999999999999999999;\tsize:4;\tsigned:1;\n"
				  "\tfield:int b;\toffset:-8;\tsize:4;\tsigned:1;\n"
				  "\tfield:int c;\toffset:8;\tsize:4\n"
				  "\tfield:int d\n"
				  "\tfield:int good;\toffset:8;\tsize:4;\tsigned:1;\n"
				  "\tfield:int good;\toffset:12;\tsize:4;\tsigned:1;\n"),
		     0);
	cr_assert_eq(format.n_fields, 1);
	expect(0, "int", "good", 8, 4, 0, true, FIELD_HERE);
}

Test(tracepoint_format, no_format)
{
	cr_expect_eq(parse(""), -EINVAL);
	cr_expect_eq(parse("\n\n\n"), -EINVAL);
	cr_expect_eq(parse("print fmt: \"\"\n" COMMON), -EINVAL);
	cr_expect_eq(parse(COMMON), 0);
	cr_expect_eq(format.n_fields, 0);
	cr_expect_eq(format.size, 8);
}

Test(tracepoint_format, more_fields_than_there_are_arguments)
{
	char text[32768];
	size_t at = (size_t)snprintf(text, sizeof(text), "%s", COMMON);

	for (int i = 0; i < 100; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "\tfield:int f%d;\toffset:%d;\tsize:4;\tsigned:1;\n", i,
				       8 + 4 * i);
	cr_assert_eq(parse(text), 0);
	cr_expect_eq(format.n_fields, WEFT_MAX_ARGS);
	cr_expect_eq(format.size, 408, "the record is as long as all of its fields");
}

/* Whatever is in the text: fields lie in it and have names and types. */
Test(tracepoint_format, texts_by_chance)
{
	static const char letters[] = "field:int;char offset[]size:signed\t\n 0189*__data_loc";
	uint32_t seed = 1;
	char text[2048];

	for (int round = 0; round < 20000; round++) {
		size_t n = (size_t)snprintf(text, sizeof(text),
					    COMMON
					    "\tfield:char a[16];\toffset:8;\tsize:16;\tsigned:0;\n"
					    "\tfield:__data_loc char[] b;\toffset:24;\tsize:4;\n");

		for (int k = 0; k < 8; k++) {
			seed = seed * 1664525 + 1013904223;
			text[(seed >> 8) % n] = letters[(seed >> 24) % (sizeof(letters) - 1)];
		}
		parse(text);
		cr_assert_leq(format.n_fields, WEFT_MAX_ARGS);
		for (uint32_t i = 0; i < format.n_fields; i++) {
			cr_assert_gt(strlen(format.fields[i].name), 0);
			cr_assert_gt(strlen(format.fields[i].type), 0);
		}
	}
}
