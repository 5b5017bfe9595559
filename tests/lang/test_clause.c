/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Actions and clauses. Items are written "field|name|text", as rig.h says. */
#include "rig.h"

static struct rig r;
static struct weft_typed_clause out;

static void init(void)
{
	rig_init(&r);
}

static void finish(void)
{
	rig_finish(&r);
}

TestSuite(lang_clause, .init = init, .fini = finish);

#define TYPE(...) rig_type(&r, rig_action(&r, __VA_ARGS__, NULL), &out)

/* Expects one error of one action. offset < 0: at the action itself. */
static void expect(int rc, const char *tag, int line, int column, const char *suggestion,
		   const char *word)
{
	struct weft_report report;

	cr_expect(rc < 0);
	cr_expect(weft_error_count(r.err) == 1, "%zu reports", weft_error_count(r.err));
	if (weft_error_report(r.err, 0, &report))
		return;
	cr_expect_str_eq(report.tag, tag, "%s: %s", report.tag, report.text);
	cr_expect((int)report.pos.line == line && (int)report.pos.column == column, "at %u:%u: %s",
		  report.pos.line, report.pos.column, report.text);
	cr_expect((suggestion == NULL) == (report.suggestion == NULL) &&
			  (!suggestion || !strcmp(suggestion, report.suggestion)),
		  "suggests %s", report.suggestion ? report.suggestion : "nothing");
	cr_expect(strstr(report.text, word) != NULL, "%s", report.text);
}

#define AT(offset) (int)RIG_LINE, (int)(RIG_COLUMN + (offset))
#define AT_NAME    (int)RIG_LINE - 1, (int)RIG_COLUMN
#define AT_ACTION  (int)RIG_LINE - 2, 3

Test(lang_clause, aggregations)
{
	const struct weft_typed_action *a;

	cr_assert(TYPE("count", "into||hits") == 0);
	a = &out.actions[0];
	cr_expect(out.n_actions == 1 && !strcmp(a->into, "hits") && a->n_keys == 0 && !a->value &&
		  !a->unit);

	cr_assert(TYPE("quantize", "into||latency", "by|program|execname", "by|cpu|cpu",
		       "by|stack|ustack", "by|where|probefunc", "by|small|(uint8) pid",
		       "value||arg0", "unit||ns") == 0);
	a = &out.actions[0];
	cr_expect(a->n_keys == 5 && !strcmp(a->keys[0].name, "program") &&
		  !strcmp(a->keys[4].name, "small"));
	cr_expect(a->keys[4].node->type.size == 1, "a key keeps its size");
	cr_expect(a->value->type.size == 8 && a->value->type.is_signed, "a value has 64 bits");
	cr_expect_str_eq(a->unit, "ns");
	cr_expect(out.uses_ustack && !out.uses_stack && !out.uses_elapsed);

	cr_assert(TYPE("sum", "into||s", "by|| execname ", "by||pid", "value||arg2") == 0);
	a = &out.actions[0];
	cr_expect_str_eq(a->keys[0].name, "execname", "a key without a name has its text");
	cr_expect(a->value->type.size == 8 && !a->value->type.is_signed);

	for (size_t i = 0; i < weft_n_actions; i++) {
		if (weft_actions[i].group != WEFT_GROUP_AGGREGATION)
			continue;
		if (weft_actions[i].kind == WEFT_ACTION_LQUANTIZE)
			cr_expect(TYPE(weft_actions[i].name, "into||x", "value||elapsed", "from||0",
				       "to||9") == 0);
		else if (weft_actions[i].kind == WEFT_ACTION_LLQUANTIZE)
			cr_expect(TYPE(weft_actions[i].name, "into||x", "value||elapsed",
				       "factor||10", "low||0", "high||3", "steps||10") == 0);
		else if (weft_actions[i].kind != WEFT_ACTION_COUNT)
			cr_expect(TYPE(weft_actions[i].name, "into||x", "value||elapsed") == 0);
	}
	cr_expect(out.uses_elapsed);
}

