/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The plan: what is made, what conflicts, what is too large; without the kernel. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "rig.h"

/* Compiles, expects the tag, and a word of the message. */
static void expect_tag(struct rig *r, const char *tag, const char *word)
{
	cr_expect(rig_compile(r) < 0, "%s", tag);
	cr_expect_str_eq(rig_tag(r), tag);
	cr_expect(!word || strstr(weft_error_text(r->err), word), "%s", weft_error_text(r->err));
}

static void expect_conflict(const char *word, void (*make)(struct rig *))
{
	struct weft_report report;
	struct rig r;

	rig_init(&r);
	make(&r);
	expect_tag(&r, "AGGREGATION_CONFLICT", word);
	cr_assert(!weft_error_report(r.err, 0, &report));
	cr_expect(report.pos.line == 5);
	cr_expect(strstr(report.text, "`a`") && strstr(report.text, "5:2"), "%s", report.text);
	rig_finish(&r);
}

static void two_kinds(struct rig *r)
{
	rig_clause(r, NULL, "count", "into||a", NULL);
	rig_clause(r, NULL, "sum", "into||a", "value||arg0", NULL);
}

static void two_numbers_of_keys(struct rig *r)
{
	rig_clause(r, NULL, "count", "into||a", "by|x|arg0", NULL);
	rig_clause(r, NULL, "count", "into||a", "by|x|arg0", "by|y|arg1", NULL);
}

static void two_names(struct rig *r)
{
	rig_clause(r, NULL, "count", "into||a", "by|x|arg0", NULL);
	rig_clause(r, NULL, "count", "into||a", "by|y|arg0", NULL);
}

static void two_types(struct rig *r)
{
	rig_clause(r, NULL, "count", "into||a", "by|x|arg0", NULL);
	rig_clause(r, NULL, "count", "into||a", "by|x|execname", NULL);
}

static void two_sizes(struct rig *r)
{
	rig_clause(r, NULL, "count", "into||a", "by|x|pid", NULL);
	rig_clause(r, NULL, "count", "into||a", "by|x|(int64)pid", NULL);
}

static void two_spaces(struct rig *r)
{
	rig_clause(r, NULL, "count", "into||a", "by|x|stack", NULL);
	rig_clause(r, NULL, "count", "into||a", "by|x|ustack", NULL);
}

static void two_fields(struct rig *r)
{
	rig_clause(r, NULL, "count", "into||a", "by|x|probename", NULL);
	rig_clause(r, NULL, "count", "into||a", "by|x|probefunc", NULL);
}

static void two_signs(struct rig *r)
{
	rig_clause(r, NULL, "max", "into||a", "value||arg0", NULL);
	rig_clause(r, NULL, "max", "into||a", "value||(uint64)arg0", NULL);
}

static void two_units(struct rig *r)
{
	rig_clause(r, NULL, "sum", "into||a", "value||arg0", "unit||ns", NULL);
	rig_clause(r, NULL, "sum", "into||a", "value||arg0", "unit||bytes", NULL);
}

Test(compiler_plan, AGGREGATION_CONFLICT)
{
	expect_conflict("kind", two_kinds);
	expect_conflict("number of keys", two_numbers_of_keys);
	expect_conflict("name of a key", two_names);
	expect_conflict("type of a key", two_types);
	expect_conflict("type of a key", two_sizes);
	expect_conflict("type of a key", two_spaces);
	expect_conflict("type of a key", two_fields);
	expect_conflict("sign", two_signs);
	expect_conflict("unit", two_units);
}

/* What agrees is one table: shorter strings, narrower values, a unit that is said once. */
Test(compiler_plan, agreement)
{
	struct rig r;

	rig_init(&r);
	rig_arg(&r, 1, 4, false);
	rig_clause(&r, NULL, "sum", "into||a", "value||arg0", "by|x|execname", NULL);
	rig_clause(&r, NULL, "sum", "into||a", "value||arg1", "by|x|\"short\"", "unit||ns", NULL);
	cr_assert(!rig_compile(&r), "%s", weft_error_text(r.err));
	cr_expect(r.plan->n_aggregations == 1);
	cr_expect_str_eq(r.plan->aggregations[0].unit, "ns");
	rig_finish(&r);
}

