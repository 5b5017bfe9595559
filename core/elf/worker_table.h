/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A hash table of the workers, and hashes for its keys. */
#ifndef WEFT_ELF_WORKER_TABLE_H
#define WEFT_ELF_WORKER_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Open addressing; 0 is no value. */
struct weft_elf_table {
	struct weft_elf_slot {
		uint64_t key;
		uint32_t value;
	} * slots;
	size_t n, size;
};

uint64_t weft_elf_mix(uint64_t h);
uint64_t weft_elf_hash_text(uint64_t h, const char *s); /* NULL is "" */

/* The value's place, until the next call; the key is taken. */
uint32_t *weft_elf_place(struct weft_elf_table *t, uint64_t key);

#endif
