/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A tracepoint's record: a perf event, which by itself would be of one CPU, but whose program runs
 * wherever the tracepoint is passed; the link keeps both together and carries the cookie. Raw: a
 * link on the tracepoint's name. One descriptor a probe either way.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracepoint.h"

struct weft_attachment {
	uint32_t n;
	int links[];
};

static long bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	long fd = syscall(SYS_bpf, command, attr, sizeof(*attr));

	return fd < 0 ? -errno : fd;
}

static int link_raw(const char *event, int prog_fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = (uint64_t)(uintptr_t)event;
	attr.raw_tracepoint.prog_fd = (uint32_t)prog_fd;
	return (int)bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
}

static int link_record(struct weft_instance *in, const char *category, const char *event,
		       int prog_fd, uint64_t cookie)
{
	struct perf_event_attr perf = {.type = PERF_TYPE_TRACEPOINT,
				       .size = sizeof(perf),
				       .sample_period = 1,
				       .wakeup_events = 1};
	union bpf_attr attr;
	char id[32];
	long n = tracepoint_read(in->events, category, event, "id", id, sizeof(id));
	int fd, link;

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
	link = (int)bpf(BPF_LINK_CREATE, &attr);
	close(fd); /* the link has it */
	return link;
}

bool tracepoint_is_raw(const struct weft_instance *in, const struct weft_probe_desc *desc,
		       const struct weft_params *with)
{
	const struct tracepoint_life *life =
		strcmp(desc->module, PROCESS_MODULE) ? NULL : tracepoint_life_of(desc->name);

	return life ? life->raw : in->host->param_int(with, "raw") != 0;
}

static int link_probe(struct weft_instance *in, const struct weft_attach_probe *p, int prog_fd)
{
	struct weft_probe_desc d = {.struct_size = sizeof(d)};
	const struct tracepoint_life *life;
	const char *category, *event;

	in->host->probe_desc(p->probe, &d);
	life = strcmp(d.module, PROCESS_MODULE) ? NULL : tracepoint_life_of(d.name);
	category = life ? life->category : d.module;
	event = life ? life->event : d.name;
	if (tracepoint_is_raw(in, &d, p->with))
		return link_raw(event, prog_fd);
	return link_record(in, category, event, prog_fd, p->cookie);
}

int tracepoint_attach(struct weft_instance *in, const struct weft_attach_request *request,
		      struct weft_attachment **out, struct weft_error *err)
{
	struct weft_attachment *at = malloc(sizeof(*at) + request->n_probes * sizeof(at->links[0]));
	int first = 0;

	if (!at)
		return in->host->fail(err, -ENOMEM, "TRACEPOINT_MEMORY", "out of memory");
	at->n = 0;
	for (uint32_t i = 0; i < request->n_probes; i++) {
		const struct weft_attach_probe *p = weft_attach_probe_at(request, i);
		int link = link_probe(in, p, request->prog_fd);

		request->status[i] = link < 0 ? link : 0;
		if (link >= 0)
			at->links[at->n++] = link;
		else if (!first)
			first = link;
	}
	if (at->n) {
		*out = at;
		return 0;
	}
	free(at);
	if (first == -EPERM || first == -EACCES)
		return in->host->fail(err, first, "TRACEPOINT_DENIED",
				      "the kernel refuses: tracepoints take root, or CAP_PERFMON and "
				      "CAP_BPF");
	if (first == -EEXIST)
		return in->host->fail(err, first, "TRACEPOINT_TWICE",
				      "a program is attached to a tracepoint once");
	return in->host->fail(err, first, "TRACEPOINT_ATTACH",
			      "the kernel attaches nothing to this tracepoint: %s",
			      strerror(-first));
}

void tracepoint_detach(struct weft_instance *in, struct weft_attachment *at)
{
	(void)in;
	for (uint32_t i = 0; i < at->n; i++)
		close(at->links[i]);
	free(at);
}
