/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Cheap placement against exact: counts and arguments of hundreds of functions must be the same.
 * The programs are made (workloads/many.sh): 480 functions of twelve shapes at five levels of
 * optimisation, every argument of every call known to be the same in both runs. Then bash, whose
 * functions are as people write them: counts.
 */
#include "harness.h"
#include "support/test_long.h"

static void run(struct rig *r, const char *placement, const char *program, const char *actions)
{
	const char *argv[] = {program, NULL};
	struct worker w;

	worker_program(&w, -1, argv);
	rig_init(r);
	rig_trace(r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "providers: {uprobe: {placement: %s}}\n"
		  "probes:\n"
		  "  - probe: 'uprobe:%s:f[0-9]*:entry'\n"
		  "    do: [%s]\n",
		  w.pid, placement, program, actions);
	cap_expect_no_loss(&r->cap);
}

static void same_tables(const struct rig *a, const struct rig *b, size_t least)
{
	cr_assert_eq(a->cap.n_tables, b->cap.n_tables);
	for (size_t i = 0; i < a->cap.n_tables; i++) {
		const struct cap_table *x = &a->cap.tables[i], *y = &b->cap.tables[i];

		cr_assert_eq(x->n_rows, y->n_rows);
		cr_assert_geq(x->n_rows, least, "%zu rows", x->n_rows);
		for (size_t k = 0; k < x->n_rows; k++) {
			const char *name = cap_key(&x->rows[k], "probefunc")->text.s;
			const struct weft_row *other = cap_row_text(y, "probefunc", name);

			cr_assert_not_null(other, "%s", name);
			cr_expect_eq(x->rows[k].count, other->count, "%s of %s", x->name, name);
			cr_expect_eq(x->rows[k].value.i, other->value.i, "%s of %s: %ld, %ld",
				     x->name, name, (long)x->rows[k].value.i, (long)other->value.i);
		}
	}
}

static void compare(const char *program, const char *actions)
{
	struct rig exact, cheap;

	run(&exact, "exact", program, actions);
	run(&cheap, "cheap", program, actions);
	same_tables(&exact, &cheap, 480);
	rig_finish(&cheap);
	rig_finish(&exact);
}

static const char *const programs[] = {
	UPROBE_PROGRAM_DIR "/many-O0", UPROBE_PROGRAM_DIR "/many-O1", UPROBE_PROGRAM_DIR "/many-O2",
	UPROBE_PROGRAM_DIR "/many-O3", UPROBE_PROGRAM_DIR "/many-Os",
};
#define N_PROGRAMS (sizeof(programs) / sizeof(programs[0]))

Test(alike, counts)
{
	for (size_t i = 0; i < N_PROGRAMS; i++)
		compare(programs[i], "count: {into: n, by: [probefunc]}");
}

/* With WEFT_LONG=1, more of them. One argument or two at a time, since what a clause uses decides
 * on the place. */
Test(alike, each_argument)
{
	static const char *const values[] = {
		"arg0 + 3 * arg1", "arg4", "arg6", "arg0", "arg3", "arg5", "arg7"};
	/* All of them take half a minute. */
	size_t n = test_is_long() ? sizeof(values) / sizeof(values[0]) : 3;
	char actions[128];

	for (size_t i = 0; i < N_PROGRAMS; i++) {
		for (size_t k = 0; k < n; k++) {
			snprintf(actions, sizeof(actions),
				 "sum: {into: s, by: [probefunc], value: %s}", values[k]);
			compare(programs[i], actions);
		}
	}
}

/* The fourth shape in twelve writes there at once. */
Test(alike, memory_behind_an_argument)
{
	for (size_t i = 0; i < N_PROGRAMS; i++)
		compare(programs[i], "sum: {into: s, by: [probefunc], value: "
				     "'strlen(copyinstr(arg2 + 16))'}");
}

static void bash(struct rig *r, const char *placement)
{
	static const char *const argv[] = {
		"/bin/bash",
		"--norc",
		"--noprofile",
		"-c",
		"x=0; for i in 1 2 3 4 5 6 7 8 9; do x=$((x+i)); y=${x//1/2}; case $y in 2*) echo $y;; "
		"*) printf '%s\\n' $x;; esac; done; f() { local a=$1; [[ $a == q* ]] && echo $a; }; f qq",
		NULL};
	struct worker w;

	worker_program(&w, -1, argv);
	rig_init(r);
	rig_trace(r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "providers: {uprobe: {placement: %s}}\n"
		  "probes:\n"
		  "  - probe: 'uprobe:/bin/bash:*:entry'\n"
		  "    do: [{count: {into: n, by: [probefunc]}}]\n",
		  w.pid, placement);
	cap_expect_no_loss(&r->cap);
}

Test(alike, bash_counts)
{
	struct rig exact, cheap;

	bash(&exact, "exact");
	bash(&cheap, "cheap");
	same_tables(&exact, &cheap, 200);
	rig_finish(&cheap);
	rig_finish(&exact);
}
