/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* System calls against what a program did: counts, arguments, results, pairs; by both mechanisms. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "syscalls.h"

#define CALLS   5000
#define THREADS 4

/* ---- arguments and results ---- */

static char path[] = "/no/such/file"; /* written by nobody, but read before: it is in memory */

static void make_calls(void *arg)
{
	struct stat *nowhere = (void *)8;

	(void)arg;
	if (strlen(path) != 13)
		_exit(1);
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getpriority, -7, 1 << 20);
	syscall(SYS_lseek, -1, -5L, 2);
	syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	syscall(SYS_fstat, -1, nowhere);
	syscall(SYS_prctl, 1L << 40 | PR_SET_DUMPABLE, 1L << 40 | 2, 3, 4, 5);
	syscall(SYS_mmap, 0, 0L, 1, 2, -1, 0x12345000L);
	syscall(SYS_geteuid);
}

Test(syscall_run, arguments_and_results)
{
	BOTH(mechanism)
	{
		const struct cap_record *rec;
		struct worker w;
		struct rig r;

		worker_fork(&w, make_calls, NULL);
		rig_init(&r);
		rig_trace(
			&r, &w,
			SET("  - probe: syscall::getpriority:entry\n"
			    "    do: [count: {into: n, by: {which: args.which, who: args.who}}]\n"
			    "  - probe: syscall::getpriority:return\n"
			    "    do:\n"
			    "      - count: {into: results, by: {ret: retval, errno: errno}}\n"
			    "      - count: {into: pairs, by: {which: entry.which, who: entry.arg1}}\n"
			    "  - probe: syscall::lseek:entry\n"
			    "    do: [emit: {fd: args.fd, to: args.offset, from: args.whence}]\n"
			    "  - probe: syscall::openat:entry\n"
			    "    do: [emit: {at: args.dfd, file: str(args.filename), flags: args.flags}]\n"
			    "  - probe: syscall::openat:return\n"
			    "    do: [emit: {file: str(entry.filename), ret: retval, errno: errno}]\n"
			    "  - probe: syscall::fstat:entry\n"
			    "    do: [emit: {fd: args.fd, at: (int64) args.statbuf}]\n"
			    "  - probe: syscall::prctl:entry\n"
			    "    do: [emit: {option: args.option, arg2: arg1, arg5: args.arg5}]\n"
			    "  - probe: syscall::mmap:entry\n"
			    "    do: [emit: {fd: (int32) arg4, off: arg5}]\n"
			    "  - probe: syscall::geteuid:return\n"
			    "    do: [emit: {ret: retval}]\n"),
			w.pid, *mechanism);
		const struct weft_row *n = cap_only_row(&r.cap, "n");

		cr_expect_eq(n->count, CALLS);
		cr_expect_eq(cap_key(n, "which")->i, -7, "an int with its sign");
		cr_expect_eq(cap_key(n, "who")->i, 1 << 20);
		n = cap_only_row(&r.cap, "results");
		cr_expect_eq(n->count, CALLS);
		cr_expect_eq(cap_key(n, "ret")->i, -EINVAL);
		cr_expect_eq(cap_key(n, "errno")->i, EINVAL);
		n = cap_only_row(&r.cap, "pairs");
		cr_expect_eq(n->count, CALLS);
		cr_expect_eq(cap_key(n, "which")->i, -7);
		cr_expect_eq(cap_key(n, "who")->i, 1 << 20);
		rec = cap_only(&r.cap, "lseek:entry");
		cr_expect_eq(cap_int(rec, "fd"), 0xffffffff, "an unsigned int");
		cr_expect_eq(cap_int(rec, "to"), -5);
		cr_expect_eq(cap_int(rec, "from"), 2);
		rec = cap_only(&r.cap, "openat:entry");
		cr_expect_eq(cap_int(rec, "at"), AT_FDCWD);
		cr_expect(cap_is_text(rec, "file", path));
		cr_expect_eq(cap_int(rec, "flags"), O_RDONLY | O_CLOEXEC);
		rec = cap_only(&r.cap, "openat:return");
		cr_expect(cap_is_text(rec, "file", path));
		cr_expect_eq(cap_int(rec, "ret"), -ENOENT);
		cr_expect_eq(cap_int(rec, "errno"), ENOENT);
		rec = cap_only(&r.cap, "fstat:entry");
		cr_expect_eq(cap_int(rec, "fd"), 0xffffffff);
		cr_expect_eq(cap_int(rec, "at"), 8);
		rec = cap_only(&r.cap, "prctl:entry");
		cr_expect_eq(cap_int(rec, "option"), PR_SET_DUMPABLE, "the lower half of it");
		cr_expect_eq(cap_int(rec, "arg2"), 1L << 40 | 2);
		cr_expect_eq(cap_int(rec, "arg5"), 5);
		rec = cap_only(&r.cap, "mmap:entry");
		cr_expect_eq(cap_int(rec, "fd"), -1);
		cr_expect_eq(cap_int(rec, "off"), 0x12345000);
		cr_expect_eq(cap_int(cap_only(&r.cap, "geteuid:return"), "ret"), 0);
		cap_expect_no_loss(&r.cap);
		rig_finish(&r);
	}
}