Test(lang_clause, records)
{
	const struct weft_typed_action *a;

	cr_assert(TYPE("emit", "|program|execname", "|n|arg0", "|blob|args.blob", "|k|stack(4)",
		       "|f|probename") == 0);
	a = &out.actions[0];
	cr_expect(a->n_fields == 5 && !strcmp(a->fields[0].name, "program"));
	cr_expect(a->fields[1].node->type.size == 4, "a field keeps its size");
	cr_expect(out.uses_stack && !out.uses_ustack);

	cr_assert(TYPE("emit", "||pid", "||elapsed / 1us") == 0);
	cr_expect_str_eq(out.actions[0].fields[1].name, "elapsed / 1us");

	cr_assert(TYPE("printf", "||%s %d %x %s %s %c %p%%", "||execname", "||pid", "||args.buf",
		       "||ustack(3)", "||probefunc", "||'x'", "||5") == 0);
	a = &out.actions[0];
	cr_expect_str_eq(a->format, "%s %d %x %s %s %c %p%%");
	cr_expect(a->n_fields == 7);
	cr_assert(TYPE("printf", "||%d %d", "||pid", "||pid") == 0, "arguments may be alike");
	cr_assert(TYPE("printf", "||plain") == 0);
	cr_expect(out.actions[0].n_fields == 0);
}

Test(lang_clause, control)
{
	struct weft_action *list[] = {rig_action(&r, "count", "into||hits", NULL),
				      rig_action(&r, "show", NULL),
				      rig_action(&r, "show", "||hits", NULL),
				      rig_action(&r, "clear", "||hits", "||first", NULL),
				      rig_action(&r, "exit", NULL),
				      rig_action(&r, "exit", "||errno", NULL),
				      NULL};
	struct weft_action *begin[] = {rig_action(&r, "max", "into||first", "value||1", NULL), NULL};
	int rc;

	r.set.clauses = rig_clause(&r, "pid", list);
	r.set.n_clauses = 1;
	r.set.begin = rig_clause(&r, NULL, begin);
	r.set.n_begin = 1;
	rc = weft_lang_clause(&r.env, r.set.clauses, r.arena, &out, r.err);
	cr_assert(rc == 0, "%s", weft_error_text(r.err));
	cr_expect(!weft_lang_verify_clause(&out));
	cr_expect(out.n_actions == 6 && out.when && out.when->kind == WEFT_NODE_VAR);
	cr_expect(out.actions[1].n_names == 0 && out.actions[2].n_names == 1);
	cr_expect(out.actions[3].n_names == 2 && !strcmp(out.actions[3].names[1], "first"));
	cr_expect(!out.actions[4].value && out.actions[5].value);
}

Test(lang_clause, NAME_BAD)
{
	expect(TYPE("count", "into||9lives"), "NAME_BAD", AT(0), NULL, "`9lives`");
	expect(TYPE("count", "into||a b"), "NAME_BAD", AT(0), NULL, "letters");
	expect(TYPE("count", "into||"), "NAME_BAD", AT(0), NULL, "``");
	expect(TYPE("count", "into||x", "by|a-b|pid"), "NAME_BAD", AT_NAME, NULL, "`a-b`");
	expect(TYPE("emit", "|\xc3\xa9|pid"), "NAME_BAD", AT_NAME, NULL, "letters");
	expect(TYPE("show", "||a.b"), "NAME_BAD", AT(0), NULL, "`a.b`");
	cr_expect(TYPE("count", "into||_aZ9") == 0);
}

Test(lang_clause, NAME_TWICE)
{
	expect(TYPE("emit", "|a|pid", "|b|pid", "|a|uid"), "NAME_TWICE", AT_NAME, NULL, "`a`");
	expect(TYPE("emit", "||pid", "||pid"), "NAME_TWICE", AT(0), NULL, "`pid`");
	expect(TYPE("count", "into||x", "by|k|pid", "by|k|uid"), "NAME_TWICE", AT_NAME, NULL, "`k`");
}

Test(lang_clause, VALUE_MISSING)
{
	expect(TYPE("count", "by||pid"), "VALUE_MISSING", AT_ACTION, NULL, "`count` needs `into`");
	expect(TYPE("sum", "into||x"), "VALUE_MISSING", AT_ACTION, NULL, "`value`");
	expect(rig_type(&r, rig_action(&r, "emit", NULL), &out), "VALUE_MISSING", AT_ACTION, NULL,
	       "needs a value");
	expect(rig_type(&r, rig_action(&r, "printf", NULL), &out), "VALUE_MISSING", AT_ACTION, NULL,
	       "`printf`");
}

