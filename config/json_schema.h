/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Pieces of JSON Schema that its two halves share. name as in weft_json_open(). */
#ifndef WEFT_CONFIG_JSON_SCHEMA_H
#define WEFT_CONFIG_JSON_SCHEMA_H

#include "config/out.h"

/* {"$ref": "#/$defs/WHAT"} */
void weft_schema_ref(struct weft_json *j, const char *name, const char *what);
/* These two leave the object open for further members. */
void weft_schema_object(struct weft_json *j, const char *name); /* with no keys but those named */
void weft_schema_list(struct weft_json *j, const char *name);   /* of at least one item */
/* Members of an object that is open. */
void weft_schema_one_or_list(struct weft_json *j, const char *what);
void weft_schema_choices(struct weft_json *j, const char *choices); /* "a|b|c" */

/* "actions": the definition of a list of actions, by the language's table. */
void weft_schema_actions(struct weft_json *j);

#endif
