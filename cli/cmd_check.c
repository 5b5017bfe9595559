/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* trace-cli check and explain: everything short of the kernel; no privileges. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

static const struct option options[] = {
	CLI_COMMON_LONG,
	{"destructive", no_argument, NULL, CLI_OPTION_OTHERS},
	{NULL, 0, NULL, 0},
};

static int check_or_explain(struct cli *cli, const struct cli_command *command, int argc,
			    char **argv)
{
	const struct weft_trace_counts *counts;
	uint32_t flags = command == &cli_explain ? WEFT_TRACE_EXPLAIN : 0;
	int o, status;

	while ((o = getopt_long(argc, argv, CLI_COMMON_SHORT, options, NULL)) != -1) {
		if (o == CLI_OPTION_OTHERS) {
			flags |= WEFT_TRACE_DESTRUCTIVE;
			continue;
		}
		status = cli_common_option(cli, command, o, optarg);
		if (status >= 0)
			return status;
	}
	if (optind + 1 != argc)
		return cli_bad_usage(command, optind < argc ? "one probe set at a time"
							    : "which probe set?");
	status = cli_open(cli, flags);
	if (!status)
		status = cli_load_plugins(cli, true);
	if (!status)
		status = cli_read_set(cli, argv[optind]);
	if (status)
		return status;
	if (weft_trace_prepare(cli->t))
		return cli_report(cli, CLI_USAGE);
	if (command == &cli_explain)
		return weft_trace_explain(cli->t, cli_write, stdout) ? cli_report(cli, CLI_FAILED)
								     : CLI_OK;
	counts = weft_trace_counts(cli->t);
	printf("%s: ok: %u clauses, %zu probes, %zu programs\n", argv[optind], counts->n_clauses,
	       counts->n_probes, counts->n_programs);
	return CLI_OK;
}

static int check_main(struct cli *cli, int argc, char **argv)
{
	return check_or_explain(cli, &cli_check, argc, argv);
}

static int explain_main(struct cli *cli, int argc, char **argv)
{
	return check_or_explain(cli, &cli_explain, argc, argv);
}

const struct cli_command cli_check = {
	.name = "check",
	.arguments = "SET",
	.summary = "check a probe set without touching the kernel; needs no privileges",
	.help = "  SET                a probe set: a file, or the name of one that comes along\n"
		"                     (trace-cli sets)\n"
		"  --destructive      accept actions that change the system\n",
	.run = check_main,
};

const struct cli_command cli_explain = {
	.name = "explain",
	.arguments = "SET",
	.summary = "show typed clauses and the BPF made of them; needs no privileges",
	.help = "  SET                a probe set: a file, or the name of one that comes along\n"
		"                     (trace-cli sets)\n"
		"  --destructive      accept actions that change the system\n",
	.run = explain_main,
};
