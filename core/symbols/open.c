/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Opening the file that a process has, or had, mapped, and never another.
 *
 * While the process lives, /proc/PID/map_files/START-END leads to the very file, deleted or not.
 * Otherwise the path is tried, in the process's root and in ours, and what is found there must have
 * the device and the inode that the kernel reported of the mapping. Two things make that less
 * simple than it sounds:
 *
 *  - An inode number is used again once its file is gone, and a file can be overwritten in place.
 * So its times must not be younger than the moment at which it was seen mapped: of a file reached
 *    by path the change time, which nobody can set; of one reached through the mapping the
 *    modification time, since deleting a file changes the former.
 *  - On some file systems (btrfs, overlayfs) stat(2) reports another device than the kernel's list
 *    of mappings does. Then we map a page of the file ourselves and look what the list says of us.
 *
 * Paths are other people's: they may lead to a FIFO or to a device that does things when opened. So
 * they are opened with O_PATH, which does nothing, judged, and only then opened for reading.
 */
#include "core/symbols/open.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "core/elf/open.h"
#include "core/symbols/maps.h"

uint64_t weft_stat_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	return clock_gettime(clock, &t) ? 0 : weft_stat_ns(&t);
}

bool weft_unchanged_since(uint64_t modified_ns, uint64_t changed_ns, bool by_map, uint64_t seen_ns)
{
	uint64_t now = clock_ns(CLOCK_REALTIME);
	uint64_t since = now - clock_ns(CLOCK_MONOTONIC) + seen_ns;
	uint64_t time = by_map ? modified_ns : changed_ns;

	/* A time to come was set by hand, or by another machine's clock: it says nothing. */
	return time <= since || time > now;
}

/* What the kernel's list of mappings says of a page of this file mapped by us. */
struct own_mapping {
	uint64_t start;
	uint32_t major, minor;
	uint64_t inode;
	bool found;
};

static int take_own(const struct weft_maps_entry *e, void *arg)
{
	struct own_mapping *own = arg;

	if (own->start < e->start || own->start >= e->end)
		return 0;
	own->major = e->major;
	own->minor = e->minor;
	own->inode = e->inode;
	own->found = true;
	return 1;
}

static bool same_when_mapped(int fd, const struct weft_file_id *id)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct own_mapping own = {0};
	void *p = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0); /* never touched */

	if (p == MAP_FAILED)
		return false;
	own.start = (uint64_t)(uintptr_t)p;
	weft_maps_read("/proc/self/maps", false, take_own, &own);
	munmap(p, page);
	return own.found && own.inode == id->inode && own.major == id->major &&
	       own.minor == id->minor;
}

static bool same_inode(int fd, const struct stat *st, const struct weft_file_id *id)
{
	if (!id->inode) /* the build ID or the times decide */
		return true;
	if (st->st_ino == id->inode && major(st->st_dev) == id->major &&
	    minor(st->st_dev) == id->minor)
		return true;
	return same_when_mapped(fd, id);
}

static int try_path(const char *path, const struct weft_file *file, const struct weft_reach *reach,
		    bool by_map, struct stat *st)
{
	int fd = weft_open_regular(NULL, path, false, st);

	if (fd < 0)
		return fd;
	if (same_inode(fd, st, &file->id) &&
	    weft_unchanged_since(weft_stat_ns(&st->st_mtim), weft_stat_ns(&st->st_ctim), by_map,
				 reach->seen_ns))
		return fd;
	close(fd);
	return -ESTALE;
}

int weft_open_mapped(const struct weft_file *file, const struct weft_reach *reach, struct stat *st,
		     bool *by_map)
{
	/* As reported (a name may contain what looks like an escape or a mark), then as meant. */
	const char *names[] = {file->id.path, file->module};
	char path[PATH_MAX + 64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, reach->tgid,
		 reach->start, reach->end);
	fd = try_path(path, file, reach, true, st);
	*by_map = fd >= 0;
	for (size_t i = 0; fd < 0 && i < 2 && names[i][0] == '/'; i++) {
		if (i && names[1] == names[0])
			break;
		snprintf(path, sizeof(path), "/proc/%d/root%s", reach->tgid, names[i]);
		fd = try_path(path, file, reach, false, st);
		if (fd < 0)
			fd = try_path(names[i], file, reach, false, st);
	}
	return fd;
}
