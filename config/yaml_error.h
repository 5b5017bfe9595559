/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* libyaml's errors in words that help. */
#ifndef WEFT_CONFIG_YAML_ERROR_H
#define WEFT_CONFIG_YAML_ERROR_H

#include <yaml.h>

#include "config/tree.h"

/* Reports the error that the parser has stopped at as CONFIG_YAML. last: the scalar that came
 * before it, or NULL. */
void weft_yaml_error(struct weft_reader *r, const yaml_parser_t *parser,
		     const struct weft_tree_node *last);

#endif
