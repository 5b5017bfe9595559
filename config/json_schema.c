/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The tables as JSON Schema (draft 2020-12), for editors. It says what JSON Schema can say: the keys,
 * the shapes, the ranges of integers. Units, powers of two and expressions are the loader's to check.
 *
 * A scalar may come in as a string, a number or a boolean (`when: 1`, `params: {n: 10}`), so where the
 * loader keeps a text all three are allowed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/json_schema.h"
#include "config/schema.h"
#include "core/base/option.h"

struct schema {
	struct weft_json j;
	const struct weft_config_provider *providers;
	size_t n_providers;
};

/* ---- types: the members of an object that describes one value ---- */

static void put_level(struct schema *s, const struct weft_level *level);
static void put_providers(struct schema *s);
static void put_with(struct schema *s);

static void put_integer(struct weft_json *j, const struct weft_key *key)
{
	weft_json_string(j, "type", "integer");
	if (key->max == 0)
		return;
	weft_json_uint(j, "minimum", key->min);
	weft_json_uint(j, "maximum", key->max);
}

#define DURATION "^[0-9]+(ns|us|ms|s|m|h|d)$"
#define SIZE     "^(0x[0-9a-fA-F]+|[0-9]+)[kKmMgG]?$"

static void put_pattern(struct weft_json *j, const char *name, const char *pattern)
{
	weft_json_open(j, name, '{');
	weft_json_string(j, "type", "string");
	weft_json_string(j, "pattern", pattern);
	weft_json_close(j, '}');
}

/* Only zero may go without a unit. */
static void put_duration(struct weft_json *j)
{
	weft_json_open(j, "anyOf", '[');
	weft_json_open(j, NULL, '{');
	weft_json_uint(j, "const", 0);
	weft_json_close(j, '}');
	put_pattern(j, NULL, DURATION);
	weft_json_close(j, ']');
}

static void put_size(struct weft_json *j)
{
	weft_json_open(j, "anyOf", '[');
	weft_json_open(j, NULL, '{');
	weft_json_string(j, "type", "integer");
	weft_json_close(j, '}');
	put_pattern(j, NULL, SIZE);
	weft_json_close(j, ']');
}

static void put_pids(struct weft_json *j, const struct weft_key *key)
{
	weft_json_open(j, "anyOf", '[');
	weft_json_open(j, NULL, '{');
	put_integer(j, key);
	weft_json_close(j, '}');
	weft_schema_list(j, NULL);
	weft_json_open(j, "items", '{');
	put_integer(j, key);
	weft_json_close(j, '}');
	weft_json_close(j, '}');
	weft_json_close(j, ']');
}

static void put_type(struct schema *s, const struct weft_key *key)
{
	struct weft_json *j = &s->j;

	switch (key->type) {
	case WEFT_KEY_VERSION:
		weft_json_uint(j, "const", WEFT_CONFIG_VERSION);
		break;
	case WEFT_KEY_TEXT:
	case WEFT_KEY_FIELD:
	case WEFT_KEY_EXPR:
		weft_json_string(j, "$ref", "#/$defs/scalar");
		break;
	case WEFT_KEY_BOOL:
		weft_json_string(j, "type", "boolean");
		break;
	case WEFT_KEY_INT:
		put_integer(j, key);
		break;
	case WEFT_KEY_DURATION:
		put_duration(j);
		break;
	case WEFT_KEY_SIZE:
		put_size(j);
		break;
	case WEFT_KEY_RATE:
		weft_json_string(j, "type", "string");
		weft_json_string(j, "pattern", "^[1-9][0-9]*/(ms|s|m)$");
		break;
	case WEFT_KEY_CHOICE:
		weft_schema_choices(j, key->choices);
		break;
	case WEFT_KEY_VIEWS:
		weft_json_string(j, "type", "object");
		weft_json_open(j, "additionalProperties", '{');
		put_level(s, key->level);
		weft_json_close(j, '}');
		break;
	case WEFT_KEY_LEVEL:
		put_level(s, key->level);
		break;
	case WEFT_KEY_COMMAND:
		weft_schema_one_or_list(j, "scalar");
		break;
	case WEFT_KEY_PIDS:
		put_pids(j, key);
		break;
	case WEFT_KEY_PARAMS:
		weft_json_string(j, "type", "object");
		weft_json_open(j, "propertyNames", '{');
		weft_json_string(j, "pattern", "^[A-Za-z_][A-Za-z0-9_]*$");
		weft_json_close(j, '}');
		weft_schema_ref(j, "additionalProperties", "scalar");
		break;
	case WEFT_KEY_PROVIDERS:
		put_providers(s);
		break;
	case WEFT_KEY_PROBES:
		weft_json_string(j, "type", "array");
		weft_json_uint(j, "minItems", 1);
		weft_schema_ref(j, "items", "clause");
		break;
	case WEFT_KEY_BEGIN:
	case WEFT_KEY_END:
	case WEFT_KEY_ACTIONS:
		weft_json_string(j, "$ref", "#/$defs/actions");
		break;
	case WEFT_KEY_PATTERNS:
		weft_schema_one_or_list(j, "probe");
		break;
	case WEFT_KEY_SETTINGS:
		put_with(s);
		break;
	case WEFT_N_KEY_TYPES:
		break;
	}
}

