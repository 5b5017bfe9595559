/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Two small containers of the symbols part: a map from 64-bit keys, and a store of strings in which
 * every text exists once. */
#ifndef WEFT_SYMBOLS_STORE_H
#define WEFT_SYMBOLS_STORE_H

#include <stddef.h>
#include <stdint.h>

/* Open addressing; values are not NULL. Zeroed memory is an empty map. */
struct weft_u64map_slot {
	uint64_t key;
	void *value; /* NULL: free */
};

struct weft_u64map {
	struct weft_u64map_slot *slots;
	size_t n, cap; /* cap: 0 or a power of two */
};

void *weft_u64map_get(const struct weft_u64map *m, uint64_t key);      /* NULL: absent */
int weft_u64map_put(struct weft_u64map *m, uint64_t key, void *value); /* replaces; -ENOMEM */
void weft_u64map_remove(struct weft_u64map *m, uint64_t key);
void weft_u64map_finish(struct weft_u64map *m);

/* Zeroed memory is an empty store. Texts live until finish(). */
struct weft_texts_chunk;
struct weft_texts {
	const char **slots;
	size_t n, cap;
	struct weft_texts_chunk *chunks;
	size_t used; /* of the newest chunk */
};

/* The one copy of these n bytes, NUL-terminated; NULL: out of memory. */
const char *weft_texts_intern(struct weft_texts *s, const char *text, size_t n);
void weft_texts_finish(struct weft_texts *s);

uint64_t weft_hash_bytes(const void *p, size_t n);

#endif
