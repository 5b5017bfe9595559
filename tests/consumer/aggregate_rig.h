/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* An aggregation whose map or slots a test fills by hand. */
#ifndef WEFT_TESTS_CONSUMER_AGGREGATE_RIG_H
#define WEFT_TESTS_CONSUMER_AGGREGATE_RIG_H

#include "tests/consumer/support.h"

/* Read by system calls, and by readers, as while probes are attached. */
extern const bool agg_ways[2];

/* Word w of a CPU's slot. */
uint64_t *agg_slot(struct fixture *f, uint32_t cpu, uint32_t w);
/* One aggregation "a": in slots, or in a map. */
void agg_keyless(struct fixture *f, enum weft_action_kind kind, uint32_t words, uint8_t size,
		 bool is_signed);
void agg_keyed(struct fixture *f, enum weft_action_kind kind, uint32_t words,
	       struct weft_field_layout *keys, size_t n_keys, uint32_t key_size, uint32_t entries);
/* Sets a row. In a map per CPU every further CPU gets 7 of the first word, and as many values begun
 * as ended. */
void agg_row(struct fixture *f, const void *key, uint64_t first, uint64_t second);
void agg_clear(struct fixture *f, bool attached);
/* The words of a maximum, a minimum, after a value more. */
void agg_add_max(uint64_t *words, int64_t x);
void agg_add_min(uint64_t *words, int64_t x);

#endif
