/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which probe fired: each kind of identity, many probes on one program, lists of clauses, the
 * fields of the probe as keys and in predicates. */
#include "harness.h"

static void times(long nr, int n)
{
	while (n--)
		syscall(nr, 0, 0, 0, 0, 0);
}

/* ---- FIELD ---- */

static void some_calls(void *arg)
{
	(void)arg;
	times(SYS_getppid, 3);
	times(SYS_getpid, 5);
	times(SYS_gettid, 7);
	times(SYS_getgid, 11);
	times(SYS_getpgrp, 13);
}

Test(identity, by_field_one_program_for_all)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, some_calls, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: ['fx-field::get*:call', 'fx-field::%d:call']\n"
		  "    when: pid == %d\n"
		  "    do: [count: {into: calls, by: {f: probefunc, nr: args.nr}}]\n",
		  (int)SYS_getpgrp, w.pid);
	cr_expect_eq(weft_session_n_programs(r.session), 1);
	cr_expect_eq(weft_session_n_probes(r.session), 6,
		     "getppid getpid gettid getuid getgid, and "
		     "the one by number");
	const struct cap_table *t = cap_last_table(&r.cap, "calls");
	cr_expect_eq(t->n_rows, 5, "%zu rows; getuid was not called", t->n_rows);
	cr_expect_eq(cap_row_text(t, "f", "getppid")->count, 3);
	cr_expect_eq(cap_row_text(t, "f", "getpid")->count, 5);
	cr_expect_eq(cap_row_text(t, "f", "gettid")->count, 7);
	cr_expect_eq(cap_row_text(t, "f", "getgid")->count, 11);
	cr_expect_eq(cap_row_text(t, "f", "111")->count, 13);
	cr_expect_eq(cap_row_int(t, "nr", SYS_gettid)->count, 7);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* 0 is a value like any other. */
static void some_reads(void *arg)
{
	(void)arg;
	times(SYS_read, 17);
	times(SYS_getpid, 5);
}

Test(identity, by_field_whose_value_is_zero)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, some_reads, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: ['fx-field::getpid:call', 'fx-field::%d:call']\n"
		  "    when: pid == %d\n"
		  "    do: [count: {into: calls, by: {nr: args.nr}}]\n",
		  (int)SYS_read, w.pid);
	cr_expect_eq(cap_row_int(cap_last_table(&r.cap, "calls"), "nr", SYS_read)->count, 17);
	cr_expect_eq(cap_row_int(cap_last_table(&r.cap, "calls"), "nr", SYS_getpid)->count, 5);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(identity, IDENTITY_TWICE)
{
	struct rig r;

	rig_init(&r);
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "probes:\n"
				 "  - probe: ['fx-field::getpid:call', 'fx-field::%d:call']\n"
				 "    do: [count: {into: n}]\n",
				 (int)SYS_getpid),
		     0, "%s", rig_errors(&r));
	cr_assert_lt(rig_start(&r), 0);
	rig_expect_tag(&r, 0, "IDENTITY_TWICE");
	cr_expect(strstr(weft_error_text(r.err), "fx-field"), "%s", weft_error_text(r.err));
	rig_finish(&r);
}

/* ---- MAP ---- */

static void map_calls(void *arg)
{
	(void)arg;
	for (int i = 0; i < 4; i++)
		syscall(SYS_getpid, MAGIC, 1, 100 + i);
	syscall(SYS_getpid, MAGIC, 2, -5l);
	syscall(SYS_getpid, MAGIC, 3, 1);     /* nobody's */
	syscall(SYS_getpid, MAGIC + 1, 2, 1); /* nobody's: wide has no 2 */
	syscall(SYS_getpid, MAGIC + 1, 4000000000ul, 77);
	syscall(SYS_getpid, MAGIC, 4000000000ul, 1); /* nobody's: narrow has no such number */
	syscall(SYS_getpid, 0, 1, 1);                /* the guard */
}

