/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Actions by the shapes of the language's table. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "core/lang/actions.h"
#include "support.h"

static struct weft_set *set;

static const struct weft_action *action(const char *yaml)
{
	set = good(yaml);
	cr_assert_eq(set->clauses[0].n_actions, 1);
	return &set->clauses[0].actions[0];
}

static void expect_item(const struct weft_action *a, size_t i, const char *field, const char *name,
			const char *text, unsigned int line, unsigned int column)
{
	const struct weft_item *item = &a->items[i];

	cr_assert_lt(i, a->n_items);
	cr_expect_str_eq(item->field->name, field);
	if (name)
		cr_expect_str_eq(item->name.s, name);
	else
		cr_expect_null(item->name.s, "%s", text);
	cr_expect_str_eq(item->text.s, text);
	cr_expect(item->text.pos.line == line && item->text.pos.column == column,
		  "%s at %u:%u, not %u:%u", text, item->text.pos.line, item->text.pos.column, line,
		  column);
}

/* ---- shapes ---- */

Test(config_action, shape_assign)
{
	const struct weft_action *a =
		action(ACTION("set: {self.len: arg2, total: += arg2, 'e[pid, 1]': x ?? 0}"));

	cr_expect_eq(a->spec->kind, WEFT_ACTION_SET);
	cr_assert_eq(a->n_items, 3);
	expect_item(a, 0, "", "self.len", "arg2", 5, 25);
	expect_item(a, 1, "", "total", "+= arg2", 5, 38);
	expect_item(a, 2, "", "e[pid, 1]", "x ?? 0", 5, 60);
	cr_expect_eq(a->items[2].name.pos.column, 47 + 1);
	weft_set_destroy(set);
	/* Without braces a comma needs no quotes. */
	a = action(ACTION("set:\n          e[pid, tid]: -= 1\n          b: '|= 4'"));
	cr_assert_eq(a->n_items, 2);
	expect_item(a, 0, "", "e[pid, tid]", "-= 1", 6, 24);
	expect_item(a, 1, "", "b", "|= 4", 7, 15);
	weft_set_destroy(set);
}

Test(config_action, shape_variables)
{
	const struct weft_action *a = action(ACTION("delete: self.len"));

	cr_assert_eq(a->n_items, 1);
	expect_item(a, 0, "", NULL, "self.len", 5, 17);
	weft_set_destroy(set);
	a = action(ACTION("delete: [x, 'e[pid, 1]']"));
	cr_assert_eq(a->n_items, 2);
	expect_item(a, 0, "", NULL, "x", 5, 18);
	expect_item(a, 1, "", NULL, "e[pid, 1]", 5, 22);
	weft_set_destroy(set);
}

Test(config_action, shape_expr_and_name)
{
	const struct weft_action *a = action(ACTION("sum: {into: bytes, value: arg2 + 1}"));

	cr_expect_eq(a->spec->kind, WEFT_ACTION_SUM);
	cr_expect_eq(a->pos.line, 5);
	cr_expect_eq(a->pos.column, 9);
	cr_assert_eq(a->n_items, 2);
	expect_item(a, 0, "into", NULL, "bytes", 5, 21);
	expect_item(a, 1, "value", NULL, "arg2 + 1", 5, 35);
	weft_set_destroy(set);
	/* YAML's own types are texts of expressions all the same. */
	a = action(ACTION("sum: {value: true, into: 5}"));
	expect_item(a, 0, "value", NULL, "true", 5, 22);
	expect_item(a, 1, "into", NULL, "5", 5, 34);
	weft_set_destroy(set);
}

Test(config_action, shape_choice)
{
	const struct weft_action *a = action(ACTION("max: {into: x, value: pid, unit: bytes}"));

	expect_item(a, 2, "unit", NULL, "bytes", 5, 42);
	weft_set_destroy(set);
}

