/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* trace-cli sets: the probe sets that come along. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "config/config.h"

static const struct option options[] = {
	CLI_COMMON_LONG,
	{"names", no_argument, NULL, CLI_OPTION_OTHERS},
	{NULL, 0, NULL, 0},
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The name without its suffix, or NULL: the file is no set. */
static char *name_of(const char *file)
{
	return cli_is_set_file(file) && *file != '.' ? strndup(file, strcspn(file, ".")) : NULL;
}

int cli_sets_read(const char *dir, struct cli_sets *out)
{
	struct dirent *d;
	DIR *at = opendir(dir);
	char **grown, *name;
	int ret = 0;

	*out = (struct cli_sets){0};
	if (!at)
		return -errno;
	while (!ret && (d = readdir(at))) {
		name = name_of(d->d_name);
		if (!name)
			continue;
		grown = realloc(out->names, (out->n + 1) * sizeof(*grown));
		if (!grown) {
			free(name);
			ret = -ENOMEM;
			break;
		}
		out->names = grown;
		out->names[out->n++] = name;
	}
	closedir(at);
	if (ret)
		cli_sets_finish(out);
	else if (out->n)
		qsort(out->names, out->n, sizeof(*out->names), by_name);
	return ret;
}

void cli_sets_finish(struct cli_sets *sets)
{
	for (size_t i = 0; i < sets->n; i++)
		free(sets->names[i]);
	free(sets->names);
	*sets = (struct cli_sets){0};
}

static void print_details(const struct weft_set *set, const char *path)
{
	fputs("                     ", stdout);
	cli_put(stdout, path);
	putchar('\n');
	for (size_t i = 0; i < set->n_params; i++) {
		fputs("                     --param ", stdout);
		cli_put(stdout, set->params[i].name.s);
		putchar('=');
		cli_put(stdout, set->params[i].value.s);
		putchar('\n');
	}
}

static int print_set(struct cli *cli, const char *dir, const char *name)
{
	struct weft_set *set;
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s.yaml", dir, name) >= (int)sizeof(path))
		return 0;
	if (weft_config_load_file(path, &set, cli->err))
		return cli_report(cli, CLI_FAILED);
	printf("%-20s ", name);
	cli_put(stdout, set->description.s ? set->description.s : "");
	putchar('\n');
	if (cli->verbose)
		print_details(set, path);
	weft_set_destroy(set);
	return 0;
}

static int sets_main(struct cli *cli, int argc, char **argv)
{
	bool names_only = false;
	struct cli_sets sets;
	int o, status = 0, ret;
	char dir[PATH_MAX];

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
	cli_dir(CLI_SETS, dir);
	ret = cli_sets_read(dir, &sets);
	if (ret) {
		weft_fail(cli->err, ret, "SETS_DIR",
			  "the folder of probe sets %s cannot be read: %s", dir, strerror(-ret));
		return cli_report(cli, CLI_FAILED);
	}
	status = 0;
	for (size_t i = 0; i < sets.n && !status; i++) {
		if (names_only)
			puts(sets.names[i]);
		else
			status = print_set(cli, dir, sets.names[i]);
	}
	cli_sets_finish(&sets);
	return status;
}

const struct cli_command cli_sets = {
	.name = "sets",
	.arguments = "[-v] [--names]",
	.summary = "list the probe sets that come along, with -v their files and parameters",
	.help = "  --names            the names only, for scripts\n",
	.run = sets_main,
};
