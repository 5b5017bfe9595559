/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/elf/worker_btf.h"

#include <stdlib.h>
#include <string.h>

#include "core/elf/elf.h"
#include "core/elf/worker.h"

#define STRINGS_MOST (64u << 20)

void weft_btf_writer_init(struct weft_btf_writer *w)
{
	*w = (struct weft_btf_writer){.cap_strings = 4096, .n_strings = 1}; /* "" */
	w->strings = weft_elf_allocate(1, w->cap_strings);
}

void weft_btf_word(struct weft_btf_writer *w, uint32_t value)
{
	if (w->n_words == w->cap_words) {
		w->cap_words = w->cap_words ? w->cap_words * 2 : 1024;
		w->words = weft_elf_reallocate(w->words, w->cap_words, sizeof(*w->words));
	}
	w->words[w->n_words++] = value;
}

uint32_t weft_btf_text(struct weft_btf_writer *w, const char *s)
{
	size_t n = s ? strnlen(s, WEFT_ELF_MAX_NAME) : 0;
	uint32_t *at;

	if (!n || n == WEFT_ELF_MAX_NAME)
		return 0;
	at = weft_elf_place(&w->texts, weft_elf_hash_text(0xcbf29ce484222325u, s));
	if (*at && !strcmp(w->strings + *at, s))
		return *at;
	if (w->n_strings + n + 1 > STRINGS_MOST) {
		w->full = true;
		return 0;
	}
	while (w->n_strings + n + 1 > w->cap_strings) {
		w->cap_strings *= 2;
		w->strings = weft_elf_reallocate(w->strings, w->cap_strings, 1);
	}
	*at = (uint32_t)w->n_strings;
	memcpy(w->strings + w->n_strings, s, n + 1);
	w->n_strings += n + 1;
	return *at;
}

void weft_btf_head(struct weft_btf_writer *w, uint32_t name, uint32_t kind, uint32_t vlen,
		   bool flag, uint32_t size_or_type)
{
	weft_btf_word(w, name);
	weft_btf_word(w, kind << 24 | vlen | (flag ? 1u << 31 : 0));
	weft_btf_word(w, size_or_type);
}

void weft_btf_opaque(struct weft_btf_writer *w, const char *name, uint64_t size)
{
	weft_btf_head(w, weft_btf_text(w, name), BTF_KIND_STRUCT, 0, false,
		      size <= UINT32_MAX ? (uint32_t)size : 0);
}

void weft_btf_int(struct weft_btf_writer *w, const char *name, uint32_t size, uint32_t encoding)
{
	weft_btf_head(w, weft_btf_text(w, name), BTF_KIND_INT, 0, false, size);
	weft_btf_word(w, encoding << 24 | size * 8);
}

bool weft_btf_finish(const struct weft_btf_writer *w, void **bytes, size_t *size)
{
	struct btf_header h = {.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(h)};
	char *to;

	if (w->full || w->n_words > UINT32_MAX / 8)
		return false;
	h.type_len = (uint32_t)(w->n_words * 4);
	h.str_off = h.type_len;
	h.str_len = (uint32_t)w->n_strings;
	*size = sizeof(h) + h.type_len + h.str_len;
	to = weft_elf_allocate(*size, 1);
	memcpy(to, &h, sizeof(h));
	if (w->n_words)
		memcpy(to + sizeof(h), w->words, h.type_len);
	memcpy(to + sizeof(h) + h.str_off, w->strings, w->n_strings);
	*bytes = to;
	return true;
}
