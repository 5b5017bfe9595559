/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reading the symbol tables of an ELF file that a stranger wrote.
 *
 * Every number in the file is a claim. The parser reads with pread() into memory of its own, copies
 * a header before it looks at it, checks every sum for overflow and every range against the size
 * that the file had when it was opened, and bounds what it keeps. A lie yields wrong names for the
 * liar's own addresses, at worst.
 *
 * Kept is a table of 12 bytes a symbol; the names stay in the file and are read when one is wanted,
 * because of the thousands that a file has a run shows a handful. Symbols come from .symtab, and
 * from .dynsym where that has more (most files are stripped to it):
 *  - functions and indirect functions;
 *  - symbols without type that are exported and lie in code: functions written in assembler. Local
 *    ones are labels inside functions and stay out;
 *  - those without a size reach to the next symbol, but never out of their section: what follows
 *    .init is .plt, and no part of _init.
 */
#include "core/symbols/elf_image.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/arena.h"

#define PHDRS_MOST    4096u
#define SEGMENTS_MOST 32u /* executable ones; every symbol is looked for in each */
#define SECTIONS_MOST 65536u
#define NOTES_MOST    65536u /* bytes of one PT_NOTE */
#define CHUNK         32768u /* bytes of a symbol table read at a time */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HOST_DATA ELFDATA2LSB
#else
#define HOST_DATA ELFDATA2MSB
#endif

/* A section, as far as it matters here. */
struct section {
	uint64_t address, size, offset, entry_size;
	uint32_t type, link;
	bool code;
};

struct parser {
	const struct weft_symtab_source *src;
	struct weft_symtab *elf;
	bool wide; /* ELFCLASS64 */
	size_t most_symbols;
	uint64_t phoff, shoff;
	uint32_t phentsize, phnum, shentsize, shnum;
	struct section *sections;
};

int weft_symtab_read(const struct weft_symtab_source *src, uint64_t offset, void *out, size_t n)
{
	char *p = out;

	if (offset > src->size || n > src->size - offset)
		return -ENODATA;
	if (src->memory) {
		memcpy(out, (const char *)src->memory + offset, n);
		return 0;
	}
	while (n) {
		ssize_t got = pread(src->fd, p, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got) /* it shrank */
			return -ENODATA;
		p += got;
		n -= (size_t)got;
		offset += (uint64_t)got;
	}
	return 0;
}

/* Claims that do not hold are all one error. */
static int read_claim(struct parser *p, uint64_t offset, void *out, size_t n)
{
	int r = weft_symtab_read(p->src, offset, out, n);

	return r == -ENODATA ? -ENOEXEC : r;
}

static int read_section(struct parser *p, uint64_t offset, struct section *out, uint32_t *info)
{
	Elf64_Shdr s;
	int r;

	if (p->wide) {
		r = read_claim(p, offset, &s, sizeof(s));
	} else {
		Elf32_Shdr n;

		r = read_claim(p, offset, &n, sizeof(n));
		s = (Elf64_Shdr){.sh_type = n.sh_type,
				 .sh_flags = n.sh_flags,
				 .sh_addr = n.sh_addr,
				 .sh_offset = n.sh_offset,
				 .sh_size = n.sh_size,
				 .sh_link = n.sh_link,
				 .sh_info = n.sh_info,
				 .sh_entsize = n.sh_entsize};
	}
	if (r)
		return r;
	*out = (struct section){
		.address = s.sh_addr,
		.size = s.sh_size,
		.offset = s.sh_offset,
		.entry_size = s.sh_entsize,
		.type = s.sh_type,
		.link = s.sh_link,
		.code = (s.sh_flags & (SHF_EXECINSTR | SHF_ALLOC)) == (SHF_EXECINSTR | SHF_ALLOC),
	};
	if (info)
		*info = s.sh_info;
	return 0;
}

