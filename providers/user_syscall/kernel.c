/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Maps, programs and events: made, asked, and given up. kernel.h tells what they are for. */
#include "kernel.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "support/bpf.h"
#include "support/cpus.h"
#include "support/file.h"
#include "support/insn.h"
#include "support/tracefs.h"

#define COUNT(a)              (sizeof(a) / sizeof((a)[0]))
#define RING_BYTES            (256u << 10)
#define INITIAL_PID_NAMESPACE 0xEFFFFFFCu

static const struct {
	const char *name;
	uint32_t type, key, value, entries, flags;
} maps[US_N_MAPS] = {
	[US_PROCS] = {"us_procs", BPF_MAP_TYPE_HASH, 4, sizeof(struct us_proc),
		      0 /* as asked for */, BPF_F_NO_PREALLOC},
	[US_PROBES] = {"us_probes", BPF_MAP_TYPE_ARRAY, 4, sizeof(struct us_probe_value),
		       US_MAX_PROBES, BPF_F_MMAPABLE},
	[US_FAMILIES] = {"us_families", BPF_MAP_TYPE_ARRAY, 4, sizeof(struct us_family_value),
			 US_MAX_FAMILIES, BPF_F_MMAPABLE},
	[US_COUNTERS] = {"us_counters", BPF_MAP_TYPE_ARRAY, 4, US_N_COUNTERS * sizeof(uint64_t), 1,
			 BPF_F_MMAPABLE},
	[US_EVENT_RING] = {"us_events", BPF_MAP_TYPE_RINGBUF, 0, 0, RING_BYTES, 0},
	[US_PROGRAMS] = {"us_programs", BPF_MAP_TYPE_PROG_ARRAY, 4, 4, US_MAX_PROGRAMS, 0},
	[US_COOKIE] = {"us_cookie", BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 1, 0},
};

static const struct {
	const char *name;
	uint32_t type, flags;
} programs[US_N_PROGRAMS] = {
	[US_DISPATCH] = {"us_dispatch", BPF_PROG_TYPE_TRACEPOINT, 0},
	[US_FORK] = {"us_fork", BPF_PROG_TYPE_RAW_TRACEPOINT, 0},
	[US_EXEC] = {"us_exec", BPF_PROG_TYPE_RAW_TRACEPOINT, 0},
	[US_EXIT] = {"us_exit", BPF_PROG_TYPE_RAW_TRACEPOINT, 0},
	[US_SET_PROC] = {"us_set_proc", BPF_PROG_TYPE_SYSCALL, BPF_F_SLEEPABLE},
	[US_DEL_PROC] = {"us_del_proc", BPF_PROG_TYPE_SYSCALL, BPF_F_SLEEPABLE},
};

void us_kernel_init(struct us_kernel *k, const struct weft_host *host, uint64_t rate,
		    uint32_t processes, enum us_mechanism mechanism)
{
	struct timespec tick;

	memset(k, 0, sizeof(*k));
	memset(k->maps, -1, sizeof(k->maps));
	memset(k->programs, -1, sizeof(k->programs));
	memset(k->holds, -1, sizeof(k->holds));
	k->host = host;
	k->mechanism = mechanism;
	k->processes = processes;
	k->tick_ns = !clock_getres(CLOCK_MONOTONIC_COARSE, &tick) && tick.tv_nsec
			     ? (uint32_t)tick.tv_nsec
			     : 4000000;
	k->step_ns = rate ? (uint32_t)(1000000000 / rate) : 0;
}

static int make_map(struct us_kernel *k, enum us_map m)
{
	if (k->maps[m] < 0)
		k->maps[m] = support_map_create(
			maps[m].name, maps[m].type, maps[m].key, maps[m].value,
			m == US_PROCS ? k->processes : maps[m].entries, maps[m].flags);
	return k->maps[m] < 0 ? k->maps[m] : 0;
}

int us_kernel_cookie(struct us_kernel *k)
{
	make_map(k, US_COOKIE);
	return k->maps[US_COOKIE];
}

