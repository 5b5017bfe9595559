/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The stash: what was read of files, for tracers to come. A folder (/run/weft, mode 0700) with a
 * file (0600) for each file that was read, named by device and inode, which holds its record.
 *
 * Several tracers share it without locks: a record is written to a name of its own and renamed over
 * the old one, so that who reads sees one or the other whole. What is wrong in any way (another
 * owner, open to others, truncated, another version, about another file) counts as absent, and is
 * written anew. What cannot be written is not written: nothing ever fails for the stash's sake.
 *
 * Who writes removes the oldest records where there are too many or they are too large together.
 */
#ifndef WEFT_USDT_STASH_H
#define WEFT_USDT_STASH_H

#include "usdt/record.h"

#define WEFT_USDT_STASH_BYTES (64u << 20) /* of all records together */
#define WEFT_USDT_STASH_FILES 16384u

struct weft_usdt_stash {
	int dir; /* -1: there is none */
	bool writable;
	uint64_t written; /* bytes since the size was looked at */
	unsigned serial;
};

/* path NULL or "off": none. *why is set to a static text if there is no usable folder. */
void weft_usdt_stash_open(struct weft_usdt_stash *s, const char *path, const char **why);
void weft_usdt_stash_close(struct weft_usdt_stash *s);

/* The record of a file, or NULL. free() it. */
struct weft_usdt_record *weft_usdt_stash_get(struct weft_usdt_stash *s,
					     const struct weft_usdt_key *key);
void weft_usdt_stash_put(struct weft_usdt_stash *s, const struct weft_usdt_record *r);

/* Calls fn for each record that holds together; fn owns it. Non-zero ends the walk. */
int weft_usdt_stash_walk(struct weft_usdt_stash *s, int (*fn)(struct weft_usdt_record *, void *),
			 void *arg);

/* Removes records until at most so many bytes and files are left, the oldest first. */
void weft_usdt_stash_trim(struct weft_usdt_stash *s, uint64_t bytes, size_t files);

#endif