Test(config_action, shape_keys)
{
	const struct weft_action *a = action(ACTION("count: {into: x, by: execname}"));

	cr_assert_eq(a->n_items, 2);
	expect_item(a, 1, "by", NULL, "execname", 5, 30);
	weft_set_destroy(set);

	a = action(ACTION("count: {into: x, by: [execname, pid + 1]}"));
	cr_assert_eq(a->n_items, 3);
	expect_item(a, 1, "by", NULL, "execname", 5, 31);
	expect_item(a, 2, "by", NULL, "pid + 1", 5, 41);
	weft_set_destroy(set);

	a = action(ACTION("count: {by: {a: execname, b: \"f(x, y)\"}, into: x}"));
	cr_assert_eq(a->n_items, 3);
	expect_item(a, 0, "by", "a", "execname", 5, 25);
	expect_item(a, 1, "by", "b", "f(x, y)", 5, 39);
	expect_item(a, 2, "into", NULL, "x", 5, 56);
	weft_set_destroy(set);
}

Test(config_action, shape_fields)
{
	const struct weft_action *a =
		action(ACTION("emit:\n          a: pid\n          b: '\"x\"'"));

	cr_assert_eq(a->n_items, 2);
	expect_item(a, 0, "", "a", "pid", 6, 14);
	expect_item(a, 1, "", "b", "\"x\"", 7, 15);
	cr_expect_eq(a->items[0].name.pos.column, 11);
	weft_set_destroy(set);

	a = action(ACTION("emit: [pid, tid]"));
	cr_assert_eq(a->n_items, 2);
	expect_item(a, 1, "", NULL, "tid", 5, 21);
	weft_set_destroy(set);

	/* The names of fields are the writer's, also where they are those of other actions' fields. */
	a = action(ACTION("emit: {into: pid, by: tid}"));
	expect_item(a, 0, "", "into", "pid", 5, 22);
	weft_set_destroy(set);
}

Test(config_action, shape_format)
{
	const struct weft_action *a = action(ACTION("printf: hello"));

	cr_assert_eq(a->n_items, 1);
	expect_item(a, 0, "", NULL, "hello", 5, 17);
	weft_set_destroy(set);

	a = action(ACTION("printf: [\"%d: %s\\n\", pid, execname]"));
	cr_assert_eq(a->n_items, 3);
	expect_item(a, 0, "", NULL, "%d: %s\n", 5, 18);
	cr_expect_not(a->items[0].text.verbatim);
	expect_item(a, 1, "", NULL, "pid", 5, 30);
	expect_item(a, 2, "", NULL, "execname", 5, 35);
	weft_set_destroy(set);

	/* An empty format is a line without text. */
	a = action(ACTION("printf: \"\""));
	expect_item(a, 0, "", NULL, "", 5, 18);
	weft_set_destroy(set);
}

Test(config_action, shape_names)
{
	const struct weft_action *a = action(ACTION("show: oncpu"));

	cr_assert_eq(a->n_items, 1);
	expect_item(a, 0, "", NULL, "oncpu", 5, 15);
	weft_set_destroy(set);

	a = action(ACTION("clear: [a, b]"));
	cr_assert_eq(a->n_items, 2);
	expect_item(a, 1, "", NULL, "b", 5, 20);
	weft_set_destroy(set);
}

Test(config_action, without_a_value)
{
	static const char *const texts[] = {
		ACTION("show"),  ACTION("clear"),  ACTION("exit"),     ACTION("show:"),
		ACTION("exit:"), ACTION("{show}"), ACTION("{exit: }"),
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const struct weft_action *a = action(texts[i]);

		cr_expect_eq(a->n_items, 0);
		cr_expect_not_null(a->spec);
		weft_set_destroy(set);
	}
}

/* Every example of the table is right, and so is everything that the reference page shows. */
Test(config_action, examples)
{
	char text[512];

	for (size_t i = 0; i < weft_n_actions; i++) {
		snprintf(text, sizeof(text), ACTION("%s"), weft_actions[i].example);
		cr_expect_eq(action(text)->spec, &weft_actions[i]);
		weft_set_destroy(set);
	}
}

/* ---- errors ---- */

Test(config_action, ACTION_UNKNOWN)
{
	bad_near(ACTION("cuont: {into: x}"), "ACTION_UNKNOWN", 5, 9, "count");
	bad_near(ACTION("shwo"), "ACTION_UNKNOWN", 5, 9, "show");
	bad(ACTION("elephant: {into: x}"), "ACTION_UNKNOWN", 5, 9, "no action `elephant`");
	bad(ACTION("elephant: {into: x}"), "ACTION_UNKNOWN", 5, 9, "; there are `count`, `sum`, ");
	bad(ACTION("'count()'"), "ACTION_UNKNOWN", 5, 9, "count()");
	bad("version: 1\nbegin: [prinft: hi]\n" PROBES, "ACTION_UNKNOWN", 2, 9, "`prinft`");
}

