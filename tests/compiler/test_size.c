/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Clauses as large as they come: each either passes the verifier, with room to spare, or is refused
 * when it is checked, by CLAUSE_TOO_LARGE and a reason. Nothing that the compiler makes may be for
 * the verifier to refuse.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/kernel/bpf.h"
#include "rig.h"

#define VERIFIER_MOST 1000000u /* BPF_COMPLEXITY_LIMIT_INSNS of include/linux/bpf.h, since 5.2 */

static uint32_t verified(int prog_fd)
{
	struct bpf_prog_info info = {0};
	union bpf_attr attr = {0};

	attr.info.bpf_fd = (uint32_t)prog_fd;
	attr.info.info = (uint64_t)(uintptr_t)&info;
	attr.info.info_len = sizeof(info);
	cr_assert(weft_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) >= 0);
	return info.verified_insns;
}

/* Whether it was compiled; then it loads, and runs. */
static bool try(struct rig *r, const char *what)
{
	uint32_t n;

	if (rig_compile(r)) {
		cr_expect_str_eq(rig_tag(r), "CLAUSE_TOO_LARGE", "%s: %s: %s", what, rig_tag(r),
				 weft_error_text(r->err));
		return false;
	}
	rig_load(r);
	n = verified(r->prog_fd);
	if (getenv("RIG_SIZE"))
		fprintf(stderr, "%s: %u verified, %u insns\n", what, n, r->program.n_insns);
	cr_expect(n < VERIFIER_MOST / 2, "%s: the verifier looked at %u instructions", what, n);
	rig_run(r, NULL);
	return true;
}

static const char *format(struct rig *r, const char *f, unsigned i)
{
	const char *text = weft_arena_printf(r->arena, f, i, i, i);

	cr_assert(text);
	return text;
}

static void init(struct rig *r, uint32_t strsize)
{
	rig_init(r);
	r->set.options.strsize = strsize;
	r->set.options.depth = 256;
	r->set.options.buffer = 1 << 20;
	weft_plan_destroy(r->plan);
	r->plan = weft_plan_create(&r->set, (uint32_t)sysconf(_SC_NPROCESSORS_CONF), r->err);
	cr_assert(r->plan);
	rig_place(r, 5, WEFT_TYPE_STRING, WEFT_SPACE_USER, &r->arg_ops[5], 1);
}

/* ---- one clause, 200 actions ---- */

static void many_actions(unsigned n, const char *action, bool named, const char *a, const char *b,
			 bool expected)
{
	struct rig r;

	init(&r, 128);
	rig_clause(&r, NULL, action, named ? format(&r, "into||n%u", 0) : a, named ? a : b,
		   named ? b : NULL, NULL);
	for (unsigned i = 1; i < n; i++)
		rig_action(&r, action, named ? format(&r, "into||n%u", i) : a, named ? a : b,
			   named ? b : NULL, NULL);
	cr_expect(try(&r, action) == expected, "%u x %s %s: %s", n, action, a,
		  weft_error_text(r.err));
	rig_finish(&r);
}

Test(compiler_size, actions, .timeout = 120)
{
	many_actions(200, "count", true, NULL, NULL, true);
	many_actions(200, "sum", true, "value||arg0 * 3 + cpu", NULL, true);
	many_actions(200, "max", true, "value||arg0", NULL, true);
	many_actions(200, "emit", false, "|a|arg0", "|p|execname", true);
	many_actions(200, "emit", false, "|s|arg5", "|p|execname", true);
	many_actions(200, "emit", false, "|u|ustack", "|k|stack", true);
	many_actions(60, "count", true, "by||arg5", NULL, true);
	many_actions(60, "quantize", true, "value||arg0", "by||execname", true);
	many_actions(200, "count", true, "by||arg0", NULL, true);
}

/* ---- more maps than a program can name ---- */

