/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Executable mappings of files of a process. */
#ifndef WEFT_SUPPORT_MAPS_H
#define WEFT_SUPPORT_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct support_mapped {
	uint64_t from, to;
	uint64_t dev, ino; /* as the mapping has them, which need not be what stat() says; 0: not
			    * known, for support_mapped_open() */
	char *path;   /* as the process sees it, without " (deleted)"; a memfd's is "/memfd:NAME" */
	bool deleted; /* or a memfd: the path leads nowhere */
};

/* Calls fn for each; non-zero ends the walk and is returned. -errno: there is no such process, or
 * it could not be read to its end. */
int support_maps(int32_t pid, int (*fn)(const struct support_mapped *, void *), void *arg);
/* The file that is mapped, whatever has become of its path; where it is mapped no longer, what its
 * path leads to. A descriptor, or -errno. */
int support_mapped_open(int32_t pid, const struct support_mapped *m);

#endif