Test(lang_clause, AGGREGATION_UNKNOWN)
{
	struct weft_action *list[] = {rig_action(&r, "count", "into||latency", NULL),
				      rig_action(&r, "clear", "||latncy", NULL), NULL};

	r.set.clauses = rig_clause(&r, NULL, list);
	r.set.n_clauses = 1;
	expect(weft_lang_clause(&r.env, r.set.clauses, r.arena, &out, r.err), "AGGREGATION_UNKNOWN",
	       AT(0), "latency", "`latncy`");
	expect(TYPE("show", "||x"), "AGGREGATION_UNKNOWN", AT(0), NULL, "`x`");
}

Test(lang_clause, FORMAT_ARGUMENTS)
{
	expect(TYPE("printf", "||%d %d", "||pid"), "FORMAT_ARGUMENTS", AT(0), NULL,
	       "2 conversions, and 1 argument follows");
	expect(TYPE("printf", "||none", "||pid", "||uid"), "FORMAT_ARGUMENTS", AT(0), NULL,
	       "0 conversions, and 2 arguments follow");
	expect(TYPE("printf", "||%d", "||execname"), "FORMAT_ARGUMENTS", AT(0), NULL,
	       "%d takes an integer (%s prints the rest), and argument 1 is a string");
	expect(TYPE("printf", "||%d %s", "||pid", "||  pid + 1"), "FORMAT_ARGUMENTS", AT(2), NULL,
	       "%s takes anything but integers, which %d prints, and argument 2 is an int64");
	expect(TYPE("printf", "||%s", "||arg1"), "FORMAT_ARGUMENTS", AT(0), "str(arg1)",
	       "is an address");
	expect(TYPE("printf", "||%x", "||stack"), "FORMAT_ARGUMENTS", AT(0), NULL, "stack");
	expect(TYPE("printf", "||%p", "||probefunc"), "FORMAT_ARGUMENTS", AT(0), NULL,
	       "probe field");
	expect(TYPE("printf", "||%c", "||\"a\""), "FORMAT_ARGUMENTS", AT(0), NULL, "integer");
	expect(TYPE("printf", "||%d", "||args.blob"), "FORMAT_ARGUMENTS", AT(0), NULL, "bytes");
}

Test(lang_clause, FORMAT_BAD)
{
	expect(TYPE("printf", "||a %f", "||pid"), "FORMAT_BAD", AT(3), NULL, "floating");
}

Test(lang_clause, EXPR_TYPE)
{
	struct weft_clause *c = rig_clause(&r, "execname", NULL);

	expect(weft_lang_clause(&r.env, c, r.arena, &out, r.err), "EXPR_TYPE", AT(0), NULL,
	       "`when`");
	expect(TYPE("sum", "into||x", "value||execname"), "EXPR_TYPE", AT(0), NULL, "`sum` takes");
	expect(TYPE("exit", "||execname"), "EXPR_TYPE", AT(0), NULL, "`exit`");
	expect(TYPE("count", "into||x", "by||args.blob"), "EXPR_TYPE", AT(0), NULL, "no key");
}

Test(lang_clause, EXPR_NUMBER_RANGE)
{
	expect(TYPE("exit", "||256"), "EXPR_NUMBER_RANGE", AT(0), NULL, "255");
	expect(TYPE("exit", "||1 - 2"), "EXPR_NUMBER_RANGE", AT(0), NULL, "255");
	cr_expect(TYPE("exit", "||255") == 0);
}

Test(lang_clause, signal)
{
	r.env.destructive = true;
	cr_assert(TYPE("signal", "||TERM") == 0);
	cr_expect(out.actions[0].signal == 15);
	cr_assert(TYPE("signal", "||SIGKILL") == 0);
	cr_expect(out.actions[0].signal == 9);
	cr_assert(TYPE("signal", "||64") == 0);
	cr_expect(out.actions[0].signal == 64);
	expect(TYPE("signal", "||0"), "EXPR_NUMBER_RANGE", AT(0), NULL, "1 to 64");
	expect(TYPE("signal", "||65"), "EXPR_NUMBER_RANGE", AT(0), NULL, "1 to 64");
	expect(TYPE("signal", "||4294967305"), "EXPR_NUMBER_RANGE", AT(0), NULL, "1 to 64");
	expect(TYPE("signal", "||TREM"), "NAME_UNKNOWN", AT(0), "TERM", "`TREM`");
}

