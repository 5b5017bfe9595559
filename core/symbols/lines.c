/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Lines of source code. They are read when the first address of a unit of compilation is to be
 * shown, which takes a process, and kept: addresses of one stack, and of one program's stacks, lie
 * in few units. What no unit has is remembered, too. A file that was changed since it was opened
 * has no lines any more, and one that damages its reader, or keeps it busy for long, is not read
 * again.
 */
#include "core/symbols/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/symbols/store.h"

#define LINES_MOST  (2u << 20)   /* kept of a file: 32 MiB */
#define MISSES_MOST 512u         /* addresses in no unit, each of which took a process */
#define TIME_MOST   10000000000u /* ns for all of a file */

struct weft_lines {
	int fd;
	struct stat st;
	char *path, *root; /* root NULL: ours */
	bool over;         /* nothing more is to be had */
	size_t kept;
	uint64_t spent_ns;
	struct unit {
		struct unit *next;
		struct weft_elf_lines *lines;
	} * units;                 /* the latest first */
	struct weft_u64map missed; /* address + 1 */
};

struct weft_lines *weft_lines_create(int fd, const struct stat *st, const char *path,
				     const char *root)
{
	struct weft_lines *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->st = *st;
	l->path = strdup(path);
	l->root = root ? strdup(root) : NULL;
	l->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (l->path && (!root || l->root) && l->fd >= 0)
		return l;
	weft_lines_destroy(l);
	return NULL;
}

void weft_lines_destroy(struct weft_lines *l)
{
	if (!l)
		return;
	for (struct unit *u = l->units, *next; u; u = next) {
		next = u->next;
		free(u->lines);
		free(u);
	}
	weft_u64map_finish(&l->missed);
	if (l->fd >= 0)
		close(l->fd);
	free(l->path);
	free(l->root);
	free(l);
}

/* Sets *line to the last that begins at or before the address, if that says something. */
static bool find_in(const struct weft_elf_lines *u, uint64_t address, const char **file,
		    uint32_t *line)
{
	uint32_t low = 0, high = u->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (u->at[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || !u->at[low - 1].line)
		return false;
	*file = u->files[u->at[low - 1].file];
	*line = u->at[low - 1].line;
	return true;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool is_as_it_was(const struct weft_lines *l)
{
	struct stat st;

	return !fstat(l->fd, &st) && st.st_size == l->st.st_size &&
	       st.st_mtim.tv_sec == l->st.st_mtim.tv_sec &&
	       st.st_mtim.tv_nsec == l->st.st_mtim.tv_nsec;
}

/* Reads the unit that has the address; false: there is none, or no more. */
static bool read_unit(struct weft_lines *l, struct weft_elf_reader *reader, uint64_t address)
{
	const struct weft_elf_request request = {
		.struct_size = sizeof(request),
		.fd = l->fd,
		.want = WEFT_ELF_WANT_FUNCTIONS | WEFT_ELF_WANT_DEMANGLED | WEFT_ELF_WANT_DEBUG,
		.path = l->path,
		.root = l->root,
	};
	struct weft_elf_lines *lines = NULL;
	uint64_t begin = now_ns();
	struct unit *u;

	if (!is_as_it_was(l) || weft_elf_lines(reader, &request, address, &lines, NULL)) {
		l->over = true;
		return false;
	}
	l->spent_ns += now_ns() - begin;
	if (l->spent_ns > TIME_MOST)
		l->over = true;
	u = lines->n ? calloc(1, sizeof(*u)) : NULL;
	if (!u) {
		free(lines);
		return false;
	}
	*u = (struct unit){.next = l->units, .lines = lines};
	l->units = u;
	l->kept += lines->n;
	return true;
}

bool weft_lines_find(struct weft_lines *l, struct weft_elf_reader *reader, uint64_t address,
		     const char **file, uint32_t *line)
{
	for (const struct unit *u = l->units; u; u = u->next)
		if (find_in(u->lines, address, file, line))
			return true;
	if (l->over || weft_u64map_get(&l->missed, address + 1))
		return false;
	if (read_unit(l, reader, address) && find_in(l->units->lines, address, file, line)) {
		l->over |= l->kept >= LINES_MOST;
		return true;
	}
	if (l->missed.n >= MISSES_MOST || weft_u64map_put(&l->missed, address + 1, l))
		l->over = true;
	return false;
}
