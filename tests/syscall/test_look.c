/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What trace-cli shows of system calls, and what it refuses. */
#include <dirent.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "cli/support.h"

#define EVENTS "/sys/kernel/tracing/events"

/* Every call that the kernel tells of has its two probes, by the name that programs use. */
Test(syscall_look, all_of_them)
{
	static const char *const differ[][2] = {
		{"newstat", "stat"},   {"newfstat", "fstat"},      {"newlstat", "lstat"},
		{"newuname", "uname"}, {"sendfile64", "sendfile"}, {"umount", "umount2"},
	};
	DIR *dir = opendir(EVENTS "/syscalls");
	struct dirent *d;
	struct cli_run c;
	size_t n = 0;

	cr_assert_not_null(dir);
	CLI(&c, "list", BUILT_IN, "syscall");
	cli_expect(&c, 0, NULL, "");
	while ((d = readdir(dir))) {
		const char *name = d->d_name + strlen("sys_enter_");
		char line[160];

		if (strncmp(d->d_name, "sys_enter_", strlen("sys_enter_")))
			continue;
		for (size_t i = 0; i < sizeof(differ) / sizeof(differ[0]); i++)
			if (!strcmp(name, differ[i][0]))
				name = differ[i][1];
		snprintf(line, sizeof(line), "\nsyscall::%s:entry\nsyscall::%s:return", name, name);
		cr_expect(strstr(c.out, line) || !strcmp(name, "read"), "%s", line);
		n++;
	}
	closedir(dir);
	cr_expect_gt(n, 300);
	cli_finish(&c);
	/* Every one can be described. */
	CLI(&c, "list", "-v", BUILT_IN, "syscall");
	cli_expect(&c, 0, NULL, "");
	cli_finish(&c);
}

Test(syscall_look, one)
{
	struct cli_run c;

	CLI(&c, "list", "-v", BUILT_IN, "syscall::openat:");
	cli_expect(&c, 0,
		   "syscall::openat:entry\n"
		   "    long openat(int dfd, const char *filename, int flags, umode_t mode)\n"
		   "    number 257\n"
		   "    arg0     dfd              int\n"
		   "    arg1     filename         const char *\n"
		   "    arg2     flags            int\n"
		   "    arg3     mode             umode_t\n"
		   "syscall::openat:return\n"
		   "    long openat(int dfd, const char *filename, int flags, umode_t mode)\n"
		   "    number 257\n"
		   "    retval                    long\n"
		   "    elapsed                   int64 (ns since the entry)\n",
		   "");
	cli_finish(&c);
	CLI(&c, "list", "-v", BUILT_IN, "syscall::uselib:entry");
	cr_expect(strstr(c.out, "fails with ENOSYS"), "%s", c.out);
	cli_finish(&c);
	CLI(&c, "list", BUILT_IN, "syscall::open*:entry");
	cr_expect(strstr(c.out, "syscall::openat2:entry\n"), "%s", c.out);
	cr_expect_null(strstr(c.out, "return"));
	cli_finish(&c);
}

/* A pattern for many is one program, and so is what is asked for by name beyond a number. */
Test(syscall_look, many_share_a_program)
{
	struct cli_run c;
	const char *set = cli_set("version: 1\n"
				  "probes:\n"
				  "  - probe: 'syscall:::entry'\n"
				  "    do: [count: {into: n, by: {call: probefunc}}]\n");

	CLI(&c, "check", BUILT_IN, set);
	cr_expect_eq(c.status, 0);
	cr_expect(strstr(c.out, " 1 programs"), "%s", c.out);
	cli_finish(&c);
	CLI(&c, "explain", BUILT_IN, set);
	cr_expect(strstr(c.out, "weft_dispatch"), "by the number of the call: %.400s", c.out);
	cli_finish(&c);
	cli_unlink_sets();
}

/* ---- what is refused ---- */

static void expect_error(const char *probe, const char *tag, const char *words)
{
	struct cli_run c;

	CLI(&c, "list", BUILT_IN, probe);
	cr_expect_neq(c.status, 0);
	cr_expect(strstr(c.err, tag), "%s", c.err);
	cr_expect(strstr(c.err, words), "%s", c.err);
	cli_finish(&c);
}

Test(syscall_look, SYSCALL_UNKNOWN)
{
	expect_error("syscall::opnat:entry", "[SYSCALL_UNKNOWN]", "did you mean openat?");
	expect_error("syscall::newfstat:entry", "[SYSCALL_UNKNOWN]", "did you mean fstat?");
	expect_error("syscall::sys_enter_of_what_there_never_was_and_will_never_be:entry",
		     "[SYSCALL_UNKNOWN]", "there is no system call");
}

Test(syscall_look, SYSCALL_NAME)
{
	expect_error("syscall:vmlinux:openat:entry", "[SYSCALL_NAME]", "syscall::openat:entry");
	expect_error("syscall:openat::entry", "[SYSCALL_NAME]", "syscall::openat:entry");
	expect_error("syscall::openat:exit", "[SYSCALL_NAME]", "an entry and a return");
	expect_error("syscall::openat:exit", "[SYSCALL_NAME]", "syscall::openat:return");
	expect_error("syscall::openat:enter", "[SYSCALL_NAME]", "syscall::openat:entry");
}

