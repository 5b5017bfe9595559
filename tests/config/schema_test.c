/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The tables in print: the JSON Schema and the reference page. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/schema.h"
#include "core/lang/actions.h"
#include "support.h"

typedef int render(const struct weft_config_provider *, size_t, char **, struct weft_error *);

static const struct weft_option_spec placement = {
	.struct_size = sizeof(placement),
	.type = WEFT_OPTION_ENUM,
	.where = WEFT_OPTION_PER_SET | WEFT_OPTION_PER_PROBE,
	.name = "placement",
	.default_text = "exact",
	.choices = "exact|cheap",
	.help = "Where a \"probe\" is put.",
};
static const struct weft_option_spec retries = {
	.struct_size = sizeof(retries),
	.type = WEFT_OPTION_INT,
	.where = WEFT_OPTION_PER_SET,
	.name = "retries",
	.help = "How often.",
	.min = -1,
	.max = 9,
};
static const struct weft_option_spec flag = {
	.struct_size = sizeof(flag),
	.type = WEFT_OPTION_BOOL,
	.where = WEFT_OPTION_PER_PROBE,
	.name = "flag",
	.help = "Whether | not.",
};
static const struct weft_option_spec *const options[] = {&placement, &retries, &flag, NULL};
static const struct weft_config_provider providers[] = {
	{"aaa", "The first.", options},
	{"bbb", NULL, NULL},
};

static char *rendered(render *page, size_t n)
{
	char *text;

	cr_assert_eq(page(n ? providers : NULL, n, &text, NULL), 0);
	return text;
}

static void expect_words(const char *text, const char *format, const char *word)
{
	char wanted[256];

	snprintf(wanted, sizeof(wanted), format, word);
	cr_expect(strstr(text, wanted), "<%s> is not in the text", wanted);
}

Test(config_schema, is_json)
{
	for (size_t n = 0; n <= 2; n++) {
		char *text = rendered(weft_config_schema, n);

		cr_expect(json_is_well_formed(text), "%zu providers:\n%s", n, text);
		free(text);
	}
}

/* The checker itself, so that is_json means something. */
Test(config_schema, json_checker)
{
	static const char *const right[] = {"{}", "[1, -2.5, \"a\\u00e9\\n\", null]",
					    " {\"a\": [true]} "};
	static const char *const wrong[] = {"",      "{",       "{\"a\"}", "[1,]", "{\"a\": 1,}",
					    "[1 2]", "{a: 1}",  "\"\\x\"", "01",   "[1] 2",
					    "tru",   "\"a\nb\""};

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		cr_expect(json_is_well_formed(right[i]), "%s", right[i]);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_expect_not(json_is_well_formed(wrong[i]), "%s", wrong[i]);
}

Test(config_schema, every_row_is_in_both)
{
	char *schema = rendered(weft_config_schema, 0);
	char *page = rendered(weft_config_reference, 0);

	for (size_t i = 0; i < weft_n_levels; i++) {
		const struct weft_level *level = weft_levels[i];

		expect_words(page, "## %s\n", level->name);
		for (size_t k = 0; k < level->n_keys; k++) {
			expect_words(schema, "\"%s\": {\n", level->keys[k].name);
			expect_words(page, "\n| `%s` | ", level->keys[k].name);
			expect_words(page, "\n%s\n", level->keys[k].example);
		}
	}
	for (size_t i = 0; i < weft_n_actions; i++) {
		const struct weft_action_spec *spec = &weft_actions[i];

		expect_words(schema, "\"%s\": {\n", spec->name);
		expect_words(page, "#### %s\n", spec->name);
		expect_words(page, "- %s\n", spec->example);
		for (size_t k = 0; k < spec->n_fields; k++) {
			expect_words(page, "%s |\n", spec->fields[k].help);
			if (*spec->fields[k].name)
				expect_words(schema, "\"%s\": {\n", spec->fields[k].name);
		}
	}
	free(schema);
	free(page);
}

