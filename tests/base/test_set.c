/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "core/set.h"

static struct weft_set *set_with_params(size_t n)
{
	static const char *const names[] = {"threshold_us", "path"};
	struct weft_arena *arena = weft_arena_create();
	struct weft_set *set = weft_arena_alloc(arena, sizeof(*set));

	set->arena = arena;
	set->n_params = n;
	set->params = weft_arena_array(arena, n, sizeof(*set->params));
	for (size_t i = 0; i < n; i++) {
		set->params[i].name = (struct weft_text){names[i], {3, 5}, true};
		set->params[i].value = (struct weft_text){"1000", {3, 19}, true};
		set->params[i].quoted = i == 1;
	}
	return set;
}

Test(set, destroy_frees_the_patterns_of_all_clauses)
{
	struct weft_set *set = set_with_params(0);

	set->n_clauses = 2;
	set->clauses = weft_arena_array(set->arena, 2, sizeof(*set->clauses));
	set->clauses[1].n_patterns = 2;
	set->clauses[1].patterns = weft_arena_array(set->arena, 2, sizeof(struct weft_pattern));
	for (size_t i = 0; i < 2; i++)
		cr_assert_eq(weft_pattern_parse("fbt:vmlinux:vfs_*:entry",
						&set->clauses[1].patterns[i], NULL),
			     0);
	set->n_begin = 1;
	set->begin = weft_arena_array(set->arena, 1, sizeof(*set->begin));
	weft_set_destroy(set);
	weft_set_destroy(NULL);
	/* LeakSanitizer is the judge. */
}

Test(set, param_replaces_the_value)
{
	struct weft_set *set = set_with_params(2);
	char value[] = "5000";

	cr_expect_eq(weft_set_param(set, "threshold_us", value, NULL), 0);
	value[0] = '#';
	cr_expect_str_eq(set->params[0].value.s, "5000", "it is copied");
	cr_expect_eq(set->params[0].value.pos.line, 0, "it no longer stands in the file");
	cr_expect_not(set->params[0].value.verbatim);
	cr_expect_not(set->params[0].quoted);
	cr_expect_eq(weft_set_param(set, "path", "7", NULL), 0);
	cr_expect(set->params[1].quoted, "what the file says is a string stays one");
	cr_expect_str_eq(set->params[0].value.s, "5000");
	weft_set_destroy(set);
}

Test(set, PARAM_UNKNOWN)
{
	struct weft_set *set = set_with_params(2);
	struct weft_error *err = weft_error_create();
	struct weft_report r;

	cr_expect_eq(weft_set_param(set, "treshold_us", "1", err), -ENOENT);
	cr_assert_eq(weft_error_report(err, 0, &r), 0);
	cr_expect_str_eq(r.tag, "PARAM_UNKNOWN");
	cr_expect_str_eq(r.text, "the probe set has no parameter 'treshold_us'");
	cr_expect_str_eq(r.suggestion, "threshold_us");
	cr_expect_str_eq(set->params[0].value.s, "1000");
	weft_set_destroy(set);

	weft_error_clear(err);
	set = set_with_params(0);
	cr_expect_eq(weft_set_param(set, "x", "1", err), -ENOENT);
	cr_expect_str_eq(weft_error_tag(err), "PARAM_UNKNOWN");
	cr_expect_not_null(strstr(weft_error_text(err), "none at all"));
	weft_set_destroy(set);
	weft_error_destroy(err);
}
