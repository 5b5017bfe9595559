/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table: a memfd of a fixed size that is mostly holes, mapped once and never moved, so that the
 * address of a word can be compiled into code. Its pages come into being as declarations do.
 *
 * A child of fork() shares the table, and its firings are its own all the same, since the kernel
 * says who calls; tracers follow it. Only when the child declares or undeclares does it need a
 * table of its own: a copy, words and all, that takes the old one's place at the same address.
 * Until tracers have found it, what was enabled stays enabled.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

#define CAPACITY   16384u
#define LEAST      64u
#define DECL_BYTES 256u /* room for an average declaration */

#ifndef F_ADD_SEALS
#define F_ADD_SEALS   1033
#define F_SEAL_SHRINK 2
#define F_SEAL_GROW   4
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

struct weft_user weft_user;

struct weft_user_private *weft_user_private(void)
{
	static struct weft_user_private *page;
	struct weft_user_private *p = __atomic_load_n(&page, __ATOMIC_ACQUIRE), *other = NULL;
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	if (p)
		return p;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (madvise(p, size, MADV_WIPEONFORK)) {
		munmap(p, size);
		return NULL;
	}
	if (!__atomic_compare_exchange_n(&page, &other, p, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE)) {
		munmap(p, size);
		p = other;
	}
	return p;
}

static size_t words_at(void)
{
	return 4096;
}

static size_t table_size(uint32_t capacity)
{
	return words_at() + (size_t)capacity * (sizeof(uint64_t) + DECL_BYTES);
}

/* A larger file than the limit allows is not refused but punished, with a signal. */
static uint32_t choose_capacity(void)
{
	uint32_t capacity = CAPACITY;
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit))
		return CAPACITY;
	while (capacity >= LEAST && limit.rlim_cur != RLIM_INFINITY &&
	       table_size(capacity) > limit.rlim_cur)
		capacity /= 2;
	return capacity < LEAST ? 0 : capacity;
}

/* A new file of that size, mapped anywhere. */
static int make_file(size_t size, struct weft_probe_table **out, uint32_t *number)
{
	struct stat st;
	void *map = MAP_FAILED;
	int ret = 0;
	int fd = (int)syscall(SYS_memfd_create, WEFT_TABLE_FILE, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, (off_t)size) && !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) &&
	    !fstat(fd, &st))
		map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED || !map) {
		ret = errno ? -errno : -EINVAL;
	} else {
		*out = map;
		*number = (uint32_t)st.st_ino % (WEFT_TABLE_NUMBERS - 1);
	}
	close(fd);
	return ret;
}

static void *anonymous(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int create(void)
{
	uint32_t capacity;
	struct weft_probe_table *t = NULL;
	uint32_t number = 0;
	bool tried;
	int ret = weft_user_may(weft_user.sandbox, &tried);

	/* Hidden from tracers: the table is made, to say so to those who look. */
	if (ret && (ret != -ENOSYS || !tried))
		return ret;
	capacity = choose_capacity();
	if (!capacity)
		return -ENOSPC;
	weft_user.n_index = capacity * 2;
	if (!weft_user.index)
		weft_user.index = anonymous(weft_user.n_index * sizeof(uint32_t));
	if (!weft_user.offsets)
		weft_user.offsets = anonymous(capacity * sizeof(uint32_t));
	if (!weft_user.index || !weft_user.offsets)
		return -ENOMEM;
	weft_user.size = table_size(capacity);
	int failed = make_file(weft_user.size, &t, &number);
	if (failed || !t)
		return failed;
	memcpy(t->magic, WEFT_TABLE_MAGIC, sizeof(t->magic));
	t->version = WEFT_TABLE_VERSION;
	t->number = number;
	t->capacity = capacity;
	t->words = (uint32_t)words_at();
	t->decls = t->words + capacity * (uint32_t)sizeof(uint64_t);
	t->decls_size = capacity * DECL_BYTES;
	t->flags = (tried ? WEFT_TABLE_TRIED : 0) | (ret ? WEFT_TABLE_OFF : 0);
	weft_user.number = number;
	weft_user.words = (void *)((char *)t + t->words);
	weft_user.words_size = (uint64_t)capacity * sizeof(uint64_t);
	weft_user.call = WEFT_CALL_WORD(WEFT_CALL_ID(number, 0));
	weft_user.off |= ret != 0;
	__atomic_store_n(&weft_user.table, t, __ATOMIC_RELEASE);
	return 0;
}

/* The copy keeps the number: what tracers have enabled goes on firing under the ids that it has. */
static int make_own(void)
{
	struct weft_probe_table *old = weft_user.table, *t = NULL;
	uint32_t ignored;
	int ret = make_file(weft_user.size, &t, &ignored);

	if (ret || !t)
		return ret;
	memcpy(t, old, WEFT_TABLE_HEADER);
	memcpy((char *)t + t->words, weft_user.words, weft_user.count * sizeof(uint64_t));
	memcpy((char *)t + t->decls, (char *)old + t->decls, weft_user.used);
	t->count = weft_user.count;
	if (mremap(t, weft_user.size, weft_user.size, MREMAP_MAYMOVE | MREMAP_FIXED, old) !=
	    (void *)old) {
		ret = -errno;
		munmap(t, weft_user.size);
	}
	return ret;
}

int weft_user_table(struct weft_user_private *p)
{
	int ret;

	if (p->mine)
		return weft_user.error;
	ret = weft_user.table ? make_own() : create();
	if (weft_user.table && ret)
		return ret; /* of a child: it may try again */
	p->mine = 1;
	weft_user.error = ret;
	return ret;
}

void weft_user_sandbox(enum weft_sandbox how)
{
	struct weft_user_private *p = weft_user_private();

	if (how == WEFT_SANDBOX_OFF)
		__atomic_store_n(&weft_user.off, true, __ATOMIC_SEQ_CST);
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	weft_user.sandbox = how;
	if (!weft_user.table)
		p->mine = 0; /* what failed is tried again */
	if (how == WEFT_SANDBOX_ALLOWED && weft_user.table)
		__atomic_fetch_or(&weft_user.table->flags, WEFT_TABLE_TRIED, __ATOMIC_RELEASE);
	if (how == WEFT_SANDBOX_OFF && weft_user.table)
		__atomic_fetch_or(&weft_user.table->flags, WEFT_TABLE_OFF, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&p->lock);
}
