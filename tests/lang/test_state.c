/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Variables of sets: names, types, where they are found out, and what is wrong with mentions. */
#include <stdio.h>

#include "rig.h"

static struct weft_clause *set_of(struct rig *r, struct weft_action *const *actions)
{
	struct weft_clause *c = rig_clause(r, NULL, actions);

	r->set.clauses = c;
	r->set.n_clauses = 1;
	r->env.state = NULL;
	weft_error_clear(r->err);
	return c;
}

static int type(struct rig *r, struct weft_clause *c, struct weft_typed_clause *out)
{
	const char *wrong;
	int rc = weft_lang_clause(&r->env, c, r->arena, out, r->err);

	if (rc)
		return rc;
	wrong = weft_lang_verify_clause(out);
	cr_expect(!wrong, "%s", wrong ? wrong : "");
	return 0;
}

/* An action of a set item by item, then one that emits an expression: the expression's tree. */
static const char *emitted(struct rig *r, const char *assignment, const char *expr)
{
	char text[256];
	struct weft_typed_clause out;
	struct weft_action *list[3] = {rig_action(r, "set", assignment, NULL)};

	snprintf(text, sizeof(text), "|x|%s", expr);
	list[1] = rig_action(r, "emit", text, NULL);
	if (type(r, set_of(r, list), &out))
		return weft_error_tag(r->err);
	return weft_node_print(out.actions[1].fields[0].node, true, r->arena);
}

static void expect_tag(struct rig *r, const char *assignment, const char *tag, const char *word,
		       const char *suggestion)
{
	struct weft_action *const list[] = {rig_action(r, "set", assignment, NULL), NULL};
	struct weft_typed_clause out;
	struct weft_report report;

	cr_expect(type(r, set_of(r, list), &out) < 0, "%s", assignment);
	cr_assert(!weft_error_report(r->err, 0, &report), "%s", assignment);
	cr_expect(weft_error_count(r->err) == 1, "%s: %zu reports", assignment,
		  weft_error_count(r->err));
	cr_expect_str_eq(report.tag, tag, "%s: %s: %s", assignment, report.tag, report.text);
	cr_expect(!word || strstr(report.text, word), "%s: %s", assignment, report.text);
	cr_expect(!suggestion == !report.suggestion &&
			  (!suggestion || !strcmp(suggestion, report.suggestion)),
		  "%s: suggests %s", assignment, report.suggestion ? report.suggestion : "nothing");
}

Test(lang_state, types_come_from_the_first_assignment)
{
	struct rig r;

	rig_init(&r);
	cr_expect_str_eq(emitted(&r, "|v|arg8", "v"), "v:int64");
	cr_expect_str_eq(emitted(&r, "|v|count", "v"), "NAME_UNKNOWN");
	cr_expect_str_eq(emitted(&r, "|v|args.count", "v"), "v:uint64");
	cr_expect_str_eq(emitted(&r, "|self.v|args.count", "self.v"), "self.v:uint64");
	cr_expect_str_eq(emitted(&r, "|v|arg3", "v"), "v:string");
	cr_expect_str_eq(emitted(&r, "|this.v|arg9", "this.v"), "this#0:int64");
	cr_expect_str_eq(emitted(&r, "|e[arg8, \"k\"]|execname", "e[1, arg3]"),
			 "(e:string (key:int64 1:int64 (key:string arg3:string)))");
	cr_expect_str_eq(emitted(&r, "|v|+= 1", "v + 1"), "(+:int64 v:int64 1:int64)");
	rig_finish(&r);
}

