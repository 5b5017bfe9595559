/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Scattered groups: probes whose arguments lie in too many places for a program each.
 *
 * Where values lie is then data: an element of an ARRAY for each probe, found by the cookie, which
 * is the probe's number in the group. What static probes say of their arguments all has one form,
 *
 *	(base register + (index register << shift) + a number, and what lies there) cut to a size
 *
 * of which any part may be missing, so one piece of code reads every argument. Registers are read
 * through the address of the context, since a program may not load from its context at an offset
 * that it computes.
 */
#ifndef WEFT_COMPILER_PLACES_H
#define WEFT_COMPILER_PLACES_H

#include <stdint.h>

/* An element is a u64, the probe's own cookie, and one of these for each argument that is used. */
struct weft_place_row {
	int64_t add;
	uint16_t base, index;        /* offsets into pt_regs */
	uint8_t has_base, has_index; /* 0 or 1 */
	uint8_t shift;               /* of the index */
	uint8_t bit;                 /* of a register's value: the first that counts */
	uint8_t drop;                /* bits above those that count */
	uint8_t loads;               /* 1: the sum is an address in user memory */
	uint8_t reserved[6];
};

#endif
