/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tracepoints against what a program did: counts, the fields of records, the arguments of the
 * kernel's code, and the life of processes. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "session/harness.h"

#define CALLS FIXTURE_WORKLOAD_DIR "/calls"

/* ---- the life of processes ---- */

#define FORKS   7
#define THREADS 5

static void *nothing(void *arg)
{
	return arg;
}

static void on_signal(int number)
{
	(void)number;
}

/* A child that ends in its own way. */
static void child(void (*how)(int), int arg)
{
	pid_t pid = fork();

	if (!pid) {
		how(arg);
		_exit(99);
	}
	waitpid(pid, NULL, 0);
}

static void ends(int status)
{
	_exit(status);
}

static void is_killed(int number)
{
	signal(number, SIG_DFL);
	raise(number);
}

static void execs(int arg)
{
	(void)arg;
	execl(CALLS, "calls", "0", NULL);
}

static void ends_with_threads(int status)
{
	pthread_t t;

	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&t, NULL, nothing, NULL))
			_exit(98);
		pthread_join(t, NULL);
	}
	_exit(status);
}

static void live(void *arg)
{
	struct rlimit none = {0};

	(void)arg;
	setrlimit(RLIMIT_CORE, &none);
	for (int i = 0; i < FORKS; i++)
		child(ends, i);
	child(ends_with_threads, 20);
	child(is_killed, SIGKILL);
	child(is_killed, SIGTERM);
	child(execs, 0);
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 3; i++)
		raise(SIGUSR1);
}

static uint64_t count_of(const struct cap_table *t, const char *key, int64_t value)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->n_rows; i++)
		if (cap_key(&t->rows[i], key)->i == value)
			n += t->rows[i].count;
	return n;
}

Test(tracepoint_run, the_life_of_processes)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, live, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d, follow: true}\n"
		  "probes:\n"
		  "  - probe: 'tracepoint:process::fork'\n"
		  "    do: [count: {into: forks}]\n"
		  "  - probe: 'tracepoint:process::thread'\n"
		  "    do: [count: {into: threads}]\n"
		  "  - probe: 'tracepoint:process::exec'\n"
		  "    do: [count: {into: execs, by: {path: args.path}}]\n"
		  "  - probe: 'tracepoint:process::exit'\n"
		  "    do:\n"
		  "      - count: {into: statuses, by: {status: args.status}}\n"
		  "      - count: {into: signals, by: {signal: args.signal}}\n"
		  "  - probe: 'tracepoint:process::signal'\n"
		  "    when: args.signal == %d\n"
		  "    do: [count: {into: delivered}]\n",
		  w.pid, SIGUSR1);
	const struct cap_table *s = cap_last_table(&r.cap, "statuses");

	/* FORKS that end by themselves, and four in other ways; the worker itself was there. */
	cr_expect_eq(cap_only_row(&r.cap, "forks")->count, FORKS + 4);
	cr_expect_eq(cap_only_row(&r.cap, "threads")->count, THREADS);
	cr_expect_eq(cap_row_text(cap_last_table(&r.cap, "execs"), "path", CALLS)->count, 1);
	cr_expect_eq(cap_total(s), FORKS + 4 + 1);
	for (int i = 1; i < FORKS; i++)
		cr_expect_eq(count_of(s, "status", i), 1, "status %d", i);
	cr_expect_eq(count_of(s, "status", 20), 1, "the last thread tells of the process");
	s = cap_last_table(&r.cap, "signals");
	cr_expect_eq(count_of(s, "signal", SIGKILL), 1);
	cr_expect_eq(count_of(s, "signal", SIGTERM), 1);
	cr_expect_eq(count_of(s, "signal", 0), FORKS + 4 + 1 - 2);
	cr_expect_eq(cap_only_row(&r.cap, "delivered")->count, 3);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* A clause on the end of a process still has the variables of its last thread. */
static void fork_one(void *arg)
{
	(void)arg;
	child(ends, 3);
}

Test(tracepoint_run, variables_live_to_the_end)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, fork_one, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d, follow: true}\n"
		  "probes:\n"
		  "  - probe: 'tracepoint:syscalls::sys_enter_exit_group'\n"
		  "    do: [set: {self.status: args.error_code}]\n"
		  "  - probe: 'tracepoint:process::exit'\n"
		  "    do: [count: {into: n, by: {said: self.status, status: args.status}}]\n",
		  w.pid);
	const struct cap_table *t = cap_last_table(&r.cap, "n");

	cr_assert_eq(t->n_rows, 2);
	for (size_t i = 0; i < 2; i++)
		cr_expect_eq(cap_key(&t->rows[i], "said")->i, cap_key(&t->rows[i], "status")->i);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- fields ---- */

