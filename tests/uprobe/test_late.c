/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files that are not where one would look, or not yet: loaded at last, replaced on disk, deleted,
 * in memory, in another root.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "counts.h"
#include "support/test_child.h"

#define PROGRAM UPROBE_PROGRAM_DIR "/pie-O2"
#define STATIC  UPROBE_PROGRAM_DIR "/static-O2"
#define ROUNDS  20

static void copy(const char *from, const char *to)
{
	char buf[65536];
	ssize_t n;
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	cr_assert(in >= 0 && out >= 0, "%s to %s: %s", from, to, strerror(errno));
	while ((n = read(in, buf, sizeof(buf))) > 0)
		cr_assert_eq(write(out, buf, (size_t)n), n);
	close(in);
	close(out);
}

static char folder[64];

static void make_folder(void)
{
	strcpy(folder, "/tmp/weft-late-XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_expect_eq(system(command), 0);
}

static const char *in_folder(const char *name)
{
	static char path[4][128];
	static int next;
	char *p = path[next++ % 4];

	snprintf(p, 128, "%s/%s", folder, name);
	return p;
}

static void nap(long ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* dlopen, one call, dlclose, over and over: the place is the file's, whatever maps it. */
Test(late, load_and_unload_in_a_loop)
{
	const char *argv[] = {PROGRAM, "load", UPROBE_PROGRAM_DIR "/factor-2.so", "200", NULL};
	struct worker w;
	struct rig r;

	worker_program(&w, -1, argv);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "probes:\n"
		  "  - probe: 'uprobe:%s:lib_fn:entry'\n"
		  "    do: [{sum: {into: s, value: arg0}}, {count: {into: n}}]\n"
		  "  - probe: 'uprobe:%s:lib_fn:return'\n"
		  "    do: [{sum: {into: back, value: retval}}]\n",
		  w.pid, UPROBE_PROGRAM_DIR "/factor-2.so", UPROBE_PROGRAM_DIR "/factor-2.so");
	cr_expect_eq(count_of(&r, "n"), 200);
	cr_expect_eq(cap_only_row(&r.cap, "s")->value.i, 199 * 200 / 2);
	cr_expect_eq(cap_only_row(&r.cap, "back")->value.i, 2 * 200 * 201 / 2);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* Starts the run in another thread of control: this one does things meanwhile. */
struct running {
	struct rig *r;
	int stop[2];
};

static void run_for(struct rig *r, void (*what)(void *), void *arg)
{
	int stop[2];

	cr_assert_eq(pipe2(stop, O_CLOEXEC), 0);
	cr_assert_eq(rig_start(r), 0, "%s", rig_errors(r));
	pid_t pid = fork();
	if (pid == 0) {
		close(stop[0]);
		what(arg);
		_exit(write(stop[1], "", 1) != 1);
	}
	cr_assert_eq(rig_run(r, stop[0], 0), 0, "%s", rig_errors(r));
	waitpid(pid, NULL, 0);
	close(stop[0]);
	close(stop[1]);
}

static void run_twice(void *arg)
{
	const char *argv[] = {PROGRAM, "load", arg, "100", NULL};

	/* What comes first makes the file known, some time later it is traced. */
	test_child_run(argv, NULL, 0);
	nap(1000);
	test_child_run(argv, NULL, 0);
}

/* Nobody has heard of the library's name when the trace begins. */
Test(late, a_library_by_name_that_appears, .timeout = 100)
{
	struct rig r;

	make_folder();
	copy(UPROBE_PROGRAM_DIR "/factor-3.so", in_folder("libappears.so.7"));
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "probes:\n"
				 "  - probe: 'uprobe:libappears.so.7:lib_fn:return'\n"
				 "    do: [{count: {into: n}}, {max: {into: m, value: retval}}]\n"),
		     0, "%s", rig_errors(&r));
	cr_expect(rig_has_said(&r, "no probe matches yet"));
	run_for(&r, run_twice, (void *)in_folder("libappears.so.7"));
	/* All of the second run, and perhaps some of the first. */
	cr_expect_geq(count_of(&r, "n"), 100);
	cr_expect_leq(count_of(&r, "n"), 200);
	cr_expect_eq(cap_only_row(&r.cap, "m")->value.i, 300);
	rig_finish(&r);
	remove_folder();
}

