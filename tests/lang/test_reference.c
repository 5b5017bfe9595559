/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The committed reference page is what the tables say. The target `docs` writes it anew. */
#include <stdio.h>
#include <stdlib.h>

#include "core/lang/ops.h"
#include "rig.h"

#define PAGE WEFT_SOURCE_DIR "/docs/reference/language.md"

static struct rig r;

static void init(void)
{
	rig_init(&r);
}

static void finish(void)
{
	rig_finish(&r);
}

TestSuite(lang_reference, .init = init, .fini = finish);

static char *read_page(void)
{
	char *text = weft_arena_alloc(r.arena, 1 << 20);
	FILE *f = fopen(PAGE, "r");

	cr_assert(f && text, "%s", PAGE);
	text[fread(text, 1, (1 << 20) - 1, f)] = '\0';
	fclose(f);
	return text;
}

Test(lang_reference, page_is_made_from_the_tables)
{
	char *page = weft_lang_reference(r.arena);

	cr_assert(page);
	cr_expect(!strcmp(page, read_page()), "%s is out of date: build the target docs", PAGE);
}

Test(lang_reference, everything_is_in_it)
{
	char *page = weft_lang_reference(r.arena), buf[64];

	cr_assert(page);
	for (size_t i = 0; i < weft_n_vars; i++) {
		snprintf(buf, sizeof(buf), "| `%s` |", weft_vars[i].name);
		cr_expect(strstr(page, buf), "%s", buf);
	}
	for (size_t i = 0; i < weft_n_actions; i++) {
		snprintf(buf, sizeof(buf), "\n### %s\n", weft_actions[i].name);
		cr_expect(strstr(page, buf), "%s", buf);
	}
	cr_expect(strstr(page, "`\\|\\|`") && strstr(page, "`>>`"));
}

/* The tables themselves: each row in its place, each with words. */
Test(lang_reference, tables)
{
	for (size_t i = 0; i < weft_n_ops; i++)
		cr_expect(weft_ops[i].op == i && weft_ops[i].text && weft_ops[i].help, "%zu", i);
	for (size_t i = 0; i < weft_n_vars; i++)
		cr_expect(weft_vars[i].id == i && weft_vars[i].help, "%zu", i);
	for (size_t i = 0; i < weft_n_actions; i++) {
		const struct weft_action_spec *a = &weft_actions[i];

		cr_expect(a->kind == i && a->help && a->example && a->n_fields, "%zu", i);
		cr_expect(weft_action_find(a->name) == a);
		for (size_t k = 0; k < a->n_fields; k++)
			cr_expect((a->fields[k].shape == WEFT_SHAPE_CHOICE ||
				   a->fields[k].shape == WEFT_SHAPE_SIGNAL) ==
					  (a->fields[k].choices != NULL) &&
				  a->fields[k].help);
	}
	cr_expect(!weft_action_find("cuont"));
}
