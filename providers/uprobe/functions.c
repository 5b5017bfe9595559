/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions and their names.
 *
 * A function text is a symbol as linked, its demangled name, or that without parameters. It means
 * all functions that bear the name: two static ones of two source files, overloads, versions of one
 * symbol. Behind an @ it means one of them:
 *
 *   helper@0x1139        the one at that address, as linked
 *   memcpy@GLIBC_2.14    the one with that version (@@ is taken as well)
 *   0x1139               whatever begins there, for files without symbols
 *
 * A pattern names each function once, however many aliases it has: by the name that is nearest to
 * what its author would call it, among those that match. Where functions share a name the pattern's
 * probes are told apart in the way above.
 */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/nearest.h"
#include "uprobe.h"

#define MOST_NAMES 20000u /* that a wrong one is compared with */

uint64_t weft_uprobe_code_offset(const struct weft_elf *elf, uint64_t address)
{
	for (uint32_t i = 0; i < elf->n_segments; i++) {
		const struct weft_elf_segment *s = weft_elf_segment_at(elf, i);

		if (s->flags & PF_X && address >= s->address && address - s->address < s->file_size)
			return s->offset + (address - s->address);
	}
	return WEFT_ELF_NO_OFFSET;
}

int weft_uprobe_site_add(struct weft_uprobe_probe *p, const struct weft_uprobe_site *site)
{
	for (size_t i = 0; i < p->n_sites; i++)
		if (p->sites[i].file == site->file && p->sites[i].address == site->address)
			return 0;
	if (weft_uprobe_grow(&p->sites, &p->cap_sites, p->n_sites, sizeof(*p->sites)))
		return -ENOMEM;
	p->sites[p->n_sites++] = *site;
	return 0;
}

bool weft_uprobe_is_part(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold && (cold[5] == '\0' || cold[5] == '.');
}

/* A symbol's own size, or how far it is to the next. */
static uint64_t size_of(const struct weft_elf *elf, const struct weft_elf_symbol *s)
{
	if (s->size)
		return s->size;
	uint32_t next = weft_elf_symbol_from(elf, s->address + 1);
	return next < elf->n_symbols ? weft_elf_symbol_at(elf, next)->address - s->address : 0;
}

const struct weft_elf_symbol *weft_uprobe_function_at(const struct weft_uprobe_file *f,
						      uint64_t address)
{
	const struct weft_elf_symbol *best = NULL;

	for (uint32_t i = weft_elf_symbol_from(f->elf, address); i < f->elf->n_symbols; i++) {
		const struct weft_elf_symbol *s = weft_elf_symbol_at(f->elf, i);

		if (s->address != address)
			break;
		if (!best || s->size > best->size)
			best = s;
	}
	return best;
}

static int add_address(struct weft_uprobe_file *f, uint64_t address, struct weft_uprobe_probe *probe)
{
	const struct weft_elf_symbol *s = weft_uprobe_function_at(f, address);
	const struct weft_uprobe_site site = {
		.file = f,
		.address = address,
		.offset = weft_uprobe_code_offset(f->elf, address),
		.size = s ? size_of(f->elf, s) : 0,
	};

	return site.offset == WEFT_ELF_NO_OFFSET ? -ENOENT : weft_uprobe_site_add(probe, &site);
}

/* ---- names that are given ---- */

