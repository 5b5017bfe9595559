/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which process was what, when. A stack is named long after it was taken: by then its process may
 * have called exec, have ended, and its number may belong to another. So every process keeps a list
 * of generations, each with its own mappings and the time it began; fork and exec begin one.
 *
 * A snapshot says what is mapped now, and that also holds for the past as far as nobody saw it
 * change: a generation whose beginning was not seen reaches back without limit (from is 0), and so
 * do the mappings that a first snapshot found in it. Events are delivered some time after they
 * happened, so an exec can be told after a snapshot that already saw its result. Then the
 * snapshot's generation is that exec's.
 *
 * After its exit a process is remembered, since its stacks are still to be named, but only the last
 * dead_most of them.
 */
#include "core/symbols/procs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/symbols/maps.h"

void weft_procs_init(struct weft_procs *p, struct weft_files *files)
{
	*p = (struct weft_procs){.files = files, .dead_most = WEFT_PROCS_DEAD_MOST};
}

static void destroy(struct weft_process *proc)
{
	for (size_t i = 0; i < proc->n; i++)
		weft_mm_release(proc->generations[i].mm);
	free(proc->generations);
	free(proc);
}

void weft_procs_finish(struct weft_procs *p)
{
	for (size_t i = 0; i < p->map.cap; i++)
		if (p->map.slots[i].value)
			destroy(p->map.slots[i].value);
	weft_u64map_finish(&p->map);
}

static uint64_t key_of(int32_t tgid)
{
	return (uint64_t)(uint32_t)tgid;
}

static struct weft_process *find(const struct weft_procs *p, int32_t tgid)
{
	return weft_u64map_get(&p->map, key_of(tgid));
}

static struct weft_process *find_or_add(struct weft_procs *p, int32_t tgid)
{
	struct weft_process *proc = find(p, tgid);

	if (proc)
		return proc;
	proc = calloc(1, sizeof(*proc));
	if (!proc)
		return NULL;
	proc->tgid = tgid;
	if (weft_u64map_put(&p->map, key_of(tgid), proc)) {
		free(proc);
		return NULL;
	}
	return proc;
}

static void unlink_dead(struct weft_procs *p, struct weft_process *proc)
{
	*(proc->older ? &proc->older->younger : &p->oldest) = proc->younger;
	*(proc->younger ? &proc->younger->older : &p->youngest) = proc->older;
	proc->older = proc->younger = NULL;
	proc->dead = false;
	p->n_dead--;
}

/* The dead do not change any more, and there may be thousands of them. */
static void shrink(struct weft_process *proc)
{
	struct weft_mm *mm = proc->n ? proc->generations[proc->n - 1].mm : NULL;
	void *less =
		proc->n ? realloc(proc->generations, proc->n * sizeof(*proc->generations)) : NULL;

	if (less) {
		proc->generations = less;
		proc->cap = proc->n;
	}
	less = mm && mm->n ? realloc(mm->mappings, mm->n * sizeof(*mm->mappings)) : NULL;
	if (less) {
		mm->mappings = less;
		mm->cap = mm->n;
	}
}

static void bury(struct weft_procs *p, struct weft_process *proc)
{
	if (proc->dead)
		return;
	shrink(proc);
	proc->dead = true;
	proc->older = p->youngest;
	*(p->youngest ? &p->youngest->younger : &p->oldest) = proc;
	p->youngest = proc;
	p->n_dead++;
	while (p->n_dead > p->dead_most) {
		proc = p->oldest;
		unlink_dead(p, proc);
		weft_u64map_remove(&p->map, key_of(proc->tgid));
		destroy(proc);
		p->forgotten++;
	}
}

/* Room for one more. Most processes have two: what fork handed down, and what exec made of it. */
static int grow_generations(struct weft_process *proc)
{
	struct weft_generation *g;

	if (proc->cap)
		return weft_grow(&proc->generations, &proc->cap, proc->n, sizeof(*g));
	g = calloc(2, sizeof(*g));
	if (!g)
		return -ENOMEM;
	proc->generations = g;
	proc->cap = 2;
	return 0;
}

/* A new generation at its place in time; NULL: out of memory. */
static struct weft_generation *begin(struct weft_procs *p, struct weft_process *proc, uint64_t from)
{
	size_t i;

	if (proc->n >= WEFT_GENERATIONS_MOST) {
		weft_mm_release(proc->generations[0].mm);
		memmove(proc->generations, proc->generations + 1,
			--proc->n * sizeof(*proc->generations));
		p->forgotten++;
	}
	if (grow_generations(proc))
		return NULL;
	for (i = proc->n; i > 0 && proc->generations[i - 1].from > from; i--)
		proc->generations[i] = proc->generations[i - 1];
	proc->generations[i] = (struct weft_generation){.from = from};
	proc->n++;
	return &proc->generations[i];
}

