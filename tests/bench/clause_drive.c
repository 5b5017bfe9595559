/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A turn attaches, calls and detaches, so that no program ever runs beside another. The calls are
 * made from some depth of functions, for those who walk the stack, and change nothing, since there
 * is no such `which`. Hardly anybody else on a machine calls ioprio_set.
 */
#include "clause_drive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/kernel/bpf.h"

#define WHICH       99
#define WHO         77
#define DEPTH       16
#define PATIENCE_MS 5000 /* for bpftrace to begin */

static const char *const id_paths[DRIVE_SIDES] = {
	"/sys/kernel/tracing/events/syscalls/sys_enter_ioprio_set/id",
	"/sys/kernel/tracing/events/syscalls/sys_exit_ioprio_set/id",
};

static int read_id(const char *path, uint32_t *id)
{
	FILE *f = fopen(path, "re");
	int ret = f && fscanf(f, "%u", id) == 1 ? 0 : -ENOENT;

	if (ret)
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	if (f)
		fclose(f);
	return ret;
}

int drive_init(struct drive *d)
{
	union bpf_attr attr;
	cpu_set_t set;
	int cpu;

	for (int side = 0; side < DRIVE_SIDES; side++)
		if (read_id(id_paths[side], &d->events[side]))
			return -ENOENT;
	cpu = sched_getcpu();
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return -errno;
	memset(&attr, 0, sizeof(attr));
	attr.enable_stats.type = BPF_STATS_RUN_TIME;
	d->stats_fd = weft_bpf(BPF_ENABLE_STATS, &attr, sizeof(attr));
	return d->stats_fd < 0 ? d->stats_fd : 0;
}

void drive_finish(struct drive *d)
{
	close(d->stats_fd);
}

/* ---- calls ---- */

/* The next of a sequence without a pattern that a processor could foresee; the same each turn. */
static int next_who(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u; /* of Numerical Recipes */
	return (int)((*state & INT32_MAX) >> (10 + (*state >> 20) % 16));
}

static __attribute__((noinline)) uint64_t call(int depth, uint64_t n, bool varied)
{
	uint32_t state = 1;
	uint64_t done = 0;

	if (depth)
		done = call(depth - 1, n, varied);
	else
		for (; done < n; done++)
			syscall(SYS_ioprio_set, WHICH, varied ? next_who(&state) : WHO, done);
	__asm__ volatile("" : "+r"(done)); /* not a tail call */
	return done;
}

static int attach(uint32_t event, int program)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = event};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
		close(fd);
		return -errno;
	}
	return fd;
}

static int infos(const int programs[DRIVE_SIDES], struct bpf_prog_info out[DRIVE_SIDES])
{
	int ret = 0;

	memset(out, 0, DRIVE_SIDES * sizeof(*out));
	for (int side = 0; side < DRIVE_SIDES && !ret; side++)
		if (programs[side] >= 0)
			ret = weft_bpf_program_info(programs[side], &out[side]);
	return ret;
}

static int measure(const struct drive *d, const int programs[DRIVE_SIDES], uint64_t n,
		   struct turn *out)
{
	struct bpf_prog_info before[DRIVE_SIDES], after[DRIVE_SIDES];
	int ret = infos(programs, before);

	call(DEPTH, n, d->varied);
	if (!ret)
		ret = infos(programs, after);
	if (ret)
		return ret;
	*out = (struct turn){.firings = after[0].run_cnt - before[0].run_cnt};
	for (int side = 0; side < DRIVE_SIDES; side++) {
		uint64_t firings = after[side].run_cnt - before[side].run_cnt;

		if (firings)
			out->ns += (double)(after[side].run_time_ns - before[side].run_time_ns) /
				   (double)firings;
	}
	return 0;
}

int drive_turn(const struct drive *d, const int programs[DRIVE_SIDES], uint64_t n, struct turn *out)
{
	int events[DRIVE_SIDES] = {-1, -1}, ret = 0;

	for (int side = DRIVE_SIDES; side-- && !ret;) {
		if (programs[side] < 0)
			continue;
		events[side] = attach(d->events[side], programs[side]);
		if (events[side] < 0)
			ret = events[side];
	}
	if (!ret)
		ret = measure(d, programs, n, out);
	for (int side = 0; side < DRIVE_SIDES; side++)
		if (events[side] >= 0)
			close(events[side]);
	return ret;
}

/* ---- bpftrace ---- */

static pid_t start(const char *text)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t pid = fork();

	if (pid == 0) {
		cpu_set_t all;

		memset(&all, 0xff, sizeof(all));
		sched_setaffinity(0, sizeof(all), &all);
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		execlp("bpftrace", "bpftrace", "-q", "-e", text, NULL);
		_exit(127);
	}
	close(null);
	return pid;
}

/* The tracepoint program that the process has a descriptor of; -1: none yet. */
static int program_of(pid_t pid)
{
	char path[64], line[128];
	struct bpf_prog_info info;
	union bpf_attr attr;
	struct dirent *e;
	int fd = -1;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", pid);
	dir = opendir(path);
	while (dir && fd < 0 && (e = readdir(dir))) {
		int info_fd = openat(dirfd(dir), e->d_name, O_RDONLY | O_CLOEXEC);
		FILE *f = info_fd < 0 ? NULL : fdopen(info_fd, "r");

		while (f && fd < 0 && fgets(line, sizeof(line), f)) {
			memset(&attr, 0, sizeof(attr));
			if (sscanf(line, "prog_id:%u", &attr.prog_id) != 1)
				continue;
			fd = weft_bpf(BPF_PROG_GET_FD_BY_ID, &attr, sizeof(attr));
			memset(&info, 0, sizeof(info));
			if (fd >= 0 && (weft_bpf_program_info(fd, &info) ||
					info.type != BPF_PROG_TYPE_TRACEPOINT)) {
				close(fd);
				fd = -1;
			}
		}
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return fd;
}

int drive_bpftrace(const struct drive *d, const char *text, uint64_t n, struct turn *out)
{
	pid_t pid = start(text);
	int program = -1, status, ret = -ETIMEDOUT;
	int programs[DRIVE_SIDES] = {-1, -1};

	(void)d;
	if (pid < 0)
		return -errno;
	*out = (struct turn){0};
	for (int ms = 0; ms < PATIENCE_MS && !out->firings; ms++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return -ENOENT;
		if (program >= 0)
			close(program); /* one that bpftrace loads as a trial, perhaps */
		program = programs[0] = program_of(pid);
		if (program >= 0)
			measure(d, programs, 1, out);
		usleep(1000);
	}
	if (out->firings)
		ret = measure(d, programs, n, out);
	if (program >= 0)
		close(program);
	kill(pid, SIGINT);
	for (int ms = 0; ms < PATIENCE_MS && waitpid(pid, &status, WNOHANG) == 0; ms++)
		usleep(1000);
	if (waitpid(pid, &status, WNOHANG) == 0) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	return ret;
}

/* ---- the ring ---- */

uint64_t drive_drain(int ring)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile uint64_t *consumer, *producer;
	uint64_t bytes = 0;

	consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0);
	producer = mmap(NULL, page, PROT_READ, MAP_SHARED, ring, (off_t)page);
	if (consumer != MAP_FAILED && producer != MAP_FAILED) {
		bytes = *producer - *consumer;
		*consumer = *producer;
	}
	if (consumer != MAP_FAILED)
		munmap((void *)consumer, page);
	if (producer != MAP_FAILED)
		munmap((void *)producer, page);
	return bytes;
}