/* Texts that are equal lie together; those that only begin alike lie behind them. */
static size_t first_name(const struct weft_uprobe_file *f, const char *text, size_t n)
{
	size_t low = 0, high = f->n_names;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strncmp(f->names[middle].text, text, n) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_text(const char *name, const char *text, size_t n)
{
	return !strncmp(name, text, n) && name[n] == '\0';
}

struct wanted {
	const char *text;
	size_t n;
	const char *version; /* NULL: any */
	bool one;            /* only the one at .address */
	uint64_t address;
};

static int add_named(struct weft_instance *in, struct weft_uprobe_file *f, const struct wanted *w,
		     struct weft_uprobe_probe *probe, bool *indirect)
{
	bool typed = false;
	int ret = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = first_name(f, w->text, w->n);
		     !ret && i < f->n_names && is_text(f->names[i].text, w->text, w->n); i++) {
			const struct weft_elf_symbol *s =
				weft_elf_symbol_at(f->elf, f->names[i].symbol);

			if ((w->version && (!s->version || strcmp(s->version, w->version) != 0)) ||
			    (w->one && s->address != w->address) ||
			    weft_uprobe_code_offset(f->elf, s->address) == WEFT_ELF_NO_OFFSET)
				continue;
			/* A label counts where no function has the name. */
			if (s->type == STT_NOTYPE && (pass == 0 || typed))
				continue;
			if (s->type != STT_NOTYPE && pass == 1)
				continue;
			typed |= s->type != STT_NOTYPE;
			if (s->type == STT_GNU_IFUNC && !w->one) {
				*indirect = true;
				ret = weft_uprobe_ifunc(in, f, s, probe);
			} else {
				ret = add_address(f, s->address, probe);
			}
		}
	}
	return ret;
}

static bool parse_address(const char *text, uint64_t *out)
{
	char *end;

	if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X') || !text[2])
		return false;
	errno = 0;
	*out = strtoull(text + 2, &end, 16);
	return !errno && *end == '\0' && text[2] != '-' && text[2] != '+';
}

static int fail_name(struct weft_instance *in, struct weft_uprobe_file *f, const char *function,
		     bool indirect, struct weft_error *err)
{
	const char **names, *nearest = NULL;

	if (indirect)
		return in->host->fail(
			err, -EINVAL, "UPROBE_IFUNC",
			"%s in %s is chosen among several functions when a program starts, and which "
			"they are cannot be told: name one of them, or '%s@0xADDRESS' for the "
			"function that chooses",
			function, f->path, function);
	if (!f->n_names)
		return in->host->fail(err, -EINVAL, "UPROBE_NO_FUNCTION",
				      "%s has no symbols: name a function by its address as linked, "
				      "such as 0x%" PRIx64,
				      f->path, f->elf->entry);
	names = calloc(f->n_names, sizeof(*names));
	if (names && f->n_names <= MOST_NAMES) {
		for (size_t i = 0; i < f->n_names; i++)
			names[i] = f->names[i].text;
		nearest = support_nearest(function, names, f->n_names);
	}
	free(names);
	return in->host->fail(err, -EINVAL, "UPROBE_NO_FUNCTION", "%s has no function '%s'%s%s%s",
			      f->path, function, nearest ? ": did you mean '" : "",
			      nearest ? nearest : "", nearest ? "'?" : "");
}

int weft_uprobe_named(struct weft_instance *in, struct weft_uprobe_file *f, const char *function,
		      struct weft_uprobe_probe *probe, struct weft_error *err)
{
	struct wanted w = {.text = function, .n = strlen(function)};
	size_t before = probe->n_sites;
	const char *at = strchr(function, '@');
	bool indirect = false;
	uint64_t address;
	int ret;

	if (parse_address(function, &address)) {
		ret = add_address(f, address, probe);
		if (ret == -ENOENT)
			return in->host->fail(err, -EINVAL, "UPROBE_ADDRESS",
					      "%s has no code at the address %s", f->path, function);
	} else {
		ret = add_named(in, f, &w, probe, &indirect);
		if (!ret && probe->n_sites == before && at) {
			w.n = (size_t)(at - function);
			at += 1 + (at[1] == '@');
			w.one = parse_address(at, &w.address);
			w.version = w.one ? NULL : at;
			ret = add_named(in, f, &w, probe, &indirect);
		}
	}
	if (ret)
		return in->host->fail(err, ret, "NO_MEMORY", "out of memory");
	if (probe->n_sites == before)
		return fail_name(in, f, function, indirect, err);
	return 0;
}

/* ---- patterns ---- */

