/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What is demanded of a struct weft_provider, the same for one in a file and one in memory. */
#ifndef WEFT_PLUGINS_CHECK_H
#define WEFT_PLUGINS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "weft/provider.h"

/* The longest struct that is looked at; one that claims more is refused. */
#define WEFT_PROVIDER_MAX_SIZE  4096u
#define WEFT_PROVIDER_MAX_WORDS (WEFT_PROVIDER_MAX_SIZE / sizeof(uint64_t))

/* Bytes of a name that are looked at: one more than the longest valid one, and its NUL. */
#define WEFT_PROVIDER_NAME_MAX   32u
#define WEFT_PROVIDER_NAME_BYTES (WEFT_PROVIDER_NAME_MAX + 2)

/* A provider struct as one of the two readers found it. */
struct weft_provider_view {
	const char *file;     /* for messages: the file's base name, made printable */
	uint64_t symbol_size; /* bytes */
	uint32_t struct_size, abi_version;

	/* struct_size bytes, once weft_check_head() has passed. In the view of a file, a word that
	 * the dynamic linker fills in holds an address of the file, or UINT64_MAX where it comes
	 * from elsewhere. */
	uint64_t words[WEFT_PROVIDER_MAX_WORDS];
	/* View of a file: the words that the dynamic linker fills in. A pointer among the others
	 * would not be valid wherever the file is loaded. */
	bool in_file;
	bool relocated[WEFT_PROVIDER_MAX_WORDS];

	/* The bytes that the name member leads to, as many as can be read; empty if NULL. */
	char name[WEFT_PROVIDER_NAME_BYTES];
	size_t name_length; /* without NUL; WEFT_PROVIDER_NAME_BYTES: it does not end */
};

/* Of the two members that are frozen: the version is in the window, and struct_size is plausible. */
int weft_check_head(const struct weft_provider_view *v, struct weft_error *err);
/* Of the rest: words and name are filled in. */
int weft_check_body(const struct weft_provider_view *v, struct weft_error *err);

/* Fills in name and name_length from the `n` bytes at p, of which only these may be read. */
void weft_view_set_name(struct weft_provider_view *v, const char *p, size_t n);

/* Makes text of a file fit for a message: what cannot be printed becomes \xNN, what is too long
 * ends in "...". Reads at most n bytes. Returns buf. */
const char *weft_printable(char *buf, size_t size, const char *s, size_t n);

#endif
