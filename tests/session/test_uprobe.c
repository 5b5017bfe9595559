/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Places in a program: registers, return values, programs that may sleep, pairing by the real stack. */
#include "harness.h"

#define PROGRAM FIXTURE_WORKLOAD_DIR "/functions"
#define ROUNDS  20

static long offset_of(const char *function)
{
	FILE *f = popen(PROGRAM " offsets", "r");
	char name[64];
	long offset, found = -1;

	while (f && fscanf(f, "%63s %lx", name, &offset) == 2)
		if (!strcmp(name, function))
			found = offset;
	cr_assert(f && pclose(f) == 0 && found > 0, "no function %s", function);
	return found;
}

/* Runs the program under a set whose clauses name functions by $f.. and get their offsets. */
static void trace(struct rig *r, struct worker *w, const char *providers, const char *clauses)
{
	static const char *const argv[] = {PROGRAM, "20", NULL};

	worker_program(w, -1, argv);
	rig_init(r);
	rig_trace(r, w,
		  "version: 1\n"
		  "params: {pid: %d}\n"
		  "%s"
		  "probes:\n%s",
		  w->pid, providers, clauses);
}

static const char *clause(struct rig *r, const char *before, const char *function, const char *name,
			  const char *actions)
{
	return weft_arena_printf(r->cap.arena,
				 "%s"
				 "  - probe: 'fx-uprobe:%s:%s:%s'\n"
				 "    with: {offset: %ld}\n"
				 "    when: pid == $pid\n"
				 "    do: [%s]\n",
				 before, PROGRAM, function, name, offset_of(function), actions);
}

static void arguments_and_returns(const char *providers)
{
	struct rig scratch, r;
	struct worker w;
	const char *c;

	rig_init(&scratch);
	c = clause(&scratch, "", "add4", "entry",
		   "emit: {a: args.a, b: args.b, c: args.c, d: args.d, low: args.third_low}");
	c = clause(&scratch, c, "add4", "return", "emit: {ret: retval, low: args.low}");
	c = clause(&scratch, c, "greet", "entry", "emit: {s: args.string}");
	c = clause(&scratch, c, "greet", "return", "count: {into: greetings, by: [retval]}");
	trace(&r, &w, providers, c);
	cr_assert_eq(cap_count(&r.cap, ":add4:entry"), ROUNDS);
	cr_assert_eq(cap_count(&r.cap, ":add4:return"), ROUNDS);
	cr_assert_eq(cap_count(&r.cap, ":greet:entry"), ROUNDS);
	for (size_t i = 0; i < 3 * ROUNDS; i += 3) {
		const struct cap_record *rec = &r.cap.records[i];
		int64_t n = (int64_t)i / 3;

		cr_expect_eq(cap_int(rec, "a"), n);
		cr_expect_eq(cap_int(rec, "b"), -n);
		cr_expect_eq(cap_int(rec, "c"), 2 * n);
		cr_expect_eq(cap_int(rec, "d"), 3 * n);
		cr_expect_eq(cap_int(rec, "low"), 2 * n);
		cr_expect_eq(cap_int(rec + 1, "ret"), 5 * n);
		cr_expect_eq(cap_int(rec + 1, "low"), 5 * n);
		/* Nothing had read the text when the probe fired first. */
		cr_expect(cap_is_text(rec + 2, "s", "hello"));
	}
	cr_expect_eq(cap_only_row(&r.cap, "greetings")->count, ROUNDS);
	cr_expect_eq(cap_key(cap_only_row(&r.cap, "greetings"), "retval")->i, 5);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
	rig_finish(&scratch);
}

Test(uprobe, multi)
{
	arguments_and_returns("");
}

Test(uprobe, scope_by_the_kernel)
{
	arguments_and_returns("providers: {fx-uprobe: {scope: exact}}\n");
}

/* Perf uprobes: never sleepable when they were loaded for a perf event. */
Test(uprobe, perf_registers)
{
	struct rig scratch, r;
	struct worker w;
	const char *c;

	rig_init(&scratch);
	c = clause(&scratch, "", "add4", "entry", "sum: {into: d, value: args.d}");
	c = clause(&scratch, c, "add4", "return", "sum: {into: ret, value: retval}");
	trace(&r, &w, "providers: {fx-uprobe: {mechanism: perf}}\n", c);
	cr_expect_eq(cap_only_row(&r.cap, "d")->value.i, 3 * ROUNDS * (ROUNDS - 1) / 2);
	cr_expect_eq(cap_only_row(&r.cap, "ret")->value.i, 5 * ROUNDS * (ROUNDS - 1) / 2);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
	rig_finish(&scratch);
}

