/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The worker read a stranger's file, so what it left behind may be the stranger's work. Here it is
 * judged and, in the same pass, turned from offsets into pointers:
 *
 *  - an array lies in the records' zone, behind the arrays before it, and has room for its count;
 *  - a string lies in the strings' zone and ends within WEFT_ELF_MAX_NAME bytes (the region's last
 *    byte is zero by our own hand);
 *  - indexes are valid, orders hold, offsets lie in the file.
 *
 * After it every pointer in the result may be followed. Nobody can write to the region any more.
 */
#include "core/elf/check.h"

#include <errno.h>
#include <string.h>

static const struct {
	int code;
	const char *tag, *text;
} problems[WEFT_ELF_PROBLEMS] = {
	[WEFT_ELF_NOT_ELF] = {-ENOEXEC, "ELF_NOT_ELF", "is no ELF file"},
	[WEFT_ELF_DAMAGED] = {-ENOEXEC, "ELF_DAMAGED",
			      "is a damaged ELF file: its headers "
			      "contradict each other or the file's size"},
	[WEFT_ELF_TOO_MUCH] = {-EFBIG, "ELF_MEMORY_LIMIT",
			       "says more than there is room for: symbols and names take more memory "
			       "than a file may take"},
	[WEFT_ELF_OTHER_DEBUG] = {-ESTALE, "ELF_DEBUG_FILE", "has a debug file of another build"},
};

static size_t offset_of(const void *const *member)
{
	return (size_t)(uintptr_t)*member;
}

static bool wrong(struct weft_claims *c, const char *what)
{
	if (!c->wrong)
		c->wrong = what;
	return false;
}

bool weft_claim_array(struct weft_claims *c, const void *member, uint32_t n, size_t size,
		      const char *what)
{
	const void *p;
	size_t at;

	memcpy(&p, member, sizeof(p));
	at = offset_of(&p);
	if (!n) {
		p = NULL;
	} else {
		if (at % 8 || at < c->end || at > c->region->zone ||
		    n > (c->region->zone - at) / size)
			return wrong(c, what);
		c->end = at + n * size;
		p = c->region->base + at;
	}
	memcpy((void *)(uintptr_t)member, &p, sizeof(p));
	return true;
}

bool weft_claim_string(struct weft_claims *c, const char **member, bool optional, const char *what)
{
	const struct weft_region *r = c->region;
	size_t at = (size_t)(uintptr_t)*member, room;

	if (!at && optional)
		return true;
	if (at < r->zone || at >= r->zone * 2)
		return wrong(c, what);
	room = r->zone * 2 - at;
	if (room > WEFT_ELF_MAX_NAME)
		room = WEFT_ELF_MAX_NAME;
	if (strnlen(r->base + at, room) == room)
		return wrong(c, what);
	*member = r->base + at;
	return true;
}

bool weft_claim_bytes(struct weft_claims *c, const uint8_t **member, uint32_t n, const char *what)
{
	const struct weft_region *r = c->region;
	size_t at = (size_t)(uintptr_t)*member;

	if (at < r->zone || at >= r->zone * 2 || n > r->zone * 2 - at)
		return wrong(c, what);
	*member = (const uint8_t *)r->base + at;
	return true;
}

static bool check_segments(struct weft_claims *c, struct weft_elf *elf, uint64_t file_size)
{
	struct weft_elf_segment *s;

	if (!weft_claim_array(c, &elf->segments, elf->n_segments, sizeof(*s), "segments"))
		return false;
	s = (struct weft_elf_segment *)elf->segments;
	for (uint32_t i = 0; i < elf->n_segments; i++, s++)
		if (s->file_size > s->size || s->size > UINT64_MAX - s->address ||
		    (s->file_size && (s->offset > file_size || s->file_size > file_size - s->offset)))
			return wrong(c, "a segment");
	return true;
}

static bool check_sections(struct weft_claims *c, struct weft_elf *elf)
{
	struct weft_elf_section *s;

	if (!weft_claim_array(c, &elf->sections, elf->n_sections, sizeof(*s), "sections"))
		return false;
	s = (struct weft_elf_section *)elf->sections;
	for (uint32_t i = 0; i < elf->n_sections; i++, s++)
		if (!weft_claim_string(c, &s->name, false, "the name of a section"))
			return false;
	return true;
}

static bool check_notes(struct weft_claims *c, struct weft_elf *elf)
{
	struct weft_elf_note *n;

	if (!weft_claim_array(c, &elf->notes, elf->n_notes, sizeof(*n), "notes"))
		return false;
	n = (struct weft_elf_note *)elf->notes;
	for (uint32_t i = 0; i < elf->n_notes; i++, n++)
		if (n->size > WEFT_ELF_MOST_NOTE ||
		    !weft_claim_string(c, &n->section, false, "the section of a note") ||
		    !weft_claim_string(c, &n->name, false, "the name of a note") ||
		    !weft_claim_bytes(c, &n->bytes, n->size, "the bytes of a note"))
			return wrong(c, "a note");
	return true;
}

static bool check_symbols(struct weft_claims *c, struct weft_elf *elf, uint64_t file_size)
{
	struct weft_elf_symbol *s;
	uint64_t last = 0;

	if (!weft_claim_array(c, &elf->symbols, elf->n_symbols, sizeof(*s), "symbols"))
		return false;
	s = (struct weft_elf_symbol *)elf->symbols;
	for (uint32_t i = 0; i < elf->n_symbols; i++, s++) {
		if (!weft_claim_string(c, &s->name, false, "the name of a symbol") ||
		    !weft_claim_string(c, &s->version, true, "the version of a symbol") ||
		    !weft_claim_string(c, &s->demangled, true, "the demangled name of a symbol") ||
		    !weft_claim_string(c, &s->plain, true, "the plain name of a symbol") ||
		    !weft_claim_string(c, &s->unit, true, "the unit of a symbol"))
			return false;
		if (s->address < last)
			return wrong(c, "the order of symbols");
		last = s->address;
		if (!*s->name || !s->demangled != !s->plain || s->source < WEFT_ELF_SYMTAB ||
		    s->source > WEFT_ELF_DEBUG_FILE ||
		    (s->section != WEFT_ELF_NO_SECTION && s->section >= elf->n_sections) ||
		    (s->offset != WEFT_ELF_NO_OFFSET && s->offset >= file_size))
			return wrong(c, "a symbol");
	}
	return true;
}

