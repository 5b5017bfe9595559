/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Between clause.c, which walks a clause, and items.c, which takes its items by their shape. */
#ifndef WEFT_LANG_CLAUSE_H
#define WEFT_LANG_CLAUSE_H

#include "core/lang/sema.h"

/* Fields of actions that are known beforehand (constants.c). */
enum weft_constant {
	WEFT_CONSTANT_FROM,
	WEFT_CONSTANT_TO,
	WEFT_CONSTANT_STEP,
	WEFT_CONSTANT_FACTOR,
	WEFT_CONSTANT_LOW,
	WEFT_CONSTANT_HIGH,
	WEFT_CONSTANT_STEPS,
	WEFT_CONSTANT_TOP,
	WEFT_CONSTANT_DIVIDE,
	WEFT_CONSTANT_PER,
	WEFT_N_CONSTANTS
};

struct weft_clause_typer {
	struct weft_sema s;
	const struct weft_action *action;
	struct weft_typed_action *out;
	struct weft_node *constants[WEFT_N_CONSTANTS]; /* of the action; NULL: absent, or wrong */
	struct weft_typed_clause *clause;
	size_t cap_locals;
};

/* Takes one item, whose text is there, into c->out. */
void weft_take_item(struct weft_clause_typer *c, const struct weft_item *item);

/* signals.c */
void weft_take_signal(struct weft_clause_typer *c, const struct weft_item *item);
/* Whether the action is allowed: DESTRUCTIVE, SIGNAL_NONE. */
void weft_check_destructive(struct weft_clause_typer *c);

/* constants.c */
void weft_take_constant(struct weft_clause_typer *c, const struct weft_item *item);
/* What the constants of the action mean together, once all items are taken. */
void weft_take_buckets(struct weft_clause_typer *c);
void weft_take_view(struct weft_clause_typer *c);

/* views.c: the action of the set that fills an aggregation first. 0, or an error that was reported,
 * AGGREGATION_UNKNOWN at the name's place. */
int weft_find_filler(const struct weft_set *set, const struct weft_text *name,
		     const struct weft_action **out, struct weft_error *err);

/* assign.c: an entry of `set`, and of `delete`. */
void weft_take_assignment(struct weft_clause_typer *c, const struct weft_item *item);
void weft_take_variable(struct weft_clause_typer *c, const struct weft_item *item);

/* Types a clause, on the variables that s->env->state has. Also the pass that finds out their types. */
int weft_type_clause(struct weft_clause_typer *c, const struct weft_clause *clause,
		     struct weft_typed_clause *out);

#endif