Test(lang_state, ways_to_ask)
{
	struct rig r;

	rig_init(&r);
	cr_expect_str_eq(emitted(&r, "|v|1", "v ?? 7"), "(??:int64 v:int64 7:int64)");
	cr_expect_str_eq(emitted(&r, "|v|1", "v ?? 7 + 1"), "(??:int64 v:int64 8:int64)");
	cr_expect_str_eq(emitted(&r, "|v|1", "v ?? 7 > 1"),
			 "(>:int64 (??:int64 v:int64 7:int64) 1:int64)");
	cr_expect_str_eq(emitted(&r, "|v|1", "v ?? v ?? 3"),
			 "(??:int64 v:int64 (??:int64 v:int64 3:int64))");
	cr_expect_str_eq(emitted(&r, "|v|args.count", "v ?? -1"),
			 "(??:uint64 v:uint64 18446744073709551615:uint64)");
	cr_expect_str_eq(emitted(&r, "|v|\"a\"", "v ?? \"\""), "(??:string v:string \"\":string)");
	cr_expect_str_eq(emitted(&r, "|v|1", "defined(v)"), "(defined:int64 v:int64)");
	cr_expect_str_eq(emitted(&r, "|v|+= 1", "defined(v)"), "1:int64");
	cr_expect_str_eq(emitted(&r, "|v|+= 1", "v ?? 9"), "v:int64");
	cr_expect_str_eq(emitted(&r, "|v|1", "v ?? \"\""), "EXPR_TYPE");
	cr_expect_str_eq(emitted(&r, "|v|1", "pid ?? 1"), "EXPR_TYPE");
	cr_expect_str_eq(emitted(&r, "|v|1", "defined(pid)"), "FUNCTION_ARGUMENTS");
	rig_finish(&r);
}

Test(lang_state, NAME_UNKNOWN_knows_variables)
{
	struct weft_action *list[3];
	struct weft_typed_clause out;
	struct weft_report report;
	struct rig r;

	rig_init(&r);
	list[0] = rig_action(&r, "set", "|started|1", NULL);
	list[1] = rig_action(&r, "emit", "|x|startet", NULL);
	list[2] = NULL;
	cr_expect(type(&r, set_of(&r, list), &out) < 0);
	cr_expect_str_eq(weft_error_tag(r.err), "NAME_UNKNOWN");
	weft_error_report(r.err, 0, &report);
	cr_expect_str_eq(report.suggestion, "started");
	rig_finish(&r);
}

Test(lang_state, STATE_UNASSIGNED)
{
	struct rig r;

	rig_init(&r);
	expect_tag(&r, "|x|self.y", "STATE_UNASSIGNED", "`self.y`", NULL);
	expect_tag(&r, "|self.start|self.strat", "STATE_UNASSIGNED", "`self.strat`", "self.start");
	expect_tag(&r, "|e[1]|f[1]", "STATE_UNASSIGNED", "`f[]`", NULL);
	expect_tag(&r, "|x|this.x", "STATE_UNASSIGNED", "clause before this", "x");
	expect_tag(&r, "|self.start|this.start", "STATE_UNASSIGNED", NULL, "self.start");
	expect_tag(&r, "|this.x|this.x + 1", "STATE_UNASSIGNED", NULL, NULL);
	expect_tag(&r, "|self.start|start", "NAME_UNKNOWN", "`start`", "self.start");
	expect_tag(&r, "|this.x|+= 1", "STATE_UNASSIGNED", NULL, NULL);
	rig_finish(&r);
}

Test(lang_state, STATE_TYPE)
{
	struct weft_action *list[3] = {0};
	struct weft_typed_clause out;
	struct weft_report report;
	struct rig r;

	rig_init(&r);
	expect_tag(&r, "|x|arg4", "STATE_TYPE", "an integer or a string", NULL);
	expect_tag(&r, "|x|stack", "STATE_TYPE", NULL, NULL);
	expect_tag(&r, "|x|probefunc", "STATE_TYPE", NULL, NULL);
	list[0] = rig_action(&r, "set", "|x|1", NULL);
	list[1] = rig_action(&r, "set", "|x|\"text\"", NULL);
	cr_expect(type(&r, set_of(&r, list), &out) < 0);
	cr_expect_str_eq(weft_error_tag(r.err), "STATE_TYPE");
	weft_error_report(r.err, 0, &report);
	cr_expect(strstr(report.text, "an int64 at 6:11"), "%s", report.text);
	cr_expect(report.pos.line == RIG_LINE && report.pos.column == RIG_COLUMN);
	list[0] = rig_action(&r, "set", "|x|\"text\"", NULL);
	list[1] = rig_action(&r, "set", "|x|+= 1", NULL);
	cr_expect(type(&r, set_of(&r, list), &out) < 0);
	cr_expect_str_eq(weft_error_tag(r.err), "STATE_TYPE");
	list[0] = rig_action(&r, "set", "|x[1]|1", NULL);
	list[1] = rig_action(&r, "set", "|x[\"k\"]|1", NULL);
	cr_expect(type(&r, set_of(&r, list), &out) < 0);
	cr_expect_str_eq(weft_error_tag(r.err), "STATE_TYPE");
	list[0] = rig_action(&r, "set", "|x[1]|1", NULL);
	list[1] = rig_action(&r, "set", "|x|1", NULL);
	cr_expect(type(&r, set_of(&r, list), &out) < 0);
	cr_expect_str_eq(weft_error_tag(r.err), "STATE_TYPE");
	rig_finish(&r);
}