/* The same where a command is the target and its library comes from a folder of its own. */
Test(late, a_library_that_the_target_loads_at_last, .timeout = 100)
{
	struct rig r;

	make_folder();
	copy(UPROBE_PROGRAM_DIR "/factor-3.so", in_folder("libown.so.1"));
	rig_init(&r);
	rig_trace(&r, NULL,
		  "version: 1\n"
		  "target: {command: [%s, load, %s, '4000']}\n"
		  "probes:\n"
		  "  - probe: 'uprobe:libown.so.1:lib_fn:return'\n"
		  "    do: [{count: {into: n}}]\n",
		  PROGRAM, in_folder("libown.so.1"));
	cr_expect_gt(count_of(&r, "n"), 0);
	cr_expect_leq(count_of(&r, "n"), 4000);
	rig_finish(&r);
	remove_folder();
}

static void replace(void *arg)
{
	const char *argv[] = {PROGRAM, "load", arg, "100", NULL};

	test_child_run(argv, NULL, 0);
	copy(UPROBE_PROGRAM_DIR "/factor-3.so", in_folder("new"));
	rename(in_folder("new"), arg);
	test_child_run(argv, NULL, 0);
	nap(1000);
	test_child_run(argv, NULL, 0);
}

/* A library is replaced while it is traced: the old one as long as it is used, and the new one. */
Test(late, a_library_replaced_on_disk, .timeout = 100)
{
	const struct cap_table *t;
	const char *path;
	struct rig r;

	make_folder();
	path = in_folder("libreplaced.so");
	copy(UPROBE_PROGRAM_DIR "/factor-2.so", path);
	rig_init(&r);
	cr_assert_eq(
		rig_prepare(
			&r,
			"version: 1\n"
			"probes:\n"
			"  - probe: 'uprobe:%s:lib_fn:return'\n"
			"    do: [{count: {into: n, by: [pid]}}, {max: {into: m, value: retval}}]\n",
			path),
		0, "%s", rig_errors(&r));
	run_for(&r, replace, (void *)path);
	t = cap_last_table(&r.cap, "n");
	cr_assert_geq(t->n_rows, 2);
	cr_expect_geq(cap_total(t), 200);
	cr_expect_eq(cap_only_row(&r.cap, "m")->value.i, 300, "the new one's");
	rig_finish(&r);
	remove_folder();
}

static void load_old_and_new(void *path)
{
	for (int new = 0; new < 2; new ++) {
		void *lib = dlopen(path, RTLD_NOW);
		long (*fn)(long) = NULL;

		if (lib)
			*(void **)&fn = dlsym(lib, "lib_fn");
		for (long i = 0; i < 100 && fn; i++)
			fn(i);
		if (lib)
			dlclose(lib);
		if (new)
			break;
		copy(UPROBE_PROGRAM_DIR "/factor-3.so", in_folder("new"));
		rename(in_folder("new"), path);
		nap(1000);
	}
}

/* The same for a process that is named, whose path is looked at: no mapping is announced. */
Test(late, a_library_replaced_on_disk_of_one_process, .timeout = 100)
{
	const char *path;
	struct worker w;
	struct rig r;

	make_folder();
	path = in_folder("libreplaced.so");
	copy(UPROBE_PROGRAM_DIR "/factor-2.so", path);
	worker_fork(&w, load_old_and_new, (void *)path);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "probes:\n"
		  "  - probe: 'uprobe:%s:lib_fn:return'\n"
		  "    do: [{count: {into: n}}, {max: {into: m, value: retval}}]\n",
		  w.pid, path);
	cr_expect_eq(count_of(&r, "n"), 200);
	cr_expect_eq(cap_only_row(&r.cap, "m")->value.i, 300, "the new one's");
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
	remove_folder();
}

struct versions {
	const char *path;
	void *old;
};

static void call_old_and_new(void *arg)
{
	const struct versions *v = arg;
	void *lib = v->old;
	long (*fn)(long);

	for (int i = 0; i < 2 && lib; i++) {
		*(void **)&fn = dlsym(lib, "lib_fn");
		for (long k = 0; k < 100 && fn; k++)
			fn(k);
		dlclose(lib);
		lib = dlopen(v->path, RTLD_NOW); /* by its name, were the old one still there */
	}
}

