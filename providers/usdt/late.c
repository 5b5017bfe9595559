/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files that appear: a program that starts, a library that is loaded at last, a file that was
 * replaced and is run anew. The kernel announces executable mappings; the files of those that were
 * not seen before are looked at when discover() has its turn. What such a file runs until then is
 * not seen, unless it was known: then it was attached to by its inode, before anybody ran it.
 *
 * Announcements come from the whole machine, and on a busy one some are lost, which is then a loss
 * of the run. Where processes are named and paths, these are looked at five times a second instead.
 *
 * A probe that is enabled already takes further sites: where they lie as those do that it has, its
 * program is attached to them here; for layouts more the core is asked to make others.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "support/late.h"
#include "support/maps.h"
#include "usdt/usdt.h"

#define MOST_WAITING 4096u

static bool is_wanted(struct weft_instance *in, const char *path)
{
	for (const struct weft_usdt_wanted *w = in->wanted; w; w = w->next)
		if (!*w->module || weft_usdt_may_mean(in, w->module, w->literal, path))
			return true;
	return false;
}

/* The path of a mapping; the kernel marks that of a file that has none any more, or never had. */
static size_t path_length(const char *text)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(text), k = sizeof(deleted) - 1;

	return n > k && !strcmp(text + n - k, deleted) ? n - k : n;
}

static void on_event(struct weft_instance *in, const struct weft_process_event *ev)
{
	if (ev->kind != WEFT_PROCESS_MMAP || !ev->text || *ev->text != '/' ||
	    weft_usdt_seen(in->seen, makedev(ev->device_major, ev->device_minor), ev->inode))
		return;
	if (in->n_queue == in->cap_queue && in->n_queue < MOST_WAITING) {
		size_t cap = in->cap_queue ? 2 * in->cap_queue : 64;
		struct weft_usdt_mapping *grown = reallocarray(in->queue, cap, sizeof(*grown));

		if (grown) {
			in->queue = grown;
			in->cap_queue = cap;
		}
	}
	char *path = in->n_queue < in->cap_queue ? strndup(ev->text, path_length(ev->text)) : NULL;
	if (!path) {
		in->host->loss(in->host, "PROCESS_EVENTS_LOST", 1, ev->text);
		return;
	}
	if (!is_wanted(in, path)) {
		free(path);
		return;
	}
	in->queue[in->n_queue++] = (struct weft_usdt_mapping){
		.pid = ev->pid,
		.address = ev->address,
		.length = ev->length,
		.dev = makedev(ev->device_major, ev->device_minor),
		.ino = ev->inode,
		.path = path,
	};
	support_wake(in->timer_fd, 1, in->looking);
}

/* A file that is meant by its path. */
static bool is_path(const struct weft_usdt_wanted *w)
{
	return w->literal && *w->module == '/';
}

static bool names_path(const struct weft_instance *in)
{
	for (const struct weft_usdt_wanted *w = in->wanted; w; w = w->next)
		if (is_path(w))
			return true;
	return false;
}

/* Whether files can appear that have to be announced. */
static bool can_appear(struct weft_instance *in)
{
	if (!support_is_named(in->host->target(in->host)))
		return true;
	for (const struct weft_usdt_wanted *w = in->wanted; w; w = w->next)
		if (!is_path(w))
			return true;
	return false;
}

void weft_usdt_watch(struct weft_instance *in)
{
	if (in->timer_fd < 0)
		return;
	if (!in->looking && in->attachments && support_is_named(in->host->target(in->host)) &&
	    names_path(in)) {
		in->looking = true;
		support_wake(in->timer_fd, SUPPORT_LOOK_NS, true);
	}
	if (in->watching || !can_appear(in))
		return;
	in->seen = weft_usdt_seen_create();
	if (!in->seen)
		return;
	in->watching = true;
	in->look_again = true;
	support_wake(in->timer_fd, 1, in->looking);
	if (in->host->watch_processes(in->host, on_event, in, NULL))
		in->host->log(in->host, WEFT_LOG_INFO,
			      "files that programs load from now on are not traced: mappings cannot "
			      "be watched");
}

int weft_usdt_discover_fd(struct weft_instance *in)
{
	if (in->timer_fd < 0)
		in->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return in->timer_fd < 0 ? -errno : in->timer_fd;
}

static bool is_known(struct weft_instance *in, const struct weft_usdt_file *file)
{
	for (const struct weft_usdt_probe *p = in->probes; p; p = p->next)
		for (uint32_t i = 0; i < p->n_runs; i++)
			if (p->runs[i].file == file)
				return true;
	return false;
}

/* Takes the descriptor of a file that was not there before. */
static int take(struct weft_instance *in, struct weft_registry *registry, int fd, const char *path,
		bool *extended, struct weft_error *err)
{
	struct weft_usdt_file *f = weft_usdt_file_take(in, fd, path, NULL);
	int ret = 0;

	if (!f || !f->record || !f->record->n_notes || is_known(in, f))
		return 0;
	for (const struct weft_usdt_wanted *w = in->wanted; w && !ret; w = w->next) {
		const char *any = *w->module ? w->module : "*";
		const char *module = weft_usdt_means(in, any, w->literal && *w->module, path,
						     weft_usdt_text(f->record, f->record->soname));
		size_t n = 0;

		if (module)
			ret = weft_usdt_announce(in, registry, w, f, module, &n, extended, err);
	}
	return ret;
}