/* Row by row what n aggregations with one key, arg0, hold after `firings`, each adding arg1 + i. */
static void expect_rows(struct rig *r, unsigned n, uint64_t firings, uint64_t arg1)
{
	static struct rig_row rows[4];

	for (unsigned i = 0; i < n; i++) {
		const struct weft_aggregation *a = rig_agg(r, format(r, "n%u", i));
		uint64_t key;

		cr_assert_eq(rig_rows(r, a->map, rows, N(rows)), 1, "n%u", i);
		memcpy(&key, rows[0].key, sizeof(key));
		cr_expect_eq(key, 7, "n%u", i);
		cr_expect_eq(rows[0].value[WEFT_SUM_WORD], firings * (arg1 + i), "n%u: %llu", i,
			     (unsigned long long)rows[0].value[WEFT_SUM_WORD]);
	}
	cr_expect_eq(rig_losses(r), 0);
}

static void far_maps(unsigned n, unsigned expected)
{
	const uint64_t words[RIG_ARGS] = {7, 1000};
	struct bpf_prog_info info = {0};
	struct rig r;

	init(&r, 128);
	for (unsigned i = 0; i < n; i++)
		rig_clause(&r, NULL, "sum", format(&r, "into||n%u", i),
			   format(&r, "value||arg1 + %u", i), "by||arg0", NULL);
	rig_load(&r);
	cr_expect_eq(weft_bpf_program_info(r.prog_fd, &info), 0);
	cr_expect_eq(info.nr_map_ids, expected, "%u clauses: %u maps", n, info.nr_map_ids);
	for (unsigned i = 0; i < 3; i++)
		rig_run(&r, words);
	expect_rows(&r, n, 3, 1000);
	rig_finish(&r);
}

/* The program names STATE as well. */
Test(compiler_size, clauses_with_maps_of_their_own, .timeout = 120)
{
	far_maps(63, 64);
	far_maps(64, 64);
	far_maps(65, 64);
	far_maps(200, 64);
	far_maps(256, 64);
}

/* Maps of several shapes, of which none alone is enough; and variables among them. */
Test(compiler_size, maps_of_several_shapes, .timeout = 120)
{
	static const char *const by[][2] = {{"by||arg0"},
					    {"by|x|arg0", "by|y|arg2"},
					    {"by|x|arg0", "by|p|execname"},
					    {"by||execname"}};
	static const char *const actions[] = {"avg", "count", "max"};
	const uint64_t words[RIG_ARGS] = {7, 40, 1};
	static struct rig_row rows[4];
	struct rig r;

	init(&r, 128);
	for (unsigned i = 0; i < 120; i++) {
		const char *value = i % 3 == 1 ? NULL : "value||arg1", *second = by[i % N(by)][1];

		rig_clause(&r, NULL, actions[i % 3], format(&r, "into||n%u", i), by[i % N(by)][0],
			   second ? second : value, second ? value : NULL, NULL);
	}
	rig_load(&r);
	rig_run(&r, words);
	rig_run(&r, words);
	cr_expect_eq(rig_losses(&r), 0);
	for (unsigned i = 0; i < 120; i++) {
		const struct weft_aggregation *a = rig_agg(&r, format(&r, "n%u", i));
		/* max: 40 and 2^63 more */
		uint64_t word0 = i % 3 == 2 ? (UINT64_C(1) << 63) + 40 : 2;

		cr_assert_eq(rig_rows(&r, a->map, rows, N(rows)), 1, "n%u", i);
		cr_expect_eq(rows[0].value[0], word0, "n%u: %llx", i,
			     (unsigned long long)rows[0].value[0]);
	}
	rig_finish(&r);
}

/* A fault in a clause ends that clause, and those behind it run; so does the exit. */
Test(compiler_size, order_and_faults_among_many, .timeout = 120)
{
	const uint64_t words[RIG_ARGS] = {7, 1, 0};
	static struct rig_row rows[4];
	struct rig r;

	init(&r, 128);
	for (unsigned i = 0; i < 150; i++) {
		rig_clause(&r, NULL, "count", format(&r, "into||n%u", i),
			   i % 10 == 3 ? "by||arg0 / arg2" : "by||arg0", NULL);
		if (i == 70)
			rig_action(&r, "exit", "|status|3", NULL);
	}
	rig_load(&r);
	for (unsigned i = 0; i < 5; i++)
		rig_run(&r, words);
	cr_expect_eq(rig_loss(&r, WEFT_LOSS_FAULT_DIVIDE), 5 * 15);
	cr_expect_eq(rig_losses(&r), 5 * 15);
	for (unsigned i = 0; i < 150; i++)
		cr_expect_eq(rig_rows(&r, rig_agg(&r, format(&r, "n%u", i))->map, rows, N(rows)),
			     i % 10 != 3, "n%u", i);
	cr_expect_eq(rig_control(&r)->exit_requested, 1);
	rig_finish(&r);
}