/* ---- levels ---- */

static void put_required(struct weft_json *j, const struct weft_level *level)
{
	bool any = false;

	weft_json_open(j, "required", '[');
	for (size_t i = 0; i < level->n_keys; i++) {
		any |= level->keys[i].one_of;
		if (level->keys[i].required)
			weft_json_string(j, NULL, level->keys[i].name);
	}
	weft_json_close(j, ']');
	if (!any)
		return;
	weft_json_open(j, "anyOf", '[');
	for (size_t i = 0; i < level->n_keys; i++) {
		if (!level->keys[i].one_of)
			continue;
		weft_json_open(j, NULL, '{');
		weft_json_open(j, "required", '[');
		weft_json_string(j, NULL, level->keys[i].name);
		weft_json_close(j, ']');
		weft_json_close(j, '}');
	}
	weft_json_close(j, ']');
}

static void put_default(struct weft_json *j, const struct weft_key *key)
{
	if (!key->default_text)
		return;
	if (key->type == WEFT_KEY_INT)
		weft_json_int(j, "default", atoll(key->default_text));
	else if (key->type == WEFT_KEY_BOOL)
		weft_json_bool(j, "default", strcmp(key->default_text, "true") == 0);
	else
		weft_json_string(j, "default", key->default_text);
}

static void put_level(struct schema *s, const struct weft_level *level)
{
	struct weft_json *j = &s->j;

	weft_json_string(j, "type", "object");
	weft_json_bool(j, "additionalProperties", false);
	put_required(j, level);
	weft_json_open(j, "properties", '{');
	for (size_t i = 0; i < level->n_keys; i++) {
		const struct weft_key *key = &level->keys[i];

		weft_json_open(j, key->name, '{');
		weft_json_string(j, "description", key->help);
		put_type(s, key);
		put_default(j, key);
		weft_json_close(j, '}');
	}
	weft_json_close(j, '}');
}

/* ---- providers' options ---- */

static void put_option_type(struct weft_json *j, const struct weft_option_spec *o)
{
	switch (o->type) {
	case WEFT_OPTION_BOOL:
		weft_json_string(j, "type", "boolean");
		break;
	case WEFT_OPTION_INT:
		weft_json_string(j, "type", "integer");
		if (o->min == 0 && o->max == 0)
			break;
		weft_json_int(j, "minimum", o->min);
		weft_json_int(j, "maximum", o->max);
		break;
	case WEFT_OPTION_ENUM:
		weft_schema_choices(j, o->choices);
		break;
	case WEFT_OPTION_DURATION:
		put_duration(j);
		break;
	case WEFT_OPTION_SIZE:
		put_size(j);
		break;
	default:
		weft_json_string(j, "$ref", "#/$defs/scalar");
		break;
	}
}