Test(config_action, ACTION_FIELD_UNKNOWN)
{
	bad_near(ACTION("count: {into: x, bye: pid}"), "ACTION_FIELD_UNKNOWN", 5, 26, "by");
	/* The misspelt field is not missing as well. */
	bad_near(ACTION("count: {inot: x}"), "ACTION_FIELD_UNKNOWN", 5, 17, "into");
	bad(ACTION("count: {into: x, elephant: pid}"), "ACTION_FIELD_UNKNOWN", 5, 26,
	    "; there are `into` and `by`");
	bad(ACTION("count: {into: x, elephant: pid}"), "ACTION_FIELD_UNKNOWN", 5, 26,
	    "`count` has no field `elephant`");
}

Test(config_action, ACTION_FIELD_MISSING)
{
	bad(ACTION("count: {by: pid}"), "ACTION_FIELD_MISSING", 5, 9, "`count` needs `into`");
	bad(ACTION("sum: {into: x}"), "ACTION_FIELD_MISSING", 5, 9, "`sum` needs `value`");
	bad(ACTION("count"), "ACTION_FIELD_MISSING", 5, 9, "for example `count: {into:");
	bad(ACTION("count:"), "ACTION_FIELD_MISSING", 5, 9, "needs `into`");
	bad(ACTION("count: {}"), "ACTION_FIELD_MISSING", 5, 9, "needs `into`");
	bad(ACTION("emit"), "ACTION_FIELD_MISSING", 5, 9, "`emit` needs a value");
	bad(ACTION("printf:"), "ACTION_FIELD_MISSING", 5, 9, "`printf` needs a value");
}

Test(config_action, ACTION_SHAPE_of_an_action)
{
	bad(ACTION("count: x"), "ACTION_SHAPE", 5, 16, "a map of its fields, not `x`");
	bad(ACTION("count: [x]"), "ACTION_SHAPE", 5, 16, "not a list");
	bad(ACTION("emit: pid"), "ACTION_SHAPE", 5, 15, "not `pid`");
	bad(ACTION("emit: {}"), "ACTION_SHAPE", 5, 15, "an empty map");
	bad(ACTION("emit: []"), "ACTION_SHAPE", 5, 15, "an empty list");
	bad(ACTION("printf: {a: b}"), "ACTION_SHAPE", 5, 17, "a format");
	bad(ACTION("printf: []"), "ACTION_SHAPE", 5, 17, "an empty list");
	bad(ACTION("show: {a: b}"), "ACTION_FIELD_UNKNOWN", 5, 16, "`show` has no field `a`");
	bad(ACTION("clear: {a: b}"), "ACTION_SHAPE", 5, 16, "a name or a list of names");
	bad(ACTION("show: []"), "ACTION_SHAPE", 5, 15, "an empty list");
	bad(ACTION("exit: [1]"), "ACTION_SHAPE", 5, 15, "an expression, not a list");
	bad(ACTION("set: x"), "ACTION_SHAPE", 5, 14, "a map of variables and expressions");
	bad(ACTION("set: [x]"), "ACTION_SHAPE", 5, 14, "not a list");
	bad(ACTION("set: {}"), "ACTION_SHAPE", 5, 14, "an empty map");
	bad(ACTION("set: {x: [1]}"), "ACTION_SHAPE", 5, 18, "`x` in `set` takes an expression");
	bad(ACTION("delete: {x: 1}"), "ACTION_SHAPE", 5, 17, "a variable or a list");
	bad(ACTION("delete: []"), "ACTION_SHAPE", 5, 17, "an empty list");
}

