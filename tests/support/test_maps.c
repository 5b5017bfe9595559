/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/maps.h"

#define SIZE 4096u

static int make(char *path)
{
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, SIZE), 0);
	return fd;
}

static bool is(int fd, const struct stat *wanted)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_dev == wanted->st_dev &&
	       st.st_ino == wanted->st_ino;
}

/* A library is unloaded and another takes its place before anybody looked. */
Test(support_maps, another_file_is_mapped_there_now)
{
	char first[] = "/tmp/weft-maps-XXXXXX", second[] = "/tmp/weft-maps-XXXXXX";
	int a = make(first), b = make(second), fd;
	struct stat of_a, of_b;
	void *at = mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, a, 0);

	cr_assert_neq(at, MAP_FAILED);
	fstat(a, &of_a);
	fstat(b, &of_b);
	struct support_mapped m = {.from = (uintptr_t)at,
				   .to = (uintptr_t)at + SIZE,
				   .dev = of_a.st_dev,
				   .ino = of_a.st_ino,
				   .path = first};
	fd = support_mapped_open(getpid(), &m);
	cr_expect(is(fd, &of_a));
	close(fd);
	cr_assert_eq(mmap(at, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, b, 0), at);
	fd = support_mapped_open(getpid(), &m);
	cr_expect(is(fd, &of_a), "by its path");
	close(fd);
	m.deleted = true;
	cr_expect_lt(support_mapped_open(getpid(), &m), 0, "it has none");
	m = (struct support_mapped){.from = m.from, .to = m.to, .path = first};
	fd = support_mapped_open(getpid(), &m);
	cr_expect(is(fd, &of_b), "what there is, where nothing else is known");
	close(fd);
	munmap(at, SIZE);
	unlink(first);
	unlink(second);
}
