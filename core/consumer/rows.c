/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/consumer/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MOST (UINT32_MAX / 2)

void weft_rows_init(struct weft_rows *r, uint32_t key_size)
{
	memset(r, 0, sizeof(*r));
	r->key_size = key_size;
	r->hash = weft_hash_key_random();
}

void weft_rows_finish(struct weft_rows *r)
{
	free(r->items);
	free(r->index);
	weft_rows_init(r, r->key_size);
}

static uint32_t *slot_of(const struct weft_rows *r, const void *key)
{
	size_t i = weft_hash_bytes(r->hash, key, r->key_size) & (r->index_size - 1);

	while (r->index[i] && memcmp(weft_rows_key(r, r->index[i] - 1), key, r->key_size) != 0)
		i = (i + 1) & (r->index_size - 1);
	return &r->index[i];
}

static int grow_index(struct weft_rows *r)
{
	size_t size = r->index_size ? r->index_size * 2 : 64, i;
	uint32_t *old = r->index;

	r->index = calloc(size, sizeof(*r->index));
	if (!r->index) {
		r->index = old;
		return -ENOMEM;
	}
	free(old);
	r->index_size = size;
	for (i = 0; i < r->n; i++)
		*slot_of(r, weft_rows_key(r, i)) = (uint32_t)i + 1;
	return 0;
}

uint64_t *weft_rows_put(struct weft_rows *r, const void *key, bool *is_new)
{
	uint64_t *item;
	uint32_t *slot;

	if ((r->n + 1) * 2 > r->index_size && (r->n >= ROWS_MOST || grow_index(r)))
		return NULL;
	slot = slot_of(r, key);
	*is_new = !*slot;
	if (*slot)
		return weft_rows_words(r, *slot - 1);
	if (r->n == r->cap) {
		size_t cap = r->cap ? r->cap * 2 : 32;
		uint64_t *items = realloc(r->items, cap * weft_rows_stride(r) * sizeof(*items));

		if (!items)
			return NULL;
		r->items = items;
		r->cap = cap;
	}
	item = weft_rows_words(r, r->n);
	memset(item, 0, WEFT_ROW_WORDS * sizeof(*item));
	memcpy(item + WEFT_ROW_WORDS, key, r->key_size);
	*slot = (uint32_t)++r->n;
	return item;
}

uint64_t *weft_rows_find(const struct weft_rows *r, const void *key)
{
	uint32_t *slot = r->n ? slot_of(r, key) : NULL;

	return slot && *slot ? weft_rows_words(r, *slot - 1) : NULL;
}
