/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Opening files whose names others chose (open.c). */
#ifndef WEFT_ELF_OPEN_H
#define WEFT_ELF_OPEN_H

#include <stdbool.h>
#include <sys/stat.h>

/* A descriptor for reading of the regular file at path, or -errno: -ENOEXEC if it is something
 * else, which is then never opened (a FIFO would block, a device may act). root: the folder in
 * which path and every symbolic link on it are looked up; NULL: the usual. itself: path must be no link. */
int weft_open_regular(const char *root, const char *path, bool itself, struct stat *st);

#endif
