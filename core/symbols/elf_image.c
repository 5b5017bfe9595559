/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What core/elf read of a file, packed for naming addresses: 12 bytes a symbol and its name, kept
 * for as long as the session, while the reader's own result is let go. Of the symbols those stay
 * that cover code:
 *
 *  - functions and indirect functions, and exported symbols without type (written in assembler);
 *  - those without a size reach to the next symbol, but never out of their section: what follows
 *    .init is .plt, and no part of _init.
 */
#include "core/symbols/elf_image.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENTS_MOST 32u /* executable ones; every symbol is looked for in each */

static int take_segments(const struct weft_elf *from, struct weft_symtab *to)
{
	size_t n = 0;

	for (uint32_t i = 0; i < from->n_segments; i++) {
		const struct weft_elf_segment *s = weft_elf_segment_at(from, i);

		n += s->flags & PF_X && s->file_size;
	}
	if (n > SEGMENTS_MOST)
		return -EFBIG;
	to->segments = calloc(n ? n : 1, sizeof(*to->segments));
	if (!to->segments)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->n_segments; i++) {
		const struct weft_elf_segment *s = weft_elf_segment_at(from, i);

		if (!(s->flags & PF_X) || !s->file_size)
			continue;
		if (!to->n_segments || s->address < to->base)
			to->base = s->address;
		to->segments[to->n_segments++] = (struct weft_symtab_segment){
			.offset = s->offset, .size = s->file_size, .address = s->address};
	}
	return 0;
}

/* ---- symbols ---- */

static const struct weft_symtab_segment *segment_of(const struct weft_symtab *t, uint64_t address)
{
	for (size_t i = 0; i < t->n_segments; i++)
		if (address - t->segments[i].address < t->segments[i].size)
			return &t->segments[i];
	return NULL;
}

/* Bytes from a symbol's address to the end of what may belong to it. */
static uint64_t room_for(const struct weft_elf *from, const struct weft_elf_symbol *s,
			 const struct weft_symtab_segment *seg)
{
	uint64_t room = seg->size - (s->address - seg->address);

	if (s->section != WEFT_ELF_NO_SECTION) {
		const struct weft_elf_section *sec = weft_elf_section_at(from, s->section);
		uint64_t inside = s->address - sec->address;

		if (sec->flags & SHF_EXECINSTR && inside < sec->size && sec->size - inside < room)
			room = sec->size - inside;
	}
	return room;
}

static void take_symbol(const struct weft_elf *from, const struct weft_elf_symbol *s,
			struct weft_symtab *to)
{
	const struct weft_symtab_segment *seg = segment_of(to, s->address);
	struct weft_symtab_symbol *out = &to->symbols[to->n_symbols];
	size_t length = strlen(s->name) + 1;
	uint64_t room, size = s->size, start = s->address - to->base;

	if ((s->type != STT_FUNC && s->type != STT_GNU_IFUNC && s->type != STT_NOTYPE) || !seg ||
	    start >= UINT32_MAX)
		return;
	room = room_for(from, s, seg);
	if (!size || size > room)
		size = room;
	if (size > UINT32_MAX - start)
		size = UINT32_MAX - start;
	*out = (struct weft_symtab_symbol){
		.start = (uint32_t)start, .size = (uint32_t)size, .name = (uint32_t)to->names_size};
	if (s->binding != STB_LOCAL)
		out->name |= WEFT_SYMTAB_GLOBAL;
	if (!s->size)
		out->name |= WEFT_SYMTAB_SOFT;
	memcpy(to->names + to->names_size, s->name, length);
	to->names_size += length;
	if (s->demangled) {
		out->name |= WEFT_SYMTAB_MANGLED;
		length = strlen(s->demangled) + 1;
		memcpy(to->names + to->names_size, s->demangled, length);
		to->names_size += length;
	}
	to->n_symbols++;
}

static int compare_symbols(const void *va, const void *vb)
{
	const struct weft_symtab_symbol *a = va, *b = vb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static size_t room_for_names(const struct weft_elf_symbol *s)
{
	return strlen(s->name) + 1 + (s->demangled ? strlen(s->demangled) + 1 : 0);
}

static int take_symbols(const struct weft_elf *from, size_t most, struct weft_symtab *to)
{
	uint64_t names = 0;

	if (from->n_symbols > most)
		return -EFBIG;
	for (uint32_t i = 0; i < from->n_symbols; i++)
		names += room_for_names(weft_elf_symbol_at(from, i));
	if (names > WEFT_SYMTAB_NAME_MASK)
		return -EFBIG;
	to->symbols = calloc(from->n_symbols ? from->n_symbols : 1, sizeof(*to->symbols));
	to->names = malloc(names ? names : 1);
	if (!to->symbols || !to->names)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->n_symbols; i++)
		take_symbol(from, weft_elf_symbol_at(from, i), to);
	qsort(to->symbols, to->n_symbols, sizeof(*to->symbols), compare_symbols);
	return 0;
}

static int index_symbols(struct weft_symtab *t)
{
	size_t n = (t->n_symbols + WEFT_SYMTAB_BLOCK - 1) / WEFT_SYMTAB_BLOCK;

	if (!n)
		return 0;
	t->block_end = calloc(n, sizeof(*t->block_end));
	if (!t->block_end)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_symbols; i++) {
		const struct weft_symtab_symbol *s = &t->symbols[i];

		if (!(s->name & WEFT_SYMTAB_SOFT) &&
		    t->block_end[i / WEFT_SYMTAB_BLOCK] < s->start + s->size)
			t->block_end[i / WEFT_SYMTAB_BLOCK] = s->start + s->size;
	}
	return 0;
}

int weft_symtab_load(struct weft_elf_reader *reader, int fd, const char *path, const char *root,
		     size_t most_symbols, struct weft_symtab *out, struct weft_error *err)
{
	struct weft_elf_request request = {.struct_size = sizeof(request),
					   .fd = fd,
					   .want = WEFT_ELF_WANT_FUNCTIONS |
						   WEFT_ELF_WANT_DEMANGLED | WEFT_ELF_WANT_DEBUG,
					   .path = path,
					   .root = root};
	const struct weft_elf *from;
	int r;

	*out = (struct weft_symtab){0};
	r = weft_elf_read(reader, &request, &from, err);
	if (r)
		return r;
	if (from->build_id_size <= WEFT_SYMTAB_BUILD_ID && from->build_id) {
		memcpy(out->build_id, from->build_id, from->build_id_size);
		out->build_id_size = from->build_id_size;
	}
	r = take_segments(from, out);
	if (!r)
		r = take_symbols(from, most_symbols, out);
	if (!r)
		r = index_symbols(out);
	weft_elf_release(reader, from);
	if (r) {
		weft_symtab_finish(out);
		return r == -EFBIG ? weft_fail(err, r, "ELF_MEMORY_LIMIT",
					       "%s has more symbols than are kept to name addresses",
					       path)
				   : weft_nomem(err);
	}
	return 0;
}

void weft_symtab_finish(struct weft_symtab *t)
{
	free(t->segments);
	free(t->symbols);
	free(t->names);
	free(t->block_end);
	*t = (struct weft_symtab){0};
}

size_t weft_symtab_memory(const struct weft_symtab *t)
{
	return t->n_segments * sizeof(*t->segments) + t->n_symbols * sizeof(*t->symbols) +
	       t->names_size + t->n_symbols / WEFT_SYMTAB_BLOCK * sizeof(*t->block_end);
}
