/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "core/error.h"

Test(error, starts_empty)
{
	struct weft_error *err = weft_error_create();
	struct weft_report r;

	cr_assert_not_null(err);
	cr_expect_eq(weft_error_count(err), 0);
	cr_expect_str_eq(weft_error_tag(err), "");
	cr_expect_str_eq(weft_error_text(err), "");
	cr_expect_eq(weft_error_code(err), 0);
	cr_expect_eq(weft_error_report(err, 0, &r), -ENOENT);
	cr_expect_null(weft_error_context_text(err, 0, 0));
	weft_error_destroy(err);
}

Test(error, a_report_has_all_that_it_was_given)
{
	struct weft_error *err = weft_error_create();
	struct weft_report r;

	cr_expect_eq(weft_fail_at(err, (struct weft_pos){12, 9}, -EINVAL, "A_TAG", "no '%s' in %d",
				  "x", 7),
		     -EINVAL);
	weft_error_context(err, "compiling clause %d", 3);
	weft_error_context(err, "preparing the set");
	weft_error_suggest(err, "first");
	weft_error_suggest(err, "second");
	weft_error_suggest(err, NULL);
	weft_error_set_file(err, "set.yaml");
	weft_error_set_file(err, "other.yaml");
	weft_error_set_pos(err, (struct weft_pos){1, 1});

	cr_assert_eq(weft_error_report(err, 0, &r), 0);
	cr_expect_str_eq(r.tag, "A_TAG");
	cr_expect_eq(r.code, -EINVAL);
	cr_expect_str_eq(r.text, "no 'x' in 7");
	cr_expect_str_eq(r.file, "set.yaml", "the first file given stays");
	cr_expect_eq(r.pos.line, 12, "a position that is set stays");
	cr_expect_eq(r.pos.column, 9);
	cr_expect_str_eq(r.suggestion, "second", "the last suggestion counts, NULL is none");
	cr_assert_eq(r.n_contexts, 2);
	cr_expect_str_eq(weft_error_context_text(err, 0, 0), "compiling clause 3");
	cr_expect_str_eq(weft_error_context_text(err, 0, 1), "preparing the set");
	cr_expect_null(weft_error_context_text(err, 0, 2));
	weft_error_destroy(err);
}

Test(error, additions_go_to_the_newest_report)
{
	struct weft_error *err = weft_error_create();
	struct weft_report first, second;

	weft_error_context(err, "dropped: nothing to add to");
	weft_error_suggest(err, "dropped");
	weft_error_set_pos(err, (struct weft_pos){5, 5});
	weft_fail(err, -EIO, "ONE", "one");
	weft_error_set_file(err, "a");
	weft_fail(err, -EPERM, "TWO", "two");
	weft_error_context(err, "of two");
	weft_error_set_pos(err, (struct weft_pos){3, 4});
	weft_error_set_file(err, "b");

	cr_assert_eq(weft_error_count(err), 2);
	cr_assert_eq(weft_error_report(err, 0, &first), 0);
	cr_assert_eq(weft_error_report(err, 1, &second), 0);
	cr_expect_eq(first.n_contexts, 0);
	cr_expect_eq(first.pos.line, 0);
	cr_expect_null(first.suggestion);
	cr_expect_str_eq(first.file, "a");
	cr_expect_str_eq(second.file, "b");
	cr_expect_eq(second.pos.line, 3);
	cr_expect_str_eq(weft_error_context_text(err, 1, 0), "of two");
	cr_expect_str_eq(weft_error_tag(err), "ONE", "the shorthands tell of the first");
	cr_expect_eq(weft_error_code(err), -EIO);
	weft_error_destroy(err);
}

Test(error, takes_many_reports_and_contexts)
{
	struct weft_error *err = weft_error_create();
	struct weft_report r;

	for (int i = 0; i < 100; i++) {
		weft_fail(err, -i - 1, "MANY", "report %d", i);
		for (int k = 0; k < i; k++)
			weft_error_context(err, "%d of %d", k, i);
	}
	cr_assert_eq(weft_error_count(err), 100);
	cr_assert_eq(weft_error_report(err, 57, &r), 0);
	cr_expect_str_eq(r.text, "report 57");
	cr_expect_eq(r.code, -58);
	cr_expect_eq(r.n_contexts, 57);
	cr_expect_str_eq(weft_error_context_text(err, 57, 56), "56 of 57");
	weft_error_destroy(err);
}

Test(error, clear_forgets_and_can_be_used_again)
{
	struct weft_error *err = weft_error_create();

	weft_fail(err, -EIO, "OLD", "old");
	weft_error_context(err, "old");
	weft_error_clear(err);
	cr_expect_eq(weft_error_count(err), 0);
	weft_error_context(err, "nothing to add to");
	weft_fail(err, -EPERM, "NEW", "new");
	cr_expect_str_eq(weft_error_tag(err), "NEW");
	weft_error_destroy(err);
}

Test(error, truncate_keeps_the_first)
{
	struct weft_error *err = weft_error_create();

	weft_fail(err, -EIO, "ONE", "one");
	weft_fail(err, -EIO, "TWO", "two");
	weft_error_context(err, "of two");
	weft_error_truncate(err, 5);
	cr_expect_eq(weft_error_count(err), 2);
	weft_error_truncate(err, 1);
	cr_expect_eq(weft_error_count(err), 1);
	weft_error_context(err, "of one");
	cr_expect_str_eq(weft_error_context_text(err, 0, 0), "of one");
	weft_error_truncate(NULL, 0);
	weft_error_destroy(err);
}

Test(error, NO_MEMORY)
{
	struct weft_error *err = weft_error_create();

	cr_expect_eq(weft_nomem(err), -ENOMEM);
	cr_expect_str_eq(weft_error_tag(err), "NO_MEMORY");
	cr_expect_str_eq(weft_error_text(err), "out of memory");
	cr_expect_eq(weft_error_code(err), -ENOMEM);
	weft_error_destroy(err);
}

Test(error, null_is_accepted_everywhere)
{
	struct weft_report r;

	cr_expect_eq(weft_fail(NULL, -EIO, "X", "%s", "x"), -EIO);
	cr_expect_eq(weft_fail_at(NULL, (struct weft_pos){1, 1}, -EPERM, "X", "x"), -EPERM);
	cr_expect_eq(weft_nomem(NULL), -ENOMEM);
	weft_error_context(NULL, "x");
	weft_error_suggest(NULL, "x");
	weft_error_set_file(NULL, "x");
	weft_error_set_pos(NULL, (struct weft_pos){1, 1});
	cr_expect_eq(weft_error_count(NULL), 0);
	cr_expect_eq(weft_error_report(NULL, 0, &r), -ENOENT);
	cr_expect_null(weft_error_context_text(NULL, 0, 0));
	cr_expect_str_eq(weft_error_tag(NULL), "");
	weft_error_clear(NULL);
	weft_error_destroy(NULL);
}

Test(error, reports_are_sorted_by_their_places)
{
	static const struct weft_pos places[] = {{9, 1}, {3, 7}, {3, 2}, {0, 0}, {2, 1}, {1, 5}};
	static const uint32_t columns[] = {2, 7, 1, 0, 5, 1};
	struct weft_error *err = weft_error_create();
	struct weft_report r;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		weft_fail_at(err, places[i], -EINVAL, "A_TAG", "number %zu", i);
	weft_error_sort(err);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		cr_assert_eq(weft_error_report(err, i, &r), 0);
		cr_expect_eq(r.pos.column, columns[i], "%zu: %u", i, r.pos.column);
	}
	weft_error_destroy(err);
	weft_error_sort(NULL);
}
