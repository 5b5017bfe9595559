/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The beginning of a worker's work: header, segments, sections, what the dynamic section says.
 *
 * libelf does the reading, from the mapped bytes; it and we may be fooled by what they say. A
 * mistake here costs the result, since the process can do nothing else, and the parent checks what
 * it gets. So the code below is careful for the sake of being right, and short.
 */
#include <stdlib.h>
#include <string.h>

#include "core/elf/worker.h"

void weft_elf_give_up(struct weft_elf_worker *w, enum weft_elf_problem problem)
{
	w->result->problem = problem;
	w->result->magic = WEFT_ELF_RESULT_MAGIC;
	weft_jail_done();
}

void *weft_elf_record(struct weft_elf_worker *w, size_t size)
{
	void *p = weft_region_record(w->region, size);

	if (!p)
		weft_elf_give_up(w, WEFT_ELF_TOO_MUCH);
	return p;
}

const void *weft_elf_bytes(struct weft_elf_worker *w, const void *bytes, size_t n)
{
	const void *p = weft_region_bytes(w->region, bytes, n);

	if (!p)
		weft_elf_give_up(w, WEFT_ELF_TOO_MUCH);
	return p;
}

const char *weft_elf_string(struct weft_elf_worker *w, const char *s)
{
	return weft_elf_bytes(w, s, strlen(s));
}

void *weft_elf_allocate(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		weft_jail_no_memory();
	return p;
}

void *weft_elf_reallocate(void *p, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size)
		weft_jail_no_memory();
	p = realloc(p, n * size);
	if (!p)
		weft_jail_no_memory();
	return p;
}

/* A string inside the image, or NULL if it does not end there or is too long. */
static const char *string_at(const struct weft_elf_worker *w, uint64_t offset)
{
	size_t room;

	if (offset >= w->job->size)
		return NULL;
	room = w->job->size - offset;
	if (room > WEFT_ELF_MAX_NAME)
		room = WEFT_ELF_MAX_NAME;
	return memchr(w->job->image + offset, '\0', room) ? w->job->image + offset : NULL;
}

static void read_segments(struct weft_elf_worker *w, bool *interpreted)
{
	struct weft_elf *elf = &w->result->elf;
	size_t n, count = 0;
	GElf_Phdr h;

	if (elf_getphdrnum(w->file, &n))
		weft_elf_give_up(w, WEFT_ELF_DAMAGED);
	if (n > WEFT_ELF_MOST_SEGMENTS)
		weft_elf_give_up(w, WEFT_ELF_DAMAGED);
	w->segments = weft_elf_record(w, n * sizeof(*w->segments));
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(w->file, (int)i, &h))
			weft_elf_give_up(w, WEFT_ELF_DAMAGED);
		if (h.p_type == PT_INTERP) {
			const char *s = string_at(w, h.p_offset);

			*interpreted = true;
			if (s && !elf->interpreter)
				elf->interpreter = weft_elf_string(w, s);
		}
		/* A debug file's segments have bytes in the file that it belongs to. */
		if (h.p_type != PT_LOAD)
			continue;
		if (h.p_filesz > UINT64_MAX - h.p_offset || h.p_memsz > UINT64_MAX - h.p_vaddr ||
		    h.p_filesz > h.p_memsz)
			weft_elf_give_up(w, WEFT_ELF_DAMAGED);
		if (h.p_offset > w->job->size) /* nothing of it is there */
			h.p_filesz = 0;
		else if (h.p_filesz > w->job->size - h.p_offset)
			h.p_filesz = w->job->size - h.p_offset;
		w->segments[count++] = (struct weft_elf_segment){
			.address = h.p_vaddr,
			.size = h.p_memsz,
			.offset = h.p_offset,
			.file_size = h.p_filesz,
			.flags = h.p_flags,
		};
	}
	elf->segments = weft_region_offset(w->region, w->segments);
	elf->n_segments = (uint32_t)count;
	elf->segment_size = sizeof(*w->segments);
}

static void read_sections(struct weft_elf_worker *w)
{
	struct weft_elf *elf = &w->result->elf;
	size_t n;

	if (elf_getshdrnum(w->file, &n) || n > WEFT_ELF_MOST_SECTIONS)
		weft_elf_give_up(w, WEFT_ELF_DAMAGED);
	if (elf_getshdrstrndx(w->file, &w->names))
		w->names = 0;
	w->sections = weft_elf_record(w, n * sizeof(*w->sections));
	for (size_t i = 0; i < n; i++) {
		const char *name = NULL;
		GElf_Shdr h;

		if (!gelf_getshdr(elf_getscn(w->file, i), &h))
			weft_elf_give_up(w, WEFT_ELF_DAMAGED);
		if (i)
			name = elf_strptr(w->file, w->names, h.sh_name);
		if (!name || strnlen(name, WEFT_ELF_MAX_NAME) == WEFT_ELF_MAX_NAME)
			name = "";
		w->sections[i] = (struct weft_elf_section){
			.name = weft_elf_string(w, name),
			.address = h.sh_flags & SHF_ALLOC ? h.sh_addr : 0,
			.offset = h.sh_offset,
			.size = i ? h.sh_size : 0, /* the first's is a count where there are many */
			.flags = h.sh_flags,
			.type = h.sh_type,
		};
	}
	elf->sections = weft_region_offset(w->region, w->sections);
	elf->n_sections = (uint32_t)n;
	elf->section_size = sizeof(*w->sections);
}