static int read_header(struct parser *p)
{
	unsigned char ident[EI_NIDENT];
	struct section first;
	uint32_t info;
	int r = read_claim(p, 0, ident, sizeof(ident));

	if (r)
		return r;
	if (memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_DATA] != HOST_DATA ||
	    (ident[EI_CLASS] != ELFCLASS64 && ident[EI_CLASS] != ELFCLASS32))
		return -ENOEXEC;
	p->wide = ident[EI_CLASS] == ELFCLASS64;
	if (p->wide) {
		Elf64_Ehdr h;

		r = read_claim(p, 0, &h, sizeof(h));
		if (r)
			return r;
		p->phoff = h.e_phoff, p->phnum = h.e_phnum, p->phentsize = h.e_phentsize;
		p->shoff = h.e_shoff, p->shnum = h.e_shnum, p->shentsize = h.e_shentsize;
	} else {
		Elf32_Ehdr h;

		r = read_claim(p, 0, &h, sizeof(h));
		if (r)
			return r;
		p->phoff = h.e_phoff, p->phnum = h.e_phnum, p->phentsize = h.e_phentsize;
		p->shoff = h.e_shoff, p->shnum = h.e_shnum, p->shentsize = h.e_shentsize;
	}
	/* Counts that do not fit their 16 bits stand in the first section header. */
	if (p->shoff && (!p->shnum || p->phnum == PN_XNUM)) {
		r = read_section(p, p->shoff, &first, &info);
		if (r)
			return r;
		if (!p->shnum)
			p->shnum = first.size > SECTIONS_MOST ? SECTIONS_MOST + 1
							      : (uint32_t)first.size;
		if (p->phnum == PN_XNUM)
			p->phnum = info;
	}
	if (p->phnum > PHDRS_MOST || p->shnum > SECTIONS_MOST)
		return -EFBIG;
	if ((p->phnum && p->phentsize != (p->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr))) ||
	    (p->shnum && p->shentsize != (p->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr))))
		return -ENOEXEC;
	return 0;
}

static int read_build_id(struct parser *p, uint64_t offset, uint64_t size, uint64_t align)
{
	unsigned char *notes;
	uint64_t at = 0, pad = align == 8 ? 8 : 4;
	int r;

	if (!size || size > NOTES_MOST)
		return 0;
	notes = malloc(size);
	if (!notes)
		return -ENOMEM;
	r = weft_symtab_read(p->src, offset, notes, size);
	while (!r && size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr n;
		uint64_t name, desc, next;

		memcpy(&n, notes + at, sizeof(n));
		name = at + sizeof(n);
		desc = name + (((uint64_t)n.n_namesz + pad - 1) & ~(pad - 1));
		next = desc + (((uint64_t)n.n_descsz + pad - 1) & ~(pad - 1));
		if (desc > size || n.n_descsz > size - desc)
			break;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    memcmp(notes + name, "GNU", 4) == 0 && n.n_descsz &&
		    n.n_descsz <= WEFT_SYMTAB_BUILD_ID) {
			memcpy(p->elf->build_id, notes + desc, n.n_descsz);
			p->elf->build_id_size = n.n_descsz;
			break;
		}
		if (next > size)
			break;
		at = next;
	}
	free(notes);
	return 0; /* notes that cannot be read are no notes */
}

static int add_segment(struct parser *p, const Elf64_Phdr *h)
{
	struct weft_symtab *elf = p->elf;
	int r;

	if (!h->p_filesz || h->p_filesz > UINT64_MAX - h->p_offset ||
	    h->p_filesz > UINT64_MAX - h->p_vaddr)
		return 0;
	if (elf->n_segments == SEGMENTS_MOST)
		return -EFBIG;
	r = weft_grow(&elf->segments, &elf->cap_segments, elf->n_segments, sizeof(*elf->segments));
	if (r)
		return r;
	if (!elf->n_segments || h->p_vaddr < elf->base)
		elf->base = h->p_vaddr;
	elf->segments[elf->n_segments++] = (struct weft_symtab_segment){
		.offset = h->p_offset,
		.size = h->p_filesz,
		.address = h->p_vaddr,
	};
	return 0;
}

static int read_segments(struct parser *p)
{
	for (uint32_t i = 0; i < p->phnum; i++) {
		uint64_t at = p->phoff + (uint64_t)i * p->phentsize;
		Elf64_Phdr h;
		int r;

		if (at < p->phoff)
			return -ENOEXEC;
		if (p->wide) {
			r = read_claim(p, at, &h, sizeof(h));
		} else {
			Elf32_Phdr n;

			r = read_claim(p, at, &n, sizeof(n));
			h = (Elf64_Phdr){.p_type = n.p_type,
					 .p_flags = n.p_flags,
					 .p_offset = n.p_offset,
					 .p_vaddr = n.p_vaddr,
					 .p_filesz = n.p_filesz,
					 .p_align = n.p_align};
		}
		if (!r && h.p_type == PT_LOAD && h.p_flags & PF_X)
			r = add_segment(p, &h);
		else if (!r && h.p_type == PT_NOTE && !p->elf->build_id_size)
			r = read_build_id(p, h.p_offset, h.p_filesz, h.p_align);
		if (r)
			return r;
	}
	return 0;
}

