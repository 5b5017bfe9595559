/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reading a table. Its writer may be hostile and changes it as we read. So: it must be a memfd that
 * is sealed against shrinking; nothing of it is mapped, only copied, with pread; the header is
 * copied once, checked, and never looked at again but for the count; every declaration is copied
 * before it is looked at; and there is a limit on everything.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "support/file.h"
#include "user_syscall.h"

#define CHUNK (64u << 10)

static int check_file(int fd, struct stat *st, const char **why)
{
	struct statfs fs;
	int seals;

	if (fstat(fd, st))
		return -errno;
	*why = "it is no memory file";
	if (!S_ISREG(st->st_mode) || fstatfs(fd, &fs) || fs.f_type != TMPFS_MAGIC)
		return -EINVAL;
	seals = fcntl(fd, F_GET_SEALS);
	*why = "it is not sealed against shrinking";
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return -EINVAL;
	*why = "it is sealed against writing";
	if (seals & (F_SEAL_WRITE | 0x10 /* F_SEAL_FUTURE_WRITE */))
		return -EINVAL;
	return 0;
}

static int check_header(const struct weft_probe_table *h, off_t size, const char **why)
{
	*why = "its header is not that of a table";
	if (memcmp(h->magic, WEFT_TABLE_MAGIC, sizeof(h->magic)))
		return -EINVAL;
	*why = "its version is not 1";
	if (h->version != WEFT_TABLE_VERSION)
		return -EINVAL;
	*why = "its number or its capacity is out of range";
	if (h->number >= WEFT_TABLE_NUMBERS || !h->capacity || h->capacity > WEFT_TABLE_CAPACITY ||
	    h->decls_size > WEFT_TABLE_DECLS)
		return -EINVAL;
	*why = "its parts do not lie within it";
	if (h->words < WEFT_TABLE_HEADER || h->words % 8 || h->decls < WEFT_TABLE_HEADER ||
	    h->decls % 8 || (off_t)h->words + 8 * (off_t)h->capacity > size ||
	    (off_t)h->decls + h->decls_size > size)
		return -EINVAL;
	return 0;
}

int us_table_open(int fd, struct us_table *out, const char **why)
{
	struct weft_probe_table header;
	struct stat st;

	*why = "it cannot be read";
	int ret = check_file(fd, &st, why);
	if (!ret && pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		ret = -EINVAL;
	if (!ret)
		ret = check_header(&header, st.st_size, why);
	if (ret) {
		support_close(fd);
		return ret;
	}
	*out = (struct us_table){
		.fd = fd,
		.device = st.st_dev,
		.inode = st.st_ino,
		.number = header.number,
		.capacity = header.capacity,
		.words = header.words,
		.decls = header.decls,
		.decls_size = header.decls_size,
	};
	return 0;
}

void us_table_close(struct us_table *t)
{
	t->fd = support_close(t->fd);
}

int us_table_count(const struct us_table *t, uint32_t *count, uint32_t *flags)
{
	uint32_t words[2];

	/* pread does not order; the count is read before the declarations, by separate calls. */
	if (pread(t->fd, words, sizeof(words), offsetof(struct weft_probe_table, count)) !=
	    (ssize_t)sizeof(words))
		return -EIO;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	*count = words[0] < t->capacity ? words[0] : t->capacity;
	*flags = words[1];
	return words[0] > t->capacity ? -EINVAL : 0;
}

/* A window on the declarations that moves forward. */
struct window {
	const struct us_table *t;
	char *bytes;
	uint32_t at, size; /* of the window, in the declarations */
};

/* size bytes at an offset of the declarations; NULL: they end before. */
static const void *take(struct window *w, uint32_t at, uint32_t size)
{
	if (at > w->t->decls_size || size > w->t->decls_size - at)
		return NULL;
	if (at < w->at || at + size > w->at + w->size) {
		uint32_t want = w->t->decls_size - at < CHUNK ? w->t->decls_size - at : CHUNK;
		ssize_t got = pread(w->t->fd, w->bytes, want, (off_t)w->t->decls + at);

		if (got < (ssize_t)size)
			return NULL;
		w->at = at;
		w->size = (uint32_t)got;
	}
	return w->bytes + (at - w->at);
}

/* The next of the three texts; NULL: it does not end within the record. */
static const char *text(const char **at, const char *end)
{
	const char *s = *at, *nul = memchr(s, '\0', (size_t)(end - s));

	if (!nul)
		return NULL;
	*at = nul + 1;
	return s;
}

static int next(struct window *w, uint32_t *at, struct us_decl *out)
{
	const struct weft_table_decl *d = take(w, *at, sizeof(*d));
	const char *p, *end;
	uint32_t size;

	if (!d)
		return -EINVAL;
	size = d->size;
	if (size < sizeof(*d) + 8 || size > WEFT_TABLE_RECORD || size % 8)
		return -EINVAL;
	d = take(w, *at, size);
	if (!d)
		return -EINVAL;
	*at += size;
	out->state = d->state;
	p = d->text;
	end = (const char *)d + size;
	out->provider = text(&p, end);
	out->name = out->provider ? text(&p, end) : NULL;
	out->args = out->name ? text(&p, end) : NULL;
	if (!out->args || !*out->provider || !*out->name ||
	    strlen(out->provider) > WEFT_TABLE_NAME || strlen(out->name) > WEFT_TABLE_NAME)
		return -EINVAL;
	return 0;
}

int us_table_read(const struct us_table *t, uint32_t count,
		  int (*fn)(uint32_t index, const struct us_decl *, void *arg), void *arg)
{
	struct window w = {.t = t, .bytes = malloc(CHUNK)};
	uint32_t at = 0;
	int ret = w.bytes ? 0 : -ENOMEM;

	for (uint32_t i = 0; !ret && i < count; i++) {
		struct us_decl d;

		ret = next(&w, &at, &d);
		if (!ret)
			ret = fn(i, &d, arg);
	}
	free(w.bytes);
	return ret;
}
