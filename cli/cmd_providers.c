/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* trace-cli providers and schema: what the plugins are, and what they add to the format of probe sets. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "config/config.h"

static const struct option options[] = {CLI_COMMON_LONG, {NULL, 0, NULL, 0}};

static const struct option schema_options[] = {
	CLI_COMMON_LONG,
	{"reference", no_argument, NULL, CLI_OPTION_OTHERS},
	{NULL, 0, NULL, 0},
};

static int providers_main(struct cli *cli, int argc, char **argv)
{
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
	for (i = 0; i < weft_loader_count(cli->loader); i++) {
		const struct weft_loader_entry *e = weft_loader_entry(cli->loader, i);
		char abi[32] = "-";

		if (e->abi_version)
			snprintf(abi, sizeof(abi), "%u.%u", WEFT_ABI_MAJOR(e->abi_version),
				 WEFT_ABI_MINOR(e->abi_version));
		printf("%-16s ABI %-6s %-9s ", e->name ? e->name : "?", abi,
		       e->state == WEFT_LOADER_USABLE ? "usable" : "rejected");
		cli_put(stdout, e->path);
		printf("\n%16s ", "");
		cli_put(stdout, e->provider ? e->provider->summary : e->text);
		if (e->tag)
			printf(" [%s]", e->tag);
		putchar('\n');
	}
	return CLI_OK;
}

static int schema_main(struct cli *cli, int argc, char **argv)
{
	struct weft_config_provider list[64];
	bool reference = false;
	int o, status, ret;
	char *text = NULL;
	size_t i;

	while ((o = getopt_long(argc, argv, CLI_COMMON_SHORT, schema_options, NULL)) != -1) {
		if (o == CLI_OPTION_OTHERS) {
			reference = true;
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
	for (i = 0; i < cli->n_providers; i++) {
		list[i].name = cli->providers[i]->name;
		list[i].summary = cli->providers[i]->summary;
		list[i].options = cli->providers[i]->options;
	}
	ret = reference ? weft_config_reference(list, cli->n_providers, &text, cli->err)
			: weft_config_schema(list, cli->n_providers, &text, cli->err);
	if (ret)
		return cli_report(cli, CLI_FAILED);
	fputs(text, stdout);
	free(text);
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
