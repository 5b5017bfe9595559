/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where a separate debug file may lie, in the order of gdb: by build ID, then by the name in
 * .gnu_debuglink beside the file, in its .debug, and under /usr/lib/debug; each first in the root
 * of the process that runs the file, then in ours. The name is the file's author's: it must be a
 * name, not a path.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/elf/internal.h"
#include "core/elf/open.h"

#define DEBUG_FOLDER "/usr/lib/debug"

static bool by_build_id(struct weft_elf_search *s)
{
	const struct weft_elf *elf = s->elf;
	char *to = s->path;

	if (elf->build_id_size < 2)
		return false;
	to += sprintf(to, DEBUG_FOLDER "/.build-id/%02x/", elf->build_id[0]);
	for (uint32_t i = 1; i < elf->build_id_size; i++)
		to += sprintf(to, "%02x", elf->build_id[i]);
	strcpy(to, ".debug");
	s->by_link = false;
	return true;
}

static bool by_link(struct weft_elf_search *s, const char *before, const char *between)
{
	const char *name = s->debug_link, *path = s->request->path, *slash;
	int n;

	if (!name || !*name || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, "..") ||
	    !path || path[0] != '/')
		return false;
	slash = strrchr(path, '/');
	n = snprintf(s->path, sizeof(s->path), "%s%.*s%s/%s", before, (int)(slash - path), path,
		     between, name);
	s->by_link = true;
	return n > 0 && (size_t)n < sizeof(s->path);
}

bool weft_elf_search_next(struct weft_elf_search *s)
{
	for (; s->next < 8; s->next++) {
		bool inside = s->next % 2 == 0, found;

		if (inside && !s->request->root)
			continue;
		s->root = inside ? s->request->root : NULL;
		switch (s->next / 2) {
		case 0:
			found = by_build_id(s);
			break;
		case 1:
			found = by_link(s, "", "");
			break;
		case 2:
			found = by_link(s, "", "/.debug");
			break;
		default:
			found = by_link(s, DEBUG_FOLDER, "");
			break;
		}
		if (found) {
			s->next++;
			return true;
		}
	}
	return false;
}

int weft_elf_map_debug(struct weft_elf_reader *r, const struct weft_elf_search *s,
		       const struct weft_elf_mapped *self, struct weft_elf_mapped *out)
{
	struct stat st;
	int fd = weft_open_regular(s->root, s->path, false, &st), ret = -ENOENT;

	if (fd < 0)
		return fd;
	if (st.st_dev != self->st.st_dev || st.st_ino != self->st.st_ino)
		ret = weft_elf_map(fd, r->limits.file, s->path, out, NULL);
	close(fd);
	return ret;
}

int weft_elf_with_debug_file(struct weft_elf_reader *r, const struct weft_elf_entry *e,
			     const struct weft_elf_request *request,
			     const struct weft_elf_mapped *self, struct weft_elf_job *file,
			     int (*fn)(void *arg, const char *path), void *arg)
{
	struct weft_elf_search s = {.request = request, .elf = &e->elf, .debug_link = e->debug_link};
	struct weft_elf_mapped debug;
	int ret = -ENOENT;

	while (ret && weft_elf_search_next(&s)) {
		if (weft_elf_map_debug(r, &s, self, &debug))
			continue;
		file->debug = debug.bytes;
		file->debug_size = debug.size;
		file->by_link = s.by_link;
		file->debug_crc = e->debug_crc;
		ret = fn(arg, s.path);
		weft_elf_unmap(&debug);
	}
	file->debug = NULL;
	return ret ? -ENOENT : 0;
}
