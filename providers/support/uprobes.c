/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Places of one kind in one file go into one link, for each process that it is for. The kernel
 * takes all places of a link or none: where it refuses, the list is halved until what is refused
 * stands alone, so that one bad place costs a few links more and no other probe.
 *
 * A program on a link wants an expected attach type of its own, which kernels before 6.6 load and
 * do not link. So links are tried, on "/": a kernel that has them says EBADF, since that is no
 * file, one that has not says EINVAL. A filter by process was one by thread before 6.10, which
 * would lose firings; the fix came with a check of the number, so that on "/" and process -1 EINVAL
 * says that the filter is right and EBADF that it is not. Nothing comes into being that way.
 */
#include "support/uprobes.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/bpf.h"
#include "support/cpus.h"
#include "support/file.h"
#include "support/shield.h"

#define PERF_TYPE          "/sys/bus/event_source/devices/uprobe/type"
#define KERNEL_ENOTSUPP    524 /* which no library has a name for */
#define PERF_REF_CTR_SHIFT 32 /* in config: where /sys/.../format/ref_ctr_offset says, since 4.20 */

/* ---- what it takes ---- */

static const struct weft_capability_spec reading = {
	.struct_size = sizeof(reading),
	.capability = CAP_DAC_READ_SEARCH,
	.what_for = "files that only others may read",
};
static const struct weft_capability_spec looking = {
	.struct_size = sizeof(looking),
	.capability = CAP_SYS_PTRACE,
	.what_for = "processes of others, and their containers",
};
static const struct weft_capability_spec reviving = {
	.struct_size = sizeof(reviving),
	.capability = CAP_CHECKPOINT_RESTORE,
	.what_for = "files that were deleted and still run",
};
const struct weft_capability_spec *const support_uprobe_capabilities[] = {&reading, &looking,
									  &reviving, NULL};

/* ---- what there is ---- */

