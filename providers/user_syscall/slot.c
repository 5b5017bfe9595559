/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a tracer writes into a table: a byte of each word, and the beat of its slot. A slot belongs to
 * who holds a lock on its record's bytes, on an open file of its own: the kernel arbitrates between
 * tracers whatever their namespaces are, and gives the slot back when a tracer dies. Whoever takes a
 * slot clears what the last owner may have left enabled, and is not to be.
 *
 * All of it is written with pwrite, not through a mapping: a store to a page that is not there could
 * be answered with a signal. A single byte is its own; nobody else's is read or written with it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user_syscall.h"

#ifndef F_OFD_SETLK
#define F_OFD_SETLK 37
#endif

static off_t slot_at(int slot)
{
	return (off_t)WEFT_TABLE_SLOTS_AT + slot * (off_t)sizeof(struct weft_table_slot);
}

int us_slot_enable(const struct us_table *t, int slot, uint32_t index, bool enabled)
{
	const uint8_t byte = enabled;
	const off_t at = (off_t)t->words + 8 * (off_t)index + slot;

	return pwrite(t->fd, &byte, 1, at) == 1 ? 0 : -EIO;
}

/* Only bytes that are set are written, or every page of the words would come into being. */
static int clear_column(const struct us_table *t, int slot, bool (*keep)(void *arg, uint32_t index),
			void *arg)
{
	uint8_t words[4096];

	for (uint32_t i = 0; i < t->capacity;) {
		uint32_t n = t->capacity - i < sizeof(words) / 8 ? t->capacity - i
								 : (uint32_t)sizeof(words) / 8;

		const size_t bytes = n * sizeof(uint64_t);

		if (pread(t->fd, words, bytes, (off_t)t->words + 8 * (off_t)i) != (ssize_t)bytes)
			return -EIO;
		for (uint32_t k = 0; k < n; k++)
			if (words[8 * k + (uint32_t)slot] && !keep(arg, i + k) &&
			    us_slot_enable(t, slot, i + k, false))
				return -EIO;
		i += n;
	}
	return 0;
}

int us_slot_claim(const struct us_table *t, bool (*keep)(void *arg, uint32_t index), void *arg)
{
	for (int slot = 0; slot < (int)WEFT_TABLE_SLOTS; slot++) {
		struct flock lock = {.l_type = F_WRLCK,
				     .l_whence = SEEK_SET,
				     .l_start = slot_at(slot),
				     .l_len = sizeof(struct weft_table_slot)};

		if (fcntl(t->fd, F_OFD_SETLK, &lock)) {
			if (errno == EAGAIN || errno == EACCES)
				continue;
			return -errno;
		}
		int ret = clear_column(t, slot, keep, arg);
		return ret ? ret : slot;
	}
	return -EBUSY;
}

int us_slot_beat(const struct us_table *t, int slot, uint64_t *expired)
{
	uint64_t words[2];

	if (pread(t->fd, words, sizeof(words), slot_at(slot)) != (ssize_t)sizeof(words))
		return -EIO;
	words[0]++;
	words[0] += !words[0];
	*expired = words[1];
	return pwrite(t->fd, words, 8, slot_at(slot)) == 8 ? 0 : -EIO;
}
