/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writing BTF: descriptions in the order of their ids, and the texts in them. */
#ifndef WEFT_ELF_WORKER_BTF_H
#define WEFT_ELF_WORKER_BTF_H

#include <linux/btf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/elf/worker_table.h"

#ifndef BTF_KIND_ENUM64 /* linux/btf.h since 6.0 */
#define BTF_KIND_ENUM64 19
#endif

struct weft_btf_writer {
	struct weft_elf_table texts;
	char *strings;
	size_t n_strings, cap_strings;
	uint32_t *words; /* descriptions */
	size_t n_words, cap_words;
	bool full; /* there is more than a file may have */
};

void weft_btf_writer_init(struct weft_btf_writer *w);
void weft_btf_word(struct weft_btf_writer *w, uint32_t value);
/* The offset of a text; 0, which is "", for NULL and what is too long. */
uint32_t weft_btf_text(struct weft_btf_writer *w, const char *s);
/* The three words of struct btf_type. */
void weft_btf_head(struct weft_btf_writer *w, uint32_t name, uint32_t kind, uint32_t vlen,
		   bool flag, uint32_t size_or_type);
/* Something of that size of which nothing else is known; an integer (BTF_INT_*). */
void weft_btf_opaque(struct weft_btf_writer *w, const char *name, uint64_t size);
void weft_btf_int(struct weft_btf_writer *w, const char *name, uint32_t size, uint32_t encoding);
/* The bytes are malloc'd. false: it is full. */
bool weft_btf_finish(const struct weft_btf_writer *w, void **bytes, size_t *size);

#endif
