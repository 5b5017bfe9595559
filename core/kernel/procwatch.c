/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Process events. A dummy software event per CPU counts nothing; the kernel writes records about
 * processes into its buffer all the same, each with the time on CLOCK_MONOTONIC. That costs nothing
 * but when something happens, and needs no program.
 *
 * Order. Let S be the clock before the heads of all buffers are read. An event that caused another
 * (a fork its child's exec) was written completely before the other took its time. So if the
 * other's time is at most S, the first was written before S and lies below the heads that are read
 * after. Hence: deliver, merged by time, what has a time up to S; leave what is newer in the
 * buffers. What was left is older than the S of a second round, which therefore leaves nothing of
 * the first; what arrives after that makes the descriptor readable again.
 *
 * Records are read in place, so nothing is held in memory between calls.
 *
 * A mapping carries device and inode, or its build ID; the kernel has room for one of the two. We
 * ask for the former, because it tells whether a path still leads to the file that was mapped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/kernel/clock.h"
#include "core/kernel/cpus.h"
#include "core/kernel/kernel.h"
#include "core/kernel/perf_ring.h"
#include "core/kernel/privilege.h"

/* Of each CPU. A run of a compiler maps a hundred times, which is 16 KiB of records, and a busy
 * machine starts a dozen of them before it is our turn: with 64 KiB events were lost there. */
#define RING_BYTES   (256u << 10)
#define RECORD_BYTES 8192 /* the largest record: a mapping with a path of PATH_MAX */

struct watched_cpu {
	int fd;
	struct weft_perf_ring ring;
	void *memory;
	uint64_t told;                          /* events lost, as records said */
	uint64_t time;                          /* of the record below */
	const struct perf_event_header *record; /* next to be delivered; NULL: none */
	uint8_t *scratch;                       /* RECORD_BYTES; made at the first look */
};

struct weft_procwatch {
	int epoll_fd;
	struct watched_cpu *cpus;
	size_t n_cpus;
	size_t ring_bytes;
};

/* Every record ends with this: sample_id_all, sample_type PERF_SAMPLE_TIME. */
struct record_time {
	uint64_t time;
};

struct record_task { /* PERF_RECORD_FORK, PERF_RECORD_EXIT */
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct record_comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};

struct record_mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, length, file_offset;
	uint32_t device_major, device_minor;
	uint64_t inode, inode_generation;
	uint32_t protection, flags;
	char path[];
};

struct record_lost {
	struct perf_event_header header;
	uint64_t id, lost;
};

/* ---- creating ---- */

static int open_event(unsigned int cpu, bool mappings)
{
	struct perf_event_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.sample_type = PERF_SAMPLE_TIME;
	attr.sample_id_all = 1;
	attr.read_format = PERF_FORMAT_LOST;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	attr.task = 1;
	attr.comm = 1;
	attr.comm_exec = 1;
	attr.mmap = mappings;
	attr.mmap2 = mappings;
	attr.watermark = 1;
	attr.wakeup_watermark = 1;
	fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

static int watch_cpu(struct weft_procwatch *w, unsigned int cpu, bool mappings,
		     struct weft_error *err)
{
	struct watched_cpu *c = &w->cpus[w->n_cpus];
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct epoll_event ev = {.events = EPOLLIN};
	char lacking[128];
	int fd = open_event(cpu, mappings);

	if (fd == -ENODEV)
		return 0; /* went offline since the list was read */
	if (fd == -EACCES || fd == -EPERM) {
		weft_privilege_lacking(lacking, sizeof(lacking));
		return weft_fail(err, fd, "PROCESS_WATCH",
				 "the kernel refuses to report processes: %s", lacking);
	}
	if (fd < 0)
		return weft_fail(err, fd, "PROCESS_WATCH",
				 "the event that reports processes on CPU %u cannot be created: %s",
				 cpu, strerror(-fd));
	c->fd = fd;
	w->n_cpus++;
	c->memory = mmap(NULL, page + w->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (c->memory == MAP_FAILED) {
		int code = -errno;

		c->memory = NULL;
		return weft_fail(err, code, "PROCESS_WATCH",
				 "the buffer that reports processes on CPU %u cannot be mapped: %s",
				 cpu, strerror(-code));
	}
	c->ring.page = c->memory;
	c->ring.data = (const uint8_t *)c->memory + page;
	c->ring.size = w->ring_bytes;
	if (epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, fd, &ev))
		return weft_fail(err, -errno, "PROCESS_WATCH", "watching processes failed: %s",
				 strerror(errno));
	return 0;
}

int weft_procwatch_create(bool mappings, struct weft_procwatch **out, struct weft_error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i, n;
	struct weft_procwatch *w;
	unsigned int *cpus;
	int ret;

	ret = weft_cpus_online(&cpus, &n);
	if (ret)
		return ret == -ENOMEM ? weft_nomem(err)
				      : weft_fail(err, ret, "PROCESS_WATCH",
						  "the list of online CPUs cannot be read: %s",
						  strerror(-ret));
	w = calloc(1, sizeof(*w));
	if (w)
		w->cpus = calloc(n, sizeof(*w->cpus));
	if (!w || !w->cpus) {
		free(w);
		free(cpus);
		return weft_nomem(err);
	}
	w->ring_bytes = page > RING_BYTES ? page : RING_BYTES;
	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (w->epoll_fd < 0)
		ret = weft_fail(err, -errno, "PROCESS_WATCH", "watching processes failed: %s",
				strerror(errno));
	for (i = 0; i < n && !ret; i++)
		ret = watch_cpu(w, cpus[i], mappings, err);
	free(cpus);
	if (ret) {
		weft_procwatch_destroy(w);
		return ret;
	}
	*out = w;
	return 0;
}

void weft_procwatch_destroy(struct weft_procwatch *w)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;

	if (!w)
		return;
	for (i = 0; i < w->n_cpus; i++) {
		if (w->cpus[i].memory)
			munmap(w->cpus[i].memory, page + w->ring_bytes);
		close(w->cpus[i].fd);
		free(w->cpus[i].scratch);
	}
	if (w->epoll_fd >= 0)
		close(w->epoll_fd);
	free(w->cpus);
	free(w);
}

