/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Counts and arguments of one program, built in every way that matters, by both mechanisms and both
 * placements; and what is odd about functions: aliases, namesakes, overloads, code that cannot bear
 * a probe.
 */
#include "address.h"
#include "counts.h"

#define ROUNDS 20

static const char *const builds[] = {
	UPROBE_PROGRAM_DIR "/pie-O2",      UPROBE_PROGRAM_DIR "/nopie-O0",
	UPROBE_PROGRAM_DIR "/static-O2",   UPROBE_PROGRAM_DIR "/staticpie-O3",
	UPROBE_PROGRAM_DIR "/cet-nofp-O2", UPROBE_PROGRAM_DIR "/fp-O3",
	UPROBE_PROGRAM_DIR "/stripped-O2",
};

static const char *const ways[] = {"placement: exact", "placement: cheap", "mechanism: perf"};

static void start(struct rig *r, struct worker *w, const char *program, const char *mode)
{
	const char *argv[] = {program, mode, "20", NULL};

	worker_program(w, -1, argv);
	rig_init(r);
}

static int64_t sum_of(const struct rig *r, const char *name)
{
	return cap_only_row(&r->cap, name)->value.i;
}

static void arguments(const char *program, const char *way)
{
	int64_t n = ROUNDS * (ROUNDS - 1) / 2;
	struct worker w;
	struct rig r;

	start(&r, &w, program, "calls");
	rig_trace(
		&r, &w,
		"version: 1\n"
		"target: {pid: %d}\n"
		"providers: {uprobe: {%s}}\n"
		"probes:\n"
		"  - probe: 'uprobe:%s:eight:entry'\n"
		"    do:\n"
		"      - sum: {into: a0, value: arg0}\n"
		"      - sum: {into: a1, value: arg1}\n"
		"      - sum: {into: a2, value: arg2}\n"
		"      - sum: {into: a5, value: arg5}\n"
		"      - sum: {into: a6, value: arg6}\n"
		"      - sum: {into: a7, value: arg7}\n"
		"  - probe: 'uprobe:%s:eight:return'\n"
		"    do: [{sum: {into: ret, value: retval}}]\n"
		"  - probe: 'uprobe:%s:factorial:entry'\n"
		"    do: [{count: {into: calls}}, {sum: {into: depth, value: arg0}}]\n"
		"  - probe: 'uprobe:%s:inner:return'\n"
		"    do: [{count: {into: never}}]\n"
		"  - probe: 'uprobe:%s:jump:return'\n"
		"    do: [{count: {into: jumps, by: [elapsed > 0]}}]\n"
		"  - probe: 'uprobe:%s:tailed:return'\n"
		"    do: [{sum: {into: tailed, value: retval}}]\n"
		"  - probe: 'uprobe:%s:tail:return'\n"
		"    do: [{sum: {into: tail, value: retval}}, {count: {into: tails, by: [elapsed > 0]}}]\n",
		w.pid, way, program, program, program, program, program, program, program);
	cr_expect_eq(sum_of(&r, "a0"), n, "%s %s", program, way);
	cr_expect_eq(sum_of(&r, "a1"), -n, "%s %s", program, way);
	cr_expect_eq(sum_of(&r, "a2"), 2 * n, "%s %s", program, way);
	cr_expect_eq(sum_of(&r, "a5"), 5 * n, "%s %s", program, way);
	cr_expect_eq(sum_of(&r, "a6"), 6 * n, "%s %s", program, way);
	cr_expect_eq(sum_of(&r, "a7"), 7 * n, "%s %s", program, way);
	cr_expect_eq(sum_of(&r, "ret"), 27 * n, "%s %s", program, way);
	cr_expect_eq(count_of(&r, "calls"), 6 * ROUNDS, "%s %s: %ld", program, way,
		     (long)count_of(&r, "calls"));
	cr_expect_eq(sum_of(&r, "depth"), 15 * ROUNDS, "%s %s", program, way);
	cr_expect_eq(count_of(&r, "never"), 0, "%s %s", program, way);
	cr_expect_eq(count_of(&r, "jumps"), ROUNDS, "%s %s", program, way);
	cr_expect_eq(cap_row_int(cap_last_table(&r.cap, "jumps"), "elapsed > 0", 1)->count, ROUNDS);
	cr_expect_eq(sum_of(&r, "tailed"), 10 * n + 10 * ROUNDS, "%s %s", program, way);
	cr_expect_eq(sum_of(&r, "tail"), 10 * n + 10 * ROUNDS, "%s %s", program, way);
	cr_expect_eq(cap_row_int(cap_last_table(&r.cap, "tails"), "elapsed > 0", 1)->count, ROUNDS);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(builds, arguments_and_returns)
{
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++)
		for (size_t k = 0; k < sizeof(ways) / sizeof(ways[0]); k++)
			arguments(builds[i], ways[k]);
}

