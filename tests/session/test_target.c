/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The target of a set: processes, commands, those that they start, and the end of the run with them. */
#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "harness.h"
#include "kernel_objects.h"

#define CALLS FIXTURE_WORKLOAD_DIR "/calls"

static void call_1000(void *arg)
{
	(void)arg;
	for (int i = 0; i < 1000; i++)
		syscall(SYS_getppid);
}

/* The set counts getppid by program; a bystander calls it as well, while the command runs. */
static void trace_command(struct rig *r, const char *target)
{
	struct worker bystander;

	worker_fork(&bystander, call_1000, NULL);
	rig_init(r);
	cr_assert_eq(rig_prepare(r,
				 "version: 1\n"
				 "target: %s\n"
				 "probes:\n"
				 "  - probe: 'fx-trace:::calls'\n"
				 "    do:\n"
				 "      - count: {into: programs, by: {program: execname}}\n"
				 "      - count: {into: processes, by: {pid: pid}}\n",
				 target),
		     0, "%s", rig_errors(r));
	cr_assert_eq(rig_start(r), 0, "%s", rig_errors(r));
	worker_join(&bystander);
	cr_assert_eq(rig_run(r, -1, 0), 0, "%s", rig_errors(r));
	cr_expect_str_eq(r->end.reason, "target");
	cr_expect_eq(r->end.status, 0);
	cap_expect_no_loss(&r->cap);
}

Test(target, command)
{
	struct rig r;

	trace_command(&r, "{command: [" CALLS ", '123']}");
	cr_expect_eq(cap_only_row(&r.cap, "programs")->count, 123);
	cr_expect_eq(cap_only_row(&r.cap, "processes")->count, 123);
	rig_finish(&r);
}

Test(target, command_as_text)
{
	struct rig r;

	trace_command(&r, "{command: '" CALLS " 7 2'}");
	cr_expect_eq(cap_only_row(&r.cap, "programs")->count, 14);
	rig_finish(&r);
}

/* A folder of its own, first in PATH, with a file in it of these contents. */
static const char *in_path(const char *name, const char *text, mode_t mode)
{
	static char folder[] = "/tmp/weft-test-path-XXXXXX", path[128];
	char dirs[256];
	FILE *f;

	cr_assert_not_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	cr_assert(f && fputs(text, f) >= 0 && !fclose(f) && !chmod(path, mode));
	snprintf(dirs, sizeof(dirs), "/does/not/exist:%s:%s", folder, getenv("PATH"));
	cr_assert_eq(setenv("PATH", dirs, 1), 0);
	return path;
}

static void remove_from_path(const char *path)
{
	char folder[128];

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
	cr_expect(!unlink(path) && !rmdir(folder));
}

/* As a shell would take it, too: the kernel does not know what it is. */
Test(target, command_in_path_without_a_first_line)
{
	const char *path = in_path("weft-test-script", "exec " CALLS " $1\n", 0755);
	struct rig r;

	trace_command(&r, "{command: [weft-test-script, '11']}");
	remove_from_path(path);
	cr_expect_eq(cap_row_text(cap_last_table(&r.cap, "programs"), "program", "calls")->count,
		     11);
	rig_finish(&r);
}

Test(target, children_are_not_followed_unless_asked)
{
	struct rig r;

	trace_command(&r, "{command: [" CALLS ", '50', '2', '3']}");
	cr_expect_eq(cap_only_row(&r.cap, "programs")->count, 100, "two threads of one process");
	rig_finish(&r);
}

Test(target, follow_forks)
{
	struct rig r;

	trace_command(&r, "{command: [" CALLS ", '50', '2', '3'], follow: true}");
	cr_expect_eq(cap_only_row(&r.cap, "programs")->count, 400);
	const struct cap_table *t = cap_last_table(&r.cap, "processes");
	cr_expect_eq(t->n_rows, 4);
	for (size_t i = 0; i < t->n_rows; i++)
		cr_expect_eq(t->rows[i].count, 100);
	rig_finish(&r);
}

/* Fork and exec, twice deep; the shell itself may call getppid too. */
Test(target, follow_execs)
{
	struct rig r;

	trace_command(&r, "{command: [sh, -c, '" CALLS " 10; sh -c \"" CALLS " 20; " CALLS
			  " 30\"; true'], follow: true}");
	cr_expect_eq(cap_row_text(cap_last_table(&r.cap, "programs"), "program", "calls")->count,
		     60);
	rig_finish(&r);
}

/* The command ends at once, what it started goes on: so does the run. */
Test(target, follow_outlives_the_command)
{
	struct rig r;

	trace_command(&r, "{command: [sh, -c, '(sleep 0.4; " CALLS " 25) &'], follow: true}");
	cr_expect_eq(cap_row_text(cap_last_table(&r.cap, "programs"), "program", "calls")->count,
		     25);
	rig_finish(&r);
}

Test(target, process_that_runs_already)
{
	struct worker w, second;
	struct rig r;

	worker_fork(&w, call_1000, NULL);
	worker_fork(&second, call_1000, NULL);
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "target: {pid: [%d, %d]}\n"
				 "probes:\n"
				 "  - probe: 'fx-trace:::calls'\n"
				 "    do: [count: {into: n, by: {pid: pid}}]\n",
				 w.pid, second.pid),
		     0, "%s", rig_errors(&r));
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	worker_go(&w);
	worker_go(&second);
	cr_assert_eq(rig_run(&r, -1, 0), 0);
	cr_expect_str_eq(r.end.reason, "target", "both have ended");
	worker_join(&w);
	worker_join(&second);
	cr_expect_eq(cap_row_int(cap_last_table(&r.cap, "n"), "pid", w.pid)->count, 1000);
	cr_expect_eq(cap_row_int(cap_last_table(&r.cap, "n"), "pid", second.pid)->count, 1000);
	rig_finish(&r);
}

