/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What functions take and give: types and bounds, whose memory is read, what constants become. */
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

TestSuite(lang_functions, .init = init, .fini = finish);

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

Test(lang_functions, trees)
{
	static const struct row rows[] = {
		{"copyinstr(arg1)", "(copyinstr:string arg1:address)"},
		{"copyinstr(arg1, arg0)", "(copyinstr:string arg1:address (int64 arg0:int32))"},
		{"copyinstr(4096)", "(copyinstr:string 4096:int64)"},
		{"peek(arg1 + 8, 4)", "(peek:uint32 (+:address arg1:address 8:uint64) 4:int64)"},
		{"peek(arg0, 1) + 1",
		 "(+:int64 (int64 (peek:uint8 (int64 arg0:int32) 1:int64)) 1:int64)"},
		{"(int16) peek(arg1, 2)", "(int16 (peek:uint16 arg1:address 2:int64))"},
		{"kpeek(arg6, 8)", "(kpeek:uint64 arg6:struct file * 8:int64)"},
		{"copyin(arg1, 16)", "(copyin:bytes arg1:address 16:int64)"},
		{"strlen(execname)", "(strlen:int64 execname:string)"},
		{"basename(arg3)", "(basename:string arg3:string)"},
		{"substr(arg3, 1, arg8)", "(substr:string arg3:string 1:int64 (int64 arg8:uint8))"},
		{"strcontains(arg3, $word)", "(strcontains:int64 arg3:string \"hello\":string)"},
		{"strlen(copyinstr(arg1)) > 3",
		 "(>:int64 (strlen:int64 (copyinstr:string arg1:address)) 3:int64)"},
		{"copyinstr(arg1) == basename(arg3)",
		 "(==:int64 (copyinstr:string arg1:address) (basename:string arg3:string))"},
		{"abs(arg0)", "(abs:int64 (int64 arg0:int32))"},
		{"abs(arg2)", "(abs:uint64 arg2:uint64)"},
		{"min(arg0, arg8)", "(min:int64 (int64 arg0:int32) (int64 arg8:uint8))"},
		{"max(arg0, arg2)", "(max:uint64 (uint64 (int64 arg0:int32)) arg2:uint64)"},
		{"ntohs(arg0)", "(ntohs:uint16 (int64 arg0:int32))"},
		{"ntohl(arg2)", "(ntohl:uint32 arg2:uint64)"},
		{"ksym(arg6)", "(ksym:symbol arg6:struct file *)"},
		{"usym(arg1)", "(usym:symbol arg1:address)"},
		{"ipv4(arg0)", "(ipv4:network address (int64 arg0:int32))"},
		{"ipv6(copyin(arg1, 16))",
		 "(ipv6:network address (copyin:bytes arg1:address 16:int64))"},
		{"ipv6(arg4)", "(ipv6:network address arg4:bytes)"},
		{"regs", "regs:registers"},
		{"cgroupname", "cgroupname:cgroup name"},
		{"container", "container:cgroup name"},
	};

	expect_trees(rows, N(rows));
}

Test(lang_functions, constants)
{
	static const struct row rows[] = {
		{"strlen(\"\")", "0:int64"},
		{"strlen(\"abc\") + 1", "4:int64"},
		{"strlen($word)", "5:int64"},
		{"basename(\"/usr/lib/x//\")", "\"x\":string"},
		{"basename(\"///\")", "\"/\":string"},
		{"basename(\"/\")", "\"/\":string"},
		{"basename(\"\")", "\"\":string"},
		{"basename(\"a\")", "\"a\":string"},
		{"basename(\"a/\")", "\"a\":string"},
		{"substr(\"abcdef\", 2)", "\"cdef\":string"},
		{"substr(\"abcdef\", 2, 3)", "\"cde\":string"},
		{"substr(\"abcdef\", -2)", "\"ef\":string"},
		{"substr(\"abcdef\", -9, 2)", "\"ab\":string"},
		{"substr(\"abcdef\", 6)", "\"\":string"},
		{"substr(\"abcdef\", 0, -1)", "\"\":string"},
		{"substr(\"abcdef\", -1 - 0u)", "\"\":string"},
		{"strcontains(\"abc\", \"bc\")", "1:int64"},
		{"strcontains(\"abc\", \"\")", "1:int64"},
		{"strcontains(\"abc\", \"abcd\")", "0:int64"},
		{"startswith(\"abc\", \"ab\")", "1:int64"},
		{"endswith(\"abc\", \"ab\")", "0:int64"},
		{"endswith(\"abc\", \"bc\")", "1:int64"},
		{"abs(-5)", "5:int64"},
		{"abs($least)", "-9223372036854775808:int64"},
		{"abs($big)", "18446744073709551615:uint64"},
		{"min(-1, 2)", "-1:int64"},
		{"max(-1, 2)", "2:int64"},
		{"min(-1, 2u)", "2:uint64"},
		{"max(2, 2)", "2:int64"},
		{"log2(1)", "0:int64"},
		{"log2(1023)", "9:int64"},
		{"log2($big)", "63:int64"},
		{"0 ? log2(0) : 7", "7:int64"},
		{"ntohs(0x1234)", "13330:uint16"},
		{"htonl(1)", "16777216:uint32"},
		{"ntohll(1)", "72057594037927936:uint64"},
		{"htons(0x12340001) == 256", "1:int64"},
	};

	expect_trees(rows, N(rows));
}

