/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Part of weft/provider.h: what the core tells of ELF files. */
#ifndef WEFT_ABI_ELF_H
#define WEFT_ABI_ELF_H

#include "weft/abi/values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- ELF files ------------------------------------------------------------------------------ */

/*
 * What host->elf_read() learned of an ELF file. The file is a stranger's: it was parsed in a locked
 * child process, and all that is below was checked again by the core, so that
 *
 *  - every string ends within WEFT_ELF_MAX_NAME bytes; none is NULL unless its comment says so.
 *    Strings are bytes, not UTF-8, and may be empty or repeat;
 *  - symbols[i].section is a valid index or WEFT_ELF_NO_SECTION, orders hold, and offsets that
 *    are given lie inside the file.
 *
 * That the numbers are *true* nobody can promise: the file's author chose them.
 *
 * Arrays come with a stride: use weft_elf_symbol_at() and its like below, since elements grow.
 * Addresses are virtual addresses as linked, offsets are bytes from the beginning of the file. A
 * uprobe wants offsets. All of it is constant and lives until host->elf_release().
 */
#define WEFT_ELF_MAX_NAME   16384u
#define WEFT_ELF_NO_OFFSET  UINT64_MAX /* not in the file (.bss), or in no segment */
#define WEFT_ELF_NO_SECTION UINT32_MAX

/* What to read. What was not asked for may be there nevertheless. */
#define WEFT_ELF_WANT_FUNCTIONS 1u /* symbols: functions, indirect functions, code without type */
#define WEFT_ELF_WANT_DATA      2u /* symbols: variables, thread-local ones too */
#define WEFT_ELF_WANT_DEMANGLED 4u /* ... with demangled and plain names (C++, Rust) */
#define WEFT_ELF_WANT_NOTES     8u /* all notes of all note sections */
#define WEFT_ELF_WANT_DEBUG     16u /* symbols of a separate debug file too, if there is no .symtab */
/* Always read: everything that is no array, segments, sections. */

struct weft_elf_request {
	uint32_t struct_size;
	int32_t fd; /* an open regular file; stays the caller's and may be closed after the call */
	uint32_t want; /* WEFT_ELF_WANT_* */
	uint32_t reserved;
	const char *path; /* for messages; for DEBUG also the place beside which one is looked for,
			   * as seen from root. NULL: "this file" */
	const char *root; /* DEBUG: where the file's own file system begins ("/proc/123/root"),
			   * looked into before ours. NULL: ours only */
};

struct weft_elf_segment {       /* of those that are loaded (PT_LOAD), ordered as in the file */
	uint64_t address, size; /* in memory */
	uint64_t offset, file_size;
	uint32_t flags; /* PF_X 1, PF_W 2, PF_R 4 */
	uint32_t reserved;
};

struct weft_elf_section {
	const char *name;
	uint64_t address; /* 0: not loaded */
	uint64_t offset, size;
	uint64_t flags; /* SHF_* */
	uint32_t type;  /* SHT_*; NOBITS (8) has no bytes in the file */
	uint32_t reserved;
};

enum weft_elf_source {
	WEFT_ELF_SYMTAB = 1,    /* the file's .symtab */
	WEFT_ELF_DYNSYM = 2,    /* its .dynsym */
	WEFT_ELF_DEBUGDATA = 3, /* the .symtab inside its .gnu_debugdata */
	WEFT_ELF_DEBUG_FILE = 4 /* the .symtab of its separate debug file */
};

#define WEFT_ELF_DEFAULT_VERSION 1u /* sym@@VERSION rather than sym@VERSION */

/* A defined symbol. Aliases (several names of one address) and namesakes (one name at several
 * addresses) are all here; one name in several tables with one address is here once. */
struct weft_elf_symbol {
	const char *name;      /* as linked, without a version */
	const char *version;   /* NULL: none */
	const char *demangled; /* "ns::type::f(int) const"; NULL: not mangled, or not wanted */
	const char *plain;     /* the same without parameters: "ns::type::f"; NULL like demangled */
	const char *unit; /* of a local symbol: the source file that the linker noted; or NULL */
	uint64_t address;
	uint64_t size;   /* 0: not said */
	uint64_t offset; /* of address, by the segments; WEFT_ELF_NO_OFFSET */
	uint32_t section;
	uint32_t flags;     /* WEFT_ELF_DEFAULT_VERSION */
	uint8_t type;       /* STT_*: NOTYPE 0, OBJECT 1, FUNC 2, TLS 6, GNU_IFUNC 10: address is
			     * then the resolver's, which runs once and returns the function's */
	uint8_t binding;    /* STB_*: LOCAL 0, GLOBAL 1, WEAK 2, GNU_UNIQUE 10 */
	uint8_t visibility; /* STV_*: DEFAULT 0, INTERNAL 1, HIDDEN 2, PROTECTED 3 */
	uint8_t source;     /* enum weft_elf_source */
	uint32_t reserved[3];
};

struct weft_elf_note {
	const char *section;  /* "" where notes were found by segment */
	const char *name;     /* the owner: "stapsdt", "GNU" */
	const uint8_t *bytes; /* the description; not aligned */
	uint32_t size;        /* of it, at most 64 KiB */
	uint32_t type;
	uint64_t offset;  /* of the description in the file */
	uint64_t address; /* of it in memory; 0: not loaded */
};