static int appeared(struct weft_instance *in, struct weft_registry *registry,
		    const struct weft_usdt_mapping *m, bool *extended, struct weft_error *err)
{
	const struct support_mapped mapped = {
		.from = m->address,
		.to = m->address + m->length,
		.dev = m->dev,
		.ino = m->ino,
		.path = m->path,
	};

	int fd = support_mapped_open(m->pid, &mapped);
	if (fd < 0) /* the process has gone */
		fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		/* It was there for a moment: the next who maps it may have it for longer. */
		weft_usdt_unsee(in->seen, m->dev, m->ino);
		return 0;
	}
	return take(in, registry, fd, m->path, extended, err);
}

static bool was_taken(const struct weft_instance *in, const struct stat *st)
{
	for (const struct weft_usdt_file *f = in->files; f; f = f->next)
		if (f->key.dev == st->st_dev && f->key.ino == st->st_ino)
			return true;
	return false;
}

/* Whether another file lies at a path of a process than did. */
static int look_at(struct weft_instance *in, struct weft_registry *registry, const char *module,
		   int32_t pid, bool *extended, struct weft_error *err)
{
	char path[4096 + 32];
	struct stat st;

	if (!support_file_of(pid, module, path, sizeof(path), &st) || was_taken(in, &st))
		return 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? 0 : take(in, registry, fd, module, extended, err);
}

static int look(struct weft_instance *in, struct weft_registry *registry, bool *extended,
		struct weft_error *err)
{
	const struct weft_target *t = in->host->target(in->host);
	const char *last = "";
	int ret = 0;

	for (const struct weft_usdt_wanted *w = in->wanted; w; w = w->next) {
		/* Those of one file mostly come together. */
		if (!is_path(w) || !strcmp(w->module, last))
			continue;
		last = w->module;
		for (uint32_t i = 0; i < t->n_pids && !ret; i++)
			ret = look_at(in, registry, w->module, t->pids[i], extended, err);
	}
	return ret;
}

struct looking {
	struct weft_instance *in;
	struct weft_registry *registry;
	const struct weft_usdt_wanted *wanted;
	bool *extended;
	struct weft_error *err;
};

static int found_again(struct weft_usdt_file *f, const char *module, void *arg)
{
	const struct looking *l = arg;
	size_t n = 0;

	return weft_usdt_announce(l->in, l->registry, l->wanted, f, module, &n, l->extended, l->err);
}

/* Between the first look at the processes and the beginning of the watch some may have mapped a
 * file: so there is a second look, at which nothing is read that is known. */
static void look_again(struct weft_instance *in, struct weft_registry *registry, bool *extended,
		       struct weft_error *err)
{
	in->look_again = false;
	for (const struct weft_usdt_wanted *w = in->wanted; w; w = w->next) {
		struct looking l = {in, registry, w, extended, err};
		struct weft_usdt_search s = {
			.module = *w->module ? w->module : "*",
			.exact = w->literal && *w->module,
			.found = found_again,
			.arg = &l,
		};

		if (!s.exact || *s.module != '/')
			weft_usdt_where(in, &s, NULL);
	}
}

/* Sites more of probes that are enabled. */
static void extend(struct weft_instance *in, struct weft_registry *registry)
{
	for (struct weft_usdt_probe *p = in->probes; p; p = p->next) {
		uint32_t from = p->n_placed, n_layouts = p->n_layouts, lost = 0;

		if (!from || from == p->n_sites)
			continue;
		if (weft_usdt_place_sites(p))
			lost = p->n_sites - p->n_placed;
		for (uint32_t i = from; i < p->n_placed; i++)
			lost += p->layout_of[i] == UINT32_MAX;
		if (lost)
			in->host->loss(in->host, "USDT_SITES_LOST", lost,
				       p->runs[p->n_runs - 1].file->path);
		/* Without memory they are not attached, which is counted at the end. */
		if (p->n_layouts > n_layouts)
			in->host->probe_extended(registry, p->registered);
	}
	weft_usdt_extend(in);
}

/* The file of the first site of a layout. */
static const char *file_of(const struct weft_usdt_probe *p, uint32_t layout)
{
	uint32_t site = 0;

	for (uint32_t i = 0; i < p->n_runs; i++)
		for (uint32_t k = 0; k < p->runs[i].count && site < p->n_placed; k++, site++)
			if (p->layout_of[site] == layout)
				return p->runs[i].file->path;
	return NULL;
}

void weft_usdt_account(struct weft_instance *in)
{
	for (struct weft_usdt_probe *p = in->probes; p; p = p->next)
		for (; p->n_told && p->n_told < p->n_layouts; p->n_told++)
			if (!p->layouts[p->n_told].attached)
				in->host->loss(in->host, "USDT_SITES_LOST",
					       p->layouts[p->n_told].n_sites, file_of(p, p->n_told));
}

int weft_usdt_discover(struct weft_instance *in, struct weft_registry *registry,
		       struct weft_error *err)
{
	bool extended = false;
	uint64_t n;
	int ret = 0;

	if (read(in->timer_fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
		return in->host->fail(err, -errno, "USDT_DISCOVER", "timerfd: %s", strerror(errno));
	for (size_t i = 0; i < in->n_queue; i++) {
		int one = appeared(in, registry, &in->queue[i], &extended, err);

		if (one && !ret)
			ret = one;
		free(in->queue[i].path);
	}
	in->n_queue = 0;
	if (in->look_again)
		look_again(in, registry, &extended, err);
	if (in->looking && !ret)
		ret = look(in, registry, &extended, err);
	if (extended)
		extend(in, registry);
	return ret;
}

void weft_usdt_late_finish(struct weft_instance *in)
{
	for (size_t i = 0; i < in->n_queue; i++)
		free(in->queue[i].path);
	free(in->queue);
	weft_usdt_seen_destroy(in->seen);
	if (in->timer_fd >= 0)
		close(in->timer_fd);
}
