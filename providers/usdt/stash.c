/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "usdt/stash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX  ".usdt"
#define NAME    64u
#define PARTIAL ".new." /* what is being written begins like this */

/* ---- the folder ---- */

static bool is_ours(const struct stat *st)
{
	return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

void weft_usdt_stash_open(struct weft_usdt_stash *s, const char *path, const char **why)
{
	struct stat st;

	*s = (struct weft_usdt_stash){.dir = -1, .writable = true};
	*why = NULL;
	if (!path || !strcmp(path, "off"))
		return;
	if (mkdir(path, 0700) && errno != EEXIST && errno != EROFS && errno != EACCES &&
	    errno != EPERM) {
		*why = "its folder cannot be made";
		return;
	}
	s->dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->dir < 0) {
		*why = "its folder cannot be opened";
		return;
	}
	/* Who can write to it can make us believe things of files. */
	if (fstat(s->dir, &st) || !is_ours(&st)) {
		*why = "its folder belongs to somebody else, or others may write to it";
		weft_usdt_stash_close(s);
	}
}

void weft_usdt_stash_close(struct weft_usdt_stash *s)
{
	if (s->dir >= 0)
		close(s->dir);
	s->dir = -1;
}

/* ---- records ---- */

static void name_of(const struct weft_usdt_key *key, char name[NAME])
{
	snprintf(name, NAME, "%" PRIx64 "-%" PRIx64 SUFFIX, key->dev, key->ino);
}

static bool read_all(int fd, char *to, size_t n)
{
	while (n) {
		ssize_t got = read(fd, to, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		to += got;
		n -= (size_t)got;
	}
	return true;
}

static struct weft_usdt_record *load(struct weft_usdt_stash *s, const char *name)
{
	int fd = openat(s->dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct weft_usdt_record *r = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && is_ours(&st) &&
	    st.st_size >= (off_t)sizeof(*r) && st.st_size <= (off_t)WEFT_USDT_RECORD_MOST)
		r = malloc((size_t)st.st_size);
	if (r && (!read_all(fd, (char *)r, (size_t)st.st_size) ||
		  !weft_usdt_record_check(r, (size_t)st.st_size))) {
		free(r);
		r = NULL;
	}
	close(fd);
	return r;
}

struct weft_usdt_record *weft_usdt_stash_get(struct weft_usdt_stash *s,
					     const struct weft_usdt_key *key)
{
	struct weft_usdt_record *r;
	char name[NAME];

	if (s->dir < 0)
		return NULL;
	name_of(key, name);
	r = load(s, name);
	if (r && !weft_usdt_key_same(&r->key, key)) {
		free(r);
		r = NULL;
	}
	return r;
}

static bool write_all(int fd, const char *from, size_t n)
{
	while (n) {
		ssize_t put = write(fd, from, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		from += put;
		n -= (size_t)put;
	}
	return true;
}

void weft_usdt_stash_put(struct weft_usdt_stash *s, const struct weft_usdt_record *r)
{
	char name[NAME], partial[NAME];
	bool good;
	int fd;

	if (s->dir < 0 || !s->writable || r->total > WEFT_USDT_STASH_BYTES / 2)
		return;
	name_of(&r->key, name);
	snprintf(partial, sizeof(partial), PARTIAL "%d-%u", (int)getpid(), s->serial++);
	fd = openat(s->dir, partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST) { /* of a tracer that died, and had our number */
		unlinkat(s->dir, partial, 0);
		fd = openat(s->dir, partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
	}
	if (fd < 0) {
		s->writable = false;
		return;
	}
	good = write_all(fd, (const char *)r, r->total);
	close(fd);
	if (!good || renameat(s->dir, partial, s->dir, name)) {
		unlinkat(s->dir, partial, 0);
		s->writable = false; /* full: the next will not fit either */
		return;
	}
	s->written += r->total;
	if (s->written > WEFT_USDT_STASH_BYTES / 8) {
		s->written = 0;
		weft_usdt_stash_trim(s, WEFT_USDT_STASH_BYTES, WEFT_USDT_STASH_FILES);
	}
}

/* ---- all of them ---- */

static DIR *folder(const struct weft_usdt_stash *s)
{
	int fd = s->dir < 0 ? -1 : openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !d)
		close(fd);
	return d;
}

static bool ends_with(const char *name, const char *suffix)
{
	size_t n = strlen(name), k = strlen(suffix);

	return n > k && !strcmp(name + n - k, suffix);
}

int weft_usdt_stash_walk(struct weft_usdt_stash *s, int (*fn)(struct weft_usdt_record *, void *),
			 void *arg)
{
	const struct dirent *e;
	DIR *d = folder(s);
	int ret = 0;

	if (!d)
		return 0;
	while (!ret && (e = readdir(d))) {
		struct weft_usdt_record *r =
			ends_with(e->d_name, SUFFIX) ? load(s, e->d_name) : NULL;
		if (r)
			ret = fn(r, arg);
	}
	closedir(d);
	return ret;
}

/* ---- keeping it small ---- */

struct stashed {
	char name[NAME];
	int64_t when;
	uint64_t size;
};

static int oldest_first(const void *a, const void *b)
{
	const struct stashed *x = a, *y = b;

	return x->when < y->when ? -1 : x->when > y->when;
}

/* What was begun an hour ago will not be finished. */
#define ABANDONED 3600

static void look_at(const struct weft_usdt_stash *s, const char *name, const struct stat *st,
		    struct stashed *all, size_t *n)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (!strncmp(name, PARTIAL, sizeof(PARTIAL) - 1)) {
		if (st->st_mtim.tv_sec + ABANDONED < now.tv_sec)
			unlinkat(s->dir, name, 0);
		return;
	}
	if (!ends_with(name, SUFFIX) || strlen(name) >= NAME)
		return;
	strcpy(all[*n].name, name);
	all[*n].when = st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;
	all[(*n)++].size = (uint64_t)st->st_size;
}

void weft_usdt_stash_trim(struct weft_usdt_stash *s, uint64_t bytes, size_t files)
{
	struct stashed *all = NULL;
	size_t n = 0, cap = 0, i;
	const struct dirent *e;
	uint64_t total = 0;
	struct stat st;
	DIR *d = folder(s);

	if (!d)
		return;
	while ((e = readdir(d))) {
		if (n == cap) {
			size_t more = cap ? 2 * cap : 256;
			struct stashed *grown = reallocarray(all, more, sizeof(*grown));

			if (!grown)
				break;
			all = grown;
			cap = more;
		}
		if (!fstatat(s->dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
			look_at(s, e->d_name, &st, all, &n);
	}
	closedir(d);
	for (i = 0; i < n; i++)
		total += all[i].size;
	if (n)
		qsort(all, n, sizeof(*all), oldest_first);
	for (i = 0; i < n && (total > bytes || n - i > files); i++) {
		unlinkat(s->dir, all[i].name, 0);
		total -= all[i].size;
	}
	free(all);
}
