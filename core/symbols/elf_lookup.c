/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From a place in a mapped file to a symbol.
 *
 * A process maps file bytes; symbols speak of addresses as linked. What relates the two is the
 * executable segment that holds the byte, and nothing else is needed: not the address at which the
 * file was loaded, so position-independent programs, shared objects, fixed ones and prelinked ones
 * are all the same.
 *
 * Symbols may nest and overlap. Of those with a size that cover an address the one that begins last
 * is shown; if there is none, one without a size that begins last before the address. To find a
 * far outer symbol without walking over all that lie in it, blocks of symbols know their greatest
 * end.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/symbols/elf_image.h"
#include "core/symbols/kallsyms.h"

bool weft_symtab_address(const struct weft_symtab *elf, uint64_t map_offset, uint64_t offset,
			 uint64_t *address)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const struct weft_symtab_segment *found = NULL;

	for (size_t i = 0; i < elf->n_segments; i++) {
		const struct weft_symtab_segment *s = &elf->segments[i];

		if (offset < s->offset || offset - s->offset >= s->size)
			continue;
		/* Two segments may share a page of the file: then the mapping's own beginning tells. */
		if (!found || (s->offset & ~(page - 1)) == map_offset)
			found = s;
	}
	if (found)
		*address = offset - found->offset + found->address;
	return found;
}

/* Number of symbols that begin at or before rel. */
static size_t count_before(const struct weft_symtab *elf, uint32_t rel)
{
	size_t low = 0, high = elf->n_symbols;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (elf->symbols[middle].start <= rel)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool covers(const struct weft_symtab_symbol *s, uint32_t rel)
{
	return rel >= s->start && rel - s->start < s->size;
}

/* Of the first n symbols, the last with a size that covers rel. */
static int find_sized(const struct weft_symtab *elf, size_t n, uint32_t rel, size_t *index)
{
	for (size_t i = n; i > 0;) {
		const struct weft_symtab_symbol *s = &elf->symbols[i - 1];

		if (i % WEFT_SYMTAB_BLOCK == 0 && elf->block_end[i / WEFT_SYMTAB_BLOCK - 1] <= rel) {
			i -= WEFT_SYMTAB_BLOCK;
			continue;
		}
		if (!(s->name & WEFT_SYMTAB_SOFT) && covers(s, rel)) {
			*index = i - 1;
			return 0;
		}
		i--;
	}
	return -ENOENT;
}

int weft_symtab_find(const struct weft_symtab *elf, uint64_t address, size_t *index)
{
	uint32_t rel = (uint32_t)(address - elf->base);
	size_t n, i, outer;

	if (address - elf->base >= UINT32_MAX)
		return -ENOENT;
	n = count_before(elf, rel);
	if (!n || find_sized(elf, n, rel, index) == 0)
		return n ? 0 : -ENOENT;
	/* What begins inside a function with a size is a label in it, and ends with it. */
	if (find_sized(elf, n, elf->symbols[n - 1].start, &outer) == 0)
		return -ENOENT;
	for (i = n; i > 0 && elf->symbols[i - 1].start == elf->symbols[n - 1].start; i--)
		if (elf->symbols[i - 1].name & WEFT_SYMTAB_SOFT &&
		    covers(&elf->symbols[i - 1], rel)) {
			*index = i - 1;
			return 0;
		}
	return -ENOENT;
}

const char *weft_symtab_name(const struct weft_symtab *elf, size_t index)
{
	const struct weft_symtab_symbol *wanted = &elf->symbols[index];
	const char *best = NULL, *shown = NULL;
	bool best_global = false;

	/* Equal ones lie side by side; index is the last of them. */
	for (size_t n = 0; n < WEFT_SYMTAB_ALIAS_MOST && n <= index; n++) {
		const struct weft_symtab_symbol *s = &elf->symbols[index - n];
		const char *name = elf->names + (s->name & WEFT_SYMTAB_NAME_MASK);
		bool global = s->name & WEFT_SYMTAB_GLOBAL;

		if (s->start != wanted->start || s->size != wanted->size)
			break;
		if (n && !weft_symbol_better(name, global, best, best_global))
			continue;
		best = name;
		best_global = global;
		shown = s->name & WEFT_SYMTAB_MANGLED ? name + strlen(name) + 1 : name;
	}
	return shown;
}
