/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the suites of the loader share. */
#ifndef WEFT_TESTS_LOADER_SUPPORT_H
#define WEFT_TESTS_LOADER_SUPPORT_H

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/loader.h"

#define GOOD FIXTURE_DIR "/good/good.so"

static char scratch_path[512];

/* A directory for one test, below the build tree; gone when the test's process ends. */
static int scratch_remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static inline void scratch_remove(void)
{
	nftw(scratch_path, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline const char *scratch_create(void)
{
	/* Reachable for everyone, as a build in a home directory may not be, and every folder above is root's. */
	snprintf(scratch_path, sizeof(scratch_path), "%s/weft-test-XXXXXX", SCRATCH_DIR);
	cr_assert(mkdtemp(scratch_path), "mkdtemp: %s", strerror(errno));
	cr_assert_eq(chmod(scratch_path, 0755), 0);
	return scratch_path;
}

/* scratch_path "/" name, in one of a few static buffers. */
static inline const char *in_scratch(const char *name)
{
	static char paths[8][768];
	static unsigned int next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", scratch_path, name);
	return path;
}

static inline unsigned char *read_file(const char *path, size_t *size)
{
	struct stat st;
	unsigned char *bytes;
	FILE *f = fopen(path, "r");

	cr_assert(f && fstat(fileno(f), &st) == 0, "%s: %s", path, strerror(errno));
	*size = (size_t)st.st_size;
	bytes = malloc(*size + 1);
	cr_assert(bytes);
	cr_assert_eq(fread(bytes, 1, *size, f), *size);
	fclose(f);
	return bytes;
}

static inline void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *f = fopen(path, "w");

	cr_assert(f, "%s: %s", path, strerror(errno));
	cr_assert_eq(fwrite(bytes, 1, size, f), size);
	cr_assert_eq(fclose(f), 0);
	cr_assert_eq(chmod(path, 0644), 0);
}

static inline void copy_file(const char *from, const char *to)
{
	size_t size;
	unsigned char *bytes = read_file(from, &size);

	write_file(to, bytes, size);
	free(bytes);
}

/* A loader with this directory, which must be readable. */
static inline struct weft_loader *load_dir(const char *dir)
{
	struct weft_loader *loader = weft_loader_create();
	struct weft_error *err = weft_error_create();

	cr_assert(loader && err);
	cr_assert_eq(weft_loader_add_dir(loader, dir, true, err), 0, "%s: %s", dir,
		     weft_error_text(err));
	weft_error_destroy(err);
	return loader;
}

/* Entry i is rejected with this tag, and its text has each of the texts in it (NULL: no more). */
static inline void expect_entry(const struct weft_loader *loader, size_t i, const char *tag,
				const char *const *texts)
{
	const struct weft_loader_entry *e = weft_loader_entry(loader, i);

	cr_assert(e, "there is no entry %zu", i);
	cr_expect_eq(e->state, WEFT_LOADER_REJECTED, "%s is usable", e->path);
	if (e->state != WEFT_LOADER_REJECTED)
		return;
	cr_expect_str_eq(e->tag, tag, "%s: %s: %s", e->path, e->tag, e->text);
	cr_expect_null(e->provider);
	for (; *texts; texts++)
		cr_expect(strstr(e->text, *texts), "%s: no \"%s\" in: %s", e->path, *texts, e->text);
}

/* The only plugin of a directory is rejected with this tag and these texts. */
#define expect_rejected(dir, tag, ...)                            \
	do {                                                      \
		struct weft_loader *loader_ = load_dir(dir);      \
		const char *const texts_[] = {__VA_ARGS__, NULL}; \
		cr_expect_eq(weft_loader_count(loader_), 1);      \
		expect_entry(loader_, 0, tag, texts_);            \
		weft_loader_destroy(loader_);                     \
	} while (0)

/* The only plugin of a directory is usable. */
static inline void expect_usable(const char *dir, const char *name)
{
	struct weft_loader *loader = load_dir(dir);
	const struct weft_loader_entry *e = weft_loader_entry(loader, 0);

	cr_assert(e, "%s has no plugin", dir);
	cr_expect_eq(weft_loader_count(loader), 1);
	cr_expect_eq(e->state, WEFT_LOADER_USABLE, "%s: %s: %s", e->path, e->tag, e->text);
	if (e->state == WEFT_LOADER_USABLE) {
		cr_expect_str_eq(e->name, name);
		cr_expect_eq(weft_loader_find(loader, name), e);
	}
	weft_loader_destroy(loader);
}

#endif
