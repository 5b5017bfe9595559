/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* bpf(2) by hand: the few commands needed are younger than some libbpf, and a plugin that links
 * nothing loads fastest. */
#include <errno.h>
#include <linux/bpf.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/bpf.h"
#include "support/shield.h"

#define LOAD_TRIES 5

static int sys_bpf(enum bpf_cmd cmd, void *attr, uint32_t size)
{
	long ret = syscall(SYS_bpf, cmd, attr, size);

	return ret < 0 ? -errno : (int)ret;
}

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

int support_perf_open(struct perf_event_attr *attr, int32_t pid, int cpu)
{
	attr->size = sizeof(*attr);
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

int support_perf_enable(int event_fd)
{
	return ioctl(event_fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

int support_perf_disable(int event_fd)
{
	return ioctl(event_fd, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
}

int support_perf_attach(int event_fd, int prog_fd, uint64_t cookie, bool need_cookie, int *hold)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = (uint32_t)prog_fd;
	attr.link_create.target_fd = (uint32_t)event_fd;
	attr.link_create.attach_type = BPF_PERF_EVENT;
	attr.link_create.perf_event.bpf_cookie = cookie;
	int link = sys_bpf(BPF_LINK_CREATE, &attr, sizeof(attr));
	if (link >= 0) {
		*hold = link;
		return 0;
	}
	/* A kernel that does not know such links says EINVAL; so does one that finds fault with the
	 * program, which the older way then says again. */
	if (link != -EINVAL || need_cookie)
		return link;
	if (ioctl(event_fd, PERF_EVENT_IOC_SET_BPF, prog_fd))
		return -errno;
	*hold = event_fd;
	return 0;
}

int support_raw_tracepoint_open(const char *name, int prog_fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = address(name);
	attr.raw_tracepoint.prog_fd = (uint32_t)prog_fd;
	return sys_bpf(BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr));
}

/* link_create of union bpf_attr as of 6.6; the headers this is built with end before it. */
struct uprobe_multi_link {
	struct {
		uint32_t prog_fd, target_fd, attach_type, flags;
		uint64_t path, offsets, ref_ctr_offsets, cookies;
		uint32_t count, multi_flags, pid, pad;
	} attr;
	int fd;
};

static void make_link(void *arg)
{
	struct uprobe_multi_link *l = arg;

	l->fd = sys_bpf(BPF_LINK_CREATE, &l->attr, sizeof(l->attr));
}

int support_uprobe_multi_link(int prog_fd, const struct support_uprobe_multi *what)
{
	struct uprobe_multi_link l;

	memset(&l, 0, sizeof(l));
	l.attr.prog_fd = (uint32_t)prog_fd;
	l.attr.attach_type = SUPPORT_BPF_TRACE_UPROBE_MULTI;
	l.attr.path = address(what->path);
	l.attr.offsets = address(what->offsets);
	l.attr.ref_ctr_offsets = address(what->ref_ctr_offsets);
	l.attr.cookies = address(what->cookies);
	l.attr.count = what->count;
	l.attr.multi_flags = what->flags;
	l.attr.pid = (uint32_t)what->pid;
	l.fd = -EINTR; /* of who is killed meanwhile */
	support_shielded(make_link, &l);
	return l.fd;
}

int support_kprobe_multi_link(int prog_fd, const struct support_kprobe_multi *what)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = (uint32_t)prog_fd;
	attr.link_create.attach_type = BPF_TRACE_KPROBE_MULTI;
	attr.link_create.kprobe_multi.addrs = address(what->addresses);
	attr.link_create.kprobe_multi.syms = address(what->symbols);
	attr.link_create.kprobe_multi.cookies = address(what->cookies);
	attr.link_create.kprobe_multi.cnt = what->count;
	attr.link_create.kprobe_multi.flags = what->flags;
	return sys_bpf(BPF_LINK_CREATE, &attr, sizeof(attr));
}

int support_program_load(const char *name, uint32_t type, uint32_t flags,
			 const struct bpf_insn *insns, size_t n, char *log, uint32_t log_size)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.prog_flags = flags;
	attr.insns = address(insns);
	attr.insn_cnt = (uint32_t)n;
	attr.license = address("Dual BSD/GPL");
	attr.log_buf = address(log);
	attr.log_size = log_size;
	attr.log_level = log ? 1 : 0;
	strncpy(attr.prog_name, name, sizeof(attr.prog_name) - 1);
	int fd = sys_bpf(BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd != -EAGAIN)
		return fd;
	/* The verifier gives up when a signal is waiting: then they wait for it. */
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int tries = 0; fd == -EAGAIN && tries < LOAD_TRIES; tries++)
		fd = sys_bpf(BPF_PROG_LOAD, &attr, sizeof(attr));
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return fd;
}

int support_program_run(int prog_fd, void *ctx, uint32_t size)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)prog_fd;
	attr.test.ctx_in = address(ctx);
	attr.test.ctx_size_in = size;
	return sys_bpf(BPF_PROG_TEST_RUN, &attr, sizeof(attr));
}

int support_program_misses(int prog_fd, uint64_t *out)
{
	struct bpf_prog_info info;
	union bpf_attr attr;

	memset(&info, 0, sizeof(info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)prog_fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = address(&info);
	int ret = sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr));
	*out = info.recursion_misses;
	return ret;
}

int support_map_create(const char *name, uint32_t type, uint32_t key_size, uint32_t value_size,
		       uint32_t max_entries, uint32_t flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = key_size;
	attr.value_size = value_size;
	attr.max_entries = max_entries;
	attr.map_flags = flags;
	strncpy(attr.map_name, name, sizeof(attr.map_name) - 1);
	return sys_bpf(BPF_MAP_CREATE, &attr, sizeof(attr));
}

int support_uprobe_multi_pid(int link_fd, int32_t *pid)
{
	/* struct bpf_link_info as of 6.8. */
	struct {
		uint32_t type, id, prog_id, pad;
		uint64_t path, offsets, ref_ctr_offsets, cookies;
		uint32_t path_size, count, flags, pid;
	} info;
	union bpf_attr attr;

	memset(&info, 0, sizeof(info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)link_fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = address(&info);
	int err = sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr));
	*pid = (int32_t)info.pid;
	return err;
}

int support_hash_create(const char *name, uint32_t key_size, uint32_t value_size,
			uint32_t max_entries)
{
	return support_map_create(name, BPF_MAP_TYPE_HASH, key_size, value_size, max_entries,
				  BPF_F_NO_PREALLOC);
}

int support_map_update(int map_fd, const void *key, const void *value)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map_fd;
	attr.key = address(key);
	attr.value = address(value);
	return sys_bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr));
}

int support_map_delete(int map_fd, const void *key)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map_fd;
	attr.key = address(key);
	return sys_bpf(BPF_MAP_DELETE_ELEM, &attr, sizeof(attr));
}
