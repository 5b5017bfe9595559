/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Symbols, from every table that has some: .symtab, .dynsym with its versions, the table inside
 * .gnu_debugdata, the table of a separate debug file. What is in two of them is kept once; tables
 * are told apart by the order of enum weft_elf_source.
 *
 * While they are collected, texts are pointers into the file. Only what remains after sorting is
 * copied out.
 */
#include <stdlib.h>
#include <string.h>

#include "core/elf/worker.h"

#define MOST_VERSIONS 32768u

struct collected {
	struct weft_elf_symbol symbol; /* texts point into the file; version is not NUL-terminated */
	size_t name_length, version_length;
};

struct collector {
	struct weft_elf_worker *w;
	struct collected *symbols;
	size_t n, cap;
};

/* ---- versions ---- */

struct versions {
	Elf_Data *of_symbols;
	const char **names; /* by index */
};

static void read_versions(struct weft_elf_worker *w, struct versions *v)
{
	GElf_Shdr h;

	for (Elf_Scn *s = NULL; (s = elf_nextscn(w->file, s));) {
		Elf_Data *data;
		size_t at = 0;

		if (!gelf_getshdr(s, &h))
			continue;
		if (h.sh_type == SHT_GNU_versym && !v->of_symbols)
			v->of_symbols = elf_getdata(s, NULL);
		if (h.sh_type != SHT_GNU_verdef || v->names)
			continue;
		v->names = weft_elf_allocate(MOST_VERSIONS, sizeof(*v->names));
		data = elf_getdata(s, NULL);
		for (uint32_t i = 0; data && i < MOST_VERSIONS; i++) {
			GElf_Verdaux aux;
			GElf_Verdef def;

			if (at > INT32_MAX || !gelf_getverdef(data, (int)at, &def))
				break;
			if (def.vd_ndx < MOST_VERSIONS && !(def.vd_flags & VER_FLG_BASE) &&
			    def.vd_aux <= INT32_MAX - at &&
			    gelf_getverdaux(data, (int)(at + def.vd_aux), &aux))
				v->names[def.vd_ndx] = elf_strptr(w->file, h.sh_link, aux.vda_name);
			if (!def.vd_next)
				break;
			at += def.vd_next;
		}
	}
}

/* ---- collecting ---- */

static bool wanted(const struct collector *c, const GElf_Sym *s, uint32_t section)
{
	unsigned int type = GELF_ST_TYPE(s->st_info), bind = GELF_ST_BIND(s->st_info);
	bool code = section != WEFT_ELF_NO_SECTION && c->w->sections[section].flags & SHF_EXECINSTR;

	/* Without type: written in assembler; local ones are labels inside of functions. */
	if (type == STT_NOTYPE && bind == STB_LOCAL)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && code))
		return c->w->job->want & WEFT_ELF_WANT_FUNCTIONS;
	return type == STT_OBJECT || type == STT_COMMON || type == STT_TLS || type == STT_NOTYPE
		       ? c->w->job->want & WEFT_ELF_WANT_DATA
		       : false;
}

/* In another file than the one that is described, sections are numbered differently. */
static uint32_t section_by_address(const struct weft_elf_worker *w, uint64_t address)
{
	for (uint32_t i = 1; i < w->result->elf.n_sections; i++)
		if (w->sections[i].flags & SHF_ALLOC && !(w->sections[i].flags & SHF_TLS) &&
		    address - w->sections[i].address < w->sections[i].size)
			return i;
	return WEFT_ELF_NO_SECTION;
}

static void collect(struct collector *c, const GElf_Sym *s, const char *name, uint32_t section,
		    const struct versions *v, int index, enum weft_elf_source source,
		    const char *unit)
{
	size_t length = strnlen(name, WEFT_ELF_MAX_NAME);
	struct collected *to;
	const char *at;
	GElf_Versym vs;

	if (!length || !wanted(c, s, section))
		return;
	if (length == WEFT_ELF_MAX_NAME) {
		c->w->result->elf.dropped++;
		return;
	}
	if (c->n == c->cap) {
		c->cap = c->cap ? c->cap * 2 : 1024;
		c->symbols = weft_elf_reallocate(c->symbols, c->cap, sizeof(*c->symbols));
	}
	to = &c->symbols[c->n++];
	*to = (struct collected){
		.symbol = {.name = name,
			   .unit = GELF_ST_BIND(s->st_info) == STB_LOCAL ? unit : NULL,
			   .address = s->st_value,
			   .size = s->st_size,
			   .section = section,
			   .type = GELF_ST_TYPE(s->st_info),
			   .binding = GELF_ST_BIND(s->st_info),
			   .visibility = GELF_ST_VISIBILITY(s->st_other),
			   .source = (uint8_t)source},
		.name_length = length,
	};
	/* .symtab has a version in the name, .dynsym beside it. */
	at = strchr(name, '@');
	if (at && at != name && source != WEFT_ELF_DYNSYM) {
		to->name_length = (size_t)(at - name);
		if (at[1] == '@')
			to->symbol.flags = WEFT_ELF_DEFAULT_VERSION;
		at += 1 + (at[1] == '@');
		if (*at) {
			to->symbol.version = at;
			to->version_length = strlen(at);
		}
	} else if (v && v->of_symbols && v->names && gelf_getversym(v->of_symbols, index, &vs)) {
		const char *version = v->names[vs & 0x7fff];

		if (version && strnlen(version, WEFT_ELF_MAX_NAME) < WEFT_ELF_MAX_NAME && *version) {
			to->symbol.version = version;
			to->version_length = strlen(version);
			if (!(vs & 0x8000))
				to->symbol.flags = WEFT_ELF_DEFAULT_VERSION;
		}
	}
}

