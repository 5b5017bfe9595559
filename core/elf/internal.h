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
	const char *debug_link; /* in the region; or NULL */
	uint32_t debug_crc;
	struct weft_elf_answer *answers; /* of weft_elf_functions() */
};

struct weft_elf_reader {
	struct weft_elf_limits limits;
	struct weft_elf_entry *entries; /* the latest first */
};

/* debug.c: the next place where a separate debug file may be; false: there is none left. */
struct weft_elf_search {
	const struct weft_elf_request *request;
	const struct weft_elf *elf;
	const char *debug_link;
	unsigned int next;
	bool by_link;          /* out: found by name */
	const char *root;      /* out */
	char path[4096 + 512]; /* out */
};
bool weft_elf_search_next(struct weft_elf_search *s);
/* Maps what may be there; -errno: nothing that could be a debug file of `self`. */
int weft_elf_map_debug(struct weft_elf_reader *r, const struct weft_elf_search *s,
		       const struct weft_elf_mapped *self, struct weft_elf_mapped *out);

/* Calls fn with each separate debug file that may be the one of `e`, put down in `file`, until it
 * returns 0. -ENOENT: none serves. */
int weft_elf_with_debug_file(struct weft_elf_reader *r, const struct weft_elf_entry *e,
			     const struct weft_elf_request *request,
			     const struct weft_elf_mapped *self, struct weft_elf_job *file,
			     int (*fn)(void *arg, const char *path), void *arg);

/* read.c */
int weft_elf_take_request(const struct weft_elf_request *given, struct weft_elf_request *out,
			  struct weft_error *err);
struct weft_elf_entry *weft_elf_entry_of(struct weft_elf_reader *r, const struct weft_elf *elf);
bool weft_elf_same_file(const struct stat *a, const struct stat *b);

/* functions.c */
void weft_elf_answers_destroy(struct weft_elf_answer *a);

#endif
