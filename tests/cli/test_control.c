/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a user sees of limits and samples, and of actions that change the system. */
#include "support.h"

#define CLAUSE(keys, actions)               \
	"version: 1\n"                      \
	"probes:\n"                         \
	"  - probe: 'fx-trace:::calls'\n"   \
	"    when: execname == \"calls\"\n" \
	"    " keys "\n"                    \
	"    do: [" actions "]\n"

/* Reported, and no failure. */
Test(control, skipped)
{
	const char *set = cli_set(CLAUSE("limit: 3/m", "count: {into: n}"));
	struct cli_run c;
	json_t *lines;

	CLI(&c, "run", FIXTURES, set, "--", CALLS, "17");
	cr_expect_eq(c.status, 0, "%s", c.err);
	cr_expect(strstr(c.err, "skipped: 14 x RATE_LIMITED: "), "%s", c.err);
	cr_expect(strstr(c.err, ":5:12: 3/m"), "%s", c.err);
	cr_expect(!strstr(c.err, "lost"), "%s", c.err);
	cli_finish(&c);
	CLI(&c, "run", FIXTURES, "-o", "json", set, "--", CALLS, "17");
	cr_expect_eq(c.status, 0, "%s", c.err);
	lines = cli_json_lines(c.out);
	cr_expect_eq(cli_json_count(lines, "loss"), 0);
	cr_assert_eq(cli_json_count(lines, "skipped"), 1);
	cr_expect_eq(json_integer_value(json_object_get(cli_json_nth(lines, "skipped", 0), "count")),
		     14);
	json_decref(lines);
	cli_finish(&c);
	cli_unlink_sets();
}

/* Refused by everything that reads the set, until it is allowed. */
Test(control, DESTRUCTIVE)
{
	const char *set = cli_set(CLAUSE("every: 1", "signal: KILL, count: {into: n}"));
	static const char *const commands[] = {"check", "explain"};
	struct cli_run c;

	for (size_t i = 0; i < 2; i++) {
		CLI(&c, commands[i], FIXTURES, set);
		cr_expect_eq(c.status, 2);
		cr_expect(strstr(c.err, "--destructive"), "%s", c.err);
		cr_expect(strstr(c.err, "[DESTRUCTIVE]"), "%s", c.err);
		cli_finish(&c);
		CLI(&c, commands[i], FIXTURES, "--destructive", set);
		cr_expect_eq(c.status, 0, "%s", c.err);
		cli_finish(&c);
	}
	CLI(&c, "run", FIXTURES, set, "--", CALLS, "17");
	cr_expect_eq(c.status, 2);
	cr_expect(strstr(c.err, "[DESTRUCTIVE]"), "%s", c.err);
	cli_finish(&c);
	CLI(&c, "run", FIXTURES, "--destructive", set, "--", CALLS, "17");
	cr_expect_eq(c.status, 0, "%s", c.err);
	cr_expect(strstr(c.out, "n (count): 1\n"), "killed at its first call: %s", c.out);
	cli_finish(&c);
	cli_unlink_sets();
}

/* A clause that meets no probe yet is held to the same. */
Test(control, DESTRUCTIVE_in_a_list)
{
	const char *set = cli_set("version: 1\n"
				  "begin: [signal: 9]\n"
				  "probes: [{probe: 'fx-trace:::calls', do: [count: {into: n}]}]\n");
	struct cli_run c;

	CLI(&c, "check", FIXTURES, "--destructive", set);
	cr_expect_eq(c.status, 2);
	cr_expect(strstr(c.err, "[SIGNAL_NONE]"), "%s", c.err);
	cli_finish(&c);
	cli_unlink_sets();
}

/* A rejected program: the user sees where, and the log if it is asked for. */
Test(control, verifier_log)
{
	const char *set = cli_set("version: 1\n"
				  "providers: {fx-wrong: {wrong: verifier}}\n"
				  "probes:\n"
				  "  - probe: 'fx-wrong::const:call'\n"
				  "    when: args.nr > 7\n"
				  "    do: [count: {into: n}]\n");
	struct cli_run c;

	CLI(&c, "run", WRONG, set, "--", "true");
	cr_expect_eq(c.status, 1);
	cr_expect(strstr(c.err, ":5:11: error: the kernel rejects clause 1 at `args.nr`"), "%s",
		  c.err);
	cr_expect(strstr(c.err, "invalid bpf_context access"), "%s", c.err);
	cr_expect(strstr(c.err, "[PROGRAM_REJECTED]"), "%s", c.err);
	cr_expect(strstr(c.err, "--verifier-log shows"), "%s", c.err);
	cr_expect(!strstr(c.err, "processed "), "%s", c.err);
	cli_finish(&c);
	CLI(&c, "run", WRONG, "--verifier-log", set, "--", "true");
	cr_expect_eq(c.status, 1);
	cr_expect(strstr(c.err, "[PROGRAM_REJECTED]"), "%s", c.err);
	cr_expect(strstr(c.err, "\nprocessed "), "all of it, to the end: %s", c.err);
	cli_finish(&c);
	cli_unlink_sets();
}
