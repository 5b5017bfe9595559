/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The kernel's events. Places of one kind in one file go into one link, for each process that it is
 * for. The kernel takes all places of a link or none: where it refuses, the list is halved until
 * what is refused stands alone, so that one bad place costs a few links more and no other probe.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/bpf.h"
#include "support/cpus.h"
#include "uprobe.h"

#define KERNEL_ENOTSUPP 524 /* which no library has a name for */

static int keep(struct weft_attachment *at, int fd)
{
	if (weft_uprobe_grow(&at->fds, &at->cap_fds, at->n_fds, sizeof(*at->fds))) {
		close(fd);
		return -ENOMEM;
	}
	at->fds[at->n_fds++] = fd;
	return 0;
}

struct batch {
	struct weft_instance *in;
	struct weft_attachment *at;
	char path[48];
	int32_t pid; /* 0: everyone */
	uint64_t *offsets, *cookies;
};

/* ---- links ---- */

static void link_range(const struct batch *b, struct weft_uprobe_place_at *places, size_t n)
{
	const struct support_uprobe_multi what = {
		.path = b->path,
		.offsets = b->offsets,
		.cookies = b->cookies,
		.count = (uint32_t)n,
		.flags = places[0].is_return ? SUPPORT_UPROBE_MULTI_RETURN : 0,
		.pid = b->pid,
	};
	int fd = support_uprobe_multi_link(b->at->prog_fd, &what);

	if (fd >= 0)
		fd = keep(b->at, fd);
	if (!fd)
		return;
	/* A process that has ended, a program that the kernel does not take: no place is at fault. */
	if (fd == -KERNEL_ENOTSUPP)
		fd = -EOPNOTSUPP;
	if (n == 1 || fd == -ESRCH || fd == -ENOMEM || fd == -EPERM || fd == -EMFILE) {
		for (size_t i = 0; i < n; i++)
			places[i].error = fd;
		return;
	}
	struct batch rest = *b;
	link_range(b, places, n / 2);
	rest.offsets += n / 2;
	rest.cookies += n / 2;
	link_range(&rest, places + n / 2, n - n / 2);
}

/* ---- events ---- */

static int perf_event(const struct batch *b, const struct weft_uprobe_place_at *place)
{
	struct perf_event_attr attr = {
		.type = (uint32_t)b->in->perf_type,
		.config = place->is_return, /* bit 0: a return probe */
		.uprobe_path = (uint64_t)(uintptr_t)b->path,
		.probe_offset = place->offset,
	};
	struct support_cpus online;
	int hold, cpu = 0;

	if (!b->in->perf_type)
		return -ENODEV;
	/* An event on one CPU runs its program on all: it is called before the CPU is looked at. */
	if (!support_cpus_online(&online))
		cpu = support_cpus_next(&online, 0);
	int fd = support_perf_open(&attr, b->pid ? b->pid : -1, b->pid ? -1 : cpu);
	if (fd < 0)
		return fd == -KERNEL_ENOTSUPP ? -EOPNOTSUPP : fd;
	int err = support_perf_attach(fd, b->at->prog_fd, place->cookie, true, &hold);
	close(fd);
	return err ? err : keep(b->at, hold);
}

/* Each event takes a descriptor: as many as may be are asked for. */
static void raise_limit(size_t n)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= limit.rlim_max ||
	    limit.rlim_cur > n + 256)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* ---- all of them ---- */

static int compare(const void *a, const void *b)
{
	const struct weft_uprobe_place_at *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->is_return != y->is_return)
		return x->is_return ? 1 : -1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->cookie < y->cookie ? -1 : x->cookie > y->cookie;
}

static void make_for(const struct batch *b, struct weft_uprobe_place_at *places, size_t n)
{
	if (b->in->mechanism == WEFT_UPROBE_MULTI) {
		link_range(b, places, n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		int err = perf_event(b, &places[i]);
		if (err)
			places[i].error = err;
	}
}

/* Places of one kind in one file. Where the events are for some processes, one that has ended
 * meanwhile does not count. */
static void make_alike(struct batch *b, struct weft_uprobe_place_at *places, size_t n)
{
	const struct weft_target *target = b->in->host->target(b->in->host);
	bool any = false;

	snprintf(b->path, sizeof(b->path), "/proc/self/fd/%d", places[0].file->fd);
	for (size_t i = 0; i < n; i++) {
		b->offsets[i] = places[i].offset;
		b->cookies[i] = places[i].cookie;
	}
	/* Of several events on one place, one for each process, kernels before 6.13 run all when a
	 * function of any of the processes returns. */
	if (!weft_uprobe_filtered(b->in) ||
	    (b->in->mechanism == WEFT_UPROBE_PERF && target->n_pids > 1)) {
		b->pid = 0;
		make_for(b, places, n);
		return;
	}
	for (uint32_t k = 0; k < target->n_pids; k++) {
		b->pid = target->pids[k];
		make_for(b, places, n);
		if (places[0].error == -ESRCH)
			for (size_t i = 0; i < n; i++)
				places[i].error = 0;
		else
			any = true;
	}
	for (size_t i = 0; i < n && !any; i++)
		places[i].error = -ESRCH;
}

int weft_uprobe_events_make(struct weft_instance *in, struct weft_attachment *at,
			    struct weft_uprobe_place_at *places, size_t n)
{
	struct batch b = {.in = in, .at = at};
	size_t from, to;

	/* What has an error already is none of the kernel's business; it goes behind the rest. */
	for (from = to = 0; from < n; from++) {
		if (places[from].error)
			continue;
		struct weft_uprobe_place_at good = places[from];
		places[from] = places[to];
		places[to++] = good;
	}
	n = to;
	weft_uprobe_settle_mechanism(in);
	if (!n)
		return 0;
	if (in->mechanism == WEFT_UPROBE_PERF)
		raise_limit(n);
	qsort(places, n, sizeof(*places), compare);
	uint64_t *words = calloc(2 * n, sizeof(*words));
	if (!words)
		return -ENOMEM;
	for (from = 0; from < n; from = to) {
		for (to = from + 1; to < n && places[to].file == places[from].file &&
				    places[to].is_return == places[from].is_return;)
			to++;
		b.offsets = words;
		b.cookies = words + n;
		make_alike(&b, places + from, to - from);
	}
	free(words);
	return 0;
}