Test(lang_state, STATE_KEYS)
{
	struct rig r;

	rig_init(&r);
	cr_expect_str_eq(emitted(&r, "|e[1, 2]|1", "e[1]"), "STATE_KEYS");
	cr_expect_str_eq(emitted(&r, "|e[1, 2]|1", "e"), "STATE_KEYS");
	cr_expect_str_eq(emitted(&r, "|v|1", "v[1]"), "STATE_KEYS");
	cr_expect_str_eq(emitted(&r, "|self.v|1", "self.v[1]"), "STATE_KEYS");
	cr_expect_str_eq(emitted(&r, "|v|1", "arg0[1]"), "STATE_KEYS");
	rig_finish(&r);
}

Test(lang_state, STATE_NAME)
{
	struct weft_action *list[3] = {0};
	struct weft_typed_clause out;
	struct rig r;

	rig_init(&r);
	expect_tag(&r, "|pid|1", "STATE_NAME", "`pid`", NULL);
	expect_tag(&r, "|arg0|1", "STATE_NAME", "`arg0`", NULL);
	expect_tag(&r, "|args[1]|1", "STATE_NAME", "`args`", NULL);
	expect_tag(&r, "|a + b|1", "STATE_NAME", "no variable", NULL);
	expect_tag(&r, "|self.a[1]|1", "STATE_NAME", NULL, NULL);
	expect_tag(&r, "|1|1", "STATE_NAME", NULL, NULL);
	list[0] = rig_action(&r, "set", "|this.a|1", NULL);
	list[1] = rig_action(&r, "delete", "||this.a", NULL);
	cr_expect(type(&r, set_of(&r, list), &out) < 0);
	cr_expect_str_eq(weft_error_tag(r.err), "STATE_NAME");
	rig_finish(&r);
}

Test(lang_state, STATE_UPDATE)
{
	struct rig r;

	rig_init(&r);
	expect_tag(&r, "|x|*= 2", "STATE_UPDATE", "`*=`", NULL);
	expect_tag(&r, "|x| <<= 2", "STATE_UPDATE", "`<<=`", NULL);
	expect_tag(&r, "|x|++", "STATE_UPDATE", "`++`", "+= 1");
	expect_tag(&r, "|x| --", "STATE_UPDATE", NULL, "-= 1");
	expect_tag(&r, "|x|+=", "EXPR_SYNTAX", NULL, NULL);
	rig_finish(&r);
}

/* ---- sets of several clauses ---- */

static const struct weft_probe_info *no_info(void *arg, uint32_t clause,
					     const struct weft_probe_info **entry)
{
	(void)entry;
	(void)arg;
	(void)clause;
	return NULL;
}

static const struct weft_probe_info *the_info(void *arg, uint32_t clause,
					      const struct weft_probe_info **entry)
{
	(void)entry;
	(void)clause;
	return &((struct rig *)arg)->info;
}

