/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tables that strangers made: each thing that can be wrong with one, and ten thousand that are
 * wrong at random. What is read lies within limits, or is refused. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "user_syscall.h"

#define SIZE 65536

static int file_of(const void *bytes, size_t n, off_t size, unsigned seals)
{
	int fd = memfd_create("weft:probes", MFD_ALLOW_SEALING | MFD_CLOEXEC);

	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, size), 0);
	cr_assert_eq(pwrite(fd, bytes, n, 0), (ssize_t)n);
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static const struct weft_probe_table good = {
	.magic = "weftprob",
	.version = 1,
	.number = 7,
	.capacity = 16,
	.words = 1024,
	.decls = 2048,
	.decls_size = 8192,
};

static int open_with(const struct weft_probe_table *h, off_t size, unsigned seals,
		     struct us_table *t, const char **why)
{
	return us_table_open(file_of(h, sizeof(*h), size, seals), t, why);
}

Test(user_syscall_table, header)
{
	static const struct {
		size_t at;
		uint32_t value;
		const char *why;
	} wrong[] = {
		{0, 0x12345678, "header"},
		{offsetof(struct weft_probe_table, version), 2, "version"},
		{offsetof(struct weft_probe_table, number), 4096, "number"},
		{offsetof(struct weft_probe_table, capacity), 0, "capacity"},
		{offsetof(struct weft_probe_table, capacity), 65537, "capacity"},
		{offsetof(struct weft_probe_table, capacity), 0xffffffff, "capacity"},
		{offsetof(struct weft_probe_table, capacity), 65536, "parts"},
		{offsetof(struct weft_probe_table, words), 0, "parts"},
		{offsetof(struct weft_probe_table, words), 1028, "parts"},
		{offsetof(struct weft_probe_table, words), 0xfffffff8, "parts"},
		{offsetof(struct weft_probe_table, decls), 8, "parts"},
		{offsetof(struct weft_probe_table, decls), 2049, "parts"},
		{offsetof(struct weft_probe_table, decls), 0xfffffff8, "parts"},
		{offsetof(struct weft_probe_table, decls_size), SIZE, "parts"},
		{offsetof(struct weft_probe_table, decls_size), 0xffffffff, "capacity"},
	};
	struct us_table t;
	const char *why;

	cr_assert_eq(open_with(&good, SIZE, F_SEAL_SHRINK, &t, &why), 0, "%s", why);
	cr_expect_eq(t.number, 7);
	us_table_close(&t);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct weft_probe_table h = good;

		memcpy((char *)&h + wrong[i].at, &wrong[i].value, 4);
		cr_expect_eq(open_with(&h, SIZE, F_SEAL_SHRINK, &t, &why), -EINVAL, "%zu", i);
		cr_expect_not_null(strstr(why, wrong[i].why), "%zu: %s", i, why);
	}
}

Test(user_syscall_table, files_that_are_none)
{
	char path[] = "/tmp/weft-table-XXXXXX";
	struct us_table t;
	const char *why;
	int fds[2];

	cr_expect_eq(open_with(&good, SIZE, 0, &t, &why), -EINVAL);
	cr_expect_not_null(strstr(why, "shrink"));
	cr_expect_eq(open_with(&good, SIZE, F_SEAL_SHRINK | F_SEAL_WRITE, &t, &why), -EINVAL);
	cr_expect_not_null(strstr(why, "writing"));
	cr_expect_eq(us_table_open(file_of(&good, 20, 20, F_SEAL_SHRINK), &t, &why), -EINVAL);
	cr_expect_eq(us_table_open(open("/dev/zero", O_RDWR), &t, &why), -EINVAL);
	cr_expect_eq(us_table_open(open("/tmp", O_RDONLY), &t, &why), -EINVAL);
	cr_assert_eq(pipe(fds), 0);
	cr_expect_eq(us_table_open(fds[0], &t, &why), -EINVAL);
	close(fds[1]);
	int fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	unlink(path);
	cr_assert_eq(pwrite(fd, &good, sizeof(good), 0), (ssize_t)sizeof(good));
	cr_expect_eq(us_table_open(fd, &t, &why), -EINVAL);
}

/* ---- declarations ---- */

static int count_them(uint32_t index, const struct us_decl *d, void *arg)
{
	uint32_t *n = arg;

	cr_assert_eq(index, *n);
	cr_assert(strlen(d->provider) <= WEFT_TABLE_NAME && strlen(d->name) <= WEFT_TABLE_NAME);
	cr_assert_lt(strlen(d->args), WEFT_TABLE_RECORD);
	++*n;
	return 0;
}

static int read_bytes(const void *decls, size_t n, uint32_t count, uint32_t *read)
{
	static unsigned char file[SIZE];
	struct us_table t;
	const char *why;
	uint32_t flags, got;
	int ret;

	memset(file, 0, sizeof(file));
	memcpy(file, &good, sizeof(good));
	memcpy(file + offsetof(struct weft_probe_table, count), &count, 4);
	memcpy(file + good.decls, decls, n);
	cr_assert_eq(us_table_open(file_of(file, sizeof(file), SIZE, F_SEAL_SHRINK), &t, &why), 0);
	ret = us_table_count(&t, &got, &flags);
	cr_assert_leq(got, t.capacity);
	*read = 0;
	int failed = us_table_read(&t, got, count_them, read);
	us_table_close(&t);
	return ret ? ret : failed;
}

static size_t put(char *to, uint32_t size, const char *text, size_t n)
{
	uint32_t head[2] = {size, 1};

	memset(to, 0, size);
	memcpy(to, head, 8);
	memcpy(to + 8, text, n);
	return size;
}

