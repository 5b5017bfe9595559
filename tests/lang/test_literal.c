/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Numbers at their boundaries, characters, strings. */
#include <inttypes.h>

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

TestSuite(lang_literal, .init = init, .fini = finish);

Test(lang_literal, numbers)
{
	static const struct {
		const char *text;
		uint64_t value;
		bool is_unsigned;
	} rows[] = {
		{"0", 0, false},
		{"00", 0, false},
		{"7", 7, false},
		{"9223372036854775807", INT64_MAX, false},
		{"9223372036854775808", (uint64_t)INT64_MAX + 1, true},
		{"-9223372036854775808", (uint64_t)INT64_MIN, false},
		{"- 9223372036854775808", (uint64_t)INT64_MIN, false},
		{"-9223372036854775807", (uint64_t)-INT64_MAX, false},
		{"-9223372036854775809", (uint64_t)INT64_MAX, true},
		{"18446744073709551615", UINT64_MAX, true},
		{"0x0", 0, false},
		{"0xfF", 255, false},
		{"0X7fffffffffffffff", INT64_MAX, false},
		{"0x8000000000000000", (uint64_t)INT64_MIN, true},
		{"-0x8000000000000000", (uint64_t)INT64_MIN, true},
		{"0xffffffffffffffff", UINT64_MAX, true},
		{"0x1d", 29, false}, /* a digit, no day */
		{"0o17", 15, false},
		{"017", 15, false},
		{"0O777", 511, false},
		{"01777777777777777777777", UINT64_MAX, true},
		{"0b101", 5, false},
		{"0B1111111111111111111111111111111111111111111111111111111111111111", UINT64_MAX,
		 true},
		{"1u", 1, true},
		{"1UL", 1, true},
		{"1ull", 1, true},
		{"1L", 1, false},
		{"0xFFul", 255, true},
		{"017LL", 15, false},
		{"5ns", 5, false},
		{"5us", 5000, false},
		{"1ms", 1000000, false},
		{"2s", 2000000000, false},
		{"3m", 180000000000, false},
		{"1h", 3600000000000, false},
		{"1d", 86400000000000, false},
		{"106751d", 106751ull * 86400000000000, false},
		{"4k", 4096, false},
		{"2M", 2097152, false},
		{"3G", 3221225472, false},
		{"8589934591G", 8589934591ull << 30, false},
		{"0s", 0, false},
		{"-5ms", (uint64_t)-5000000, false},
		{"'a'", 97, false},
		{"'\\0'", 0, false},
		{"'\\n'", 10, false},
		{"'\\''", 39, false},
		{"'\\xff'", 255, false},
		{"'\"'", 34, false},
	};

	for (size_t i = 0; i < N(rows); i++) {
		struct weft_node *n = rig_expr(&r, rows[i].text);

		cr_expect(n && n->kind == WEFT_NODE_INT, "%s: %s", rows[i].text,
			  weft_error_text(r.err));
		if (!n)
			continue;
		cr_expect((uint64_t)n->value == rows[i].value, "%s is %" PRId64, rows[i].text,
			  n->value);
		cr_expect(n->type.is_signed == !rows[i].is_unsigned && n->type.size == 8,
			  "%s has the wrong type", rows[i].text);
	}
}

Test(lang_literal, numbers_that_are_none)
{
	rig_expect_error(&r, "1 + 0x", "EXPR_SYNTAX", 4, NULL, "no digits");
	rig_expect_error(&r, "0xg", "EXPR_SYNTAX", 0, NULL, "no digits");
	rig_expect_error(&r, "0b2", "EXPR_SYNTAX", 0, NULL, "no digits");
	rig_expect_error(&r, "0b12", "EXPR_SYNTAX", 0, NULL, "too great");
	rig_expect_error(&r, "0779", "EXPR_SYNTAX", 0, NULL,
			 "octal, for its leading 0, and has a digit too great for that");
	rig_expect_error(&r, "08", "EXPR_SYNTAX", 0, NULL, "octal");
	rig_expect_error(&r, "0o8", "EXPR_SYNTAX", 0, NULL, "octal");
	rig_expect_error(&r, "12abc", "EXPR_SYNTAX", 0, NULL, "ns us ms s m h d");
	rig_expect_error(&r, "5sec", "EXPR_SYNTAX", 0, NULL, "units");
	rig_expect_error(&r, "4K", "EXPR_SYNTAX", 0, NULL, "k M G");
	rig_expect_error(&r, "0x10k", "EXPR_SYNTAX", 0, NULL, "only decimal");
	rig_expect_error(&r, "010s", "EXPR_SYNTAX", 0, NULL, "only decimal");
	rig_expect_error(&r, "1.5ms", "EXPR_SYNTAX", 0, NULL, "fractions");
	rig_expect_error(&r, "''", "EXPR_SYNTAX", 0, NULL, "one byte");
	rig_expect_error(&r, "1 + 'ab'", "EXPR_SYNTAX", 4, NULL, "double quotes");
}

Test(lang_literal, strings)
{
	static const struct {
		const char *text, *value;
	} rows[] = {
		{"\"\"", ""},
		{"\"cat\"", "cat"},
		{"\"a b\"", "a b"},
		{"\"\\n\\t\\r\\a\\b\\f\\v\\e\"", "\n\t\r\a\b\f\v\033"},
		{"\"\\\\ \\\" \\'\"", "\\ \" '"},
		{"\"\\x41\\xfFz\"", "A\xffz"},
		{"\"\xc3\xa9\"", "\xc3\xa9"},
		{"\"it's\"", "it's"},
		{"\"/* $no %d */\"", "/* $no %d */"},
	};

	for (size_t i = 0; i < N(rows); i++) {
		struct weft_node *n = rig_expr(&r, rows[i].text);

		cr_expect(n && n->kind == WEFT_NODE_STRING, "%s: %s", rows[i].text,
			  weft_error_text(r.err));
		cr_expect(n && n->length == strlen(rows[i].value) &&
				  !memcmp(n->string, rows[i].value, n->length),
			  "%s", rows[i].text);
		cr_expect(n && n->type.kind == WEFT_VALUE_STRING && n->type.cap == n->length + 1);
	}
}

Test(lang_literal, spans)
{
	struct weft_node *n = rig_expr(&r, "  (fd_is + 1)");

	cr_expect(!n); /* an unknown name, only to see where it is */
	n = rig_expr(&r, "pid  + (cpu * 2)");
	cr_assert(n);
	cr_expect(n->span.start == 0 && n->span.length == 16);
	cr_expect(n->kid[1]->span.start == 7 && n->kid[1]->span.length == 9);
	cr_expect(weft_span_pos(n->kid[1]->span).line == RIG_LINE);
	cr_expect(weft_span_pos(n->kid[1]->span).column == RIG_COLUMN + 7);
}

Test(lang_literal, span_of_a_text_that_is_not_verbatim)
{
	struct weft_text t = {.s = "1 + foo", .pos = {4, 9}};
	struct weft_span nowhere = {0};
	struct weft_report report;
	struct weft_node *n;

	cr_expect(weft_lang_expr(&r.env, &t, r.arena, &n, r.err) < 0);
	cr_assert(weft_error_report(r.err, 0, &report) == 0);
	cr_expect(report.pos.line == 4 && report.pos.column == 9);
	cr_assert(report.n_contexts == 1);
	cr_expect(strstr(weft_error_context_text(r.err, 0, 0), "1 + foo"));
	cr_expect(weft_span_pos(nowhere).line == 0);
}