/* ---- many clauses on one probe ---- */

static void many_clauses(unsigned n, uint32_t strsize, const char *when, const char *action,
			 const char *a, const char *b, bool expected)
{
	struct rig r;

	init(&r, strsize);
	for (unsigned i = 0; i < n; i++) {
		rig_clause(&r, format(&r, when, i), action, a, b, NULL);
		r.raw[i].every = 2 + i;
		r.raw[i].limit.count = 10 + i;
		r.raw[i].limit.per_ns = 1000000000;
		r.raw[i].limit.text = (struct weft_text){.s = "10/s", .pos = {5, 9}};
	}
	cr_expect(try(&r, when) == expected, "%s: %s", when, weft_error_text(r.err));
	rig_finish(&r);
}

Test(compiler_size, clauses, .timeout = 120)
{
	many_clauses(64, 128, "pid != %u", "count", "into||n", NULL, true);
	many_clauses(64, 128, "pid != %u", "count", "into||n", "by||execname", true);
	many_clauses(64, 128, "arg0 / arg1 == %u || arg2 > 3 && arg3 < %u", "quantize", "into||n",
		     "value||arg4", true);
	many_clauses(64, 128, "arg5 == \"text%u\" || execname == \"x%u\"", "emit", "|s|arg5",
		     "|t|arg0", true);
	many_clauses(64, 1024, "arg5 == \"text%u\"", "max", "into||n", "value||arg0", true);
	/* More code than a jump spans; no jump leaves its clause. */
	many_clauses(64, 1024, "arg5 == \"text%u\" || arg5 == execname", "emit", "|s|arg5",
		     "|u|ustack", true);
}

/* ---- expressions of thousands of nodes ---- */

struct grown {
	char text[16384];
	size_t n;
	unsigned leaf;
};

static void put(struct grown *g, const char *s)
{
	g->n += (size_t)snprintf(g->text + g->n, sizeof(g->text) - g->n, "%s", s);
	cr_assert(g->n < sizeof(g->text));
}

/* A full tree; {leaf, operator of even and odd levels}. */
static void grow(struct grown *g, unsigned depth, const char *const shape[3])
{
	char leaf[64];

	if (!depth) {
		snprintf(leaf, sizeof(leaf), shape[0], g->leaf % 5, g->leaf % 97);
		g->leaf++;
		put(g, leaf);
		return;
	}
	put(g, "(");
	grow(g, depth - 1, shape);
	put(g, shape[1 + depth % 2]);
	grow(g, depth - 1, shape);
	put(g, ")");
}

Test(compiler_size, expressions, .timeout = 120)
{
	static const struct {
		const char *shape[3];
		unsigned depth;
	} trees[] = {
		{{"arg%u", "+", "^"}, 10},
		{{"arg%u>%u", "&&", "||"}, 10},
		{{"arg%u", "/", "+"}, 10},
		{{"arg%u", "-", "%"}, 10},
		{{"arg%u", "<<", ">>"}, 10},
		{{"arg%u==%u", "||", "&&"}, 10},
		/* Constants that meet: what the verifier would tell apart. */
		{{"arg%u", "<", ">="}, 10},
		{{"(arg%u?%u:pid)", "*", "|"}, 5},
		{{"(arg%u?%u:pid)", "*", "|"}, 9},
		{{"(arg%u<%u)", "+", "*"}, 9},
		{{"(arg%u<%u)", "-", "/"}, 9},
		{{"!arg%u", "+", "<"}, 9},
		{{"(arg%u&&%u<arg1)", "+", "*"}, 8},
	};

	for (size_t i = 0; i < N(trees); i++) {
		struct grown *g = calloc(1, sizeof(*g));
		struct rig r;

		cr_assert(g);
		grow(g, trees[i].depth, trees[i].shape);
		init(&r, 128);
		rig_clause(&r, g->text, "emit", format(&r, "|a|arg0", 0), NULL);
		cr_expect(try(&r, trees[i].shape[1]), "when, tree %zu: %s", i,
			  weft_error_text(r.err));
		rig_finish(&r);
		init(&r, 128);
		rig_clause(&r, NULL, "emit", weft_arena_printf(r.arena, "|a|%s", g->text), NULL);
		cr_expect(try(&r, trees[i].shape[1]), "value, tree %zu: %s", i,
			  weft_error_text(r.err));
		rig_finish(&r);
		free(g);
	}
}

