/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the parent's files of this folder share. */
#ifndef WEFT_ELF_INTERNAL_H
#define WEFT_ELF_INTERNAL_H

#include <sys/stat.h>

#include "core/elf/elf.h"
#include "core/elf/worker.h"

/* A file mapped for a worker. The parent never touches the bytes. */
struct weft_elf_mapped {
	char *bytes; /* NULL: none */
	size_t size;
	struct stat st;
};

/* fd must be a regular ELF file of a size that is allowed: ELF_NOT_REGULAR, ELF_TOO_LARGE,
 * ELF_NOT_ELF, ELF_UNREADABLE. */
int weft_elf_map(int fd, uint64_t most, const char *path, struct weft_elf_mapped *out,
		 struct weft_error *err);
void weft_elf_unmap(struct weft_elf_mapped *m);

/* A file that was read. */
struct weft_elf_entry {
	struct weft_elf elf; /* what is handed out */
	struct weft_elf_entry *next;
	struct weft_region region;
	struct stat st; /* its identity and times */
	uint32_t want;
	uint32_t users;
	bool settled; /* its times tell a later change */
	char *debug_file;
};

struct weft_elf_reader {
	struct weft_elf_limits limits;
	struct weft_elf_entry *entries; /* the latest first */
};

/* debug.c: the next place where a separate debug file may be; false: there is none left. */
struct weft_elf_search {
	const struct weft_elf_request *request;
	const struct weft_elf_result *result;
	unsigned int next;
	bool by_link;          /* out: found by name */
	const char *root;      /* out */
	char path[4096 + 512]; /* out */
};
bool weft_elf_search_next(struct weft_elf_search *s);

#endif
