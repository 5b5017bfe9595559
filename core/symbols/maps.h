/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The parser of /proc/PID/maps (maps.c). */
#ifndef WEFT_SYMBOLS_MAPS_H
#define WEFT_SYMBOLS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_maps_entry {
	uint64_t start, end; /* addresses */
	uint64_t offset;     /* in the file, bytes */
	uint64_t inode;      /* 0: no file */
	uint32_t major, minor;
	bool executable;
	const char *path; /* as it stands there, NUL-terminated; "" for anonymous memory */
	size_t path_length;
};

/* One line without its newline. It is changed: the path is terminated in place. Returns 0, or
 * -EINVAL for what is no such line. */
int weft_maps_parse(char *line, size_t length, struct weft_maps_entry *out);

/* Calls fn for every mapping of the file, or every executable one; a result other than 0 ends the
 * walk and is returned. Returns -errno where the file cannot be read. */
int weft_maps_read(const char *path, bool executable,
		   int (*fn)(const struct weft_maps_entry *, void *), void *arg);

/* The name that a path stands for: without " (deleted)", the escape \012 undone. Writes at most
 * size - 1 bytes and a NUL; returns the length. */
size_t weft_maps_name(const char *path, char *buf, size_t size);

#endif
