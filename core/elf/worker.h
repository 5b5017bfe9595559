/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The parsers that run in the jail, and what they leave behind. */
#ifndef WEFT_ELF_WORKER_H
#define WEFT_ELF_WORKER_H

#include <gelf.h>
#include <stdbool.h>

#include "core/elf/elf.h"
#include "core/elf/jail.h"
#include "weft/provider.h"

#define WEFT_ELF_RESULT_MAGIC  0x77666c65u
#define WEFT_ELF_MOST_BUILD_ID 64u
#define WEFT_ELF_MOST_NOTE     65536u
#define WEFT_ELF_MOST_SEGMENTS 4096u
#define WEFT_ELF_MOST_SECTIONS (1u << 20)

/* Why a worker that ended well has no result. Index of the table in check.c. */
enum weft_elf_problem {
	WEFT_ELF_FINE = 0,
	WEFT_ELF_NOT_ELF,
	WEFT_ELF_DAMAGED,
	WEFT_ELF_TOO_MUCH,    /* the result does not fit the region */
	WEFT_ELF_OTHER_DEBUG, /* the debug file given belongs to another file */
	WEFT_ELF_PROBLEMS
};

/* What a worker is to read. Its memory is the parent's, seen through the fork. */
struct weft_elf_job {
	uint32_t want;
	const char *image; /* the file, mapped */
	size_t size;
	const char *debug; /* its separate debug file, mapped; NULL: none */
	size_t debug_size;
	bool by_link; /* debug was found by name: its CRC must be debug_crc */
	uint32_t debug_crc;
};

/* Lies at the beginning of the region. Pointers in it are offsets (region.h). */
struct weft_elf_result {
	uint32_t magic;
	uint32_t problem; /* enum weft_elf_problem */
	struct weft_elf elf;
	const char *debug_link; /* the name in .gnu_debuglink; NULL: none */
	uint32_t debug_crc;
	uint32_t has_symtab;
};

/* weft_jail_work with a struct weft_elf_job */
void weft_elf_work(struct weft_region *region, const void *job);

/* The same for types of functions (worker_dwarf.c). */
struct weft_elf_types_job {
	struct weft_elf_job file;
	const uint64_t *addresses; /* of functions; ordered, each once */
	uint32_t n;
};

#define WEFT_ELF_HIDDEN_RESULT 1u /* the result goes where a hidden first argument points */

struct weft_elf_typed {
	uint32_t func; /* BTF id of a FUNC; 0: nothing is known of that address */
	uint32_t flags;
	const char *file; /* NULL: not said */
	uint32_t line;
	uint32_t reserved;
};

struct weft_elf_types_result {
	struct weft_elf_result file; /* as far as types need it */
	const struct weft_elf_typed *functions;
	const uint8_t *btf;
	uint32_t btf_size, n;
};

void weft_elf_work_types(struct weft_region *region, const void *job);

/* The same for lines (worker_lines.c). */
struct weft_elf_lines_job {
	struct weft_elf_job file;
	uint64_t address;
};

struct weft_elf_line_file {
	const char *path;
};

struct weft_elf_lines_result {
	struct weft_elf_result file; /* as far as lines need it */
	const struct weft_elf_line *lines;
	const struct weft_elf_line_file *files;
	uint32_t n, n_files;
};

void weft_elf_work_lines(struct weft_region *region, const void *job);
/* Whether a file has bytes of a section of debugging information: "debug_line". */
bool weft_elf_work_has(Elf *file, const char *name);

/* ---- between the worker's files ---- */

struct weft_elf_worker {
	const struct weft_elf_job *job;
	struct weft_region *region;
	struct weft_elf_result *result;
	struct weft_elf_segment *segments; /* in the region */
	struct weft_elf_section *sections;
	Elf *file;
	size_t names;   /* index of the section with the sections' names */
	char *unpacked; /* .gnu_debugdata, once decompressed; lives as long as the child */
	size_t unpacked_size;
};

/* Reads what the others build upon; result lies in the region already. */
void weft_elf_work_file(struct weft_elf_worker *w);
/* Ends the child with that answer. */
_Noreturn void weft_elf_give_up(struct weft_elf_worker *w, enum weft_elf_problem problem);
/* The same as the region's functions, but never NULL. */
void *weft_elf_record(struct weft_elf_worker *w, size_t size);
const char *weft_elf_string(struct weft_elf_worker *w, const char *s);
const void *weft_elf_bytes(struct weft_elf_worker *w, const void *bytes, size_t n);
/* malloc() and its like that end the child instead of failing. */
void *weft_elf_allocate(size_t n, size_t size);
void *weft_elf_reallocate(void *p, size_t n, size_t size);

void weft_elf_work_symbols(struct weft_elf_worker *w);
void weft_elf_work_notes(struct weft_elf_worker *w);
/* Decompresses .gnu_debugdata into an ELF file; NULL: there is none, or it is damaged. */
Elf *weft_elf_work_debugdata(struct weft_elf_worker *w);
/* The separate debug file; gives up if it is another's. NULL: none was given. */
Elf *weft_elf_work_debug_file(struct weft_elf_worker *w);

/* worker_demangle.c: malloc'd texts, or NULL. parameters: with them. */
char *weft_elf_demangle(const char *name, bool parameters);

#endif
