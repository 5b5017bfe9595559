/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/elf/open.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In a container's root an absolute symbolic link means the container's file. */
static int open_path(const char *root, const char *path, int flags)
{
	struct open_how how = {.flags = (uint64_t)flags,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int dir, fd;

	if (!root) {
		fd = open(path, flags);
		return fd < 0 ? -errno : fd;
	}
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	if (fd < 0)
		fd = -errno;
	close(dir);
	return fd;
}

int weft_open_regular(const char *root, const char *path, bool itself, struct stat *st)
{
	int fd = open_path(root, path, O_PATH | O_CLOEXEC | (itself ? O_NOFOLLOW : 0)), r;
	char again[64];

	if (fd < 0)
		return fd;
	if (fstat(fd, st)) {
		r = -errno;
	} else if (!S_ISREG(st->st_mode)) {
		r = -ENOEXEC;
	} else {
		snprintf(again, sizeof(again), "/proc/self/fd/%d", fd);
		r = open(again, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (r < 0)
			r = -errno;
	}
	close(fd);
	return r;
}
