/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What YAML allows and probe sets do not, and what YAML itself refuses. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* ---- CONFIG_YAML: libyaml's own errors, with the remedy ---- */

Test(config_yaml, CONFIG_YAML_colon_in_flow)
{
	bad(ACTION("count: {into: x, by: {a: c ? d : e}}"), "CONFIG_YAML", 5, 40,
	    "needs quotes: \"c ? d : e\"");
}

Test(config_yaml, CONFIG_YAML_colon_in_block)
{
	bad("version: 1\nname: a: b\n", "CONFIG_YAML", 2, 8, "needs quotes: \"a: b\"");
	bad("version: 1\nprobes:\n  - probe: fbt:::\n", "CONFIG_YAML", 3, 17,
	    "needs quotes: \"fbt:::\"");
	bad("version: 1\nprobes:\n  - probe: [fbt:::, x]\n", "CONFIG_YAML", 3, 18,
	    "needs quotes: \"fbt:::\"");
}

Test(config_yaml, CONFIG_YAML_bracket_in_flow)
{
	bad(ACTION("emit: {a: n[b, c], d: e}"), "CONFIG_YAML", 5, 20, "quotes: \"n[b, c]\"");
}

Test(config_yaml, CONFIG_YAML_text_after_a_quote)
{
	bad("version: 1\nprobes:\n  - probe: a:b:c:d\n    when: \"x\" == execname\n", "CONFIG_YAML",
	    4, 15, "needs quotes: '\"x\" == execname'");
}

Test(config_yaml, CONFIG_YAML_characters_that_begin_nothing)
{
	bad(ACTION("printf: [%d, pid]"), "CONFIG_YAML", 5, 18, "needs quotes: \"%d\"");
	bad("version: 1\nname: @x y\n", "CONFIG_YAML", 2, 7, "needs quotes: \"@x y\"");
	bad("version: 1\nname: *:x:y:z\n", "CONFIG_YAML", 2, 8, "needs quotes: \"*:x:y:z\"");
}

Test(config_yaml, CONFIG_YAML_tab)
{
	bad("version: 1\nname:\n\t- x\n", "CONFIG_YAML", 3, 1, "not with tabs");
	bad("version: 1\n\tname: x\n", "CONFIG_YAML", 2, 1, "not with tabs");
}

Test(config_yaml, CONFIG_YAML_indentation)
{
	bad("version: 1\nprobes:\n  - probe: a:b:c:d\n   when: a\n", "CONFIG_YAML", 4, 4, "- ");
	bad("version: 1\n name: x\n", "CONFIG_YAML", 2, 6, "indented");
}

Test(config_yaml, CONFIG_YAML_quote_not_closed)
{
	bad("version: 1\nname: 'x\n", "CONFIG_YAML", 3, 1, "line 2, column 7");
	bad("version: 1\nname: \"\\q\"\n", "CONFIG_YAML", 2, 8, "backslash");
}

Test(config_yaml, CONFIG_YAML_bracket_not_closed)
{
	bad("version: 1\nname: {a: b\n", "CONFIG_YAML", 3, 1, "line 2, column 7");
}

/* libyaml counts characters, and U+2028 as a line end: places count bytes and what editors show. */
Test(config_yaml, CONFIG_YAML_places_count_bytes)
{
	bad("version: 1\nname: \"\xc3\xa9\xc3\xa9\" x\n", "CONFIG_YAML", 2, 14, "needs quotes");
	bad("version: 1\n# \xe2\x80\xa8 \xc2\x85\nname: a: b\n", "CONFIG_YAML", 3, 8, "quotes");
	bad("version: 1\r\n\r\nname: a: b\r\n", "CONFIG_YAML", 3, 8, "quotes");
	bad("version: 1\r\rname: a: b\r", "CONFIG_YAML", 3, 8, "quotes");
}

/* ---- CONFIG_QUOTE: valid YAML that is not what was meant ---- */

Test(config_yaml, CONFIG_QUOTE_in_a_map)
{
	bad(ACTION("emit: {a: f(x, y)}"), "CONFIG_QUOTE", 5, 19, "needs quotes: \"f(x, y)\"");
	bad(ACTION("emit: {a: f(x, g(y, z), w), b: pid}"), "CONFIG_QUOTE", 5, 19,
	    "needs quotes: \"f(x, g(y, z), w)\"");
	bad(ACTION("emit: {a: name == \"x, y\", b: pid}"), "CONFIG_QUOTE", 5, 19,
	    "needs quotes: 'name == \"x, y\"'");
	bad(ACTION("sum: {into: s, value: f(a, b)}"), "CONFIG_QUOTE", 5, 31, "\"f(a, b)\"");
}