/* A struct that the program has in its memory. */
static void limit(void *arg)
{
	struct rlimit l = {.rlim_cur = 100, .rlim_max = 200};

	(void)arg;
	syscall(SYS_setrlimit, RLIMIT_NOFILE, &l);
}

Test(syscall_run, structs_of_the_program)
{
	BOTH(mechanism)
	{
		struct worker w;
		struct rig r;

		worker_fork(&w, limit, NULL);
		rig_init(&r);
		rig_trace(
			&r, &w,
			SET("  - probe: syscall::setrlimit:entry\n"
			    "    do: [emit: {soft: args.rlim.rlim_cur, hard: args.rlim.rlim_max}]\n"),
			w.pid, *mechanism);
		cr_expect_eq(cap_int(cap_only(&r.cap, "setrlimit:entry"), "soft"), 100);
		cr_expect_eq(cap_int(cap_only(&r.cap, "setrlimit:entry"), "hard"), 200);
		cap_expect_no_loss(&r.cap);
		rig_finish(&r);
	}
}

static void rest(void *arg)
{
	struct timespec t = {.tv_nsec = 20000000};

	(void)arg;
	while (nanosleep(&t, &t))
		;
}

Test(syscall_run, elapsed)
{
	BOTH(mechanism)
	{
		struct worker w;
		struct rig r;

		worker_fork(&w, rest, NULL);
		rig_init(&r);
		rig_trace(&r, &w,
			  SET("  - probe: ['syscall::nanosleep:return', 'syscall::clock_nanosleep:return']\n"
			      "    do: [emit: {took: elapsed}]\n"),
			  w.pid, *mechanism);
		cr_assert_eq(r.cap.n_records, 1);
		cr_expect_geq(cap_int(&r.cap.records[0], "took"), 20000000);
		cap_expect_no_loss(&r.cap);
		rig_finish(&r);
	}
}

/* ---- threads and processes ---- */

static void *call_often(void *arg)
{
	for (int i = 0; i < CALLS; i++) {
		syscall(SYS_getpgid, (long)arg);
		syscall(SYS_getppid);
	}
	return NULL;
}

static void threads_and_processes(void *arg)
{
	pthread_t threads[THREADS];
	pid_t pid;

	(void)arg;
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, call_often, (void *)-i))
			_exit(1);
	pid = fork();
	if (!pid) {
		call_often((void *)-10L);
		_exit(0);
	}
	for (long i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	waitpid(pid, NULL, 0);
}

Test(syscall_run, threads_and_processes)
{
	BOTH(mechanism)
	{
		const struct cap_table *t;
		struct worker w;
		struct rig r;

		worker_fork(&w, threads_and_processes, NULL);
		rig_init(&r);
		rig_trace(
			&r, &w,
			SET("  - probe: syscall::getpgid:entry\n"
			    "    do: [count: {into: n, by: {who: args.pid}}]\n"
			    "  - probe: syscall::getpgid:return\n"
			    "    when: elapsed > 0\n"
			    "    do: [count: {into: pairs, by: {who: entry.pid}}]\n"
			    "  - probe: ['syscall::getppid:entry', 'syscall::getppid:return']\n"
			    "    do: [count: {into: both, by: {name: probename, call: probefunc}}]\n"),
			w.pid, *mechanism);
		t = cap_last_table(&r.cap, "n");
		cr_expect_eq(cap_total(t), (THREADS + 1) * CALLS);
		for (int i = 0; i < THREADS; i++)
			cr_expect_eq(cap_row_int(t, "who", -i)->count, CALLS);
		cr_expect_eq(cap_row_int(t, "who", -10)->count, CALLS, "the child");
		cr_expect_eq(cap_total(cap_last_table(&r.cap, "pairs")), (THREADS + 1) * CALLS);
		t = cap_last_table(&r.cap, "both");
		cr_assert_eq(t->n_rows, 2);
		cr_expect_eq(cap_row_text(t, "name", "entry")->count, (THREADS + 1) * CALLS);
		cr_expect_eq(cap_row_text(t, "name", "return")->count, (THREADS + 1) * CALLS);
		cap_expect_no_loss(&r.cap);
		rig_finish(&r);
	}
}

/* ---- all calls ---- */

/* The numbers that the kernel's headers give, and how often each is called. */
static const struct {
	long number;
	const char *name;
	uint64_t n;
} some[] = {
	{SYS_getppid, "getppid", 1000},
	{SYS_getpgid, "getpgid", 300},
	{SYS_sched_yield, "sched_yield", 77},
	{SYS_uname, "uname", 5},
	{SYS_umount2, "umount2", 6},
	{SYS_sendfile, "sendfile", 7},
	{134, "uselib", 8},
	{SYS_read, "read", 9},
	{SYS_write, "write", 10},
};