Test(builds, stripped_by_address)
{
	const char *program = UPROBE_PROGRAM_DIR "/stripped-O2";
	struct worker w;
	struct rig r;
	char address[32];

	/* The dynamic symbols tell where eight() is; an address needs no symbol. */
	address_of(program, "eight", address);
	start(&r, &w, program, "calls");
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "probes:\n"
		  "  - probe: 'uprobe:%s:%s:entry'\n"
		  "    do: [{sum: {into: a6, value: arg6}}]\n"
		  "  - probe: 'uprobe:%s:%s:return'\n"
		  "    do: [{sum: {into: ret, value: retval}}]\n",
		  w.pid, program, address, program, address);
	cr_expect_eq(sum_of(&r, "a6"), 6 * ROUNDS * (ROUNDS - 1) / 2);
	cr_expect_eq(sum_of(&r, "ret"), 27 * ROUNDS * (ROUNDS - 1) / 2);
	rig_finish(&r);
}

/* A name of two static functions means both; a pattern tells them apart, unless there is a probe of
 * that name already. */
Test(builds, namesakes)
{
	struct worker w;
	struct rig r;

	start(&r, &w, builds[0], "calls");
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "probes:\n"
		  "  - probe: 'uprobe:%s:helper:return'\n"
		  "    do: [{sum: {into: both, value: retval}}, {count: {into: calls}}]\n"
		  "  - probe: 'uprobe:%s:help*:return'\n"
		  "    do: [{count: {into: again}}]\n"
		  "  - probe: 'uprobe:%s:helper*:entry'\n"
		  "    do: [{sum: {into: each, by: [probefunc], value: arg0}}, "
		  "{count: {into: n, by: [probefunc]}}]\n",
		  w.pid, builds[0], builds[0], builds[0]);
	cr_expect_eq(sum_of(&r, "both"), ROUNDS * (ROUNDS - 1) + 3 * ROUNDS);
	cr_expect_eq(count_of(&r, "calls"), 2 * ROUNDS);
	cr_expect_eq(count_of(&r, "again"), 2 * ROUNDS);
	const struct cap_table *n = cap_last_table(&r.cap, "n");
	cr_assert_eq(n->n_rows, 2);
	for (size_t i = 0; i < 2; i++) {
		cr_expect_eq(n->rows[i].count, ROUNDS);
		cr_expect_eq(cap_last_table(&r.cap, "each")->rows[i].value.i,
			     ROUNDS * (ROUNDS - 1) / 2);
		cr_expect_eq(strncmp(cap_key(&n->rows[i], "probefunc")->text.s, "helper@0x", 9), 0);
	}
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* With debugging information arguments have names and types; what a pattern matches has words. */
Test(builds, arguments_by_name)
{
	const char *program = UPROBE_PROGRAM_DIR "/debug-O2";
	int64_t n = ROUNDS * (ROUNDS - 1) / 2;
	struct worker w;
	struct rig r;

	for (size_t k = 0; k < sizeof(ways) / sizeof(ways[0]); k++) {
		start(&r, &w, program, "calls");
		rig_trace(&r, &w,
			  "version: 1\n"
			  "target: {pid: %d}\n"
			  "providers: {uprobe: {%s}}\n"
			  "probes:\n"
			  "  - probe: 'uprobe:%s:eight:entry'\n"
			  "    do:\n"
			  "      - sum: {into: b, value: args.b}\n"
			  "      - sum: {into: h, value: args.h}\n"
			  "  - probe: 'uprobe:%s:jump:return'\n"
			  "    do: [{sum: {into: jumps, value: retval}}]\n"
			  "  - probe: 'uprobe:%s:tail*:entry'\n"
			  "    do: [{sum: {into: words, value: arg0}}]\n",
			  w.pid, ways[k], program, program, program);
		cr_expect_eq(sum_of(&r, "b"), -n, "%s", ways[k]);
		cr_expect_eq(sum_of(&r, "h"), 7 * n, "%s", ways[k]);
		cr_expect_eq(sum_of(&r, "jumps"), ROUNDS, "%s", ways[k]);
		cr_expect_eq(sum_of(&r, "words"), 2 * n + ROUNDS, "%s", ways[k]);
		cap_expect_no_loss(&r.cap);
		rig_finish(&r);
	}
	rig_init(&r);
	cr_expect_neq(rig_prepare(&r,
				  "version: 1\n"
				  "probes:\n"
				  "  - probe: 'uprobe:%s:inner:return'\n"
				  "    do: [{sum: {into: s, value: retval}}]\n",
				  program),
		      0);
	rig_finish(&r);
}

