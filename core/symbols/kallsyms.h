/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The kernel's symbols (kallsyms.c). */
#ifndef WEFT_SYMBOLS_KALLSYMS_H
#define WEFT_SYMBOLS_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/symbols/store.h"

#define WEFT_KALLSYMS_PATH "/proc/kallsyms"

struct weft_kallsyms_block {
	uint32_t address; /* of the first entry, from base */
	uint32_t offset;  /* of the first entry, in stream */
};

struct weft_kallsyms_loose {
	uint64_t address;
	uint32_t name; /* offset in names */
	uint16_t module;
	bool global;
};

struct weft_kallsyms {
	bool hidden; /* every address reads as zero: kptr_restrict */
	/* vmlinux: entries in address order, packed */
	uint64_t base;         /* address of the first entry */
	uint64_t stext, etext; /* 0: not said */
	uint8_t *stream;
	size_t stream_size, stream_cap;
	struct weft_kallsyms_block *blocks;
	size_t n_blocks, cap_blocks;
	uint32_t n; /* entries */
	/* modules, BPF programs and whatever came out of order, sorted by address */
	struct weft_kallsyms_loose *loose;
	size_t n_loose, cap_loose;
	char *names;
	size_t names_size, names_cap;
	const char **modules; /* interned */
	size_t n_modules, cap_modules;
};

/* Reads a file like /proc/kallsyms. On failure k is empty and needs no finish. */
int weft_kallsyms_load(struct weft_kallsyms *k, const char *path, struct weft_texts *strings);
void weft_kallsyms_finish(struct weft_kallsyms *k);
size_t weft_kallsyms_memory(const struct weft_kallsyms *k); /* bytes held */

/* The symbol that covers an address. Returns its interned name, or NULL; *start is its address,
 * *module "vmlinux", a module's name or "[bpf]". */
const char *weft_kallsyms_find(const struct weft_kallsyms *k, uint64_t address,
			       struct weft_texts *strings, uint64_t *start, const char **module);

/* Which of several names of one place to show: true if a is the better one. Exported names come
 * before local ones, then the fewest leading underscores, then the shortest, then the first in
 * byte order, so that the choice never depends on the order of a table. */
bool weft_symbol_better(const char *a, bool a_global, const char *b, bool b_global);

#endif
