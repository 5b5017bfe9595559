/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "elf/rig.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *built(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", BUILT_DIR, name);
	return path;
}

static int read_into(struct weft_elf_reader *r, const char *path, uint32_t want,
		     const struct weft_elf **out, struct weft_error *err)
{
	struct weft_elf_request request = {
		.struct_size = sizeof(request), .want = want, .path = path};
	int ret;

	request.fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_geq(request.fd, 0, "%s: %s", path, strerror(errno));
	ret = weft_elf_read(r, &request, out, err);
	close(request.fd);
	return ret;
}

const struct weft_elf *read_file(struct weft_elf_reader *r, const char *path, uint32_t want)
{
	struct weft_error *err = weft_error_create();
	const struct weft_elf *elf = NULL;

	cr_assert_eq(read_into(r, path, want, &elf, err), 0, "%s", weft_error_text(err));
	weft_error_destroy(err);
	return elf;
}

const char *read_tag(struct weft_elf_reader *r, const char *path, uint32_t want)
{
	struct weft_error *err = weft_error_create();
	const struct weft_elf *elf = NULL;
	static char tag[64];
	int ret = read_into(r, path, want, &elf, err);

	snprintf(tag, sizeof(tag), "%s", weft_error_tag(err));
	cr_assert_eq(!ret, !*tag);
	cr_assert(!ret || strstr(weft_error_text(err), path), "%s", weft_error_text(err));
	weft_elf_release(r, elf);
	weft_error_destroy(err);
	return tag;
}

const struct weft_elf_symbol *find_symbol(const struct weft_elf *elf, const char *name,
					  const char *version)
{
	for (uint32_t i = 0; i < elf->n_symbols; i++) {
		const struct weft_elf_symbol *s = weft_elf_symbol_at(elf, i);

		if (!strcmp(s->name, name) &&
		    (!version || (s->version && !strcmp(s->version, version))))
			return s;
	}
	return NULL;
}

unsigned long told(const char *format, const char *path)
{
	char command[8192], line[256] = "";
	FILE *f;

	snprintf(command, sizeof(command), format, path);
	f = popen(command, "r");
	cr_assert(f && fgets(line, sizeof(line), f), "%s", command);
	pclose(f);
	return strtoul(line, NULL, 0);
}

int scratch(const void *bytes, size_t n)
{
	char path[] = "/tmp/weft-elf-XXXXXX";
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	unlink(path);
	cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
	return fd;
}

unsigned char *contents(const char *path, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char *bytes;
	struct stat st;

	cr_assert(fd >= 0 && !fstat(fd, &st), "%s", path);
	*n = (size_t)st.st_size;
	bytes = malloc(*n);
	cr_assert(bytes && read(fd, bytes, *n) == (ssize_t)*n);
	close(fd);
	return bytes;
}