static bool read_table(struct collector *c, Elf *file, Elf_Scn *scn, const GElf_Shdr *h,
		       enum weft_elf_source source)
{
	Elf_Data *data = elf_getdata(scn, NULL), *extended = NULL;
	struct versions versions = {0};
	const char *unit = NULL;
	size_t entry = gelf_fsize(file, ELF_T_SYM, 1, EV_CURRENT);
	GElf_Sym s;

	if (!data || !data->d_buf || h->sh_entsize != entry)
		return false;
	if (source == WEFT_ELF_DYNSYM)
		read_versions(c->w, &versions);
	for (Elf_Scn *x = NULL; (x = elf_nextscn(file, x));) {
		GElf_Shdr xh;

		if (gelf_getshdr(x, &xh) && xh.sh_type == SHT_SYMTAB_SHNDX &&
		    xh.sh_link == elf_ndxscn(scn))
			extended = elf_getdata(x, NULL);
	}
	for (int i = 1; i < (int)(data->d_size / entry); i++) {
		Elf32_Word index = 0;
		uint32_t section;
		const char *name;

		if (!gelf_getsymshndx(data, extended, i, &s, &index))
			break;
		if (GELF_ST_TYPE(s.st_info) == STT_FILE) {
			unit = elf_strptr(file, h->sh_link, s.st_name);
			if (unit && strnlen(unit, WEFT_ELF_MAX_NAME) == WEFT_ELF_MAX_NAME)
				unit = NULL;
			continue;
		}
		if (s.st_shndx == SHN_UNDEF || s.st_shndx == SHN_ABS)
			continue;
		section = s.st_shndx == SHN_XINDEX ? index : s.st_shndx;
		if (file != c->w->file)
			section = section_by_address(c->w, s.st_value);
		else if (section >= c->w->result->elf.n_sections)
			section = WEFT_ELF_NO_SECTION;
		name = elf_strptr(file, h->sh_link, s.st_name);
		if (name)
			collect(c, &s, name, section, &versions, i, source, unit);
	}
	free(versions.names);
	return true;
}

static bool read_tables(struct collector *c, Elf *file, uint32_t type, enum weft_elf_source source)
{
	bool found = false;
	GElf_Shdr h;

	for (Elf_Scn *s = NULL; (s = elf_nextscn(file, s));)
		if (gelf_getshdr(s, &h) && h.sh_type == type)
			found |= read_table(c, file, s, &h, source);
	return found;
}

/* ---- ordering ---- */

static int compare_text(const char *a, size_t na, const char *b, size_t nb)
{
	int order = memcmp(a, b, na < nb ? na : nb);

	return order ? order : (na > nb) - (na < nb);
}

/* By address, name, those with a version first, version, source. */
static int compare(const struct collected *a, const struct collected *b)
{
	int order;

	if (a->symbol.address != b->symbol.address)
		return a->symbol.address < b->symbol.address ? -1 : 1;
	order = compare_text(a->symbol.name, a->name_length, b->symbol.name, b->name_length);
	if (order)
		return order;
	if (!a->version_length != !b->version_length)
		return a->version_length ? -1 : 1;
	order = compare_text(a->symbol.version ? a->symbol.version : "", a->version_length,
			     b->symbol.version ? b->symbol.version : "", b->version_length);
	return order ? order : (int)a->symbol.source - (int)b->symbol.source;
}

