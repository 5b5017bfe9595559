/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* trace-cli info: what this kernel allows, and what each provider makes of it. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static const struct option options[] = {CLI_COMMON_LONG, {NULL, 0, NULL, 0}};

static void end_of_kernel(void)
{
	if (geteuid())
		printf("  (asked without root: with it, more may be allowed)\n");
	printf("providers\n");
}

/* Rows of the kernel come first, and there are some. */
static int print_row(void *arg, const char *group, const char *what, const char *value)
{
	bool *of_kernel = arg;

	if (*of_kernel && strcmp(group, "kernel")) {
		end_of_kernel();
		*of_kernel = false;
	}
	printf("  %-28s %s\n", what, value);
	return 0;
}

static int info_main(struct cli *cli, int argc, char **argv)
{
	bool of_kernel = true;
	int o, status;

	while ((o = getopt_long(argc, argv, CLI_COMMON_SHORT, options, NULL)) != -1) {
		status = cli_common_option(cli, &cli_info, o, optarg);
		if (status >= 0)
			return status;
	}
	if (optind < argc)
		return cli_bad_usage(&cli_info, "takes no argument: '%s'", argv[optind]);
	status = cli_load_plugins(cli, true);
	if (status)
		return status;
	printf("kernel\n");
	if (weft_trace_info(cli->t, print_row, &of_kernel))
		return cli_report(cli, CLI_FAILED);
	if (of_kernel)
		end_of_kernel();
	cli_print_privileges(cli->t);
	return CLI_OK;
}

const struct cli_command cli_info = {
	.name = "info",
	.arguments = "",
	.summary = "show what this kernel allows, and which mechanism each provider uses",
	.help = "",
	.run = info_main,
};
