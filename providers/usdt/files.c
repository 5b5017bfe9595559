/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files that may have probes. Each is looked at once: its record comes from the stash, or is made
 * by reading it. Of thousands of files few have probes, so no descriptor is kept where the path
 * leads to the file again; where it does not (a deleted file, a memfd, another root) the descriptor
 * is all there is.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "usdt/notes.h"
#include "usdt/usdt.h"

int weft_usdt_nomem(struct weft_instance *in, struct weft_error *err)
{
	return in->host->fail(err, -ENOMEM, "NO_MEMORY", "out of memory");
}

/* ---- a set of files ---- */

struct weft_usdt_seen {
	struct {
		uint64_t dev, ino;
	} * at; /* open addressing; ino 0: free */
	size_t n, size;
};

struct weft_usdt_seen *weft_usdt_seen_create(void)
{
	return calloc(1, sizeof(struct weft_usdt_seen));
}

void weft_usdt_seen_destroy(struct weft_usdt_seen *s)
{
	if (s)
		free(s->at);
	free(s);
}

static size_t slot(const struct weft_usdt_seen *s, uint64_t dev, uint64_t ino)
{
	uint64_t h = (ino ^ dev << 32) * 0x9e3779b97f4a7c15u;
	size_t i = (size_t)(h >> 20) & (s->size - 1);

	while (s->at[i].ino && (s->at[i].ino != ino || s->at[i].dev != dev))
		i = (i + 1) & (s->size - 1);
	return i;
}

static bool enlarge(struct weft_usdt_seen *s)
{
	struct weft_usdt_seen more = {.size = s->size ? 2 * s->size : 256};

	more.at = calloc(more.size, sizeof(*more.at));
	if (!more.at)
		return false;
	for (size_t i = 0; i < s->size; i++)
		if (s->at[i].ino)
			more.at[slot(&more, s->at[i].dev, s->at[i].ino)] = s->at[i];
	free(s->at);
	s->at = more.at;
	s->size = more.size;
	return true;
}

bool weft_usdt_seen(struct weft_usdt_seen *s, uint64_t dev, uint64_t ino)
{
	/* Without memory a file is looked at again, which does no harm. */
	if (2 * s->n >= s->size && !enlarge(s) && s->n + 1 >= s->size)
		return false;
	size_t i = slot(s, dev, ino);
	if (s->at[i].ino)
		return true;
	s->at[i].dev = dev;
	s->at[i].ino = ino;
	s->n++;
	return false;
}

/* Its place stays taken, by a device that no file is on. */
void weft_usdt_unsee(struct weft_usdt_seen *s, uint64_t dev, uint64_t ino)
{
	size_t i = s->size ? slot(s, dev, ino) : 0;

	if (s->size && s->at[i].ino)
		s->at[i].dev = UINT64_MAX;
}

/* ---- files ---- */

static struct weft_usdt_file **bucket(struct weft_instance *in, const struct weft_usdt_key *key)
{
	return &in->buckets[(key->ino * 31 + key->dev) % WEFT_USDT_BUCKETS];
}

static bool is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, ELFMAG, sizeof(magic));
}

static bool found_again(const char *path, const struct weft_usdt_key *key)
{
	struct stat st;

	return *path == '/' && !stat(path, &st) && st.st_dev == key->dev && st.st_ino == key->ino;
}

/* A file that changes while it is read is not what the key says: that shows afterwards. */
static int make_record(struct weft_instance *in, struct weft_usdt_file *f, int fd, bool lasting,
		       struct weft_error *err)
{
	struct weft_usdt_key after;
	struct stat st;
	int ret;

	ret = weft_usdt_read(in->host, fd, f->path, &f->key, &f->record, err);
	if (ret)
		return ret;
	if (fstat(fd, &st))
		return 0;
	weft_usdt_key_of(&st, &after);
	if (lasting && weft_usdt_key_same(&after, &f->key))
		weft_usdt_stash_put(&in->stash, f->record);
	return 0;
}

/* What is not ELF has no probes. */
static int make_empty(struct weft_instance *in, struct weft_usdt_file *f, struct weft_error *err)
{
	struct weft_usdt_draft none = {0};

	f->record = weft_usdt_draft_record(&none, &f->key, f->path);
	weft_usdt_draft_finish(&none);
	return f->record ? 0 : weft_usdt_nomem(in, err);
}

static int fill(struct weft_instance *in, struct weft_usdt_file *f, int fd, const struct stat *st,
		struct weft_error *err)
{
	/* What has no name any more nobody comes back to. */
	bool lasting = st->st_nlink && found_again(f->path, &f->key);

	if (lasting)
		f->record = weft_usdt_stash_get(&in->stash, &f->key);
	if (f->record)
		return 0;
	if (!is_elf(fd))
		return make_empty(in, f, err);
	return make_record(in, f, fd, lasting, err);
}

static struct weft_usdt_file *make(struct weft_instance *in, int fd, const char *path,
				   const struct stat *st, struct weft_error *err)
{
	struct weft_usdt_file *f = calloc(1, sizeof(*f));
	struct weft_usdt_file **in_bucket;
	int ret;

	if (!f || !(f->path = strdup(path))) {
		free(f);
		close(fd);
		weft_usdt_nomem(in, err);
		return NULL;
	}
	weft_usdt_key_of(st, &f->key);
	ret = fill(in, f, fd, st, err);
	if (ret && !err)
		in->host->loss(in->host, "USDT_FILE_LOST", 1, path);
	if (f->record && f->record->n_notes && !found_again(path, &f->key)) {
		f->fd = fd;
	} else {
		f->fd = -1;
		close(fd);
	}
	f->next = in->files;
	in->files = f;
	in_bucket = bucket(in, &f->key);
	f->in_bucket = *in_bucket;
	*in_bucket = f;
	return f;
}

struct weft_usdt_file *weft_usdt_file_take(struct weft_instance *in, int fd, const char *path,
					   struct weft_error *err)
{
	struct weft_usdt_file *f;
	struct weft_usdt_key key;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		in->host->fail(err, -EINVAL, "USDT_NO_FILE", "%s is no regular file", path);
		close(fd);
		return NULL;
	}
	weft_usdt_key_of(&st, &key);
	for (f = *bucket(in, &key); f; f = f->in_bucket) {
		if (weft_usdt_key_same(&f->key, &key)) {
			close(fd);
			if (!f->record && err)
				in->host->fail(err, -EINVAL, "USDT_FILE_LOST",
					       "%s could not be read when it was looked at first",
					       path);
			return f;
		}
	}
	return make(in, fd, path, &st, err);
}

int weft_usdt_file_open(const struct weft_usdt_file *f)
{
	struct weft_usdt_key key;
	struct stat st;
	int fd;

	if (f->fd >= 0) {
		fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
		return fd < 0 ? -errno : fd;
	}
	fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st)) {
		weft_usdt_key_of(&st, &key);
		if (weft_usdt_key_same(&key, &f->key))
			return fd;
	}
	close(fd);
	return -ESTALE;
}

void weft_usdt_files_finish(struct weft_instance *in)
{
	while (in->files) {
		struct weft_usdt_file *f = in->files;

		in->files = f->next;
		if (f->fd >= 0)
			close(f->fd);
		free(f->record);
		free(f->path);
		free(f);
	}
}
