/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Mapped files: what processes mapped (struct weft_file), and what was read of it (files.c). */
#ifndef WEFT_SYMBOLS_FILES_H
#define WEFT_SYMBOLS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/symbols/elf_image.h"
#include "core/symbols/lines.h"
#include "core/symbols/store.h"

/* What identifies the file behind a mapping, as the kernel's reports have it. */
struct weft_file_id {
	uint32_t major, minor;
	uint64_t inode; /* 0: not said */
	uint8_t build_id[WEFT_SYMTAB_BUILD_ID];
	uint32_t build_id_size; /* 0: not said */
	const char *path;       /* as reported: with " (deleted)" where so */
	size_t path_length;
};

/* The content of a file as it was when opened; shared by all weft_files that lead to it. */
struct weft_image {
	struct weft_image *next;
	dev_t device;
	ino_t inode;
	uint64_t size;
	uint64_t modified_ns, changed_ns; /* its times when it was read, CLOCK_REALTIME */
	struct weft_symtab elf;
	bool readable;            /* elf is valid */
	struct weft_u64map names; /* index + 1 of a symbol -> its interned name */
	struct weft_lines *lines; /* NULL: none are wanted, or there is no room */
};

struct weft_file {
	struct weft_file *next; /* of the same key */
	struct weft_file_id id; /* path interned */
	const char *module;     /* what to show; NULL: nothing worth showing */
	bool is_vdso, is_file;
	struct weft_image *image; /* the last that was good for a mapping, or NULL */
	bool by_map;              /* image was reached through the mapping itself */
	int32_t refused_tgid;     /* the last process by which no image was found */
	uint32_t attempts;        /* to find an image */
};

struct weft_files {
	struct weft_texts *strings;
	struct weft_u64map map; /* key of identity -> chain of weft_file */
	size_t n;
	struct weft_image *images;
	size_t symbols;                 /* in all images */
	uint64_t files_refused;         /* over FILES_MOST */
	uint64_t unreadable;            /* images that could not be made */
	struct weft_error *why;         /* of the first of them; NULL: none, or memory was short */
	struct weft_elf_reader *reader; /* NULL: none was needed yet */
	bool own_reader;
	bool want_lines;
	size_t n_lines; /* images with lines: each keeps a descriptor */
};

/* Memory that is no file of a disk's: what a JIT compiler made may lie there. */
bool weft_file_may_be_made(const struct weft_file *file);

void weft_files_init(struct weft_files *f, struct weft_texts *strings);
void weft_files_finish(struct weft_files *f);

/* The file of an identity; NULL: out of memory, or too many files. */
struct weft_file *weft_files_get(struct weft_files *f, const struct weft_file_id *id);

/* A mapping through which a file may be reached. */
struct weft_reach {
	int32_t tgid;
	uint64_t start, end; /* addresses */
	uint64_t seen_ns; /* CLOCK_MONOTONIC: when the file was last known to be the one mapped */
};

/* The image of a file that is certainly the one that was mapped, or NULL. */
struct weft_image *weft_files_image(struct weft_files *f, struct weft_file *file,
				    const struct weft_reach *reach);

/* The symbol at a linked address; NULL: none. */
const char *weft_files_symbol(struct weft_files *f, struct weft_image *image, uint64_t address,
			      uint64_t *start);

/* The line of source code at a linked address; false: it is not known, or not wanted. */
bool weft_files_line(struct weft_files *f, struct weft_image *image, uint64_t address,
		     const char **file, uint32_t *line);

#endif