/* A text that others may be writing is read again, up to 16 times: rounds, not ways, to follow. Linux
 * 6.1 does not see that two ways are the same behind a reservation, so it goes there once a round. */
Test(compiler_size, texts_that_are_read_again, .timeout = 120)
{
	static const char *const texts[] = {"self.text", "shared", "element[arg1]", "other"};
	struct rig r;

	init(&r, 48);
	rig_clause(&r, NULL, "set", "|self.text|arg5", "|shared|execname", NULL);
	rig_action(&r, "set", "|element[arg0]|arg5", "|other|arg5", NULL);
	for (size_t i = 0; i < N(texts); i++)
		rig_action(&r, "emit", "|a|str(arg0, arg1)",
			   weft_arena_printf(r.arena, "|b|%s", texts[i]), "|c|arg0 ? arg1 : arg2",
			   NULL);
	rig_action(&r, "emit", "|a|self.text", "|b|shared", "|c|element[arg1]", NULL);
	cr_assert(try(&r, "texts"), "%s", weft_error_text(r.err));
	cr_expect(verified(r.prog_fd) < 10 * r.program.n_insns, "%u of %u", verified(r.prog_fd),
		  r.program.n_insns);
	rig_finish(&r);
}

/* Fields and variables that do not fit on the BPF stack together wait in memory. */
Test(compiler_size, values_that_wait_in_memory, .timeout = 120)
{
	static const char *const fields[] = {"|f%u|arg0 / (arg1 | %u) + this.x%u",
					     "|f%u|execname == \"no%u\" ? 1 : arg2 - this.x%u",
					     "|f%u|substr(\"text\", arg3 + %u * 0 + this.x%u * 0)"};
	enum { FIELDS = 120 };
	const uint64_t words[RIG_ARGS] = {1000, 1, 5, 2};
	const struct weft_schema *schema;
	const struct weft_record_header *record;
	struct weft_action *a;
	uint32_t size;
	struct rig r;

	init(&r, 16);
	rig_clause(&r, NULL, "set", "|this.x0|arg0", NULL);
	for (unsigned i = 1; i < FIELDS; i++)
		rig_action(&r, "set", format(&r, "|this.x%u|arg0 + %u", i), NULL);
	rig_action(&r, "set", "|this.x1|+= 5", NULL);
	rig_action(&r, "emit", "|f0|arg0", NULL);
	a = &r.raw[0].actions[r.raw[0].n_actions - 1];
	for (unsigned i = 0; i < FIELDS; i++) {
		const char *text = strchr(format(&r, fields[i % 3], i) + 1, '|') + 1;

		a->items[i] = a->items[0];
		a->items[i].name.s = format(&r, "f%u", i);
		a->items[i].text.s = text;
	}
	a->n_items = FIELDS;
	cr_assert(!weft_lang_clause(&r.env, &r.raw[0], r.arena, &r.clauses[0], r.err), "%s",
		  weft_error_text(r.err));
	cr_assert(try(&r, "fields"), "%s", weft_error_text(r.err));
	while (rig_record(&r, &size))
		;
	rig_run(&r, words);
	record = rig_record(&r, &size);
	cr_assert(record && rig_losses(&r) == 1, "one division by zero, before");
	schema = &r.plan->schemas[record->schema];
	for (unsigned i = 0; i < FIELDS; i++) {
		const char *at = (const char *)(record + 1) + schema->fields[i].offset;
		int64_t x = 1000 + i + (i == 1) * 5, v;

		memcpy(&v, at, sizeof(v));
		if (i % 3 == 2)
			cr_expect_str_eq(at, "xt", "f%u", i);
		else
			cr_expect(v == (i % 3 ? 5 - x : 1000 / (1 | (int64_t)i) + x), "f%u: %ld", i,
				  v);
	}
	rig_finish(&r);
}

