/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The whole set: versions, keys, clauses, descriptions of probes, several errors at a time. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/lang/actions.h"
#include "support.h"

/* ---- version ---- */

Test(config_format, CONFIG_VERSION)
{
	bad("version: 2\n" PROBES, "CONFIG_VERSION", 1, 10,
	    "version `2`; this weft reads version 1");
	bad("version: 0\n" PROBES, "CONFIG_VERSION", 1, 10, "version `0`");
	bad("version: -1\n" PROBES, "CONFIG_VERSION", 1, 10, "version -1");
	bad("version: 99999999999999999999\n" PROBES, "CONFIG_VERSION", 1, 10,
	    "99999999999999999999");
	/* Nothing else is said of a set of another version, wherever the key stands. */
	bad("what: [is, this]\nversion: 2\n", "CONFIG_VERSION", 2, 10, "version `2`");
	bad("version: one\n" PROBES, "CONFIG_TYPE", 1, 10, "the integer 1");
	bad("version: \"1\"\n" PROBES, "CONFIG_TYPE", 1, 10, "not \"1\"");
	bad("version: 1.0\n" PROBES, "CONFIG_TYPE", 1, 10, "not `1.0`");
}

/* ---- keys ---- */

Test(config_format, CONFIG_KEY_UNKNOWN)
{
	bad_near("version: 1\nnmae: x\n" PROBES, "CONFIG_KEY_UNKNOWN", 2, 1, "name");
	bad_near("version: 1\nporbes: [{probe: 'a:b:c:d', do: [show]}]\n", "CONFIG_KEY_UNKNOWN", 2,
		 1, "probes");
	bad_near("version: 1\ntarget: {pids: 1}\n" PROBES, "CONFIG_KEY_UNKNOWN", 2, 10, "pid");
	bad_near("version: 1\noptions: {strsiz: 9}\n" PROBES, "CONFIG_KEY_UNKNOWN", 2, 11,
		 "strsize");
	bad_near("version: 1\nprobes:\n  - probes: a:b:c:d\n    do: [show]\n", "CONFIG_KEY_UNKNOWN",
		 3, 5, "probe");
	bad_near("version: 1\nprobes:\n  - probe: {provider: a, modul: b}\n    do: [show]\n",
		 "CONFIG_KEY_UNKNOWN", 3, 26, "module");
	bad("version: 1\nelephant: x\n" PROBES, "CONFIG_KEY_UNKNOWN", 2, 1, "no key `elephant`");
	bad("version: 1\n<<: {a: b}\n" PROBES, "CONFIG_KEY_UNKNOWN", 2, 1, "no key `<<`");
}

Test(config_format, CONFIG_MISSING)
{
	bad("name: x\n" PROBES, "CONFIG_MISSING", 1, 1, "`version: 1`");
	bad("version: 1\n", "CONFIG_MISSING", 1, 1, "needs the key `probes`");
	bad("version: 1\nprobes:\n  - do: [show]\n", "CONFIG_MISSING", 3, 5, "`probe`");
	bad("version: 1\nprobes:\n  - probe: a:b:c:d\n", "CONFIG_MISSING", 3, 5, "`do`");
	bad("version: 1\ntarget: {follow: true}\n" PROBES, "CONFIG_MISSING", 2, 9,
	    "`target` needs `command` or `pid`");
	bad("version: 1\nprobes:\n  - probe: {}\n    do: [show]\n", "CONFIG_MISSING", 3, 12,
	    "`provider` or `module` or `function` or `name`");
}

/* ---- descriptions ---- */

static void expect_pattern(const struct weft_clause *c, size_t i, const char *provider,
			   const char *module, const char *function, const char *name,
			   unsigned int line, unsigned int column)
{
	const struct weft_pattern *p = &c->patterns[i];

	cr_expect_str_eq(p->field[WEFT_FIELD_PROVIDER], provider);
	cr_expect_str_eq(p->field[WEFT_FIELD_MODULE], module);
	cr_expect_str_eq(p->field[WEFT_FIELD_FUNCTION], function);
	cr_expect_str_eq(p->field[WEFT_FIELD_NAME], name);
	cr_expect(c->pattern_pos[i].line == line && c->pattern_pos[i].column == column,
		  "%s at %u:%u, not %u:%u", name, c->pattern_pos[i].line, c->pattern_pos[i].column,
		  line, column);
}

Test(config_format, probe_description)
{
	struct weft_set *set = good("version: 1\nprobes:\n"
				    "  - probe: profile:::profile-99hz\n"
				    "    do: [show]\n"
				    "  - probe: \"uprobe:libc.so.6:std::*:entry\"\n"
				    "    do: [show]\n");

	cr_assert_eq(set->n_clauses, 2);
	cr_assert_eq(set->clauses[0].n_patterns, 1);
	expect_pattern(&set->clauses[0], 0, "profile", "", "", "profile-99hz", 3, 12);
	expect_pattern(&set->clauses[1], 0, "uprobe", "libc.so.6", "std::*", "entry", 5, 13);
	cr_expect(set->clauses[1].patterns[0].glob[WEFT_FIELD_FUNCTION]);
	weft_set_destroy(set);
}

