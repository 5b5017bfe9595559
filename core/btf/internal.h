/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The object itself, for the files of this folder. */
#ifndef WEFT_BTF_INTERNAL_H
#define WEFT_BTF_INTERNAL_H

#include "core/btf/btf.h"

#define WEFT_BTF_STRIDE 16u

struct weft_btf {
	void *bytes;
	size_t size;
	bool mapped;
	const struct weft_btf *base;
	const uint8_t *types;
	size_t types_size;
	const char *strings;
	uint32_t strings_size;
	uint32_t first, end;   /* ids */
	uint32_t first_string; /* offset of its first string */
	uint32_t *marks;       /* where every WEFT_BTF_STRIDE-th type begins */
	bool tells_signs;      /* who wrote it says of enums whether they are signed */
	/* Names: ids + 1 by hash, chained by number. Made after a few look-ups. */
	uint32_t *heads, *next;
	uint32_t n_heads;
	unsigned lookups;
	struct weft_btf_enum *enums; /* made so far */
};

void weft_btf_release(struct weft_btf *b);

#endif