/* Capacities bound what the compiler makes room for. */
Test(lang_functions, capacities)
{
	static const struct {
		const char *text;
		uint32_t cap;
	} rows[] = {
		{"copyinstr(arg1)", 128},
		{"copyinstr(arg1, 5)", 6},
		{"copyinstr(arg1, 127)", 128},
		{"copyinstr(arg1, 5000)", 128},
		{"copyinstr(arg1, arg0)", 128},
		{"copyin(arg1, 4096)", 4096},
		{"copyin(arg1, arg0)", 128},
		{"basename(execname)", 16},
		{"substr(execname, 2)", 16},
		{"substr(execname, 2, 3)", 4},
		{"substr(execname, 2, 0)", 1},
		{"substr(arg3, 2, arg0)", 128},
		{"ipv4(arg0)", 4},
		{"ipv6(copyin(arg1, 16))", 16},
	};

	for (size_t i = 0; i < N(rows); i++) {
		const struct weft_node *n = rig_expr(&r, rows[i].text);

		cr_expect(n && n->type.cap == rows[i].cap, "%s: %u", rows[i].text,
			  n ? n->type.cap : 0);
	}
}

/* arg1 points into user memory, arg6 into the kernel's; what is no pointer is taken as user's. */
Test(lang_functions, whose_memory)
{
	static const struct {
		const char *text;
		enum weft_space space;
	} rows[] = {
		{"str(arg1)", WEFT_SPACE_USER},
		{"str(arg6)", WEFT_SPACE_KERNEL},
		{"str(arg2)", WEFT_SPACE_USER},
		{"str(arg6 + 8)", WEFT_SPACE_KERNEL},
		{"str(8 + arg6)", WEFT_SPACE_KERNEL},
		{"str(8 + arg1)", WEFT_SPACE_USER},
		{"kstr(arg2)", WEFT_SPACE_KERNEL},
		{"mem(arg6, 8)", WEFT_SPACE_KERNEL},
		{"mem(arg1, 8)", WEFT_SPACE_USER},
		{"kmem(arg2, 8)", WEFT_SPACE_KERNEL},
		{"copyin(arg2, 8)", WEFT_SPACE_USER},
		{"peek(arg6, 8)", WEFT_SPACE_KERNEL},
		{"peek(arg2, 8)", WEFT_SPACE_USER},
		{"kpeek(arg2, 8)", WEFT_SPACE_KERNEL},
		{"peek(pid ? arg6 : arg6 + 8, 8)", WEFT_SPACE_KERNEL},
	};

	for (size_t i = 0; i < N(rows); i++) {
		const struct weft_node *n = rig_expr(&r, rows[i].text);

		cr_expect(n && n->type.space == rows[i].space, "%s", rows[i].text);
	}
	cr_expect(rig_expr(&r, "mem(arg1, 8)")->type.is_dump);
	cr_expect(!rig_expr(&r, "copyin(arg1, 8)")->type.is_dump);
}

Test(lang_functions, EXPR_TYPE)
{
	rig_expect_error(&r, "copyinstr(execname)", "EXPR_TYPE", 10, NULL,
			 "takes an address, and this is a string");
	rig_expect_error(&r, "kstr(arg1)", "EXPR_TYPE", 5, NULL, "of a process");
	rig_expect_error(&r, "ksym(arg1)", "EXPR_TYPE", 5, NULL, "of a process");
	rig_expect_error(&r, "strlen(pid)", "EXPR_TYPE", 7, NULL, "takes a string");
	rig_expect_error(&r, "strlen(arg1)", "EXPR_TYPE", 7, "str(arg1)", "an address");
	rig_expect_error(&r, "basename( arg1 + 8 )", "EXPR_TYPE", 10, "str(arg1 + 8)", "string");
	rig_expect_error(&r, "strlen(probefunc)", "EXPR_TYPE", 7, NULL, "a probe field");
	rig_expect_error(&r, "strlen(arg4)", "EXPR_TYPE", 7, NULL, "bytes");
	rig_expect_error(&r, "strcontains(pid, \"a\")", "EXPR_TYPE", 12, NULL, "takes a string");
	rig_expect_error(&r, "substr(execname, execname)", "EXPR_TYPE", 17, NULL, "an integer");
	rig_expect_error(&r, "min(1, \"a\")", "EXPR_TYPE", 7, NULL, "an integer");
	rig_expect_error(&r, "ipv6(arg1)", "EXPR_TYPE", 5, NULL, "takes bytes");
	rig_expect_error(&r, "ipv4(arg0) == 5", "EXPR_TYPE", 0, NULL, "network address");
	rig_expect_error(&r, "regs == 0", "EXPR_TYPE", 0, NULL, "registers");
	rig_expect_error(&r, "ksym(1) + 1", "EXPR_TYPE", 0, NULL, "symbol");
}

