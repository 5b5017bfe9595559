/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "loader.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capabilities.h"
#include "check.h"
#include "core/arena.h"
#include "core/params.h"
#include "image.h"
#include "module.h"
#include "trust.h"

#define SUFFIX        ".so"
#define SUMMARY_BYTES 201 /* loader.h */

struct entry {
	struct weft_loader_entry shown;
	char *path;
	char name[WEFT_PROVIDER_NAME_MAX + 1];
	char summary[SUMMARY_BYTES];
	struct weft_provider provider;
	struct weft_error *error;
};

struct weft_loader {
	struct weft_trust trust;
	struct entry **entries;
	size_t n, cap;
};

struct weft_loader *weft_loader_create(void)
{
	struct weft_loader *loader = calloc(1, sizeof(*loader));

	if (loader)
		weft_trust_init(&loader->trust);
	return loader;
}

static void entry_destroy(struct entry *e)
{
	if (!e)
		return;
	weft_error_destroy(e->error);
	free(e->path);
	free(e);
}

void weft_loader_destroy(struct weft_loader *loader)
{
	if (!loader)
		return;
	for (size_t i = 0; i < loader->n; i++)
		entry_destroy(loader->entries[i]);
	free(loader->entries);
	free(loader);
}

size_t weft_loader_count(const struct weft_loader *loader)
{
	return loader->n;
}

const struct weft_loader_entry *weft_loader_entry(const struct weft_loader *loader, size_t i)
{
	return i < loader->n ? &loader->entries[i]->shown : NULL;
}

const struct weft_loader_entry *weft_loader_find(const struct weft_loader *loader, const char *name)
{
	for (size_t i = 0; i < loader->n; i++) {
		const struct weft_loader_entry *e = &loader->entries[i]->shown;

		if (e->state == WEFT_LOADER_USABLE && strcmp(e->name, name) == 0)
			return e;
	}
	return NULL;
}

/* ---- one file ---- */

static int check_duplicate(const struct weft_loader *loader, const struct entry *e, const char *file)
{
	const struct weft_loader_entry *first = weft_loader_find(loader, e->name);

	if (!first)
		return 0;
	return weft_fail(e->error, -EEXIST, "PLUGIN_DUPLICATE",
			 "%s: there is a provider \"%s\" already, from %s; the first that is found "
			 "is used",
			 file, e->name, first->path);
}

/* What the view of the file has told; enough to name the plugin even if it is rejected later. */
static void take_identity(struct entry *e, const struct weft_provider_view *view)
{
	e->shown.abi_version = view->abi_version;
	memcpy(e->name, view->name, view->name_length + 1);
	e->shown.name = e->name;
}

/* The provider in memory: checked like the one in the file, then copied at this core's size. */
static int take_provider(struct entry *e, const char *file, struct weft_provider_view *view)
{
	const struct weft_provider *live = dlsym(e->shown.handle, WEFT_PROVIDER_SYMBOL);
	size_t size = sizeof(e->provider);
	int ret;

	if (!live)
		return weft_fail(e->error, -ENOENT, "PLUGIN_NO_SYMBOL",
				 "%s: the dynamic linker does not find its " WEFT_PROVIDER_SYMBOL,
				 file);
	memset(view, 0, sizeof(*view));
	view->file = file;
	ret = weft_live_check(live, view, e->error);
	if (ret)
		return ret;
	if (strcmp(view->name, e->name) != 0)
		return weft_fail(e->error, -EINVAL, "PLUGIN_NAME",
				 "%s: its provider is called \"%s\" in the file and \"%s\" once it "
				 "is loaded",
				 file, e->name, view->name);

	memcpy(&e->provider, live, view->struct_size < size ? view->struct_size : size);
	e->provider.struct_size = (uint32_t)size;
	e->provider.name = e->name;
	if (e->provider.summary)
		weft_printable(e->summary, sizeof(e->summary), e->provider.summary,
			       sizeof(e->summary));
	e->provider.summary = e->summary;
	ret = weft_params_check_specs(e->provider.options, e->name, e->error);
	return ret ? ret : weft_capabilities_check(e->provider.capabilities, e->name, e->error);
}

/* Everything that is asked of one file; e->error has the reason where it fails. */
static int judge(const struct weft_loader *loader, struct entry *e, const char *file,
		 struct weft_provider_view *view)
{
	char real[PATH_MAX];
	struct stat st;
	int fd, ret;

	if (!realpath(e->path, real)) {
		ret = -errno;
		return weft_fail(e->error, ret, "PLUGIN_OPEN", "%s cannot be opened: %s: %s", file,
				 e->path, strerror(-ret));
	}
	ret = weft_trust_open(&loader->trust, real, file, &fd, &st, e->error);
	if (ret)
		return ret;
	view->file = file;
	ret = weft_image_check(fd, (uint64_t)st.st_size, view, e->error);
	e->shown.abi_version = view->abi_version;
	if (!ret) {
		take_identity(e, view);
		ret = check_duplicate(loader, e, file);
	}
	if (ret) {
		close(fd);
		return ret;
	}
	ret = weft_module_open(fd, &st, real, file, &e->shown.handle, e->error);
	if (ret)
		return ret;
	return take_provider(e, file, view);
}

