/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A Go program whose stacks are moved while its functions run (workloads/moves.go). Every entry is
 * counted once, although the first instructions run again whenever a stack has grown, and every
 * return, by whichever way out. The program checks its own results: it is not disturbed.
 */
#include "address.h"
#include "harness.h"

#define MOVES UPROBE_PROGRAM_DIR "/moves"

static const char *const ways[] = {"placement: exact", "placement: cheap", "mechanism: perf"};

static int64_t count_of(const struct rig *r, const char *name, const char *function)
{
	const struct cap_table *t = cap_last_table(&r->cap, name);

	for (size_t i = 0; t && i < t->n_rows; i++)
		if (!strcmp(cap_key(&t->rows[i], "probefunc")->text.s, function))
			return (int64_t)t->rows[i].count;
	return 0;
}

static void counts(const char *way)
{
	static const struct {
		const char *function;
		int64_t entries, returns;
	} want[] = {
		{"main.deep", 8 * 3001, 8 * 3001},
		{"main.small", 9 * 1000, 9 * 1000},
		{"main.panics", 8 * 10, 0},
		{"main.recovers", 8 * 10, 8 * 10},
	};
	const char *argv[] = {MOVES, NULL};
	struct worker w;
	struct rig r;

	worker_program(&w, -1, argv);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "providers: {uprobe: {%s}}\n"
		  "probes:\n"
		  "  - probe: ['uprobe:%s:main.deep:entry', 'uprobe:%s:main.[psr]*:entry']\n"
		  "    do: [{count: {into: entries, by: [probefunc]}}]\n"
		  "  - probe: ['uprobe:%s:main.deep:return', 'uprobe:%s:main.[psr]*:return']\n"
		  "    do: [{count: {into: returns, by: [probefunc]}}]\n",
		  w.pid, way, MOVES, MOVES, MOVES, MOVES);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		int64_t entries = count_of(&r, "entries", want[i].function);
		int64_t returns = count_of(&r, "returns", want[i].function);

		cr_expect_eq(entries, want[i].entries, "%s %s: %ld", way, want[i].function,
			     (long)entries);
		cr_expect_eq(returns, want[i].returns, "%s %s: %ld", way, want[i].function,
			     (long)returns);
	}
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(go, counts_while_stacks_move)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		counts(ways[i]);
}

static void refused_in(const char *program, const char *function, const char *name,
		       const char *value, const char *tag, const char *text)
{
	struct rig r;

	rig_init(&r);
	cr_expect_neq(rig_prepare(&r,
				  "version: 1\n"
				  "probes:\n"
				  "  - probe: 'uprobe:%s:%s:%s'\n"
				  "    do: [{sum: {into: s, value: '%s'}}]\n",
				  program, function, name, value),
		      0);
	rig_expect_tag(&r, 0, tag);
	cr_expect_not_null(strstr(rig_errors(&r), text), "%s", rig_errors(&r));
	rig_finish(&r);
}

static void refused(const char *function, const char *name, const char *value, const char *tag,
		    const char *text)
{
	refused_in(MOVES, function, name, value, tag, text);
}

/* Without symbols, by address: where a function ends is not known, and its entry is exact all the same. */
Test(go, a_stripped_program)
{
	const char *program = UPROBE_PROGRAM_DIR "/moves-stripped";
	const char *argv[] = {program, NULL};
	char deep[32];
	struct worker w;
	struct rig r;

	address_of(MOVES, "main.deep", deep);
	worker_program(&w, -1, argv);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "probes:\n"
		  "  - probe: 'uprobe:%s:%s:entry'\n"
		  "    do: [{count: {into: n}}]\n",
		  w.pid, program, deep);
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, 8 * 3001);
	rig_finish(&r);
	refused_in(program, deep, "return", "1", "UPROBE_GO_RETURN",
		   "the function's end is not known");
}

/* That the case is there at all: the first instruction runs more often than the function. */
Test(go, the_first_instruction_runs_twice)
{
	const char *argv[] = {MOVES, NULL};
	struct worker w;
	struct rig r;

	worker_program(&w, -1, argv);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "probes:\n"
		  "  - probe: 'uprobe:%s:main.deep:+0x0'\n"
		  "    do: [{count: {into: n}}]\n",
		  w.pid, MOVES);
	cr_expect_gt(cap_only_row(&r.cap, "n")->count, 8 * 3001);
	rig_finish(&r);
}

/* What cannot be told is not invented. */
Test(go, no_arguments_and_no_times)
{
	refused("main.deep", "entry", "arg0", "ARG_UNREADABLE", "in a way of its own");
	refused("main.deep", "return", "retval", "RETVAL_NONE", "retval");
	refused("main.deep", "return", "elapsed", "ELAPSED_NONE", "elapsed");
}

Test(go, UPROBE_GO_RETURN)
{
	refused("main.forever", "return", "1", "UPROBE_GO_RETURN", "the function never returns");
	/* It goes on in the function that it wraps. */
	refused("runtime.memhash", "return", "1", "UPROBE_GO_RETURN", "jump");
}
