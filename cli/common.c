/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the subcommands share: options, plugins, the session, small parsing. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int cli_load_plugins(struct cli *cli, bool warn)
{
	char buf[PATH_MAX];
	size_t i;

	cli->loader = weft_loader_create();
	if (!cli->loader) {
		weft_nomem(cli->err);
		return cli_report(cli, CLI_FAILED);
	}
	for (i = 0; i < cli->n_plugin_dirs; i++)
		if (weft_loader_add_dir(cli->loader, cli->plugin_dirs[i], true, cli->err))
			return cli_report(cli, CLI_USAGE);
	if (!cli->n_plugin_dirs &&
	    weft_loader_add_dir(cli->loader, cli_dir(CLI_PROVIDERS, buf), true, cli->err))
		return cli_report(cli, CLI_FAILED);
	for (i = 0; i < weft_loader_count(cli->loader); i++) {
		const struct weft_loader_entry *e = weft_loader_entry(cli->loader, i);

		if (e->state == WEFT_LOADER_USABLE) {
			if (cli->n_providers < sizeof(cli->providers) / sizeof(cli->providers[0]))
				cli->providers[cli->n_providers++] = e->provider;
		} else if (warn) {
			fputs("trace-cli: warning: plugin ", stderr);
			cli_put(stderr, e->path);
			fputs(" is not used: ", stderr);
			cli_put(stderr, e->text);
			fprintf(stderr, " [%s]\n", e->tag);
		}
	}
	return 0;
}

static void print_log(void *arg, enum weft_log_level level, const char *source, const char *text)
{
	const struct cli *cli = arg;

	if (level < WEFT_LOG_WARNING && !(cli->verbose && level == WEFT_LOG_INFO))
		return;
	fprintf(stderr, "trace-cli: %s%s%s", level == WEFT_LOG_WARNING ? "warning: " : "",
		strcmp(source, "weft") ? source : "", strcmp(source, "weft") ? ": " : "");
	cli_put(stderr, text);
	fputc('\n', stderr);
}

int cli_session(struct cli *cli, bool destructive, bool explain, struct weft_session **out)
{
	struct weft_session_env env = {
		.providers = cli->providers,
		.n_providers = cli->n_providers,
		.log = print_log,
		.log_arg = cli,
		.destructive = destructive,
		.explain = explain,
		.lines = cli->verbose,
	};

	if (weft_session_create(&env, out, cli->err))
		return cli_report(cli, CLI_FAILED);
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

const char *cli_type_text(const struct weft_arg_type *type, char buf[64])
{
	if (type->text)
		return type->text;
	switch (type->kind) {
	case WEFT_TYPE_INT:
		snprintf(buf, 64, "%s%u", type->flags & WEFT_TYPE_SIGNED ? "int" : "uint",
			 type->size * 8);
		return buf;
	case WEFT_TYPE_POINTER:
		return type->space == WEFT_SPACE_USER ? "pointer (user)" : "pointer (kernel)";
	case WEFT_TYPE_STRING:
		return "string";
	case WEFT_TYPE_BYTES:
		return "bytes";
	default:
		snprintf(buf, 64, "BTF type %u", type->btf_id);
		return buf;
	}
}
