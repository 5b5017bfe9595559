/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * /tmp/perf-PID.map: "START SIZE NAME", numbers in hexadecimal, a line for each function that a JIT
 * compiler made. The file is looked for in the process's root, under the number that the process
 * has in its own namespace.
 *
 * /tmp is everybody's, so a file there may be anybody's: it must be a regular file, no link, and
 * belong to the user that the process runs as, or to root. Sizes are bounded. Code is made while
 * the process runs, so the file is read again when an address is not found and it has changed.
 * Memory may be used for one function after the other: the last line that covers an address counts.
 *
 * A JIT's process may be gone when its stacks are named. Who it was is noted when its code is first
 * seen; if its root was ours, the file can then still be found, and must not be older than that.
 */
#include "core/symbols/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/elf/open.h"

#define FILE_MOST    (64u << 20)
#define ENTRIES_MOST (1u << 20) /* of all files together */
#define NAME_MOST    1024u
#define BACK_MOST    256u /* entries that begin before an address and are looked at */
#define AGAIN_NS     50000000u

struct entry {
	uint64_t start, size;
	const char *name;
	size_t line;
};

struct perf_map {
	int32_t tgid, inside; /* its number, and that in its own namespace */
	uid_t uid;
	bool ours;            /* its root is ours */
	struct timespec seen; /* when it was noted */
	uint64_t looked_ns;   /* when the file was last looked at; 0: never */
	struct stat st;       /* of what was read */
	bool read;
	struct entry *entries; /* by start, then line */
	size_t n, cap;
};

void weft_perf_maps_init(struct weft_perf_maps *p, struct weft_texts *strings)
{
	*p = (struct weft_perf_maps){.strings = strings};
}

static uint64_t key_of(int32_t tgid)
{
	return (uint64_t)(uint32_t)tgid + 1;
}

static void destroy(struct perf_map *m)
{
	if (!m)
		return;
	free(m->entries);
	free(m);
}

void weft_perf_maps_finish(struct weft_perf_maps *p)
{
	for (size_t i = 0; i < p->map.cap; i++)
		destroy(p->map.slots[i].value);
	weft_u64map_finish(&p->map);
}

/* ---- who it is ---- */

static int read_status(struct perf_map *m)
{
	char path[64], line[512];
	bool uid = false, inside = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", m->tgid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		char *p = line, *end;

		if (!strncmp(line, "Uid:", 4)) { /* real, effective, ... */
			strtoul(p + 4, &end, 10);
			m->uid = (uid_t)strtoul(end, NULL, 10);
			uid = true;
		} else if (!strncmp(line, "NSpid:", 6)) { /* outermost first */
			for (p += 6; *p && *p != '\n'; p = end) {
				m->inside = (int32_t)strtol(p, &end, 10);
				inside = true;
				if (end == p)
					break;
			}
		}
	}
	fclose(f);
	return uid && inside ? 0 : -ENODATA;
}

void weft_perf_maps_note(struct weft_perf_maps *p, int32_t tgid)
{
	struct stat root, own;
	struct perf_map *m;
	char path[64];

	if (weft_u64map_get(&p->map, key_of(tgid)))
		return;
	m = calloc(1, sizeof(*m));
	if (!m)
		return;
	m->tgid = tgid;
	snprintf(path, sizeof(path), "/proc/%d/root", tgid);
	clock_gettime(CLOCK_REALTIME, &m->seen);
	if (read_status(m) || stat(path, &root) || stat("/", &own)) {
		free(m);
		return;
	}
	m->ours = root.st_dev == own.st_dev && root.st_ino == own.st_ino;
	if (weft_u64map_put(&p->map, key_of(tgid), m))
		free(m);
}

void weft_perf_maps_forget(struct weft_perf_maps *p, int32_t tgid)
{
	struct perf_map *m = weft_u64map_get(&p->map, key_of(tgid));

	if (!m)
		return;
	p->entries -= m->n;
	weft_u64map_remove(&p->map, key_of(tgid));
	destroy(m);
}

/* ---- the file ---- */

