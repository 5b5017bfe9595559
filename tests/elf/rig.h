/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the suites of core/elf share. */
#ifndef WEFT_TEST_ELF_RIG_H
#define WEFT_TEST_ELF_RIG_H

#include "core/elf/elf.h"

#define RIG_WANT_ALL                                                              \
	(WEFT_ELF_WANT_FUNCTIONS | WEFT_ELF_WANT_DATA | WEFT_ELF_WANT_DEMANGLED | \
	 WEFT_ELF_WANT_NOTES | WEFT_ELF_WANT_DEBUG)

/* A file built for these tests. Static storage, until the next call. */
const char *built(const char *name);

/* Reads a file; the test fails if that cannot be done. */
const struct weft_elf *read_file(struct weft_elf_reader *r, const char *path, uint32_t want);
/* Reads one and returns the tag of what is wrong, "" if nothing is. Static storage. */
const char *read_tag(struct weft_elf_reader *r, const char *path, uint32_t want);

const struct weft_elf_symbol *find_symbol(const struct weft_elf *elf, const char *name,
					  const char *version);

/* What a shell command with the path in it prints, as a number. */
unsigned long told(const char *format, const char *path);

/* A file for scratch, unlinked, of n bytes. */
int scratch(const void *bytes, size_t n);
/* The whole of a file, malloc'd. */
unsigned char *contents(const char *path, size_t *n);

#endif
