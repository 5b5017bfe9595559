/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/elf/worker_table.h"

#include <stdlib.h>

#include "core/elf/worker.h"

uint64_t weft_elf_mix(uint64_t h)
{
	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdu;
	h ^= h >> 33;
	h *= 0xc4ceb9fe1a85ec53u;
	return h ^ h >> 33;
}

uint64_t weft_elf_hash_text(uint64_t h, const char *s)
{
	for (; s && *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3u;
	return weft_elf_mix(h + 1);
}

uint32_t *weft_elf_place(struct weft_elf_table *t, uint64_t key)
{
	size_t at;

	key |= 1; /* 0 is no key */
	if (t->n * 2 >= t->size) {
		size_t size = t->size ? t->size * 2 : 256;
		struct weft_elf_slot *slots = weft_elf_allocate(size, sizeof(*slots));

		for (size_t i = 0; i < t->size; i++) {
			if (!t->slots[i].key)
				continue;
			at = weft_elf_mix(t->slots[i].key) & (size - 1);
			while (slots[at].key)
				at = (at + 1) & (size - 1);
			slots[at] = t->slots[i];
		}
		free(t->slots);
		t->slots = slots;
		t->size = size;
	}
	at = weft_elf_mix(key) & (t->size - 1);
	while (t->slots[at].key && t->slots[at].key != key)
		at = (at + 1) & (t->size - 1);
	if (!t->slots[at].key) {
		t->slots[at].key = key;
		t->n++;
	}
	return &t->slots[at].value;
}