Test(compiler_plan, KEY_TOO_LARGE)
{
	static const struct weft_loc_op ops[1] = {{.op = WEFT_LOC_CTX, .size = 8}};
	struct rig r;

	rig_init(&r);
	r.set.options.strsize = 1024;
	rig_place(&r, 0, WEFT_TYPE_STRING, WEFT_SPACE_USER, ops, 1);
	rig_clause(&r, NULL, "count", "into||a", "by|x|arg0", "by|y|arg1", NULL);
	expect_tag(&r, "KEY_TOO_LARGE", "1032 bytes");
	rig_finish(&r);
}

Test(compiler_plan, RECORD_TOO_LARGE)
{
	static const struct weft_loc_op ops[1] = {{.op = WEFT_LOC_CTX, .size = 8}};
	char name[32];
	struct rig r;

	rig_init(&r);
	r.set.options.strsize = 1024;
	rig_place(&r, 0, WEFT_TYPE_STRING, WEFT_SPACE_USER, ops, 1);
	rig_clause(&r, NULL, "emit", "|a|arg0", "|b|arg0", "|c|arg0", "|d|arg0", "|e|arg0",
		   "|f|arg0", "|g|arg0", "|h|arg0", "|i|arg0", "|j|arg0", "|k|arg0", "|l|arg0",
		   "|m|arg0", "|n|arg0", "|o|arg0", "|p|arg0", "|q|arg0", NULL);
	expect_tag(&r, "RECORD_TOO_LARGE", "17408 bytes");
	snprintf(name, sizeof(name), "%zu", r.plan->n_schemas);
	cr_expect_str_eq(name, "0");
	rig_finish(&r);
}

/* Values that live at a time within one expression: they are spilled while there is room. */
static int compile_values(unsigned n, struct rig *r)
{
	char value[4096] = "value||", *at = value + strlen(value);

	rig_init(r);
	for (unsigned i = 0; i < n; i++)
		at += sprintf(at, "(arg%u + %u) * (", i % RIG_ARGS, i + 1);
	at += sprintf(at, "1");
	memset(at, ')', n);
	at[n] = '\0';
	rig_clause(r, NULL, "sum", "into||a", value, NULL);
	return rig_compile(r);
}

Test(compiler_plan, CLAUSE_TOO_LARGE)
{
	struct weft_report report;
	struct rig r;

	cr_expect(!compile_values(60, &r));
	rig_finish(&r);
	cr_expect(compile_values(90, &r) == -E2BIG);
	cr_expect_str_eq(rig_tag(&r), "CLAUSE_TOO_LARGE");
	cr_assert(!weft_error_report(r.err, 0, &report));
	cr_expect(report.pos.line == 5 && strstr(report.text, "512"), "%s", report.text);
	rig_finish(&r);
}

Test(compiler_plan, PLAN_FULL)
{
	uint32_t offset = 0, before;
	struct rig r;

	rig_init(&r);
	cr_expect(!weft_plan_state(r.plan, 8, &offset, r.err) && offset % 8 == 0);
	cr_expect(!weft_plan_state(r.plan, 100, &offset, r.err) && offset % 64 == 0);
	before = offset;
	cr_expect(!weft_plan_state(r.plan, 8, &offset, r.err) && offset >= before + 100);
	r.plan->state_capacity = r.plan->state_size + 64;
	cr_expect(weft_plan_state(r.plan, 200, &offset, r.err) == -ENOSPC);
	cr_expect_str_eq(rig_tag(&r), "PLAN_FULL");
	r.plan->state_capacity = r.plan->state_size;
	weft_error_clear(r.err);
	rig_clause(&r, NULL, "count", "into||a", NULL);
	expect_tag(&r, "PLAN_FULL", NULL);
	rig_finish(&r);
}

/* Only what is used is created. */
Test(compiler_plan, maps)
{
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "count", "into||a", NULL);
	cr_assert(!rig_compile(&r));
	for (size_t i = 0; i < r.plan->n_maps; i++)
		cr_expect(r.plan->maps[i].used == (i == WEFT_PLAN_STATE), "map %zu", i);
	rig_clause(&r, "arg0 == 1", "count", "into||b", "by|k|ustack", NULL);
	rig_action(&r, "emit", "|x|arg0", NULL);
	cr_assert(!rig_compile(&r));
	cr_expect(r.plan->maps[WEFT_PLAN_RING].used && r.plan->maps[WEFT_PLAN_SCRATCH].used &&
		  r.plan->maps[WEFT_PLAN_STACKS].used && r.plan->maps[WEFT_PLAN_EXECGEN].used);
	cr_expect(!r.plan->maps[WEFT_PLAN_FRAMES].used && !r.plan->maps[WEFT_PLAN_TARGETS].used);
	cr_expect(r.plan->maps[WEFT_PLAN_FIRST_FREE].max_entries == r.set.options.rows);
	rig_finish(&r);
}