Test(builds, cplusplus_names)
{
	const char *program = UPROBE_PROGRAM_DIR "/over";
	struct worker w;
	struct rig r;

	start(&r, &w, program, "");
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "probes:\n"
		  "  - probe: 'uprobe:%s:shapes::area(long):entry'\n"
		  "    do: [{count: {into: one}}]\n"
		  "  - probe: 'uprobe:%s:shapes::area(long, long):entry'\n"
		  "    do: [{sum: {into: two, value: arg1}}]\n"
		  "  - probe: 'uprobe:%s:shapes::area:return'\n"
		  "    do: [{count: {into: both}}]\n"
		  "  - probe: 'uprobe:%s:_ZNK6shapes3box6volumeEv:return'\n"
		  "    do: [{sum: {into: linked, value: retval}}]\n"
		  "  - probe: 'uprobe:%s:shapes::box::*:return'\n"
		  "    do: [{count: {into: methods, by: [probefunc]}}]\n",
		  w.pid, program, program, program, program, program);
	cr_expect_eq(count_of(&r, "one"), 10);
	cr_expect_eq(sum_of(&r, "two"), 40);
	cr_expect_eq(count_of(&r, "both"), 30);
	cr_expect_eq(sum_of(&r, "linked"), 5 * 27);
	cr_expect_eq(count_of(&r, "methods"), 5);
	cr_expect_not_null(cap_row_text(cap_last_table(&r.cap, "methods"), "probefunc",
					"shapes::box::volume"));
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* The program must do as it does without us: where the kernel would take an instruction for
 * another, or refuses it, the probe is on the next. */
