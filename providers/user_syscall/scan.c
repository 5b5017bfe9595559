/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Finding tables: what a process has mapped under the name of one. The name proves nothing; table.c
 * looks at the file. It is opened through map_files, which leads to the very file, whatever the
 * process's mount namespace is and whether it still has a descriptor.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/file.h"
#include "user_syscall.h"

#define MAPS_MAX (16u << 20) /* bytes of one process's list that are looked at */
#define CHUNK    (64u << 10)

bool us_is_target(const struct weft_instance *in, pid_t pid)
{
	const struct weft_target *t = in->host->target(in->host);

	/* Children of targets are told apart when they fire. */
	if (!t->n_pids || t->follow)
		return true;
	for (uint32_t i = 0; i < t->n_pids; i++)
		if (t->pids[i] == pid)
			return true;
	return false;
}

/* "START-END PERMS OFFSET DEV INODE   /memfd:weft:probes (deleted)" */
static bool is_table(const char *line, size_t n, char *range, size_t size)
{
	static const char name[] = "/memfd:" WEFT_TABLE_FILE;
	const char *at = memmem(line, n, name, sizeof(name) - 1);
	const char *blank = memchr(line, ' ', n);

	/* The name is the last field: nothing but blanks before it can be a slash. */
	if (!at || !blank || memchr(line, '/', (size_t)(at - line)))
		return false;
	return (size_t)snprintf(range, size, "map_files/%.*s", (int)(blank - line), line) < size;
}

static bool take_line(int proc_fd, const char *line, size_t n, struct us_found *found, size_t most,
		      size_t *n_found)
{
	struct us_found *f = &found[*n_found];

	if (*n_found == most)
		return false;
	if (!is_table(line, n, f->link, sizeof(f->link)))
		return true;
	f->fd = openat(proc_fd, f->link, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (f->fd >= 0)
		++*n_found;
	return true;
}

int us_scan_process(int proc_fd, struct us_found *found, size_t most, size_t *n)
{
	char *buf = malloc(CHUNK);
	size_t have = 0, total = 0;
	int fd = -1, ret = 0;

	*n = 0;
	if (!buf)
		return -ENOMEM;
	fd = openat(proc_fd, "maps", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && total < MAPS_MAX) {
		ssize_t got = read(fd, buf + have, CHUNK - have);
		char *line = buf, *end;

		if (got <= 0)
			break;
		total += (size_t)got;
		have += (size_t)got;
		while ((end = memchr(line, '\n', have - (size_t)(line - buf)))) {
			if (!take_line(proc_fd, line, (size_t)(end - line), found, most, n))
				goto out;
			line = end + 1;
		}
		have -= (size_t)(line - buf);
		if (have == CHUNK)
			break; /* no path is so long */
		memmove(buf, line, have);
	}
out:
	support_close(fd);
	free(buf);
	return ret;
}

static int by_number(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

/* In the order of their numbers: who was there first is who a name belongs to. */
int us_scan(struct weft_instance *in)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	pid_t *pids = NULL;
	size_t n = 0, cap = 0;
	int ret = 0;

	if (!dir)
		return 0;
	while (!ret && (e = readdir(dir))) {
		char *end;
		long pid = strtol(e->d_name, &end, 10);

		if (*end || pid <= 0)
			continue;
		if (n == cap) {
			cap = cap ? 2 * cap : 256;
			pid_t *grown = realloc(pids, cap * sizeof(*pids));
			if (!grown) {
				ret = -ENOMEM;
				break;
			}
			pids = grown;
		}
		pids[n++] = (pid_t)pid;
	}
	closedir(dir);
	if (n)
		qsort(pids, n, sizeof(*pids), by_number);
	for (size_t i = 0; !ret && i < n; i++)
		if (us_is_target(in, pids[i]))
			ret = us_family_adopt(in, pids[i]);
	free(pids);
	return ret;
}
