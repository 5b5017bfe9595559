/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* trace-cli providers and schema: what the plugins are, and what they add to the format of probe sets. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

enum { OPTION_CHECK = CLI_OPTION_OTHERS, OPTION_OPTION, OPTION_PROBE, OPTION_TIME, OPTION_ONLY };

static const struct option options[] = {
	CLI_COMMON_LONG,
	{"check", required_argument, NULL, OPTION_CHECK},
	{"option", required_argument, NULL, OPTION_OPTION},
	{"probe", required_argument, NULL, OPTION_PROBE},
	{"time", required_argument, NULL, OPTION_TIME},
	{"only", required_argument, NULL, OPTION_ONLY},
	{NULL, 0, NULL, 0},
};

static const struct option schema_options[] = {
	CLI_COMMON_LONG,
	{"reference", no_argument, NULL, CLI_OPTION_OTHERS},
	{NULL, 0, NULL, 0},
};

/* The checks are a program of their own, beside this one: a plugin may bring it down. */
static int check_plugin(const char *args[])
{
	char path[PATH_MAX + 32];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);

	if (n > 0) {
		path[n] = '\0';
		strcpy(strrchr(path, '/') + 1, "weft-plugin-check");
		args[0] = path;
		execv(path, (char *const *)args);
	}
	fprintf(stderr, "trace-cli providers: error: %s cannot be started: %s\n",
		n > 0 ? path : "weft-plugin-check", strerror(errno));
	return CLI_FAILED;
}

static int providers_main(struct cli *cli, int argc, char **argv)
{
	const char *args[64] = {"weft-plugin-check"}, *file = NULL;
	static const char *const names[] = {"--check", "--option", "--probe", "--time", "--only"};
	const struct weft_trace_plugin *p;
	int o, status;
	size_t i, n_args = 1;

	while ((o = getopt_long(argc, argv, CLI_COMMON_SHORT, options, NULL)) != -1) {
		if (o == OPTION_CHECK) {
			file = optarg;
			continue;
		}
		if (o > OPTION_CHECK && n_args + 4 < sizeof(args) / sizeof(args[0])) {
			args[n_args++] = names[o - OPTION_CHECK];
			args[n_args++] = optarg;
			continue;
		}
		status = cli_common_option(cli, &cli_providers, o, optarg);
		if (status >= 0)
			return status;
	}
	if (optind < argc)
		return cli_bad_usage(&cli_providers, "takes no argument: '%s'", argv[optind]);
	if (file) {
		args[n_args++] = "--";
		args[n_args] = file;
		return check_plugin(args);
	}
	if (n_args > 1)
		return cli_bad_usage(&cli_providers, "%s goes with --check", args[1]);
	status = cli_load_plugins(cli, false);
	if (status)
		return status;
	for (i = 0; (p = weft_trace_plugin(cli->t, i)); i++) {
		char abi[32] = "-";

		if (p->abi_version)
			snprintf(abi, sizeof(abi), "%u.%u", p->abi_version >> 16,
				 p->abi_version & 0xffff);
		printf("%-16s ABI %-6s %-9s ", p->name ? p->name : "?", abi,
		       p->is_usable ? "usable" : "rejected");
		cli_put(stdout, p->path);
		printf("\n%16s ", "");
		cli_put(stdout, p->is_usable ? p->summary : p->text);
		if (p->tag)
			printf(" [%s]", p->tag);
		putchar('\n');
	}
	return CLI_OK;
}

static int schema_main(struct cli *cli, int argc, char **argv)
{
	int page = WEFT_TRACE_JSON_SCHEMA;
	int o, status;

	while ((o = getopt_long(argc, argv, CLI_COMMON_SHORT, schema_options, NULL)) != -1) {
		if (o == CLI_OPTION_OTHERS) {
			page = WEFT_TRACE_REFERENCE;
			continue;
		}
		status = cli_common_option(cli, &cli_schema, o, optarg);
		if (status >= 0)
			return status;
	}
	if (optind < argc)
		return cli_bad_usage(&cli_schema, "takes no argument: '%s'", argv[optind]);
	status = cli_load_plugins(cli, true);
	if (status)
		return status;
	if (weft_trace_page(cli->t, page, cli_write, stdout))
		return cli_report(cli, CLI_FAILED);
	return CLI_OK;
}

const struct cli_command cli_providers = {
	.name = "providers",
	.arguments =
		"[--plugin-dir DIR] [--check FILE.so [--option NAME=VALUE]... [--probe PATTERN]...]",
	.summary = "list the provider plugins that were found, and why one is not used",
	.help = "  --check FILE.so    try what the plugin does that is in FILE.so, and say what it breaks of\n"
		"                     the rules of plugins; exit status 0 for nothing, 1 for something\n"
		"                     (also: trace-cli --plugin-check FILE.so)\n"
		"  --option NAME=VALUE  of the provider, for the checks (repeatable)\n"
		"  --probe PATTERN    check with these probes and not with those that it announces (repeatable)\n"
		"  --time SECONDS     how long one step of a check may take; 30\n"
		"  --only CHECK       one of loads, opens, populates, refuses, describes, compiles, attaches, starves\n",
	.run = providers_main,
};

const struct cli_command cli_schema = {
	.name = "schema",
	.arguments = "[--reference]",
	.summary = "print the JSON Schema of probe sets, with the options of the loaded providers",
	.help = "  --reference        the same as a page in Markdown\n",
	.run = schema_main,
};
