/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arenas: chunks in a list, filled from the front. A chunk doubles in size over the one before up
 * to CHUNK_MOST, so that small arenas stay small and large ones make few calls of malloc; a piece
 * larger than that gets a chunk of its own, behind the current one, which goes on being filled.
 *
 * Under AddressSanitizer what is not handed out is poisoned, and every piece is followed by a gap:
 * without that an overrun from one piece into the next would go unseen.
 */
#include "core/arena.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#endif
#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define ARENA_GAP 16u
#else
#define ASAN_POISON_MEMORY_REGION(p, n)   ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ARENA_GAP                         0u
#endif

#define ALIGNMENT   16u
#define CHUNK_LEAST 2048u
#define CHUNK_MOST  262144u

struct chunk {
	struct chunk *next;
	size_t size; /* bytes of data */
	size_t used;
	size_t reserved; /* keeps data aligned */
	unsigned char data[];
};
_Static_assert(sizeof(struct chunk) % ALIGNMENT == 0, "the data of a chunk is aligned");

struct weft_arena {
	struct chunk *chunks; /* the first is the one being filled */
	size_t next_size;
};

struct weft_arena *weft_arena_create(void)
{
	struct weft_arena *arena = calloc(1, sizeof(*arena));

	if (arena)
		arena->next_size = CHUNK_LEAST;
	return arena;
}

void weft_arena_destroy(struct weft_arena *arena)
{
	if (!arena)
		return;
	while (arena->chunks) {
		struct chunk *c = arena->chunks;

		arena->chunks = c->next;
		ASAN_UNPOISON_MEMORY_REGION(c->data, c->size);
		free(c);
	}
	free(arena);
}

static struct chunk *chunk_create(size_t size)
{
	struct chunk *c;

	if (size > SIZE_MAX - sizeof(*c))
		return NULL;
	c = calloc(1, sizeof(*c) + size);
	if (!c)
		return NULL;
	c->size = size;
	ASAN_POISON_MEMORY_REGION(c->data, size);
	return c;
}

/* A chunk with room for `need` bytes, which becomes the one being filled unless it is for one
 * large piece alone. */
static struct chunk *chunk_with_room(struct weft_arena *arena, size_t need)
{
	struct chunk *c = arena->chunks;

	if (c && need <= c->size - c->used)
		return c;
	if (need > arena->next_size / 2 && c) {
		struct chunk *own = chunk_create(need);

		if (!own)
			return NULL;
		own->next = c->next;
		c->next = own;
		return own;
	}
	c = chunk_create(need > arena->next_size ? need : arena->next_size);
	if (!c)
		return NULL;
	c->next = arena->chunks;
	arena->chunks = c;
	if (arena->next_size < CHUNK_MOST)
		arena->next_size *= 2;
	return c;
}

void *weft_arena_alloc(struct weft_arena *arena, size_t size)
{
	struct chunk *c;
	size_t need;
	void *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	need = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + ARENA_GAP;
	if (need == 0)
		need = ALIGNMENT; /* every piece has an address of its own */
	c = chunk_with_room(arena, need);
	if (!c)
		return NULL;
	p = c->data + c->used;
	c->used += need;
	ASAN_UNPOISON_MEMORY_REGION(p, size);
	return p;
}

void *weft_arena_array(struct weft_arena *arena, size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		return NULL;
	return weft_arena_alloc(arena, total);
}

void *weft_arena_memdup(struct weft_arena *arena, const void *p, size_t n)
{
	void *copy = weft_arena_alloc(arena, n);

	if (copy && n > 0)
		memcpy(copy, p, n);
	return copy;
}

char *weft_arena_strndup(struct weft_arena *arena, const char *s, size_t n)
{
	size_t length = strnlen(s, n);
	char *copy = weft_arena_alloc(arena, length + 1);

	if (copy)
		memcpy(copy, s, length);
	return copy;
}

char *weft_arena_strdup(struct weft_arena *arena, const char *s)
{
	return weft_arena_strndup(arena, s, strlen(s));
}

char *weft_arena_printf(struct weft_arena *arena, const char *format, ...)
{
	va_list ap, again;
	char *text = NULL;
	int n;

	va_start(ap, format);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, format, ap);
	if (n >= 0)
		text = weft_arena_alloc(arena, (size_t)n + 1);
	if (text)
		vsnprintf(text, (size_t)n + 1, format, again);
	va_end(again);
	va_end(ap);
	return text;
}

int weft_grow(void *array_of_pointer, size_t *cap, size_t n, size_t size)
{
	size_t more, bytes;
	void *array;

	if (n < *cap)
		return 0;
	if (__builtin_mul_overflow(*cap, (size_t)2, &more))
		return -ENOMEM;
	if (more <= n)
		more = n + 1;
	if (more < 8)
		more = 8;
	if (__builtin_mul_overflow(more, size, &bytes))
		return -ENOMEM;
	/* The caller's pointer has another type than void *: copied, never aliased. */
	memcpy(&array, array_of_pointer, sizeof(array));
	array = realloc(array, bytes);
	if (!array)
		return -ENOMEM;
	memcpy(array_of_pointer, &array, sizeof(array));
	*cap = more;
	return 0;
}
