/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* trace-cli: what its subcommands share. Only this folder prints, and of weft it knows weft/weft.h alone. */
#ifndef WEFT_CLI_H
#define WEFT_CLI_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "weft/weft.h"

/* Exit statuses; scripts rely on them. */
enum {
	CLI_OK = 0,
	CLI_FAILED = 1, /* the run failed */
	CLI_USAGE = 2,  /* usage or probe-set error */
	CLI_LOST = 3,   /* finished, but events were lost */
};

/* What every subcommand accepts. */
struct cli {
	const char *plugin_dirs[32];
	size_t n_plugin_dirs;
	bool verbose;
	struct weft_trace *t; /* NULL until cli_open() */
};

struct cli_command {
	const char *name;
	const char *arguments;
	const char *summary;
	const char *help; /* the options, as text */
	int (*run)(struct cli *cli, int argc, char **argv);
};

extern const struct cli_command cli_run, cli_list, cli_sets, cli_check, cli_explain, cli_info,
	cli_providers, cli_schema;
#define CLI_COMMANDS_MOST 16
extern const struct cli_command *const cli_commands[];
extern const size_t cli_n_commands;

/* The page about all of them, in Markdown; freed with free(). 0, or -1: out of memory. */
int cli_reference(char **out);

/* The options that every subcommand has, for getopt_long: CLI_COMMON_SHORT and the rows CLI_COMMON_LONG. */
enum { CLI_OPTION_PLUGIN_DIR = 256, CLI_OPTION_OTHERS };
#define CLI_COMMON_SHORT "hv"
#define CLI_COMMON_LONG                                                        \
	{"help", no_argument, NULL, 'h'}, {"verbose", no_argument, NULL, 'v'}, \
	{                                                                      \
		"plugin-dir", required_argument, NULL, CLI_OPTION_PLUGIN_DIR   \
	}
#define CLI_COMMON_HELP                                                       \
	"  --plugin-dir DIR   look for providers here instead (repeatable)\n" \
	"  -v, --verbose      say more about what is done\n"                  \
	"  -h, --help         this text\n"

/* Handles one of the common options. Returns -1 to go on, else the exit status. */
int cli_common_option(struct cli *cli, const struct cli_command *command, int option,
		      const char *value);
void cli_usage(const struct cli_command *command);
int cli_bad_usage(const struct cli_command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints text that may hold what strangers chose (paths, names): controls become \xNN. */
void cli_put(FILE *to, const char *text);

/* Has a crash inside of a plugin's code say whose it was. */
void cli_watch_crashes(const struct cli *cli);

/* Prints every report of the last call to stderr, with the line at fault, and returns status. */
int cli_report(struct cli *cli, int status);

/* Opens the handle; flags: WEFT_TRACE_*. 0, or an exit status with everything said. */
int cli_open(struct cli *cli, uint32_t flags);

/* Loads the plugins and warns of those that cannot be used; opens the handle if it is not open. 0
 * or an exit status. */
int cli_load_plugins(struct cli *cli, bool warn);

/* Reads a probe set as named on the command line: a path, or the bare name of one that comes along.
 * 0 or an exit status. */
int cli_read_set(struct cli *cli, const char *name);

/* A weft_trace_write() to the stream `to`. */
int cli_write(void *to, const char *bytes, size_t n);
/* All of it to a descriptor, whatever signals come meanwhile. 0 or -errno. */
int cli_write_to(int fd, const char *bytes, size_t n);

/* Element i of one of weft's arrays. */
#define CLI_AT(type, array, size, i) \
	((const struct weft_trace_##type *)weft_trace_at(array, size, i))

/* Splits a command line into words as a shell would, with quotes and backslashes but nothing else.
 * *words is NULL-terminated; the caller frees words[0] and words. -EINVAL: unclosed quote or no word. */
int cli_split(const char *text, char ***words);

/* What each capability is good for, and whether it is there (info). */
void cli_print_privileges(struct weft_trace *t, FILE *to);
/* Gives up what a run that is attached does not need. Warns where that fails. */
void cli_confine(struct cli *cli);

/* What `info` shows. */
int cli_print_info(struct cli *cli, FILE *to);
/* Writes a file for a bug report; file NULL: its name is made up. Returns the exit status. */
int cli_bundle(struct cli *cli, const char *file);

/* Decimal process id, or -1. */
int32_t cli_pid(const char *text);

#endif
