/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What operators take and give: types and conversions, seen through the tree with its types. */
#include "rig.h"

static struct rig r;

static void init(void)
{
	rig_init(&r);
}

static void finish(void)
{
	rig_finish(&r);
}

TestSuite(lang_typing, .init = init, .fini = finish);

struct row {
	const char *text, *tree;
};

static void expect_trees(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *tree = rig_print(&r, rows[i].text, true);

		cr_expect(!strcmp(tree, rows[i].tree), "`%s` gave %s, not %s", rows[i].text, tree,
			  rows[i].tree);
	}
}

Test(lang_typing, conversions)
{
	static const struct row rows[] = {
		/* arg0 int32, arg2 uint64, arg8 uint8, arg9 int16, retval int64, uid uint32 */
		{"arg0 + 1", "(+:int64 (int64 arg0:int32) 1:int64)"},
		{"arg8 + arg9", "(+:int64 (int64 arg8:uint8) (int64 arg9:int16))"},
		{"uid + 1", "(+:int64 (int64 uid:uint32) 1:int64)"},
		{"arg2 + 1", "(+:uint64 arg2:uint64 1:uint64)"},
		{"-1 + arg2", "(+:uint64 18446744073709551615:uint64 arg2:uint64)"},
		{"retval + arg2", "(+:uint64 (uint64 retval:int64) arg2:uint64)"},
		{"arg0 + arg2", "(+:uint64 (uint64 (int64 arg0:int32)) arg2:uint64)"},
		{"retval + retval", "(+:int64 retval:int64 retval:int64)"},
		{"retval < arg2", "(<:int64 (uint64 retval:int64) arg2:uint64)"},
		{"arg2 < arg2", "(<:int64 arg2:uint64 arg2:uint64)"},
		{"arg0 == arg8", "(==:int64 (int64 arg0:int32) (int64 arg8:uint8))"},
		/* the left side alone makes the type of a shift */
		{"retval >> arg2", "(>>:int64 retval:int64 (int64 arg2:uint64))"},
		{"arg2 >> retval", "(>>:uint64 arg2:uint64 (uint64 retval:int64))"},
		{"arg9 << arg8", "(<<:int64 (int64 arg9:int16) (int64 arg8:uint8))"},
		{"-arg8", "(-:int64 (int64 arg8:uint8))"},
		{"~arg2", "(~:uint64 arg2:uint64)"},
		{"+arg8", "(int64 arg8:uint8)"},
		{"!arg8", "(!:int64 arg8:uint8)"},
		{"!arg2", "(!:int64 arg2:uint64)"},
		{"arg8 && arg2", "(&&:int64 arg8:uint8 arg2:uint64)"},
		{"arg8 || 0", "(||:int64 arg8:uint8 0:int64)"},
		{"pid ? arg8 : arg9", "(?:int64 pid:int32 (int64 arg8:uint8) (int64 arg9:int16))"},
		{"pid ? arg2 : -1", "(?:uint64 pid:int32 arg2:uint64 18446744073709551615:uint64)"},
		{"(uint8) arg0", "(uint8 arg0:int32)"},
		{"(int32) arg0", "arg0:int32"},
		{"(uint64) arg2", "arg2:uint64"},
		{"(int64) arg2", "(int64 arg2:uint64)"},
		{"(uint32) arg0", "(uint32 arg0:int32)"},
		{"(int8) 200 + arg0", "(+:int64 -56:int64 (int64 arg0:int32))"},
	};

	expect_trees(rows, N(rows));
}

Test(lang_typing, addresses_stay_addresses)
{
	static const struct row rows[] = {
		{"arg1", "arg1:address"},
		{"arg1 + 8", "(+:address arg1:address 8:uint64)"},
		{"8 + arg1", "(+:address 8:uint64 arg1:address)"},
		{"arg1 & ~0xfff", "(&:address arg1:address 18446744073709547520:uint64)"},
		{"arg1 - arg6", "(-:uint64 arg1:address arg6:struct file *)"},
		{"arg1 * 2", "(*:uint64 arg1:address 2:uint64)"},
		{"arg1 == 0", "(==:int64 arg1:address 0:uint64)"},
		{"pid ? arg1 : arg1", "(?:address pid:int32 arg1:address arg1:address)"},
		/* one of a process, one of the kernel: then of neither */
		{"pid ? arg1 : arg6", "(?:uint64 pid:int32 arg1:address arg6:struct file *)"},
		{"pid ? arg1 : 0", "(?:uint64 pid:int32 arg1:address 0:uint64)"},
		{"(uint64) arg1", "arg1:uint64"},
	};

	expect_trees(rows, N(rows));
}