static int open_map(const struct perf_map *m, struct stat *st)
{
	char root[64], path[64];
	int fd;

	snprintf(root, sizeof(root), "/proc/%d/root", m->tgid);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", m->inside);
	fd = weft_open_regular(root, path, true, st);
	if (fd < 0 && m->ours) {
		fd = weft_open_regular(NULL, path, true, st);
		if (fd >= 0 && st->st_mtim.tv_sec < m->seen.tv_sec - 1) {
			close(fd); /* an earlier process of that number left it */
			return -ESTALE;
		}
	}
	if (fd >= 0 && ((st->st_uid != m->uid && st->st_uid) || st->st_size > FILE_MOST)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

static int add_line(struct weft_perf_maps *p, struct perf_map *m, char *line, size_t number)
{
	struct entry e = {.line = number};
	char *end;
	int r;

	errno = 0;
	e.start = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || errno || *line == '-')
		return 0;
	line = end + 1;
	e.size = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || errno || *line == '-' || !e.size || !end[1] ||
	    e.size > UINT64_MAX - e.start)
		return 0;
	if (p->entries >= ENTRIES_MOST)
		return -EFBIG;
	r = weft_grow(&m->entries, &m->cap, m->n, sizeof(*m->entries));
	if (r)
		return r;
	e.name = weft_texts_intern(p->strings, end + 1, strnlen(end + 1, NAME_MOST));
	if (!e.name)
		return -ENOMEM;
	m->entries[m->n++] = e;
	p->entries++;
	return 0;
}

static int compare_entries(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

static void read_map(struct weft_perf_maps *p, struct perf_map *m, int fd, size_t size)
{
	char *bytes = malloc(size + 1), *line, *next;
	size_t have = 0, number = 0;
	ssize_t n;

	p->entries -= m->n;
	m->n = 0;
	if (!bytes)
		return;
	while (have < size && (n = pread(fd, bytes + have, size - have, (off_t)have)) > 0)
		have += (size_t)n;
	bytes[have] = '\0';
	/* A last line without an end is still being written. */
	for (line = bytes; (next = memchr(line, '\n', have - (size_t)(line - bytes)));
	     line = next + 1) {
		*next = '\0';
		if (add_line(p, m, line, number++))
			break;
	}
	free(bytes);
	if (m->n)
		qsort(m->entries, m->n, sizeof(*m->entries), compare_entries);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Whether there is more to find than before. */
static bool refresh(struct weft_perf_maps *p, struct perf_map *m)
{
	uint64_t now = now_ns();
	struct stat st;
	int fd;

	if (m->looked_ns && now - m->looked_ns < AGAIN_NS)
		return false;
	m->looked_ns = now;
	fd = open_map(m, &st);
	if (fd < 0)
		return false;
	if (m->read && st.st_size == m->st.st_size && st.st_ino == m->st.st_ino &&
	    st.st_mtim.tv_sec == m->st.st_mtim.tv_sec &&
	    st.st_mtim.tv_nsec == m->st.st_mtim.tv_nsec) {
		close(fd);
		return false;
	}
	read_map(p, m, fd, (size_t)st.st_size);
	close(fd);
	m->st = st;
	m->read = true;
	return true;
}

static const struct entry *find_entry(const struct perf_map *m, uint64_t address)
{
	size_t low = 0, high = m->n;
	const struct entry *best = NULL;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->entries[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t back = 0; back < BACK_MOST && back < low; back++) {
		const struct entry *e = &m->entries[low - 1 - back];

		if (address - e->start < e->size && (!best || e->line > best->line))
			best = e;
	}
	return best;
}

const char *weft_perf_maps_find(struct weft_perf_maps *p, int32_t tgid, uint64_t address,
				uint64_t *start, const char **module)
{
	struct perf_map *m = weft_u64map_get(&p->map, key_of(tgid));
	const struct entry *e;
	char path[64];
	int n;

	if (!m)
		return NULL;
	e = find_entry(m, address);
	if (!e && refresh(p, m))
		e = find_entry(m, address);
	if (!e)
		return NULL;
	n = snprintf(path, sizeof(path), "/tmp/perf-%d.map", m->inside);
	*start = e->start;
	*module = weft_texts_intern(p->strings, path, (size_t)n);
	return e->name;
}
