/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * kprobes, one by one: a perf event of the kernel's kprobe unit, on which the program hangs by a
 * link with a cookie. The event belongs to one CPU by its form, but the kernel runs the program
 * wherever the probe fires; nothing is made in tracefs, and all is gone with the descriptor.
 *
 * Each takes the kernel milliseconds (it waits for all CPUs), which makes thousands take minutes:
 * beyond `limit` the first few are timed, and the rest is refused with what it would take.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "fbt.h"
#include "support/bpf.h"
#include "support/file.h"

#define UNIT  "/sys/bus/event_source/devices/kprobe/"
#define TIMED 4u

/* The number of the bit that makes it a return probe: "config:0". */
static uint64_t return_bit(void)
{
	char text[32];

	if (support_read_text(UNIT "format/retprobe", text, sizeof(text)) < 8 ||
	    strncmp(text, "config:", 7))
		return 1;
	return UINT64_C(1) << (strtoul(text + 7, NULL, 10) & 63);
}

int weft_fbt_kprobe(int prog_fd, const char *symbol, uint64_t address, bool is_return,
		    uint64_t cookie)
{
	struct perf_event_attr attr = {.sample_period = 1, .wakeup_events = 1};
	uint64_t type;
	int fd, link, ret;

	if (support_read_u64(UNIT "type", &type))
		return -EOPNOTSUPP;
	attr.type = (uint32_t)type;
	if (is_return)
		attr.config |= return_bit();
	if (address)
		attr.kprobe_addr = address;
	else
		attr.kprobe_func = (uint64_t)(uintptr_t)symbol;
	fd = support_perf_open(&attr, -1, 0);
	if (fd < 0)
		return fd;
	ret = support_perf_attach(fd, prog_fd, cookie, true, &link);
	close(fd);
	return ret ? ret : link;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int attach_one(struct weft_instance *in, const struct weft_attach_request *request,
		      uint32_t i, struct weft_attachment *at)
{
	const struct weft_attach_probe *p = weft_attach_probe_at(request, i);
	const struct weft_fbt_function *f;
	bool is_return;
	int link;

	f = weft_fbt_function_of(in, p->probe, &is_return);
	link = weft_fbt_kprobe(request->prog_fd, weft_fbt_text(in, f->name), f->address, is_return,
			       p->cookie);
	return link < 0 ? link : weft_fbt_keep(at, link);
}

/* Refuses what would take too long, with the time that a few took. */
static int refuse(struct weft_instance *in, const struct weft_attach_request *request,
		  uint64_t limit, struct weft_error *err)
{
	struct weft_attachment few = {.mechanism = WEFT_FBT_KPROBE};
	uint64_t start = now_ns(), seconds;

	for (uint32_t i = 0; i < TIMED; i++)
		attach_one(in, request, i, &few);
	for (size_t i = 0; i < few.n_links; i++)
		close(few.links[i]);
	free(few.links);
	seconds = (now_ns() - start) / TIMED * request->n_probes / 1000000000u + 1;
	return in->host->fail(
		err, -E2BIG, "FBT_TOO_MANY",
		"%u functions would be attached one by one, which takes about %llu s on this kernel "
		"(no kprobe_multi); name fewer, or raise providers: {fbt: {limit: %u}} from %llu",
		request->n_probes, (unsigned long long)seconds, request->n_probes,
		(unsigned long long)limit);
}

/* A link is a descriptor. */
static void raise_descriptors(uint32_t n)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) || r.rlim_cur >= n + 256u || r.rlim_cur == r.rlim_max)
		return;
	r.rlim_cur = r.rlim_max < n + 256u ? r.rlim_max : n + 256u;
	setrlimit(RLIMIT_NOFILE, &r);
}

int weft_fbt_attach_kprobes(struct weft_instance *in, const struct weft_attach_request *request,
			    struct weft_attachment *at, struct weft_error *err)
{
	int64_t limit = in->host->param_int(in->params, "limit");

	if (request->n_probes > limit)
		return refuse(in, request, (uint64_t)limit, err);
	raise_descriptors(request->n_probes);
	for (uint32_t i = 0; i < request->n_probes; i++) {
		request->status[i] = attach_one(in, request, i, at);
		if (request->status[i] == -EMFILE)
			return in->host->fail(err, -EMFILE, "FBT_DESCRIPTORS",
					      "%u probes take a file descriptor each; raise the "
					      "limit (ulimit -n)",
					      request->n_probes);
	}
	return 0;
}