/* The generation of a time; NULL: the time is before all that is known. */
static struct weft_generation *at(const struct weft_process *proc, uint64_t time_ns)
{
	for (size_t i = proc->n; i > 0; i--)
		if (proc->generations[i - 1].from <= time_ns)
			return &proc->generations[i - 1];
	return NULL;
}

static struct weft_generation *newest(struct weft_process *proc)
{
	return proc->n ? &proc->generations[proc->n - 1] : NULL;
}

/* The event began something that a snapshot has already been taken of. */
static bool told_late(const struct weft_generation *g, const struct weft_process_event *e)
{
	return g && g->from < e->time_ns && g->snapshot > e->time_ns;
}

static void divide(struct weft_procs *p, struct weft_process *proc, uint64_t time_ns)
{
	struct weft_generation *g = newest(proc), *next;
	uint64_t snapshot = g->snapshot;
	struct weft_mm *later;

	if (weft_mm_split(&g->mm, time_ns, g->by_snapshot, &later))
		return;
	if (g->by_snapshot) /* of what was before, nothing is known then */
		g->complete = false;
	g->snapshot = 0;
	next = begin(p, proc, time_ns);
	if (!next) {
		weft_mm_release(later);
		return;
	}
	next->mm = later;
	next->snapshot = snapshot;
	next->complete = true;
	next->by_snapshot = true;
}

static void on_fork(struct weft_procs *p, const struct weft_process_event *e)
{
	struct weft_process *parent = find(p, e->parent), *child;
	struct weft_generation *from = parent ? at(parent, e->time_ns) : NULL, *g;
	struct weft_mm *mm = from ? from->mm : NULL;
	bool complete = from && from->complete;

	if (e->pid == e->parent) /* a thread */
		return;
	child = find_or_add(p, e->pid);
	if (!child)
		return;
	if (child->dead)
		unlink_dead(p, child);
	if (told_late(newest(child), e)) {
		divide(p, child, e->time_ns);
		return;
	}
	g = begin(p, child, e->time_ns);
	if (!g)
		return;
	g->complete = complete;
	g->mm = mm;
	if (mm)
		mm->refs++;
}

static void on_exec(struct weft_procs *p, const struct weft_process_event *e)
{
	struct weft_process *proc = find_or_add(p, e->pid);
	struct weft_generation *g;

	if (!proc)
		return;
	if (proc->dead)
		unlink_dead(p, proc);
	if (told_late(newest(proc), e)) {
		divide(p, proc, e->time_ns);
		return;
	}
	g = begin(p, proc, e->time_ns);
	if (g)
		g->complete = true; /* its mappings will all be told */
}

static void count_dropped(struct weft_procs *p, struct weft_generation *g)
{
	if (!g->mm)
		return;
	p->forgotten += g->mm->dropped;
	g->mm->dropped = 0;
}

static void on_mmap(struct weft_procs *p, const struct weft_process_event *e)
{
	struct weft_process *proc = find_or_add(p, e->pid);
	struct weft_generation *g = proc ? at(proc, e->time_ns) : NULL;
	const char *path = e->text ? e->text : "";
	struct weft_file_id id = {.path = path, .path_length = strlen(path)};
	struct weft_mapping m;
	int r;

	if (!proc || !e->length || e->address + e->length < e->address)
		return;
	if (!g)
		g = begin(p, proc, 0);
	if (!g)
		return;
	id.inode = e->inode;
	id.major = e->device_major;
	id.minor = e->device_minor;
	if (e->build_id && e->build_id_size <= sizeof(id.build_id)) {
		memcpy(id.build_id, e->build_id, e->build_id_size);
		id.build_id_size = e->build_id_size;
	}
	m = (struct weft_mapping){
		.start = e->address,
		.end = e->address + e->length,
		.offset = e->file_offset,
		.from = e->time_ns,
		.until = UINT64_MAX,
		.seen = e->time_ns,
		.file = *path ? weft_files_get(p->files, &id) : NULL,
	};
	/* Without a file it still takes the place of what was there. */
	if (m.file && m.file->module)
		r = weft_mm_map(&g->mm, &m);
	else
		r = g->mm ? weft_mm_unmap(&g->mm, m.start, m.end, m.from) : 0;
	if (r)
		p->forgotten++;
	count_dropped(p, g);
}

