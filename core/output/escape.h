/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Text that strangers chose, made harmless (escape.c). */
#ifndef WEFT_OUTPUT_ESCAPE_H
#define WEFT_OUTPUT_ESCAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/output/buf.h"

/* Bytes of the character at s, of which n bytes are there, and its code point; 0: not UTF-8. */
size_t weft_utf8_length(const char *s, size_t n, uint32_t *code);
/* Characters of valid UTF-8 text; columns on a terminal, but for wide ones. */
size_t weft_utf8_count(const char *s, size_t n);

/* For eyes: control characters, marks that change the direction of writing and bytes that are not
 * UTF-8 become \n, \t, \xNN; the backslash itself is doubled, so that nothing is ambiguous. */
void weft_escape_text(struct weft_buf *b, const char *s, size_t n);
/* The same, in quotes unless it is a plain word. */
void weft_escape_word(struct weft_buf *b, const char *s, size_t n);
/* A name in a folded stack: as text, and ';' becomes \x3b. */
void weft_escape_folded(struct weft_buf *b, const char *s);
/* A JSON string with its quotes. A byte 0xNN that is not part of UTF-8 becomes U+EFNN. */
void weft_escape_json(struct weft_buf *b, const char *s, size_t n);
/* Pairs of hexadecimal digits. */
void weft_escape_hex(struct weft_buf *b, const char *s, size_t n);

#endif