int weft_elf_invalid(struct weft_error *err, const char *path, const char *what)
{
	return weft_fail(err, -EBADMSG, "ELF_RESULT_INVALID",
			 "%s: the process that read it was subverted or is broken: %s cannot be",
			 path, what);
}

int weft_elf_check_problem(struct weft_region *region, const struct weft_elf_result *result,
			   const char *path, struct weft_error *err)
{
	uint32_t problem = result->problem;

	region->base[region->zone * 2 - 1] = '\0';
	if (result->magic != WEFT_ELF_RESULT_MAGIC || problem >= WEFT_ELF_PROBLEMS)
		return weft_elf_invalid(err, path, "its beginning");
	return problem ? weft_fail(err, problems[problem].code, problems[problem].tag, "%s %s",
				   path, problems[problem].text)
		       : 0;
}

int weft_elf_check(struct weft_region *region, uint64_t file_size, const char *path,
		   struct weft_elf_result **out, struct weft_error *err)
{
	struct weft_elf_result *result = (void *)(region->base + WEFT_REGION_HEAD);
	struct weft_claims c = {.region = region, .end = WEFT_REGION_HEAD + sizeof(*result)};
	struct weft_elf *elf = &result->elf;
	int ret = weft_elf_check_problem(region, result, path, err);

	if (ret)
		return ret;
	if (elf->struct_size != sizeof(*elf) || elf->file_size != file_size ||
	    elf->segment_size != sizeof(struct weft_elf_segment) ||
	    elf->section_size != sizeof(struct weft_elf_section) ||
	    elf->symbol_size != sizeof(struct weft_elf_symbol) ||
	    elf->note_size != sizeof(struct weft_elf_note) ||
	    elf->build_id_size > WEFT_ELF_MOST_BUILD_ID || elf->debug_file)
		wrong(&c, "its sizes");
	else if (!elf->build_id_size)
		elf->build_id = NULL;
	else
		weft_claim_bytes(&c, &elf->build_id, elf->build_id_size, "the build ID");
	if (!c.wrong && weft_claim_string(&c, &elf->soname, true, "the soname") &&
	    weft_claim_string(&c, &elf->interpreter, true, "the interpreter") &&
	    weft_claim_string(&c, &result->debug_link, true, "the name of a debug file") &&
	    check_segments(&c, elf, file_size) && check_sections(&c, elf) && check_notes(&c, elf) &&
	    check_symbols(&c, elf, file_size)) {
		*out = result;
		return 0;
	}
	return weft_elf_invalid(err, path, c.wrong);
}

int weft_elf_check_types(struct weft_region *region, const struct weft_elf_types_job *job,
			 const char *path, struct weft_elf_types_result **out,
			 struct weft_error *err)
{
	struct weft_elf_types_result *r = (void *)(region->base + WEFT_REGION_HEAD);
	struct weft_claims c = {.region = region, .end = WEFT_REGION_HEAD + sizeof(*r)};
	struct weft_elf_typed *f;
	int ret = weft_elf_check_problem(region, &r->file, path, err);

	if (ret)
		return ret;
	if (r->n != job->n || (r->btf_size && !weft_claim_bytes(&c, &r->btf, r->btf_size, "types")) ||
	    !weft_claim_array(&c, &r->functions, r->n, sizeof(*f), "functions"))
		return weft_elf_invalid(err, path, c.wrong ? c.wrong : "the number of functions");
	f = (struct weft_elf_typed *)r->functions;
	for (uint32_t i = 0; i < r->n; i++, f++)
		if (!weft_claim_string(&c, &f->file, true, "the file of a function"))
			return weft_elf_invalid(err, path, c.wrong);
	*out = r;
	return 0;
}

int weft_elf_check_lines(struct weft_region *region, const char *path,
			 struct weft_elf_lines_result **out, struct weft_error *err)
{
	struct weft_elf_lines_result *r = (void *)(region->base + WEFT_REGION_HEAD);
	struct weft_claims c = {.region = region, .end = WEFT_REGION_HEAD + sizeof(*r)};
	struct weft_elf_line_file *f;
	int ret = weft_elf_check_problem(region, &r->file, path, err);

	if (ret)
		return ret;
	if (!weft_claim_array(&c, &r->lines, r->n, sizeof(struct weft_elf_line), "lines") ||
	    !weft_claim_array(&c, &r->files, r->n_files, sizeof(*f), "files of lines"))
		return weft_elf_invalid(err, path, c.wrong);
	f = (struct weft_elf_line_file *)r->files;
	for (uint32_t i = 0; i < r->n_files; i++)
		if (!weft_claim_string(&c, &f[i].path, false, "the file of a line"))
			return weft_elf_invalid(err, path, c.wrong);
	for (uint32_t i = 0; i < r->n; i++)
		if ((r->lines[i].line && r->lines[i].file >= r->n_files) ||
		    (i && r->lines[i].address <= r->lines[i - 1].address) ||
		    (i + 1 == r->n && r->lines[i].line))
			return weft_elf_invalid(err, path, "a line");
	*out = r;
	return 0;
}
