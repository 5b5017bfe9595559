/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Help, and what is said to those who need it. */
#include "support.h"
#include "weft/provider.h"

static const char *const commands[] = {"run",     "list", "sets",      "check",
				       "explain", "info", "providers", "schema"};
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

Test(usage, without_a_command)
{
	struct cli_run c;

	cli_start(&c, NULL, (const char *const[]){NULL});
	cli_wait(&c);
	cli_expect(&c, 2, "", NULL);
	cr_expect_eq(strncmp(c.err, "usage: trace-cli COMMAND [ARGUMENTS]\n", 37), 0, "%s", c.err);
	for (size_t i = 0; i < N_COMMANDS; i++)
		cr_expect(strstr(c.err, commands[i]));
	cli_finish(&c);
}

Test(usage, help)
{
	static const char *const ways[] = {"--help", "-h", "help"};
	struct cli_run c;

	for (size_t i = 0; i < 3; i++) {
		CLI(&c, ways[i]);
		cli_expect(&c, 0, NULL, "");
		cr_expect_eq(strncmp(c.out, "usage: trace-cli COMMAND", 24), 0, "%s", c.out);
		cr_expect(strstr(c.out, "Exit status: 0 done; 1 the run failed; 2 usage or "
					"probe-set error; 3 finished, but events were lost."));
		cli_finish(&c);
	}
}

Test(usage, help_of_each_command)
{
	for (size_t i = 0; i < N_COMMANDS; i++) {
		struct cli_run c;
		char first[64];

		CLI(&c, commands[i], "--help");
		cli_expect(&c, 0, NULL, "");
		snprintf(first, sizeof(first), "usage: trace-cli %s", commands[i]);
		cr_expect_eq(strncmp(c.out, first, strlen(first)), 0, "%s", c.out);
		cr_expect(strstr(c.out, "--plugin-dir DIR"), "%s", c.out);
		cr_expect(strstr(c.out, "-h, --help"), "%s", c.out);
		cr_expect_null(strstr(c.out, "(null)"));
		cli_finish(&c);
	}
}

Test(usage, version)
{
	struct cli_run c;
	char out[64];

	CLI(&c, "--version");
	snprintf(out, sizeof(out), "trace-cli %s, provider ABI %u.%u\n", TRACE_CLI_VERSION,
		 WEFT_ABI_MAJOR(WEFT_ABI_CURRENT), WEFT_ABI_MINOR(WEFT_ABI_CURRENT));
	cli_expect(&c, 0, out, "");
	cli_finish(&c);
}

Test(usage, unknown_command)
{
	struct cli_run c;

	CLI(&c, "rnu");
	cli_expect(&c, 2, "", "trace-cli: error: no command 'rnu'; did you mean 'run'?\n");
	cli_finish(&c);
	CLI(&c, "frobnicate");
	cli_expect(&c, 2, "", "trace-cli: error: no command 'frobnicate'\n");
	cli_finish(&c);
}

#define RUN_USAGE "\nusage: trace-cli run SET [-p PID]... [-c COMMAND] [OPTIONS] [-- COMMAND...]\n"

Test(usage, run)
{
	static const struct {
		const char *args[6], *err;
	} cases[] = {
		{{"run"}, "trace-cli run: error: which probe set?" RUN_USAGE},
		{{"run", "a.yaml", "b.yaml"},
		 "trace-cli run: error: one probe set at a time, not 'b.yaml' as well" RUN_USAGE},
		{{"run", "a.yaml", "--duration", "5"},
		 "trace-cli run: error: --duration: '5' is no duration (500ms, 10s, 5m)" RUN_USAGE},
		{{"run", "--duration", "0s", "a.yaml"},
		 "trace-cli run: error: --duration: '0s' is no duration (500ms, 10s, 5m)" RUN_USAGE},
		{{"run", "-p", "12x", "a.yaml"},
		 "trace-cli run: error: -p: '12x' is no process id" RUN_USAGE},
		{{"run", "-p", "0", "a.yaml"},
		 "trace-cli run: error: -p: '0' is no process id" RUN_USAGE},
		{{"run", "--bogus", "a.yaml"},
		 "trace-cli run: unrecognized option '--bogus'" RUN_USAGE},
		{{"run", "a.yaml", "-c"},
		 "trace-cli run: option requires an argument -- 'c'" RUN_USAGE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cli_run c;

		cli_start(&c, NULL, cases[i].args);
		cli_wait(&c);
		cli_expect(&c, 2, "", cases[i].err);
		cli_finish(&c);
	}
}

#define ANY_SET                           \
	"version: 1\n"                    \
	"params: {limit: 1}\n"            \
	"probes:\n"                       \
	"  - probe: 'profile:::tick-1'\n" \
	"    do: [count: {into: n}]\n"

/* What is wrong beside a set that is right. */
Test(usage, run_with_a_set)
{
	const char *set = cli_set(ANY_SET);
	const struct {
		const char *args[6], *err;
	} cases[] = {
		{{"run", set, "-o", "xml"}, "OUTPUT_FORMAT"},
		{{"run", set, "-c", "echo 'a"},
		 "trace-cli run: error: -c: 'echo 'a': no command, or a quote that is not closed" RUN_USAGE},
		{{"run", set, "-c", "  "},
		 "trace-cli run: error: -c: '  ': no command, or a quote that is not closed" RUN_USAGE},
		{{"run", set, "-c", "true", "--", "true"},
		 "trace-cli run: error: a command by -c or after --, not both" RUN_USAGE},
		{{"run", set, "--param", "limit"},
		 "trace-cli run: error: --param takes name=value, not 'limit'" RUN_USAGE},
		{{"run", set, "--param", "limmit=3"}, "PARAM_UNKNOWN"},
		{{"run", set, "-p", "4194304"}, "TARGET_NO_PROCESS"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cli_run c;

		cli_start(&c, NULL, cases[i].args);
		cli_wait(&c);
		cli_expect(&c, 2, "", strchr(cases[i].err, ' ') ? cases[i].err : NULL);
		cr_expect(strstr(c.err, cases[i].err), "%s", c.err);
		cli_finish(&c);
	}
	cli_unlink_sets();
}

Test(usage, others)
{
	static const struct {
		const char *args[4], *err;
	} cases[] = {
		{{"check"}, "trace-cli check: error: which probe set?\nusage: trace-cli check SET\n"},
		{{"check", "a", "b"},
		 "trace-cli check: error: one probe set at a time\nusage: trace-cli check SET\n"},
		{{"explain"},
		 "trace-cli explain: error: which probe set?\nusage: trace-cli explain SET\n"},
		{{"list", "a", "b"},
		 "trace-cli list: error: one pattern at a time, not 'b' as well\n"
		 "usage: trace-cli list [PATTERN] [-v] [-p PID]...\n"},
		{{"list", "-p", "x"},
		 "trace-cli list: error: -p: 'x' is no process id\n"
		 "usage: trace-cli list [PATTERN] [-v] [-p PID]...\n"},
		{{"info", "x"}, NULL},
		{{"providers", "x"}, NULL},
		{{"schema", "x"}, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cli_run c;

		cli_start(&c, NULL, cases[i].args);
		cli_wait(&c);
		cli_expect(&c, 2, "", cases[i].err);
		if (!cases[i].err)
			cr_expect(strstr(c.err, "error: takes no argument: 'x'"), "%s", c.err);
		cli_finish(&c);
	}
}
