/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Locations: checking what a provider says of where its values lie. Lowering is in lower_location.c. */
#ifndef WEFT_COMPILER_LOCATION_H
#define WEFT_COMPILER_LOCATION_H

#include "core/error.h"
#include "weft/provider.h"

/* Checks a location for programs of a class: known operations with valid sizes and flags, no
 * underflow, at most WEFT_LOC_MAX_DEPTH values, nothing read outside the context, and between
 * `least` and `most` values left; *left says how many. what names the location for messages:
 * "argument 2 (len)".
 * Tags: LOCATION_LENGTH, LOCATION_OPCODE, LOCATION_SIZE, LOCATION_FLAGS, LOCATION_OPERAND,
 * LOCATION_UNDERFLOW, LOCATION_DEPTH, LOCATION_CONTEXT, LOCATION_REGISTER, LOCATION_COOKIE,
 * LOCATION_RESULT, LOCATION_NAME. Lowering adds LOCATION_MEMBER: this kernel has no such member. */
int weft_location_check(const struct weft_location *where, const struct weft_load_class *load,
			unsigned least, unsigned most, unsigned *left, const char *what,
			struct weft_error *err);

/* The text that a MEMBER with this operand refers to; NULL: none. */
const char *weft_location_name(const struct weft_location *where, int64_t index);

/* Bytes of context that a program of the class may read. */
uint32_t weft_context_size(const struct weft_load_class *load);

/* Checks every location of a probe's description: arguments that can be read, guard, identity,
 * pairing and return value. Reports each that is wrong; returns the first error. */
int weft_location_check_info(const struct weft_probe_info *info, struct weft_error *err);

#endif
