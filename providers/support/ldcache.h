/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where the dynamic linker finds libraries: /etc/ld.so.cache, and the folders it looks in besides. */
#ifndef WEFT_SUPPORT_LDCACHE_H
#define WEFT_SUPPORT_LDCACHE_H

#include <stddef.h>

/* Calls fn for each library of this machine that the cache lists, until it returns non-zero, which
 * is returned. The cache is a file: what is wrong with it ends the walk. Texts are in data. */
int support_ldcache_walk(const void *data, size_t size,
			 int (*fn)(const char *soname, const char *path, void *arg), void *arg);

/* The path of a library as seen from a root ("" is ours): 0, -ENOENT, or -ENAMETOOLONG. */
int support_library(const char *root, const char *soname, char *buf, size_t size);

#endif
