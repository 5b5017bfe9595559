/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* trace-cli providers and schema: what the plugins are, and what they add to the format of probe sets. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const struct option options[] = {CLI_COMMON_LONG, {NULL, 0, NULL, 0}};

static const struct option schema_options[] = {
	CLI_COMMON_LONG,
	{"reference", no_argument, NULL, CLI_OPTION_OTHERS},
	{NULL, 0, NULL, 0},
};

static int providers_main(struct cli *cli, int argc, char **argv)
{
	const struct weft_trace_plugin *p;
	int o, status;
	size_t i;

	while ((o = getopt_long(argc, argv, CLI_COMMON_SHORT, options, NULL)) != -1) {
		status = cli_common_option(cli, &cli_providers, o, optarg);
		if (status >= 0)
			return status;
	}
	if (optind < argc)
		return cli_bad_usage(&cli_providers, "takes no argument: '%s'", argv[optind]);
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
	.arguments = "[--plugin-dir DIR]",
	.summary = "list the provider plugins that were found, and why one is not used",
	.help = "",
	.run = providers_main,
};

const struct cli_command cli_schema = {
	.name = "schema",
	.arguments = "[--reference]",
	.summary = "print the JSON Schema of probe sets, with the options of the loaded providers",
	.help = "  --reference        the same as a page in Markdown\n",
	.run = schema_main,
};