static int read_sections(struct parser *p)
{
	if (!p->shoff || !p->shnum)
		return 0;
	p->sections = calloc(p->shnum, sizeof(*p->sections));
	if (!p->sections)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->shnum; i++) {
		uint64_t at = p->shoff + (uint64_t)i * p->shentsize;
		int r = at < p->shoff ? -ENOEXEC : read_section(p, at, &p->sections[i], NULL);

		if (r)
			return r;
	}
	return 0;
}

/* ---- symbols ---- */

static const struct weft_symtab_segment *segment_of(const struct weft_symtab *elf, uint64_t address)
{
	for (size_t i = 0; i < elf->n_segments; i++)
		if (address - elf->segments[i].address < elf->segments[i].size)
			return &elf->segments[i];
	return NULL;
}

/* Bytes from value to the end of what may belong to a symbol there. */
static uint64_t room_for(struct parser *p, const Elf64_Sym *s, const struct weft_symtab_segment *seg)
{
	uint64_t room = seg->size - (s->st_value - seg->address);

	if (s->st_shndx < p->shnum) {
		const struct section *sec = &p->sections[s->st_shndx];
		uint64_t inside = s->st_value - sec->address;

		if (sec->code && inside < sec->size && sec->size - inside < room)
			room = sec->size - inside;
	}
	return room;
}

static bool is_function(struct parser *p, const Elf64_Sym *s)
{
	unsigned int type = ELF64_ST_TYPE(s->st_info), bind = ELF64_ST_BIND(s->st_info);

	if (s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS || !s->st_name)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return type == STT_NOTYPE && bind != STB_LOCAL && s->st_shndx < p->shnum &&
	       p->sections[s->st_shndx].code;
}

static int add_symbol(struct parser *p, const Elf64_Sym *s, const struct section *strings,
		      const struct weft_symtab_symbol *known, size_t n_known)
{
	struct weft_symtab *elf = p->elf;
	const struct weft_symtab_segment *seg;
	struct weft_symtab_symbol out;
	uint64_t room, size = s->st_size;
	int r;

	if (!is_function(p, s) || s->st_name >= strings->size)
		return 0;
	seg = segment_of(elf, s->st_value);
	if (!seg || s->st_value - elf->base >= UINT32_MAX)
		return 0;
	room = room_for(p, s, seg);
	if (!size || size > room)
		size = room;
	if (size > UINT32_MAX - (s->st_value - elf->base))
		size = UINT32_MAX - (s->st_value - elf->base);
	out = (struct weft_symtab_symbol){
		.start = (uint32_t)(s->st_value - elf->base),
		.size = (uint32_t)size,
		.name = (uint32_t)(strings->offset + s->st_name),
	};
	if (ELF64_ST_BIND(s->st_info) != STB_LOCAL)
		out.name |= WEFT_SYMTAB_GLOBAL;
	if (!s->st_size)
		out.name |= WEFT_SYMTAB_SOFT;
	/* .symtab, where there is one, has what .dynsym has. */
	for (size_t low = 0, high = n_known; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (known[middle].start == out.start)
			return 0;
		if (known[middle].start < out.start)
			low = middle + 1;
		else
			high = middle;
	}
	if (elf->n_symbols >= p->most_symbols)
		return -EFBIG;
	r = weft_grow(&elf->symbols, &elf->cap_symbols, elf->n_symbols, sizeof(*elf->symbols));
	if (!r)
		elf->symbols[elf->n_symbols++] = out;
	return r;
}