static int try_link(int prog, int32_t pid)
{
	static const uint64_t offset = 1, cookie;
	const struct support_uprobe_multi what = {
		.path = "/", .offsets = &offset, .cookies = &cookie, .count = 1, .pid = pid};
	int fd = support_uprobe_multi_link(prog, &what);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void try_links(struct support_uprobes *u)
{
	struct weft_load_class load;

	u->way = SUPPORT_UPROBE_LINKS;
	u->pid_filter = true;
	support_uprobes_class(u, &load);
	int prog = u->host->trial_program(u->host, &load, NULL);
	/* Without the privilege to try nothing will be attached either: any answer does. */
	if (prog < 0)
		return;
	u->way = try_link(prog, 0) == -EBADF ? SUPPORT_UPROBE_LINKS : SUPPORT_UPROBE_EVENTS;
	u->pid_filter = u->way == SUPPORT_UPROBE_EVENTS || try_link(prog, -1) == -EINVAL;
	close(prog);
}

void support_uprobes_settle(struct support_uprobes *u, const struct weft_host *host,
			    bool events_only)
{
	if (u->way != SUPPORT_UPROBE_UNKNOWN)
		return;
	u->host = host;
	u->way = SUPPORT_UPROBE_EVENTS;
	u->pid_filter = true;
	if (!events_only)
		try_links(u);
	if (u->way == SUPPORT_UPROBE_EVENTS && support_read_u64(PERF_TYPE, &u->perf_type))
		u->perf_type = 0; /* attaching says so */
}

void support_uprobes_class(const struct support_uprobes *u, struct weft_load_class *out)
{
	*out = (struct weft_load_class){
		.struct_size = sizeof(*out),
		.prog_type = BPF_PROG_TYPE_KPROBE,
		.expected_attach_type =
			u->way == SUPPORT_UPROBE_LINKS ? SUPPORT_BPF_TRACE_UPROBE_MULTI : 0,
		.flags = WEFT_LOAD_COOKIE | WEFT_LOAD_SLEEPABLE,
		.ctx_kind = WEFT_CTX_REGS,
	};
}

bool support_uprobes_filtered(const struct support_uprobes *u)
{
	const struct weft_target *t = u->host->target(u->host);
	bool some = t->n_pids != 0;

	if (t->struct_size >= offsetof(struct weft_target, command) + sizeof(t->command))
		some |= t->command != NULL;
	return some && !t->follow && u->pid_filter;
}

/* ---- descriptors ---- */

static int reserve(struct support_fds *fds, size_t n)
{
	size_t cap = fds->cap ? fds->cap : 8;

	while (cap < fds->n + n)
		cap *= 2;
	if (cap == fds->cap)
		return 0;
	struct support_fd *grown = reallocarray(fds->at, cap, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	fds->at = grown;
	fds->cap = cap;
	return 0;
}

static void keep(struct support_fds *fds, int fd, int32_t pid)
{
	fds->at[fds->n++] = (struct support_fd){.fd = fd, .pid = pid};
}

void support_fds_close(struct support_fds *fds)
{
	for (size_t i = 0; i < fds->n; i++)
		support_shielded_close(fds->at[i].fd);
	free(fds->at);
	*fds = (struct support_fds){0};
}

static bool is_alive(int32_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return !access(path, F_OK);
}

static bool is_for_nobody(const struct support_fd *fd)
{
	int32_t now;

	/* A process that has ended lost nothing. */
	return fd->pid && !support_uprobe_multi_pid(fd->fd, &now) && !now && is_alive(fd->pid);
}

bool support_fds_lost(const struct support_uprobes *u, struct support_fds *fds, int32_t *pid)
{
	*pid = 0;
	if (u->way != SUPPORT_UPROBE_LINKS)
		return false;
	for (size_t i = fds->n; i-- > 0;) {
		if ((*pid && fds->at[i].pid != *pid) || !is_for_nobody(&fds->at[i]))
			continue;
		*pid = fds->at[i].pid;
		support_shielded_close(fds->at[i].fd);
		fds->at[i] = fds->at[--fds->n];
	}
	return *pid != 0;
}

/* ---- links ---- */

struct batch {
	const struct support_uprobes *u;
	struct support_fds *out;
	int prog_fd;
	char path[48];
	int32_t pid; /* 0: everyone */
	uint64_t *offsets, *semaphores, *cookies;
};

static void link_range(const struct batch *b, struct support_place *places, size_t n)
{
	const struct support_uprobe_multi what = {
		.path = b->path,
		.offsets = b->offsets,
		.ref_ctr_offsets = b->semaphores,
		.cookies = b->cookies,
		.count = (uint32_t)n,
		.flags = places[0].is_return ? SUPPORT_UPROBE_MULTI_RETURN : 0,
		.pid = b->pid,
	};
	int fd = reserve(b->out, 1);

	if (!fd)
		fd = support_uprobe_multi_link(b->prog_fd, &what);
	if (fd >= 0) {
		keep(b->out, fd, b->pid);
		return;
	}
	if (fd == -KERNEL_ENOTSUPP)
		fd = -EOPNOTSUPP;
	/* A process that has ended, a program that the kernel does not take: no place is at fault. */
	if (n == 1 || fd == -ESRCH || fd == -ENOMEM || fd == -EPERM || fd == -EMFILE ||
	    fd == -EINTR) {
		for (size_t i = 0; i < n; i++)
			places[i].error = fd;
		return;
	}
	struct batch rest = *b;
	link_range(b, places, n / 2);
	rest.offsets += n / 2;
	rest.semaphores += n / 2;
	rest.cookies += n / 2;
	link_range(&rest, places + n / 2, n - n / 2);
}

/* ---- events ---- */

struct event {
	const struct batch *b;
	struct support_place *place;
	int cpu, error;
};

static int open_event(const struct event *e)
{
	const struct batch *b = e->b;
	const struct support_place *place = e->place;
	struct perf_event_attr attr = {
		.type = (uint32_t)b->u->perf_type,
		/* bit 0: a return probe */
		.config = (uint64_t)place->is_return | place->semaphore << PERF_REF_CTR_SHIFT,
		.uprobe_path = (uint64_t)(uintptr_t)b->path,
		.probe_offset = place->offset,
	};
	int hold;

	if (!b->u->perf_type)
		return -ENODEV;
	if (place->semaphore >> PERF_REF_CTR_SHIFT)
		return -EFBIG;
	int fd = support_perf_open(&attr, b->pid ? b->pid : -1, b->pid ? -1 : e->cpu);
	if (fd < 0)
		return fd == -KERNEL_ENOTSUPP ? -EOPNOTSUPP : fd;
	int err = support_perf_attach(fd, b->prog_fd, place->cookie, true, &hold);
	syscall(SYS_close, fd);
	if (!err)
		keep(b->out, hold, b->pid);
	return err;
}

static void make_event(void *arg)
{
	struct event *e = arg;

	e->error = open_event(e);
}

static void make_events(const struct batch *b, struct support_place *places, size_t n)
{
	const bool no_memory = reserve(b->out, n);
	struct event e = {.b = b};
	struct support_cpus online;

	/* An event on one CPU runs its program on all: it is called before the CPU is looked at. */
	if (!support_cpus_online(&online))
		e.cpu = support_cpus_next(&online, 0);
	for (size_t i = 0; i < n; i++) {
		e.place = &places[i];
		e.error = no_memory ? -ENOMEM : -EINTR; /* of who is killed meanwhile */
		if (!no_memory)
			support_shielded(make_event, &e);
		if (e.error)
			e.place->error = e.error;
	}
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
	const struct support_place *x = a, *y = b;

	if (x->fd != y->fd)
		return x->fd < y->fd ? -1 : 1;
	if (x->is_return != y->is_return)
		return x->is_return ? 1 : -1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->cookie < y->cookie ? -1 : x->cookie > y->cookie;
}

static void make_for(const struct batch *b, struct support_place *places, size_t n)
{
	if (b->u->way == SUPPORT_UPROBE_LINKS)
		link_range(b, places, n);
	else
		make_events(b, places, n);
}

/* Places of one kind in one file. Where the events are for some processes, one that has ended
 * meanwhile does not count. */
static void make_alike(struct batch *b, struct support_place *places, size_t n)
{
	const struct weft_target *target = b->u->host->target(b->u->host);
	bool any = false;

	snprintf(b->path, sizeof(b->path), "/proc/self/fd/%d", places[0].fd);
	for (size_t i = 0; i < n; i++) {
		b->offsets[i] = places[i].offset;
		b->semaphores[i] = places[i].semaphore;
		b->cookies[i] = places[i].cookie;
	}
	/* Of several events on one place, one for each process, kernels before 6.13 run all when a
	 * function of any of the processes returns. */
	if (!support_uprobes_filtered(b->u) ||
	    (b->u->way == SUPPORT_UPROBE_EVENTS && target->n_pids > 1)) {
		b->pid = 0;
		make_for(b, places, n);
		return;
	}
	for (uint32_t k = 0; k < target->n_pids; k++) {
		b->pid = target->pids[k];
		if (b->u->only && b->u->only != b->pid)
			continue;
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

/* What has an error already is none of the kernel's business. */
static size_t good_first(struct support_place *places, size_t n)
{
	size_t good = 0;

	for (size_t i = 0; i < n; i++) {
		if (places[i].error)
			continue;
		struct support_place p = places[good];

		places[good++] = places[i];
		places[i] = p;
	}
	return good;
}

int support_uprobes_attach(const struct support_uprobes *u, int prog_fd,
			   struct support_place *places, size_t n, struct support_fds *out)
{
	struct batch b = {.u = u, .out = out, .prog_fd = prog_fd};
	size_t from, to;

	n = good_first(places, n);
	if (!n)
		return 0;
	uint64_t *words = calloc(3 * n, sizeof(*words));
	if (!words)
		return -ENOMEM;
	if (u->way == SUPPORT_UPROBE_EVENTS)
		raise_limit(n);
	qsort(places, n, sizeof(*places), compare);
	for (from = 0; from < n; from = to) {
		for (to = from + 1; to < n && places[to].fd == places[from].fd &&
				    places[to].is_return == places[from].is_return;)
			to++;
		b.offsets = words;
		b.semaphores = words + n;
		b.cookies = words + 2 * n;
		make_alike(&b, places + from, to - from);
	}
	free(words);
	return 0;
}
