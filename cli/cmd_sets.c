/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* trace-cli sets: the probe sets that come along. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const struct option options[] = {
	CLI_COMMON_LONG,
	{"names", no_argument, NULL, CLI_OPTION_OTHERS},
	{NULL, 0, NULL, 0},
};

struct sets {
	char **names, **paths;
	size_t n;
};

static void finish(struct sets *sets)
{
	for (size_t i = 0; i < sets->n; i++) {
		free(sets->names[i]);
		free(sets->paths[i]);
	}
	free(sets->names);
	free(sets->paths);
}

/* They are read once all are known: not while they are listed. */
static int remember(void *arg, const char *name, const char *path)
{
	struct sets *sets = arg;
	char **names = realloc(sets->names, (sets->n + 1) * sizeof(*names));
	char **paths;

	if (!names)
		return -ENOMEM;
	sets->names = names;
	paths = realloc(sets->paths, (sets->n + 1) * sizeof(*paths));
	if (!paths)
		return -ENOMEM;
	sets->paths = paths;
	names[sets->n] = strdup(name);
	paths[sets->n] = strdup(path);
	sets->n++;
	return names[sets->n - 1] && paths[sets->n - 1] ? 0 : -ENOMEM;
}

static void print_details(const struct weft_trace_set_info *info, const char *path)
{
	fputs("                     ", stdout);
	cli_put(stdout, path);
	putchar('\n');
	for (size_t i = 0; i < info->n_params; i++) {
		const struct weft_trace_param *p = CLI_AT(param, info->params, info->param_size, i);

		fputs("                     --param ", stdout);
		cli_put(stdout, p->name);
		putchar('=');
		cli_put(stdout, p->value);
		putchar('\n');
	}
}

static int print_set(struct cli *cli, const char *name, const char *path)
{
	const struct weft_trace_set_info *info;

	if (weft_trace_set_file(cli->t, path))
		return cli_report(cli, CLI_FAILED);
	info = weft_trace_set_info(cli->t);
	if (!info)
		return cli_report(cli, CLI_FAILED);
	printf("%-20s ", name);
	cli_put(stdout, info->description ? info->description : "");
	putchar('\n');
	if (cli->verbose)
		print_details(info, path);
	return 0;
}

static int sets_main(struct cli *cli, int argc, char **argv)
{
	bool names_only = false;
	struct sets sets = {0};
	int o, status;

	while ((o = getopt_long(argc, argv, CLI_COMMON_SHORT, options, NULL)) != -1) {
		if (o == CLI_OPTION_OTHERS) {
			names_only = true;
			continue;
		}
		status = cli_common_option(cli, &cli_sets, o, optarg);
		if (status >= 0)
			return status;
	}
	if (optind < argc)
		return cli_bad_usage(&cli_sets, "takes no argument: '%s'", argv[optind]);
	status = cli_open(cli, 0);
	if (!status && weft_trace_sets(cli->t, remember, &sets))
		status = cli_report(cli, CLI_FAILED);
	for (size_t i = 0; i < sets.n && !status; i++) {
		if (names_only)
			puts(sets.names[i]);
		else
			status = print_set(cli, sets.names[i], sets.paths[i]);
	}
	finish(&sets);
	return status;
}

const struct cli_command cli_sets = {
	.name = "sets",
	.arguments = "[-v] [--names]",
	.summary = "list the probe sets that come along, with -v their files and parameters",
	.help = "  --names            the names only, for scripts\n",
	.run = sets_main,
};
