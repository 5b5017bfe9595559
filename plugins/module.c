/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "module.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/arena.h"

static struct module {
	dev_t device;
	ino_t inode; /* not used again for another file while fd is open */
	int fd;
	void *handle;
} * modules;
static size_t n_modules, cap_modules;
static pthread_mutex_t lock =
	PTHREAD_MUTEX_INITIALIZER; /* of all that, and of dlerror()'s answer */

static void *find_module(const struct stat *st)
{
	for (size_t i = 0; i < n_modules; i++) {
		if (modules[i].device == st->st_dev && modules[i].inode == st->st_ino)
			return modules[i].handle;
	}
	return NULL;
}

static void *load_by_fd(int fd)
{
	char self[32], name[64 + sizeof(self)];
	ssize_t n =
		readlink("/proc/self", self, sizeof(self) - 1); /* the pid as this /proc has it */

	if (n <= 0)
		return NULL;
	self[n] = '\0';
	snprintf(name, sizeof(name), "/proc/%s/fd/%d", self, fd);
	return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static void *load_by_path(const struct stat *st, const char *path)
{
	struct stat now;

	if (stat(path, &now) || now.st_dev != st->st_dev || now.st_ino != st->st_ino)
		return NULL;
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static int open_locked(int fd, const struct stat *st, const char *path, const char *file,
		       void **handle, struct weft_error *err)
{
	const char *why;

	*handle = find_module(st);
	if (*handle) {
		close(fd);
		return 0;
	}
	/* First the room to remember it: afterwards it could not be undone. */
	if (weft_grow(&modules, &cap_modules, n_modules, sizeof(*modules))) {
		close(fd);
		return weft_nomem(err);
	}
	*handle = load_by_fd(fd);
	if (!*handle)
		*handle = load_by_path(st, path);
	if (!*handle) {
		why = dlerror();
		weft_fail(err, -ELIBBAD, "PLUGIN_DLOPEN", "%s cannot be loaded: %s", file,
			  why ? why : "it was replaced while it was checked");
		close(fd);
		return -ELIBBAD;
	}
	modules[n_modules++] = (struct module){st->st_dev, st->st_ino, fd, *handle};
	return 0;
}

int weft_module_open(int fd, const struct stat *st, const char *path, const char *file,
		     void **handle, struct weft_error *err)
{
	int ret;

	pthread_mutex_lock(&lock);
	ret = open_locked(fd, st, path, file, handle, err);
	pthread_mutex_unlock(&lock);
	return ret;
}