static void put_options(struct weft_json *j, const struct weft_config_provider *p, uint32_t where)
{
	for (size_t i = 0; p->options && p->options[i]; i++) {
		struct weft_option_spec o;

		weft_option_read(p->options[i], &o);
		if (!(o.where & where))
			continue;
		weft_json_open(j, o.name, '{');
		if (o.help)
			weft_json_string(j, "description", o.help);
		put_option_type(j, &o);
		if (o.default_text)
			weft_json_string(j, "default", o.default_text);
		weft_json_close(j, '}');
	}
}

static void put_providers(struct schema *s)
{
	struct weft_json *j = &s->j;

	weft_json_string(j, "type", "object");
	if (s->n_providers == 0) {
		weft_schema_ref(j, "additionalProperties", "settings");
		return;
	}
	weft_json_bool(j, "additionalProperties", false);
	weft_json_open(j, "properties", '{');
	for (size_t i = 0; i < s->n_providers; i++) {
		const struct weft_config_provider *p = &s->providers[i];

		weft_schema_object(j, p->name);
		if (p->summary)
			weft_json_string(j, "description", p->summary);
		weft_json_open(j, "properties", '{');
		put_options(j, p, WEFT_OPTION_PER_SET);
		weft_json_close(j, '}');
		weft_json_close(j, '}');
	}
	weft_json_close(j, '}');
}

/* Which provider a clause's probes belong to is not a schema's to tell: one of them must do. */
static void put_with(struct schema *s)
{
	struct weft_json *j = &s->j;

	if (s->n_providers == 0) {
		weft_json_string(j, "$ref", "#/$defs/settings");
		return;
	}
	weft_json_open(j, "anyOf", '[');
	for (size_t i = 0; i < s->n_providers; i++) {
		weft_schema_object(j, NULL);
		weft_json_open(j, "properties", '{');
		put_options(j, &s->providers[i], WEFT_OPTION_PER_PROBE);
		weft_json_close(j, '}');
		weft_json_close(j, '}');
	}
	weft_json_close(j, ']');
}

/* ---- the whole ---- */

static void put_definitions(struct schema *s)
{
	struct weft_json *j = &s->j;

	weft_json_open(j, "$defs", '{');
	weft_json_open(j, "scalar", '{');
	weft_json_open(j, "type", '[');
	weft_json_string(j, NULL, "string");
	weft_json_string(j, NULL, "number");
	weft_json_string(j, NULL, "boolean");
	weft_json_close(j, ']');
	weft_json_close(j, '}');
	weft_json_open(j, "settings", '{');
	weft_json_string(j, "type", "object");
	weft_schema_ref(j, "additionalProperties", "scalar");
	weft_json_close(j, '}');
	weft_json_open(j, "probe", '{');
	weft_json_open(j, "anyOf", '[');
	put_pattern(j, NULL, "^[^:]*:[^:]*:.*:[^:]*$");
	weft_json_open(j, NULL, '{');
	put_level(s, &weft_level_probe);
	weft_json_close(j, '}');
	weft_json_close(j, ']');
	weft_json_close(j, '}');
	weft_json_open(j, "clause", '{');
	put_level(s, &weft_level_clause);
	weft_json_close(j, '}');
	weft_schema_actions(j);
	weft_json_close(j, '}');
}

int weft_config_schema(const struct weft_config_provider *providers, size_t n, char **text,
		       struct weft_error *err)
{
	struct weft_out out = {.s = NULL};
	struct schema s = {
		.j = {.out = &out, .first = true},
		.providers = providers,
		.n_providers = n,
	};

	weft_json_open(&s.j, NULL, '{');
	weft_json_string(&s.j, "$schema", "https://json-schema.org/draft/2020-12/schema");
	weft_json_string(&s.j, "title", "weft probe set");
	put_level(&s, &weft_level_top);
	put_definitions(&s);
	weft_json_close(&s.j, '}');
	return weft_out_move(&out, text) ? weft_nomem(err) : 0;
}