static const char *build(struct rig *r, weft_state_info *info)
{
	struct weft_state *state;
	char *all = weft_arena_strdup(r->arena, "");

	if (weft_state_build(&r->set, info, r, NULL, r->arena, &state, r->err))
		return weft_error_tag(r->err);
	for (size_t i = 0; state && i < state->n_vars; i++)
		all = weft_arena_printf(r->arena, "%s%s; ", all,
					weft_state_var_text(state->vars[i], r->arena));
	return all;
}

/* In file order, whatever order the clauses are typed in; what hangs on others is found out later. */
Test(lang_state, types_across_clauses)
{
	struct weft_clause clauses[4];
	struct rig r;

	rig_init(&r);
	for (uint32_t i = 0; i < N(clauses); i++) {
		static const char *const items[] = {"|a|b", "|b|e[1]", "|e[1]|self.s",
						    "|self.s|arg3"};
		struct weft_action *const list[] = {rig_action(&r, "set", items[i], NULL), NULL};

		clauses[i] = *rig_clause(&r, NULL, list);
		clauses[i].index = i;
	}
	r.set.clauses = clauses;
	r.set.n_clauses = N(clauses);
	cr_expect_str_eq(build(&r, the_info),
			 "a  string; b  string; e[int64]  string; self.s  string; ");
	cr_expect_str_eq(build(&r, no_info), "a  int64; b  int64; e[int64]  int64; self.s  int64; ");
	rig_finish(&r);
}

static const struct weft_probe_info *a_return(void *arg, uint32_t clause,
					      const struct weft_probe_info **entry)
{
	static struct weft_probe_info back;
	struct rig *r = arg;

	(void)clause;
	back = r->info;
	back.pairing.role = WEFT_PAIRING_RETURN;
	*entry = &r->info;
	return &back;
}

/* What stands beside an argument of the entry is typed as well as anything. */
Test(lang_state, types_in_a_return)
{
	struct weft_action *list[2] = {0};
	struct weft_clause clause;
	struct rig r;

	rig_init(&r);
	list[0] = rig_action(&r, "set", "|self.name|copyinstr((uint64) entry.arg0)",
			     "|big|(uint64) entry.arg0", "|n[entry.arg0 & 3]|execname", NULL);
	clause = *rig_clause(&r, NULL, list);
	r.set.clauses = &clause;
	r.set.n_clauses = 1;
	cr_expect_str_eq(build(&r, a_return), "self.name  string; big  uint64; n[int64]  string; ");
	rig_finish(&r);
}

Test(lang_state, counters)
{
	struct weft_action *list[5] = {0};
	struct rig r;

	rig_init(&r);
	list[0] = rig_action(&r, "set", "|a| += 1", "|b|+= args.count", "|c|&= 1", "|d|1", NULL);
	list[1] = rig_action(&r, "set", "|a|^= 1", "|b|+= 1", "|d|+= 1", "|e[pid]|-= 1", NULL);
	list[2] = rig_action(&r, "delete", "||a", NULL);
	set_of(&r, list);
	cr_expect_str_eq(build(&r, the_info), "a  int64, from 0; b  uint64, from 0; c  int64; d  "
					      "int64; e[int64]  int64, from 0; ");
	rig_finish(&r);
}

Test(lang_state, check_without_a_probe)
{
	struct weft_action *list[4] = {0};
	struct weft_clause *c;
	struct rig r;

	rig_init(&r);
	list[0] = rig_action(&r, "set", "|this.x|arg2", "|self.y|this.x + 1", "|e[arg0]|arg1", NULL);
	list[1] = rig_action(&r, "emit", "|a|self.y ?? 0", "|b|e[arg0]", "|c|this.x", NULL);
	list[2] = rig_action(&r, "delete", "||self.y", "||e[arg0]", NULL);
	c = set_of(&r, list);
	cr_expect(!weft_lang_check_syntax(&r.set, c, false, r.err), "%s", weft_error_text(r.err));
	list[1] = rig_action(&r, "emit", "|a|self.z", NULL);
	c = set_of(&r, list);
	cr_expect(weft_lang_check_syntax(&r.set, c, false, r.err) < 0);
	cr_expect_str_eq(weft_error_tag(r.err), "STATE_UNASSIGNED");
	rig_finish(&r);
}
