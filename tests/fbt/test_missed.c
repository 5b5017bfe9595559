/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the kernel leaves out: firings that find their program running, firings inside firings, and
 * returns for which it has no room. Each is told, to the last one, where the kernel tells it. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <time.h>

#include "vm.h"

/* ---- all processors at once ---- */

#define CALLS   20000
#define THREADS 4 /* two on each processor, which preempt each other where the kernel does */

/* A call that ends at its first check, and that nobody else makes. */
static void *allocate_much(void *arg)
{
	int fd = open("/dev/null", O_WRONLY);

	if (fd < 0)
		_exit(1);
	worker_pin((int)(intptr_t)arg % 2);
	for (int i = 0; i < CALLS; i++)
		if (!syscall(SYS_fallocate, fd, 0, -1L, 0L))
			_exit(2);
	close(fd);
	return NULL;
}

static void allocate_everywhere(void *arg)
{
	pthread_t threads[THREADS];

	(void)arg;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, allocate_much, (void *)(intptr_t)i))
			_exit(3);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

Test(fbt_missed, PROGRAM_BUSY)
{
	for (const char *const *m = vm_mechanisms(); *m; m++) {
		struct worker w;
		struct rig r;

		worker_fork(&w, allocate_everywhere, NULL);
		rig_init(&r);
		rig_trace(&r, &w,
			  "version: 1\n"
			  "providers: {fbt: {mechanism: %s}}\n"
			  "probes:\n"
			  "  - probe: 'fbt:vmlinux:vfs_fallocate:entry'\n"
			  "    do: [count: {into: entries, by: {f: probefunc}}]\n"
			  "  - probe: 'fbt:vmlinux:vfs_fallocate:return'\n"
			  "    do: [count: {into: returns}]\n",
			  *m);
		vm_expect_calls(
			&r, *m, "fbt:vmlinux:vfs_fallocate:entry",
			cap_row_text(cap_last_table(&r.cap, "entries"), "f", "vfs_fallocate")->count,
			(uint64_t)THREADS * CALLS);
		vm_expect_calls(&r, *m, "fbt:vmlinux:vfs_fallocate:return",
				cap_only_row(&r.cap, "returns")->count, (uint64_t)THREADS * CALLS);
		rig_finish(&r);
	}
}

/* ---- firings inside firings ---- */

/* Interrupts of the processors' own timers, which call hrtimer_interrupt() once each. */
static uint64_t timer_interrupts(void)
{
	FILE *f = fopen("/proc/interrupts", "r");
	char line[1024];
	uint64_t n = 0;

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		char *p = strstr(line, "LOC:");
		char *end;

		for (p = p ? p + 4 : NULL; p; p = end) {
			uint64_t of_cpu = strtoull(p, &end, 10);

			if (end == p)
				break;
			n += of_cpu;
		}
	}
	fclose(f);
	return n;
}

struct ticks {
	uint64_t before, after;
};

static void allocate_on(void *arg, int cpu)
{
	(void)arg;
	allocate_much((void *)(intptr_t)cpu);
}

static void allocate_and_look(void *arg)
{
	struct ticks *t = arg;

	t->before = timer_interrupts();
	worker_on_cpus(2, allocate_on, NULL);
	t->after = timer_interrupts();
}

/* The processors are busy with the program of one probe when the timer's interrupt comes, which
 * has a probe too. Where the kernel lets one program of its kind run at a time, that firing is
 * suppressed; all of those that came, and that are told, are the interrupts that there were. */
Test(fbt_missed, firings_inside_firings)
{
	for (const char *const *m = vm_mechanisms(); *m; m++) {
		struct ticks *t = worker_shared(sizeof(*t));
		uint64_t outer = timer_interrupts(), counted, told;
		struct worker w;
		struct rig r;

		worker_fork(&w, allocate_and_look, t);
		rig_init(&r);
		rig_trace(&r, &w,
			  "version: 1\n"
			  "providers: {fbt: {mechanism: %s}}\n"
			  "probes:\n"
			  "  - probe: 'fbt:vmlinux:vfs_fallocate:entry'\n"
			  "    do:\n"
			  "      - count: {into: n}\n"
			  "      - quantize: {into: q, by: {a: execname}, value: timestamp}\n"
			  "      - count: {into: s, by: {a: stack}}\n"
			  "  - probe: 'fbt:vmlinux:hrtimer_interrupt:entry'\n"
			  "    do: [count: {into: ticks}]\n",
			  *m);
		outer = timer_interrupts() - outer;
		cr_expect_eq(cap_only_row(&r.cap, "n")->count, 2u * CALLS, "%s", *m);
		counted = cap_only_row(&r.cap, "ticks")->count;
		told = vm_busy_of(&r, "fbt:vmlinux:hrtimer_interrupt:entry") +
		       cap_lost(&r.cap, "FBT_MISSED");
		cr_expect_leq(counted, outer, "%s", *m);
		fprintf(stderr, "%s: %llu interrupts, %llu counted, %llu told\n", *m,
			(unsigned long long)(t->after - t->before), (unsigned long long)counted,
			(unsigned long long)told);
		if (strcmp(*m, "fentry") && !vm_has_kprobe_multi()) {
			cr_expect(rig_has_said(&r, "this kernel does not say which firings it "
						   "suppressed"),
				  "%s", r.said);
		} else {
			cr_expect(counted + told >= t->after - t->before && counted + told <= outer,
				  "%s: %llu and %llu told, of %llu to %llu", *m,
				  (unsigned long long)counted, (unsigned long long)told,
				  (unsigned long long)(t->after - t->before),
				  (unsigned long long)outer);
			if (strcmp(*m, "fentry"))
				cr_expect_gt(told, 0, "%s: none fell into a program", *m);
		}
		rig_finish(&r);
	}
}

