/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The memory of a variable; lower_state.c has the essay. */
#ifndef WEFT_COMPILER_CELL_H
#define WEFT_COMPILER_CELL_H

#include <stdint.h>

#include "core/compiler/lower.h"

struct weft_cell {
	uint64_t word; /* INT: the value. STRING: odd while the text is being written */
	uint64_t set;  /* 0: unset */
	char text[];   /* STRING */
};

#define WEFT_CELL(member) ((int32_t)offsetof(struct weft_cell, member))

#define WEFT_ARRAY_LOCKS    256u       /* words of an array, by a hash of the keys */
#define WEFT_LOCK_EXCLUSIVE (1u << 30) /* in such a word; below it the number of users */
#define WEFT_STATE_ROUNDS   16         /* of trying, before a variable is given up as busy */

/* A variable that was found: its cell, and what keeps its element from being removed. */
struct weft_found {
	struct weft_variable v;
	struct weft_place cell;
	weft_vreg lock; /* none: elements are never removed */
	struct weft_place key;
	struct weft_ir_arg map;
};

/* Evaluates keys and holds the element, if it can be removed; faults leave the clause. */
void weft_found_open(struct weft_lower *lw, const struct weft_node *n, struct weft_found *f);
/* The cell, which may be absent: goes there. */
void weft_found_look(struct weft_lower *lw, struct weft_found *f, uint32_t absent);
/* The cell, made if it is absent. */
void weft_found_make(struct weft_lower *lw, struct weft_found *f, const struct weft_failures *to);
/* Gives back what open holds. */
void weft_found_close(struct weft_lower *lw, const struct weft_found *f);

#endif