Test(config_yaml, CONFIG_QUOTE_in_a_list)
{
	bad(ACTION("printf: [\"%d %d\", f(a, b), pid]"), "CONFIG_QUOTE", 5, 27, "\"f(a, b)\"");
	bad(ACTION("count: {into: x, by: [f(a, b, c)]}"), "CONFIG_QUOTE", 5, 31, "\"f(a, b, c)\"");
}

Test(config_yaml, CONFIG_QUOTE_in_a_predicate)
{
	bad("version: 1\nprobes: [{probe: 'a:b:c:d', when: f(a, b), do: [show]}]\n", "CONFIG_QUOTE",
	    2, 35, "\"f(a, b)\"");
}

Test(config_yaml, CONFIG_QUOTE_in_a_key)
{
	bad(ACTION("emit: {f(x, y): z}"), "CONFIG_QUOTE", 5, 16, "quotes: \"f(x, y)\"");
}

/* What is quoted, or lies in a block, is whole; a lone bracket is the language's to judge. */
Test(config_yaml, CONFIG_QUOTE_is_not_seen_where_there_is_none)
{
	weft_set_destroy(good(ACTION("emit: {a: \"f(x, y)\", b: 'g(x, y)'}")));
	weft_set_destroy(good(ACTION("emit:\n          a: f(x, y)\n          b: g(x, y)")));
	weft_set_destroy(good(ACTION("emit: {a: f(x), b: g((x) + 1)}")));
	weft_set_destroy(good(ACTION("emit: {a: f(x}")));
	weft_set_destroy(good("version: 1\ntarget: {command: [echo, (a, b]}\n" PROBES));
}

Test(config_yaml, comma_hint_where_a_key_has_no_value)
{
	bad(ACTION("emit: {a: b, c}"), "ACTION_SHAPE", 5, 22, "value before it");
	bad(ACTION("count: {into: x, by: a, c}"), "ACTION_FIELD_UNKNOWN", 5, 33, "value before it");
	bad("version: 1\noptions: {rows: 1, 2}\n" PROBES, "CONFIG_KEY_UNKNOWN", 2, 20,
	    "value before it");
}

/* ---- refused parts of YAML ---- */

Test(config_yaml, CONFIG_ALIAS)
{
	bad(ACTION("sum: {into: x, value: *p}"), "CONFIG_ALIAS", 5, 31, "\"*p\"");
	bad(ACTION("sum: {into: x, value: &p}"), "CONFIG_ALIAS", 5, 31, "\"&p\"");
	bad("version: 1\nname: &a x\n" PROBES, "CONFIG_ALIAS", 2, 7, "anchor");
	bad("version: 1\noptions: &o {rows: 1}\n" PROBES, "CONFIG_ALIAS", 2, 10, "anchor");
	/* Breaks the rest of its line as well; one report says what to do. */
	bad(ACTION("sum: {into: x, value: *p + 1}"), "CONFIG_ALIAS", 5, 31, "\"*p + 1\"");
	bad("version: 1\nprobes:\n  - probe: a:b:c:d\n    when: *p + 1\n", "CONFIG_ALIAS", 4, 11,
	    "\"*p + 1\"");
}

/* Nine levels of nine aliases would be 387,420,489 nodes. */
Test(config_yaml, CONFIG_ALIAS_billion_laughs, .timeout = 20)
{
	struct weft_error *err = weft_error_create();
	struct weft_set *set;
	char text[2048];
	int n = sprintf(text, "version: 1\na: &a [\"lol\",\"lol\",\"lol\"]\n");

	for (char c = 'b'; c <= 'i'; c++)
		n += sprintf(text + n, "%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c,
			     c - 1, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1);
	cr_expect_eq(weft_config_load_memory("lol", text, (size_t)n, &set, err), -22);
	cr_expect_str_eq(weft_error_tag(err), "CONFIG_ALIAS");
	cr_expect_eq(weft_error_count(err), WEFT_CONFIG_MAX_ERRORS);
	weft_error_destroy(err);
}

