/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The id of a cgroup is the inode number of its directory in the hierarchy of version 2. The
 * kernel never uses an id twice, so what was found once stays true, and what is not there when it
 * is looked for, although it was seen before, will never be: both are remembered, and a look at the
 * whole hierarchy is taken at most once for each id that was not known.
 *
 * Container engines name a container's cgroup by its id of 64 hexadecimal digits:
 *
 *   docker, cgroupfs          /docker/ID
 *   docker, systemd           /system.slice/docker-ID.scope
 *   containerd                /kubepods/.../ID
 *   containerd, systemd       .../cri-containerd-ID.scope
 *   podman                    .../libpod-ID.scope/container
 *   cri-o                     .../crio-ID.scope
 *
 * The innermost component that ends in such an id counts. A conmon, the monitor that podman and
 * cri-o run beside a container, has a cgroup that names the container as well, but is none.
 */
#include "core/consumer/cgroups.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID_DIGITS  64u
#define DEPTH_MOST 64u /* the kernel's own limit can be anything; nobody nests so deep */

struct weft_cgroup {
	const char *field[2]; /* by enum weft_cgroup_field */
};

void weft_cgroups_init(struct weft_cgroups *g, const char *root)
{
	memset(g, 0, sizeof(*g));
	g->root = root;
	weft_rows_init(&g->known, sizeof(uint64_t));
}

void weft_cgroups_finish(struct weft_cgroups *g)
{
	weft_rows_finish(&g->known);
	weft_arena_destroy(g->arena);
}

/* ---- containers ---- */

static bool all_hex(const char *s, size_t n)
{
	return strspn(s, "0123456789abcdef") >= n;
}

/* A component of n bytes: the id that it ends in. */
static const char *id_in(const char *s, size_t n)
{
	static const char scope[] = ".scope", conmon[] = "conmon-";
	size_t tail = sizeof(scope) - 1, monitor = sizeof(conmon) - 1;
	const char *id;

	if (n > tail && !memcmp(s + n - tail, scope, tail))
		n -= tail;
	if (n < ID_DIGITS)
		return NULL;
	id = s + n - ID_DIGITS;
	if (!all_hex(id, ID_DIGITS) || (id > s && id[-1] != '-' && id[-1] != ':'))
		return NULL;
	if ((size_t)(id - s) >= monitor && !memcmp(id - monitor, conmon, monitor))
		return NULL;
	return id;
}

size_t weft_cgroup_container(const char *path, const char **id)
{
	const char *end = path + strlen(path);

	while (end > path) {
		const char *start = end;

		while (start > path && start[-1] != '/')
			start--;
		*id = id_in(start, (size_t)(end - start));
		if (*id)
			return ID_DIGITS;
		end = start > path ? start - 1 : path;
	}
	return 0;
}

/* ---- looking ---- */

static const struct weft_cgroup *find(const struct weft_cgroups *g, uint64_t id)
{
	const uint64_t *words = weft_rows_find(&g->known, &id);

	return words ? (const struct weft_cgroup *)(uintptr_t)words[0] : NULL;
}

static int add(struct weft_cgroups *g, uint64_t id, const char *name, const char *container,
	       size_t n)
{
	struct weft_cgroup *c = weft_arena_alloc(g->arena, sizeof(*c));
	uint64_t *words;
	bool is_new;

	if (!c)
		return -ENOMEM;
	c->field[WEFT_CGROUP_NAME] = weft_arena_strdup(g->arena, name);
	c->field[WEFT_CGROUP_CONTAINER] = weft_arena_strndup(g->arena, container, n);
	if (!c->field[WEFT_CGROUP_NAME] || !c->field[WEFT_CGROUP_CONTAINER])
		return -ENOMEM;
	words = weft_rows_put(&g->known, &id, &is_new);
	if (!words)
		return -ENOMEM;
	words[0] = (uintptr_t)c;
	return 0;
}

static int add_path(struct weft_cgroups *g, uint64_t id, const char *path)
{
	const char *container = "";
	size_t n;

	if (find(g, id))
		return 0;
	n = weft_cgroup_container(path, &container);
	return add(g, id, *path ? path : "/", n ? container : "", n);
}

/* A directory of the hierarchy, whose descriptor it closes, and all below it. path is changed and
 * restored. What vanishes meanwhile is passed over. */
static int walk(struct weft_cgroups *g, int fd, char path[PATH_MAX], unsigned depth)
{
	size_t length = strlen(path);
	const struct dirent *e;
	struct stat st;
	DIR *dir;
	int ret, child;

	ret = fstat(fd, &st) ? 0 : add_path(g, st.st_ino, path);
	dir = ret || depth == DEPTH_MOST ? NULL : fdopendir(fd);
	if (!dir) {
		close(fd);
		return ret;
	}
	while (!ret && (e = readdir(dir)) != NULL) {
		if (e->d_type != DT_DIR || !strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (length + strlen(e->d_name) + 2 > PATH_MAX)
			continue;
		child = openat(dirfd(dir), e->d_name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (child < 0)
			continue;
		path[length] = '/';
		strcpy(path + length + 1, e->d_name);
		ret = walk(g, child, path, depth + 1);
		path[length] = '\0';
	}
	closedir(dir);
	return ret;
}

/* Where a hierarchy of version 2 is mounted; "" if none is. NULL: out of memory. */
static const char *find_root(struct weft_arena *arena)
{
	FILE *f = fopen("/proc/self/mounts", "re");
	char *line = NULL, *at = NULL, *type, *state;
	const char *root = NULL;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0) {
		strtok_r(line, " ", &state);
		at = strtok_r(NULL, " ", &state);
		type = strtok_r(NULL, " ", &state);
		if (at && type && !strcmp(type, "cgroup2"))
			break;
		at = NULL;
	}
	root = weft_arena_strdup(arena, at ? at : "");
	free(line);
	if (f)
		fclose(f);
	return root;
}

int weft_cgroups_look(struct weft_cgroups *g)
{
	char path[PATH_MAX] = "";
	int fd;

	if (!g->arena)
		g->arena = weft_arena_create();
	if (!g->arena)
		return -ENOMEM;
	if (!g->root)
		g->root = find_root(g->arena);
	if (!g->root)
		return -ENOMEM;
	fd = open(g->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? 0 : walk(g, fd, path, 0);
}

const char *weft_cgroups_text(struct weft_cgroups *g, uint64_t id, enum weft_cgroup_field field)
{
	const struct weft_cgroup *c = find(g, id);
	char unknown[32];

	if (!c) {
		snprintf(unknown, sizeof(unknown), "id:%" PRIu64, id);
		if (weft_cgroups_look(g))
			return NULL;
		if (!find(g, id) && add(g, id, unknown, unknown, strlen(unknown)))
			return NULL;
		c = find(g, id);
	}
	return c->field[field];
}