static int fail(struct us_kernel *k, int code, const char *what, struct weft_error *err)
{
	static const struct {
		int code;
		const char *why;
	} reasons[] = {
		{-EPERM, "it takes root, or CAP_BPF, CAP_PERFMON and access to tracefs"},
		{-EACCES, "it takes root, or CAP_BPF, CAP_PERFMON and access to tracefs"},
		{-ENODEV, "tracefs cannot be mounted (`mechanism: raw` does without)"},
		{-ENOENT,
		 "this kernel has no tracepoint of getpid alone (`mechanism: raw` does without)"},
	};

	for (size_t i = 0; i < COUNT(reasons); i++)
		if (reasons[i].code == code)
			return k->host->fail(err, code, "USER_SYSCALL_ATTACH", "%s: %s", what,
					     reasons[i].why);
	return k->host->fail(err, code, "USER_SYSCALL_ATTACH", "%s: %s", what, strerror(-code));
}

static void *map_memory(int fd, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, (size + page - 1) & ~(page - 1), PROT_READ | PROT_WRITE, MAP_SHARED,
		       fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void unmap_memory(void *p, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (p)
		munmap(p, (size + page - 1) & ~(page - 1));
}

static int make_maps(struct us_kernel *k, struct weft_error *err)
{
	for (int m = 0; m < US_N_MAPS; m++) {
		int ret = make_map(k, (enum us_map)m);

		if (ret)
			return fail(k, ret, "a map of its own cannot be made", err);
	}
	k->families = map_memory(k->maps[US_FAMILIES], US_MAX_FAMILIES * sizeof(*k->families));
	k->probes = map_memory(k->maps[US_PROBES], US_MAX_PROBES * sizeof(*k->probes));
	k->counters = map_memory(k->maps[US_COUNTERS], US_N_COUNTERS * sizeof(uint64_t));
	if (!k->families || !k->probes || !k->counters)
		return fail(k, -ENOMEM, "a map of its own cannot be mapped", err);
	return 0;
}

static int load(struct us_kernel *k, enum us_program p, struct weft_error *err)
{
	struct support_program what = {
		.name = programs[p].name, .type = programs[p].type, .flags = programs[p].flags};
	struct support_code *code = calloc(1, sizeof(*code));
	int fd;

	if (!code)
		return k->host->fail(err, -ENOMEM, "NO_MEMORY", "out of memory");
	if (p == US_DISPATCH && k->mechanism == US_RAW)
		what.type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	us_programs[p](k, code);
	fd = support_code_load(code, &what);
	free(code);
	if (fd < 0) {
		k->host->context(err, "the program is %s", what.name);
		return fail(k, fd, "a program of its own cannot be loaded", err);
	}
	k->programs[p] = fd;
	return 0;
}

/* The event of one system call's entry. One event is enough: its program runs on every CPU. */
static int hold_tracepoint(struct us_kernel *k)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .sample_period = 1};
	struct support_cpus online;
	uint64_t id = 0;
	int hold = -1;

	int ret = support_tracefs_mount();
	if (!ret)
		ret = support_tracepoint_id("syscalls", "sys_enter_getpid", &id);
	if (!ret)
		ret = support_cpus_online(&online);
	if (ret)
		return ret;
	attr.config = id;
	int fd = support_perf_open(&attr, -1, support_cpus_next(&online, 0));
	if (fd < 0)
		return fd;
	ret = support_perf_attach(fd, k->programs[US_DISPATCH], 0, false, &hold);
	if (!ret)
		ret = support_perf_enable(fd);
	if (hold != fd)
		close(fd);
	if (ret)
		support_close(hold);
	return ret ? ret : hold;
}

static int hold_all(struct us_kernel *k, struct weft_error *err)
{
	static const struct {
		enum us_program program;
		const char *tracepoint;
	} raw[] = {{US_FORK, "sched_process_fork"},
		   {US_EXEC, "sched_process_exec"},
		   {US_EXIT, "sched_process_exit"}};

	for (size_t i = 0; i < COUNT(raw); i++) {
		k->holds[i] =
			support_raw_tracepoint_open(raw[i].tracepoint, k->programs[raw[i].program]);
		if (k->holds[i] < 0)
			return fail(k, k->holds[i], "the life of processes cannot be followed", err);
	}
	k->holds[3] = k->mechanism == US_RAW
			      ? support_raw_tracepoint_open("sys_enter", k->programs[US_DISPATCH])
			      : hold_tracepoint(k);
	if (k->holds[3] < 0)
		return fail(k, k->holds[3], "the system call getpid cannot be watched", err);
	return 0;
}

