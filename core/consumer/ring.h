/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A BPF ring buffer, read by memory alone. Works on any memory of that layout, for the tests. */
#ifndef WEFT_CONSUMER_RING_H
#define WEFT_CONSUMER_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct weft_ring {
	uint64_t *consumer;                /* where we have read to; the kernel reads it */
	const uint64_t *producer;          /* where the kernel has reserved to */
	const uint8_t *data;               /* size bytes, and the same again behind them */
	uint64_t size;                     /* a power of two */
	void *consumer_map, *producer_map; /* NULL: not mapped here */
};

/* Maps a ring of `size` bytes. RECORD_BUFFER. */
int weft_ring_map(struct weft_ring *r, int map_fd, uint64_t size, struct weft_error *err);
void weft_ring_unmap(struct weft_ring *r);

enum weft_ring_state {
	WEFT_RING_RECORD,
	WEFT_RING_END,    /* `limit` was reached */
	WEFT_RING_BUSY,   /* the next record is not written yet */
	WEFT_RING_BROKEN, /* the next record has a length that cannot be */
};

/* The next record below position limit; discarded ones are passed over. It stays where it is, and
 * is returned again, until weft_ring_take(). */
enum weft_ring_state weft_ring_next(struct weft_ring *r, uint64_t limit, const void **record,
				    size_t *size);
void weft_ring_take(struct weft_ring *r);

uint64_t weft_ring_produced(const struct weft_ring *r); /* position up to which is reserved */
uint64_t weft_ring_consumed(const struct weft_ring *r);

#endif
