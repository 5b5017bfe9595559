/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is known of a file, as one run of bytes: it is made from the file's notes once, used in
 * memory as it is, written to the stash as it is, and read from there by whoever comes later. A
 * record that comes from a file is believed in nothing until weft_usdt_record_check() has seen it.
 *
 *	header | notes, by provider and name, then arguments | symbols | texts, each with a NUL
 *
 * The key says of which file: device, inode, size, and the times of its last change in content and
 * in state to the nanosecond, of which nobody can set the latter; so a file that was replaced, or
 * written to, is never taken for the old one. The build ID is kept for the same purpose where the
 * file has one and who asks knows it.
 */
#ifndef WEFT_USDT_RECORD_H
#define WEFT_USDT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "weft/provider.h"

#define WEFT_USDT_RECORD_VERSION 1u
#define WEFT_USDT_RECORD_MOST    (256u << 20) /* bytes */

struct weft_usdt_key {
	uint64_t dev, ino, size;
	int64_t mtime_ns, ctime_ns;
};

struct weft_usdt_note {
	uint64_t address; /* of the site, as linked and corrected */
	uint64_t offset;  /* of it in the file */
	uint64_t semaphore; /* offset in the file; 0: none; WEFT_USDT_LOST: the file has no byte of it */
	uint32_t provider, name, args; /* texts */
	uint32_t reserved;
};
#define WEFT_USDT_LOST UINT64_MAX

struct weft_usdt_symbol {
	uint64_t address;
	uint32_t name; /* text */
	uint32_t reserved;
};

struct weft_usdt_record {
	char magic[8];
	uint32_t version;
	uint32_t order;    /* 0x01020304: as this machine writes it */
	uint64_t total;    /* bytes of the record */
	uint64_t checksum; /* of all that follows this word */
	struct weft_usdt_key key;
	uint32_t n_notes, n_symbols;
	uint32_t texts, texts_size; /* offset, bytes */
	uint32_t path;              /* text: where the file was when it was read */
	uint32_t soname;            /* text; "" where there is none */
	uint32_t dropped;           /* notes that make no sense */
	uint16_t machine;           /* e_machine */
	uint16_t flags;             /* 0 */
	uint32_t build_id_size;
	uint32_t reserved;
	uint8_t build_id[64];
};

void weft_usdt_key_of(const struct stat *st, struct weft_usdt_key *out);
bool weft_usdt_key_same(const struct weft_usdt_key *a, const struct weft_usdt_key *b);

/* Whether n bytes at p (aligned to 8) are a record of this version that holds together. */
bool weft_usdt_record_check(const void *p, size_t n);

static inline const struct weft_usdt_note *weft_usdt_notes(const struct weft_usdt_record *r)
{
	return (const struct weft_usdt_note *)(r + 1);
}

static inline const char *weft_usdt_text(const struct weft_usdt_record *r, uint32_t at)
{
	return (const char *)r + r->texts + at;
}

/* Makes its sum right. */
void weft_usdt_record_seal(struct weft_usdt_record *r);

/* For struct weft_usdt_site; arg is the record. */
int weft_usdt_record_find(void *record, const char *name, size_t n, uint64_t *address);

/* ---- making one ---- */

struct weft_usdt_draft {
	struct weft_usdt_note *notes;
	size_t n_notes, cap_notes;
	struct weft_usdt_symbol *symbols;
	size_t n_symbols, cap_symbols;
	char *texts;
	size_t n_texts, cap_texts;
	uint32_t dropped;
	uint16_t machine;
	const char *soname; /* or NULL; borrowed */
	uint8_t build_id[64];
	uint32_t build_id_size;
};

/* Adds a text; -ENOMEM or -E2BIG. */
int weft_usdt_draft_text(struct weft_usdt_draft *d, const char *text, size_t n, uint32_t *out);
int weft_usdt_draft_note(struct weft_usdt_draft *d, const struct weft_usdt_note *note);
int weft_usdt_draft_symbol(struct weft_usdt_draft *d, uint32_t name, uint64_t address);
/* NULL: no memory. free() it. */
struct weft_usdt_record *weft_usdt_draft_record(struct weft_usdt_draft *d,
						const struct weft_usdt_key *key, const char *path);
void weft_usdt_draft_finish(struct weft_usdt_draft *d);

#endif