static void oddities(const char *way)
{
	const char *program = UPROBE_PROGRAM_DIR "/odd";
	struct worker w;
	struct rig r;

	start(&r, &w, program, "");
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "providers: {uprobe: {%s}}\n"
		  "probes:\n"
		  "  - probe: 'uprobe:%s:vector_first:entry'\n"
		  "    do: [{sum: {into: v, value: arg0}}]\n"
		  "  - probe: 'uprobe:%s:vector_first:return'\n"
		  "    do: [{sum: {into: vr, value: retval}}]\n"
		  "  - probe: 'uprobe:%s:locked_first:entry'\n"
		  "    do: [{count: {into: l}}]\n"
		  "  - probe: 'uprobe:%s:loops_back:entry'\n"
		  "    do: [{count: {into: loops}}]\n"
		  "  - probe: 'uprobe:%s:overwrites:entry'\n"
		  "    do: [{sum: {into: over, value: arg0}}]\n"
		  "  - probe: 'uprobe:%s:moves_stack:entry'\n"
		  "    do: [{sum: {into: six, value: arg6}}, {sum: {into: seven, value: arg7}}]\n"
		  "  - probe: 'uprobe:%s:entered_twice:entry'\n"
		  "    do: [{count: {into: first}}]\n"
		  "  - probe: 'uprobe:%s:second_entry:entry'\n"
		  "    do: [{count: {into: second}}]\n",
		  w.pid, way, program, program, program, program, program, program, program,
		  program);
	cr_expect_eq(sum_of(&r, "v"), 77, "%s", way);
	cr_expect_eq(sum_of(&r, "vr"), 7, "%s", way);
	cr_expect_eq(count_of(&r, "l"), 7, "%s", way);
	cr_expect_eq(count_of(&r, "loops"), 7, "%s", way);
	cr_expect_eq(sum_of(&r, "over"), 77, "%s", way);
	cr_expect_eq(sum_of(&r, "six"), 7 * 41, "%s", way);
	cr_expect_eq(sum_of(&r, "seven"), 7 * 42, "%s", way);
	cr_expect_eq(count_of(&r, "first"), 7, "%s", way);
	cr_expect_eq(count_of(&r, "second"), 14, "%s", way);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(builds, functions_that_begin_oddly)
{
	for (size_t k = 0; k < sizeof(ways) / sizeof(ways[0]); k++)
		oddities(ways[k]);
}

Test(builds, UPROBE_INSTRUCTION)
{
	const char *program = UPROBE_PROGRAM_DIR "/odd";
	struct rig r;

	/* Its only other instruction comes behind what it does to memory. */
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "probes:\n"
				 "  - probe: 'uprobe:%s:locked_only:return'\n"
				 "    do: [{count: {into: n, by: [retval]}}]\n"
				 "  - probe: 'uprobe:%s:locked_only:+0x0'\n"
				 "    do: [{count: {into: n2}}]\n",
				 program, program),
		     -EOPNOTSUPP, "%s", rig_errors(&r));
	rig_expect_tag(&r, 0, "UPROBE_INSTRUCTION");
	rig_finish(&r);
}

/* Where the probe of `overwrites` sits tells its own stack: behind the first instruction, which
 * takes two bytes and the first argument, for whatever does not ask for that argument. */
static void where_it_sits(const char *placement, const char *fields, uint64_t want)
{
	const char *program = UPROBE_PROGRAM_DIR "/odd";
	struct worker w;
	struct rig r;

	start(&r, &w, program, "");
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "providers: {uprobe: {placement: %s}}\n"
		  "probes:\n"
		  "  - probe: 'uprobe:%s:overwrites:entry'\n"
		  "    do: [{emit: {at: ustack(1)%s}}, {count: {into: n, by: execname}}]\n",
		  w.pid, placement, program, fields);
	cr_assert_eq(r.cap.n_records, 7);
	for (size_t i = 0; i < r.cap.n_records; i++) {
		const struct weft_value *at = cap_field(&r.cap.records[i], "at");

		cr_assert_eq(at->stack.n, 1);
		cr_expect_eq(at->stack.frames[0].offset, want, "%s%s: %lu", placement, fields,
			     (unsigned long)at->stack.frames[0].offset);
		if (strstr(fields, "arg0"))
			cr_expect_eq(cap_field(&r.cap.records[i], "a0")->i, 11);
	}
	cr_expect_eq(count_of(&r, "n"), 7);
	rig_finish(&r);
}

Test(builds, the_place_goes_by_what_is_used)
{
	where_it_sits("cheap", "", 2);
	where_it_sits("cheap", ", program: execname, pid: pid", 2);
	where_it_sits("cheap", ", a1: arg1, a2: arg2", 2);
	where_it_sits("cheap", ", a0: arg0", 0);
	where_it_sits("cheap", ", a0: arg0, a1: arg1", 0);
	where_it_sits("cheap", ", r: regs", 0);
	where_it_sits("exact", "", 0);
}

