/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Between clause.c, which walks a clause, and items.c, which takes its items by their shape. */
#ifndef WEFT_LANG_CLAUSE_H
#define WEFT_LANG_CLAUSE_H

#include "core/lang/sema.h"

struct weft_clause_typer {
	struct weft_sema s;
	const struct weft_action *action;
	struct weft_typed_action *out;
};

/* Takes one item, whose text is there, into c->out. */
void weft_take_item(struct weft_clause_typer *c, const struct weft_item *item);

/* signals.c */
void weft_take_signal(struct weft_clause_typer *c, const struct weft_item *item);
/* Whether the action is allowed: DESTRUCTIVE, SIGNAL_NONE. */
void weft_check_destructive(struct weft_clause_typer *c);

#endif