void weft_procs_event(struct weft_procs *p, const struct weft_process_event *e)
{
	static void (*const handlers[])(struct weft_procs *, const struct weft_process_event *) = {
		[WEFT_PROCESS_FORK] = on_fork,
		[WEFT_PROCESS_EXEC] = on_exec,
		[WEFT_PROCESS_MMAP] = on_mmap,
	};
	struct weft_process *proc;

	if (e->kind == WEFT_PROCESS_EXIT) {
		proc = find(p, e->pid);
		if (proc)
			bury(p, proc);
		return;
	}
	if (e->kind < sizeof(handlers) / sizeof(handlers[0]) && handlers[e->kind])
		handlers[e->kind](p, e);
}

/* ---- snapshots ---- */

struct reading {
	struct weft_procs *p;
	struct weft_mapping *mappings; /* in address order, as the kernel lists them */
	size_t n, cap;
	bool makes_code;
};

static int take_mapping(const struct weft_maps_entry *e, void *arg)
{
	struct reading *reading = arg;
	struct weft_file_id id = {
		.major = e->major,
		.minor = e->minor,
		.inode = e->inode,
		.path = e->path,
		.path_length = e->path_length,
	};
	struct weft_file *file = e->path_length ? weft_files_get(reading->p->files, &id) : NULL;
	int r;

	/* of no file, or of one in memory */
	reading->makes_code |= !e->path_length || (file && weft_file_may_be_made(file));
	if (!file || !file->module)
		return 0;
	if (reading->n >= WEFT_MAPPINGS_MOST) {
		reading->p->forgotten++;
		return 0;
	}
	r = weft_grow(&reading->mappings, &reading->cap, reading->n, sizeof(*reading->mappings));
	if (r)
		return r;
	reading->mappings[reading->n++] = (struct weft_mapping){
		.start = e->start,
		.end = e->end,
		.offset = e->offset,
		.until = UINT64_MAX,
		.file = file,
	};
	return 0;
}

/* Ends what the snapshot does not show any more. Sound: an old mapping that is shown is shown whole
 * or in parts, and weft_mm_map() tells apart what is the same. */
static int end_missing(struct weft_generation *g, const struct reading *reading, uint64_t time_ns)
{
	uint64_t at_address = 0;

	for (size_t i = 0; i <= reading->n; i++) {
		uint64_t until = i < reading->n ? reading->mappings[i].start : UINT64_MAX;
		int r = 0;

		if (until > at_address)
			r = weft_mm_unmap(&g->mm, at_address, until, time_ns);
		if (r)
			return r;
		if (i < reading->n)
			at_address = reading->mappings[i].end;
	}
	return 0;
}

int weft_procs_snapshot(struct weft_procs *p, int32_t tgid, uint64_t time_ns, const char *path)
{
	struct reading reading = {.p = p};
	struct weft_process *proc;
	struct weft_generation *g;
	int r = weft_maps_read(path, true, take_mapping, &reading);

	if (r)
		goto out;
	r = -ENOMEM;
	proc = find_or_add(p, tgid);
	if (!proc)
		goto out;
	if (proc->dead) /* its number lives again, and nobody said so */
		unlink_dead(p, proc);
	proc->makes_code = reading.makes_code;
	g = at(proc, time_ns);
	if (!g)
		g = begin(p, proc, 0);
	if (!g)
		goto out;
	r = g->mm ? end_missing(g, &reading, time_ns) : 0;
	for (size_t i = 0; !r && i < reading.n; i++) {
		struct weft_mapping *m = &reading.mappings[i];

		m->from = g->complete ? time_ns : g->from;
		m->seen = time_ns;
		r = weft_mm_map(&g->mm, m);
	}
	if (!r) {
		g->by_snapshot = g->by_snapshot || !g->complete;
		g->complete = true;
		g->snapshot = time_ns;
	}
	count_dropped(p, g);
out:
	free(reading.mappings);
	return r;
}

/* ---- questions ---- */

bool weft_procs_known(const struct weft_procs *p, int32_t tgid)
{
	struct weft_process *proc = find(p, tgid);

	return proc && proc->n && newest(proc)->complete;
}

const struct weft_mapping *weft_procs_find(const struct weft_procs *p, int32_t tgid,
					   uint64_t time_ns, uint64_t address)
{
	const struct weft_process *proc = find(p, tgid);
	const struct weft_generation *g = proc ? at(proc, time_ns) : NULL;

	return g && g->mm ? weft_mm_find(g->mm, address, time_ns) : NULL;
}

bool weft_procs_makes_code(const struct weft_procs *p, int32_t tgid)
{
	const struct weft_process *proc = find(p, tgid);

	return proc && proc->makes_code;
}
