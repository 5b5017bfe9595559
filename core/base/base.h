/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the files of core/base share among themselves. */
#ifndef WEFT_CORE_BASE_H
#define WEFT_CORE_BASE_H

#include <stddef.h>
#include <stdint.h>

#include "core/registry.h"

/* The search for the nearest right name, one candidate at a time: for candidates that do not lie
 * in an array. best is NULL until a candidate is near enough, and points to that candidate. */
struct weft_near {
	const char *word; /* borrowed */
	size_t length;
	const char *best;
	unsigned int cost; /* of best */
};

void weft_near_init(struct weft_near *near, const char *word);
void weft_near_offer(struct weft_near *near, const char *candidate);

/* Where nothing is near, all that there is: "`a`, `b` and `c`", cut off with dots at size bytes. */
const char *weft_list_names(const char *const *names, size_t n, char *out, size_t size);

/* Behind a bracket expression that begins at p (which is '['), or NULL if it is not closed. */
const char *weft_glob_bracket_end(const char *p);
/* Copies a field of a pattern without its escapes to out, which has room for strlen(field) + 1. */
size_t weft_glob_unescape(const char *field, char *out);

#endif
