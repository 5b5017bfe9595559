/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* /proc/PID/maps: the files whose code a process has. The text is the kernel's, the paths in it are
 * whatever the process made of them; a newline in one is escaped by the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "support/maps.h"

/* The kernel writes \012 for a newline in a path. */
static void unescape(char *path)
{
	char *to = path;

	for (const char *p = path; *p; p++) {
		if (!strncmp(p, "\\012", 4)) {
			*to++ = '\n';
			p += 3;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
}

/* A number in hexadecimal or decimal, and the one character behind it. */
static bool number(char **p, unsigned base, char end, uint64_t *out)
{
	char *stop;

	errno = 0;
	*out = strtoull(*p, &stop, (int)base);
	if (stop == *p || *stop != end || errno)
		return false;
	*p = stop + 1;
	return true;
}

/* "from-to perms offset major:minor inode   path". A machine has tens of thousands of these. */
static bool parse(char *line, struct support_mapped *out)
{
	static const char deleted[] = " (deleted)";
	uint64_t offset, major, minor;
	char *p = line, *perms;

	if (!number(&p, 16, '-', &out->from) || !number(&p, 16, ' ', &out->to))
		return false;
	perms = p;
	if (strnlen(perms, 5) < 5 || perms[2] != 'x')
		return false;
	p += 5;
	if (!number(&p, 16, ' ', &offset) || !number(&p, 16, ':', &major) ||
	    !number(&p, 16, ' ', &minor) || !number(&p, 10, ' ', &out->ino))
		return false;
	p += strspn(p, " ");
	if (*p != '/')
		return false;
	p[strcspn(p, "\n")] = '\0';
	out->dev = makedev((unsigned)major, (unsigned)minor);
	out->path = p;
	size_t n = strlen(out->path), tail = sizeof(deleted) - 1;
	out->deleted = n > tail && !strcmp(out->path + n - tail, deleted);
	if (out->deleted)
		out->path[n - tail] = '\0';
	unescape(out->path);
	return true;
}

int support_maps(int32_t pid, int (*fn)(const struct support_mapped *, void *), void *arg)
{
	char path[64], *line = NULL;
	size_t cap = 0;
	int ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return -errno;
	while (!ret && getline(&line, &cap, f) > 0) {
		struct support_mapped m;

		if (parse(line, &m))
			ret = fn(&m, arg);
	}
	if (!ret && !feof(f))
		ret = -errno;
	free(line);
	fclose(f);
	return ret;
}

static int is_there(const struct support_mapped *m, void *arg)
{
	const struct support_mapped *wanted = arg;

	return m->from == wanted->from && m->dev == wanted->dev && m->ino == wanted->ino;
}

/* Another file may be mapped there by now. Its numbers need not be what stat() says. */
static bool is_still(int32_t pid, const struct support_mapped *m, int fd)
{
	struct support_mapped wanted = *m;
	struct stat st;

	if (!m->ino || (!fstat(fd, &st) && st.st_dev == m->dev && st.st_ino == m->ino))
		return true;
	return support_maps(pid, is_there, &wanted) == 1;
}

int support_mapped_open(int32_t pid, const struct support_mapped *m)
{
	char path[4096];

	/* What is mapped, whatever has become of its path; takes a capability. */
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, m->from, m->to);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && is_still(pid, m, fd))
		return fd;
	if (fd >= 0) {
		close(fd);
		errno = ENOENT;
	}
	if (m->deleted)
		return -errno;
	int n = snprintf(path, sizeof(path), "/proc/%d/root%s", pid, m->path);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}