/* An instruction in a loop that is gone through five times, and the one before it, by each mechanism. */
static void instructions(const char *way)
{
	const char *program = UPROBE_PROGRAM_DIR "/odd";
	struct worker w;
	struct rig r;

	start(&r, &w, program, "");
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "providers: {uprobe: {%s}}\n"
		  "probes:\n"
		  "  - probe: 'uprobe:%s:loops_back:+0x0'\n"
		  "    do: [{count: {into: first}}]\n"
		  "  - probe: 'uprobe:%s:loops_back:+0x5'\n"
		  "    do: [{count: {into: again}}]\n",
		  w.pid, way, program, program);
	cr_expect_eq(count_of(&r, "first"), 7, "%s", way);
	cr_expect_eq(count_of(&r, "again"), 7 * 5, "%s", way);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(builds, instructions_by_their_offset)
{
	for (size_t k = 0; k < sizeof(ways) / sizeof(ways[0]); k++)
		instructions(ways[k]);
}

/* One place of a batch that cannot be had costs no other. A clause that shows all registers is for
 * the first instruction only. */
Test(builds, a_batch_with_places_that_are_refused)
{
	const char *program = UPROBE_PROGRAM_DIR "/odd";
	static const char *const good[] = {":loops_back:entry", ":overwrites:entry",
					   ":moves_stack:entry", ":entered_twice:entry",
					   ":jumps_in:entry"};
	static const char *const bad[] = {":vector_first:entry", ":locked_first:entry",
					  ":locked_only:entry"};
	struct worker w;
	struct rig r;
	char said[96];

	start(&r, &w, program, "");
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "probes:\n"
		  "  - probe: 'uprobe:%s:[a-z]*:entry'\n"
		  "    do: [{emit: {all: regs}}]\n",
		  w.pid, program);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		cr_expect_eq(cap_count(&r.cap, good[i]), 7, "%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_expect_eq(cap_count(&r.cap, bad[i]), 0, "%s", bad[i]);
		snprintf(said, sizeof(said), "%s: not attached: Operation not supported", bad[i]);
		cr_expect(rig_has_said(&r, said), "%s", said);
	}
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* The kernel keeps 64 return addresses of a thread; what is nested deeper is said to be lost,
 * whatever of the entry the return asks for. */
static void nested_too_deep(const char *by)
{
	const char *argv[] = {builds[0], "deep", "99", NULL};
	struct worker w;
	struct rig r;

	worker_program(&w, -1, argv);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "probes:\n"
		  "  - probe: 'uprobe:%s:factorial:entry'\n"
		  "    do: [{count: {into: entries}}]\n"
		  "  - probe: 'uprobe:%s:factorial:return'\n"
		  "    do: [{count: {into: returns, by: ['%s']}}]\n",
		  w.pid, builds[0], builds[0], by);
	cr_expect_eq(count_of(&r, "entries"), 100);
	cr_expect_eq(count_of(&r, "returns"), 64);
	cap_expect_loss(&r.cap, "PAIRING_DEPTH", 36);
	rig_finish(&r);
}

Test(builds, returns_that_are_nested_too_deep)
{
	nested_too_deep("elapsed > 0");
	nested_too_deep("entry.arg0 >= 0");
}

/* All ten thousand, one program, each fires once. */
Test(builds, ten_thousand)
{
	const char *program = UPROBE_PROGRAM_DIR "/ten-thousand";
	struct worker w;
	struct rig r;

	start(&r, &w, program, "");
	rig_trace(&r, &w,
		  "version: 1\n"
		  "options: {rows: 20000}\n"
		  "target: {pid: %d}\n"
		  "probes:\n"
		  "  - probe: 'uprobe:%s:t[0-9]*:entry'\n"
		  "    do: [{count: {into: n, by: [probefunc]}}]\n",
		  w.pid, program);
	const struct cap_table *t = cap_last_table(&r.cap, "n");
	cr_expect_eq(weft_session_n_programs(r.session), 1);
	cr_assert_eq(t->n_rows, 10000);
	for (size_t i = 0; i < t->n_rows; i++)
		cr_expect_eq(t->rows[i].count, 1);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}
