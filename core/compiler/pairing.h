/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A thread's row of FRAMES; lower_pairing.c has the essay. */
#ifndef WEFT_COMPILER_PAIRING_H
#define WEFT_COMPILER_PAIRING_H

#include <stdint.h>

/* Where a set uses arguments of entries, { u64 have; u64 value[words] } follows: value[k] is the
 * k-th argument of those that the entry keeps, if bit k of have is set. */
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

static inline uint32_t weft_pairing_entry_size(uint32_t words)
{
	return (uint32_t)sizeof(struct weft_frame_entry) + (words ? 8 + 8 * words : 0);
}

static inline uint32_t weft_pairing_row_size(uint32_t depth, uint32_t words)
{
	return (uint32_t)sizeof(struct weft_frame_row) + depth * weft_pairing_entry_size(words);
}

#endif
