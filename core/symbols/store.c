/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/symbols/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE 4096u

struct weft_texts_chunk {
	struct weft_texts_chunk *next;
	size_t size;
	char data[];
};

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

uint64_t weft_hash_bytes(const void *p, size_t n)
{
	const unsigned char *b = p;
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < n; i++)
		h = (h ^ b[i]) * 0x100000001b3ull;
	return mix(h);
}

/* The slot of key, or the free one where it would go; cap is not 0. */
static size_t find_slot(const struct weft_u64map_slot *slots, size_t cap, uint64_t key)
{
	size_t i = mix(key) & (cap - 1);

	while (slots[i].value && slots[i].key != key)
		i = (i + 1) & (cap - 1);
	return i;
}

void *weft_u64map_get(const struct weft_u64map *m, uint64_t key)
{
	return m->cap ? m->slots[find_slot(m->slots, m->cap, key)].value : NULL;
}

static int map_grow(struct weft_u64map *m)
{
	size_t cap = m->cap ? m->cap * 2 : 16;
	struct weft_u64map_slot *slots = calloc(cap, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].value)
			slots[find_slot(slots, cap, m->slots[i].key)] = m->slots[i];
	free(m->slots);
	m->slots = slots;
	m->cap = cap;
	return 0;
}

int weft_u64map_put(struct weft_u64map *m, uint64_t key, void *value)
{
	size_t i;

	if (m->n + 1 > m->cap - m->cap / 4) {
		int r = map_grow(m);

		if (r)
			return r;
	}
	i = find_slot(m->slots, m->cap, key);
	if (!m->slots[i].value)
		m->n++;
	m->slots[i] = (struct weft_u64map_slot){.key = key, .value = value};
	return 0;
}

/* Moves later members of the run back over the hole, so that look-ups need no tombstones. */
void weft_u64map_remove(struct weft_u64map *m, uint64_t key)
{
	size_t mask = m->cap - 1, hole, i;

	if (!m->cap)
		return;
	hole = find_slot(m->slots, m->cap, key);
	if (!m->slots[hole].value)
		return;
	m->n--;
	for (i = (hole + 1) & mask; m->slots[i].value; i = (i + 1) & mask) {
		size_t home = mix(m->slots[i].key) & mask;

		if (((i - home) & mask) >= ((i - hole) & mask)) {
			m->slots[hole] = m->slots[i];
			hole = i;
		}
	}
	m->slots[hole] = (struct weft_u64map_slot){0};
}

void weft_u64map_finish(struct weft_u64map *m)
{
	free(m->slots);
	*m = (struct weft_u64map){0};
}

/* ---- strings ---- */

static size_t find_string(const char **slots, size_t cap, const char *text, size_t n)
{
	size_t i = weft_hash_bytes(text, n) & (cap - 1);

	while (slots[i] && (strncmp(slots[i], text, n) != 0 || slots[i][n]))
		i = (i + 1) & (cap - 1);
	return i;
}

static int strings_grow(struct weft_texts *s)
{
	size_t cap = s->cap ? s->cap * 2 : 64;
	const char **slots = calloc(cap, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < s->cap; i++) {
		const char *text = s->slots[i];

		if (text)
			slots[find_string(slots, cap, text, strlen(text))] = text;
	}
	free(s->slots);
	s->slots = slots;
	s->cap = cap;
	return 0;
}

static char *chunk_alloc(struct weft_texts *s, size_t size)
{
	struct weft_texts_chunk *c = s->chunks;

	if (!c || c->size - s->used < size) {
		size_t room = size > CHUNK_SIZE - sizeof(*c) ? size : CHUNK_SIZE - sizeof(*c);

		c = malloc(sizeof(*c) + room);
		if (!c)
			return NULL;
		c->size = room;
		c->next = s->chunks;
		s->chunks = c;
		s->used = 0;
	}
	s->used += size;
	return c->data + s->used - size;
}

const char *weft_texts_intern(struct weft_texts *s, const char *text, size_t n)
{
	char *copy;
	size_t i;

	n = strnlen(text, n); /* a store of C strings: what follows a NUL is not part of one */
	if (s->n + 1 > s->cap - s->cap / 4 && strings_grow(s))
		return NULL;
	i = find_string(s->slots, s->cap, text, n);
	if (s->slots[i])
		return s->slots[i];
	copy = chunk_alloc(s, n + 1);
	if (!copy)
		return NULL;
	memcpy(copy, text, n);
	copy[n] = '\0';
	s->slots[i] = copy;
	s->n++;
	return copy;
}

void weft_texts_finish(struct weft_texts *s)
{
	while (s->chunks) {
		struct weft_texts_chunk *next = s->chunks->next;

		free(s->chunks);
		s->chunks = next;
	}
	free(s->slots);
	*s = (struct weft_texts){0};
}