/* ppid is the process that started it, also for one that is not the target. */
Test(target, ppid)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, call_1000, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::calls'\n"
		  "    do: [count: {into: n, by: [ppid, uid, gid]}]\n",
		  w.pid);
	const struct weft_row *row = cap_only_row(&r.cap, "n");
	cr_expect_eq(row->count, 1000);
	cr_expect_eq(cap_key(row, "ppid")->i, getpid());
	cr_expect_eq(cap_key(row, "uid")->i, (int64_t)getuid());
	cr_expect_eq(cap_key(row, "gid")->i, (int64_t)getgid());
	rig_finish(&r);
}

/* ---- targets that cannot be ---- */

#define COUNT_CALLS                       \
	"probes:\n"                       \
	"  - probe: 'fx-trace:::calls'\n" \
	"    do: [count: {into: n}]\n"

Test(target, TARGET_EXEC)
{
	static struct kernel_objects before;
	struct rig r;

	rig_init(&r);
	kernel_objects_read(&before);
	cr_assert_eq(rig_prepare(&r, "version: 1\n"
				     "target: {command: [/does/not/exist, x]}\n" COUNT_CALLS),
		     0, "%s", rig_errors(&r));
	cr_assert_eq(rig_start(&r), -ENOENT);
	rig_expect_tag(&r, 0, "TARGET_EXEC");
	cr_expect(strstr(weft_error_text(r.err), "/does/not/exist"), "%s", weft_error_text(r.err));
	cr_expect_eq(r.cap.n_ends, 0);
	kernel_objects_expect_gone(&before);
	cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1, "a child is left");
	cr_expect_eq(errno, ECHILD);
	rig_finish(&r);
}

/* There is such a file in PATH, which nobody may run. */
Test(target, TARGET_EXEC_of_what_may_not_be_run)
{
	const char *path = in_path("weft-test-text", "text\n", 0644);
	struct rig r;

	rig_init(&r);
	cr_assert_eq(rig_prepare(&r, "version: 1\n"
				     "target: {command: [weft-test-text]}\n" COUNT_CALLS),
		     0, "%s", rig_errors(&r));
	cr_expect_eq(rig_start(&r), -EACCES);
	rig_expect_tag(&r, 0, "TARGET_EXEC");
	remove_from_path(path);
	rig_finish(&r);
}

/* A start that failed leaves the session as it was: once the command is there, all is well. */
Test(target, start_again)
{
	char path[] = "/tmp/weft-test-command-XXXXXX";
	int fd = mkstemp(path);
	struct rig r;

	cr_assert_geq(fd, 0);
	close(fd);
	unlink(path);
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "target: {command: [%s, '44']}\n" COUNT_CALLS
				 "  - probe: 'fx-trace:::coarse'\n"
				 "    do: [count: {into: stacks, by: [ustack]}]\n",
				 path),
		     0, "%s", rig_errors(&r));
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(rig_start(&r), -ENOENT);
		rig_expect_tag(&r, 0, "TARGET_EXEC");
		weft_error_clear(r.err);
	}
	cr_assert_eq(symlink(CALLS, path), 0);
	rig_go(&r, NULL);
	unlink(path);
	cr_expect_str_eq(r.end.reason, "target");
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, 44);
	cr_expect_eq(cap_total(cap_last_table(&r.cap, "stacks")), 44);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(target, TARGET_NO_PROCESS)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, call_1000, NULL);
	worker_kill(&w);
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r, "version: 1\ntarget: {pid: %d}\n" COUNT_CALLS, w.pid), -ESRCH);
	rig_expect_tag(&r, 0, "TARGET_NO_PROCESS");
	struct weft_report e;
	weft_error_report(r.err, 0, &e);
	cr_expect_eq(e.pos.line, 2);
	rig_finish(&r);
}

/* It was there when the set was checked, and has gone since. */
Test(target, process_that_ends_before_the_start)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, call_1000, NULL);
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r, "version: 1\ntarget: {pid: %d}\n" COUNT_CALLS, w.pid), 0);
	worker_kill(&w);
	cr_assert_lt(rig_start(&r), 0);
	rig_expect_tag(&r, 0, "TARGET_NO_PROCESS");
	rig_finish(&r);
}

static void *tell_tid(void *arg)
{
	int32_t *tid = arg;

	__atomic_store_n(tid, (int32_t)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	while (__atomic_load_n(tid, __ATOMIC_SEQ_CST))
		usleep(1000);
	return NULL;
}

Test(target, TARGET_THREAD)
{
	pthread_t thread;
	int32_t tid = 0, seen;
	char process[32];
	struct rig r;

	cr_assert_eq(pthread_create(&thread, NULL, tell_tid, &tid), 0);
	while (!(seen = __atomic_load_n(&tid, __ATOMIC_SEQ_CST)))
		usleep(1000);
	rig_init(&r);
	cr_expect_eq(rig_prepare(&r, "version: 1\ntarget: {pid: %d}\n" COUNT_CALLS, seen), -EINVAL);
	__atomic_store_n(&tid, 0, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
	rig_expect_tag(&r, 0, "TARGET_THREAD");
	snprintf(process, sizeof(process), "process %d", getpid());
	cr_expect(strstr(weft_error_text(r.err), process), "%s", weft_error_text(r.err));
	rig_finish(&r);
}