Test(config_yaml, CONFIG_TAG)
{
	bad("version: 1\nname: !!str x\n" PROBES, "CONFIG_TAG", 2, 7, "tag");
	bad("version: 1\nname: ! x\n" PROBES, "CONFIG_TAG", 2, 7, "tag");
	bad("version: 1\noptions: !!map {rows: 1}\n" PROBES, "CONFIG_TAG", 2, 10, "tag");
	bad("version: 1\nprobes:\n  - probe: a:b:c:d\n    when: !pid\n    do: [show]\n",
	    "CONFIG_TAG", 4, 11, "needs quotes: \"!pid\"");
	bad(ACTION("emit: {a: !f(x, y), b: pid}"), "CONFIG_TAG", 5, 19, "quotes: \"!f(x, y)\"");
}

Test(config_yaml, CONFIG_DOCUMENTS)
{
	bad("version: 1\n" PROBES "---\nversion: 1\n", "CONFIG_DOCUMENTS", 3, 1, "second");
	weft_set_destroy(good("%YAML 1.1\n---\nversion: 1\n" PROBES "...\n"));
}

static char *nested(unsigned int depth)
{
	char *text = malloc(2 * depth + 64);
	int n = sprintf(text, "version: 1\nname: ");

	memset(text + n, '[', depth);
	memset(text + n + depth, ']', depth);
	text[n + 2 * (int)depth] = '\0';
	return text;
}

Test(config_yaml, CONFIG_DEPTH)
{
	char *text = nested(32); /* and the map that all of it lies in */

	bad(text, "CONFIG_DEPTH", 2, 38, "32");
	free(text);
	text = nested(31);
	strcat(text, "\n");
	strcat(text, PROBES);
	bad(text, "CONFIG_TYPE", 2, 7, "a list");
	free(text);
}

Test(config_yaml, CONFIG_DEPTH_bomb, .timeout = 20)
{
	char *text = nested(500000);

	bad(text, "CONFIG_DEPTH", 2, 38, "32");
	free(text);
}

Test(config_yaml, CONFIG_DEPTH_bomb_of_blocks, .timeout = 20)
{
	char *text = calloc(1, 500001);

	for (int i = 0; i < 250000; i++)
		memcpy(text + 2 * i, "- ", 2);
	bad(text, "CONFIG_DEPTH", 1, 65, "32");
	free(text);
}

Test(config_yaml, CONFIG_NODES, .timeout = 60)
{
	size_t size = WEFT_CONFIG_MAX_SIZE;
	char *text = malloc(size + 1);
	int n = sprintf(text, "version: 1\nname: [");

	for (size_t i = (size_t)n; i < size; i += 2)
		memcpy(text + i, "1,", 2);
	text[size] = '\0';
	/* The map, `version`, 1, `name` and the list leave 99,995 for its entries. */
	bad(text, "CONFIG_NODES", 2, 8 + 2 * 99995, "100000");
	free(text);
}

/* 45,000 keys in one map, in descending order: sorted, not compared pairwise. */
Test(config_yaml, many_keys, .timeout = 60)
{
	char *text = malloc(1 << 20);
	int n = sprintf(text, "version: 1\n" PROBES "params: {\n");
	struct weft_set *set;

	for (int i = 45000; i > 0; i--)
		n += sprintf(text + n, "p%05d: 1,\n", i);
	sprintf(text + n, "}\n");
	set = good(text);
	cr_expect_eq(set->n_params, 45000);
	cr_expect_str_eq(set->params[44999].name.s, "p00001");
	weft_set_destroy(set);
	free(text);
}

Test(config_yaml, huge_scalar, .timeout = 60)
{
	size_t size = 900000;
	char *text = malloc(size + 128);
	int n = sprintf(text, "version: 1\n" PROBES "description: ");
	struct weft_set *set;

	memset(text + n, 'x', size);
	text[(size_t)n + size] = '\0';
	set = good(text);
	cr_expect_eq(strlen(set->description.s), size);
	cr_expect(set->description.verbatim);
	weft_set_destroy(set);
	free(text);
}

/* ---- keys ---- */

