/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* trace-cli list: the probes that a pattern matches; with -v their arguments. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const struct option options[] = {
	CLI_COMMON_LONG,
	{"pid", required_argument, NULL, 'p'},
	{NULL, 0, NULL, 0},
};

/* What a name of a probe can hold is the registry's affair (no control characters): it prints as it is. */
static int print_probe(void *arg, const struct weft_trace_probe *probe)
{
	(void)arg;
	if (fwrite_unlocked(probe->text, 1, probe->length, stdout) != probe->length ||
	    putc_unlocked('\n', stdout) == EOF)
		return -EPIPE;
	return 0;
}

static void print_arg(const char *which, const struct weft_trace_argument *a)
{
	printf("    %-8s %-16s %s", which, a->name ? a->name : "", a->type);
	if (a->unreadable)
		printf("  (cannot be read: %s)", a->unreadable);
	putchar('\n');
}

/* "    2 sites  -4@%eax 8@(%rdi)", and what of it cannot be read. */
static void print_layout(const struct weft_trace_layout *l)
{
	uint32_t i;

	printf("    %u site%s", l->n_sites, l->n_sites == 1 ? " " : "s");
	if (l->text && *l->text)
		printf("  %s", l->text);
	putchar('\n');
	for (i = 0; i < l->n_arguments; i++) {
		const struct weft_trace_argument *a =
			CLI_AT(argument, l->arguments, l->argument_size, i);

		if (a->unreadable)
			printf("             arg%u: %s\n", i, a->unreadable);
	}
}

static int print_verbose(void *arg, const struct weft_trace_probe *probe)
{
	const struct weft_trace_details *d;
	struct cli *cli = arg;
	char which[32];
	uint32_t i;
	int ret;

	ret = print_probe(arg, probe);
	if (ret)
		return ret;
	if (weft_trace_describe(cli->t, probe, &d)) {
		printf("    (%s)\n", weft_trace_report(cli->t, 0)->text);
		return 0;
	}
	if (d->prototype)
		printf("    %s\n", d->prototype);
	if (d->note)
		printf("    %s\n", d->note);
	for (i = 0; i < d->n_arguments; i++) {
		snprintf(which, sizeof(which), "arg%u", i);
		print_arg(which, CLI_AT(argument, d->arguments, d->argument_size, i));
	}
	for (i = 0; i < d->n_layouts; i++)
		print_layout(CLI_AT(layout, d->layouts, d->layout_size, i));
	if (d->retval)
		printf("    %-8s %-16s %s\n", "retval", "", d->retval);
	if (d->has_elapsed)
		printf("    %-8s %-16s %s\n", "elapsed", "", "int64 (ns since the entry)");
	return 0;
}

static int list_main(struct cli *cli, int argc, char **argv)
{
	struct weft_trace_target target = {.struct_size = sizeof(target)};
	int32_t pids[256];
	size_t n_pids = 0;
	int o, status, ret;

	while ((o = getopt_long(argc, argv, CLI_COMMON_SHORT "p:", options, NULL)) != -1) {
		if (o == 'p') {
			if (n_pids == sizeof(pids) / sizeof(pids[0]))
				return cli_bad_usage(&cli_list, "too many processes");
			pids[n_pids] = cli_pid(optarg);
			if (pids[n_pids++] < 0)
				return cli_bad_usage(&cli_list, "-p: '%s' is no process id", optarg);
			continue;
		}
		status = cli_common_option(cli, &cli_list, o, optarg);
		if (status >= 0)
			return status;
	}
	if (optind + 1 < argc)
		return cli_bad_usage(&cli_list, "one pattern at a time, not '%s' as well",
				     argv[optind + 1]);
	status = cli_load_plugins(cli, true);
	if (status)
		return status;
	target.pids = pids;
	target.n_pids = n_pids;
	if (n_pids && weft_trace_target(cli->t, &target))
		return cli_report(cli, CLI_FAILED);
	ret = weft_trace_list(cli->t, argv[optind], cli->verbose ? print_verbose : print_probe, cli);
	if (ret == -EPIPE)
		return CLI_FAILED;
	if (ret)
		return cli_report(cli, ret == -ENOENT || ret == -EINVAL || ret == -ESRCH
					       ? CLI_USAGE
					       : CLI_FAILED);
	return CLI_OK;
}

const struct cli_command cli_list = {
	.name = "list",
	.arguments = "[PATTERN] [-v] [-p PID]...",
	.summary = "list the probes that match, with -v their arguments and types",
	.help = "  PATTERN            provider:module:function:name, fields empty or globs; a\n"
		"                     provider's name alone; default: everything\n"
		"  -p, --pid PID      what this process has (repeatable)\n",
	.run = list_main,
};