/* A process has an old library in use, whose path leads to a new one: both are meant. */
Test(late, a_library_replaced_before_tracing)
{
	struct versions v;
	struct worker w;
	struct rig r;

	make_folder();
	v.path = in_folder("libreplaced.so");
	copy(UPROBE_PROGRAM_DIR "/factor-2.so", v.path);
	v.old = dlopen(v.path, RTLD_NOW);
	cr_assert_not_null(v.old);
	copy(UPROBE_PROGRAM_DIR "/factor-3.so", in_folder("new"));
	cr_assert_eq(rename(in_folder("new"), v.path), 0);
	worker_fork(&w, call_old_and_new, &v);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "probes:\n"
		  "  - probe: 'uprobe:%s:lib_fn:return'\n"
		  "    do: [{count: {into: n}}, {sum: {into: s, value: retval}}]\n",
		  w.pid, v.path);
	cr_expect_eq(count_of(&r, "n"), 200);
	cr_expect_eq(cap_only_row(&r.cap, "s")->value.i, (2 + 3) * 100 * 101 / 2);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
	dlclose(v.old);
	remove_folder();
}

static void traced_process(const char *module, pid_t pid, int go)
{
	struct rig r;
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	rig_init(&r);
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "target: {pid: %d}\n"
				 "probes:\n"
				 "  - probe: 'uprobe:%s:eight:entry'\n"
				 "    do: [{sum: {into: s, value: arg7}}, {count: {into: n}}]\n",
				 pid, module),
		     0, "%s", rig_errors(&r));
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	cr_assert_eq(write(go, "x", 1), 1);
	cr_assert_eq(rig_run(&r, pidfd, 0), 0, "%s", rig_errors(&r));
	cr_expect_eq(count_of(&r, "n"), ROUNDS, "%s", module);
	cr_expect_eq(cap_only_row(&r.cap, "s")->value.i, 7 * ROUNDS * (ROUNDS - 1) / 2);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
	close(pidfd);
}

/* A process that waits for a byte and then runs its rounds. path: by descriptor if fd is not -1. */
static pid_t waiting(const char *path, int fd, const char *root, int *go)
{
	int gate[2], ready[2];
	char byte;

	cr_assert_eq(pipe(gate), 0);
	cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		static char *const argv[] = {"target", "wait", "calls", "20", NULL};
		static char *const none[] = {NULL};

		dup2(gate[0], 0);
		close(gate[1]);
		if (root && (chroot(root) || chdir("/")))
			_exit(3);
		if (fd >= 0)
			fexecve(fd, argv, none);
		else
			execv(path, argv);
		_exit(3);
	}
	close(gate[0]);
	close(ready[1]);
	cr_assert_eq(read(ready[0], &byte, 1), 0); /* closed by exec */
	close(ready[0]);
	*go = gate[1];
	return pid;
}

static void finish(pid_t pid, int go)
{
	int status;

	close(go);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0);
}

Test(late, a_deleted_file_that_still_runs)
{
	const char *path;
	int go;

	make_folder();
	path = in_folder("gone");
	copy(PROGRAM, path);
	pid_t pid = waiting(path, -1, NULL, &go);
	cr_assert_eq(unlink(path), 0);
	traced_process("gone", pid, go);
	finish(pid, go);
	remove_folder();
}

Test(late, a_program_in_memory)
{
	char buf[65536];
	ssize_t n;
	int go, fd = memfd_create("in-memory", 0), in = open(PROGRAM, O_RDONLY | O_CLOEXEC);

	cr_assert(fd >= 0 && in >= 0);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		cr_assert_eq(write(fd, buf, (size_t)n), n);
	close(in);
	pid_t pid = waiting(NULL, fd, NULL, &go);
	traced_process("memfd\\:in-memory", pid, go);
	finish(pid, go);
	close(fd);
}

/* A process with a root of its own: the path is what it sees there. */
Test(late, a_path_inside_the_root_of_the_target)
{
	int go;

	make_folder();
	cr_assert_eq(mkdir(in_folder("opt"), 0755), 0);
	copy(STATIC, in_folder("opt/server"));
	pid_t pid = waiting("/opt/server", -1, folder, &go);
	traced_process("/opt/server", pid, go);
	finish(pid, go);
	remove_folder();
}

Test(late, base_name_of_a_mapped_file_by_pattern)
{
	int go;

	pid_t pid = waiting(PROGRAM, -1, NULL, &go);
	traced_process("pie-*", pid, go);
	finish(pid, go);
}
