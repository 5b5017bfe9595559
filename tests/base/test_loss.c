/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/arena.h"
#include "core/loss.h"

static bool is_sentence(const char *s)
{
	size_t n = strlen(s);

	return n > 10 && isupper((unsigned char)s[0]) && s[n - 1] == '.';
}

Test(loss, every_row_has_a_tag_of_its_own_and_a_sentence)
{
	for (int i = 0; i < WEFT_N_LOSSES; i++) {
		const struct weft_loss_spec *l = &weft_losses[i];

		cr_assert_not_null(l->tag, "row %d", i);
		cr_expect_eq(strspn(l->tag, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"), strlen(l->tag), "%s",
			     l->tag);
		cr_assert_not_null(l->meaning, "%s", l->tag);
		cr_expect(is_sentence(l->meaning), "%s: %s", l->tag, l->meaning);
		if (l->remedy)
			cr_expect(is_sentence(l->remedy), "%s: %s", l->tag, l->remedy);
		for (int k = 0; k < i; k++)
			cr_expect_str_neq(l->tag, weft_losses[k].tag);
	}
}

/* What is full names the option that makes it larger. */
Test(loss, remedies_name_the_option)
{
	static const struct {
		enum weft_loss loss;
		const char *tag, *option;
	} rows[] = {
		{WEFT_LOSS_RECORD_BUFFER_FULL, "RECORD_BUFFER_FULL", "options.buffer"},
		{WEFT_LOSS_AGGREGATION_FULL, "AGGREGATION_FULL", "options.rows"},
		{WEFT_LOSS_STACKS_FULL, "STACKS_FULL", "options.stacks"},
		{WEFT_LOSS_STRING_TRUNCATED, "STRING_TRUNCATED", "options.strsize"},
		{WEFT_LOSS_PAIRING_DEPTH, "PAIRING_DEPTH", "options.depth"},
		{WEFT_LOSS_PAIRING_FULL, "PAIRING_FULL", "options.threads"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct weft_loss_spec *l = &weft_losses[rows[i].loss];

		cr_expect_str_eq(l->tag, rows[i].tag);
		cr_assert_not_null(l->remedy);
		cr_expect_not_null(strstr(l->remedy, rows[i].option), "%s", l->tag);
	}
}

Test(loss, the_committed_page_is_what_the_table_says)
{
	struct weft_arena *arena = weft_arena_create();
	char *page = weft_loss_reference(arena), committed[32768];
	FILE *f = fopen(WEFT_SOURCE_DIR "/docs/reference/losses.md", "r");
	size_t n;

	cr_assert_not_null(f);
	n = fread(committed, 1, sizeof(committed) - 1, f);
	committed[n] = '\0';
	fclose(f);
	cr_expect_str_eq(committed, page, "build the target docs");
	weft_arena_destroy(arena);
}
