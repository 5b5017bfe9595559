/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* "did you mean ...?" for the names that a provider knows. */
#ifndef WEFT_SUPPORT_NEAREST_H
#define WEFT_SUPPORT_NEAREST_H

#include <stddef.h>

/* The candidate with the fewest letters to insert, drop, change or swap, ignoring case; NULL if
 * more than half of the word's letters would have to differ. */
const char *support_nearest(const char *word, const char *const *candidates, size_t n);

#endif
