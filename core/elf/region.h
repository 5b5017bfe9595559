/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The memory in which a jailed worker leaves its result: shared with the parent, reserved but not
 * filled, so that only what is written costs anything.
 *
 * It has two zones of one size. Records (arrays of structs) fill the lower, strings and other bytes
 * the upper. That makes the parent's checks short: no string can lie in a record, whatever offset
 * is claimed, so that turning offsets into pointers changes no string; and since the last byte of
 * all is the parent's zero, every string ends.
 *
 * Results are position-independent: a pointer member of a record holds an offset from the
 * beginning of the region, 0 for NULL, until the parent has judged it (check.c).
 */
#ifndef WEFT_ELF_REGION_H
#define WEFT_ELF_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first bytes are the jail's. */
#define WEFT_REGION_HEAD 8u

struct weft_region {
	char *base;
	size_t zone;    /* bytes of each zone */
	size_t records; /* bytes used of the lower zone */
	size_t strings; /* bytes used of the upper zone */
};

int weft_region_init(struct weft_region *r, size_t zone);
void weft_region_finish(struct weft_region *r);

/* Zeroed and aligned to 8, or NULL: the zone is full. */
void *weft_region_record(struct weft_region *r, size_t size);
/* A copy of n bytes and a NUL; as an offset in pointer's clothes. NULL: full. */
const void *weft_region_bytes(struct weft_region *r, const void *bytes, size_t n);
const char *weft_region_string(struct weft_region *r, const char *s);
/* The offset of a record, in the same clothes. */
const void *weft_region_offset(const struct weft_region *r, const void *p);

#endif
