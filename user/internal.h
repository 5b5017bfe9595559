/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The library's own. It stands alone: libc is all it needs, and of weft only layout.h. */
#ifndef WEFT_USER_INTERNAL_H
#define WEFT_USER_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout.h"
#include "weft/user.h"

/*
 * Lives in a page that the kernel wipes in a child of fork(): there `mine` is 0, and the lock that
 * another thread of the parent may have held is free. A child of vfork() or of clone(CLONE_VM)
 * shares the page with all the rest, which is as it should be.
 */
struct weft_user_private {
	uint32_t mine; /* this process made the table, or has made it its own since */
	pthread_mutex_t lock;
};

struct weft_user {
	struct weft_probe_table *table; /* NULL: none yet; set once, with release; never moves */
	size_t size;
	uint64_t *words;
	uint64_t words_size; /* bytes */
	uint64_t call;       /* the first word of the call, for index 0 */
	uint32_t number;
	uint32_t count;    /* declared by this process, or before it was forked */
	uint32_t used;     /* bytes of declarations */
	uint32_t *offsets; /* by index: where its declaration begins */
	uint32_t *index;   /* open addressing by names: index + 1 */
	uint32_t n_index;
	int error; /* why there is no table: said once and for all */
	bool off;
	enum weft_sandbox sandbox;
	/* When each tracer's beat was last seen to change: CLOCK_MONOTONIC_COARSE, ms. */
	uint64_t beat[WEFT_TABLE_SLOTS], since[WEFT_TABLE_SLOTS];
};
extern struct weft_user weft_user;

/* Makes the table, and in a child of fork() makes it the child's own. With the lock held. */
int weft_user_table(struct weft_user_private *p);
struct weft_user_private *weft_user_private(void);

/* Whether the calls may be made: 0, or -EACCES, -ENOSYS. *tried: under a filter. */
int weft_user_may(enum weft_sandbox how, bool *tried);

/* Tells tracers that declarations changed. */
void weft_user_announce(void);

long weft_user_call(uint64_t word, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e);

#endif
