/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The tables as a page of Markdown. */
#include <inttypes.h>
#include <string.h>

#include "config/config.h"
#include "config/out.h"
#include "config/schema.h"
#include "core/base/option.h"
#include "core/lang/actions.h"

/* A cell of a table: a | would end it. */
static void put_cell(struct weft_out *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '|')
			weft_out_text(out, "\\", 1);
		weft_out_text(out, s, 1);
	}
}

/* "a|b" as " `a`, `b`". */
static void put_choices(struct weft_out *out, const char *choices)
{
	for (const char *p = choices ? choices : ""; *p; p += *p == '|') {
		int n = (int)strcspn(p, "|");

		weft_out_printf(out, "%s`%.*s`", p == choices ? " " : ", ", n, p);
		p += n;
	}
}

/* ---- levels ---- */

static void put_range(struct weft_out *out, const struct weft_key *key)
{
	if (key->max == 0)
		return;
	weft_out_printf(out, ", %s", key->zero ? "0 or " : "");
	if (key->min_text)
		weft_out_printf(out, "%s to %s", key->min_text, key->max_text);
	else
		weft_out_printf(out, "%" PRIu64 " to %" PRIu64, key->min, key->max);
	if (key->power_of_two)
		weft_out_printf(out, ", a power of two");
}

static void put_key_row(struct weft_out *out, const struct weft_key *key)
{
	weft_out_printf(out, "| `%s` | ", key->name);
	put_cell(out, weft_key_types[key->type].page);
	put_choices(out, key->choices);
	put_range(out, key);
	weft_out_printf(out, " | ");
	if (key->required)
		weft_out_printf(out, "required");
	else if (key->default_text)
		weft_out_printf(out, "`%s`", key->default_text);
	weft_out_printf(out, " | ");
	put_cell(out, key->help);
	weft_out_printf(out, " |\n");
}

static void put_one_of(struct weft_out *out, const struct weft_level *level)
{
	size_t n = 0;

	for (size_t i = 0; i < level->n_keys; i++) {
		if (level->keys[i].one_of)
			weft_out_printf(out, "%s`%s`", n++ ? ", " : "At least one is needed of ",
					level->keys[i].name);
	}
	if (n)
		weft_out_printf(out, ".\n\n");
}

static void put_level(struct weft_out *out, const struct weft_level *level)
{
	weft_out_printf(out, "## %s\n\n%s\n\n", level->name, level->help);
	put_one_of(out, level);
	weft_out_printf(out, "| key | takes | default | meaning |\n| --- | --- | --- | --- |\n");
	for (size_t i = 0; i < level->n_keys; i++)
		put_key_row(out, &level->keys[i]);
	weft_out_printf(out, "\n```yaml\n");
	for (size_t i = 0; i < level->n_keys; i++)
		weft_out_printf(out, "%s\n", level->keys[i].example);
	weft_out_printf(out, "```\n\n");
}

/* ---- actions ---- */

static const char *const shape_words[] = {
	[WEFT_SHAPE_EXPR] = "expression",
	[WEFT_SHAPE_NAME] = "name",
	[WEFT_SHAPE_NAMES] = "name, or list of names",
	[WEFT_SHAPE_KEYS] = "expression, list of expressions, or map: name -> expression",
	[WEFT_SHAPE_FIELDS] = "map: name -> expression, or list of expressions",
	[WEFT_SHAPE_FORMAT] = "format, or list of a format and expressions",
	[WEFT_SHAPE_CHOICE] = "one of",
	[WEFT_SHAPE_CONSTANT] = "constant expression",
	[WEFT_SHAPE_SIGNAL] = "number, or one of",
	[WEFT_SHAPE_ASSIGN] = "map: variable -> expression",
	[WEFT_SHAPE_VARIABLES] = "variable, or list of variables",
};

static const char *const group_words[] = {
	[WEFT_GROUP_AGGREGATION] = "Aggregations",
	[WEFT_GROUP_RECORD] = "Records",
	[WEFT_GROUP_CONTROL] = "Control",
	[WEFT_GROUP_DESTRUCTIVE] = "Destructive",
	[WEFT_GROUP_STATE] = "State",
};
#define N_GROUPS (sizeof(group_words) / sizeof(group_words[0]))

static void put_field_row(struct weft_out *out, const struct weft_action_field *field)
{
	if (*field->name)
		weft_out_printf(out, "| `%s` | ", field->name);
	else
		weft_out_printf(out, "| (its value) | ");
	put_cell(out, shape_words[field->shape]);
	put_choices(out, field->choices);
	weft_out_printf(out, " | %s | ", field->required ? "required" : "");
	put_cell(out, field->help);
	weft_out_printf(out, " |\n");
}

static void put_action(struct weft_out *out, const struct weft_action_spec *spec)
{
	weft_out_printf(out, "#### %s\n\n%s\n\n```yaml\n- %s\n```\n\n", spec->name, spec->help,
			spec->example);
	if (spec->n_fields == 0)
		return;
	weft_out_printf(out, "| field | takes | | meaning |\n| --- | --- | --- | --- |\n");
	for (size_t i = 0; i < spec->n_fields; i++)
		put_field_row(out, &spec->fields[i]);
	weft_out_printf(out, "\n");
}