Test(config_format, probe_list_and_map)
{
	struct weft_set *set = good("version: 1\nprobes:\n"
				    "  - probe:\n"
				    "      - a:b:c:d\n"
				    "      - {provider: uprobe, function: 'x::y', name: entry}\n"
				    "      - name: '+0x10'\n"
				    "    do: [show]\n"
				    "  - probe: {provider: p, module: /bin/a:b}\n"
				    "    do: [show]\n");

	cr_assert_eq(set->clauses[0].n_patterns, 3);
	expect_pattern(&set->clauses[0], 0, "a", "b", "c", "d", 4, 9);
	expect_pattern(&set->clauses[0], 1, "uprobe", "", "x::y", "entry", 5, 9);
	expect_pattern(&set->clauses[0], 2, "", "", "", "+0x10", 6, 9);
	expect_pattern(&set->clauses[1], 0, "p", "/bin/a:b", "", "", 8, 12);
	weft_set_destroy(set);
}

/* The tags of patterns come with the places of the file. */
Test(config_format, patterns)
{
	bad("version: 1\nprobes:\n  - probe: a:b\n    do: [show]\n", "PATTERN_FIELDS", 3, 12, "a:b");
	bad("version: 1\nprobes:\n  - probe: BEGIN\n    do: [show]\n", "PATTERN_FIELDS", 3, 12,
	    "`begin:`");
	bad("version: 1\nprobes:\n  - probe: [a:b:c:d, 'x']\n    do: [show]\n", "PATTERN_FIELDS", 3,
	    23, "x");
	bad("version: 1\nprobes:\n  - probe: 'a:b:[x:d'\n    do: [show]\n", "PATTERN_BRACKET", 3,
	    13, "[");
	bad("version: 1\nprobes:\n  - probe: 'a:b:c:d\\'\n    do: [show]\n", "PATTERN_ESCAPE", 3,
	    13, "backslash");
	bad("version: 1\nprobes:\n  - probe: {name: '['}\n    do: [show]\n", "PATTERN_BRACKET", 3,
	    12, "[");
	bad("version: 1\nprobes:\n  - probe: []\n    do: [show]\n", "CONFIG_TYPE", 3, 12,
	    "empty list");
	bad("version: 1\nprobes:\n  - probe: [[a]]\n    do: [show]\n", "CONFIG_TYPE", 3, 13,
	    "a list");
	bad("version: 1\nprobes:\n  - probe:\n    do: [show]\n", "CONFIG_TYPE", 3, 5, "not nothing");
	bad("version: 1\nprobes:\n  - probe: {name: [a]}\n    do: [show]\n", "CONFIG_TYPE", 3, 19,
	    "a text");
}

/* ---- clauses ---- */

Test(config_format, when)
{
	struct weft_set *set = good("version: 1\nprobes:\n"
				    "  - {probe: 'a:b:c:d', when: true, do: [show]}\n"
				    "  - {probe: 'a:b:c:d', when: 1, do: [show]}\n"
				    "  - {probe: 'a:b:c:d', when: pid != 0, do: [show]}\n"
				    "  - {probe: 'a:b:c:d', when: 'f(a, b)', do: [show]}\n");
	const char *const when[] = {"true", "1", "pid != 0", "f(a, b)"};

	for (size_t i = 0; i < 4; i++) {
		cr_expect_str_eq(set->clauses[i].when.s, when[i]);
		cr_expect_eq(set->clauses[i].when.pos.line, 3 + i);
		cr_expect_eq(set->clauses[i].when.pos.column, i == 3 ? 31 : 30);
		cr_expect(set->clauses[i].when.verbatim);
		cr_expect_eq(set->clauses[i].pos.column, 5);
	}
	weft_set_destroy(set);
	bad("version: 1\nprobes:\n  - probe: a:b:c:d\n    when:\n    do: [show]\n", "CONFIG_TYPE",
	    4, 5, "`when` takes an expression, not nothing");
	bad("version: 1\nprobes:\n  - probe: a:b:c:d\n    when: [a]\n    do: [show]\n",
	    "CONFIG_TYPE", 4, 11, "a list");
}

