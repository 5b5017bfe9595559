/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* ld.so.cache: the machine's own, and what nobody ought to believe. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/ldcache.h"

static int count(const char *soname, const char *path, void *arg)
{
	cr_assert_gt(strlen(soname) + strlen(path), 0);
	++*(size_t *)arg;
	return 0;
}

static char *own(size_t *size)
{
	struct stat st;
	int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);

	cr_assert(fd >= 0 && !fstat(fd, &st));
	char *data = malloc((size_t)st.st_size);
	cr_assert_not_null(data);
	cr_assert_eq(read(fd, data, (size_t)st.st_size), st.st_size);
	close(fd);
	*size = (size_t)st.st_size;
	return data;
}

Test(ldcache, the_machines_own)
{
	char path[4096];
	size_t n = 0;

	cr_assert_eq(support_library("", "libc.so.6", path, sizeof(path)), 0);
	cr_expect(!access(path, R_OK), "%s", path);
	cr_expect_not_null(strstr(path, "/libc.so.6"));
	cr_expect_eq(support_library("", "libnothing.so.77", path, sizeof(path)), -ENOENT);
	cr_expect_eq(support_library("/nowhere", "libc.so.6", path, sizeof(path)), -ENOENT);

	size_t size;
	char *data = own(&size);
	support_ldcache_walk(data, size, count, &n);
	cr_expect_gt(n, 10);
	free(data);
}

/* Every cut, and a thousand changes: nothing is read outside, and it ends. */
Test(ldcache, hostile)
{
	size_t size, n = 0;
	char *data = own(&size);
	uint64_t seed = 1;

	for (size_t cut = 0; cut < size; cut += cut < 256 ? 1 : 97) {
		char *exact = malloc(cut ? cut : 1); /* so that the sanitizer sees its end */
		cr_assert_not_null(exact);
		memcpy(exact, data, cut);
		support_ldcache_walk(exact, cut, count, &n);
		free(exact);
	}
	for (int i = 0; i < 1000; i++) {
		char *copy = malloc(size);
		cr_assert_not_null(copy);
		memcpy(copy, data, size);
		for (int k = 0; k < 8; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			size_t at = (size_t)(seed >> 33) % (k < 4 ? 512 : size);
			copy[at] = (char)(seed >> 24);
		}
		support_ldcache_walk(copy, size, count, &n);
		free(copy);
	}
	/* More entries than there is room for. */
	memset(data + 20, 0xff, 4);
	support_ldcache_walk(data, size, count, &n);
	free(data);
}
