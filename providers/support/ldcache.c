/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ld.so.cache as glibc 2.32 and later write it, and as those before do behind a part for still
 * older ones (sysdeps/generic/dl-cache.h): a header, entries of 24 bytes, and texts that they point
 * to by their offset in the new format's part. A container brings its own, so it is a stranger's
 * file: nothing in it is followed that was not checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/ldcache.h"

#define MAGIC     "glibc-ld.so.cache1.1"
#define OLD_MAGIC "ld.so-1.7.0"
#define MOST      (64u << 20)

#define FLAG_ELF_LIBC6 3u
#if defined(__x86_64__)
#define FLAG_MACHINE 0x0300u
#elif defined(__aarch64__)
#define FLAG_MACHINE 0x0a00u
#endif

struct header {
	char magic[20];
	uint32_t n_libs, n_strings;
	uint32_t unused[5];
};
struct entry {
	int32_t flags;
	uint32_t key, value, os_version;
	uint64_t hwcap;
};
struct old_header {
	char magic[12];
	uint32_t n_libs;
};
#define OLD_ENTRY 12u

static const char *text(const char *data, size_t size, uint32_t at)
{
	return at < size && memchr(data + at, '\0', size - at) ? data + at : NULL;
}

int support_ldcache_walk(const void *p, size_t size,
			 int (*fn)(const char *soname, const char *path, void *arg), void *arg)
{
	const char *data = p;
	struct old_header old;
	struct header head;
	int ret = 0;

	if (size >= sizeof(old) && !memcmp(data, OLD_MAGIC, sizeof(OLD_MAGIC) - 1)) {
		memcpy(&old, data, sizeof(old));
		uint64_t skip = (sizeof(old) + (uint64_t)old.n_libs * OLD_ENTRY + 7) & ~UINT64_C(7);
		if (skip > size)
			return 0;
		data += skip;
		size -= (size_t)skip;
	}
	if (size < sizeof(head) || memcmp(data, MAGIC, sizeof(MAGIC) - 1) != 0)
		return 0;
	memcpy(&head, data, sizeof(head));
	if (head.n_libs > (size - sizeof(head)) / sizeof(struct entry))
		return 0;
	for (uint32_t i = 0; i < head.n_libs && !ret; i++) {
		struct entry e;

		memcpy(&e, data + sizeof(head) + (size_t)i * sizeof(e), sizeof(e));
		const char *soname = text(data, size, e.key), *path = text(data, size, e.value);
		if (soname && path && *path == '/' &&
		    (uint32_t)e.flags == (FLAG_ELF_LIBC6 | FLAG_MACHINE))
			ret = fn(soname, path, arg);
	}
	return ret;
}

struct search {
	const char *root, *soname;
	char *buf;
	size_t size;
};

static int try_path(struct search *s, const char *folder, const char *file)
{
	int n = snprintf(s->buf, s->size, "%s%s%s%s", s->root, folder, *folder ? "/" : "", file);

	if (n < 0 || (size_t)n >= s->size)
		return 0;
	return !access(s->buf, F_OK);
}

static int listed(const char *soname, const char *path, void *arg)
{
	struct search *s = arg;

	return !strcmp(soname, s->soname) && try_path(s, "", path);
}

static char *read_cache(const char *root, size_t *size)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/etc/ld.so.cache", root);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	char *data = NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= (off_t)MOST)
		data = malloc((size_t)st.st_size);
	ssize_t n = data ? pread(fd, data, (size_t)st.st_size, 0) : 0;
	close(fd);
	if (n <= 0) {
		free(data);
		return NULL;
	}
	*size = (size_t)n;
	return data;
}

int support_library(const char *root, const char *soname, char *buf, size_t size)
{
	static const char *const folders[] = {
#if defined(__x86_64__)
		"/lib/x86_64-linux-gnu",
		"/usr/lib/x86_64-linux-gnu",
		"/lib64",
		"/usr/lib64",
#elif defined(__aarch64__)
		"/lib/aarch64-linux-gnu",
		"/usr/lib/aarch64-linux-gnu",
		"/lib64",
		"/usr/lib64",
#endif
		"/lib",
		"/usr/lib",
		"/usr/local/lib"
	};
	struct search s = {.root = root, .soname = soname, .buf = buf, .size = size};
	size_t n;
	int found = 0;

	char *data = read_cache(root, &n);
	if (data)
		found = support_ldcache_walk(data, n, listed, &s);
	free(data);
	for (size_t i = 0; !found && i < sizeof(folders) / sizeof(folders[0]); i++)
		found = try_path(&s, folders[i], soname);
	return found ? 0 : -ENOENT;
}
