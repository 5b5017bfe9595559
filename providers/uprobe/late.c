/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files that appear: a library that is loaded at last, the same name in a container, a file that
 * was replaced on disk and is run anew. The kernel announces executable mappings; those whose path
 * a module text could mean, and whose file is none that was looked at, are opened when discover()
 * has its turn. What such a file runs until then (some milliseconds) is not seen.
 *
 * Announcements name a file by device and inode as the mapping has them, which on some file systems
 * is not what stat() says: so there is a list of its own of those seen.
 *
 * Announcements come from the whole machine, and on a busy one some are lost, which is then a loss
 * of the run. So they are asked for only where a file can appear that is not known by its path.
 * Where processes are named, their paths are looked at five times a second, and so are links that a
 * process may have lost.
 */
#include <elf.h>
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
#include "uprobe.h"

#define MOST_WAITING 4096u
#define MOST_SEEN    65536u

static bool is_wanted(struct weft_instance *in, const char *path)
{
	for (const struct weft_uprobe_wanted *w = in->wanted; w; w = w->next)
		if (weft_uprobe_means(in, w, path))
			return true;
	return false;
}

static bool was_seen(struct weft_instance *in, uint64_t dev, uint64_t ino)
{
	for (size_t i = 0; i < in->n_seen; i++)
		if (in->seen[i].dev == dev && in->seen[i].ino == ino)
			return true;
	if (in->n_seen < MOST_SEEN &&
	    !weft_uprobe_grow(&in->seen, &in->cap_seen, in->n_seen, sizeof(*in->seen)))
		in->seen[in->n_seen++] = (struct weft_uprobe_seen){.dev = dev, .ino = ino};
	return false;
}

static void on_event(struct weft_instance *in, const struct weft_process_event *ev)
{
	if (ev->kind != WEFT_PROCESS_MMAP || !ev->text || *ev->text != '/' ||
	    !is_wanted(in, ev->text) ||
	    was_seen(in, makedev(ev->device_major, ev->device_minor), ev->inode))
		return;
	if (in->n_queue == MOST_WAITING ||
	    weft_uprobe_grow(&in->queue, &in->cap_queue, in->n_queue, sizeof(*in->queue))) {
		in->host->loss(in->host, "PROCESS_EVENTS_LOST", 1, ev->text);
		return;
	}
	struct weft_uprobe_mapping *m = &in->queue[in->n_queue];
	*m = (struct weft_uprobe_mapping){
		.pid = ev->pid,
		.address = ev->address,
		.length = ev->length,
		.dev = makedev(ev->device_major, ev->device_minor),
		.ino = ev->inode,
	};
	m->path = strdup(ev->text);
	if (!m->path)
		return;
	in->n_queue++;
	support_wake(in->timer_fd, 1, in->looking);
}

/* Whether files can appear that have to be announced. What lies at an absolute path of a named
 * process can be looked at. */
static bool can_appear(struct weft_instance *in)
{
	if (!support_is_named(in->host->target(in->host)))
		return true;
	for (const struct weft_uprobe_wanted *w = in->wanted; w; w = w->next)
		if (*w->module != '/' || !w->module_text)
			return true;
	return false;
}

void weft_uprobe_watch(struct weft_instance *in)
{
	if (in->timer_fd < 0)
		return;
	if (!in->looking && in->attachments && support_is_named(in->host->target(in->host))) {
		in->looking = true;
		support_wake(in->timer_fd, SUPPORT_LOOK_NS, true);
	}
	if (in->watching || !can_appear(in))
		return;
	in->watching = true;
	if (in->host->watch_processes(in->host, on_event, in, NULL))
		in->host->log(in->host, WEFT_LOG_INFO,
			      "files that programs load from now on are not traced: mappings cannot "
			      "be watched");
}

int weft_uprobe_discover_fd(struct weft_instance *in)
{
	if (in->timer_fd < 0)
		in->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return in->timer_fd < 0 ? -errno : in->timer_fd;
}

/* Takes the descriptor of a file that was not there before, for the process. */
static int take(struct weft_instance *in, struct weft_registry *registry, int fd, const char *path,
		int32_t pid, struct weft_error *err)
{
	struct weft_uprobe_file *f;
	bool known = false;
	char root[32];
	int ret = 0;

	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	f = weft_uprobe_file_take(in, fd, path, root, &known, err);
	if (!f || known)
		return f ? 0 : -EINVAL;
	for (const struct weft_uprobe_wanted *w = in->wanted; w; w = w->next) {
		if (!weft_uprobe_means(in, w, path))
			continue;
		int one = weft_uprobe_appeared(in, registry, w, f, err);
		if (one && !ret)
			ret = one;
	}
	return ret;
}

static int appeared(struct weft_instance *in, struct weft_registry *registry,
		    const struct weft_uprobe_mapping *m, struct weft_error *err)
{
	const struct support_mapped mapped = {
		.from = m->address, .to = m->address + m->length, .path = m->path};

	int fd = support_mapped_open(m->pid, &mapped);
	if (fd < 0) { /* the process has gone, and with it the reason to look */
		fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			return 0;
	}
	return take(in, registry, fd, m->path, m->pid, err);
}

static bool is_known(const struct weft_instance *in, const struct stat *st)
{
	for (const struct weft_uprobe_file *f = in->files; f; f = f->next)
		if (f->dev == st->st_dev && f->ino == st->st_ino)
			return true;
	return false;
}

/* Whether another file lies at a path of a process than did. */
static int look_at(struct weft_instance *in, struct weft_registry *registry, const char *module,
		   int32_t pid, struct weft_error *err)
{
	char path[4096 + 32];
	struct stat st;

	if (!support_file_of(pid, module, path, sizeof(path), &st) || is_known(in, &st))
		return 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? 0 : take(in, registry, fd, module, pid, err);
}

static int look(struct weft_instance *in, struct weft_registry *registry, struct weft_error *err)
{
	const struct weft_target *t = in->host->target(in->host);
	const char *last = "";
	int ret = 0;

	weft_uprobe_renew(in);
	for (const struct weft_uprobe_wanted *w = in->wanted; w; w = w->next) {
		/* Those of one file mostly come together. */
		if (!w->module_text || *w->module != '/' || !strcmp(w->module, last))
			continue;
		last = w->module;
		for (uint32_t i = 0; i < t->n_pids; i++) {
			int one = look_at(in, registry, w->module, t->pids[i], err);

			if (one && !ret)
				ret = one;
		}
	}
	return ret;
}

int weft_uprobe_discover(struct weft_instance *in, struct weft_registry *registry,
			 struct weft_error *err)
{
	uint64_t n;
	int ret = 0;

	if (read(in->timer_fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
		return in->host->fail(err, -errno, "UPROBE_DISCOVER", "timerfd: %s",
				      strerror(errno));
	for (size_t i = 0; i < in->n_queue; i++) {
		int one = appeared(in, registry, &in->queue[i], err);

		if (one && !ret)
			ret = one;
		free(in->queue[i].path);
	}
	in->n_queue = 0;
	if (in->looking) {
		int one = look(in, registry, err);

		if (one && !ret)
			ret = one;
	}
	return ret;
}