/* The text for `explain` has the clause, and the instructions under their expressions and beside
 * what they were made from. */
Test(compiler_plan, explain)
{
	char *text = NULL;
	struct rig r;

	rig_init(&r);
	r.plan->keep_listing = true;
	rig_clause(&r, "arg0 > 5", "sum", "into||a", "value||arg1 / arg2", NULL);
	cr_assert(!rig_compile(&r));
	cr_assert(!weft_plan_explain(r.plan, &r.program, r.arena, &text));
	cr_expect(strstr(text, "program weft_clause0"));
	cr_expect(strstr(text, "when (>:int64 arg0:int64 5:int64)"), "%s", text);
	cr_expect(strstr(text, "  clause 1, line 5\n"), "as errors count them");
	cr_expect(strstr(text, "; 5:20: arg1 / arg2\n"));
	/* An instruction, the line that it was made from, and what is there. */
	cr_expect(strstr(text, "    0: r0 = map[0][0]+16                      |   v3 = &map 0 "
			       "value[16]  (is the session running?)\n"),
		  "%s", text);
	cr_expect(strstr(text, "| L1:\n"), "a line of which no instruction was made: %s", text);
	cr_expect(strstr(text, "(FAULT_DIVIDE)\n") && strstr(text, "(a)\n"), "%s", text);
	cr_expect(strstr(text, "\nmaps\n  map[0] weft_state\n\n"), "its own, no others: %s", text);
	rig_finish(&r);
}

/* What is no expression: rates, numbers of buckets, names, and the words that stand for them. */
Test(compiler_plan, explain_of_the_rest)
{
	static const char *const lines[] = {
		"    every 7\n",
		"    limit 5/s\n",
		"    lquantize a\n      from -5 to 10 step 3\n",
		"    llquantize b\n      factor 10 low 0 high 3 steps 20\n",
		"    show a, b\n",
		"    clear\n",
		"    signal 15\n",
		"(SAMPLED_OUT)\n",
		"(RATE_LIMITED)\n",
		"(limit)\n",
		"(show)\n",
		"(clear)\n",
	};
	struct weft_clause *c;
	char *text = NULL;
	struct rig r;

	rig_init(&r);
	r.plan->keep_listing = true;
	r.env.destructive = true;
	rig_clause(&r, NULL, "lquantize", "into||a", "value||arg0", "from||-5", "to||10", "step||3",
		   NULL);
	rig_action(&r, "llquantize", "into||b", "value||arg0", "factor||10", "low||0", "high||3",
		   "steps||20", NULL);
	rig_action(&r, "show", "||a", "||b", NULL);
	rig_action(&r, "clear", NULL);
	rig_action(&r, "signal", "||TERM", NULL);
	c = &r.raw[0];
	c->every = 7;
	c->limit.count = 5;
	c->limit.per_ns = 1000000000;
	c->limit.text = (struct weft_text){.s = "5/s", .pos = {5, 9}, .verbatim = true};
	cr_assert(!rig_compile(&r));
	cr_assert(!weft_plan_explain(r.plan, &r.program, r.arena, &text));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		cr_expect(strstr(text, lines[i]), "%s:\n%s", lines[i], text);
	rig_finish(&r);
}

Test(compiler_plan, program_names)
{
	struct weft_clause list;
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "count", "into||a", NULL);
	cr_assert(!rig_compile(&r));
	cr_expect_str_eq(r.program.name, "weft_clause0");
	r.group.info = NULL;
	cr_assert(!rig_compile(&r));
	cr_expect_str_eq(r.program.name, "weft_begin");
	list = r.raw[0];
	r.set.end = &list;
	r.set.n_end = 1;
	r.clauses[0].clause = &list;
	cr_assert(!rig_compile(&r));
	cr_expect_str_eq(r.program.name, "weft_end");
	cr_expect(r.program.load.prog_type == BPF_PROG_TYPE_RAW_TRACEPOINT);
	rig_finish(&r);
}
