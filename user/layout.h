/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a program and its tracers share, and the call. docs/user-syscall.md is the specification;
 * this is the same for C. Clients are written from that page, so nothing here may change but by a
 * new version.
 */
#ifndef WEFT_USER_LAYOUT_H
#define WEFT_USER_LAYOUT_H

#include <stdint.h>

#define WEFT_TABLE_FILE     "weft:probes"
#define WEFT_TABLE_MAGIC    "weftprob"
#define WEFT_TABLE_VERSION  1u
#define WEFT_TABLE_SLOTS    8u   /* tracers at once: a byte each of a probe's word */
#define WEFT_TABLE_SLOTS_AT 512u /* where their records begin */
#define WEFT_TABLE_HEADER   1024u
#define WEFT_TABLE_NUMBERS  4096u
#define WEFT_TABLE_CAPACITY 65536u
#define WEFT_TABLE_DECLS    (16u << 20) /* bytes of declarations, at most */
#define WEFT_TABLE_RECORD   4096u       /* bytes of one, at most */
#define WEFT_TABLE_NAME     127u        /* bytes of a name, at most */
#define WEFT_TABLE_ARGS     32u         /* arguments, and words of all of them */
#define WEFT_TABLE_INLINE   5u          /* words that travel in registers */

#define WEFT_TABLE_TRIED 1u /* flags: the call was tried under the filter that is in force */
#define WEFT_TABLE_OFF   2u /* not to be enabled: it would not be seen, or could kill */

struct weft_probe_table {
	char magic[8];
	uint32_t version;
	uint32_t number;     /* of this table in its process: the upper 12 bits of ids */
	uint32_t capacity;   /* words */
	uint32_t words;      /* offset */
	uint32_t decls;      /* offset */
	uint32_t decls_size; /* bytes */
	uint32_t count;      /* declarations that are complete: stored with release */
	uint32_t flags;
};

struct weft_table_slot {
	uint64_t beat;    /* the tracer's: counts up once a second */
	uint64_t expired; /* the program's: counts how often it gave the tracer up */
	uint64_t reserved[6];
};

struct weft_table_decl {
	uint32_t size;  /* of the record: a multiple of 8 */
	uint32_t state; /* odd: live, even: gone; each change adds one. Stored with release. */
	char text[];    /* provider, name, arguments: each ends with a NUL */
};
#define WEFT_DECL_LIVE(state) ((state)&1u)

#define WEFT_LEASE_MS 10000u /* without a beat for so long, the tracer is dead */

#define WEFT_CALL_MAGIC      0x77656674u /* upper half of the first word */
#define WEFT_CALL_ID(t, i)   ((uint32_t)(t) << 20 | (uint32_t)(i))
#define WEFT_CALL_REGISTER   0xffffffffu /* lower half: declarations changed */
#define WEFT_CALL_WORD(id)   ((uint64_t)WEFT_CALL_MAGIC << 32 | (uint32_t)(id))
#define WEFT_CALL_NUMBER(id) ((uint32_t)(id) >> 20)
#define WEFT_CALL_INDEX(id)  ((uint32_t)(id)&0xfffffu)

#endif
