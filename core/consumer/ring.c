/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The layout, as the kernel maps it: a page with the consumer's position, a page with the
 * producer's, then the data, mapped twice in a row so that no record is ever cut. A record is a
 * header of eight bytes, whose first four are the length with two flags, and the data, rounded up
 * to eight bytes. Positions only grow; modulo the size they are places.
 *
 * Waking. The kernel wakes a reader when a record is committed at whose very position the reader
 * stands. So who stops at a busy record must have published its position before looking at that
 * record for the last time, with a full barrier between: the kernel's commit has one as well, and
 * of the two looks (ours at the record, the kernel's at our position) at least one sees the other.
 */
#include "core/consumer/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t rounded(uint32_t length)
{
	return ((uint64_t)length + BPF_RINGBUF_HDR_SZ + 7) & ~UINT64_C(7);
}

int weft_ring_map(struct weft_ring *r, int map_fd, uint64_t size, struct weft_error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *consumer, *producer;

	consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	if (consumer == MAP_FAILED)
		return weft_fail(err, -errno, "RECORD_BUFFER",
				 "the buffer of records cannot be mapped: %s", strerror(errno));
	producer = mmap(NULL, page + 2 * size, PROT_READ, MAP_SHARED, map_fd, (off_t)page);
	if (producer == MAP_FAILED) {
		int code = -errno;

		munmap(consumer, page);
		return weft_fail(err, code, "RECORD_BUFFER",
				 "the buffer of records cannot be mapped: %s", strerror(-code));
	}
	madvise(consumer, page, MADV_DONTFORK); /* as in core/kernel/maps.c */
	madvise(producer, page + 2 * size, MADV_DONTFORK);
	r->consumer_map = consumer;
	r->producer_map = producer;
	r->consumer = consumer;
	r->producer = producer;
	r->data = (const uint8_t *)producer + page;
	r->size = size;
	return 0;
}

void weft_ring_unmap(struct weft_ring *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (r->consumer_map)
		munmap(r->consumer_map, page);
	if (r->producer_map)
		munmap(r->producer_map, page + 2 * r->size);
	memset(r, 0, sizeof(*r));
}

uint64_t weft_ring_produced(const struct weft_ring *r)
{
	return __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);
}

uint64_t weft_ring_consumed(const struct weft_ring *r)
{
	return __atomic_load_n(r->consumer, __ATOMIC_RELAXED);
}

static uint32_t header_at(const struct weft_ring *r, uint64_t at)
{
	return __atomic_load_n((const uint32_t *)(r->data + (at & (r->size - 1))), __ATOMIC_ACQUIRE);
}

static void move_to(struct weft_ring *r, uint64_t at)
{
	__atomic_store_n(r->consumer, at, __ATOMIC_RELEASE);
}

enum weft_ring_state weft_ring_next(struct weft_ring *r, uint64_t limit, const void **record,
				    size_t *size)
{
	uint64_t at = weft_ring_consumed(r);
	uint32_t header, length;

	while (at < limit) {
		header = header_at(r, at);
		if (header & BPF_RINGBUF_BUSY_BIT) {
			/* The last look, after our position is known to be published. */
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
			header = header_at(r, at);
			if (header & BPF_RINGBUF_BUSY_BIT)
				return WEFT_RING_BUSY;
		}
		length = header & ~(uint32_t)(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
		if (rounded(length) > limit - at || rounded(length) > r->size)
			return WEFT_RING_BROKEN;
		if (!(header & BPF_RINGBUF_DISCARD_BIT)) {
			*record = r->data + (at & (r->size - 1)) + BPF_RINGBUF_HDR_SZ;
			*size = length;
			return WEFT_RING_RECORD;
		}
		at += rounded(length);
		move_to(r, at);
	}
	return WEFT_RING_END;
}

void weft_ring_take(struct weft_ring *r)
{
	uint64_t at = weft_ring_consumed(r);
	uint32_t header = header_at(r, at);

	move_to(r,
		at + rounded(header & ~(uint32_t)(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT)));
}