/* ---- returns for which the kernel has no room ---- */

#define WAITERS 40

static void *wait_for_message(void *arg)
{
	struct {
		long type;
		char text[8];
	} message;

	/* It never comes: the queue goes. */
	msgrcv((int)(intptr_t)arg, &message, sizeof(message.text), 0, 0);
	return NULL;
}

static int sleepers(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *d;
	int n = 0;

	if (!tasks)
		_exit(4);
	while ((d = readdir(tasks))) {
		char path[300], line[256] = "", *end;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/stat", d->d_name);
		f = *d->d_name == '.' ? NULL : fopen(path, "r");
		end = f && fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
		n += end && !strncmp(end, ") S", 3);
		if (f)
			fclose(f);
	}
	closedir(tasks);
	return n;
}

/* Threads that sleep in one function at once. */
static void wait_all(void *arg)
{
	int queue = msgget(IPC_PRIVATE, 0600);
	pthread_t threads[WAITERS];

	(void)arg;
	for (int i = 0; i < WAITERS; i++)
		if (queue < 0 ||
		    pthread_create(&threads[i], NULL, wait_for_message, (void *)(intptr_t)queue))
			_exit(1);
	while (sleepers() < WAITERS)
		usleep(10000);
	msgctl(queue, IPC_RMID, NULL);
	for (int i = 0; i < WAITERS; i++)
		pthread_join(threads[i], NULL);
}

/* The same with a function that has a type on every kernel; others sleep in it as well. */
static void *sleep_long(void *arg)
{
	const struct timespec t = {.tv_nsec = 300000000};

	(void)arg;
	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL);
	return NULL;
}

static void sleep_all(void *arg)
{
	pthread_t threads[WAITERS];

	(void)arg;
	for (int i = 0; i < WAITERS; i++)
		if (pthread_create(&threads[i], NULL, sleep_long, NULL))
			_exit(1);
	for (int i = 0; i < WAITERS; i++)
		pthread_join(threads[i], NULL);
}

Test(fbt_missed, FBT_MISSED)
{
	for (const char *const *m = vm_mechanisms(); *m; m++) {
		bool fentry = !strcmp(*m, "fentry");
		const char *function = fentry ? "do_nanosleep" : "__x64_sys_msgrcv";
		struct worker w;
		struct rig r;
		uint64_t seen;

		worker_fork(&w, fentry ? sleep_all : wait_all, NULL);
		rig_init(&r);
		rig_trace(&r, &w,
			  "version: 1\n"
			  "providers: {fbt: {mechanism: %s}}\n"
			  "probes:\n"
			  "  - probe: 'fbt:vmlinux:%s:entry'\n"
			  "    when: pid == %d\n"
			  "    do: [count: {into: entries}]\n"
			  "  - probe: 'fbt:vmlinux:%s:return'\n"
			  "    when: pid == %d\n"
			  "    do: [count: {into: returns}]\n",
			  *m, function, w.pid, function, w.pid);
		seen = cap_only_row(&r.cap, "returns")->count;
		cr_expect_eq(cap_only_row(&r.cap, "entries")->count, WAITERS, "%s", *m);
		if (fentry) {
			cr_expect_eq(seen, WAITERS, "fexit needs no room");
			vm_expect_no_loss(&r, *m);
		} else if (vm_has_kprobe_multi()) {
			cr_expect_lt(seen, WAITERS, "%s: there was room for all of them", *m);
			cap_expect_loss(&r.cap, "FBT_MISSED", WAITERS - seen);
		} else {
			cr_expect_lt(seen, WAITERS, "%s: there was room for all of them", *m);
			cr_expect(rig_has_said(&r, "this kernel does not say which firings it "
						   "suppressed"),
				  "%s", r.said);
		}
		rig_finish(&r);
	}
}
