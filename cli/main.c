/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* trace-cli: chooses the subcommand. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static void usage(FILE *to)
{
	size_t i;

	fputs("usage: trace-cli COMMAND [ARGUMENTS]\n\n", to);
	for (i = 0; i < cli_n_commands; i++)
		fprintf(to, "  %-10s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
	fputs("\n'trace-cli COMMAND --help' tells more; 'trace-cli --version' the version;\n"
	      "'trace-cli --plugin-check FILE.so' is 'trace-cli providers --check FILE.so'.\n"
	      "Exit status: 0 done; 1 the run failed; 2 usage or probe-set error; 3 finished, but "
	      "events were lost.\n",
	      to);
}

/* What is opened later must not take the place of a descriptor that we were started without:
 * results would be written into it. What is put there instead cannot be written to. */
static void reserve_descriptors(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			_exit(CLI_FAILED);
}

int main(int argc, char **argv)
{
	struct cli cli = {0};
	const char *names[CLI_COMMANDS_MOST], *near;
	char program[64]; /* as getopt calls us */
	int status;
	size_t i;

	reserve_descriptors();
	if (argc < 2) {
		usage(stderr);
		return CLI_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return CLI_OK;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("trace-cli %s, provider ABI %u.%u\n", weft_version_text(),
		       weft_version_provider_abi() >> 16, weft_version_provider_abi() & 0xffff);
		return CLI_OK;
	}
	if (!strcmp(argv[1], "--plugin-check")) {
		argv[0] = "trace-cli providers";
		argv[1] = "--check";
		return cli_providers.run(&cli, argc, argv);
	}
	for (i = 0; i < cli_n_commands; i++) {
		names[i] = cli_commands[i]->name;
		if (strcmp(argv[1], cli_commands[i]->name))
			continue;
		cli_watch_crashes(&cli);
		snprintf(program, sizeof(program), "trace-cli %s", cli_commands[i]->name);
		argv[1] = program;
		status = cli_commands[i]->run(&cli, argc - 1, argv + 1);
		weft_trace_close(cli.t);
		if (fflush(stdout) && status == CLI_OK) {
			perror("trace-cli: cannot write");
			status = CLI_FAILED;
		}
		return status;
	}
	near = weft_trace_nearest(argv[1], names, cli_n_commands);
	fprintf(stderr, "trace-cli: error: no command '%s'%s%s%s\n", argv[1],
		near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return CLI_USAGE;
}
