/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The language's actions as JSON Schema, and the pieces that any schema is made of. */
#include <stdio.h>
#include <string.h>

#include "config/json_schema.h"
#include "core/lang/actions.h"

void weft_schema_ref(struct weft_json *j, const char *name, const char *what)
{
	char ref[64];

	snprintf(ref, sizeof(ref), "#/$defs/%s", what);
	weft_json_open(j, name, '{');
	weft_json_string(j, "$ref", ref);
	weft_json_close(j, '}');
}

/* "type": "object", no other keys; members follow. */
void weft_schema_object(struct weft_json *j, const char *name)
{
	weft_json_open(j, name, '{');
	weft_json_string(j, "type", "object");
	weft_json_bool(j, "additionalProperties", false);
}

void weft_schema_list(struct weft_json *j, const char *name)
{
	weft_json_open(j, name, '{');
	weft_json_string(j, "type", "array");
	weft_json_uint(j, "minItems", 1);
}

void weft_schema_one_or_list(struct weft_json *j, const char *ref)
{
	weft_json_open(j, "anyOf", '[');
	weft_schema_ref(j, NULL, ref);
	weft_schema_list(j, NULL);
	weft_schema_ref(j, "items", ref);
	weft_json_close(j, '}');
	weft_json_close(j, ']');
}

void weft_schema_choices(struct weft_json *j, const char *choices)
{
	weft_json_open(j, "enum", '[');
	for (const char *p = choices ? choices : ""; *p; p += *p == '|') {
		char word[256];
		size_t n = strcspn(p, "|");

		snprintf(word, sizeof(word), "%.*s", (int)n, p);
		weft_json_string(j, NULL, word);
		p += n;
	}
	weft_json_close(j, ']');
}

/* ---- actions ---- */

static void put_map_of_scalars(struct weft_json *j)
{
	weft_json_open(j, NULL, '{');
	weft_json_string(j, "type", "object");
	weft_json_uint(j, "minProperties", 1);
	weft_schema_ref(j, "additionalProperties", "scalar");
	weft_json_close(j, '}');
}

static void put_list_of_scalars(struct weft_json *j)
{
	weft_schema_list(j, NULL);
	weft_schema_ref(j, "items", "scalar");
	weft_json_close(j, '}');
}

/* A name, with or without SIG before it, or a number. */
static void put_signal(struct weft_json *j, const struct weft_action_field *field)
{
	char pattern[512];

	snprintf(pattern, sizeof(pattern), "^(SIG)?(%s)$", field->choices);
	weft_json_open(j, "anyOf", '[');
	weft_json_open(j, NULL, '{');
	weft_json_string(j, "type", "string");
	weft_json_string(j, "pattern", pattern);
	weft_json_close(j, '}');
	weft_json_open(j, NULL, '{');
	weft_json_string(j, "type", "integer");
	weft_json_uint(j, "minimum", 1);
	weft_json_uint(j, "maximum", 64);
	weft_json_close(j, '}');
	weft_json_close(j, ']');
}

static void put_shape(struct weft_json *j, const struct weft_action_field *field)
{
	switch (field->shape) {
	case WEFT_SHAPE_EXPR:
	case WEFT_SHAPE_NAME:
	case WEFT_SHAPE_CONSTANT:
		weft_json_string(j, "$ref", "#/$defs/scalar");
		break;
	case WEFT_SHAPE_NAMES:
	case WEFT_SHAPE_VARIABLES:
	case WEFT_SHAPE_FORMAT:
		weft_schema_one_or_list(j, "scalar");
		break;
	case WEFT_SHAPE_KEYS:
		weft_json_open(j, "anyOf", '[');
		weft_schema_ref(j, NULL, "scalar");
		put_list_of_scalars(j);
		put_map_of_scalars(j);
		weft_json_close(j, ']');
		break;
	case WEFT_SHAPE_FIELDS:
		weft_json_open(j, "anyOf", '[');
		put_list_of_scalars(j);
		put_map_of_scalars(j);
		weft_json_close(j, ']');
		break;
	case WEFT_SHAPE_ASSIGN:
		weft_json_string(j, "type", "object");
		weft_json_uint(j, "minProperties", 1);
		weft_schema_ref(j, "additionalProperties", "scalar");
		break;
	case WEFT_SHAPE_CHOICE:
		weft_schema_choices(j, field->choices);
		break;
	case WEFT_SHAPE_SIGNAL:
		put_signal(j, field);
		break;
	}
}

