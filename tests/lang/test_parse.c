/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Precedence and grouping, seen through the tree; nothing here is constant, so nothing folds. */
#include <stdio.h>

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

TestSuite(lang_parse, .init = init, .fini = finish);

Test(lang_parse, precedence)
{
	static const struct {
		const char *text, *tree;
	} rows[] = {
		/* x: elapsed, y: retval, z: timestamp are int64, so that no casts get in the way */
		{"elapsed + retval * timestamp", "(+ elapsed (* retval timestamp))"},
		{"elapsed * retval + timestamp", "(+ (* elapsed retval) timestamp)"},
		{"elapsed - retval - timestamp", "(- (- elapsed retval) timestamp)"},
		{"elapsed - (retval - timestamp)", "(- elapsed (- retval timestamp))"},
		{"elapsed / retval % timestamp", "(% (/ elapsed retval) timestamp)"},
		{"elapsed << retval + timestamp", "(<< elapsed (+ retval timestamp))"},
		{"elapsed << retval >> timestamp", "(>> (<< elapsed retval) timestamp)"},
		{"elapsed < retval << timestamp", "(< elapsed (<< retval timestamp))"},
		{"elapsed == retval < timestamp", "(== elapsed (< retval timestamp))"},
		{"elapsed & retval == timestamp", "(& elapsed (== retval timestamp))"},
		{"elapsed ^ retval & timestamp", "(^ elapsed (& retval timestamp))"},
		{"elapsed | retval ^ timestamp", "(| elapsed (^ retval timestamp))"},
		{"elapsed && retval | timestamp", "(&& elapsed (| retval timestamp))"},
		{"elapsed || retval && timestamp", "(|| elapsed (&& retval timestamp))"},
		{"elapsed && retval || timestamp", "(|| (&& elapsed retval) timestamp)"},
		{"elapsed || retval || timestamp", "(|| (|| elapsed retval) timestamp)"},
		{"elapsed ? retval : timestamp", "(? elapsed retval timestamp)"},
		{"elapsed || retval ? retval : timestamp",
		 "(? (|| elapsed retval) retval timestamp)"},
		{"elapsed ? retval : timestamp ? 1 : 2", "(? elapsed retval (? timestamp 1 2))"},
		{"elapsed ? retval ? 1 : 2 : timestamp", "(? elapsed (? retval 1 2) timestamp)"},
		{"-elapsed * retval", "(* (- elapsed) retval)"},
		{"!elapsed == retval", "(== (! elapsed) retval)"},
		{"- - elapsed", "(- (- elapsed))"},
		{"~!-elapsed", "(~ (! (- elapsed)))"},
		{"+elapsed", "elapsed"},
		{"elapsed - -retval", "(- elapsed (- retval))"},
		{"(int8) elapsed + retval", "(+ (int64 (int8 elapsed)) retval)"},
		{"(int8) -elapsed", "(int8 (- elapsed))"},
		{"-(int8) elapsed", "(- (int64 (int8 elapsed)))"},
		{"(uint8)(int8) elapsed", "(uint8 (int8 elapsed))"},
		{"((((elapsed))))", "elapsed"},
		{" \t\n elapsed\r\n", "elapsed"},
		{"elapsed<retval", "(< elapsed retval)"},
		{"elapsed<-1", "(< elapsed -1)"},
		{"elapsed>=retval", "(>= elapsed retval)"},
		{"args.fd", "arg0"},
		{"args -> fd", "arg0"},
		{"(args).fd", "arg0"},
	};

	for (size_t i = 0; i < N(rows); i++) {
		const char *tree = rig_print(&r, rows[i].text, false);

		cr_expect(!strcmp(tree, rows[i].tree), "`%s` gave %s, not %s", rows[i].text, tree,
			  rows[i].tree);
	}
}

/* Every pair of binary operators, against a table of C's levels of its own. */
Test(lang_parse, precedence_of_all_pairs)
{
	static const struct {
		const char *text;
		int level;
	} ops[] = {{"*", 1},  {"/", 1}, {"%", 1},  {"+", 2}, {"-", 2},  {"<<", 3},
		   {">>", 3}, {"<", 4}, {"<=", 4}, {">", 4}, {">=", 4}, {"==", 5},
		   {"!=", 5}, {"&", 6}, {"^", 7},  {"|", 8}, {"&&", 9}, {"||", 10}};
	char text[128], tree[128];

	for (size_t i = 0; i < N(ops); i++)
		for (size_t k = 0; k < N(ops); k++) {
			const char *got;

			snprintf(text, sizeof(text), "elapsed %s retval %s timestamp", ops[i].text,
				 ops[k].text);
			if (ops[k].level < ops[i].level)
				snprintf(tree, sizeof(tree), "(%s elapsed (%s retval timestamp))",
					 ops[i].text, ops[k].text);
			else
				snprintf(tree, sizeof(tree), "(%s (%s elapsed retval) timestamp)",
					 ops[k].text, ops[i].text);
			got = rig_print(&r, text, false);
			cr_expect(!strcmp(got, tree), "`%s` gave %s, not %s", text, got, tree);
		}
}

