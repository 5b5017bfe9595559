/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Options of providers: for the set, for a probe, both, and what is wrong with them. */
#include "harness.h"

static void call_5(void *arg)
{
	(void)arg;
	for (int i = 0; i < 5; i++)
		syscall(SYS_getppid);
}

#define EMIT                                                                              \
	"[emit: {n: %d, flag: args.flag, number: args.number, length: args.text_length, " \
	"choice: args.choice, duration: args.duration, size: args.size, o: args.optional}]\n"

static void expect(const struct cap_record *r, int flag, int64_t number, int length, int choice,
		   int64_t duration, int64_t size, int64_t optional)
{
	cr_expect_eq(cap_int(r, "flag"), flag);
	cr_expect_eq(cap_int(r, "number"), number);
	cr_expect_eq(cap_int(r, "length"), length);
	cr_expect_eq(cap_int(r, "choice"), choice);
	cr_expect_eq(cap_int(r, "duration"), duration);
	cr_expect_eq(cap_int(r, "size"), size);
	cr_expect_eq(cap_int(r, "o"), optional);
}

static const struct cap_record *of_clause(const struct capture *c, int n)
{
	const struct cap_record *found = NULL;
	size_t count = 0;

	for (size_t i = 0; i < c->n_records; i++)
		if (cap_int(&c->records[i], "n") == n) {
			found = &c->records[i];
			count++;
		}
	cr_assert_eq(count, 5, "%zu records of clause %d", count, n);
	return found;
}

Test(options, defaults)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, call_5, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::options'\n"
		  "    when: pid == %d\n"
		  "    do: " EMIT,
		  w.pid, 1);
	expect(of_clause(&r.cap, 1), 0, -7, 4, 0, 5000, 4096, -1);
	rig_finish(&r);
}

/* The set's values, and those of a probe above them; a probe that is named with other options is
 * there twice. */
Test(options, of_the_set_and_of_a_probe)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, call_5, NULL);
	rig_init(&r);
	rig_trace(
		&r, &w,
		"version: 1\n"
		"providers:\n"
		"  fx-trace: {flag: true, number: 12, text: '', choice: second, duration: 3ms, size: 2m}\n"
		"probes:\n"
		"  - probe: 'fx-trace:::options'\n"
		"    when: pid == %d\n"
		"    do: " EMIT "  - probe: 'fx-trace:::options'\n"
		"    with: {flag: false, number: -9223372036854775808, text: 'with: blanks', optional: 77}\n"
		"    when: pid == %d\n"
		"    do: " EMIT "  - probe: 'fx-trace:::options'\n"
		"    with: {flag: false, number: -9223372036854775808, text: 'with: blanks', optional: 77}\n"
		"    when: pid == %d\n"
		"    do: " EMIT,
		w.pid, 1, w.pid, 2, w.pid, 3);
	cr_expect_eq(weft_session_n_probes(r.session), 2);
	cr_expect_eq(weft_session_n_programs(r.session), 2);
	expect(of_clause(&r.cap, 1), 1, 12, 0, 1, 3000000, 2 << 20, -1);
	expect(of_clause(&r.cap, 2), 0, INT64_MIN, 12, 1, 3000000, 2 << 20, 77);
	expect(of_clause(&r.cap, 3), 0, INT64_MIN, 12, 1, 3000000, 2 << 20, 77);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* An option that changes what a guard is. */
static void prctl_7(void *arg)
{
	(void)arg;
	syscall(SYS_prctl, MAGIC, 1, 0, 0, 0);
	syscall(SYS_prctl, 4242, 2, 0, 0, 0);
}

Test(options, of_the_guard)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, prctl_7, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "providers: {fx-trace: {magic: 4242}}\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::math'\n"
		  "    when: pid == %d\n"
		  "    do: [emit: {a: args.a}]\n",
		  w.pid);
	cr_assert_eq(r.cap.n_records, 1);
	cr_expect_eq(cap_int(&r.cap.records[0], "a"), 2);
	rig_finish(&r);
}

/* ---- what is wrong ---- */

