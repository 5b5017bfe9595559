/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The kernel's own list of tracepoints: tracefs. Where it is mounted nowhere, it is mounted for
 * this process alone: a mount without a place in the tree, which goes with its descriptor. So
 * nothing on the machine changes, and listing works on a machine where nobody has ever traced.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format.h"

static int open_folder(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int mount_for_us(void)
{
	int fs = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC), mount, events;

	if (fs < 0)
		return -errno;
	mount = syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0)
			? -errno
			: (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0);
	if (mount == -1)
		mount = -errno;
	close(fs);
	if (mount < 0)
		return mount;
	events = open_folder(mount, "events");
	close(mount);
	return events;
}

int tracepoint_open_events(bool *hidden_mount)
{
	static const char *const places[] = {"/sys/kernel/tracing/events",
					     "/sys/kernel/debug/tracing/events"};
	int first = -ENOENT, fd;

	*hidden_mount = false;
	for (size_t i = 0; i < COUNT(places); i++) {
		fd = open_folder(AT_FDCWD, places[i]);
		if (fd >= 0)
			return fd;
		if (fd != -ENOENT && first == -ENOENT)
			first = fd;
	}
	if (first != -ENOENT)
		return first; /* it is there, and closed to us */
	fd = mount_for_us();
	*hidden_mount = fd >= 0;
	return fd;
}

static bool is_name(const char *s)
{
	return *s && *s != '.' && !strchr(s, '/');
}

long tracepoint_read(int events, const char *category, const char *event, const char *file,
		     char *buf, size_t size)
{
	char path[PATH_MAX];
	size_t at = 0;
	ssize_t n;
	int fd;

	/* Names come from users: none leads out of its folder. */
	if (!is_name(category) || !is_name(event) ||
	    snprintf(path, sizeof(path), "%s/%s/%s", category, event, file) >= (int)sizeof(path))
		return -ENOENT;
	fd = openat(events, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	do {
		n = read(fd, buf + at, size - 1 - at);
		if (n > 0)
			at += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	n = n < 0 ? -errno : (ssize_t)at;
	buf[at] = '\0';
	close(fd);
	return n;
}

static int each_folder(int fd, int (*fn)(void *arg, const char *name), void *arg)
{
	DIR *dir = fdopendir(fd);
	struct dirent *d;
	int ret = 0;

	if (!dir) {
		ret = -errno;
		close(fd);
		return ret;
	}
	while (!ret && (d = readdir(dir)))
		if (d->d_type == DT_DIR && is_name(d->d_name))
			ret = fn(arg, d->d_name);
	closedir(dir);
	return ret;
}

int tracepoint_categories(int events, int (*fn)(void *arg, const char *category), void *arg)
{
	int fd = open_folder(events, ".");

	return fd < 0 ? fd : each_folder(fd, fn, arg);
}

struct walk {
	const char *category;
	int (*fn)(void *arg, const char *category, const char *event);
	void *arg;
};

static int step(void *arg, const char *event)
{
	const struct walk *w = arg;

	return w->fn(w->arg, w->category, event);
}

int tracepoint_each(int events, const char *category,
		    int (*fn)(void *arg, const char *category, const char *event), void *arg)
{
	struct walk w = {.category = category, .fn = fn, .arg = arg};
	int fd = is_name(category) ? open_folder(events, category) : -ENOENT;

	return fd < 0 ? fd : each_folder(fd, step, &w);
}
