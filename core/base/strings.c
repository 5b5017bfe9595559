/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/base/strings.h"

#include <errno.h>
#include <stdlib.h>

#include "core/arena.h"

#define SLOTS_AT_START 64u
_Static_assert(WEFT_STRING_MOST < WEFT_STRING_BLOCK, "every string fits into a block");

static int add_block(struct weft_strings *s)
{
	char *block;

	/* Ids have 32 bits, and the last is WEFT_STRING_NONE. */
	if (s->n_blocks == UINT32_MAX / WEFT_STRING_BLOCK)
		return -ENOMEM;
	if (weft_grow(&s->blocks, &s->cap_blocks, s->n_blocks, sizeof(*s->blocks)))
		return -ENOMEM;
	block = malloc(WEFT_STRING_BLOCK);
	if (!block)
		return -ENOMEM;
	s->blocks[s->n_blocks++] = block;
	s->used = 0;
	return 0;
}

int weft_strings_init(struct weft_strings *s, struct weft_hash_key key)
{
	*s = (struct weft_strings){.key = key};
	if (add_block(s)) {
		weft_strings_finish(s);
		return -ENOMEM;
	}
	s->blocks[0][s->used++] = '\0';
	return 0;
}

void weft_strings_finish(struct weft_strings *s)
{
	for (size_t i = 0; i < s->n_blocks; i++)
		free(s->blocks[i]);
	free(s->blocks);
	free(s->slots);
	*s = (struct weft_strings){.blocks = NULL};
}

/* The slot of the text, or the free one where it would go. The table is never full. */
static struct weft_string_slot *find_slot(const struct weft_strings *s, const char *text,
					  uint32_t hash)
{
	size_t i = hash & (s->n_slots - 1);

	while (s->slots[i].id != 0 && (s->slots[i].hash != hash ||
				       strcmp(weft_strings_text(s, s->slots[i].id), text) != 0))
		i = (i + 1) & (s->n_slots - 1);
	return &s->slots[i];
}

/* Keeps at least a quarter of the slots free. */
static int make_room(struct weft_strings *s)
{
	size_t n = s->n_slots ? s->n_slots * 2 : SLOTS_AT_START;
	struct weft_string_slot *slots;

	if ((s->n + 1) * 4 <= s->n_slots * 3)
		return 0;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_slots; i++) {
		size_t to = s->slots[i].hash & (n - 1);

		if (s->slots[i].id == 0)
			continue;
		while (slots[to].id != 0)
			to = (to + 1) & (n - 1);
		slots[to] = s->slots[i];
	}
	free(s->slots);
	s->slots = slots;
	s->n_slots = n;
	return 0;
}

static int store(struct weft_strings *s, const char *text, size_t n, uint32_t *id)
{
	if (n + 1 > WEFT_STRING_BLOCK - s->used && add_block(s))
		return -ENOMEM;
	memcpy(s->blocks[s->n_blocks - 1] + s->used, text, n + 1);
	*id = (uint32_t)(s->n_blocks - 1) * WEFT_STRING_BLOCK + s->used;
	s->used += (uint32_t)n + 1;
	return 0;
}

int weft_strings_intern(struct weft_strings *s, const char *text, uint32_t *id)
{
	struct weft_string_slot *slot;
	size_t n = strlen(text);
	uint32_t hash;

	*id = 0;
	if (n == 0)
		return 0;
	if (make_room(s))
		return -ENOMEM;
	hash = (uint32_t)weft_hash_bytes(s->key, text, n);
	slot = find_slot(s, text, hash);
	if (slot->id == 0) {
		if (store(s, text, n, id))
			return -ENOMEM;
		*slot = (struct weft_string_slot){.hash = hash, .id = *id};
		s->n++;
	}
	*id = slot->id;
	return 0;
}

uint32_t weft_strings_find(const struct weft_strings *s, const char *text)
{
	struct weft_string_slot *slot;
	size_t n = strlen(text);

	if (n == 0)
		return 0;
	if (s->n_slots == 0)
		return WEFT_STRING_NONE;
	slot = find_slot(s, text, (uint32_t)weft_hash_bytes(s->key, text, n));
	return slot->id != 0 ? slot->id : WEFT_STRING_NONE;
}

void weft_strings_memory(const struct weft_strings *s, size_t *texts, size_t *rest)
{
	*texts = s->n_blocks * WEFT_STRING_BLOCK;
	*rest = s->cap_blocks * sizeof(*s->blocks) + s->n_slots * sizeof(*s->slots);
}