/* Whether functions at more than one address have the name. */
static bool shared(const struct weft_uprobe_file *f, const char *text)
{
	size_t n = strlen(text);
	uint64_t address = 0;
	bool first = true;

	for (size_t i = first_name(f, text, n);
	     i < f->n_names && is_text(f->names[i].text, text, n); i++) {
		const struct weft_elf_symbol *s = weft_elf_symbol_at(f->elf, f->names[i].symbol);

		if (s->type == STT_NOTYPE)
			continue;
		if (!first && s->address != address)
			return true;
		address = s->address;
		first = false;
	}
	return false;
}

struct choice {
	const struct weft_elf_symbol *symbol;
	const char *text;
	unsigned int rank; /* less is better */
};

/* How far a name is from what the function's author would call it. */
static unsigned int rank_of(const struct weft_uprobe_file *f, const struct weft_elf_symbol *s,
			    const char *text, unsigned int which)
{
	unsigned int underscores = 0;
	size_t n = strlen(text);

	while (text[underscores] == '_' && underscores < 3)
		underscores++;
	return (shared(f, text) ? 1u << 24 : 0) | which << 20 |
	       (s->binding == STB_LOCAL ? 1u << 19 : 0) | underscores << 16 |
	       (unsigned int)(n < 0xffff ? n : 0xffff);
}

static void consider(struct weft_instance *in, const struct weft_uprobe_file *f,
		     const struct weft_elf_symbol *s, const struct weft_uprobe_matcher *m,
		     struct choice *best, bool *there)
{
	const char *const texts[] = {s->plain, s->demangled, s->name};

	for (unsigned int k = 0; k < 3; k++) {
		if (!texts[k] || !*texts[k] || !in->host->field_match(m->pattern, texts[k]))
			continue;
		if (m->there && m->there(m->arg, texts[k]))
			*there = true;
		unsigned int rank = rank_of(f, s, texts[k], s->demangled ? k : 0);
		if (best->text && (rank > best->rank ||
				   (rank == best->rank && strcmp(texts[k], best->text) >= 0)))
			continue;
		*best = (struct choice){.symbol = s, .text = texts[k], .rank = rank};
	}
}

static int add_choice(struct weft_instance *in, struct weft_uprobe_file *f,
		      const struct weft_uprobe_matcher *m, const struct choice *best)
{
	char text[4096];
	int n = 0;

	if (!(best->rank & 1u << 24))
		return m->add(m->arg, f, best->text);
	if (best->symbol->version && best->text == best->symbol->name)
		n = snprintf(text, sizeof(text), "%s@%s", best->text, best->symbol->version);
	if (n <= 0 || (size_t)n >= sizeof(text) || shared(f, text))
		n = snprintf(text, sizeof(text), "%s@0x%" PRIx64, best->text, best->symbol->address);
	/* A pattern that is the name, or does not go on behind it, means all of them together. */
	if (n <= 0 || (size_t)n >= sizeof(text) || !in->host->field_match(m->pattern, text))
		return m->add(m->arg, f, best->text);
	return m->add(m->arg, f, text);
}

int weft_uprobe_matching(struct weft_instance *in, struct weft_uprobe_file *f,
			 const struct weft_uprobe_matcher *m)
{
	const struct weft_elf *elf = f->elf;
	int ret = 0;

	for (uint32_t i = 0; i < elf->n_symbols && !ret;) {
		uint64_t address = weft_elf_symbol_at(elf, i)->address;
		struct choice best = {.text = NULL};
		bool there = false;

		for (; i < elf->n_symbols; i++) {
			const struct weft_elf_symbol *s = weft_elf_symbol_at(elf, i);

			if (s->address != address)
				break;
			if ((s->type == STT_FUNC || s->type == STT_GNU_IFUNC) &&
			    s->offset != WEFT_ELF_NO_OFFSET && !weft_uprobe_is_part(s->name))
				consider(in, f, s, m, &best, &there);
		}
		if (!best.text || there ||
		    weft_uprobe_code_offset(elf, address) == WEFT_ELF_NO_OFFSET)
			continue;
		ret = add_choice(in, f, m, &best);
	}
	return ret;
}
