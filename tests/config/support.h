/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Loading texts and judging what came of it. */
#ifndef WEFT_TESTS_CONFIG_SUPPORT_H
#define WEFT_TESTS_CONFIG_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"

/* A whole set around one action, which begins at line 5, column 9. */
#define ACTION(text) "version: 1\nprobes:\n  - probe: a:b:c:d\n    do:\n      - " text "\n"
/* The lines that make a set of what stands before them. */
#define PROBES "probes: [{probe: 'a:b:c:d', do: [show]}]\n"

/* Loads a set that must be right; the test ends if it is not. Destroy it with weft_set_destroy(). */
struct weft_set *good(const char *yaml);

/* The text must be refused with exactly one report: this tag, at this place, with a text that has
 * `words` in it. */
void bad(const char *yaml, const char *tag, unsigned int line, unsigned int column,
	 const char *words);
/* The same, and the suggestion. */
void bad_near(const char *yaml, const char *tag, unsigned int line, unsigned int column,
	      const char *suggestion);

/* The whole of a file, NUL-terminated; freed with free(). The test ends if it cannot be read. */
char *read_file(const char *path, size_t *size);

/* Whether the text is one well-formed JSON value (RFC 8259). */
bool json_is_well_formed(const char *s);

#endif
