/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Lines of source code of one file (lines.c). */
#ifndef WEFT_SYMBOLS_LINES_H
#define WEFT_SYMBOLS_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "core/elf/elf.h"

struct weft_lines;

/* Of an open file with that stat: keeps a copy of the descriptor. path and root as in struct
 * weft_elf_request. NULL: out of memory or descriptors. */
struct weft_lines *weft_lines_create(int fd, const struct stat *st, const char *path,
				     const char *root);
void weft_lines_destroy(struct weft_lines *l);

/* The line of an address as linked; false: it is not known. *file lives as long as l. */
bool weft_lines_find(struct weft_lines *l, struct weft_elf_reader *reader, uint64_t address,
		     const char **file, uint32_t *line);

#endif
