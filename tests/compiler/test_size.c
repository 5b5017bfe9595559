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
	cr_expect(try(&r, action) == expected, "%u x %s %s", n, action, a);
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
	/* An aggregation with keys is a map, of which a program has 64. */
	many_actions(200, "count", true, "by||arg0", NULL, false);
}

/* ---- 64 clauses on one probe ---- */

static void many_clauses(uint32_t strsize, const char *when, const char *action, const char *a,
			 const char *b, bool expected)
{
	struct rig r;

	init(&r, strsize);
	for (unsigned i = 0; i < RIG_CLAUSES; i++) {
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
	many_clauses(128, "pid != %u", "count", "into||n", NULL, true);
	many_clauses(128, "pid != %u", "count", "into||n", "by||execname", true);
	many_clauses(128, "arg0 / arg1 == %u || arg2 > 3 && arg3 < %u", "quantize", "into||n",
		     "value||arg4", true);
	many_clauses(128, "arg5 == \"text%u\" || execname == \"x%u\"", "emit", "|s|arg5", "|t|arg0",
		     true);
	many_clauses(1024, "arg5 == \"text%u\"", "max", "into||n", "value||arg0", true);
	/* More code than a jump spans. */
	many_clauses(1024, "arg5 == \"text%u\" || arg5 == execname", "emit", "|s|arg5", "|u|ustack",
		     false);
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

/* CLAUSE_TOO_LARGE: more values at a time than the BPF stack holds; more code than a jump spans. */
Test(compiler_size, CLAUSE_TOO_LARGE, .timeout = 120)
{
	struct rig r;

	init(&r, 128);
	rig_clause(&r, NULL, "emit", "|f0|arg0 / (arg1 | 1)", NULL);
	for (unsigned i = 1; i < 120; i++) {
		struct weft_action *a = &r.raw[0].actions[0];

		a->items[i] = a->items[0];
		a->items[i].name.s = format(&r, "f%u", i);
		a->items[i].text.s = format(&r, "arg0 / (arg1 | %u)", i + 1);
	}
	r.raw[0].actions[0].n_items = 120;
	cr_assert(!weft_lang_clause(&r.env, &r.raw[0], r.arena, &r.clauses[0], r.err), "%s",
		  weft_error_text(r.err));
	cr_expect(!try(&r, "values"));
	cr_expect(strstr(weft_error_text(r.err), "too many values at a time"), "%s",
		  weft_error_text(r.err));
	rig_finish(&r);

	init(&r, 1024);
	for (unsigned i = 0; i < RIG_CLAUSES; i++) {
		rig_clause(&r, format(&r, "arg5 != \"text%u\" && arg5 != execname", i), "emit",
			   "|s|arg5", "|u|ustack", NULL);
		for (unsigned k = 0; k < 12; k++)
			rig_action(&r, "emit", "|s|arg5", "|u|ustack", NULL);
	}
	cr_expect(!try(&r, "code"));
	cr_expect(strstr(weft_error_text(r.err), "a jump spans"), "%s", weft_error_text(r.err));
	rig_finish(&r);
}
