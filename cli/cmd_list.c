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

struct list {
	struct cli *cli;
	struct weft_session *session;
};

/* What a name of a probe can hold is the registry's affair (no control characters): it prints as it is. */
static int print_probe(const struct weft_probe *probe, void *arg)
{
	char small[512], *text = small;
	int n = weft_probe_format(probe, small, sizeof(small));
	int ret = 0;

	(void)arg;
	if (n < 0)
		return n;
	if ((size_t)n >= sizeof(small)) {
		text = malloc((size_t)n + 1);
		if (!text)
			return -ENOMEM;
		weft_probe_format(probe, text, (size_t)n + 1);
	}
	if (fwrite_unlocked(text, 1, (size_t)n, stdout) != (size_t)n ||
	    putc_unlocked('\n', stdout) == EOF)
		ret = -EPIPE;
	if (text != small)
		free(text);
	return ret;
}

static void print_arg(const char *which, const struct weft_arg *a)
{
	char type[64];

	printf("    %-8s %-16s %s", which, a->name ? a->name : "", cli_type_text(&a->type, type));
	if (a->unreadable)
		printf("  (cannot be read: %s)", a->unreadable);
	putchar('\n');
}

/* "    2 sites  -4@%eax 8@(%rdi)", and what of it cannot be read. */
static void print_layout(const struct weft_layout *l)
{
	uint32_t i;

	printf("    %u site%s", l->n_sites, l->n_sites == 1 ? " " : "s");
	if (l->text && *l->text)
		printf("  %s", l->text);
	putchar('\n');
	for (i = 0; i < l->n_args; i++)
		if (l->args[i].unreadable)
			printf("             arg%u: %s\n", i, l->args[i].unreadable);
}

static int print_verbose(const struct weft_probe *probe, void *arg)
{
	struct list *list = arg;
	const struct weft_layout *layouts;
	const struct weft_probe_info *info;
	char which[32], type[64];
	const char *note;
	uint32_t i, n_layouts;
	int ret;

	ret = print_probe(probe, arg);
	if (ret)
		return ret;
	ret = weft_session_describe(list->session, probe, &info, &layouts, &n_layouts,
				    list->cli->err);
	if (ret) {
		printf("    (%s)\n", weft_error_text(list->cli->err));
		weft_error_clear(list->cli->err);
		return 0;
	}
	if (info->prototype)
		printf("    %s\n", info->prototype);
	if (weft_session_note(list->session, probe, &note, list->cli->err))
		weft_error_clear(list->cli->err);
	else if (note)
		printf("    %s\n", note);
	for (i = 0; i < info->n_args; i++) {
		snprintf(which, sizeof(which), "arg%u", i);
		print_arg(which, &info->args[i]);
	}
	for (i = 0; i < n_layouts; i++)
		print_layout(&layouts[i]);
	if (info->retval_type.kind)
		printf("    %-8s %-16s %s\n", "retval", "", cli_type_text(&info->retval_type, type));
	if (info->pairing.role == WEFT_PAIRING_RETURN)
		printf("    %-8s %-16s %s\n", "elapsed", "", "int64 (ns since the entry)");
	return 0;
}

static int parse_pattern(const char *text, struct weft_pattern *out, struct weft_error *err)
{
	const char *fields[WEFT_N_FIELDS] = {"", "", "", ""};

	/* A provider's name alone is the natural thing to type first. */
	if (text && strchr(text, ':'))
		return weft_pattern_parse(text, out, err);
	if (text)
		fields[WEFT_FIELD_PROVIDER] = text;
	return weft_pattern_from_fields(fields, out, err);
}

static int list_main(struct cli *cli, int argc, char **argv)
{
	struct list list = {.cli = cli};
	struct weft_pattern pattern;
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
	if (parse_pattern(argv[optind], &pattern, cli->err))
		return cli_report(cli, CLI_USAGE);
	status = cli_load_plugins(cli, true);
	if (!status)
		status = cli_session(cli, false, false, &list.session);
	if (!status && n_pids && weft_session_set_target(list.session, pids, n_pids, false, cli->err))
		status = cli_report(cli, CLI_USAGE);
	if (!status) {
		ret = weft_session_find(list.session, &pattern,
					cli->verbose ? print_verbose : print_probe, &list, cli->err);
		if (ret == -EPIPE)
			status = CLI_FAILED;
		else if (ret)
			status = cli_report(cli, ret == -ENOENT || ret == -EINVAL ? CLI_USAGE
										  : CLI_FAILED);
	}
	weft_session_destroy(list.session);
	weft_pattern_finish(&pattern);
	return status;
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