static void call_some(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		for (uint64_t n = 0; n < some[i].n; n++)
			syscall(some[i].number, -1L, 0, 0, 0, 0, 0);
	syscall(4000);
}

/* One program tells all calls apart, also those that the kernel has not. */
Test(syscall_run, all_calls)
{
	const struct cap_table *t;
	struct worker w;
	struct rig r;

	worker_fork(&w, call_some, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  SET("  - probe: 'syscall:::entry'\n"
		      "    do: [count: {into: n, by: {call: probefunc}}]\n"
		      "  - probe: 'syscall:::return'\n"
		      "    do:\n"
		      "      - count: {into: results, by: {call: probefunc, errno: errno}}\n"
		      "  - probe: 'syscall:::return'\n"
		      "    when: defined(elapsed) && elapsed >= 0\n"
		      "    do: [count: {into: pairs, by: {call: probefunc}}]\n"),
		  w.pid, "auto");
	cr_expect(rig_has_said(&r, "syscall::read:entry and others: attached"), "%s", r.said);
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		t = cap_last_table(&r.cap, "n");
		cr_expect_eq(cap_row_text(t, "call", some[i].name)->count, some[i].n, "%s",
			     some[i].name);
		t = cap_last_table(&r.cap, "pairs");
		cr_expect_eq(cap_row_text(t, "call", some[i].name)->count, some[i].n);
	}
	t = cap_last_table(&r.cap, "results");
	cr_expect_eq(cap_key(cap_row_text(t, "call", "uselib"), "errno")->i, ENOSYS);
	cr_expect_eq(cap_key(cap_row_text(t, "call", "sendfile"), "errno")->i, EBADF);
	/* The worker was waiting in a read when tracing began: that one is not among the pairs. */
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* Calls that do something to the process whatever their arguments are, or nothing for long. */
static bool leave_out(const char *name)
{
	static const char *const names[] = {"exit",    "exit_group", "fork",      "vfork",
					    "pause",   "uprobe",     "uretprobe", "rt_sigreturn",
					    "vhangup", "sync",       "setsid"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* Every number, with arguments that no call takes, by who may do nothing. */
static void call_every(void *arg)
{
	(void)arg;
	if (setgid(65534) || setuid(65534))
		_exit(1);
	for (long i = 0; i < 480; i++) {
		static const long never[] = {57, 58, 60, 15, 34, 153, 162, 112, 231, 335, 336};
		bool out = false;

		for (size_t k = 0; k < sizeof(never) / sizeof(never[0]); k++)
			out |= never[k] == i;
		if (!out)
			syscall(i, -1L, -1L, -1L, -1L, -1L, -1L);
	}
}

/*
 * The number that is told by the table here, and the name that the kernel gave its event, are two
 * sources: a call that is counted by one is counted by the other.
 */
Test(syscall_run, numbers_are_the_kernels)
{
	static char probes[65536];
	const struct cap_table *raw, *record;
	size_t at = 0, compared = 0;
	struct worker w;
	struct rig r;

	worker_fork(&w, call_every, NULL);
	rig_init(&r);
	/* The names of the calls that this kernel has. */
	FILE *f = popen("ls /sys/kernel/tracing/events/syscalls", "r");
	char line[128];
	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f)) {
		static const char *const differ[][2] = {
			{"newstat", "stat"},   {"newfstat", "fstat"},      {"newlstat", "lstat"},
			{"newuname", "uname"}, {"sendfile64", "sendfile"}, {"umount", "umount2"},
		};
		const char *name = line + strlen("sys_enter_");

		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "sys_enter_", strlen("sys_enter_")))
			continue;
		for (size_t i = 0; i < sizeof(differ) / sizeof(differ[0]); i++)
			if (!strcmp(name, differ[i][0]))
				name = differ[i][1];
		/* Taking an event away takes the kernel long: those that came last, and a few. */
		if (leave_out(name) ||
		    (compared++ % 24 && !strstr(name, "xattrat") && !strstr(name, "stat")))
			continue;
		at += (size_t)snprintf(probes + at, sizeof(probes) - at, "%s'syscall::%s:entry'",
				       at ? ", " : "", name);
	}
	pclose(f);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "probes:\n"
		  "  - probe: [%s]\n"
		  "    with: {mechanism: record}\n"
		  "    do: [count: {into: record, by: {call: probefunc}}]\n"
		  "  - probe: 'syscall:::entry'\n"
		  "    with: {mechanism: raw}\n"
		  "    do: [count: {into: raw, by: {call: probefunc}}]\n",
		  w.pid, probes);
	record = cap_last_table(&r.cap, "record");
	raw = cap_last_table(&r.cap, "raw");
	cr_expect_gt(record->n_rows, 20);
	for (size_t i = 0; i < record->n_rows; i++) {
		char name[64];
		const struct weft_value *v = cap_key(&record->rows[i], "call");

		snprintf(name, sizeof(name), "%.*s", (int)v->text.n, v->text.s);
		cr_expect_eq(cap_row_text(raw, "call", name)->count, record->rows[i].count, "%s",
			     name);
	}
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}