Test(lang_typing, strings)
{
	static const struct row rows[] = {
		{"execname == \"cat\"", "(==:int64 execname:string \"cat\":string)"},
		{"\"cat\" != execname", "(!=:int64 \"cat\":string execname:string)"},
		{"arg3 == execname", "(==:int64 arg3:string execname:string)"},
		{"\"a\" == \"a\"", "1:int64"},
		{"\"a\" == \"ab\"", "0:int64"},
		{"\"a\" != \"b\"", "1:int64"},
		{"$word == \"hello\"", "1:int64"},
		{"$quoted == \"12\"", "1:int64"},
		{"probefunc == \"read\"", "(==:int64 probefunc:probe field \"read\":string)"},
		{"\"read\" != probename", "(!=:int64 probename:probe field \"read\":string)"},
		{"probemod == $word", "(==:int64 probemod:probe field \"hello\":string)"},
		{"pid ? \"a\" : execname", "(?:string pid:int32 \"a\":string execname:string)"},
	};
	struct weft_node *n;

	expect_trees(rows, N(rows));
	n = rig_expr(&r, "pid ? \"a\" : execname");
	cr_expect(n && n->type.cap == 16 && n->kid[1]->type.cap == 2 && n->kid[2]->type.cap == 16);
	n = rig_expr(&r, "arg3");
	cr_expect(n && n->type.cap == 128 && n->type.space == WEFT_SPACE_USER);
	n = rig_expr(&r, "arg10");
	cr_expect(n && n->type.cap == 8);
}

/* Constants decide while the tree is made, and what they exclude is not looked at for zeros. */
Test(lang_typing, constants_decide)
{
	static const struct row rows[] = {
		{"0 && pid", "0:int64"},
		{"7 && pid", "(!=:int64 (int64 pid:int32) 0:int64)"},
		{"7 && !pid", "(!:int64 pid:int32)"},
		{"7 && pid > 1", "(>:int64 (int64 pid:int32) 1:int64)"},
		{"1 || pid", "1:int64"},
		{"0 || arg2", "(!=:int64 arg2:uint64 0:uint64)"},
		{"0 || 5", "1:int64"},
		{"2 && 3", "1:int64"},
		{"pid && 0", "(&&:int64 pid:int32 0:int64)"},
		{"1 ? arg0 : arg2", "(uint64 (int64 arg0:int32))"},
		{"0 ? arg0 : arg2", "arg2:uint64"},
		{"1 ? execname : \"x\"", "execname:string"},
		{"$zero ? pid / $zero : 3", "3:int64"},
		{"$zero && 10 / $zero", "0:int64"},
		{"!$zero || pid % $zero > 2", "1:int64"},
		{"$n ? pid / $n : 0", "(/:int64 (int64 pid:int32) 5:int64)"},
	};

	expect_trees(rows, N(rows));
}

