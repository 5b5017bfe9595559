/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A story of what the library can do is told again and again, and each time one more allocation
 * succeeds before one fails. A story must end in success or in -ENOMEM, leak nothing (LeakSanitizer
 * is the judge) and leave what it works on usable. Calls of the library are led here by the linker.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/params.h"
#include "core/registry.h"
#include "core/set.h"
#include "support/test_failing.h"

WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t m), (n, m))
WRAP(void *, realloc, (void *p, size_t n), (p, n))
WRAP(char *, strdup, (const char *s), (s))
WRAP(char *, strndup, (const char *s, size_t n), (s, n))

int __real_vasprintf(char **s, const char *format, va_list ap);
int __wrap_vasprintf(char **s, const char *format, va_list ap) __attribute__((format(printf, 2, 0)));

int __wrap_vasprintf(char **s, const char *format, va_list ap)
{
	return fails() ? -1 : __real_vasprintf(s, format, ap);
}

/* Tells the story with every allocation failing in turn. Returns how many there are. */
static long tell(int (*story)(void))
{
	for (long n = 0;; n++) {
		int rc;

		fail_at((size_t)n + 1);
		rc = story();
		armed = false;
		if (!has_failed()) {
			cr_assert_eq(rc, 0, "with all memory: %d", rc);
			return n;
		}
		cr_assert(rc == 0 || rc == -ENOMEM, "allocation %ld failed: %d", n, rc);
	}
}

static int error_story(void)
{
	struct weft_error *err = weft_error_create();
	struct weft_report r;

	for (int i = 0; i < 9; i++) {
		weft_fail(err, -EINVAL, "TAG", "report %d", i);
		weft_error_suggest(err, "this");
		weft_error_suggest(err, "that");
		weft_error_context(err, "context %d", i);
	}
	weft_error_set_file(err, "file");
	weft_nomem(err);
	for (size_t i = 0; weft_error_report(err, i, &r) == 0; i++) {
		int number;

		cr_assert_not_null(r.tag);
		cr_assert_not_null(r.text);
		/* Where a sentence and its context are both there, they belong together. */
		if (sscanf(r.text, "report %d", &number) == 1 && r.n_contexts > 0) {
			char context[32];

			snprintf(context, sizeof(context), "context %d", number);
			cr_assert_str_eq(weft_error_context_text(err, i, 0), context);
			cr_assert_eq(r.n_contexts, 1);
		}
	}
	weft_error_destroy(err);
	return 0;
}

Test(nomem, errors)
{
	cr_expect_gt(tell(error_story), 30);
}

static int arena_story(void)
{
	struct weft_arena *arena = weft_arena_create();
	int rc = 0;

	if (!arena)
		return -ENOMEM;
	for (size_t i = 0; i < 20 && rc == 0; i++) {
		if (!weft_arena_alloc(arena, i * 700) || !weft_arena_printf(arena, "%zu", i) ||
		    !weft_arena_strdup(arena, "text") || !weft_arena_memdup(arena, "text", 4))
			rc = -ENOMEM;
	}
	if (rc)
		cr_assert_not_null(weft_arena_alloc(arena, 100), "it goes on");
	weft_arena_destroy(arena);
	return rc;
}

Test(nomem, arenas)
{
	cr_expect_gt(tell(arena_story), 5);
}

static int pattern_story(void)
{
	struct weft_error *err = weft_error_create();
	struct weft_probe_desc d;
	struct weft_pattern p;
	char *storage = NULL;
	int rc;

	rc = weft_pattern_parse("uprobe:/bin/x:a::b:entry", &p, err);
	if (rc == 0)
		rc = weft_pattern_literal(&p, &d, &storage);
	free(storage);
	weft_pattern_finish(&p);
	weft_error_destroy(err);
	return rc;
}

Test(nomem, patterns)
{
	cr_expect_geq(tell(pattern_story), 7);
}

static int add_some(struct weft_registry *h, unsigned int n, struct weft_error *err)
{
	for (unsigned int i = 0; i < n; i++) {
		struct weft_probe_desc d = {.struct_size = sizeof(d), .name = "entry"};
		const struct weft_probe *p = NULL;
		char function[32];
		int rc;

		snprintf(function, sizeof(function), "function_%u", i);
		d.function = function;
		rc = weft_registry_add(h, &d, i, &p, err);
		if (rc == -EEXIST)
			continue;
		cr_assert_eq(!p, rc != 0);
		if (rc)
			return rc;
	}
	return 0;
}

static int registry_story(void)
{
	struct weft_registry_core *r = weft_registry_create();
	struct weft_error *err = weft_error_create();
	static const char *const providers[] = {"p"};
	struct weft_registry *h;
	struct weft_pattern p;
	int rc = -ENOMEM;

	if (!r)
		goto out;
	h = weft_registry_of(r, "p");
	if (!h)
		goto out;
	rc = add_some(h, 2500, err);
	if (rc) {
		size_t had = weft_registry_size(r);

		/* What was there is there, and what was refused can be added now. */
		cr_assert_eq(add_some(h, 2500, err), 0);
		cr_assert_eq(weft_registry_size(r), 2500);
		for (size_t i = 0; i < 2500; i++) {
			struct weft_probe_desc d;

			weft_probe_desc(weft_registry_at(r, i), &d);
			cr_assert_eq(weft_registry_find(h, &d), weft_registry_at(r, i));
		}
		cr_assert_leq(had, 2500);
		goto out;
	}
	for (size_t i = 0; i < 20; i++)
		weft_registry_retire(h, weft_registry_at(r, i));
	rc = add_some(h, 20, err);
	if (rc)
		goto out;
	rc = weft_pattern_parse("p::functoin_1:entry", &p, err);
	if (rc)
		goto out;
	cr_assert_eq(weft_registry_explain(r, &p, providers, 1, err), -ENOENT);
	weft_pattern_finish(&p);
out:
	weft_registry_destroy(r);
	weft_error_destroy(err);
	return rc;
}

Test(nomem, registries, .timeout = 60)
{
	cr_expect_gt(tell(registry_story), 20);
}

static int params_story(void)
{
	static const struct weft_option_spec text = {.struct_size = sizeof(text),
						     .type = WEFT_OPTION_STRING,
						     .where = WEFT_OPTION_PER_SET,
						     .name = "text",
						     .default_text = "default"};
	static const struct weft_option_spec *const table[] = {&text, NULL};
	struct weft_setting s = {.name = {.s = "text"}, .value = {.s = "given"}};
	struct weft_error *err = weft_error_create();
	struct weft_params *p;
	int rc;

	rc = weft_params_create("t", table, WEFT_OPTION_PER_SET, &s, 1, &p, err);
	cr_assert_eq(!p, rc != 0);
	weft_params_destroy(p);
	weft_error_destroy(err);
	return rc;
}

Test(nomem, params)
{
	cr_expect_geq(tell(params_story), 5);
}

static int set_story(void)
{
	struct weft_arena *arena = weft_arena_create();
	struct weft_param param = {.name = {.s = "x"}, .value = {.s = "old"}};
	struct weft_set set = {.arena = arena, .params = &param, .n_params = 1};
	int rc;

	if (!arena)
		return -ENOMEM;
	rc = weft_set_param(&set, "x", "new", NULL);
	cr_assert_str_eq(param.value.s, rc ? "old" : "new");
	weft_arena_destroy(arena);
	return rc;
}

Test(nomem, sets)
{
	cr_expect_geq(tell(set_story), 2);
}
