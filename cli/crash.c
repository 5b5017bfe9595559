/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A plugin's code runs in this process, and a crash of it is one of ours. It cannot be contained;
 * the kernel detaches everything when the process ends. But it can be said whose it was: the
 * handler writes one line and lets the signal take its course, which may be a core dump or, in a
 * sanitized build, that tool's report. An exception that a plugin in C++ lets out comes as SIGABRT.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static const struct {
	int number;
	const char *name;
} signals[] = {{SIGSEGV, "SIGSEGV"},
	       {SIGBUS, "SIGBUS"},
	       {SIGILL, "SIGILL"},
	       {SIGFPE, "SIGFPE"},
	       {SIGABRT, "SIGABRT"}};
#define N_SIGNALS (sizeof(signals) / sizeof(signals[0]))

static struct sigaction before[N_SIGNALS];
static const struct cli *running;
static char own_stack[16384]; /* a plugin may have run over the other */

static void put(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

/* Where the plugin was loaded from: reads what does not change while plugins run. */
static const char *path_of(const char *provider)
{
	const struct weft_trace_plugin *p;

	for (size_t i = 0; (p = weft_trace_plugin(running->t, i)); i++)
		if (p->is_usable && !strcmp(p->name, provider))
			return p->path;
	return "?";
}

static void on_crash(int number)
{
	const char *provider, *slot;

	for (size_t i = 0; i < N_SIGNALS; i++) {
		if (signals[i].number != number)
			continue;
		if (weft_trace_in_plugin(&provider, &slot)) {
			put("trace-cli: error: the plugin ");
			put(provider);
			put(" (");
			put(path_of(provider));
			put(") has crashed in ");
			put(slot);
			put("() with ");
			put(signals[i].name);
			put("; all that was attached is gone with this process [PLUGIN_CRASHED]\n");
		}
		sigaction(number, &before[i], NULL);
	}
	/* A fault happens again on return; what was raised is raised again. */
	if (number == SIGABRT)
		raise(number);
}

void cli_watch_crashes(const struct cli *cli)
{
	const stack_t stack = {.ss_sp = own_stack, .ss_size = sizeof(own_stack)};
	struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK | SA_NODEFER};
	stack_t old;

	running = cli;
	if (!sigaltstack(NULL, &old) && (old.ss_flags & SS_DISABLE))
		sigaltstack(&stack, NULL);
	for (size_t i = 0; i < N_SIGNALS; i++)
		sigaction(signals[i].number, &action, &before[i]);
}