int weft_procwatch_fd(const struct weft_procwatch *w)
{
	return w->epoll_fd;
}

/* ---- delivering ---- */

/* A record's text ends within the record, whatever the kernel wrote. */
static const char *text_of(const struct perf_event_header *h, const char *text)
{
	const char *end = (const char *)h + h->size - sizeof(struct record_time);

	return text < end && memchr(text, '\0', (size_t)(end - text)) ? text : "";
}

static bool file_or_vdso(const char *path)
{
	return (path[0] == '/' && path[1] != '/') || !strcmp(path, "[vdso]");
}

/* Whether the record is an event for the reader; filled in. Records of threads are not. */
static bool decode(const struct perf_event_header *h, struct weft_process_event *e, uint64_t *lost)
{
	const struct record_mmap2 *m = (const void *)h;
	const struct record_task *t = (const void *)h;
	const struct record_comm *c = (const void *)h;
	const struct record_lost *l = (const void *)h;

	switch (h->type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		if (h->size < sizeof(*t) || t->pid != t->tid)
			return false;
		e->kind = h->type == PERF_RECORD_FORK ? WEFT_PROCESS_FORK : WEFT_PROCESS_EXIT;
		e->pid = (int32_t)t->pid;
		if (h->type == PERF_RECORD_FORK)
			e->parent = (int32_t)t->ppid;
		return true;
	case PERF_RECORD_COMM:
		if (h->size < sizeof(*c) || !(h->misc & PERF_RECORD_MISC_COMM_EXEC))
			return false;
		e->kind = WEFT_PROCESS_EXEC;
		e->pid = (int32_t)c->pid;
		e->text = text_of(h, c->comm);
		return true;
	case PERF_RECORD_MMAP2:
		if (h->size < sizeof(*m) || !file_or_vdso(text_of(h, m->path)))
			return false;
		e->kind = WEFT_PROCESS_MMAP;
		e->pid = (int32_t)m->pid;
		e->address = m->address;
		e->length = m->length;
		e->file_offset = m->file_offset;
		e->inode = m->inode;
		e->device_major = m->device_major;
		e->device_minor = m->device_minor;
		e->text = text_of(h, m->path);
		return true;
	case PERF_RECORD_LOST:
		if (h->size >= sizeof(*l))
			*lost += l->lost;
		return false;
	default:
		return false;
	}
}

static void next_record(struct watched_cpu *c, uint64_t *lost)
{
	const struct record_time *t;

	if (!c->scratch)
		c->scratch = malloc(RECORD_BYTES);
	c->record = weft_perf_ring_peek(&c->ring, c->scratch, c->scratch ? RECORD_BYTES : 0, lost);
	if (!c->record)
		return;
	t = (const void *)((const uint8_t *)c->record + c->record->size - sizeof(*t));
	c->time = t->time;
}

/* One round; returns whether records were left because they are too new. */
static bool deliver(struct weft_procwatch *w, void (*fn)(const struct weft_process_event *, void *),
		    void *arg, uint64_t *lost)
{
	uint64_t limit = weft_clock_before(), before;
	bool left = false;
	size_t i;

	for (i = 0; i < w->n_cpus; i++) {
		weft_perf_ring_begin(&w->cpus[i].ring);
		next_record(&w->cpus[i], lost);
	}
	for (;;) {
		struct weft_process_event e = {.struct_size = sizeof(e)};
		struct watched_cpu *first = NULL;

		for (i = 0; i < w->n_cpus; i++)
			if (w->cpus[i].record && (!first || w->cpus[i].time < first->time))
				first = &w->cpus[i];
		if (!first || first->time > limit)
			break;
		e.time_ns = first->time;
		before = *lost;
		if (decode(first->record, &e, lost))
			fn(&e, arg);
		first->told += *lost - before;
		weft_perf_ring_pop(&first->ring);
		next_record(first, lost);
	}
	for (i = 0; i < w->n_cpus; i++) {
		left |= w->cpus[i].record != NULL;
		weft_perf_ring_end(&w->cpus[i].ring);
	}
	return left;
}

void weft_procwatch_poll(struct weft_procwatch *w,
			 void (*fn)(const struct weft_process_event *, void *), void *arg,
			 uint64_t *lost)
{
	if (deliver(w, fn, arg, lost))
		deliver(w, fn, arg, lost);
}

/* A record of what was lost comes with the first event that finds room again, and there may be none. */
uint64_t weft_procwatch_untold(const struct weft_procwatch *w)
{
	uint64_t n = 0;

	for (size_t i = 0; i < w->n_cpus; i++) {
		struct {
			uint64_t value, lost;
		} r;

		if (read(w->cpus[i].fd, &r, sizeof(r)) == sizeof(r) && r.lost > w->cpus[i].told)
			n += r.lost - w->cpus[i].told;
	}
	return n;
}
