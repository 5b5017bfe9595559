/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A probe by its record: a perf event, which by itself would be of one CPU, but whose program runs
 * wherever the call is made; the link keeps both together and carries the cookie. Raw: one link for
 * all probes of the program, of which each is told by its number.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "syscall.h"

struct weft_attachment {
	uint32_t n;
	int links[];
};

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	long fd = syscall(SYS_bpf, command, attr, sizeof(*attr));

	return fd < 0 ? -errno : (int)fd;
}

static int link_raw(bool leaves, int prog_fd)
{
	const char *name = leaves ? "sys_exit" : "sys_enter";
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = (uint64_t)(uintptr_t)name;
	attr.raw_tracepoint.prog_fd = (uint32_t)prog_fd;
	return bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
}

static int link_record(struct weft_instance *in, const struct syscall_probe *p, int prog_fd,
		       uint64_t cookie)
{
	struct perf_event_attr perf = {.type = PERF_TYPE_TRACEPOINT,
				       .size = sizeof(perf),
				       .sample_period = 1,
				       .wakeup_events = 1};
	union bpf_attr attr;
	char event[160], id[32];
	int fd, link;
	long n;

	snprintf(event, sizeof(event), "sys_%s_%s", p->leaves ? "exit" : "enter",
		 syscall_kernel_name(&p->call));
	n = tracepoint_read(in->events, "syscalls", event, "id", id, sizeof(id));
	if (n < 0)
		return (int)n;
	perf.config = strtoull(id, NULL, 10);
	fd = (int)syscall(SYS_perf_event_open, &perf, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = (uint32_t)prog_fd;
	attr.link_create.target_fd = (uint32_t)fd;
	attr.link_create.attach_type = BPF_PERF_EVENT;
	attr.link_create.perf_event.bpf_cookie = cookie;
	link = bpf(BPF_LINK_CREATE, &attr);
	close(fd); /* the link has it */
	return link;
}

static int link_probe(struct weft_instance *in, const struct weft_attach_probe *a, int prog_fd,
		      int raw[2])
{
	struct syscall_probe p;
	int ret = syscall_probe_of(in, a->probe, a->with, &p, NULL);

	if (ret)
		return ret;
	if (p.mechanism == SYSCALL_RECORD)
		return link_record(in, &p, prog_fd, a->cookie);
	if (raw[p.leaves] == -ENOENT)
		raw[p.leaves] = link_raw(p.leaves, prog_fd);
	else if (raw[p.leaves] >= 0)
		return -EALREADY; /* the link is there, with another probe */
	return raw[p.leaves];
}

static int refused(struct weft_instance *in, int code, struct weft_error *err)
{
	if (code == -EPERM || code == -EACCES)
		return in->host->fail(err, code, "SYSCALL_DENIED",
				      "the kernel refuses: system calls take root, or CAP_PERFMON, "
				      "CAP_BPF and a tracefs that may be read");
	if (in->events < 0)
		return syscall_no_events(in, in->events, err);
	return in->host->fail(err, code, "SYSCALL_ATTACH",
			      "the kernel attaches nothing to this system call: %s",
			      strerror(-code));
}

int syscall_attach(struct weft_instance *in, const struct weft_attach_request *request,
		   struct weft_attachment **out, struct weft_error *err)
{
	struct weft_attachment *at = malloc(sizeof(*at) + request->n_probes * sizeof(at->links[0]));
	int raw[2] = {-ENOENT, -ENOENT}, first = 0;

	if (!at)
		return in->host->fail(err, -ENOMEM, "SYSCALL_MEMORY", "out of memory");
	at->n = 0;
	for (uint32_t i = 0; i < request->n_probes; i++) {
		int link = link_probe(in, weft_attach_probe_at(request, i), request->prog_fd, raw);

		request->status[i] = link < 0 && link != -EALREADY ? link : 0;
		if (link >= 0)
			at->links[at->n++] = link;
		else if (!first)
			first = request->status[i];
	}
	if (at->n) {
		*out = at;
		return 0;
	}
	free(at);
	return refused(in, first, err);
}

void syscall_detach(struct weft_instance *in, struct weft_attachment *at)
{
	(void)in;
	for (uint32_t i = 0; i < at->n; i++)
		close(at->links[i]);
	free(at);
}
