/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where symbols of a stripped file are: in a compressed section of its own (.gnu_debugdata, an ELF
 * file in xz), or in a separate debug file. A debug file that is not this file's would give wrong
 * names, so one that was found by build ID must have that build ID, and one found by name the CRC
 * that the file says.
 */
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "core/elf/worker.h"

#define MOST_UNPACKED (256u << 20)
#define LZMA_MEMORY   (128u << 20)

Elf *weft_elf_work_debugdata(struct weft_elf_worker *w)
{
	uint32_t i, n = w->result->elf.n_sections;
	uint64_t memory = LZMA_MEMORY;
	size_t size = 0, at = 0, out = 0;
	Elf_Data *data = NULL;
	lzma_ret r;

	for (i = 1; i < n && !data; i++)
		if (!strcmp(w->region->base + (uintptr_t)w->sections[i].name, ".gnu_debugdata"))
			data = elf_rawdata(elf_getscn(w->file, i), NULL);
	if (!data || !data->d_buf)
		return NULL;
	/* How large it becomes nobody says: try, and try with more. */
	for (size = data->d_size * 8 + 4096;; size *= 4) {
		if (size > MOST_UNPACKED)
			size = MOST_UNPACKED;
		w->unpacked = weft_elf_reallocate(w->unpacked, size, 1);
		at = out = 0;
		r = lzma_stream_buffer_decode(&memory, 0, NULL, data->d_buf, &at, data->d_size,
					      (uint8_t *)w->unpacked, &out, size);
		if (r != LZMA_BUF_ERROR || size == MOST_UNPACKED || at == data->d_size)
			break;
	}
	if (r != LZMA_OK)
		return NULL;
	w->unpacked_size = out;
	return elf_memory(w->unpacked, w->unpacked_size);
}

static uint32_t crc_of(const char *bytes, size_t n)
{
	return lzma_crc32((const uint8_t *)bytes, n,
			  0); /* the same polynomial as .gnu_debuglink's */
}

static bool same_build_id(struct weft_elf_worker *w, Elf *file)
{
	const struct weft_elf *elf = &w->result->elf;
	const char *own = w->region->base + (uintptr_t)elf->build_id;
	GElf_Shdr h;

	for (Elf_Scn *s = NULL; (s = elf_nextscn(file, s));) {
		size_t at = 0, name, desc;
		Elf_Data *data;
		GElf_Nhdr n;

		if (!gelf_getshdr(s, &h) || h.sh_type != SHT_NOTE)
			continue;
		data = elf_getdata(s, NULL);
		while (data && data->d_buf && (at = gelf_getnote(data, at, &n, &name, &desc)))
			if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
			    !memcmp((char *)data->d_buf + name, "GNU", 4))
				return n.n_descsz == elf->build_id_size &&
				       !memcmp((char *)data->d_buf + desc, own, n.n_descsz);
	}
	return false;
}

Elf *weft_elf_work_debug_file(struct weft_elf_worker *w)
{
	const struct weft_elf_job *job = w->job;
	GElf_Ehdr h;
	Elf *file;
	bool good;

	if (!job->debug)
		return NULL;
	file = elf_memory((char *)job->debug, job->debug_size);
	if (!file || elf_kind(file) != ELF_K_ELF || !gelf_getehdr(file, &h) ||
	    h.e_machine != w->result->elf.machine)
		weft_elf_give_up(w, WEFT_ELF_OTHER_DEBUG);
	good = job->by_link ? crc_of(job->debug, job->debug_size) == job->debug_crc
			    : same_build_id(w, file);
	if (!good)
		weft_elf_give_up(w, WEFT_ELF_OTHER_DEBUG);
	return file;
}