#define WEFT_ELF_STATIC 1u /* neither interpreter nor needed libraries */
#define WEFT_ELF_PIE    2u /* an executable that is loaded anywhere */
#define WEFT_ELF_STRIPPED \
	4u /* no .symtab in the file itself; symbols may have come from elsewhere */

struct weft_elf {
	uint32_t struct_size;
	uint32_t flags;   /* WEFT_ELF_STATIC ... */
	uint16_t type;    /* ET_*: REL 1, EXEC 2, DYN 3 (libraries and PIE) */
	uint16_t machine; /* EM_*: x86-64 62, aarch64 183 */
	uint8_t wide;     /* 1: ELFCLASS64; 0: ELFCLASS32 */
	uint8_t big;      /* 1: big-endian */
	uint16_t reserved;
	uint32_t build_id_size; /* 0: none; at most 64 */
	uint32_t dropped;       /* symbols and notes left out for a name or size over the limits */
	const uint8_t *build_id;
	const char *soname;      /* NULL: none */
	const char *interpreter; /* NULL: none */
	const char *debug_file;  /* the separate debug file that was read; NULL: none */
	uint64_t entry;          /* address of the program's first instruction; 0: none */
	uint64_t file_size;
	const struct weft_elf_segment *segments;
	const struct weft_elf_section *sections; /* the first is the null section, as in the file */
	const struct weft_elf_symbol *symbols;   /* ordered by address */
	const struct weft_elf_note *notes;       /* in the file's order */
	uint32_t n_segments, n_sections, n_symbols, n_notes;
	uint32_t segment_size, section_size, symbol_size, note_size; /* the strides */
};

static inline const struct weft_elf_segment *weft_elf_segment_at(const struct weft_elf *elf,
								 uint32_t i)
{
	return (const struct weft_elf_segment *)((const char *)elf->segments +
						 (size_t)i * elf->segment_size);
}

static inline const struct weft_elf_section *weft_elf_section_at(const struct weft_elf *elf,
								 uint32_t i)
{
	return (const struct weft_elf_section *)((const char *)elf->sections +
						 (size_t)i * elf->section_size);
}

static inline const struct weft_elf_symbol *weft_elf_symbol_at(const struct weft_elf *elf,
							       uint32_t i)
{
	return (const struct weft_elf_symbol *)((const char *)elf->symbols +
						(size_t)i * elf->symbol_size);
}

static inline const struct weft_elf_note *weft_elf_note_at(const struct weft_elf *elf, uint32_t i)
{
	return (const struct weft_elf_note *)((const char *)elf->notes + (size_t)i * elf->note_size);
}

/* Where an address lies in the file, by the segments; WEFT_ELF_NO_OFFSET: in none. */
static inline uint64_t weft_elf_offset(const struct weft_elf *elf, uint64_t address)
{
	uint32_t i;

	for (i = 0; i < elf->n_segments; i++) {
		const struct weft_elf_segment *s = weft_elf_segment_at(elf, i);

		if (address >= s->address && address - s->address < s->file_size)
			return s->offset + (address - s->address);
	}
	return WEFT_ELF_NO_OFFSET;
}

/* The reverse: 1 and *address, or 0 if no segment holds that byte. An executable segment is
 * preferred, since a linker may put one byte of a page into two segments. */
static inline int weft_elf_address(const struct weft_elf *elf, uint64_t offset, uint64_t *address)
{
	int found = 0;
	uint32_t i;

	for (i = 0; i < elf->n_segments; i++) {
		const struct weft_elf_segment *s = weft_elf_segment_at(elf, i);

		if (offset < s->offset || offset - s->offset >= s->file_size)
			continue;
		if (found && !(s->flags & 1))
			continue;
		*address = s->address + (offset - s->offset);
		found = 1;
		if (s->flags & 1)
			break;
	}
	return found;
}

/* The first symbol at or above an address (n_symbols: none): symbols are ordered. */
static inline uint32_t weft_elf_symbol_from(const struct weft_elf *elf, uint64_t address)
{
	uint32_t low = 0, high = elf->n_symbols;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (weft_elf_symbol_at(elf, middle)->address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What debugging information says of a function, as probe_info wants it: names, types, and places
 * at the function's first instruction, by the calling convention of the file's machine. */
struct weft_elf_function {
	uint32_t struct_size;
	int32_t status; /* 0; -ENOENT: nothing is known of a function there */
	uint64_t address;
	const char *prototype; /* "ssize_t f(int fd, const char *buf)"; NULL with a status */
	const char *file;      /* of the declaration; NULL: not said */
	uint32_t line;         /* 0: not said */
	uint32_t n_args;
	const struct weft_arg *args; /* stride arg_size */
	uint32_t arg_size;
	uint32_t variadic;                /* not 0: "..." follows the arguments */
	struct weft_arg_type retval_type; /* kind 0: void, or not in a register */
	struct weft_location retval;
};

#ifdef __cplusplus
}
#endif

#endif
