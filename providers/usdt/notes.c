/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A note holds three addresses, as wide as the file's: of the site, of the byte that .stapsdt.base
 * holds as the assembler knew it, and of the semaphore or 0; then three texts. A tool that moves
 * sections (prelink) does not correct notes: by as much as .stapsdt.base lies elsewhere than the
 * note says, so do the site and its semaphore. The kernel counts in bytes of the file, so addresses
 * become offsets by the segments.
 *
 * Operands may name symbols. Those that do are few: symbols are read only if one does, and only
 * those that are named are kept.
 */
#include "usdt/notes.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "usdt/operands.h"

#define NOTE_TYPE 3u
#define SECTION   ".note.stapsdt"
#define OWNER     "stapsdt"

struct reading {
	const struct weft_host *host;
	const struct weft_elf *elf;
	struct weft_usdt_draft draft;
	uint64_t base; /* of .stapsdt.base */
	bool has_base;
	char **wanted; /* names that operands mention, for the second look */
	size_t n_wanted;
	bool no_memory;
};

/* ---- one note ---- */

static bool in_segment(const struct weft_elf *elf, uint64_t address, uint32_t flag)
{
	for (uint32_t i = 0; i < elf->n_segments; i++) {
		const struct weft_elf_segment *s = weft_elf_segment_at(elf, i);

		if (address >= s->address && address - s->address < s->size)
			return s->flags & flag;
	}
	return false;
}

/* What a name may hold: the registry refuses control characters, those of Latin-1 too. */
static bool is_name(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	if (!*p || strlen(s) > 4096)
		return false;
	for (; *p; p++)
		if (*p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f))
			return false;
	return true;
}

static const char *next_text(const char **p, const char *end)
{
	const char *text = *p, *nul = memchr(text, '\0', (size_t)(end - text));

	if (!nul)
		return NULL;
	*p = nul + 1;
	return text;
}

/* Whether it makes sense. */
static bool take_note(struct reading *r, const struct weft_elf_note *n)
{
	const char *p = (const char *)n->bytes, *end = p + n->size;
	struct weft_usdt_note out = {0};
	uint64_t words[3], moved = 0;

	if (n->size < sizeof(words))
		return false;
	memcpy(words, p, sizeof(words));
	p += sizeof(words);
	const char *provider = next_text(&p, end);
	const char *name = provider && p < end ? next_text(&p, end) : NULL;
	if (!name || !is_name(provider) || !is_name(name))
		return false;
	/* The last text may end with the note. */
	const char *args = p < end ? p : "";
	size_t length = strnlen(args, (size_t)(end - p));
	if (r->has_base && words[1])
		moved = r->base - words[1];
	out.address = words[0] + moved;
	out.offset = weft_elf_offset(r->elf, out.address);
	if (out.offset == WEFT_ELF_NO_OFFSET || !in_segment(r->elf, out.address, PF_X))
		return false;
	if (words[2]) {
		out.semaphore = weft_elf_offset(r->elf, words[2] + moved);
		if (!out.semaphore || !in_segment(r->elf, words[2] + moved, PF_W))
			out.semaphore = WEFT_USDT_LOST;
	}
	if (weft_usdt_draft_text(&r->draft, provider, strlen(provider), &out.provider) ||
	    weft_usdt_draft_text(&r->draft, name, strlen(name), &out.name) ||
	    weft_usdt_draft_text(&r->draft, args, length, &out.args) ||
	    weft_usdt_draft_note(&r->draft, &out))
		r->no_memory = true;
	return true;
}

static bool is_ours(const struct weft_elf_note *n)
{
	return n->type == NOTE_TYPE && !strcmp(n->name, OWNER) &&
	       (!*n->section || !strcmp(n->section, SECTION));
}

static void take_notes(struct reading *r)
{
	for (uint32_t i = 0; i < r->elf->n_sections; i++) {
		const struct weft_elf_section *s = weft_elf_section_at(r->elf, i);

		if (!strcmp(s->name, ".stapsdt.base")) {
			r->base = s->address;
			r->has_base = true;
		}
	}
	for (uint32_t i = 0; i < r->elf->n_notes && !r->no_memory; i++) {
		const struct weft_elf_note *n = weft_elf_note_at(r->elf, i);

		if (is_ours(n) && !take_note(r, n))
			r->draft.dropped++;
	}
}

/* ---- symbols that operands name ---- */

#define MOST_WANTED 4096u /* names; a file that mentions more has made them up */

