/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/kernel/perf_ring.h"

#include <string.h>

void weft_perf_ring_begin(struct weft_perf_ring *r)
{
	r->head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

static void copy_out(const struct weft_perf_ring *r, void *out, size_t size)
{
	size_t at = (size_t)(r->tail & (r->size - 1));
	size_t first = (size_t)r->size - at;

	if (first > size)
		first = size;
	memcpy(out, r->data + at, first);
	memcpy((uint8_t *)out + first, r->data, size - first);
}

const struct perf_event_header *weft_perf_ring_peek(struct weft_perf_ring *r, void *scratch,
						    size_t scratch_size, uint64_t *skipped)
{
	struct perf_event_header h;

	while (r->head - r->tail >= sizeof(h)) {
		copy_out(r, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > r->head - r->tail) {
			/* No record: nothing that follows can be found either. */
			r->tail = r->head;
			++*skipped;
			return NULL;
		}
		if ((r->tail & (r->size - 1)) + h.size <= r->size)
			return (const void *)(r->data + (r->tail & (r->size - 1)));
		if (h.size <= scratch_size) {
			copy_out(r, scratch, h.size);
			return scratch;
		}
		r->tail += h.size;
		++*skipped;
	}
	return NULL;
}

void weft_perf_ring_pop(struct weft_perf_ring *r)
{
	struct perf_event_header h;

	copy_out(r, &h, sizeof(h));
	r->tail += h.size;
}

void weft_perf_ring_end(struct weft_perf_ring *r)
{
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
}
