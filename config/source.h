/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The bytes of a probe set, and the way from libyaml's marks to places in them. */
#ifndef WEFT_CONFIG_SOURCE_H
#define WEFT_CONFIG_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/error.h"

struct weft_source {
	const char *data; /* after a byte order mark; not NUL-terminated */
	size_t size;
	uint32_t *lines; /* offset of each line's first byte; on the heap */
	size_t n_lines, cap_lines;
	size_t cursor_char, cursor_byte; /* the last place that was looked up */
};

/* Checks size and encoding: CONFIG_SIZE, CONFIG_ENCODING. data must outlive the source. */
int weft_source_init(struct weft_source *s, const char *data, size_t size, struct weft_error *err);
void weft_source_finish(struct weft_source *s);

/* The offset in bytes of the index-th character. */
size_t weft_source_offset(struct weft_source *s, size_t index);
struct weft_pos weft_source_pos(const struct weft_source *s, size_t offset);

/* Where the text stands whose extent is looked for. */
#define WEFT_EXTENT_FLOW 1u /* in { } or [ ]: a comma or a bracket ends it */
#define WEFT_EXTENT_KEY  2u /* it is a key: a colon ends it */

/* The text that was probably meant to begin at offset: up to what ends it there, the end of its
 * line or a comment. Brackets and strings inside it are kept whole. Returns its length in bytes. */
size_t weft_source_extent(const struct weft_source *s, size_t offset, unsigned int where);

/* The same in the quotes that YAML needs around it, for messages; NULL: out of memory. */
char *weft_source_quoted(const struct weft_source *s, size_t offset, size_t length,
			 struct weft_arena *arena);

#endif