Test(config_yaml, CONFIG_KEY)
{
	bad("version: 1\n[a, b]: c\n" PROBES, "CONFIG_KEY", 2, 1, "list");
	bad("version: 1\n{a: b}: c\n" PROBES, "CONFIG_KEY", 2, 1, "map");
	bad("version: 1\n? - a\n: c\n" PROBES, "CONFIG_KEY", 2, 3, "list");
	bad("version: 1\noptions: {'': c}\n" PROBES, "CONFIG_KEY", 2, 11, "without a key");
}

Test(config_yaml, CONFIG_KEY_TWICE)
{
	bad("version: 1\nname: x\n" PROBES "name: y\n", "CONFIG_KEY_TWICE", 4, 1,
	    "line 2, column 1");
	bad(ACTION("count: {into: x, into: y}"), "CONFIG_KEY_TWICE", 5, 26, "line 5, column 17");
	bad(ACTION("emit: {a: b, \"a\": c}"), "CONFIG_KEY_TWICE", 5, 22, "line 5, column 16");
	bad("version: 1\nparams: {a: 1, b: 2, a: 3}\n" PROBES, "CONFIG_KEY_TWICE", 2, 22,
	    "line 2, column 10");
}

Test(config_yaml, CONFIG_KEY_TWICE_three_times)
{
	const char text[] = "version: 1\nname: x\nname: y\nname: z\n" PROBES;
	struct weft_error *err = weft_error_create();
	struct weft_report report;
	struct weft_set *set;

	cr_expect_eq(weft_config_load_memory("s", text, sizeof(text) - 1, &set, err), -22);
	cr_assert_eq(weft_error_count(err), 2);
	for (size_t i = 0; i < 2; i++) {
		weft_error_report(err, i, &report);
		cr_expect_eq(report.pos.line, 3 + i);
		cr_expect(strstr(report.text, "line 2, column 1"));
	}
	weft_error_destroy(err);
}

/* ---- places of what is right ---- */

static void expect_text(const struct weft_text *t, const char *s, unsigned int line,
			unsigned int column, bool verbatim)
{
	cr_expect_str_eq(t->s, s);
	cr_expect(t->pos.line == line && t->pos.column == column, "%s at %u:%u, not %u:%u", s,
		  t->pos.line, t->pos.column, line, column);
	cr_expect_eq(t->verbatim, verbatim, "%s", s);
}

/* Byte i of a verbatim text stands at its column + i: behind the quote, where there is one. */
Test(config_yaml, verbatim)
{
	struct weft_set *set = good("version: 1\n" PROBES "params:\n"
				    "  plain: a b\n"
				    "  double: \"a b\"\n"
				    "  single:   'a b'\n"
				    "  escape: \"a\\tb\"\n"
				    "  twice: 'it''s'\n"
				    "  folded: a\n"
				    "    b\n"
				    "  literal: |\n"
				    "    a b\n"
				    "  empty: ''\n");
	const struct weft_param *p = set->params;

	cr_assert_eq(set->n_params, 8);
	expect_text(&p[0].name, "plain", 4, 3, true);
	expect_text(&p[0].value, "a b", 4, 10, true);
	expect_text(&p[1].value, "a b", 5, 12, true);
	expect_text(&p[2].value, "a b", 6, 14, true);
	expect_text(&p[3].value, "a\tb", 7, 11, false);
	expect_text(&p[4].value, "it's", 8, 10, false);
	expect_text(&p[5].value, "a b", 9, 11, false);
	expect_text(&p[6].value, "a b\n", 11, 12, false);
	expect_text(&p[7].value, "", 13, 11, true);
	for (size_t i = 0; i < 8; i++)
		cr_expect_eq(p[i].quoted, i != 0 && i != 5, "%s", p[i].name.s);
	weft_set_destroy(set);
}

Test(config_yaml, columns_count_bytes)
{
	struct weft_set *set = good(ACTION("emit: {\xc3\xa9: pid, \"\xe2\x82\xac x\": tid}"));
	const struct weft_action *emit = &set->clauses[0].actions[0];

	cr_assert_eq(emit->n_items, 2);
	expect_text(&emit->items[0].name, "\xc3\xa9", 5, 16, true);
	expect_text(&emit->items[0].text, "pid", 5, 20, true);
	expect_text(&emit->items[1].name, "\xe2\x82\xac x", 5, 26, true);
	expect_text(&emit->items[1].text, "tid", 5, 34, true);
	weft_set_destroy(set);
}
