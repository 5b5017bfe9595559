/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes the pages that are made from tables into a docs folder. Run by the target `docs`; tests
 * compare the committed pages with the tables. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "config/config.h"
#include "core/lang/lang.h"
#include "core/loss.h"

static int schema(struct weft_arena *arena, char **out)
{
	(void)arena;
	return weft_config_schema(NULL, 0, out, NULL);
}

static int probe_set(struct weft_arena *arena, char **out)
{
	(void)arena;
	return weft_config_reference(NULL, 0, out, NULL);
}

static int language(struct weft_arena *arena, char **out)
{
	char *page = weft_lang_reference(arena);

	*out = page ? strdup(page) : NULL;
	return *out ? 0 : -1;
}

static int losses(struct weft_arena *arena, char **out)
{
	char *page = weft_loss_reference(arena);

	*out = page ? strdup(page) : NULL;
	return *out ? 0 : -1;
}

static int commands(struct weft_arena *arena, char **out)
{
	(void)arena;
	return cli_reference(out);
}

static const struct {
	const char *path;
	int (*make)(struct weft_arena *arena, char **out);
} pages[] = {
	{"probe-set.schema.json", schema},    {"reference/probe-set.md", probe_set},
	{"reference/language.md", language},  {"reference/losses.md", losses},
	{"reference/trace-cli.md", commands},
};

static int write_page(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	int bad;

	if (!f)
		return -1;
	bad = fputs(text, f) < 0;
	bad |= fclose(f) != 0;
	return bad ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct weft_arena *arena = weft_arena_create();
	char path[PATH_MAX], *text;
	size_t i;

	if (argc != 2 || !arena) {
		fprintf(stderr, "usage: docs-gen DOCS_FOLDER\n");
		return 2;
	}
	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		int bad;

		snprintf(path, sizeof(path), "%s/%s", argv[1], pages[i].path);
		bad = pages[i].make(arena, &text);
		if (!bad) {
			bad = write_page(path, text);
			free(text);
		}
		if (bad) {
			perror(path);
			return 1;
		}
	}
	weft_arena_destroy(arena);
	return 0;
}