Test(lang_parse, EXPR_SYNTAX)
{
	rig_expect_error(&r, "", "EXPR_SYNTAX", 0, NULL, "empty");
	rig_expect_error(&r, "  ", "EXPR_SYNTAX", 0, NULL, "empty");
	rig_expect_error(&r, "pid = 1", "EXPR_SYNTAX", 4, "==", "changes nothing");
	rig_expect_error(&r, "pid === 1", "EXPR_SYNTAX", 4, "==", NULL);
	rig_expect_error(&r, "pid <> 1", "EXPR_SYNTAX", 4, "!=", NULL);
	rig_expect_error(&r, "pid =< 1", "EXPR_SYNTAX", 4, "<=", NULL);
	rig_expect_error(&r, "pid => 1", "EXPR_SYNTAX", 4, ">=", NULL);
	rig_expect_error(&r, "pid += 1", "EXPR_SYNTAX", 4, NULL, "changes nothing");
	rig_expect_error(&r, "pid++", "EXPR_SYNTAX", 3, NULL, "changes nothing");
	rig_expect_error(&r, "pid <<= 1", "EXPR_SYNTAX", 4, NULL, "changes nothing");
	rig_expect_error(&r, "pid and uid", "EXPR_SYNTAX", 4, "&&", NULL);
	rig_expect_error(&r, "pid or uid", "EXPR_SYNTAX", 4, "||", NULL);
	rig_expect_error(&r, "1 +", "EXPR_SYNTAX", 3, NULL, "ends where a value");
	rig_expect_error(&r, "(1 + 2", "EXPR_SYNTAX", 6, NULL, "must be quoted");
	rig_expect_error(&r, "stack(1", "EXPR_SYNTAX", 7, NULL, "must be quoted");
	rig_expect_error(&r, "1 + 2)", "EXPR_SYNTAX", 5, NULL, "closes nothing");
	rig_expect_error(&r, "1 2", "EXPR_SYNTAX", 2, NULL, "an operator or the end");
	rig_expect_error(&r, "1, 2", "EXPR_SYNTAX", 1, NULL, NULL);
	rig_expect_error(&r, "pid ? 1", "EXPR_SYNTAX", 7, NULL, "`:`");
	rig_expect_error(&r, "pid : 1", "EXPR_SYNTAX", 4, NULL, NULL);
	rig_expect_error(&r, "stack(1,)", "EXPR_SYNTAX", 8, NULL, NULL);
	rig_expect_error(&r, "args.", "EXPR_SYNTAX", 5, NULL, "member");
	rig_expect_error(&r, "args.1", "EXPR_SYNTAX", 5, NULL, "member");
	rig_expect_error(&r, "x[", "EXPR_SYNTAX", 2, NULL, "a value");
	rig_expect_error(&r, "x[1", "EXPR_SYNTAX", 3, NULL, "`]`");
	rig_expect_error(&r, "x[1)", "EXPR_SYNTAX", 3, NULL, "`]`");
	rig_expect_error(&r, "x[]", "EXPR_SYNTAX", 2, NULL, "a key");
	rig_expect_error(&r, "pid]", "EXPR_SYNTAX", 3, NULL, "closes nothing");
	rig_expect_error(&r, "pid ??", "EXPR_SYNTAX", 6, NULL, "a value");
	rig_expect_error(&r, "pid;", "EXPR_SYNTAX", 3, NULL, "semicolon");
	rig_expect_error(&r, "$", "EXPR_SYNTAX", 0, NULL, "parameter");
	rig_expect_error(&r, "$1", "EXPR_SYNTAX", 0, NULL, "parameter");
	rig_expect_error(&r, "(int) pid", "EXPR_SYNTAX", 1, "int32", "casts");
	rig_expect_error(&r, "(unsigned long) pid", "EXPR_SYNTAX", 1, "uint64", "`unsigned long`");
	rig_expect_error(&r, "(short) 3", "EXPR_SYNTAX", 1, "int16", "casts");
	rig_expect_error(&r, "1 + (u8) pid", "EXPR_SYNTAX", 5, "uint8", "casts");
	rig_expect_error(&r, "(uint8)", "EXPR_SYNTAX", 7, NULL, "a value");
	rig_expect_error(&r, "()", "EXPR_SYNTAX", 1, NULL, "a value");
}

Test(lang_parse, EXPR_CHARACTER)
{
	rig_expect_error(&r, "pid # 1", "EXPR_CHARACTER", 4, NULL, "`#`");
	rig_expect_error(&r, "@count", "EXPR_CHARACTER", 0, NULL, "`@`");
	rig_expect_error(&r, "1 + \xe2\x80\x9c", "EXPR_CHARACTER", 4, NULL, "0xe2");
	rig_expect_error(&r, "\001", "EXPR_CHARACTER", 0, NULL, "0x01");
	rig_expect_error(&r, "pid \\ 1", "EXPR_CHARACTER", 4, NULL, NULL);
}