static void many_branches(unsigned n)
{
	static struct rig_row rows[4];
	struct rig r;

	init(&r, 128);
	for (unsigned i = 0; i < n; i++) {
		rig_clause(&r, format(&r, "arg0 != %u", i), "count", "into||n", "by||execname",
			   NULL);
		for (unsigned k = 0; k < 12; k++)
			rig_action(&r, "count", "into||n", "by||execname", NULL);
	}
	cr_expect(try(&r, "clauses of 13 actions"));
	cr_expect_eq(rig_losses(&r), 0);
	cr_expect_eq(rig_rows(&r, rig_agg(&r, "n")->map, rows, N(rows)), 1);
	cr_expect_eq(rows[0].value[0], (n - 1) * 13);
	rig_finish(&r);
}

/* More than half of what the verifier remembers, so that there are ways around the actions. */
Test(compiler_size, branches, .timeout = 300)
{
	many_branches(56);
}

/* More than it remembers, but for these. */
Test(compiler_size, branches_beyond_the_limit, .timeout = 300)
{
	many_branches(128);
}

/* ---- CLAUSE_TOO_LARGE, by what is too large ---- */

static void expect_too_large(struct rig *r, const char *why, unsigned line)
{
	struct weft_report report = {0};

	cr_expect(!try(r, why));
	cr_expect(strstr(weft_error_text(r->err), why), "%s", weft_error_text(r->err));
	weft_error_report(r->err, 0, &report);
	cr_expect_eq(report.pos.line, line, "%u: %s", report.pos.line, report.text);
}

/* More values at a time than the BPF stack holds; the clause that has them is named. */
Test(compiler_size, CLAUSE_TOO_LARGE_values, .timeout = 120)
{
	char value[4096], *at = value;
	struct rig r;

	for (unsigned i = 0; i < 90; i++)
		at += sprintf(at, "(arg%u + %u) * (", i % 5, i + 1);
	at += sprintf(at, "1");
	memset(at, ')', 90);
	at[90] = '\0';
	init(&r, 128);
	rig_clause(&r, NULL, "count", "into||n", NULL);
	rig_clause(&r, NULL, "emit", "|f0|arg0", NULL);
	r.raw[1].pos.line = 42;
	r.raw[1].actions[0].items[0].text.s = value;
	cr_assert(!weft_lang_clause(&r.env, &r.raw[1], r.arena, &r.clauses[1], r.err), "%s",
		  weft_error_text(r.err));
	expect_too_large(&r, "too many values at a time", 42);
	rig_finish(&r);
}

/* More code in a clause than a jump spans. */
Test(compiler_size, CLAUSE_TOO_LARGE_code, .timeout = 120)
{
	struct rig r;

	init(&r, 1024);
	rig_clause(&r, NULL, "count", "into||n", NULL);
	rig_clause(&r, "arg5 != execname", "emit", "|s|arg5", "|u|ustack", NULL);
	r.raw[1].pos.line = 42;
	for (unsigned k = 1; k < RIG_ACTIONS; k++)
		rig_action(&r, "emit", "|s|arg5", "|t|arg5", "|u|ustack", "|e|execname", NULL);
	expect_too_large(&r, "a jump spans", 42);
	rig_finish(&r);
}

#define SET  "|self.s|execname"
#define SET8 SET, SET, SET, SET, SET, SET, SET, SET

/* More branches than the verifier remembers, where nothing can be passed by: what `set` gives
 * `this.` is used behind it. */
Test(compiler_size, CLAUSE_TOO_LARGE_branches, .timeout = 120)
{
	struct rig r;

	init(&r, 128);
	for (unsigned i = 0; i < 12; i++) {
		rig_clause(&r, NULL, "set", SET8, NULL);
		for (unsigned k = 1; k < 13; k++)
			rig_action(&r, "set", SET8, NULL);
	}
	expect_too_large(&r, "branches", 5);
	rig_finish(&r);
}
