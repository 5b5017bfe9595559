/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What trace-cli shows of the kernel's tracepoints. */
#include <dirent.h>
#include <sched.h>
#include <sys/mount.h>

#include "cli/support.h"

#define EVENTS "/sys/kernel/tracing/events"

static size_t n_lines(const char *text, const char *beginning)
{
	size_t n = 0;

	for (; text; text = strchr(text, '\n'), text += text != NULL)
		n += !strncmp(text, beginning, strlen(beginning));
	return n;
}

/* The folders below events/, without those of ftrace itself. */
static size_t n_tracepoints(void)
{
	struct dirent *c, *e;
	DIR *top = opendir(EVENTS), *category;
	size_t n = 0;
	char path[512];

	cr_assert_not_null(top);
	while ((c = readdir(top))) {
		if (c->d_type != DT_DIR || *c->d_name == '.' || !strcmp(c->d_name, "ftrace"))
			continue;
		snprintf(path, sizeof(path), EVENTS "/%s", c->d_name);
		category = opendir(path);
		cr_assert_not_null(category);
		while ((e = readdir(category)))
			n += e->d_type == DT_DIR && *e->d_name != '.';
		closedir(category);
	}
	closedir(top);
	return n;
}

#define LIVES 5

Test(tracepoint_look, all_of_them)
{
	struct cli_run c;

	CLI(&c, "list", BUILT_IN, "tracepoint");
	cli_expect(&c, 0, NULL, "");
	cr_expect_eq(n_lines(c.out, "tracepoint:"), n_tracepoints() + LIVES);
	cr_expect(strstr(c.out, "tracepoint:sched::sched_switch\n"));
	cli_finish(&c);
	/* Every one can be described. */
	CLI(&c, "list", "-v", BUILT_IN, "tracepoint");
	cli_expect(&c, 0, NULL, "");
	cr_expect_eq(n_lines(c.out, "tracepoint:"), n_tracepoints() + LIVES);
	cli_finish(&c);
}

Test(tracepoint_look, one)
{
	struct cli_run c;

	CLI(&c, "list", "-v", BUILT_IN, "tracepoint:task::task_rename");
	cli_expect(&c, 0, NULL, "");
	cr_expect(strstr(c.out, "newcomm"), "%s", c.out);
	cli_finish(&c);
	CLI(&c, "list", BUILT_IN, "tracepoint:process::");
	cli_expect(&c, 0,
		   "tracepoint:process::fork\n"
		   "tracepoint:process::thread\n"
		   "tracepoint:process::exec\n"
		   "tracepoint:process::exit\n"
		   "tracepoint:process::signal\n",
		   "");
	cli_finish(&c);
}

Test(tracepoint_look, TRACEPOINT_DENIED)
{
	struct cli_how how = {.program = cli_public_copy(), .nobody = true};
	struct cli_run c;

	CLI_HOW(&c, &how, "list", "tracepoint:sched::sched_switch");
	cr_expect_eq(c.status, 1);
	cr_expect(strstr(c.err, "[TRACEPOINT_DENIED]"), "%s", c.err);
	cli_finish(&c);
}

/* On a machine where tracefs is mounted nowhere, it is for a moment, and nobody else sees it. */
Test(tracepoint_look, without_a_mount)
{
	struct cli_run c;
	char line[1024];
	FILE *f;

	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	while (!umount2("/sys/kernel/tracing", MNT_DETACH))
		;
	umount2("/sys/kernel/debug/tracing", MNT_DETACH);
	umount2("/sys/kernel/debug", MNT_DETACH);
	cr_assert_neq(access(EVENTS, F_OK), 0);
	CLI(&c, "list", BUILT_IN, "tracepoint:sched::sched_switch");
	cli_expect(&c, 0, "tracepoint:sched::sched_switch\n", "");
	cli_finish(&c);
	CLI(&c, "info", BUILT_IN);
	cr_expect(strstr(c.out, "tracefs is mounted for this run alone"), "%s", c.out);
	cli_finish(&c);
	f = fopen("/proc/self/mountinfo", "r");
	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f))
		cr_expect_null(strstr(line, " - tracefs "), "%s", line);
	fclose(f);
}