Test(user_syscall_table, declarations)
{
	static const struct {
		uint32_t size;
		const char *text;
		size_t n;
		int error;
	} records[] = {
		{24, "prov\0name\0int8 a", 16, -EINVAL}, /* no NUL at the end */
		{32, "prov\0name\0int8 a", 16, 0},
		{24, "p\0n\0", 4, 0},
		{16, "abcdefgh", 8, -EINVAL},
		{24, "\0n\0", 4, -EINVAL},
		{24, "p\0\0", 4, -EINVAL},
		{8, "", 0, -EINVAL},
		{0, "", 0, -EINVAL},
		{20, "p\0n\0", 4, -EINVAL},
		{4104, "p\0n\0", 4, -EINVAL},
		{0x80000000u, "p\0n\0", 4, -EINVAL},
		{0xfffffff8u, "p\0n\0", 4, -EINVAL},
	};
	static char bytes[8192];
	uint32_t n;

	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		size_t at = put(bytes, 24, "a\0b\0", 4);
		uint32_t head[2] = {records[i].size, 1};

		memset(bytes + at, 0, 64);
		memcpy(bytes + at, head, 8);
		memcpy(bytes + at + 8, records[i].text, records[i].n);
		if (records[i].size == 24 && records[i].n == 16)
			bytes[at + 24] = 'x';
		cr_expect_eq(read_bytes(bytes, at + 64, 2, &n), records[i].error, "%zu", i);
		cr_expect_eq(n, records[i].error ? 1 : 2, "%zu", i);
	}
	/* More than there is room for. */
	size_t at = 0;
	for (int i = 0; i < 16; i++)
		at += put(bytes + at, 24, "a\0b\0", 4);
	cr_expect_eq(read_bytes(bytes, at, 1000000, &n), -EINVAL);
	cr_expect_eq(n, 16);
}

Test(user_syscall_table, at_random)
{
	static unsigned char bytes[4096];
	uint32_t n;

	srandom(1);
	for (int round = 0; round < 10000; round++) {
		size_t at = 0;

		while (at < 2048)
			at += put((char *)bytes + at, 24 + 8 * (uint32_t)(random() % 4),
				  "prov\0nam\0int8 a", 16);
		for (int k = random() % 8; k >= 0; k--)
			bytes[random() % 2048] = (unsigned char)random();
		read_bytes(bytes, 2100, (uint32_t)random() % 20, &n);
	}
}

/* Its writer changes everything while it is read. */
static volatile int stop;
static void *scribble(void *arg)
{
	unsigned char *file = arg;
	unsigned seed = 3;

	while (!stop) {
		unsigned at = (unsigned)rand_r(&seed) % 4096;

		file[at < 64 ? at : 2048 + at] = (unsigned char)rand_r(&seed);
		if (at % 64 == 0)
			memcpy(file, &good, sizeof(good));
	}
	return NULL;
}

Test(user_syscall_table, changed_while_it_is_read)
{
	int fd = file_of(&good, sizeof(good), SIZE, F_SEAL_SHRINK);
	unsigned char *file = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pthread_t thread;
	size_t at = good.decls;

	cr_assert_neq(file, MAP_FAILED);
	for (int i = 0; i < 16; i++)
		at += put((char *)file + at, 32, "prov\0name\0int8 a", 16);
	cr_assert_eq(pthread_create(&thread, NULL, scribble, file), 0);
	for (int i = 0; i < 20000; i++) {
		struct us_table t;
		const char *why;
		uint32_t count, flags, n = 0;

		if (us_table_open(dup(fd), &t, &why))
			continue;
		us_table_count(&t, &count, &flags);
		cr_assert_leq(count, t.capacity);
		us_table_read(&t, count, count_them, &n);
		us_table_close(&t);
	}
	stop = 1;
	pthread_join(thread, NULL);
	munmap(file, SIZE);
	close(fd);
}

/* ---- slots ---- */

static bool keep_odd(void *arg, uint32_t index)
{
	(void)arg;
	return index % 2;
}

Test(user_syscall_table, slots)
{
	static const uint64_t all = 0x0101010101010101;
	int fd = file_of(&good, sizeof(good), SIZE, F_SEAL_SHRINK);
	struct us_table t[9];
	uint64_t expired, words[16];
	const char *why;
	char path[64];

	for (int i = 0; i < 16; i++)
		cr_assert_eq(pwrite(fd, &all, 8, 1024 + 8 * i), 8);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (int i = 0; i < 9; i++) {
		cr_assert_eq(us_table_open(open(path, O_RDWR), &t[i], &why), 0);
		cr_expect_eq(us_slot_claim(&t[i], keep_odd, NULL), i < 8 ? i : -EBUSY);
	}
	cr_assert_eq(pread(fd, words, sizeof(words), 1024), (ssize_t)sizeof(words));
	cr_expect_eq(words[0], 0);
	cr_expect_eq(words[1], all);
	us_table_close(&t[5]);
	cr_expect_eq(us_slot_claim(&t[8], keep_odd, NULL), 5, "the kernel gives it back");
	cr_expect_eq(us_slot_enable(&t[8], 5, 2, true), 0);
	cr_assert_eq(pread(fd, words, sizeof(words), 1024), (ssize_t)sizeof(words));
	cr_expect_eq(words[2], 0x0000010000000000);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(us_slot_beat(&t[8], 5, &expired), 0);
	cr_assert_eq(pread(fd, words, 16, 512 + 5 * 64), 16);
	cr_expect_eq(words[0], 3);
	for (int i = 0; i < 9; i++)
		us_table_close(&t[i]);
	close(fd);
}