static void expect_set_error(const char *set, const char *tag)
{
	struct cli_run c;

	CLI(&c, "check", BUILT_IN, cli_set(set));
	cr_expect_neq(c.status, 0);
	cr_expect(strstr(c.err, tag), "%s", c.err);
	cli_finish(&c);
	cli_unlink_sets();
}

Test(syscall_look, SYSCALL_EVENT)
{
	expect_set_error("version: 1\n"
			 "probes:\n"
			 "  - probe: syscall::uselib:entry\n"
			 "    with: {mechanism: record}\n"
			 "    do: [count: {into: n}]\n",
			 "[SYSCALL_EVENT]");
}

#define USES_TYPES                          \
	"version: 1\n"                      \
	"probes:\n"                         \
	"  - probe: syscall::close:entry\n" \
	"    do: [count: {into: n, by: [args.fd]}]\n"

/* Names are everybody's, types are not: tracefs is closed. */
Test(syscall_look, SYSCALL_DENIED)
{
	struct cli_how how = {.program = cli_public_copy(), .nobody = true};
	struct cli_run c;

	CLI_HOW(&c, &how, "list", "syscall::openat:entry");
	cli_expect(&c, 0, "syscall::openat:entry\n", "");
	cli_finish(&c);
	CLI_HOW(&c, &how, "list", "-v", "syscall::openat:entry");
	cr_expect(strstr(c.out, "is closed to this user"), "%s%s", c.out, c.err);
	cli_finish(&c);
	CLI_HOW(&c, &how, "check", cli_set(USES_TYPES));
	cr_expect(strstr(c.err, "[SYSCALL_DENIED]"), "%s%s", c.out, c.err);
	cli_finish(&c);
	cli_unlink_sets();
	cli_remove_public_copy();
}

static void without_tracefs(void)
{
	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	while (!umount2("/sys/kernel/tracing", MNT_DETACH))
		;
	umount2("/sys/kernel/debug/tracing", MNT_DETACH);
	umount2("/sys/kernel/debug", MNT_DETACH);
	cr_assert_neq(access(EVENTS, F_OK), 0);
}

/* Where tracefs is mounted nowhere, it is for this run alone. */
Test(syscall_look, without_a_mount)
{
	struct cli_run c;

	without_tracefs();
	CLI(&c, "list", "-v", BUILT_IN, "syscall::close:entry");
	cr_expect(strstr(c.out, "long close(unsigned int fd)"), "%s%s", c.out, c.err);
	cli_finish(&c);
	CLI(&c, "info", BUILT_IN);
	cr_expect(strstr(c.out, "tracefs is mounted for this run alone"), "%s", c.out);
	cli_finish(&c);
}

/* And where the kernel has none. */
Test(syscall_look, SYSCALL_TRACEFS)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fsopen, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENODEV),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
	struct cli_run c;

	without_tracefs();
	cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
	CLI(&c, "check", BUILT_IN, cli_set(USES_TYPES));
	cr_expect(strstr(c.err, "[SYSCALL_TRACEFS]"), "%s%s", c.out, c.err);
	cli_finish(&c);
	cli_unlink_sets();
	CLI(&c, "info", BUILT_IN);
	cr_expect(strstr(c.out, "names only: there is no tracefs"), "%s", c.out);
	cli_finish(&c);
}

/* ---- the shipped set ---- */

static json_int_t of(const json_t *lines, const char *table, const char *call, const char *key,
		     json_int_t value)
{
	json_int_t sum = 0;

	for (size_t i = 0; i < cli_json_count(lines, "aggregation"); i++) {
		const json_t *t = cli_json_nth(lines, "aggregation", i), *rows, *row;
		size_t k;

		if (strcmp(json_string_value(json_object_get(t, "name")), table))
			continue;
		rows = json_object_get(t, "rows");
		json_array_foreach(rows, k, row)
		{
			const json_t *by = json_object_get(row, "by");

			if (!strcmp(json_string_value(json_object_get(by, "call")), call) &&
			    (!key || json_integer_value(json_object_get(by, key)) == value) &&
			    strcmp(json_string_value(json_object_get(by, "program")), "trace-cli"))
				sum += json_integer_value(json_object_get(row, "value"));
		}
	}
	return sum;
}

/* Bytes that are copied one by one, and a program that is not there. */
Test(syscall_look, syscall_latency)
{
	struct cli_run c;
	json_t *lines;

	CLI(&c, "run", BUILT_IN, WEFT_SOURCE_DIR "/config/sets/syscall-latency.yaml", "-o", "json",
	    "--follow", "-c",
	    "sh -c 'dd if=/dev/zero of=/dev/null bs=1 count=300 2>/dev/null; cat /no/such/file "
	    "2>/dev/null; sleep 0.02; true'");
	cr_expect_eq(c.status, 0, "%s", c.err);
	lines = cli_json_lines(c.out);
	cr_expect_geq(of(lines, "calls", "write", NULL, 0), 300);
	cr_expect_geq(of(lines, "calls", "read", NULL, 0), 300);
	cr_expect_gt(of(lines, "time", "write", NULL, 0), 0);
	cr_expect_geq(of(lines, "errors", "openat", "errno", ENOENT) +
			      of(lines, "errors", "open", "errno", ENOENT),
		      1);
	cr_expect_geq(of(lines, "time", "nanosleep", NULL, 0) +
			      of(lines, "time", "clock_nanosleep", NULL, 0),
		      20000000);
	json_decref(lines);
	cli_finish(&c);
}
