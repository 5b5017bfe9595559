/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A region of memory whose pieces are freed together. Pieces are zeroed and aligned to 16. */
#ifndef WEFT_CORE_ARENA_H
#define WEFT_CORE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct weft_arena;

struct weft_arena *weft_arena_create(void); /* NULL: out of memory */
void weft_arena_destroy(struct weft_arena *arena);
void *weft_arena_alloc(struct weft_arena *arena, size_t size); /* zeroed; NULL: out of memory */
void *weft_arena_array(struct weft_arena *arena, size_t n, size_t size); /* overflow-checked */
char *weft_arena_strdup(struct weft_arena *arena, const char *s);
char *weft_arena_strndup(struct weft_arena *arena, const char *s, size_t n);
char *weft_arena_printf(struct weft_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void *weft_arena_memdup(struct weft_arena *arena, const void *p, size_t n);

/* Growing arrays on the heap: makes room for one more of an array of *n elements of `size` bytes
 * whose capacity is *cap. Returns 0 or -ENOMEM, leaving the array as it was. */
int weft_grow(void *array_of_pointer, size_t *cap, size_t n, size_t size);

#endif
