/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A thread's row of FRAMES; lower_pairing.c has the essay. */
#ifndef WEFT_COMPILER_PAIRING_H
#define WEFT_COMPILER_PAIRING_H

#include <stdint.h>

#include "core/plan.h"

/* Where a set uses arguments of entries, { u64 have; u64 value[words] } follows: value[k] is the
 * k-th argument of those that the entry keeps, if bit k of have is set. Behind the values there are
 * entry_texts times { u64 length; u8 text[strsize] }, one for each string or bytes among them, in
 * order; of strings the length is not used. */
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

static inline uint32_t weft_pairing_text_size(const struct weft_plan *plan)
{
	return 8 + ((plan->set->options.strsize + 7) & ~7u);
}

static inline uint32_t weft_pairing_entry_size(const struct weft_plan *plan)
{
	return (uint32_t)sizeof(struct weft_frame_entry) +
	       (plan->entry_words ? 8 + 8 * plan->entry_words : 0) +
	       plan->entry_texts * weft_pairing_text_size(plan);
}

static inline uint32_t weft_pairing_row_size(const struct weft_plan *plan)
{
	return (uint32_t)sizeof(struct weft_frame_row) +
	       plan->set->options.depth * weft_pairing_entry_size(plan);
}

#endif
