/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* trace-cli info: what this kernel allows, and what each provider makes of it. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static const struct option options[] = {
	CLI_COMMON_LONG,
	{"bundle", optional_argument, NULL, CLI_OPTION_OTHERS},
	{NULL, 0, NULL, 0},
};

struct page {
	FILE *to;
	bool of_kernel; /* no row of another group yet */
};

static void end_of_kernel(struct page *page)
{
	if (geteuid())
		fprintf(page->to, "  (asked without root: with it, more may be allowed)\n");
	fprintf(page->to, "providers\n");
	page->of_kernel = false;
}

/* Rows of the kernel come first, and there are some. */
static int print_row(void *arg, const char *group, const char *what, const char *value)
{
	struct page *page = arg;

	if (page->of_kernel && strcmp(group, "kernel"))
		end_of_kernel(page);
	fprintf(page->to, "  %-28s %s\n", what, value);
	return 0;
}

int cli_print_info(struct cli *cli, FILE *to)
{
	struct page page = {.to = to, .of_kernel = true};
	int ret;

	fprintf(to, "kernel\n");
	ret = weft_trace_info(cli->t, print_row, &page);
	if (ret)
		return ret;
	if (page.of_kernel)
		end_of_kernel(&page);
	cli_print_privileges(cli->t, to);
	return 0;
}

static int info_main(struct cli *cli, int argc, char **argv)
{
	const char *file = NULL;
	bool bundle = false;
	int o, status;

	while ((o = getopt_long(argc, argv, CLI_COMMON_SHORT, options, NULL)) != -1) {
		if (o == CLI_OPTION_OTHERS) {
			bundle = true;
			file = optarg;
			continue;
		}
		status = cli_common_option(cli, &cli_info, o, optarg);
		if (status >= 0)
			return status;
	}
	if (optind < argc)
		return cli_bad_usage(&cli_info, "takes no argument: '%s'", argv[optind]);
	status = cli_load_plugins(cli, !bundle);
	if (status)
		return status;
	if (bundle)
		return cli_bundle(cli, file);
	return cli_print_info(cli, stdout) ? cli_report(cli, CLI_FAILED) : CLI_OK;
}

const struct cli_command cli_info = {
	.name = "info",
	.arguments = "[--bundle[=FILE]]",
	.summary =
		"show what this kernel allows, which mechanism each provider uses, and with what privileges",
	.help = "  --bundle[=FILE]    write it to a new file, with what else a bug report needs and\n"
		"                     nothing that names users, hosts, programs or folders\n",
	.run = info_main,
};