/* A program that may sleep knows an address of nothing for what it is. */
Test(uprobe, FAULT_ADDRESS)
{
	struct rig scratch, r;
	struct worker w;
	const char *c;

	rig_init(&scratch);
	c = clause(&scratch, "", "add4", "entry", "emit: {s: args.string}, count: {into: n}");
	trace(&r, &w, "", c);
	cr_expect_eq(r.cap.n_records, 0);
	cap_expect_loss(&r.cap, "FAULT_ADDRESS", ROUNDS); /* 0 .. 19 are no addresses */
	cr_expect_eq(cap_total(cap_last_table(&r.cap, "n")), 0);
	rig_finish(&r);
	rig_finish(&scratch);
}

/* factorial(5) is six calls deep; each return is matched with its own entry. */
Test(uprobe, recursion)
{
	struct rig scratch, r;
	struct worker w;
	const char *c;
	int64_t fact[6] = {1, 1, 2, 6, 24, 120};

	rig_init(&scratch);
	c = clause(&scratch, "", "factorial", "return", "emit: {ret: retval, e: elapsed}");
	c = clause(&scratch, c, "factorial", "entry", "count: {into: n, by: [args.a]}");
	trace(&r, &w, "", c);
	cr_assert_eq(r.cap.n_records, 6 * ROUNDS);
	for (size_t i = 0; i < r.cap.n_records; i++) {
		const struct cap_record *rec = &r.cap.records[i];

		cr_expect_eq(cap_int(rec, "ret"), fact[i % 6]);
		/* What returns later was called earlier, in the same round. */
		if (i % 6)
			cr_expect_gt(cap_int(rec, "e"), cap_int(rec - 1, "e"));
	}
	for (int a = 0; a <= 5; a++)
		cr_expect_eq(cap_row_int(cap_last_table(&r.cap, "n"), "args.a", a)->count, ROUNDS);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
	rig_finish(&scratch);
}

/* jump() calls outer() calls inner(), which leaves both by longjmp: they never return, jump does. */
Test(uprobe, longjmp)
{
	struct rig scratch, r;
	struct worker w;
	const char *c;

	rig_init(&scratch);
	c = clause(&scratch, "", "inner", "return", "count: {into: inner, by: [elapsed]}");
	c = clause(&scratch, c, "outer", "return", "count: {into: outer, by: [elapsed]}");
	c = clause(&scratch, c, "jump", "return",
		   "min: {into: jump, value: elapsed}, count: {into: n}");
	c = clause(&scratch, c, "inner", "entry", "count: {into: entries}");
	trace(&r, &w, "", c);
	cr_expect_eq(cap_only_row(&r.cap, "entries")->count, ROUNDS);
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, ROUNDS);
	cr_expect_gt(cap_only_row(&r.cap, "jump")->value.i, 0);
	cr_expect_eq(cap_last_table(&r.cap, "inner")->n_rows, 0);
	cr_expect_eq(cap_last_table(&r.cap, "outer")->n_rows, 0);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
	rig_finish(&scratch);
}

/* Many probes of one kind are one program and one link. */
Test(uprobe, one_program_for_many_places)
{
	static const char *const functions[] = {"add4",  "greet", "factorial",
						"inner", "outer", "jump"};
	static const unsigned counts[] = {1, 1, 6, 1, 1, 1};
	const char *c = "";
	struct rig scratch, r;
	struct worker w;

	rig_init(&scratch);
	for (int i = 0; i < 6; i++)
		c = weft_arena_printf(scratch.cap.arena,
				      "%s"
				      "  - probe: 'fx-uprobe:%s:%s:entry'\n"
				      "    with: {offset: %ld}\n"
				      "    when: pid == $pid\n"
				      "    do: [count: {into: n%d}]\n",
				      c, PROGRAM, functions[i], offset_of(functions[i]), i);
	trace(&r, &w, "", c);
	for (int i = 0; i < 6; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		cr_expect_eq(cap_only_row(&r.cap, name)->count, counts[i] * ROUNDS);
	}
	rig_finish(&r);
	rig_finish(&scratch);
}