Test(lang_clause, DESTRUCTIVE)
{
	expect(TYPE("signal", "||TERM"), "DESTRUCTIVE", AT_ACTION, NULL, "--destructive");
}

Test(lang_clause, SIGNAL_NONE)
{
	r.env.destructive = true;
	r.env.info = NULL;
	expect(TYPE("signal", "||TERM"), "SIGNAL_NONE", AT_ACTION, NULL, "`begin`");
}

Test(lang_clause, entry_arguments_that_are_used)
{
	r.env.entry_info = &r.info;
	cr_assert(TYPE("emit", "|a|entry.fd", "|b|entry.arg2 + entry.arg9", "|c|elapsed") == 0);
	cr_expect(out.entry_args == (1u << 0 | 1u << 2 | 1u << 9) && out.uses_elapsed);
	cr_expect(weft_lang_entry_mentions(out.clause) == 3);
	cr_assert(TYPE("emit", "|a|pid", "|b|\"reentry.x entry\"") == 0);
	cr_expect(out.entry_args == 0 && weft_lang_entry_mentions(out.clause) == 0);
}

Test(lang_clause, STRING_TOO_LONG)
{
	r.set.options.strsize = 8;
	expect(TYPE("emit", "|s|\"12345678\""), "STRING_TOO_LONG", AT(0), NULL, "strsize");
	cr_expect(TYPE("emit", "|s|\"1234567\"") == 0);
}

Test(lang_clause, NAME_UNKNOWN_unit)
{
	expect(TYPE("sum", "into||x", "value||pid", "unit||sec"), "NAME_UNKNOWN", AT(0), NULL,
	       "ns|us|ms|s|bytes");
}

/* Every error of a clause comes out, in order, each at its place. */
Test(lang_clause, all_errors_are_reported)
{
	static const char *const tags[] = {"EXPR_SYNTAX", "NAME_UNKNOWN", "EXPR_TYPE",
					   "VALUE_MISSING", "FORMAT_ARGUMENTS"};
	struct weft_action *list[] = {
		rig_action(&r, "sum", "into||x", "by||pidd", "value||execname", NULL),
		rig_action(&r, "count", NULL), rig_action(&r, "printf", "||%d", NULL), NULL};
	struct weft_clause *c = rig_clause(&r, "pid = 1", list);
	struct weft_report report;

	cr_expect(weft_lang_clause(&r.env, c, r.arena, &out, r.err) < 0);
	cr_expect(weft_error_count(r.err) == N(tags), "%zu", weft_error_count(r.err));
	for (size_t i = 0; i < N(tags) && !weft_error_report(r.err, i, &report); i++)
		cr_expect_str_eq(report.tag, tags[i]);
}

/* Without a probe, everything is said but what depends on one. */
Test(lang_clause, check_syntax)
{
	struct weft_action *good[] = {rig_action(&r, "emit", "|a|arg7 + retval", "|b|args.anything",
						 "|c|errno", "|d|elapsed / 1us",
						 "|e|execname == args.x", NULL),
				      rig_action(&r, "sum", "into||x", "value||arg63", NULL),
				      rig_action(&r, "printf", "||%s", "||arg9", NULL), NULL};
	struct weft_action *bad[] = {
		rig_action(&r, "emit", "|a|arg7 +", "|a|pidd + arg1", "|b|execname + arg1", NULL),
		NULL};
	int rc = weft_lang_check_syntax(&r.set, rig_clause(&r, "arg0 && retval", good), false,
					r.err);

	cr_expect(rc == 0, "%s", weft_error_text(r.err));
	cr_expect(weft_lang_check_syntax(&r.set, rig_clause(&r, NULL, bad), false, r.err) < 0);
	cr_expect(weft_error_count(r.err) == 4, "%zu", weft_error_count(r.err));
}
