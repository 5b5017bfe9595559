/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Runs the checks, each in a child with a time limit, and prints what they find. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/plugin_check/check.h"

#define SECONDS 30
#define MOST    64 /* options, and probes */

/* ---- in the child ---- */

static int to_parent = -1;
static char said[65536]; /* the lines that went out, so that none is said twice */

#define MOST_OF_ONE_TAG 3

static size_t times_said(const char *tag)
{
	char begin[96];
	size_t n = 0;

	snprintf(begin, sizeof(begin), "!%s\t", tag);
	for (const char *p = said; (p = strstr(p, begin)); p++)
		n++;
	return n;
}

static void say(char kind, const char *tag, const char *format, va_list ap)
{
	char text[1024], line[1200];
	int n;

	vsnprintf(text, sizeof(text), format, ap);
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	n = snprintf(line, sizeof(line), "%c%s\t%s\n", kind, tag, text);
	if (n >= (int)sizeof(line))
		n = (int)sizeof(line) - 1;
	if (strstr(said, line) || (kind == '!' && times_said(tag) == MOST_OF_ONE_TAG))
		return;
	if (strlen(said) + (size_t)n < sizeof(said))
		strcat(said, line);
	if (write(to_parent, line, (size_t)n) < 0)
		return;
}

void check_found(const char *tag, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say('!', tag, format, ap);
	va_end(ap);
}

void check_note(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say('-', "", format, ap);
	va_end(ap);
}

void check_step(const struct check *c)
{
	alarm(c->plan->seconds);
}

static void put(const char *text)
{
	if (write(to_parent, text, strlen(text)) < 0)
		return;
}

/* A crash, or the end of the time: whose it is depends on where we are. */
static void on_signal(int number)
{
	const char *provider, *slot;
	bool late = number == SIGALRM;

	if (weft_session_inside(&provider, &slot)) {
		put(late ? "!PLUGIN_HANGS\tprovider " : "!PLUGIN_CRASHED\tprovider ");
		put(provider);
		put(late ? " does not return from " : " crashes in ");
		put(slot);
		put("()\n");
	} else {
		put(late ? "!PLUGIN_HANGS\tthe check does not end in time\n"
			 : "!PLUGIN_CRASHED\tthe process crashes after what the plugin did\n");
	}
	_exit(1);
}

static void run_child(const struct check_kind *kind, const struct check_plan *plan, int fd)
{
	static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM};
	const struct sigaction action = {.sa_handler = on_signal};
	struct check c = {.plan = plan};

	to_parent = fd;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &action, NULL);
	check_step(&c);
	c.err = weft_error_create();
	c.loader = weft_loader_create();
	if (c.err && c.loader && !weft_loader_add_file(c.loader, plan->path, c.err)) {
		const struct weft_loader_entry *e = weft_loader_entry(c.loader, 0);

		c.provider = e->provider;
		kind->run(&c);
	} else {
		check_found(weft_error_tag(c.err), "%s", weft_error_text(c.err));
	}
	/* What a plugin does when the process ends counts too; what it leaks is its own affair. */
	weft_loader_destroy(c.loader);
	weft_error_destroy(c.err);
	put(".\n");
	_exit(0);
}

/* ---- in the parent ---- */

struct result {
	size_t n_found;
	bool ended;
};

static void take_line(struct result *r, char *line)
{
	char *text = strchr(line, '\t');

	if (*line == '.')
		r->ended = true;
	if (!text)
		return;
	*text++ = '\0';
	if (*line == '!') {
		if (!r->n_found++)
			printf("FAILED\n");
		printf("    %s [%s]\n", text, line + 1);
	}
}

/* Notes are for the end of the line that says ok. */
static void print_rest(struct result *r, char *notes)
{
	if (!r->n_found && *notes)
		printf("ok (%s)\n", notes);
	else if (!r->n_found)
		printf("ok\n");
	fflush(stdout);
}

static size_t run_check(const struct check_kind *kind, const struct check_plan *plan)
{
	char line[1300], notes[512] = "";
	struct result r = {0};
	int fds[2], status;
	FILE *from;
	pid_t pid;

	printf("  %-10s ", kind->name);
	fflush(stdout);
	if (kind->root && geteuid()) {
		printf("not checked: needs root\n");
		return 0;
	}
	if (pipe(fds) || (pid = fork()) < 0) {
		printf("not checked: %s\n", strerror(errno));
		return 1;
	}
	if (!pid) {
		close(fds[0]);
		run_child(kind, plan, fds[1]);
	}
	close(fds[1]);
	from = fdopen(fds[0], "r");
	while (from && fgets(line, sizeof(line), from)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line == '-' && strchr(line, '\t') && strlen(notes) < 400)
			snprintf(notes + strlen(notes), sizeof(notes) - strlen(notes), "%s%s",
				 *notes ? "; " : "", strchr(line, '\t') + 1);
		else
			take_line(&r, line);
		if (r.ended || r.n_found > 100)
			break;
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (from)
		fclose(from);
	if (!r.ended && !r.n_found) {
		snprintf(line, sizeof(line),
			 "!PLUGIN_CRASHED\tthe process ends in the middle of the check");
		take_line(&r, line);
	}
	print_rest(&r, notes);
	return r.n_found;
}

static int usage(FILE *to, int status)
{
	fputs("usage: weft-plugin-check [--option NAME=VALUE]... [--probe PATTERN]... [--time SECONDS] "
	      "[--only CHECK] FILE.so\n\n",
	      to);
	for (size_t i = 0; i < check_n_kinds; i++)
		fprintf(to, "  %-10s %s%s\n", check_kinds[i].name, check_kinds[i].what,
			check_kinds[i].root ? " (root)" : "");
	fputs("\nExit status: 0 nothing was found; 1 the plugin breaks something; 2 usage.\n", to);
	return status;
}

static bool is_check(const char *name)
{
	for (size_t i = 0; i < check_n_kinds; i++)
		if (!strcmp(check_kinds[i].name, name))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{"option", required_argument, NULL, 'o'}, {"probe", required_argument, NULL, 'p'},
		{"time", required_argument, NULL, 't'},   {"only", required_argument, NULL, '1'},
		{"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
	const char *options[MOST], *probes[MOST];
	struct check_plan plan = {.options = options, .probes = probes, .seconds = SECONDS};
	size_t n = 0;
	int o;

	while ((o = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (o == 'o' && plan.n_options < MOST && strchr(optarg, '='))
			options[plan.n_options++] = optarg;
		else if (o == 'p' && plan.n_probes < MOST)
			probes[plan.n_probes++] = optarg;
		else if (o == 't' && atoi(optarg) > 0)
			plan.seconds = (unsigned int)atoi(optarg);
		else if (o == '1' && is_check(optarg))
			plan.only = optarg;
		else
			return o == 'h' ? usage(stdout, 0) : usage(stderr, 2);
	}
	if (optind != argc - 1)
		return usage(stderr, 2);
	plan.path = argv[optind];
	printf("%s\n", plan.path);
	for (size_t i = 0; i < check_n_kinds; i++) {
		if (plan.only && strcmp(plan.only, check_kinds[i].name) != 0)
			continue;
		n += run_check(&check_kinds[i], &plan);
		/* What cannot be loaded needs no more checks. */
		if (n && !i)
			break;
	}
	printf("%zu %s\n", n, n == 1 ? "finding" : "findings");
	return n ? 1 : 0;
}
