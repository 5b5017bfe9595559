/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The function symbols of an ELF file, kept small: made by elf_image.c of what core/elf read,
 * searched by elf_lookup.c. */
#ifndef WEFT_SYMBOLS_ELF_IMAGE_H
#define WEFT_SYMBOLS_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/elf/elf.h"
#include "core/symbols/store.h"

#define WEFT_SYMTAB_NAME_MASK  0x1fffffffu
#define WEFT_SYMTAB_GLOBAL     0x20000000u /* global or weak */
#define WEFT_SYMTAB_SOFT       0x40000000u /* no size: up to the next symbol, at most to size */
#define WEFT_SYMTAB_MANGLED    0x80000000u /* behind the name lies the demangled one */
#define WEFT_SYMTAB_BUILD_ID   32u         /* longest build ID that is kept, bytes */
#define WEFT_SYMTAB_BLOCK      64u
#define WEFT_SYMTAB_ALIAS_MOST 64u /* names of one place that are compared */

struct weft_symtab_symbol {
	uint32_t start; /* from base */
	uint32_t size;
	uint32_t name; /* offset in names, and WEFT_SYMTAB_* bits */
};

struct weft_symtab_segment {
	uint64_t offset, size; /* in the file */
	uint64_t address;      /* of its first byte, as linked */
};

struct weft_symtab {
	uint64_t base;                        /* the least address of executable segments */
	struct weft_symtab_segment *segments; /* the executable ones */
	size_t n_segments;
	struct weft_symtab_symbol *symbols; /* by start, then size */
	size_t n_symbols;
	char *names;
	size_t names_size;
	uint32_t *block_end; /* per WEFT_SYMTAB_BLOCK symbols: the greatest end of one with a size */
	uint8_t build_id[WEFT_SYMTAB_BUILD_ID];
	uint32_t build_id_size;
};

/* Reads a file, and its separate debug file where it has one (path and root as in struct
 * weft_elf_request). most_symbols bounds the memory. -EFBIG: over the limits; else what
 * weft_elf_read() says. A file without symbols is fine. On failure out is empty. */
int weft_symtab_load(struct weft_elf_reader *reader, int fd, const char *path, const char *root,
		     size_t most_symbols, struct weft_symtab *out, struct weft_error *err);
void weft_symtab_finish(struct weft_symtab *elf);
size_t weft_symtab_memory(const struct weft_symtab *elf);

/* The linked address of a byte of the file that is mapped executable by a mapping that begins at
 * file offset map_offset; false if no segment holds it. */
bool weft_symtab_address(const struct weft_symtab *elf, uint64_t map_offset, uint64_t offset,
			 uint64_t *address);

/* Which symbol covers a linked address; -ENOENT: none does. */
int weft_symtab_find(const struct weft_symtab *elf, uint64_t address, size_t *index);
/* The best name of that symbol and those that cover the same bytes, demangled if it was mangled. */
const char *weft_symtab_name(const struct weft_symtab *elf, size_t index);

#endif
