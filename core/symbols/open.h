/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Opening the file behind a mapping of another process (open.c). */
#ifndef WEFT_SYMBOLS_OPEN_H
#define WEFT_SYMBOLS_OPEN_H

#include <sys/stat.h>

#include "core/symbols/files.h"

/* A descriptor of the very file, with its stat, or -errno (-ESTALE: what is there now is another).
 * *by_map: it was reached through the mapping, which cannot lead to another file. */
int weft_open_mapped(const struct weft_file *file, const struct weft_reach *reach, struct stat *st,
		     bool *by_map);

/* Whether a file with these times can still have the content that was mapped at seen_ns. */
bool weft_unchanged_since(uint64_t modified_ns, uint64_t changed_ns, bool by_map, uint64_t seen_ns);

uint64_t weft_stat_ns(const struct timespec *t);

#endif
