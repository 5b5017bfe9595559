/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Notes: all that are wanted, and the build ID always. Sections are preferred, since .note.stapsdt
 * lies in no segment. */
#include <string.h>

#include "core/elf/worker.h"

struct place {
	const char *section; /* in the region; NULL: notes of a segment */
	uint64_t offset, address;
};

static void take(struct weft_elf_worker *w, const struct place *place, const GElf_Nhdr *h,
		 const char *name, const char *bytes, size_t at)
{
	struct weft_elf *elf = &w->result->elf;
	size_t length = h->n_namesz;
	struct weft_elf_note *n;

	if (length && !name[length - 1])
		length--;
	if (h->n_type == NT_GNU_BUILD_ID && !elf->build_id && length == 3 &&
	    memcmp(name, "GNU", 3) == 0 && h->n_descsz && h->n_descsz <= WEFT_ELF_MOST_BUILD_ID) {
		elf->build_id = weft_elf_bytes(w, bytes, h->n_descsz);
		elf->build_id_size = h->n_descsz;
	}
	if (!(w->job->want & WEFT_ELF_WANT_NOTES))
		return;
	if (h->n_descsz > WEFT_ELF_MOST_NOTE || length >= WEFT_ELF_MAX_NAME ||
	    memchr(name, '\0', length)) {
		elf->dropped++;
		return;
	}
	n = weft_elf_record(w, sizeof(*n));
	if (!elf->n_notes++)
		elf->notes = weft_region_offset(w->region, n);
	*n = (struct weft_elf_note){
		.section = place->section,
		.name = weft_elf_bytes(w, name, length),
		.bytes = weft_elf_bytes(w, bytes, h->n_descsz),
		.size = h->n_descsz,
		.type = h->n_type,
		.offset = place->offset + at,
		.address = place->address ? place->address + at : 0,
	};
	if (!n->section)
		n->section = weft_elf_string(w, "");
}

static void read_notes(struct weft_elf_worker *w, const struct place *place, Elf_Data *data)
{
	size_t at = 0, name, desc, next;
	GElf_Nhdr h;

	while (data && data->d_buf && at < data->d_size) {
		next = gelf_getnote(data, at, &h, &name, &desc);
		if (!next) /* the rest says nothing */
			break;
		take(w, place, &h, (char *)data->d_buf + name, (char *)data->d_buf + desc, desc);
		at = next;
	}
}

void weft_elf_work_notes(struct weft_elf_worker *w)
{
	struct weft_elf *elf = &w->result->elf;
	bool any = false;
	GElf_Shdr s;
	GElf_Phdr p;
	size_t n;

	for (uint32_t i = 0; i < elf->n_sections; i++) {
		Elf_Scn *scn = elf_getscn(w->file, i);

		if (!gelf_getshdr(scn, &s) || s.sh_type != SHT_NOTE)
			continue;
		any = true;
		read_notes(w,
			   &(struct place){.section = w->sections[i].name,
					   .offset = s.sh_offset,
					   .address = w->sections[i].address},
			   elf_getdata(scn, NULL));
	}
	elf->note_size = sizeof(struct weft_elf_note);
	if (any || elf_getphdrnum(w->file, &n))
		return;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(w->file, (int)i, &p) && p.p_type == PT_NOTE)
			read_notes(w, &(struct place){.offset = p.p_offset, .address = p.p_vaddr},
				   elf_getdata_rawchunk(w->file, (int64_t)p.p_offset, p.p_filesz,
							p.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR));
}