/* Indexes go begin, probes, end, whatever the order of the keys. */
Test(config_format, begin_and_end)
{
	struct weft_set *set = good("version: 1\n"
				    "end: [{printf: done}]\n"
				    "probes:\n"
				    "  - {probe: 'a:b:c:d', do: [show]}\n"
				    "  - {probe: 'a:b:c:e', do: [show, clear]}\n"
				    "begin:\n"
				    "  - printf: hello\n"
				    "  - clear\n");

	cr_assert_eq(set->n_begin, 1);
	cr_assert_eq(set->n_end, 1);
	cr_expect_eq(set->begin[0].index, 0);
	cr_expect_eq(set->clauses[0].index, 1);
	cr_expect_eq(set->clauses[1].index, 2);
	cr_expect_eq(set->end[0].index, 3);
	cr_expect_eq(set->begin[0].n_actions, 2);
	cr_expect_eq(set->begin[0].n_patterns, 0);
	cr_expect_eq(set->begin[0].pos.line, 6);
	cr_expect_eq(set->end[0].pos.line, 2);
	weft_set_destroy(set);
}

/* ---- several errors ---- */

Test(config_format, every_error_is_reported)
{
	static const char text[] = "version: 1\n"
				   "nmae: x\n"
				   "options: {rows: 0, depth: x}\n"
				   "probes:\n"
				   "  - probe: a:b\n"
				   "    do: [cuont: {into: x}]\n"
				   "  - probe: a:b:c:d\n"
				   "    do:\n"
				   "      - emit: {a: f(x, y)}\n"
				   "      - sum: {into: x}\n";
	static const struct {
		const char *tag;
		unsigned int line, column;
	} expected[] = {
		{"CONFIG_KEY_UNKNOWN", 2, 1},    {"CONFIG_RANGE", 3, 17},   {"CONFIG_TYPE", 3, 27},
		{"PATTERN_FIELDS", 5, 12},       {"ACTION_UNKNOWN", 6, 10}, {"CONFIG_QUOTE", 9, 19},
		{"ACTION_FIELD_MISSING", 10, 9},
	};
	const size_t n = sizeof(expected) / sizeof(expected[0]);
	struct weft_error *err = weft_error_create();
	struct weft_set *set;

	cr_expect_eq(weft_config_load_memory("s", text, sizeof(text) - 1, &set, err), -EINVAL);
	cr_assert_eq(weft_error_count(err), n);
	/* CONFIG_QUOTE is found while the tree is built, before the rest. */
	for (size_t i = 0; i < n; i++) {
		bool found = false;

		for (size_t k = 0; k < n; k++) {
			struct weft_report r;

			weft_error_report(err, k, &r);
			found |= strcmp(r.tag, expected[i].tag) == 0 &&
				 r.pos.line == expected[i].line &&
				 r.pos.column == expected[i].column;
		}
		cr_expect(found, "%s at %u:%u", expected[i].tag, expected[i].line,
			  expected[i].column);
	}
	weft_error_destroy(err);
}

Test(config_format, at_most_20_errors)
{
	struct weft_error *err = weft_error_create();
	char text[4096] = "version: 1\n" PROBES;
	struct weft_set *set;
	size_t n = strlen(text);

	for (int i = 0; i < 25; i++)
		n += (size_t)sprintf(text + n, "elephant%d: x\n", i);
	cr_expect_eq(weft_config_load_memory("s", text, n, &set, err), -EINVAL);
	cr_expect_eq(weft_error_count(err), WEFT_CONFIG_MAX_ERRORS);
	cr_expect(strstr(weft_error_context_text(err, WEFT_CONFIG_MAX_ERRORS - 1, 0), "20 errors"));
	weft_error_destroy(err);
}

/* Nobody needs to listen. */
Test(config_format, errors_are_optional)
{
	const char text[] = "version: 1\nnmae: x\na: b\n";
	struct weft_set *set;

	cr_expect_eq(weft_config_load_memory("s", text, sizeof(text) - 1, &set, NULL), -EINVAL);
	cr_expect_null(set);
	cr_expect_eq(weft_config_load_file("/nowhere/x", &set, NULL), -ENOENT);
}

/* ---- shipped sets ---- */

static struct weft_set *shipped(const char *name)
{
	struct weft_error *err = weft_error_create();
	struct weft_set *set;
	char path[256];

	snprintf(path, sizeof(path), "%s/config/sets/%s", WEFT_SOURCE_DIR, name);
	cr_assert_eq(weft_config_load_file(path, &set, err), 0, "%s", weft_error_text(err));
	weft_error_destroy(err);
	return set;
}

static void expect_key(const struct weft_item *item, const char *name, const char *expr)
{
	cr_expect_str_eq(item->field->name, "by");
	cr_expect_str_eq(item->name.s, name);
	cr_expect_str_eq(item->text.s, expr);
}

static void expect_no_idle(const struct weft_clause *c)
{
	cr_assert_eq(c->n_with, 1);
	cr_expect_str_eq(c->with[0].name.s, "idle");
	cr_expect_str_eq(c->with[0].value.s, "false");
}

