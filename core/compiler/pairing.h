/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A thread's row of FRAMES; lower_pairing.c has the essay. */
#ifndef WEFT_COMPILER_PAIRING_H
#define WEFT_COMPILER_PAIRING_H

#include <stdint.h>

struct weft_frame_entry {
	uint64_t frame; /* what the location yields: the stack pointer */
	uint64_t time_ns;
	uint64_t pair; /* cookie >> 1 */
};

/* used: bytes of entries that are taken, a multiple of their size. */
struct weft_frame_row {
	uint64_t used;
	struct weft_frame_entry entries[];
};

static inline uint32_t weft_pairing_row_size(uint32_t depth)
{
	return (uint32_t)(sizeof(struct weft_frame_row) + depth * sizeof(struct weft_frame_entry));
}

#endif
