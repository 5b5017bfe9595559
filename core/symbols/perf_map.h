/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Names of code that JIT compilers made, from the files that they write for perf (perf_map.c). */
#ifndef WEFT_SYMBOLS_PERF_MAP_H
#define WEFT_SYMBOLS_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "core/symbols/store.h"

struct weft_perf_maps {
	struct weft_texts *strings;
	struct weft_u64map map; /* tgid + 1 -> struct perf_map */
	size_t entries;         /* in all */
};

void weft_perf_maps_init(struct weft_perf_maps *p, struct weft_texts *strings);
void weft_perf_maps_finish(struct weft_perf_maps *p);

/* The process has code that lies in no file: looks who it is, which is impossible once it is gone. */
void weft_perf_maps_note(struct weft_perf_maps *p, int32_t tgid);
/* The number now means another program: exec, or a new process. */
void weft_perf_maps_forget(struct weft_perf_maps *p, int32_t tgid);

/* The name of what covers an address, interned, or NULL. *start: where it begins; *module: the file
 * that says so. */
const char *weft_perf_maps_find(struct weft_perf_maps *p, int32_t tgid, uint64_t address,
				uint64_t *start, const char **module);

#endif
