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

static const char id_path[] = "/sys/kernel/tracing/events/syscalls/sys_enter_ioprio_set/id";

int drive_init(struct drive *d)
{
	union bpf_attr attr;
	cpu_set_t set;
	FILE *f = fopen(id_path, "re");
	int cpu;

	if (!f || fscanf(f, "%u", &d->event) != 1) {
		fprintf(stderr, "%s: %s\n", id_path, strerror(errno));
		return -ENOENT;
	}
	fclose(f);
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

static __attribute__((noinline)) uint64_t call(int depth, uint64_t n)
{
	uint64_t done = 0;

	if (depth)
		done = call(depth - 1, n);
	else
		for (; done < n; done++)
			syscall(SYS_ioprio_set, WHICH, WHO, done);
	__asm__ volatile("" : "+r"(done)); /* not a tail call */
	return done;
}

static int attach(const struct drive *d, int program)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = d->event};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
		close(fd);
		return -errno;
	}
	return fd;
}

static int measure(int program, uint64_t n, struct turn *out)
{
	struct bpf_prog_info before, after;
	int ret;

	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	ret = weft_bpf_program_info(program, &before);
	call(DEPTH, n);
	if (!ret)
		ret = weft_bpf_program_info(program, &after);
	out->firings = after.run_cnt - before.run_cnt;
	if (out->firings)
		out->ns = (double)(after.run_time_ns - before.run_time_ns) / (double)out->firings;
	return ret;
}

int drive_turn(const struct drive *d, int program, uint64_t n, struct turn *out)
{
	int event = attach(d, program), ret;

	if (event < 0)
		return event;
	ret = measure(program, n, out);
	close(event);
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

	(void)d;
	if (pid < 0)
		return -errno;
	*out = (struct turn){0};
	for (int ms = 0; ms < PATIENCE_MS && !out->firings; ms++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return -ENOENT;
		if (program >= 0)
			close(program); /* one that bpftrace loads as a trial, perhaps */
		program = program_of(pid);
		if (program >= 0)
			measure(program, 1, out);
		usleep(1000);
	}
	if (out->firings)
		ret = measure(program, n, out);
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
