/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Rows by key: a key of key_size bytes, a multiple of 8, and WEFT_ROW_WORDS u64 words. */
#ifndef WEFT_CONSUMER_ROWS_H
#define WEFT_CONSUMER_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/hash.h"

#define WEFT_ROW_WORDS     8
#define WEFT_ROW_UNSETTLED 7 /* not 0: a value was half added as the row was read */

struct weft_rows {
	uint32_t key_size;
	struct weft_hash_key hash;
	uint64_t *items; /* words, then key; stride in u64: weft_rows_stride() */
	size_t n, cap;
	uint32_t *index; /* item + 1; 0: free */
	size_t index_size;
};

void weft_rows_init(struct weft_rows *r, uint32_t key_size);
void weft_rows_finish(struct weft_rows *r); /* leaves it as init() does */

/* The words of a key, added as zeros where it is new. NULL: out of memory. Valid until the next. */
uint64_t *weft_rows_put(struct weft_rows *r, const void *key, bool *is_new);
/* NULL: not there. */
uint64_t *weft_rows_find(const struct weft_rows *r, const void *key);

static inline size_t weft_rows_stride(const struct weft_rows *r)
{
	return WEFT_ROW_WORDS + r->key_size / 8;
}

static inline uint64_t *weft_rows_words(const struct weft_rows *r, size_t i)
{
	return r->items + i * weft_rows_stride(r);
}

static inline const void *weft_rows_key(const struct weft_rows *r, size_t i)
{
	return r->items + i * weft_rows_stride(r) + WEFT_ROW_WORDS;
}

#endif