Test(config_format, shipped_on_cpu)
{
	struct weft_set *set = shipped("on-cpu.yaml");
	const struct weft_clause *c = &set->clauses[0];

	cr_assert_eq(set->n_clauses, 1);
	cr_expect_str_eq(c->patterns[0].field[WEFT_FIELD_PROVIDER], "profile");
	cr_expect_str_eq(c->patterns[0].field[WEFT_FIELD_NAME], "profile-99hz");
	expect_no_idle(c);
	cr_assert_eq(c->n_actions, 1);
	cr_expect_eq(c->actions[0].spec->kind, WEFT_ACTION_COUNT);
	cr_assert_eq(c->actions[0].n_items, 4);
	cr_expect_str_eq(c->actions[0].items[0].text.s, "oncpu");
	expect_key(&c->actions[0].items[1], "program", "execname");
	expect_key(&c->actions[0].items[2], "kernel", "stack");
	expect_key(&c->actions[0].items[3], "user", "ustack");
	weft_set_destroy(set);
}

Test(config_format, shipped_cpu_share)
{
	struct weft_set *set = shipped("cpu-share.yaml");
	const struct weft_clause *c = &set->clauses[0];

	cr_assert_eq(set->n_clauses, 1);
	expect_no_idle(c);
	cr_assert_eq(c->actions[0].n_items, 3);
	expect_key(&c->actions[0].items[1], "program", "execname");
	expect_key(&c->actions[0].items[2], "cpu", "cpu");
	weft_set_destroy(set);
}

/* ---- aggregations ---- */

#define FILLED                                                        \
	"probes: [{probe: 'a:b:c:d', do: [count: {into: n, by: pid}," \
	" max: {into: m, value: pid}, quantize: {into: q, value: pid}]}]\n"

Test(config_format, aggregations)
{
	struct weft_set *set =
		good("version: 1\n" FILLED "aggregations:\n"
		     "  n: {top: 20, sort: count, order: asc, per: 1s, divide: 1000}\n"
		     "  m: {}\n"
		     "  q: {sort: key}\n");

	cr_assert_eq(set->n_views, 3);
	cr_expect_str_eq(set->views[0].name.s, "n");
	cr_expect_eq(set->views[0].view.top, 20);
	cr_expect_eq(set->views[0].view.sort, WEFT_SORT_COUNT);
	cr_expect_eq(set->views[0].view.order, WEFT_ORDER_ASC);
	cr_expect_eq(set->views[0].view.per_ns, 1000000000);
	cr_expect_eq(set->views[0].view.divide, 1000);
	cr_expect_eq(set->views[1].view.top, 0);
	cr_expect_eq(set->views[1].view.sort, WEFT_SORT_USUAL);
	cr_expect_eq(set->views[2].view.sort, WEFT_SORT_KEY);
	cr_expect_eq(set->views[2].view.order, WEFT_ORDER_USUAL);
	weft_set_destroy(set);
}

Test(config_format, aggregations_are_checked)
{
	bad("version: 1\n" FILLED "aggregations: [n]\n", "CONFIG_TYPE", 3, 15, "aggregations");
	bad("version: 1\n" FILLED "aggregations: {n: 5}\n", "CONFIG_TYPE", 3, 19, "an aggregation");
	bad("version: 1\n" FILLED "aggregations: {n: {top: 0}}\n", "CONFIG_RANGE", 3, 25, "`top`");
	bad("version: 1\n" FILLED "aggregations: {n: {divide: 0}}\n", "CONFIG_RANGE", 3, 28,
	    "`divide`");
	bad_near("version: 1\n" FILLED "aggregations: {n: {sotr: key}}\n", "CONFIG_KEY_UNKNOWN", 3,
		 20, "sort");
}

Test(config_format, CONFIG_CHOICE)
{
	bad("version: 1\n" FILLED "aggregations: {n: {sort: size}}\n", "CONFIG_CHOICE", 3, 26,
	    "value|key|count");
	bad_near("version: 1\n" FILLED "aggregations: {n: {order: dsc}}\n", "CONFIG_CHOICE", 3, 27,
		 "desc");
}

Test(config_format, AGGREGATION_UNKNOWN)
{
	bad_near("version: 1\nprobes: [{probe: 'a:b:c:d', do: [count: {into: latency}]}]\n"
		 "aggregations: {latncy: {top: 3}}\n",
		 "AGGREGATION_UNKNOWN", 3, 16, "latency");
}

Test(config_format, VIEW_BAD)
{
	bad("version: 1\n" FILLED "aggregations: {m: {per: 1s}}\n", "VIEW_BAD", 3, 16, "`per`");
	bad("version: 1\n" FILLED "aggregations: {q: {divide: 10}}\n", "VIEW_BAD", 3, 16,
	    "`divide`");
	bad("version: 1\n" FILLED "aggregations: {m: {sort: count}}\n", "VIEW_BAD", 3, 16, "count");
}