/* An action with a whole value and with fields: a map is its fields, the rest the value. */
Test(config_action, shape_names_or_fields)
{
	const struct weft_action *a = action(ACTION("show: [x, y]"));

	cr_assert_eq(a->n_items, 2);
	expect_item(a, 1, "", NULL, "y", 5, 19);
	weft_set_destroy(set);

	a = action(ACTION("show: {name: [x, y], top: 10, sort: key, order: asc, per: 1s}"));
	cr_assert_eq(a->n_items, 6);
	expect_item(a, 0, "name", NULL, "x", 5, 23);
	expect_item(a, 1, "name", NULL, "y", 5, 26);
	expect_item(a, 2, "top", NULL, "10", 5, 35);
	expect_item(a, 3, "sort", NULL, "key", 5, 45);
	expect_item(a, 5, "per", NULL, "1s", 5, 67);
	weft_set_destroy(set);

	a = action(ACTION("show"));
	cr_expect_eq(a->n_items, 0);
	weft_set_destroy(set);
	bad(ACTION("show: {sort: size}"), "ACTION_CHOICE", 5, 22, "value|key|count");
	bad_near(ACTION("show: {tpo: 3}"), "ACTION_FIELD_UNKNOWN", 5, 16, "top");
}

Test(config_action, shape_constant)
{
	const struct weft_action *a = action(
		ACTION("lquantize: {into: x, value: pid, from: 0, to: $most + 1, step: 10us}"));

	cr_assert_eq(a->n_items, 5);
	expect_item(a, 2, "from", NULL, "0", 5, 48);
	expect_item(a, 3, "to", NULL, "$most + 1", 5, 55);
	expect_item(a, 4, "step", NULL, "10us", 5, 72);
	weft_set_destroy(set);
	bad(ACTION("lquantize: {into: x, value: pid, from: [0], to: 5}"), "ACTION_SHAPE", 5, 48,
	    "an expression");
	bad(ACTION("lquantize: {into: x, value: pid, from: 0}"), "ACTION_FIELD_MISSING", 5, 9,
	    "needs `to`");
}

Test(config_action, ACTION_SHAPE_of_a_field)
{
	bad(ACTION("count: {into: [x]}"), "ACTION_SHAPE", 5, 23, "`into` of `count` takes a name");
	bad(ACTION("count: {into: }"), "ACTION_SHAPE", 5, 17, "not nothing");
	bad(ACTION("count: {into: x, by: []}"), "ACTION_SHAPE", 5, 30, "an empty list");
	bad(ACTION("count: {into: x, by: }"), "ACTION_SHAPE", 5, 26, "`by` of `count`");
	bad(ACTION("sum: {into: x, value: {a: b}}"), "ACTION_SHAPE", 5, 31, "an expression");
	bad(ACTION("sum: {into: x, value: 1, unit: [ns]}"), "ACTION_SHAPE", 5, 40, "one word");
	bad(ACTION("emit: {a: [b]}"), "ACTION_SHAPE", 5, 19, "`a` in `emit` takes an expression");
	bad(ACTION("emit:\n          a:\n          b: pid"), "ACTION_SHAPE", 6, 11, "not nothing");
	bad(ACTION("count: {into: x, by: {a: {b: c}}}"), "ACTION_SHAPE", 5, 34,
	    "`a` in `by` of `count`");
	bad(ACTION("show: [a, [b]]"), "ACTION_SHAPE", 5, 19, "an entry in `show` takes a name");
}

Test(config_action, ACTION_SHAPE_of_an_entry)
{
	bad(ACTION("count:\n        into: x"), "ACTION_SHAPE", 6, 9,
	    "`into` is a field of `count`: indent it");
	bad(ACTION("count: {into: x}\n        show: x"), "ACTION_SHAPE", 6, 9, "with `- `");
	bad(ACTION("{}"), "ACTION_SHAPE", 5, 9, "an empty map");
	bad(ACTION("[show]"), "ACTION_SHAPE", 5, 9, "not a list");
	bad(ACTION("~"), "ACTION_SHAPE", 5, 9, "not nothing");
	bad("version: 1\nprobes:\n  - probe: a:b:c:d\n    do: show\n", "CONFIG_TYPE", 4, 9,
	    "`do` takes a list of actions");
	bad("version: 1\nprobes:\n  - probe: a:b:c:d\n    do: {show: x}\n", "CONFIG_TYPE", 4, 9,
	    "not a map");
}

Test(config_action, ACTION_CHOICE)
{
	bad(ACTION("sum: {into: x, value: 1, unit: parsecs}"), "ACTION_CHOICE", 5, 40,
	    "one of ns|us|ms|s|bytes, not `parsecs`");
	bad_near(ACTION("sum: {into: x, value: 1, unit: byte}"), "ACTION_CHOICE", 5, 40, "bytes");
}
