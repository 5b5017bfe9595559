/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The table of subcommands, and the page made from it: docs/reference/trace-cli.md, and from that
 * the manual page. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

const struct cli_command *const cli_commands[] = {
	&cli_run,     &cli_list, &cli_sets,      &cli_check,
	&cli_explain, &cli_info, &cli_providers, &cli_schema,
};
const size_t cli_n_commands = sizeof(cli_commands) / sizeof(cli_commands[0]);

_Static_assert(sizeof(cli_commands) / sizeof(cli_commands[0]) <= CLI_COMMANDS_MOST,
	       "main() has room for the names of all");

static void put_command(FILE *to, const struct cli_command *c)
{
	fprintf(to,
		"## trace-cli %s\n"
		"\n"
		"%s.\n"
		"\n"
		"```\n"
		"trace-cli %s %s\n"
		"\n"
		"%s" CLI_COMMON_HELP "```\n"
		"\n",
		c->name, c->summary, c->name, c->arguments, c->help);
}

int cli_reference(char **out)
{
	size_t size;
	FILE *to = open_memstream(out, &size);

	if (!to)
		return -1;
	fputs("# trace-cli\n"
	      "\n"
	      "<!-- Made from the table of subcommands: cmake --build BUILD --target docs -->\n"
	      "\n"
	      "Traces kernels and programs by probe sets, with providers that are plugins.\n"
	      "\n"
	      "```\n"
	      "trace-cli COMMAND [ARGUMENTS]\n"
	      "```\n"
	      "\n"
	      "Results go to standard output, all that is said about the run to standard error.\n"
	      "\n",
	      to);
	for (size_t i = 0; i < cli_n_commands; i++)
		put_command(to, cli_commands[i]);
	fputs("## Exit status\n"
	      "\n"
	      "| status | meaning |\n"
	      "| --- | --- |\n"
	      "| 0 | done |\n"
	      "| 1 | the run failed |\n"
	      "| 2 | usage or probe-set error |\n"
	      "| 3 | finished, but events were lost: each loss is reported with its tag and count |\n"
	      "\n"
	      "A run that an `exit` action ended has the status that the action gave.\n",
	      to);
	return fclose(to) ? -1 : 0;
}