Test(identity, by_map)
{
	struct worker w, other;
	struct rig r;

	worker_fork(&w, map_calls, NULL);
	worker_fork(&other, map_calls, NULL); /* the same numbers, another process */
	rig_init(&r);
	cr_assert_eq(
		rig_prepare(
			&r,
			"version: 1\n"
			"providers: {fx-map: {process: %d}}\n"
			"probes:\n"
			"  - probe:\n"
			"      - 'fx-map::narrow:1'\n"
			"      - 'fx-map::narrow:2'\n"
			"      - 'fx-map::wide:4000000000'\n"
			"    do:\n"
			"      - emit: {n: probename, f: probefunc, id: args.id, v: args.value, p: pid}\n",
			w.pid),
		0, "%s", rig_errors(&r));
	cr_expect_eq(weft_session_n_programs(r.session), 2, "narrow and wide differ");
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	worker_join(&other);
	worker_go(&w);
	cr_assert_eq(rig_run(&r, w.pidfd, 0), 0);
	worker_join(&w);

	cr_assert_eq(r.cap.n_records, 6);
	for (int i = 0; i < 6; i++) {
		const struct cap_record *rec = &r.cap.records[i];
		static const int64_t ids[] = {1, 1, 1, 1, 2, 4000000000};
		static const int64_t values[] = {100, 101, 102, 103, -5, 77};
		static const char *const names[] = {"1", "1", "1", "1", "2", "4000000000"};

		cr_expect_eq(cap_int(rec, "id"), ids[i]);
		cr_expect_eq(cap_int(rec, "v"), values[i], "record %d: %lld", i,
			     (long long)cap_int(rec, "v"));
		cr_expect_eq(cap_int(rec, "p"), w.pid);
		cr_expect(cap_is_text(rec, "n", names[i]));
		cr_expect(cap_is_text(rec, "f", i < 5 ? "narrow" : "wide"));
	}
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- COOKIE and CONST ---- */

/* What fx-wrong's eight probes fire at, by number; the one by constant is at the first. */
static void each_21(void *arg)
{
	static const long calls[] = {SYS_getppid, SYS_getpid, SYS_gettid,  SYS_getuid,
				     SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getpgrp};

	(void)arg;
	for (int n = 0; n < 21; n++)
		for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
			times(calls[i], 1);
}

Test(identity, by_cookie_and_by_constant)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, each_21, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-wrong:::call'\n"
		  "    when: pid == %d\n"
		  "    do:\n"
		  "      - count: {into: each, by: {f: probefunc}}\n"
		  "      - count: {into: merged, by: {n: probename, v: probeprov, m: probemod}}\n"
		  "      - emit: {f: probefunc}\n",
		  w.pid);
	cr_expect_eq(weft_session_n_probes(r.session), 9);
	cr_expect_eq(weft_session_n_programs(r.session), 2, "eight by cookie, one by itself");
	const struct cap_table *t = cap_last_table(&r.cap, "each");
	cr_assert_eq(t->n_rows, 9, "%zu rows of %zu probes", t->n_rows,
		     weft_session_n_probes(r.session));
	for (char f[2] = "0"; *f < '8'; ++*f)
		cr_expect_eq(cap_row_text(t, "f", f)->count, 21, "probe %s", f);
	cr_expect_eq(cap_row_text(t, "f", "const")->count, 21);

	/* Nine probes, one text: they are one row. */
	const struct weft_row *row = cap_only_row(&r.cap, "merged");
	cr_expect_eq(row->count, 9 * 21);
	cr_expect_eq(cap_row_text(cap_last_table(&r.cap, "merged"), "v", "fx-wrong"), row);
	cr_expect_eq(cap_row_text(cap_last_table(&r.cap, "merged"), "m", ""), row);
	cr_expect_eq(cap_count(&r.cap, "fx-wrong::5:call"), 21);
	cr_expect_eq(cap_count(&r.cap, "fx-wrong::const:call"), 21);
	cr_expect_eq(r.cap.n_records, 9 * 21);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* Decided for each probe, not when the program is made: the program serves them all. */
Test(identity, probe_fields_in_predicates)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, each_21, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-wrong::[0-7]:call'\n"
		  "    when: 'pid == %d && (probefunc == \"3\" || probefunc == \"6\")'\n"
		  "    do:\n"
		  "      - count: {into: some, by: {f: probefunc}}\n"
		  "      - sum: {into: other, by: {f: probefunc}, value: 'probefunc != \"3\" ? 10 : 1'}\n"
		  "  - probe: 'fx-wrong::[0-7]:call'\n"
		  "    when: 'pid == %d && probename != \"call\"'\n"
		  "    do: [count: {into: none}]\n",
		  w.pid, w.pid);
	cr_expect_eq(weft_session_n_programs(r.session), 1);
	const struct cap_table *t = cap_last_table(&r.cap, "some");
	cr_assert_eq(t->n_rows, 2, "%zu rows", t->n_rows);
	cr_expect_eq(cap_row_text(t, "f", "3")->count, 21);
	cr_expect_eq(cap_row_text(t, "f", "6")->count, 21);
	t = cap_last_table(&r.cap, "other");
	cr_expect_eq(cap_row_text(t, "f", "3")->value.i, 21);
	cr_expect_eq(cap_row_text(t, "f", "6")->value.i, 210);
	cr_expect_eq(cap_total(cap_last_table(&r.cap, "none")), 0);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- lists of clauses ---- */

Test(identity, clauses_run_in_the_order_of_the_file)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, each_21, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-wrong::[01]:call'\n"
		  "    when: pid == %d\n"
		  "    do: [emit: {clause: 1, f: probefunc}]\n"
		  "  - probe: ['fx-wrong::1:call', 'fx-wrong::*:call']\n"
		  "    when: pid == %d\n"
		  "    do: [emit: {clause: 2, f: probefunc}, emit: {clause: 3, f: probefunc}]\n"
		  "  - probe: 'fx-wrong::1:*'\n"
		  "    when: pid == %d\n"
		  "    do: [emit: {clause: 4, f: probefunc}]\n",
		  w.pid, w.pid, w.pid);
	/* {1 2}, {1 2 4}, {2}, and {2} for the one by constant. */
	cr_expect_eq(weft_session_n_programs(r.session), 4);
	cr_expect_eq(cap_count(&r.cap, "::0:call"), 3 * 21);
	cr_expect_eq(cap_count(&r.cap, "::1:call"), 4 * 21, "two patterns of one clause fire once");
	cr_expect_eq(cap_count(&r.cap, "::2:call"), 2 * 21);
	cr_expect_eq(cap_count(&r.cap, "::const:call"), 2 * 21);
	for (int f = 0; f < 3; f++) {
		static const int64_t order[3][4] = {{1, 2, 3, 0}, {1, 2, 3, 4}, {2, 3, 0, 0}};
		static const int length[3] = {3, 4, 2};
		char name[2] = {(char)('0' + f), 0};
		int at = 0;

		for (size_t i = 0; i < r.cap.n_records; i++) {
			const struct cap_record *rec = &r.cap.records[i];

			if (!cap_is_text(rec, "f", name))
				continue;
			cr_expect_eq(cap_int(rec, "clause"), order[f][at], "probe %d: %d", f, at);
			at = (at + 1) % length[f];
		}
	}
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}