static void make_calls(void *arg)
{
	char path[] = "/no/such/file"; /* on the stack, so that it is in memory */

	(void)arg;
	for (int i = 0; i < 1000; i++)
		syscall(SYS_getpriority, -7, 1 << 20);
	lseek(-1, -5, 2);
	if (open(path, O_RDONLY) >= 0)
		_exit(1);
	prctl(PR_SET_NAME, "a new name");
}

Test(tracepoint_run, fields_are_what_the_program_gave)
{
	struct worker w;
	struct rig r;
	const struct cap_record *rec;

	worker_fork(&w, make_calls, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "probes:\n"
		  "  - probe: 'tracepoint:syscalls::sys_enter_getpriority'\n"
		  "    do: [count: {into: n, by: {which: args.which, who: args.who}}]\n"
		  "  - probe: 'tracepoint:syscalls::sys_exit_getpriority'\n"
		  "    do: [count: {into: results, by: {ret: args.ret}}]\n"
		  "  - probe: 'tracepoint:syscalls::sys_enter_lseek'\n"
		  "    do: [emit: {fd: args.fd, to: args.offset, from: args.whence}]\n"
		  "  - probe: ['tracepoint:syscalls::sys_enter_open', 'tracepoint:syscalls::sys_enter_openat']\n"
		  "    when: str(args.filename) == \"/no/such/file\"\n"
		  "    do: [count: {into: opens}]\n"
		  "  - probe: 'tracepoint:task::task_rename'\n"
		  "    do: [emit: {name: args.newcomm}]\n",
		  w.pid);
	const struct weft_row *n = cap_only_row(&r.cap, "n");

	cr_expect_eq(n->count, 1000);
	cr_expect_eq(cap_key(n, "which")->i, -7, "an int with its sign");
	cr_expect_eq(cap_key(n, "who")->i, 1 << 20);
	cr_expect_eq(cap_row_int(cap_last_table(&r.cap, "results"), "ret", -EINVAL)->count, 1000);
	rec = cap_only(&r.cap, "sys_enter_lseek");
	cr_expect_eq(cap_int(rec, "fd"), 0xffffffff, "an unsigned int");
	cr_expect_eq(cap_int(rec, "to"), -5);
	cr_expect_eq(cap_int(rec, "from"), 2);
	cr_expect_eq(cap_only_row(&r.cap, "opens")->count, 1);
	cr_expect(cap_is_text(cap_only(&r.cap, "task_rename"), "name", "a new name"));
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- the arguments of the kernel's code ---- */

static void exec_one(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "before");
	child(execs, 0);
}

Test(tracepoint_run, raw_arguments_have_types)
{
	const struct cap_record *rec;
	struct worker w;
	struct rig r;

	worker_fork(&w, exec_one, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d, follow: true}\n"
		  "providers: {tracepoint: {raw: true}}\n"
		  "probes:\n"
		  "  - probe: 'tracepoint:sched::sched_process_exec'\n"
		  "    do:\n"
		  "      - emit: {name: str(args.p.comm), tgid: args.p.tgid, mine: pid,\n"
		  "               parent: args.p.real_parent.tgid, file: str(args.bprm.filename),\n"
		  "               base: str(args.bprm.file.f_path.dentry.d_name.name)}\n",
		  w.pid);
	rec = cap_only(&r.cap, "sched_process_exec");
	cr_expect(cap_is_text(rec, "name", "calls"));
	cr_expect_eq(cap_int(rec, "tgid"), cap_int(rec, "mine"));
	cr_expect_eq(cap_int(rec, "parent"), w.pid);
	cr_expect(cap_is_text(rec, "file", CALLS));
	cr_expect(cap_is_text(rec, "base", "calls"));
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- errors ---- */

static void expect_error(const char *probe, const char *tag, const char *words)
{
	struct rig r;

	rig_init(&r);
	cr_expect_lt(rig_prepare(&r,
				 "version: 1\n"
				 "probes:\n"
				 "  - probe: '%s'\n"
				 "    do: [count: {into: n}]\n",
				 probe),
		     0);
	rig_expect_tag(&r, 0, tag);
	cr_expect(strstr(rig_errors(&r), words), "%s", rig_errors(&r));
	rig_finish(&r);
}

Test(tracepoint_run, TRACEPOINT_NAME)
{
	expect_error("tracepoint:sched:x:sched_switch", "TRACEPOINT_NAME",
		     "tracepoint:sched::sched_switch");
}

Test(tracepoint_run, TRACEPOINT_UNKNOWN)
{
	expect_error("tracepoint:sched::sched_swich", "TRACEPOINT_UNKNOWN",
		     "sched::sched_swich: did you mean tracepoint:sched::sched_switch?");
	expect_error("tracepoint:shed::sched_switch", "TRACEPOINT_UNKNOWN",
		     "did you mean tracepoint:sched::sched_switch?");
	expect_error("tracepoint:..::sched", "TRACEPOINT_UNKNOWN", "");
	expect_error("tracepoint:process::birth", "TRACEPOINT_UNKNOWN", "process::birth");
}
