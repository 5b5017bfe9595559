/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What strangers call themselves, and the arguments they say they have. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "user_syscall.h"

Test(user_syscall_names, escaped)
{
	static const struct {
		const char *from, *to;
	} names[] = {
		{"plain", "plain"},
		{"a b", "a b"},
		{"a:b", "a%3Ab"},
		{"100%", "100%25"},
		{"\033[2J", "%1B[2J"},
		{"a\nb\x7f", "a%0Ab%7F"},
		{"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
		{"\xff\xc3(", "%FF%C3("},
		{"\xc2\x9b", "%C2%9B"},
		{"x\xe2\x80\xaey", "x%E2%80%AEy"},
		{"\xed\xa0\x80", "%ED%A0%80"},
		{"\xf4\x90\x80\x80", "%F4%90%80%80"},
		{"\xc0\x80", "%C0%80"},
		{"\xe2\x80", "%E2%80"},
	};
	char to[64], small[16];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		us_escape(names[i].from, true, to, sizeof(to));
		cr_expect_str_eq(to, names[i].to);
	}
	us_escape("a:b", false, to, sizeof(to));
	cr_expect_str_eq(to, "a:b");
	us_escape("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", true, small, sizeof(small));
	cr_expect_lt(strlen(small), sizeof(small));
}

Test(user_syscall_names, arguments)
{
	struct us_args a;

	cr_assert_eq(us_args_parse("int32 status, string path,bytes body", &a), 0);
	cr_assert_eq(a.n, 3);
	cr_expect_str_eq(a.args[0].name, "status");
	cr_expect_eq(a.args[0].where.n_ops, 2);
	cr_expect_eq(a.args[0].where.ops[0].imm, 1, "the call's second");
	cr_expect_eq(a.args[2].where.ops[1].imm, 4);
	cr_expect_str_eq(a.prototype, "(int32 status, string path,bytes body)");

	/* Six words: in memory. */
	cr_assert_eq(us_args_parse("text a, text b, int8 c, int8 d", &a), 0);
	cr_expect_eq(a.args[3].where.n_ops, 3);
	cr_expect_eq(a.args[3].where.ops[1].op, WEFT_LOC_LOAD);
	cr_expect_eq(a.args[3].where.ops[1].imm, 8 * 5);

	cr_assert_eq(us_args_parse("", &a), 0);
	cr_expect_eq(a.n, 0);

	cr_assert_eq(us_args_parse("double d, int8 x", &a), 0);
	cr_expect_not_null(a.args[0].unreadable);
	cr_expect_eq(a.args[0].where.n_ops, 0);
	cr_expect_eq(a.args[1].where.ops[0].imm, 2);
}

Test(user_syscall_names, arguments_that_are_none)
{
	static const char *const texts[] = {
		"int32",
		"int32 ",
		"x y",
		"int32 a,",
		",",
		"int32 a b",
		"int32 a, int32 a",
		"int32 1",
		"int32 \xff",
		"int32 a\n",
		"int32\ta",
		"int32 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	};
	char many[2048] = "";
	struct us_args a;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		cr_expect_eq(us_args_parse(texts[i], &a), -EINVAL, "'%s'", texts[i]);
	for (int i = 0; i < 33; i++)
		sprintf(many + strlen(many), "%sint8 a%d", i ? ", " : "", i);
	cr_expect_eq(us_args_parse(many, &a), -EINVAL);
	many[0] = '\0';
	for (int i = 0; i < 17; i++)
		sprintf(many + strlen(many), "%stext a%d", i ? ", " : "", i);
	cr_expect_eq(us_args_parse(many, &a), -EINVAL, "34 words");
	for (int i = 0; i < 200; i++)
		sprintf(many + 8 * i, "int8 a, ");
	cr_expect_eq(us_args_parse(many, &a), -EINVAL);
}
