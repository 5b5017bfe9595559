/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs whose symbols lie elsewhere: compressed in the file itself, in a file that is named in
 * it, in one that is found by build ID. What is counted has a name only there.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "counts.h"

#define ROUNDS 20

static char folder[64];

__attribute__((format(printf, 1, 2))) static void run(const char *format, ...)
{
	char command[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	cr_assert_eq(system(command), 0, "%s", command);
}

static void traced(const char *program)
{
	const char *argv[] = {program, "calls", "20", NULL};
	struct worker w;
	struct rig r;

	worker_program(&w, -1, argv);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "probes:\n"
		  "  - probe: 'uprobe:%s:helper:entry'\n"
		  "    do: [{count: {into: n}}]\n",
		  w.pid, program);
	/* There are two of the name, static in two source files, each called once a round. */
	cr_expect_eq(count_of(&r, "n"), 2 * ROUNDS, "%s: %ld", program, (long)count_of(&r, "n"));
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(elsewhere, in_a_compressed_section)
{
	traced(UPROBE_PROGRAM_DIR "/minidebug");
}

Test(elsewhere, in_a_file_that_is_named)
{
	traced(UPROBE_PROGRAM_DIR "/debuglink");
}

/* From the note, whose head is always the same. */
static void build_id(const char *path, char id[41])
{
	static const char head[] = "\4\0\0\0\x14\0\0\0\3\0\0\0GNU";
	static char bytes[1 << 16];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, bytes, sizeof(bytes));
	const unsigned char *at;

	close(fd);
	cr_assert_gt(n, 0);
	at = memmem(bytes, (size_t)n - 20, head, sizeof(head));
	cr_assert_not_null(at);
	for (int i = 0; i < 20; i++)
		sprintf(id + 2 * i, "%02x", at[sizeof(head) + (size_t)i]);
}

/* Found where the process has it: in its own root. */
Test(elsewhere, by_build_id_in_the_root_of_the_target)
{
	const char *module = UPROBE_PROGRAM_DIR "/build-id";
	int gate[2], ready[2];
	char byte, id[41];
	struct rig r;

	strcpy(folder, "/tmp/weft-elsewhere-XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
	run("mkdir -p %s/opt && cp %s %s/opt/server", folder, module, folder);
	build_id(module, id);
	run("mkdir -p %s/usr/lib/debug/.build-id/%.2s", folder, id);
	run("cp %s.debug %s/usr/lib/debug/.build-id/%.2s/%s.debug", module, folder, id, id + 2);
	cr_assert(!pipe(gate) && !pipe2(ready, O_CLOEXEC));
	pid_t pid = fork();
	if (pid == 0) {
		static char *const argv[] = {"server", "wait", "calls", "20", NULL};

		dup2(gate[0], 0);
		close(gate[1]);
		if (!chroot(folder) && !chdir("/"))
			execv("/opt/server", argv);
		_exit(3);
	}
	close(gate[0]);
	close(ready[1]);
	cr_assert_eq(read(ready[0], &byte, 1), 0); /* closed by exec */
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "target: {pid: %d}\n"
				 "probes:\n"
				 "  - probe: 'uprobe:/opt/server:helper:entry'\n"
				 "    do: [{count: {into: n}}]\n",
				 pid),
		     0, "%s", rig_errors(&r));
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	cr_assert_eq(write(gate[1], "x", 1), 1);
	cr_assert_eq(rig_run(&r, pidfd, 0), 0, "%s", rig_errors(&r));
	cr_expect_eq(count_of(&r, "n"), 2 * ROUNDS);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	close(pidfd);
	run("rm -r %s", folder);
}

/* The body that this machine takes is called once, by a name that is not its own. */
Test(elsewhere, in_the_body_that_was_chosen)
{
	const char *program = UPROBE_PROGRAM_DIR "/ifunc";
	const char *argv[] = {program, NULL};
	struct worker w;
	struct rig r;

	worker_program(&w, -1, argv);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "probes:\n"
		  "  - probe: 'uprobe:%s:varied:entry'\n"
		  "    do: [{count: {into: n}}, {sum: {into: a, value: arg0}}]\n",
		  w.pid, program);
	cr_expect_eq(count_of(&r, "n"), 1);
	cr_expect_eq(cap_only_row(&r.cap, "a")->value.i, 1);
	rig_finish(&r);
}
