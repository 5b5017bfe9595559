/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* printf formats: parsed once, checked by the language against types, rendered by output. */
#ifndef WEFT_LANG_FORMAT_H
#define WEFT_LANG_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../arena.h"
#include "../error.h"

/* A run of literal text, then (conv not 0) one conversion. */
struct weft_format_piece {
	const char *literal;
	size_t literal_size;
	char conv; /* d i u x X o c s p; 0: none, the end */
	bool left, zero, plus, space, alternate;
	int width;     /* -1: none */
	int precision; /* -1: none */
};

struct weft_format {
	struct weft_format_piece *pieces;
	size_t n_pieces;
	size_t n_conversions;
};

/* C's printf, less what makes no sense here: length modifiers (l, ll, h, hh, z) are accepted and
 * ignored, %n, floats and `*` are refused. FORMAT_BAD, with *at the offset of the fault. */
int weft_format_parse(const char *text, struct weft_arena *arena, struct weft_format *out,
		      size_t *at, struct weft_error *err);

#endif
