/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* trace-cli check and explain: everything short of the kernel; no privileges. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "config/config.h"

static const struct option options[] = {
	CLI_COMMON_LONG,
	{"destructive", no_argument, NULL, CLI_OPTION_OTHERS},
	{NULL, 0, NULL, 0},
};

static int print_explanation(struct cli *cli, struct weft_session *s)
{
	struct weft_arena *arena = weft_arena_create();
	size_t i, n;

	if (!arena) {
		weft_nomem(cli->err);
		return cli_report(cli, CLI_FAILED);
	}
	for (i = 0; i < weft_session_n_programs(s); i++) {
		const struct weft_probe *first;
		const struct weft_program *prog = weft_session_program(s, i, &first, &n);
		char name[512], *text;

		weft_probe_format(first, name, sizeof(name));
		printf("%sprogram %zu, %u instructions: %s", i ? "\n" : "", i + 1, prog->n_insns,
		       name);
		if (n > 1)
			printf(" and %zu more", n - 1);
		putchar('\n');
		if (weft_plan_explain(weft_session_plan(s), prog, arena, &text)) {
			weft_nomem(cli->err);
			weft_arena_destroy(arena);
			return cli_report(cli, CLI_FAILED);
		}
		fputs(text, stdout);
	}
	weft_arena_destroy(arena);
	return CLI_OK;
}

static int check_or_explain(struct cli *cli, const struct cli_command *command, int argc,
			    char **argv)
{
	struct weft_session *session = NULL;
	struct weft_set *set = NULL;
	bool destructive = false;
	char path[PATH_MAX];
	int o, status;

	while ((o = getopt_long(argc, argv, CLI_COMMON_SHORT, options, NULL)) != -1) {
		if (o == CLI_OPTION_OTHERS) {
			destructive = true;
			continue;
		}
		status = cli_common_option(cli, command, o, optarg);
		if (status >= 0)
			return status;
	}
	if (optind + 1 != argc)
		return cli_bad_usage(command, optind < argc ? "one probe set at a time"
							    : "which probe set?");
	status = cli_load_plugins(cli, true);
	if (!status &&
	    (cli_set_path(cli, argv[optind], path) || weft_config_load_file(path, &set, cli->err)))
		status = cli_report(cli, CLI_USAGE);
	if (!status)
		status = cli_session(cli, destructive, command == &cli_explain, &session);
	if (!status && weft_session_prepare(session, set, cli->err))
		status = cli_report(cli, CLI_USAGE);
	if (!status && command == &cli_explain)
		status = print_explanation(cli, session);
	else if (!status)
		printf("%s: ok: %zu clauses, %zu probes, %zu programs\n", argv[optind],
		       set->n_clauses, weft_session_n_probes(session),
		       weft_session_n_programs(session));
	weft_session_destroy(session);
	weft_set_destroy(set);
	return status;
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