Test(lang_functions, FUNCTION_ARGUMENTS)
{
	rig_expect_error(&r, "copyinstr()", "FUNCTION_ARGUMENTS", 0, NULL, "copyinstr(addr[, n])");
	rig_expect_error(&r, "copyinstr(1, 2, 3)", "FUNCTION_ARGUMENTS", 0, NULL, "3 arguments");
	rig_expect_error(&r, "copyinstr(arg1, 0)", "FUNCTION_ARGUMENTS", 16, NULL, "at least 1");
	rig_expect_error(&r, "copyinstr(arg1, -1)", "FUNCTION_ARGUMENTS", 16, NULL, "at least 1");
	rig_expect_error(&r, "copyin(arg1)", "FUNCTION_ARGUMENTS", 0, NULL, "1 argument");
	rig_expect_error(&r, "copyin(arg1, 0)", "FUNCTION_ARGUMENTS", 13, NULL, "1 to 4096");
	rig_expect_error(&r, "mem(arg1, 4097)", "FUNCTION_ARGUMENTS", 10, NULL, "1 to 4096");
	rig_expect_error(&r, "peek(arg1, 3)", "FUNCTION_ARGUMENTS", 11, NULL, "1, 2, 4 or 8");
	rig_expect_error(&r, "peek(arg1, arg0)", "FUNCTION_ARGUMENTS", 11, NULL, "constant");
	rig_expect_error(&r, "startswith(arg3, execname)", "FUNCTION_ARGUMENTS", 17, NULL,
			 "constant string");
	rig_expect_error(&r, "startswith(arg3, 5)", "FUNCTION_ARGUMENTS", 17, NULL,
			 "constant string");
	rig_expect_error(&r, "ipv6(copyin(arg1, 15))", "FUNCTION_ARGUMENTS", 5, NULL, "16 bytes");
	rig_expect_error(&r, "log2(0)", "FUNCTION_ARGUMENTS", 5, NULL, "1 and more");
	rig_expect_error(&r, "log2(-8)", "FUNCTION_ARGUMENTS", 5, NULL, "1 and more");
	rig_expect_error(&r, "strlen", "FUNCTION_ARGUMENTS", 0, NULL, "strlen(s)");
}

Test(lang_functions, STRING_TOO_LONG)
{
	rig_expect_error(&r, "strcontains(execname, \"0123456789abcdef\")", "STRING_TOO_LONG", 22,
			 NULL, "16 bytes");
	cr_expect(rig_expr(&r, "strcontains(execname, \"0123456789abcde\")"));
	r.set.options.strsize = 8;
	rig_expect_error(&r, "substr(\"12345678\", arg0)", "STRING_TOO_LONG", 7, NULL, "strsize");
}

Test(lang_functions, REGS_NONE)
{
	r.info.load.ctx_kind = WEFT_CTX_PERF_EVENT;
	cr_expect(rig_expr(&r, "regs"));
	r.info.load.ctx_kind = WEFT_CTX_WORDS;
	rig_expect_error(&r, "regs", "REGS_NONE", 0, NULL, "registers");
	r.env.info = NULL;
	rig_expect_error(&r, "regs", "REGS_NONE", 0, NULL, "`begin` or `end`");
}

static int type(const char *action, const char *item, struct weft_typed_clause *c)
{
	return rig_type(&r, rig_action(&r, action, "into||c", item, NULL), c);
}

Test(lang_functions, keys)
{
	static const char *const good[] = {"by||usym(arg1)",    "by||ksym(arg6)", "by||ipv4(arg0)",
					   "by||ipv6(arg4)",    "by||cgroupname", "by||container",
					   "by||basename(arg3)"};
	struct weft_typed_clause c;

	for (size_t i = 0; i < N(good); i++)
		cr_expect(!type("count", good[i], &c) && !weft_lang_verify_clause(&c), "%s: %s",
			  good[i], weft_error_text(r.err));
	cr_expect(type("count", "by||usym(arg1)", &c) == 0 && c.uses_ustack);
	cr_expect(type("count", "by||regs", &c) < 0);
	cr_expect_str_eq(weft_error_tag(r.err), "EXPR_TYPE");
}

Test(lang_functions, formats)
{
	struct weft_typed_clause c;
	int ret = rig_type(&r,
			   rig_action(&r, "printf", "||%s %s %s %s %s %x", "||usym(arg1)",
				      "||ipv4(arg0)", "||mem(arg1, 8)", "||regs", "||container",
				      "||copyin(arg1, 4)", NULL),
			   &c);

	cr_expect(!ret, "%s", weft_error_text(r.err));
}