Test(lang_typing, EXPR_TYPE)
{
	rig_expect_error(&r, "execname + 1", "EXPR_TYPE", 0, NULL, "`+` takes integers");
	rig_expect_error(&r, "1 + execname", "EXPR_TYPE", 4, NULL, "string");
	rig_expect_error(&r, "execname < \"x\"", "EXPR_TYPE", 0, NULL, "`<`");
	rig_expect_error(&r, "execname == 1", "EXPR_TYPE", 0, NULL, "string cannot be compared");
	rig_expect_error(&r, "cgroupname == \"/\"", "EXPR_TYPE", 0, NULL, "its id can, `cgroup`");
	rig_expect_error(&r, "\"f\" == usym(arg1)", "EXPR_TYPE", 0, NULL, "its address can");
	rig_expect_error(&r, "ipv4(pid) != 3", "EXPR_TYPE", 0, NULL, "its number can");
	rig_expect_error(&r, "\"a\" == arg1", "EXPR_TYPE", 0, "str(arg1)", "cannot be compared");
	rig_expect_error(&r, "probefunc == 1", "EXPR_TYPE", 0, NULL, "probe field");
	rig_expect_error(&r, "probefunc == execname", "EXPR_TYPE", 13, NULL, "constant");
	rig_expect_error(&r, "probefunc == probemod", "EXPR_TYPE", 13, NULL, "constant");
	rig_expect_error(&r, "probefunc == (pid ? \"a\" : \"b\")", "EXPR_TYPE", 13, NULL,
			 "constant");
	rig_expect_error(&r, "stack == ustack", "EXPR_TYPE", 0, NULL, "stack");
	rig_expect_error(&r, "arg4 == \"x\"", "EXPR_TYPE", 0, NULL, "bytes");
	rig_expect_error(&r, "!execname", "EXPR_TYPE", 1, NULL, "`!`");
	rig_expect_error(&r, "-stack", "EXPR_TYPE", 1, NULL, "`-`");
	rig_expect_error(&r, "pid && execname", "EXPR_TYPE", 7, NULL, "`&&`");
	rig_expect_error(&r, "execname || pid", "EXPR_TYPE", 0, NULL, "`||`");
	rig_expect_error(&r, "0 && execname", "EXPR_TYPE", 5, NULL, "`&&`");
	rig_expect_error(&r, "execname ? 1 : 2", "EXPR_TYPE", 0, NULL, "condition");
	rig_expect_error(&r, "pid ? 1 : \"a\"", "EXPR_TYPE", 6, NULL, "an int64 and a string");
	rig_expect_error(&r, "pid ? stack : stack", "EXPR_TYPE", 6, NULL, "two integers or two");
	rig_expect_error(&r, "(uint8) execname", "EXPR_TYPE", 8, NULL, "cast");
	rig_expect_error(&r, "args.fd.x", "MEMBER_NONE", 8, NULL, "no member `x`");
	rig_expect_error(&r, "$word + 1", "EXPR_TYPE", 0, NULL, "string");
	rig_expect_error(&r, "$address + 1", "EXPR_TYPE", 0, NULL, "string");
}

Test(lang_typing, DIVIDE_BY_ZERO)
{
	rig_expect_error(&r, "pid / 0", "DIVIDE_BY_ZERO", 6, NULL, "`/`");
	rig_expect_error(&r, "pid % (3 - 3)", "DIVIDE_BY_ZERO", 6, NULL, "`%`");
	rig_expect_error(&r, "1 / $zero", "DIVIDE_BY_ZERO", 4, NULL, NULL);
	rig_expect_error(&r, "1 ? 2 / 0 : 3", "DIVIDE_BY_ZERO", 8, NULL, NULL);
	rig_expect_error(&r, "pid ? 2 / 0 : 3", "DIVIDE_BY_ZERO", 10, NULL, NULL);
	rig_expect_error(&r, "1 && 2 / 0", "DIVIDE_BY_ZERO", 9, NULL, NULL);
	rig_expect_error(&r, "arg2 / (uint8) 256", "DIVIDE_BY_ZERO", 7, NULL, NULL);
}

Test(lang_typing, STRING_TOO_LONG)
{
	rig_expect_error(&r, "execname == \"0123456789abcdef\"", "STRING_TOO_LONG", 12, NULL,
			 "more than 15");
	cr_expect(rig_expr(&r, "execname == \"0123456789abcde\""));
	rig_expect_error(&r, "\"12345678\" == arg10", "STRING_TOO_LONG", 0, NULL, "more than 7");
	/* functions have longer names than strings have room; they are compared elsewhere */
	r.set.options.strsize = 8;
	cr_expect(rig_expr(&r, "probefunc == \"a_function_with_a_long_name\""));
	rig_expect_error(&r, "pid ? \"12345678\" : \"\"", "STRING_TOO_LONG", 6, NULL, "strsize");
	cr_expect(rig_expr(&r, "pid ? \"1234567\" : \"\""));
}

/* All that is wrong with an expression is said at once, and nothing twice. */
Test(lang_typing, several_errors)
{
	static const struct {
		const char *tag;
		uint32_t offset;
	} wanted[] = {{"NAME_UNKNOWN", 1}, {"NAME_UNKNOWN", 35}, {"EXPR_TYPE", 23}};
	struct weft_report report;

	cr_expect(!rig_expr(&r, "(nme + 1) * pid / 9 + (execname && argh)"));
	cr_expect(weft_error_count(r.err) == N(wanted), "%zu", weft_error_count(r.err));
	for (size_t i = 0; i < N(wanted) && !weft_error_report(r.err, i, &report); i++)
		cr_expect(!strcmp(report.tag, wanted[i].tag) &&
				  report.pos.column == RIG_COLUMN + wanted[i].offset,
			  "%s at %u", report.text, report.pos.column - RIG_COLUMN);
}
