/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where the providers and probe sets are that come along, without any environment variable: a build
 * tree and an installed one are told apart by where the library lies (or the program that it is
 * linked into), so that both work wherever they were put. BUILD/cli/trace-cli and
 * BUILD/embed/libweft.so use BUILD/providers and BUILD/sets; PREFIX/bin/trace-cli and
 * PREFIX/lib/libweft.so use what lies below the same PREFIX, if that is there; else the paths of
 * the configured installation.
 */
#include "embed/trace.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tree {
	const char *folder;   /* that the library or the program lies in */
	const char *below[2]; /* by enum weft_place: below the folder above that */
};

static const struct tree trees[] = {
	{"cli", {"providers", "sets"}},
	{"embed", {"providers", "sets"}},
	{WEFT_BINDIR, {WEFT_LIBDIR "/weft/providers", WEFT_DATADIR "/weft/sets"}},
	{WEFT_LIBDIR, {WEFT_LIBDIR "/weft/providers", WEFT_DATADIR "/weft/sets"}},
};

static const char *const fallbacks[] = {WEFT_FULL_LIBDIR "/weft/providers",
					WEFT_FULL_DATADIR "/weft/sets"};

/* The file that this code is in: its real path's folder. */
static bool own_folder(char out[PATH_MAX])
{
	struct link_map *map = NULL;
	const char *path = "/proc/self/exe";
	char *slash;
	Dl_info info;

	if (dladdr1((const void *)weft_trace_open, &info, (void **)&map, RTLD_DL_LINKMAP) && map &&
	    map->l_name && *map->l_name) /* the program itself has no name there */
		path = map->l_name;
	if (!realpath(path, out))
		return false;
	slash = strrchr(out, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

/* Cuts path at the folder above `folder`, if that is what it ends with. */
static bool above(char *path, const char *folder)
{
	size_t n = strlen(path), k = strlen(folder);

	if (n <= k + 1 || strcmp(path + n - k, folder) || path[n - k - 1] != '/')
		return false;
	path[n - k - 1] = '\0';
	return true;
}

static bool try_tree(const char *own, const struct tree *t, enum weft_place place,
		     char out[PATH_MAX])
{
	char root[PATH_MAX];
	struct stat st;

	snprintf(root, sizeof(root), "%s", own);
	if (!above(root, t->folder))
		return false;
	return snprintf(out, PATH_MAX, "%s/%s", root, t->below[place]) < PATH_MAX &&
	       !stat(out, &st) && S_ISDIR(st.st_mode);
}

const char *weft_place_dir(enum weft_place place, char buf[PATH_MAX])
{
	char own[PATH_MAX];
	size_t i;

	if (own_folder(own))
		for (i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
			if (try_tree(own, &trees[i], place, buf))
				return buf;
	snprintf(buf, PATH_MAX, "%s", fallbacks[place]);
	return buf;
}

/* ---- probe sets by name ---- */

struct names {
	char **at;
	size_t n, cap;
};

static bool has_suffix(const char *name, const char *suffix)
{
	size_t n = strlen(name), k = strlen(suffix);

	return n > k && !strcmp(name + n - k, suffix);
}

static bool is_set_file(const char *name)
{
	return has_suffix(name, ".yaml") || has_suffix(name, ".yml");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void names_finish(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->at[i]);
	free(names->at);
	*names = (struct names){0};
}

/* Sorted; without their suffixes. 0 or -errno. */
static int names_read(const char *dir, struct names *out)
{
	struct dirent *d;
	DIR *at = opendir(dir);
	int ret = 0;

	*out = (struct names){0};
	if (!at)
		return -errno;
	while (!ret && (d = readdir(at))) {
		if (!is_set_file(d->d_name) || *d->d_name == '.')
			continue;
		ret = weft_grow(&out->at, &out->cap, out->n, sizeof(*out->at));
		if (ret)
			break;
		out->at[out->n] = strndup(d->d_name, strcspn(d->d_name, "."));
		ret = out->at[out->n] ? 0 : -ENOMEM;
		out->n += !ret;
	}
	closedir(at);
	if (ret)
		names_finish(out);
	else if (out->n)
		qsort(out->at, out->n, sizeof(*out->at), by_name);
	return ret;
}

static int unknown_set(struct weft_trace *t, const char *name, const char *dir)
{
	struct names names;
	const char *near;

	if (names_read(dir, &names))
		names = (struct names){0};
	near = names.n ? weft_nearest(name, (const char *const *)names.at, names.n) : NULL;
	weft_fail(t->err, -ENOENT, "SET_UNKNOWN",
		  "there is no probe set \"%s\" among those in %s, and no such file%s%s%s", name,
		  dir, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	names_finish(&names);
	return -ENOENT;
}

/* A path is a file's; a bare word names one that comes along, or failing that a file. */
static int find_set(struct weft_trace *t, const char *name, char *path, size_t size)
{
	char dir[PATH_MAX], shipped[PATH_MAX];
	const char *found = name;

	if (*name && !strchr(name, '/') && !is_set_file(name)) {
		weft_place_dir(WEFT_PLACE_SETS, dir);
		if (snprintf(shipped, sizeof(shipped), "%s/%s.yaml", dir, name) <
			    (int)sizeof(shipped) &&
		    !access(shipped, R_OK))
			found = shipped;
		else if (access(name, F_OK))
			return unknown_set(t, name, dir);
	}
	if (strlen(found) >= size)
		return weft_fail(t->err, -ENAMETOOLONG, "CONFIG_OPEN", "this path is too long");
	memcpy(path, found, strlen(found) + 1);
	return 0;
}

int weft_trace_find_set(struct weft_trace *t, const char *name, char *path, size_t size)
{
	int ret;

	ret = weft_enter(t, "find_set", ~(unsigned int)WEFT_AT_REFUSED);
	if (ret)
		return ret;
	if (!name || !path)
		ret = weft_null(t, name ? "path" : "name");
	else
		ret = find_set(t, name, path, size);
	return weft_leave(t, ret);
}

int weft_trace_sets(struct weft_trace *t, int (*fn)(void *arg, const char *name, const char *path),
		    void *arg)
{
	char dir[PATH_MAX], path[PATH_MAX];
	struct names names;
	int ret;
	size_t i;

	ret = weft_enter(t, "sets", ~(unsigned int)WEFT_AT_REFUSED);
	if (ret)
		return ret;
	if (!fn)
		return weft_leave(t, weft_null(t, "fn"));
	weft_place_dir(WEFT_PLACE_SETS, dir);
	ret = names_read(dir, &names);
	if (ret)
		return weft_leave(t, weft_fail(t->err, ret, "SETS_DIR",
					       "the folder of probe sets %s cannot be read: %s",
					       dir, strerror(-ret)));
	for (i = 0; !ret && i < names.n; i++)
		if (snprintf(path, sizeof(path), "%s/%s.yaml", dir, names.at[i]) < (int)sizeof(path))
			ret = weft_called(fn(arg, names.at[i], path));
	names_finish(&names);
	return weft_leave(t, ret);
}