/* Where an address lies in the file, as weft_elf_offset(), which wants pointers. */
static uint64_t offset_of(const struct weft_elf_worker *w, uint64_t address)
{
	struct weft_elf view = {
		.segments = w->segments,
		.n_segments = w->result->elf.n_segments,
		.segment_size = sizeof(*w->segments),
	};

	return weft_elf_offset(&view, address);
}

static void read_dynamic(struct weft_elf_worker *w, bool interpreted)
{
	struct weft_elf *elf = &w->result->elf;
	uint64_t strings = 0, soname = UINT64_MAX, flags = 0;
	bool needed = false;
	GElf_Shdr h;
	GElf_Dyn d;

	for (Elf_Scn *s = NULL; (s = elf_nextscn(w->file, s));) {
		Elf_Data *data;

		if (!gelf_getshdr(s, &h) || h.sh_type != SHT_DYNAMIC)
			continue;
		data = elf_getdata(s, NULL);
		for (int i = 0; data && gelf_getdyn(data, i, &d) && d.d_tag != DT_NULL; i++) {
			if (d.d_tag == DT_STRTAB)
				strings = d.d_un.d_ptr;
			else if (d.d_tag == DT_SONAME)
				soname = d.d_un.d_val;
			else if (d.d_tag == DT_FLAGS_1)
				flags = d.d_un.d_val;
			else if (d.d_tag == DT_NEEDED)
				needed = true;
		}
		break;
	}
	if (soname != UINT64_MAX && strings) {
		uint64_t at = offset_of(w, strings);
		const char *name = at == WEFT_ELF_NO_OFFSET || soname > UINT64_MAX - at
					   ? NULL
					   : string_at(w, at + soname);

		if (name)
			elf->soname = weft_elf_string(w, name);
	}
	if (!interpreted && !needed && (elf->type == ET_EXEC || flags & DF_1_PIE))
		elf->flags |= WEFT_ELF_STATIC;
	if (elf->type == ET_DYN && (flags & DF_1_PIE || interpreted) && !elf->soname)
		elf->flags |= WEFT_ELF_PIE;
}

static void read_debug_link(struct weft_elf_worker *w)
{
	GElf_Shdr h;

	for (Elf_Scn *s = NULL; (s = elf_nextscn(w->file, s));) {
		const char *name;
		Elf_Data *data;
		size_t length;

		if (!gelf_getshdr(s, &h) || h.sh_type != SHT_PROGBITS)
			continue;
		name = elf_strptr(w->file, w->names, h.sh_name);
		if (!name || strcmp(name, ".gnu_debuglink") != 0)
			continue;
		data = elf_rawdata(s, NULL);
		if (!data || !data->d_buf || !data->d_size)
			return;
		length = strnlen(data->d_buf, data->d_size);
		if (length > 255 || (length + 4) / 4 * 4 + 4 > data->d_size)
			return;
		w->result->debug_link = weft_elf_string(w, data->d_buf);
		memcpy(&w->result->debug_crc, (char *)data->d_buf + (length + 4) / 4 * 4, 4);
		return;
	}
}

void weft_elf_work_file(struct weft_elf_worker *w)
{
	const struct weft_elf_job *job = w->job;
	struct weft_elf *elf = &w->result->elf;
	bool interpreted = false;
	const char *ident;
	GElf_Ehdr h;
	size_t n;

	elf->struct_size = sizeof(*elf);
	elf->file_size = job->size;
	w->file = elf_memory((char *)job->image, job->size);
	if (!w->file || elf_kind(w->file) != ELF_K_ELF)
		weft_elf_give_up(w, WEFT_ELF_NOT_ELF);
	ident = elf_getident(w->file, &n);
	if (!ident || n < EI_NIDENT || !gelf_getehdr(w->file, &h))
		weft_elf_give_up(w, WEFT_ELF_DAMAGED);
	elf->type = h.e_type;
	elf->machine = h.e_machine;
	elf->wide = ident[EI_CLASS] == ELFCLASS64;
	elf->big = ident[EI_DATA] == ELFDATA2MSB;
	elf->entry = h.e_entry;
	read_segments(w, &interpreted);
	read_sections(w);
	read_dynamic(w, interpreted);
	read_debug_link(w);
	weft_elf_work_notes(w);
}

void weft_elf_work(struct weft_region *region, const void *job)
{
	struct weft_elf_worker w = {.job = job, .region = region};

	w.result = weft_region_record(region, sizeof(*w.result));
	if (!w.result)
		weft_jail_no_memory();
	weft_elf_work_file(&w);
	weft_elf_work_symbols(&w);
	w.result->magic = WEFT_ELF_RESULT_MAGIC;
}