static void put_actions(struct weft_out *out)
{
	weft_out_printf(out,
			"## Actions\n\n"
			"`do`, `begin` and `end` are lists of actions. An entry is a map of one "
			"key, the action's name; where no field is required the bare name will "
			"do (`- show`).\n\n");
	for (size_t g = 0; g < N_GROUPS; g++) {
		weft_out_printf(out, "### %s\n\n", group_words[g]);
		for (size_t i = 0; i < weft_n_actions; i++) {
			if (weft_actions[i].group == g)
				put_action(out, &weft_actions[i]);
		}
	}
}

/* ---- providers ---- */

static const char *const option_words[] = {
	[WEFT_OPTION_BOOL] = "`true` or `false`",
	[WEFT_OPTION_INT] = "integer",
	[WEFT_OPTION_STRING] = "text",
	[WEFT_OPTION_ENUM] = "one of",
	[WEFT_OPTION_DURATION] = "duration",
	[WEFT_OPTION_SIZE] = "size",
};
#define N_OPTION_WORDS (sizeof(option_words) / sizeof(option_words[0]))

static void put_option_row(struct weft_out *out, const struct weft_option_spec *spec)
{
	struct weft_option_spec o;

	weft_option_read(spec, &o);
	weft_out_printf(out, "| `%s` | %s", o.name,
			o.type < N_OPTION_WORDS && option_words[o.type] ? option_words[o.type]
									: "text");
	if (o.type == WEFT_OPTION_ENUM && o.choices) {
		weft_out_printf(out, " ");
		put_cell(out, o.choices);
	}
	if (o.min || o.max)
		weft_out_printf(out, ", %" PRId64 " to %" PRId64, o.min, o.max);
	weft_out_printf(out, " | %s | %s%s%s | ", o.default_text ? o.default_text : "",
			o.where & WEFT_OPTION_PER_SET ? "`providers`" : "",
			(o.where & 3) == 3 ? ", " : "",
			o.where & WEFT_OPTION_PER_PROBE ? "`with`" : "");
	put_cell(out, o.help ? o.help : "");
	weft_out_printf(out, " |\n");
}

static void put_provider(struct weft_out *out, const struct weft_config_provider *p)
{
	weft_out_printf(out, "### %s\n\n%s\n\n", p->name, p->summary ? p->summary : "");
	if (!p->options || !p->options[0])
		return;
	weft_out_printf(out, "| option | takes | default | where | meaning |\n"
			     "| --- | --- | --- | --- | --- |\n");
	for (size_t i = 0; p->options[i]; i++)
		put_option_row(out, p->options[i]);
	weft_out_printf(out, "\n");
}

/* ---- the page ---- */

static const char intro[] =
	"<!-- Generated from the tables of config/schema.c and core/lang/actions.c. -->\n"
	"# The format of probe sets\n\n"
	"A probe set is a YAML file. This page lists every key and every action; "
	"`trace-cli schema` prints the same as JSON Schema.\n\n";

static const char rules[] =
	"## Values\n\n"
	"- **Integers** are decimal, or hexadecimal after `0x`. A leading zero is refused, because "
	"YAML readers differ on whether it means octal.\n"
	"- **Durations** are digits and a unit: `ns`, `us`, `ms`, `s`, `m`, `h`, `d`.\n"
	"- **Rates** are decimal digits, `/` and `ms`, `s` or `m`: `1000/s`.\n"
	"- **Sizes** are digits and nothing, or `k`, `m`, `g`: powers of 1024.\n"
	"- **Booleans** are `true` and `false` alone.\n"
	"- **Expressions** are texts. YAML needs quotes around one that contains `: ` or ` #`, that "
	"begins with `!`, `&`, `*`, `[`, `{`, `%%`, `@`, `\"` or `'`, and, inside `{ }` and `[ ]`, around "
	"one that contains a comma or a bracket `[ ] { }`: `{a: \"f(x, y)\"}`.\n\n"
	"## Limits\n\n"
	"A file has at most %u bytes, %u keys, values and collections, and %u collections inside each "
	"other. Anchors, aliases, tags and further documents are refused. A key may be given once. Up "
	"to %u errors are reported at a time.\n";

int weft_config_reference(const struct weft_config_provider *providers, size_t n, char **text,
			  struct weft_error *err)
{
	struct weft_out out = {.s = NULL};

	weft_out_text(&out, intro, sizeof(intro) - 1);
	for (size_t i = 0; i < weft_n_levels; i++)
		put_level(&out, weft_levels[i]);
	put_actions(&out);
	if (n > 0)
		weft_out_printf(&out, "## Options of providers\n\n");
	for (size_t i = 0; i < n; i++)
		put_provider(&out, &providers[i]);
	weft_out_printf(&out, rules, WEFT_CONFIG_MAX_SIZE, WEFT_CONFIG_MAX_NODES,
			WEFT_CONFIG_MAX_DEPTH, WEFT_CONFIG_MAX_ERRORS);
	return weft_out_move(&out, text) ? weft_nomem(err) : 0;
}