/* A merge sort, of few comparisons: each may compare long names. */
static void sort(struct collected **list, size_t n)
{
	struct collected **from = list, **to = weft_elf_allocate(n, sizeof(void *)), **spare = to;

	for (size_t run = 1; run < n; run *= 2) {
		struct collected **swap = from;

		for (size_t start = 0; start < n; start += run * 2) {
			size_t a = start, a_end = n - start > run ? start + run : n;
			size_t b = a_end, b_end = n - a_end > run ? a_end + run : n;
			size_t out = start;

			while (a < a_end && b < b_end)
				to[out++] = compare(from[b], from[a]) < 0 ? from[b++] : from[a++];
			while (a < a_end)
				to[out++] = from[a++];
			while (b < b_end)
				to[out++] = from[b++];
		}
		from = to;
		to = swap;
	}
	if (from != list)
		memcpy(list, from, n * sizeof(void *));
	free(spare);
}

/* ---- what remains ---- */

/* Versions are few texts with many users: one copy of the last serves most. */
struct last_text {
	const char *from, *copy;
};

static const char *shared(struct weft_elf_worker *w, const char *text, struct last_text *table)
{
	struct last_text *t = &table[((uintptr_t)text >> 2) % 64];

	if (!text)
		return NULL;
	if (t->from != text)
		*t = (struct last_text){.from = text, .copy = weft_elf_string(w, text)};
	return t->copy;
}

static const char *demangled(struct weft_elf_worker *w, const char *name, bool parameters)
{
	char *text = weft_elf_demangle(name, parameters);
	const char *out = NULL;

	if (text && strnlen(text, WEFT_ELF_MAX_NAME) < WEFT_ELF_MAX_NAME)
		out = weft_elf_string(w, text);
	free(text);
	return out;
}

static void put(struct weft_elf_worker *w, const struct collected *from, struct last_text *table)
{
	struct weft_elf *elf = &w->result->elf;
	struct weft_elf view = {.segments = w->segments,
				.n_segments = elf->n_segments,
				.segment_size = sizeof(*w->segments)};
	struct weft_elf_symbol *s = weft_elf_record(w, sizeof(*s));
	const char *name;

	if (!elf->n_symbols++)
		elf->symbols = weft_region_offset(w->region, s);
	*s = from->symbol;
	name = weft_elf_bytes(w, from->symbol.name, from->name_length);
	s->name = name;
	s->version = shared(w, from->symbol.version, table);
	s->unit = shared(w, from->symbol.unit, table);
	s->offset = s->type == STT_TLS ? WEFT_ELF_NO_OFFSET : weft_elf_offset(&view, s->address);
	if (w->job->want & WEFT_ELF_WANT_DEMANGLED) {
		const char *text = w->region->base + (uintptr_t)name;

		s->demangled = demangled(w, text, true);
		s->plain = s->demangled ? demangled(w, text, false) : NULL;
		if (!s->plain)
			s->demangled = NULL;
	}
}

void weft_elf_work_symbols(struct weft_elf_worker *w)
{
	struct last_text table[64] = {{0}};
	struct collector c = {.w = w};
	struct collected **list;
	Elf *other;

	w->result->elf.symbol_size = sizeof(struct weft_elf_symbol);
	/* Whether there is a table is wanted in any case. */
	w->result->has_symtab = read_tables(&c, w->file, SHT_SYMTAB, WEFT_ELF_SYMTAB);
	if (!w->result->has_symtab)
		w->result->elf.flags |= WEFT_ELF_STRIPPED;
	if (!(w->job->want & (WEFT_ELF_WANT_FUNCTIONS | WEFT_ELF_WANT_DATA)))
		return;
	read_tables(&c, w->file, SHT_DYNSYM, WEFT_ELF_DYNSYM);
	other = weft_elf_work_debug_file(w);
	if (other) {
		read_tables(&c, other, SHT_SYMTAB, WEFT_ELF_DEBUG_FILE);
	} else if (!w->result->has_symtab) {
		other = weft_elf_work_debugdata(w);
		if (other)
			read_tables(&c, other, SHT_SYMTAB, WEFT_ELF_DEBUGDATA);
	}
	list = weft_elf_allocate(c.n, sizeof(struct collected *));
	for (size_t i = 0; i < c.n; i++)
		list[i] = &c.symbols[i];
	sort(list, c.n);
	for (size_t i = 0, kept = 0; i < c.n; i++) {
		const struct collected *s = list[i], *k = list[kept];

		/* Sorted, the versioned come first: one without a version says nothing new then. */
		if (i && s->symbol.address == k->symbol.address &&
		    !compare_text(s->symbol.name, s->name_length, k->symbol.name, k->name_length) &&
		    (!s->version_length ||
		     !compare_text(s->symbol.version, s->version_length,
				   k->symbol.version ? k->symbol.version : "", k->version_length)))
			continue;
		kept = i;
		put(w, s, table);
	}
}