static const struct weft_action_field *whole_field(const struct weft_action_spec *spec)
{
	for (size_t i = 0; i < spec->n_fields; i++) {
		if (!*spec->fields[i].name)
			return &spec->fields[i];
	}
	return NULL;
}

static bool needs_value(const struct weft_action_spec *spec)
{
	for (size_t i = 0; i < spec->n_fields; i++) {
		if (spec->fields[i].required)
			return true;
	}
	return false;
}

static void put_fields(struct weft_json *j, const struct weft_action_spec *spec)
{
	weft_json_string(j, "type", "object");
	weft_json_bool(j, "additionalProperties", false);
	weft_json_open(j, "required", '[');
	for (size_t i = 0; i < spec->n_fields; i++) {
		if (spec->fields[i].required)
			weft_json_string(j, NULL, spec->fields[i].name);
	}
	weft_json_close(j, ']');
	weft_json_open(j, "properties", '{');
	for (size_t i = 0; i < spec->n_fields; i++) {
		if (!*spec->fields[i].name)
			continue;
		weft_json_open(j, spec->fields[i].name, '{');
		weft_json_string(j, "description", spec->fields[i].help);
		put_shape(j, &spec->fields[i]);
		weft_json_close(j, '}');
	}
	weft_json_close(j, '}');
}

static void put_action(struct weft_json *j, const struct weft_action_spec *spec)
{
	const struct weft_action_field *whole = whole_field(spec);
	bool whole_and_fields = whole && spec->n_fields > 1;

	weft_json_open(j, spec->name, '{');
	weft_json_string(j, "description", spec->help);
	if (!needs_value(spec)) {
		weft_json_open(j, "anyOf", '[');
		weft_json_open(j, NULL, '{');
		weft_json_string(j, "type", "null");
		weft_json_close(j, '}');
		weft_json_open(j, NULL, '{');
	}
	if (whole_and_fields) {
		weft_json_open(j, "anyOf", '[');
		weft_json_open(j, NULL, '{');
	}
	if (whole)
		put_shape(j, whole);
	if (whole_and_fields) {
		weft_json_close(j, '}');
		weft_json_open(j, NULL, '{');
	}
	if (!whole || whole_and_fields)
		put_fields(j, spec);
	if (whole_and_fields) {
		weft_json_close(j, '}');
		weft_json_close(j, ']');
	}
	if (!needs_value(spec)) {
		weft_json_close(j, '}');
		weft_json_close(j, ']');
	}
	weft_json_close(j, '}');
}

void weft_schema_actions(struct weft_json *j)
{
	weft_schema_list(j, "actions");
	weft_json_open(j, "items", '{');
	weft_json_open(j, "anyOf", '[');
	weft_schema_object(j, NULL);
	weft_json_uint(j, "minProperties", 1);
	weft_json_uint(j, "maxProperties", 1);
	weft_json_open(j, "properties", '{');
	for (size_t i = 0; i < weft_n_actions; i++)
		put_action(j, &weft_actions[i]);
	weft_json_close(j, '}');
	weft_json_close(j, '}');
	weft_json_open(j, NULL, '{');
	weft_json_open(j, "enum", '[');
	for (size_t i = 0; i < weft_n_actions; i++) {
		if (!needs_value(&weft_actions[i]))
			weft_json_string(j, NULL, weft_actions[i].name);
	}
	weft_json_close(j, ']');
	weft_json_close(j, '}');
	weft_json_close(j, ']');
	weft_json_close(j, '}');
	weft_json_close(j, '}');
}