static int check_pid_namespace(struct us_kernel *k, struct weft_error *err)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino == INITIAL_PID_NAMESPACE)
		return 0;
	return k->host->fail(err, -EINVAL, "USER_SYSCALL_PIDNS",
			     "user-syscall has to be traced from the initial pid namespace: the "
			     "kernel tells who calls by the numbers that are used there");
}

static void give_up(struct us_kernel *k)
{
	for (size_t i = COUNT(k->holds); i-- > 0;)
		k->holds[i] = support_close(k->holds[i]);
	for (size_t i = 0; i < US_N_PROGRAMS; i++)
		k->programs[i] = support_close(k->programs[i]);
	unmap_memory(k->families, US_MAX_FAMILIES * sizeof(*k->families));
	unmap_memory(k->probes, US_MAX_PROBES * sizeof(*k->probes));
	unmap_memory(k->counters, US_N_COUNTERS * sizeof(uint64_t));
	k->families = NULL;
	k->probes = NULL;
	k->counters = NULL;
	memset(k->owners, 0, sizeof(k->owners));
	for (size_t i = 0; i < US_N_MAPS; i++)
		if (i != US_COOKIE) /* programs may be compiled with it: close() has it */
			k->maps[i] = support_close(k->maps[i]);
}

int us_kernel_attach(struct us_kernel *k, struct weft_error *err)
{
	static const char *const paths[] = {"task_struct.tgid", "task_struct.pid",
					    "task_struct.signal", "signal_struct.live"};
	int ret;

	if (k->attached)
		return 0;
	ret = check_pid_namespace(k, err);
	if (!ret)
		ret = k->host->kernel_members(k->host, paths, COUNT(paths), &k->offsets.tgid, err);
	if (!ret)
		ret = make_maps(k, err);
	for (int p = 0; !ret && p < US_N_PROGRAMS; p++)
		ret = load(k, (enum us_program)p, err);
	if (!ret)
		ret = hold_all(k, err);
	if (ret)
		give_up(k);
	k->attached = !ret;
	return ret;
}

void us_kernel_detach(struct us_kernel *k)
{
	give_up(k);
	k->attached = false;
}

void us_kernel_finish(struct us_kernel *k)
{
	us_kernel_detach(k);
	k->maps[US_COOKIE] = support_close(k->maps[US_COOKIE]);
}

/* ---- requests ---- */

int us_kernel_set_proc(struct us_kernel *k, uint32_t tgid, uint32_t number, uint32_t family,
		       uint64_t *missed)
{
	struct us_set_proc request = {.tgid = tgid,
				      .pair = {.number1 = number + 1, .family = family}};
	int ret = support_program_run(k->programs[US_SET_PROC], &request, sizeof(request));

	*missed = request.missed;
	return ret < 0 ? ret : request.result;
}

int us_kernel_look(struct us_kernel *k, uint32_t tgid, enum us_news news)
{
	struct us_set_proc request = {.tgid = tgid, .news = news};
	int ret = support_program_run(k->programs[US_SET_PROC], &request, sizeof(request));

	return ret < 0 ? ret : request.result;
}

int us_kernel_forget(struct us_kernel *k, uint32_t tgid)
{
	struct us_set_proc request = {.tgid = tgid};

	return support_program_run(k->programs[US_DEL_PROC], &request, sizeof(request));
}

int us_kernel_set_program(struct us_kernel *k, uint32_t slot, int prog_fd)
{
	return support_map_update(k->maps[US_PROGRAMS], &slot, &prog_fd);
}

void us_kernel_del_program(struct us_kernel *k, uint32_t slot)
{
	if (k->maps[US_PROGRAMS] >= 0)
		support_map_delete(k->maps[US_PROGRAMS], &slot);
}

uint64_t us_kernel_misses(const struct us_kernel *k)
{
	uint64_t sum = 0, n;

	for (int p = US_DISPATCH; p <= US_EXIT; p++)
		if (k->programs[p] >= 0 && !support_program_misses(k->programs[p], &n))
			sum += n;
	return sum;
}