Test(lang_parse, EXPR_NUMBER_RANGE)
{
	rig_expect_error(&r, "pid == 18446744073709551616", "EXPR_NUMBER_RANGE", 7, NULL, "64 bits");
	rig_expect_error(&r, "0x10000000000000000", "EXPR_NUMBER_RANGE", 0, NULL, NULL);
	rig_expect_error(&r, "02000000000000000000000", "EXPR_NUMBER_RANGE", 0, NULL, NULL);
	rig_expect_error(&r, "106752d", "EXPR_NUMBER_RANGE", 0, NULL, NULL);
	rig_expect_error(&r, "8589934592G", "EXPR_NUMBER_RANGE", 0, NULL, NULL);
	rig_expect_error(&r, "99999999999999999999999999999999999999999999999999999",
			 "EXPR_NUMBER_RANGE", 0, NULL, "...");
	rig_expect_error(&r, "1 + $huge", "EXPR_NUMBER_RANGE", 4, NULL, "$huge");
}

Test(lang_parse, EXPR_STRING_UNCLOSED)
{
	rig_expect_error(&r, "execname == \"cat", "EXPR_STRING_UNCLOSED", 12, NULL, NULL);
	rig_expect_error(&r, "\"a\\\"", "EXPR_STRING_UNCLOSED", 0, NULL, NULL);
	rig_expect_error(&r, "\"a\\", "EXPR_STRING_UNCLOSED", 0, NULL, NULL);
	rig_expect_error(&r, "\"a\nb\"", "EXPR_STRING_UNCLOSED", 0, NULL, NULL);
	rig_expect_error(&r, "1 + 'a", "EXPR_STRING_UNCLOSED", 4, NULL, NULL);
}

Test(lang_parse, EXPR_ESCAPE)
{
	rig_expect_error(&r, "\"ab\\q\"", "EXPR_ESCAPE", 3, NULL, "\\n \\t");
	rig_expect_error(&r, "\"\\0\"", "EXPR_ESCAPE", 1, NULL, "byte 0");
	rig_expect_error(&r, "\"\\x00\"", "EXPR_ESCAPE", 1, NULL, "byte 0");
	rig_expect_error(&r, "\"\\x4\"", "EXPR_ESCAPE", 1, NULL, "two hexadecimal");
	rig_expect_error(&r, "\"\\xg1\"", "EXPR_ESCAPE", 1, NULL, "two hexadecimal");
	rig_expect_error(&r, "\"\\012\"", "EXPR_ESCAPE", 1, NULL, "octal");
	rig_expect_error(&r, "'\\q'", "EXPR_ESCAPE", 1, NULL, NULL);
}

/* What repeats n times between a head and a tail. */
static char *repeat(const char *what, size_t n, const char *tail, size_t m, const char *end)
{
	char *s = weft_arena_alloc(r.arena, strlen(what) * n + strlen(tail) + strlen(end) * m + 1);
	char *p = s;

	cr_assert(s);
	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, what);
	p = stpcpy(p, tail);
	for (size_t i = 0; i < m; i++)
		p = stpcpy(p, end);
	return s;
}

Test(lang_parse, EXPR_TOO_DEEP)
{
	cr_expect(rig_expr(&r, repeat("(", 199, "pid", 199, ")")));
	rig_expect_error(&r, repeat("(", 200, "pid", 200, ")"), "EXPR_TOO_DEEP", 200, NULL, "200");
	rig_expect_error(&r, repeat("(", 16000, "", 0, ""), "EXPR_TOO_DEEP", 200, NULL, NULL);
	rig_expect_error(&r, repeat("!", 16000, "pid", 0, ""), "EXPR_TOO_DEEP", 200, NULL, NULL);
	rig_expect_error(&r, repeat("(int8)", 2000, "pid", 0, ""), "EXPR_TOO_DEEP", 1200, NULL,
			 NULL);
	rig_expect_error(&r, repeat("stack(", 2000, "pid", 0, ""), "EXPR_TOO_DEEP", 600, NULL, NULL);
	rig_expect_error(&r, repeat("1?", 2000, "1", 2000, ":1"), "EXPR_TOO_DEEP", 400, NULL, NULL);
	rig_expect_error(&r, repeat("1?1:", 2000, "1", 0, ""), "EXPR_TOO_DEEP", 798, NULL, NULL);
	/* chains are parsed by a loop, and make a deep tree all the same */
	cr_expect(rig_expr(&r, repeat("pid+", 199, "1", 0, "")));
	rig_expect_error(&r, repeat("pid+", 200, "1", 0, ""), "EXPR_TOO_DEEP", 0, NULL, "chain");
	rig_expect_error(&r, repeat("args.", 2000, "x", 0, ""), "EXPR_TOO_DEEP", 0, NULL, NULL);
}

Test(lang_parse, EXPR_TOO_LONG)
{
	cr_expect(rig_expr(&r, repeat(" ", 16383, "1", 0, "")));
	rig_expect_error(&r, repeat(" ", 16384, "1", 0, ""), "EXPR_TOO_LONG", 0, NULL, "16384");
}