static void reject(struct entry *e)
{
	e->shown.state = WEFT_LOADER_REJECTED;
	e->shown.tag = weft_error_tag(e->error);
	e->shown.text = weft_error_text(e->error);
	e->shown.error = e->error;
	e->shown.provider = NULL;
}

/* An entry that is in the list, with nothing known but its path, which is taken over. */
static struct entry *entry_add(struct weft_loader *loader, char *path)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e)
		goto no_memory;
	e->error = weft_error_create();
	if (!e->error ||
	    weft_grow(&loader->entries, &loader->cap, loader->n, sizeof(struct entry *)))
		goto no_memory;
	e->path = path;
	e->shown.path = path;
	loader->entries[loader->n++] = e;
	return e;

no_memory:
	entry_destroy(e);
	free(path);
	return NULL;
}

static int add_file(struct weft_loader *loader, const char *dir, const char *name,
		    struct weft_error *err)
{
	struct weft_provider_view *view;
	struct entry *e;
	char file[128];
	char *path;
	int ret;

	if (asprintf(&path, "%s/%s", strcmp(dir, "/") ? dir : "", name) < 0)
		return weft_nomem(err);
	e = entry_add(loader, path);
	if (!e)
		return weft_nomem(err);
	view = calloc(1, sizeof(*view));
	if (!view) {
		weft_nomem(e->error);
		reject(e);
		return weft_nomem(err);
	}
	weft_printable(file, sizeof(file), name, strlen(name));
	ret = judge(loader, e, file, view);
	free(view);
	if (ret) {
		reject(e);
		return ret == -ENOMEM ? weft_nomem(err) : 0;
	}
	weft_error_clear(e->error);
	e->shown.state = WEFT_LOADER_USABLE;
	e->shown.provider = &e->provider;
	return 0;
}

int weft_loader_add_file(struct weft_loader *loader, const char *path, struct weft_error *err)
{
	const struct weft_loader_entry *e;
	const char *name = strrchr(path, '/');
	char dir[PATH_MAX], real[PATH_MAX];
	int ret;

	snprintf(dir, sizeof(dir), "%.*s", name ? (int)(name - path + 1) : 1, name ? path : ".");
	name = name ? name + 1 : path;
	if (strlen(path) >= sizeof(dir) || !realpath(dir, real))
		return weft_fail(err, -ENOENT, "PLUGIN_OPEN", "%s cannot be opened: %s", path,
				 strerror(strlen(path) >= sizeof(dir) ? ENAMETOOLONG : errno));
	ret = add_file(loader, real, name, err);
	if (ret)
		return ret;
	e = weft_loader_entry(loader, loader->n - 1);
	if (e->state == WEFT_LOADER_USABLE)
		return 0;
	return weft_fail(err, weft_error_code(e->error), e->tag, "%s", e->text);
}

/* ---- one directory ---- */

struct names {
	char **names;
	size_t n, cap;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_plugin_name(const char *name)
{
	size_t length = strlen(name);

	return name[0] != '.' && length > strlen(SUFFIX) &&
	       strcmp(name + length - strlen(SUFFIX), SUFFIX) == 0;
}

static int read_names(DIR *dir, struct names *out)
{
	struct dirent *d;

	for (errno = 0; (d = readdir(dir)); errno = 0) {
		char *name;

		if (!is_plugin_name(d->d_name))
			continue;
		name = strdup(d->d_name);
		if (!name || weft_grow(&out->names, &out->cap, out->n, sizeof(*out->names))) {
			free(name);
			return -ENOMEM;
		}
		out->names[out->n++] = name;
	}
	if (errno)
		return -errno;
	if (out->n)
		qsort(out->names, out->n, sizeof(*out->names), compare_names);
	return 0;
}

static void names_finish(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->names[i]);
	free(names->names);
}

/* A directory that cannot be read: an error where it is required, else an entry that says so. */
static int bad_dir(struct weft_loader *loader, const char *path, bool required, int code,
		   struct weft_error *err)
{
	struct entry *e = NULL;
	char *copy;

	if (code == -ENOMEM)
		return weft_nomem(err);
	if (code == -ENOENT && !required)
		return 0;
	if (!required) {
		copy = strdup(path);
		e = copy ? entry_add(loader, copy) : NULL;
		if (!e)
			return weft_nomem(err);
	}
	weft_fail(e ? e->error : err, code, "PLUGIN_DIR",
		  "the plugin directory %s cannot be read: %s", path, strerror(-code));
	if (!e)
		return code;
	reject(e);
	return 0;
}

int weft_loader_add_dir(struct weft_loader *loader, const char *path, bool required,
			struct weft_error *err)
{
	struct names names = {0};
	char real[PATH_MAX];
	DIR *dir;
	int ret;

	if (!realpath(path, real))
		return bad_dir(loader, path, required, -errno, err);
	dir = opendir(real);
	if (!dir)
		return bad_dir(loader, path, required, -errno, err);
	ret = read_names(dir, &names);
	closedir(dir);
	if (ret)
		ret = bad_dir(loader, path, required, ret, err);
	for (size_t i = 0; i < names.n && !ret; i++)
		ret = add_file(loader, real, names.names[i], err);
	names_finish(&names);
	return ret;
}
