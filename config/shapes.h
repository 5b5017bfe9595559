/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Between the two halves of reading actions: the action (actions.c) and its fields (shapes.c). */
#ifndef WEFT_CONFIG_SHAPES_H
#define WEFT_CONFIG_SHAPES_H

#include "config/schema.h"
#include "core/lang/actions.h"

#define WEFT_MAX_CANDIDATES 64 /* for a suggestion */

/* One action as it is read. items has room for cap_items. */
struct weft_action_reader {
	struct weft_reader *r;
	struct weft_action *action;
	size_t cap_items;
};

/* Reads the value of one field by its shape: items, or ACTION_SHAPE, ACTION_CHOICE, CONFIG_QUOTE. */
void weft_read_action_field(struct weft_action_reader *a, const struct weft_action_field *field,
			    const struct weft_tree_node *node);

#endif
