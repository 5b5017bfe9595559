/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the subcommands share: options, plugins, the session, small parsing. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

void cli_usage(const struct cli_command *command)
{
	printf("usage: trace-cli %s %s\n\n%s\n\n%s" CLI_COMMON_HELP, command->name,
	       command->arguments, command->summary, command->help);
}

int cli_bad_usage(const struct cli_command *command, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "trace-cli %s: error: ", command->name);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "\nusage: trace-cli %s %s\n", command->name, command->arguments);
	return CLI_USAGE;
}

int cli_common_option(struct cli *cli, const struct cli_command *command, int option,
		      const char *value)
{
	switch (option) {
	case 'h':
		cli_usage(command);
		return CLI_OK;
	case 'v':
		cli->verbose = true;
		return -1;
	case CLI_OPTION_PLUGIN_DIR:
		if (cli->n_plugin_dirs == sizeof(cli->plugin_dirs) / sizeof(cli->plugin_dirs[0]))
			return cli_bad_usage(command, "too many plugin directories");
		cli->plugin_dirs[cli->n_plugin_dirs++] = value;
		return -1;
	default:
		/* getopt has said what is wrong. */
		fprintf(stderr, "usage: trace-cli %s %s\n", command->name, command->arguments);
		return CLI_USAGE;
	}
}

static void print_log(void *arg, int level, const char *source, const char *text)
{
	const struct cli *cli = arg;

	if (level < WEFT_TRACE_WARNING && !(cli->verbose && level == WEFT_TRACE_INFO))
		return;
	fprintf(stderr, "trace-cli: %s%s%s", level == WEFT_TRACE_WARNING ? "warning: " : "",
		strcmp(source, "weft") ? source : "", strcmp(source, "weft") ? ": " : "");
	cli_put(stderr, text);
	fputc('\n', stderr);
}

int cli_open(struct cli *cli, uint32_t flags)
{
	const struct weft_trace_options options = {
		.struct_size = sizeof(options),
		.flags = flags | (cli->verbose ? WEFT_TRACE_LINES : 0),
		.arg = cli,
		.log = print_log,
	};

	if (!weft_trace_open(&options, &cli->t))
		return 0;
	if (cli->t)
		return cli_report(cli, CLI_FAILED);
	fputs("trace-cli: error: out of memory [NO_MEMORY]\n", stderr);
	return CLI_FAILED;
}

static void warn_of_plugins(const struct cli *cli)
{
	const struct weft_trace_plugin *p;

	for (size_t i = 0; (p = weft_trace_plugin(cli->t, i)); i++) {
		if (p->is_usable)
			continue;
		fputs("trace-cli: warning: plugin ", stderr);
		cli_put(stderr, p->path);
		fputs(" is not used: ", stderr);
		cli_put(stderr, p->text);
		fprintf(stderr, " [%s]\n", p->tag);
	}
}

int cli_load_plugins(struct cli *cli, bool warn)
{
	int status = cli->t ? 0 : cli_open(cli, 0);

	if (status)
		return status;
	for (size_t i = 0; i < cli->n_plugin_dirs; i++)
		if (weft_trace_plugins(cli->t, cli->plugin_dirs[i]))
			return cli_report(cli, CLI_USAGE);
	if (!cli->n_plugin_dirs && weft_trace_plugins(cli->t, NULL))
		return cli_report(cli, CLI_FAILED);
	if (warn)
		warn_of_plugins(cli);
	return 0;
}

int cli_read_set(struct cli *cli, const char *name)
{
	char path[PATH_MAX];

	if (weft_trace_find_set(cli->t, name, path, sizeof(path)) ||
	    weft_trace_set_file(cli->t, path))
		return cli_report(cli, CLI_USAGE);
	return 0;
}

int cli_write(void *to, const char *bytes, size_t n)
{
	errno = 0;
	if (fwrite(bytes, 1, n, to) == n)
		return 0;
	return errno ? -errno : -EIO;
}

int cli_write_to(int fd, const char *bytes, size_t n)
{
	ssize_t done;

	for (; n; bytes += done, n -= (size_t)done) {
		done = write(fd, bytes, n);
		if (done < 0 && errno != EINTR)
			return -errno;
		if (done < 0)
			done = 0;
	}
	return 0;
}

int cli_split(const char *text, char ***words)
{
	size_t n = strlen(text);
	char *out = malloc(n + 1), *start, quote = 0;
	char **list = calloc(n / 2 + 2, sizeof(*list));
	size_t count = 0;
	bool in_word = false;

	if (!out || !list)
		goto nomem;
	start = out;
	for (; *text; text++) {
		if (quote) {
			if (*text == quote)
				quote = 0;
			else if (*text == '\\' && quote == '"' && strchr("\"\\$`", text[1]) &&
				 text[1])
				*out++ = *++text;
			else
				*out++ = *text;
			continue;
		}
		if (*text == ' ' || *text == '\t' || *text == '\n') {
			if (in_word)
				*out++ = '\0';
			in_word = false;
			continue;
		}
		if (!in_word)
			list[count++] = out;
		in_word = true;
		if (*text == '\'' || *text == '"')
			quote = *text;
		else if (*text == '\\' && text[1])
			*out++ = *++text;
		else
			*out++ = *text;
	}
	*out = '\0';
	if (quote || !count) {
		free(start);
		free(list);
		return -EINVAL;
	}
	*words = list;
	return 0;
nomem:
	free(out);
	free(list);
	return -ENOMEM;
}

int32_t cli_pid(const char *text)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(text, &end, 10);
	if (errno || end == text || *end || v < 1 || v > INT32_MAX || *text < '0' || *text > '9')
		return -1;
	return (int32_t)v;
}
