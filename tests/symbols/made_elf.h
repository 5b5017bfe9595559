/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A small writer of ELF files in memory: program headers, one code section, symbols. */
#ifndef TESTS_SYMBOLS_MADE_ELF_H
#define TESTS_SYMBOLS_MADE_ELF_H

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/symbols/elf_image.h"

#define MADE_SIZE    65536u
#define MADE_SYMBOLS 0x8000u /* places in the file */
#define MADE_NAMES   0x6000u
#define MADE_HEADERS 0x5000u

struct made_elf {
	unsigned char bytes[MADE_SIZE];
	size_t size;
	unsigned int n_segments, n_symbols, n_names;
	uint64_t first, last; /* addresses that the code section spans */
};

static inline void made_begin(struct made_elf *m)
{
	*m = (struct made_elf){.size = MADE_SIZE};
	m->n_symbols = 1;
	m->n_names = 1;
	m->first = UINT64_MAX;
}

static inline void made_segment(struct made_elf *m, uint64_t offset, uint64_t address, uint64_t size)
{
	Elf64_Phdr h = {.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = offset,
			.p_vaddr = address,
			.p_filesz = size,
			.p_memsz = size,
			.p_align = 0x1000};

	memcpy(m->bytes + sizeof(Elf64_Ehdr) + m->n_segments++ * sizeof(h), &h, sizeof(h));
	m->first = address < m->first ? address : m->first;
	m->last = address + size > m->last ? address + size : m->last;
}

static inline void made_symbol(struct made_elf *m, const char *name, uint64_t address,
			       uint64_t size, unsigned char type, unsigned char bind)
{
	Elf64_Sym s = {.st_name = m->n_names,
		       .st_info = (unsigned char)ELF64_ST_INFO(bind, type),
		       .st_shndx = 1,
		       .st_value = address,
		       .st_size = size};

	memcpy(m->bytes + MADE_SYMBOLS + m->n_symbols++ * sizeof(s), &s, sizeof(s));
	memcpy(m->bytes + MADE_NAMES + m->n_names, name, strlen(name) + 1);
	m->n_names += (unsigned int)strlen(name) + 1;
}

static inline void made_end(struct made_elf *m)
{
	Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = sizeof(h),
			.e_shoff = MADE_HEADERS,
			.e_ehsize = sizeof(h),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = (Elf64_Half)m->n_segments,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 4};
	Elf64_Shdr sections[4] = {
		{0},
		{.sh_type = SHT_PROGBITS,
		 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		 .sh_addr = m->first,
		 .sh_size = m->last - m->first},
		{.sh_type = SHT_SYMTAB,
		 .sh_offset = MADE_SYMBOLS,
		 .sh_size = m->n_symbols * sizeof(Elf64_Sym),
		 .sh_link = 3,
		 .sh_entsize = sizeof(Elf64_Sym)},
		{.sh_type = SHT_STRTAB, .sh_offset = MADE_NAMES, .sh_size = m->n_names},
	};

	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		h.e_ident[EI_DATA] = ELFDATA2MSB;
	memcpy(m->bytes, &h, sizeof(h));
	memcpy(m->bytes + MADE_HEADERS, sections, sizeof(sections));
}

/* As a file, read like others. */
static inline int made_load(const struct made_elf *m, size_t most, struct weft_symtab *out)
{
	struct weft_elf_reader *reader = weft_elf_reader_create(NULL);
	int fd = memfd_create("made", MFD_CLOEXEC), r;

	if (!reader || fd < 0 || write(fd, m->bytes, m->size) != (ssize_t)m->size)
		abort();
	r = weft_symtab_load(reader, fd, NULL, NULL, most, out, NULL);
	close(fd);
	weft_elf_reader_destroy(reader);
	return r;
}

#endif
