/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A keyed hash for tables whose keys other people choose: symbols of an ELF file, names that a
 * process declares. With a key that they do not know nobody can prepare names that all fall into
 * one place. Each step multiplies to 128 bits and folds the halves together.
 */
#ifndef WEFT_CORE_BASE_HASH_H
#define WEFT_CORE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct weft_hash_key {
	uint64_t k[2];
};

struct weft_hash_key weft_hash_key_random(void);

static inline uint64_t weft_hash_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t weft_hash_step(struct weft_hash_key key, uint64_t h, uint64_t word)
{
	return weft_hash_fold(h ^ word ^ key.k[0], key.k[1]) + word;
}

static inline uint64_t weft_hash_bytes(struct weft_hash_key key, const char *p, size_t n)
{
	uint64_t h = n, word;

	for (; n >= sizeof(word); p += sizeof(word), n -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = weft_hash_step(key, h, word);
	}
	word = 0;
	memcpy(&word, p, n);
	h = weft_hash_step(key, h, word);
	return weft_hash_fold(h ^ key.k[0], key.k[1]);
}

#endif