static void wrong(const char *set, const char *with, const char *tag, unsigned line, unsigned column)
{
	struct weft_report e;
	struct rig r;
	int ret;

	rig_init(&r);
	ret = rig_prepare(&r,
			  "version: 1\n"
			  "providers: {fx-trace: {%s}}\n"
			  "probes:\n"
			  "  - probe: 'fx-trace:::options'\n"
			  "    with: {%s}\n"
			  "    do: [count: {into: n}]\n",
			  set, with);
	cr_expect_lt(ret, 0);
	rig_expect_tag(&r, 0, tag);
	weft_error_report(r.err, 0, &e);
	cr_expect(e.pos.line == line && e.pos.column == column, "%s", rig_errors(&r));
	cr_expect_str_eq(e.file, "set.yaml");
	cr_expect(strstr(e.text, "fx-trace"), "%s", e.text);
	rig_finish(&r);
}

Test(options, OPTION_UNKNOWN)
{
	wrong("numbr: 1", "flag: true", "OPTION_UNKNOWN", 2, 24);
	wrong("number: 1", "numbr: 1", "OPTION_UNKNOWN", 5, 12);
}

Test(options, OPTION_VALUE)
{
	wrong("magic: 0", "flag: true", "OPTION_VALUE", 2, 31);
	wrong("flag: true", "choice: third", "OPTION_VALUE", 5, 20);
}

/* However many probes there are for which it is wrong. */
Test(options, what_is_wrong_is_said_once)
{
	struct rig r;

	rig_init(&r);
	cr_expect_lt(rig_prepare(&r, "version: 1\n"
				     "providers: {fx-trace: {magic: 0}}\n"
				     "probes:\n"
				     "  - probe: ['fx-trace:::options', 'fx-trace:::math']\n"
				     "    do: [count: {into: n}]\n"
				     "  - probe: 'fx-trace:::options'\n"
				     "    do: [count: {into: m}]\n"),
		     0);
	cr_expect_eq(weft_error_count(r.err), 1, "%s", rig_errors(&r));
	rig_expect_tag(&r, 0, "OPTION_VALUE");
	rig_finish(&r);
}

Test(options, what_is_wrong_is_said_in_the_order_of_the_file)
{
	struct weft_report report;
	uint32_t before = 0;
	struct rig r;

	rig_init(&r);
	cr_expect(rig_prepare(&r, "version: 1\n"
				  "begin: [emit: {a: wrong}]\n"
				  "probes:\n"
				  "  - probe: 'fx-call:::entry'\n"
				  "    do: [emit: {a: wrong, b: wrong}]\n"
				  "  - probe: 'fx-call:::return'\n"
				  "    do: [emit: {a: wrong}]\n"
				  "  - probe: 'fx-call:::entry'\n"
				  "    do: [emit: {a: wrong}]\n") < 0);
	cr_expect_eq(weft_error_count(r.err), 5, "%s", rig_errors(&r));
	for (size_t i = 0; !weft_error_report(r.err, i, &report); i++) {
		cr_expect_geq(report.pos.line, before, "%s", rig_errors(&r));
		before = report.pos.line;
	}
	rig_finish(&r);
}

Test(options, OPTION_PLACE)
{
	wrong("optional: 1", "flag: true", "OPTION_PLACE", 2, 24);
	wrong("number: 1", "magic: 7", "OPTION_PLACE", 5, 12);
}

/* Settings for a provider that is not there. */
Test(options, PROBE_NO_PROVIDER)
{
	struct weft_report e;
	struct rig r;

	rig_init(&r);
	cr_expect_lt(rig_prepare(&r, "version: 1\n"
				     "providers: {fx-trase: {number: 1}}\n"
				     "probes:\n"
				     "  - probe: 'fx-trace:::options'\n"
				     "    do: [count: {into: n}]\n"),
		     0);
	rig_expect_tag(&r, 0, "PROBE_NO_PROVIDER");
	weft_error_report(r.err, 0, &e);
	cr_expect_str_eq(e.suggestion, "fx-trace");
	cr_expect(e.pos.line == 2 && e.pos.column == 13, "%s", rig_errors(&r));
	rig_finish(&r);
}
