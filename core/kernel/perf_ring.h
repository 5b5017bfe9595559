/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The buffer of one perf event, read in place. Works on any memory, for the tests. */
#ifndef WEFT_KERNEL_PERF_RING_H
#define WEFT_KERNEL_PERF_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

struct weft_perf_ring {
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t size; /* of data, a power of two */
	uint64_t head; /* as of the last weft_perf_ring_begin() */
	uint64_t tail; /* where the next record begins */
};

/* What was written until now can be read until weft_perf_ring_end(). */
void weft_perf_ring_begin(struct weft_perf_ring *r);
/* The next record, contiguous: in place, or copied to `scratch`, if it lies around the end of the
 * buffer. NULL: none is left. A record that is larger than scratch is counted in *skipped. */
const struct perf_event_header *weft_perf_ring_peek(struct weft_perf_ring *r, void *scratch,
						    size_t scratch_size, uint64_t *skipped);
void weft_perf_ring_pop(struct weft_perf_ring *r);
/* Gives the space of what was popped back to the kernel. */
void weft_perf_ring_end(struct weft_perf_ring *r);

#endif