static int read_symbols(struct parser *p, const struct section *table, size_t n_known)
{
	size_t entry = p->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym), n, per_chunk;
	const struct section *strings;
	struct weft_symtab_symbol *known = NULL;
	char *chunk;
	int r = 0;

	if (table->link >= p->shnum || table->entry_size != entry)
		return 0;
	strings = &p->sections[table->link];
	if (strings->type != SHT_STRTAB || strings->offset > p->src->size ||
	    strings->size > p->src->size - strings->offset || table->offset > p->src->size ||
	    table->size > p->src->size - table->offset)
		return 0;
	per_chunk = CHUNK / entry;
	chunk = malloc(per_chunk * entry);
	if (n_known) { /* the table may move while it grows */
		known = malloc(n_known * sizeof(*known));
		if (known)
			memcpy(known, p->elf->symbols, n_known * sizeof(*known));
	}
	if (!chunk || (n_known && !known))
		r = -ENOMEM;
	n = table->size / entry;
	for (size_t i = 0; !r && i < n; i += per_chunk) {
		size_t here = n - i < per_chunk ? n - i : per_chunk;

		r = read_claim(p, table->offset + i * entry, chunk, here * entry);
		for (size_t k = 0; !r && k < here; k++) {
			Elf64_Sym s;

			if (p->wide) {
				memcpy(&s, chunk + k * entry, sizeof(s));
			} else {
				Elf32_Sym w;

				memcpy(&w, chunk + k * entry, sizeof(w));
				s = (Elf64_Sym){.st_name = w.st_name,
						.st_info = w.st_info,
						.st_shndx = w.st_shndx,
						.st_value = w.st_value,
						.st_size = w.st_size};
			}
			r = add_symbol(p, &s, strings, known, n_known);
		}
	}
	free(known);
	free(chunk);
	return r;
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

static void sort_symbols(struct weft_symtab *elf)
{
	if (elf->n_symbols)
		qsort(elf->symbols, elf->n_symbols, sizeof(*elf->symbols), compare_symbols);
}

static int index_symbols(struct weft_symtab *elf)
{
	size_t n = (elf->n_symbols + WEFT_SYMTAB_BLOCK - 1) / WEFT_SYMTAB_BLOCK;
	struct weft_symtab_symbol *fit;

	if (!n)
		return 0;
	fit = realloc(elf->symbols, elf->n_symbols * sizeof(*fit));
	if (fit) {
		elf->symbols = fit;
		elf->cap_symbols = elf->n_symbols;
	}
	elf->block_end = calloc(n, sizeof(*elf->block_end));
	if (!elf->block_end)
		return -ENOMEM;
	for (size_t i = 0; i < elf->n_symbols; i++) {
		const struct weft_symtab_symbol *s = &elf->symbols[i];

		if (!(s->name & WEFT_SYMTAB_SOFT) &&
		    elf->block_end[i / WEFT_SYMTAB_BLOCK] < s->start + s->size)
			elf->block_end[i / WEFT_SYMTAB_BLOCK] = s->start + s->size;
	}
	return 0;
}

int weft_symtab_load(const struct weft_symtab_source *src, size_t most_symbols,
		     struct weft_symtab *out)
{
	static const uint32_t tables[] = {SHT_SYMTAB, SHT_DYNSYM};
	struct parser p = {.src = src, .elf = out, .most_symbols = most_symbols};
	int r;

	*out = (struct weft_symtab){0};
	if (src->size > WEFT_SYMTAB_FILE_MOST)
		return -EFBIG;
	r = read_header(&p);
	if (!r)
		r = read_segments(&p);
	if (!r)
		r = read_sections(&p);
	for (size_t t = 0; !r && t < sizeof(tables) / sizeof(tables[0]); t++) {
		size_t known = out->n_symbols;

		for (uint32_t i = 0; i < p.shnum && p.sections; i++)
			if (p.sections[i].type == tables[t]) {
				r = read_symbols(&p, &p.sections[i], known);
				break;
			}
		sort_symbols(out);
	}
	if (!r)
		r = index_symbols(out);
	free(p.sections);
	if (r)
		weft_symtab_finish(out);
	return r;
}

void weft_symtab_finish(struct weft_symtab *elf)
{
	free(elf->segments);
	free(elf->symbols);
	free(elf->block_end);
	*elf = (struct weft_symtab){0};
}

size_t weft_symtab_memory(const struct weft_symtab *elf)
{
	return elf->cap_segments * sizeof(*elf->segments) +
	       elf->cap_symbols * sizeof(*elf->symbols) +
	       elf->n_symbols / WEFT_SYMTAB_BLOCK * sizeof(*elf->block_end);
}