static int want(void *arg, const char *name, size_t n, uint64_t *address)
{
	struct reading *r = arg;

	(void)address;
	for (size_t i = 0; i < r->n_wanted; i++)
		if (!strncmp(r->wanted[i], name, n) && r->wanted[i][n] == '\0')
			return -ENOENT;
	if (r->n_wanted == MOST_WANTED)
		return -ENOENT;
	if (!r->wanted)
		r->wanted = calloc(MOST_WANTED, sizeof(char *));
	if (r->wanted)
		r->wanted[r->n_wanted] = strndup(name, n);
	if (r->wanted && r->wanted[r->n_wanted])
		r->n_wanted++;
	else
		r->no_memory = true;
	return -ENOENT;
}

static void find_wanted(struct reading *r)
{
	const struct weft_usdt_arch *arch = weft_usdt_arch_of(r->elf->machine);
	struct weft_usdt_operand out[WEFT_USDT_MOST_ARGS];
	uint32_t n;

	if (!arch)
		return;
	for (size_t i = 0; i < r->draft.n_notes && !r->no_memory; i++) {
		const struct weft_usdt_note *note = &r->draft.notes[i];
		const char *args = r->draft.texts + note->args;
		const struct weft_usdt_site site = {.address = note->address, .find = want, .arg = r};

		weft_usdt_operands(arch, args, strlen(args), &site, out, &n);
	}
}

/* The symbol of a name; a name that several local symbols have says nothing. */
static const struct weft_elf_symbol *find_symbol(const struct weft_elf *elf, const char *name)
{
	const struct weft_elf_symbol *best = NULL;
	bool several = false;

	for (uint32_t i = 0; i < elf->n_symbols; i++) {
		const struct weft_elf_symbol *s = weft_elf_symbol_at(elf, i);

		if (s->type == STT_TLS || strcmp(s->name, name) != 0)
			continue;
		if (s->binding != STB_LOCAL)
			return s;
		several |= best && best->address != s->address;
		best = s;
	}
	return several ? NULL : best;
}

static void take_symbols(struct reading *r, const struct weft_elf *elf)
{
	uint32_t at;

	for (size_t k = 0; k < r->n_wanted && !r->no_memory; k++) {
		const struct weft_elf_symbol *s = find_symbol(elf, r->wanted[k]);

		if (s && (weft_usdt_draft_text(&r->draft, s->name, strlen(s->name), &at) ||
			  weft_usdt_draft_symbol(&r->draft, at, s->address)))
			r->no_memory = true;
	}
}

static int look_up(struct reading *r, struct weft_elf_request *request, struct weft_error *err)
{
	const struct weft_elf *elf;
	int ret;

	find_wanted(r);
	if (!r->n_wanted)
		return 0;
	request->want = WEFT_ELF_WANT_FUNCTIONS | WEFT_ELF_WANT_DATA;
	ret = r->host->elf_read(r->host, request, &elf, err);
	if (ret)
		return ret;
	take_symbols(r, elf);
	r->host->elf_release(r->host, elf);
	return 0;
}

int weft_usdt_read(const struct weft_host *host, int fd, const char *path,
		   const struct weft_usdt_key *key, struct weft_usdt_record **out,
		   struct weft_error *err)
{
	struct weft_elf_request request = {
		.struct_size = sizeof(request), .fd = fd, .want = WEFT_ELF_WANT_NOTES, .path = path};
	struct reading r = {.host = host};
	int ret;

	*out = NULL;
	ret = host->elf_read(host, &request, &r.elf, err);
	if (ret)
		return ret;
	r.draft.machine = r.elf->machine;
	r.draft.build_id_size =
		r.elf->build_id_size <= sizeof(r.draft.build_id) ? r.elf->build_id_size : 0;
	if (r.draft.build_id_size)
		memcpy(r.draft.build_id, r.elf->build_id, r.draft.build_id_size);
	if (r.elf->wide && !r.elf->big && weft_usdt_arch_of(r.elf->machine))
		take_notes(&r);
	r.draft.soname = r.elf->soname;
	ret = look_up(&r, &request, err);
	if (!ret && !r.no_memory)
		*out = weft_usdt_draft_record(&r.draft, key, path);
	host->elf_release(host, r.elf);
	if (!ret && !*out)
		ret = host->fail(err, -ENOMEM, "NO_MEMORY", "out of memory");
	while (r.n_wanted)
		free(r.wanted[--r.n_wanted]);
	free(r.wanted);
	weft_usdt_draft_finish(&r.draft);
	return ret;
}