/* A row is complete: whoever adds one must say what it means. */
Test(config_schema, rows_are_complete)
{
	for (size_t i = 0; i < weft_n_levels; i++) {
		for (size_t k = 0; k < weft_levels[i]->n_keys; k++) {
			const struct weft_key *key = &weft_levels[i]->keys[k];

			cr_expect(key->help && key->help[0], "%s", key->name);
			cr_expect(strncmp(key->example, key->name, strlen(key->name)) == 0, "%s",
				  key->name);
			cr_expect(key->max == 0 || key->min <= key->max, "%s", key->name);
			cr_expect_eq(!key->min_text, !key->max_text, "%s", key->name);
		}
	}
	for (size_t i = 0; i < WEFT_N_KEY_TYPES; i++) {
		cr_expect_not_null(weft_key_types[i].read);
		cr_expect_not_null(weft_key_types[i].page);
	}
}

/* The examples of a level's keys together are one map that is right. */
Test(config_schema, examples_are_right)
{
	char text[8192] = "";

	for (size_t i = 0; i < weft_level_top.n_keys; i++)
		sprintf(text + strlen(text), "%s\n", weft_level_top.keys[i].example);
	weft_set_destroy(good(text));
	for (size_t i = 0; i < weft_level_options.n_keys; i++) {
		sprintf(text, "version: 1\n" PROBES "options:\n  %s\n",
			weft_level_options.keys[i].example);
		weft_set_destroy(good(text));
	}
	sprintf(text, "version: 1\n" PROBES "target:\n");
	for (size_t i = 0; i < weft_level_target.n_keys; i++)
		sprintf(text + strlen(text), "  %s\n", weft_level_target.keys[i].example);
	weft_set_destroy(good(text));
	sprintf(text, "version: 1\nprobes: [{probe: 'a:b:c:d', do: [count: {into: n}]}]\n"
		      "aggregations:\n  n:\n");
	for (size_t i = 0; i < weft_level_view.n_keys; i++)
		sprintf(text + strlen(text), "    %s\n", weft_level_view.keys[i].example);
	weft_set_destroy(good(text));
	sprintf(text, "version: 1\nprobes:\n  - do: [show]\n    probe:\n");
	for (size_t i = 0; i < weft_level_probe.n_keys; i++)
		sprintf(text + strlen(text), "      %s\n", weft_level_probe.keys[i].example);
	weft_set_destroy(good(text));
}

Test(config_schema, options_of_providers)
{
	char *open = rendered(weft_config_schema, 0);
	char *closed = rendered(weft_config_schema, 2);
	char *page = rendered(weft_config_reference, 2);

	cr_expect_null(strstr(open, "placement"));
	expect_words(closed, "\"%s\": {\n", "aaa");
	expect_words(closed, "\"%s\": {\n", "bbb");
	expect_words(closed, "\"%s\"", "The first.");
	expect_words(closed, "\"%s\"", "cheap");
	expect_words(closed, "%s", "Where a \\\"probe\\\" is put.");
	expect_words(closed, "\"minimum\": %s,", "-1");
	expect_words(page, "### %s\n", "aaa");
	expect_words(page, "%s",
		     "| `placement` | one of exact\\|cheap | exact | `providers`, `with` |");
	expect_words(page, "%s", "| `retries` | integer, -1 to 9 |  | `providers` |");
	expect_words(page, "%s", "Whether \\| not.");
	free(open);
	free(closed);
	free(page);
}

static void expect_committed(const char *path, render *page)
{
	char *now = rendered(page, 0), *committed, full[256];

	snprintf(full, sizeof(full), "%s/%s", WEFT_SOURCE_DIR, path);
	committed = read_file(full, NULL);
	cr_expect(strcmp(now, committed) == 0,
		  "%s is not what the tables say: build the target `docs` (ninja docs) and commit "
		  "the result",
		  path);
	free(committed);
	free(now);
}

Test(config_schema, committed_pages)
{
	expect_committed("docs/probe-set.schema.json", weft_config_schema);
	expect_committed("docs/reference/probe-set.md", weft_config_reference);
}
