/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Running trace-cli as a user would. What it prints goes to memory; it may be waited for, or looked
 * at and sent signals while it runs. With the sanitizers a leak in it shows as exit status 23.
 */
#ifndef TEST_CLI_SUPPORT_H
#define TEST_CLI_SUPPORT_H

#include <criterion/criterion.h>
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define TRACE_CLI WEFT_BINARY_DIR "/cli/trace-cli"
#define FIXTURES  "--plugin-dir", FIXTURE_PROVIDER_DIR
#define WRONG     "--plugin-dir", OWN_PROVIDER_DIR
#define BUILT_IN  "--plugin-dir", WEFT_BINARY_DIR "/providers"
#define CALLS     FIXTURE_WORKLOAD_DIR "/calls"

struct cli_run {
	pid_t pid;
	int out_fd, err_fd; /* memory files */
	int status;         /* as the shell says it: the exit status, or 128 and the signal */
	char *out, *err;    /* once it has ended: all of it */
};

/* How it is started; all zero is as it should be. */
struct cli_how {
	const char *program; /* instead of the built one */
	bool nobody;         /* without privileges */
	int out;             /* a descriptor for its standard output; 0: memory; -1: closed */
	void (*prepare)(void *arg); /* called in the child, just before it becomes the program */
	void *arg;
};

void cli_start(struct cli_run *c, const struct cli_how *how, const char *const args[]);
/* Waits at most 20 seconds, after which it is killed and the test fails. */
void cli_wait(struct cli_run *c);
/* Until its standard error has the text. */
void cli_wait_said(struct cli_run *c, const char *text);
void cli_finish(struct cli_run *c);

/* Starts it and waits: CLI(&c, "list", "profile"). */
#define CLI(c, ...)                                                             \
	do {                                                                    \
		cli_start((c), NULL, (const char *const[]){__VA_ARGS__, NULL}); \
		cli_wait(c);                                                    \
	} while (0)
#define CLI_HOW(c, how, ...)                                                     \
	do {                                                                     \
		cli_start((c), (how), (const char *const[]){__VA_ARGS__, NULL}); \
		cli_wait(c);                                                     \
	} while (0)

void cli_expect(const struct cli_run *c, int status, const char *out, const char *err);

/* A file with a probe set, its name made up by the test's process; removed by cli_unlink_sets(). */
const char *cli_set(const char *yaml);
void cli_unlink_sets(void);

/* A copy of the program and of the built-in and fixture providers that everybody can read. */
const char *cli_public_copy(void);
void cli_remove_public_copy(void);

/* Line i of text as JSON, or NULL; every line must be an object with a type. */
json_t *cli_json_lines(const char *text); /* an array */
/* The objects of an array that have a type. */
size_t cli_json_count(const json_t *lines, const char *type);
const json_t *cli_json_nth(const json_t *lines, const char *type, size_t n);

#endif
