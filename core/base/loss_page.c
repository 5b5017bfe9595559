/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The reference page of the losses, from their table. */
#include "core/arena.h"
#include "core/loss.h"

static const char head[] =
	"<!-- Made from the table in core/base/loss.c by the target `docs`; change that. -->\n"
	"# Losses\n"
	"\n"
	"A loss is a firing, a record or a part of a value that did not reach the output. Every loss is\n"
	"counted where it happens and reported at the end of the run, under a tag that does not change; a run\n"
	"that lost anything ends with status 3. Providers may report losses under tags of their own.\n"
	"\n";
static const char asked_head[] =
	"\n"
	"## Skipped\n"
	"\n"
	"What a probe set asks to pass over is counted and reported in the same place, as skipped instead of\n"
	"lost, and does not change the status of the run.\n"
	"\n";
static const char table_head[] = "| tag | what happened | what to do |\n"
				 "| --- | --- | --- |\n";

static char *put_rows(struct weft_arena *arena, char *page, bool asked)
{
	for (size_t i = 0; i < WEFT_N_LOSSES && page; i++) {
		const struct weft_loss_spec *l = &weft_losses[i];

		if (weft_loss_is_asked_for(i) == asked)
			page = weft_arena_printf(arena, "%s| `%s` | %s | %s |\n", page, l->tag,
						 l->meaning, l->remedy ? l->remedy : "");
	}
	return page;
}

char *weft_loss_reference(struct weft_arena *arena)
{
	char *page = weft_arena_printf(arena, "%s%s", head, table_head);

	page = put_rows(arena, page, false);
	if (page)
		page = weft_arena_printf(arena, "%s%s%s", page, asked_head, table_head);
	return put_rows(arena, page, true);
}
