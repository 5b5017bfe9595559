/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Interned strings: equal texts have equal ids. An id is a place: the number of a block in its
 * upper half, the offset within in its lower. So ids need no table to become texts, and texts never
 * move. The id 0 is the empty string.
 */
#ifndef WEFT_CORE_BASE_STRINGS_H
#define WEFT_CORE_BASE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/hash.h"

#define WEFT_STRING_BLOCK 65536u
#define WEFT_STRING_MOST  4096u /* bytes of a string, without its NUL */
#define WEFT_STRING_NONE  UINT32_MAX

struct weft_strings {
	struct weft_hash_key key;
	char **blocks;
	size_t n_blocks, cap_blocks;
	uint32_t used; /* of the last block */
	struct weft_string_slot {
		uint32_t hash;
		uint32_t id; /* 0: free; the empty string is not in the table */
	} * slots;
	size_t n_slots; /* a power of two, or 0 */
	size_t n;       /* slots in use */
};

int weft_strings_init(struct weft_strings *s, struct weft_hash_key key); /* 0 or -ENOMEM */
void weft_strings_finish(struct weft_strings *s);

/* Finds or adds. text has at most WEFT_STRING_MOST bytes. Returns 0 or -ENOMEM. */
int weft_strings_intern(struct weft_strings *s, const char *text, uint32_t *id);
/* Finds, or WEFT_STRING_NONE. */
uint32_t weft_strings_find(const struct weft_strings *s, const char *text);

static inline const char *weft_strings_text(const struct weft_strings *s, uint32_t id)
{
	return s->blocks[id / WEFT_STRING_BLOCK] + id % WEFT_STRING_BLOCK;
}

/* Bytes of text blocks, and of everything else. */
void weft_strings_memory(const struct weft_strings *s, size_t *texts, size_t *rest);

#endif
