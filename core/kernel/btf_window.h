/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the files of the BTF scan share. */
#ifndef WEFT_KERNEL_BTF_WINDOW_H
#define WEFT_KERNEL_BTF_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/kernel/btf_scan.h"

#define WEFT_BTF_WINDOW (64u << 10)
#define WEFT_BTF_MARKS  1024u

struct weft_btf_scan {
	int fd;
	bool owns_fd;
	uint64_t types, types_end, strings, strings_end; /* bytes into the file */
	uint8_t *window;
	uint64_t window_at;
	size_t window_size;
	/* Where every stride-th of the types seen so far begins, in bytes from the first. */
	uint32_t marks[WEFT_BTF_MARKS];
	uint32_t n_marks, stride;
};

/* A type's head; its body lies at file offset `body`. */
struct weft_btf_type {
	uint32_t id, kind, vlen, name, type;
	bool kind_flag;
	uint64_t body;
};

#define WEFT_BTF_PLACES 4 /* of one text in the string section */

/* A name and where its text lies. */
struct weft_btf_name {
	const char *text;
	size_t size;
	uint32_t at[WEFT_BTF_PLACES];
	size_t n;
};

int weft_btf_malformed(struct weft_error *err, const char *what);

/* size bytes of the file, valid until the next call; NULL: the file ends before. Aligned to 4 if
 * `at` is. size is far smaller than the window. */
const void *weft_btf_take(struct weft_btf_scan *scan, uint64_t at, size_t size);

/* Finds the places of names; with all, every place, else the first of each. */
int weft_btf_find_names(struct weft_btf_scan *scan, struct weft_btf_name *names, size_t n, bool all,
			struct weft_error *err);
bool weft_btf_is_name(const struct weft_btf_name *name, uint32_t at);

/* Calls fn for every type; a result other than 0 ends the walk and is returned. */
int weft_btf_each_type(struct weft_btf_scan *scan, int (*fn)(const struct weft_btf_type *, void *),
		       void *arg, struct weft_error *err);

/* The type of an id; 0 (void) and ids beyond the last are BTF_MALFORMED. fn of weft_btf_each_type()
 * may call it. */
int weft_btf_type_by_id(struct weft_btf_scan *scan, uint32_t id, struct weft_btf_type *out,
			struct weft_error *err);

#endif
