/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ELF files that strangers wrote: symbols, sections, notes, types. What is read is struct weft_elf
 * of weft/provider.h, the same for providers and for the core.
 *
 *   read.c      opens and maps the file, finds its separate debug file, keeps what was read
 *   jail.c      runs a parser in a child that can do nothing but compute
 *   filter.c    the system calls that are left to it
 *   worker_*.c  the parsers; they run in the child
 *   check.c     what the child left behind, judged as if a stranger had written it: one has
 *
 * The child gets the file as a mapping that exists before it is locked in, and leaves its result in
 * shared memory (region.h). The parent looks at that memory only when the child is gone, so nothing
 * changes under its eyes, and uses it in place: nothing is copied,
 * but for lines, which are few of many.
 */
#ifndef WEFT_CORE_ELF_H
#define WEFT_CORE_ELF_H

#include <stdint.h>

#include "core/error.h"
#include "weft/provider.h"

/* What one file may cost. 0: the default. */
struct weft_elf_limits {
	uint64_t time_ns; /* wall clock; default 5 s */
	uint64_t memory;  /* bytes that the parser allocates; default 1 GiB */
	uint64_t result;  /* bytes of records, and again of strings; default 512 MiB */
	uint64_t file;    /* size of a file; default 8 GiB */
};

struct weft_elf_reader;

/* limits may be NULL. Returns NULL where memory is short. */
struct weft_elf_reader *weft_elf_reader_create(const struct weft_elf_limits *limits);
void weft_elf_reader_destroy(struct weft_elf_reader *reader); /* and all that it handed out */

/* As host->elf_read() and its like say. */
int weft_elf_read(struct weft_elf_reader *reader, const struct weft_elf_request *request,
		  const struct weft_elf **out, struct weft_error *err);
void weft_elf_release(struct weft_elf_reader *reader, const struct weft_elf *elf);
int weft_elf_functions(struct weft_elf_reader *reader, const struct weft_elf *elf,
		       const struct weft_elf_request *request, const uint64_t *addresses,
		       uint32_t n, const struct weft_elf_function **out, struct weft_error *err);

/* Lines of source code of one unit of compilation. */
struct weft_elf_line {
	uint64_t address; /* as linked: from here on, up to the next */
	uint32_t file;    /* index of files */
	uint32_t line;    /* 0: nothing is known from here on */
};
struct weft_elf_lines {
	uint32_t n, n_files;
	const struct weft_elf_line *at; /* by address; the last one's line is 0 */
	const char *const *files;       /* paths as the compiler noted them */
};

/* The lines of the unit that has an address, from the file's debugging information or that of its
 * separate debug file; *out is freed with free(); its n is 0 where no unit has the address.
 * -ENOENT: there is no such information at all. */
int weft_elf_lines(struct weft_elf_reader *reader, const struct weft_elf_request *request,
		   uint64_t address, struct weft_elf_lines **out, struct weft_error *err);

#endif
