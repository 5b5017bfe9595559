/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "core/params.h"

#define SIZE  .struct_size = sizeof(struct weft_option_spec)
#define SET   WEFT_OPTION_PER_SET
#define PROBE WEFT_OPTION_PER_PROBE

static const struct weft_option_spec verbose = {SIZE, WEFT_OPTION_BOOL, SET, .name = "verbose",
						.default_text = "false"};
static const struct weft_option_spec limit = {
	SIZE, WEFT_OPTION_INT, SET, .name = "limit", .default_text = "-5", .min = -10, .max = 10};
static const struct weft_option_spec stash = {SIZE, WEFT_OPTION_STRING, SET, .name = "stash",
					      .default_text = "/run/weft"};
static const struct weft_option_spec placement = {SIZE,
						  WEFT_OPTION_ENUM,
						  SET | PROBE,
						  .name = "placement",
						  .default_text = "exact",
						  .choices = "exact|cheap|anywhere"};
static const struct weft_option_spec period = {
	SIZE, WEFT_OPTION_DURATION, SET | PROBE, .name = "period", .min = 1000, .max = 1000000000};
static const struct weft_option_spec pages = {SIZE, WEFT_OPTION_SIZE, PROBE, .name = "pages",
					      .default_text = "4k"};
static const struct weft_option_spec *const table[] = {&verbose, &limit, &stash, &placement,
						       &period,  &pages, NULL};

static struct weft_setting setting(const char *name, const char *value, uint32_t line)
{
	return (struct weft_setting){.name = {.s = name, .pos = {line, 3}},
				     .value = {.s = value, .pos = {line, 20}}};
}

Test(params, defaults)
{
	struct weft_params *p;

	cr_assert_eq(weft_params_check_specs(table, "t", NULL), 0);
	cr_assert_eq(weft_params_create("t", table, SET, NULL, 0, &p, NULL), 0);
	cr_expect(weft_params_is_set(p, "verbose"));
	cr_expect_eq(weft_params_int(p, "verbose"), 0);
	cr_expect_eq(weft_params_int(p, "limit"), -5);
	cr_expect_str_eq(weft_params_string(p, "stash"), "/run/weft");
	cr_expect_str_eq(weft_params_string(p, "placement"), "exact");
	cr_expect_not(weft_params_is_set(p, "period"), "it has no default");
	cr_expect_eq(weft_params_int(p, "period"), 0);
	cr_expect_null(weft_params_string(p, "period"));
	cr_expect_not(weft_params_is_set(p, "pages"), "it is one of a probe");
	cr_expect_not(weft_params_is_set(p, "nobody"));
	cr_expect_eq(weft_params_int(p, "nobody"), 0);
	cr_expect_null(weft_params_string(p, "nobody"));
	weft_params_destroy(p);

	cr_assert_eq(weft_params_create("t", table, PROBE, NULL, 0, &p, NULL), 0);
	cr_expect_eq(weft_params_int(p, "pages"), 4096);
	cr_expect_not(weft_params_is_set(p, "verbose"));
	weft_params_destroy(p);
}

Test(params, values_given)
{
	char stash_text[] = "/tmp/x";
	struct weft_setting s[] = {
		setting("verbose", "true", 1),   setting("limit", "10", 2),
		setting("stash", stash_text, 3), setting("placement", "anywhere", 4),
		setting("period", "1us", 5),
	};
	struct weft_params *p;

	cr_assert_eq(weft_params_create("t", table, SET, s, 5, &p, NULL), 0);
	stash_text[1] = '#';
	cr_expect_eq(weft_params_int(p, "verbose"), 1);
	cr_expect_eq(weft_params_int(p, "limit"), 10);
	cr_expect_str_eq(weft_params_string(p, "stash"), "/tmp/x", "texts are copied");
	cr_expect_str_eq(weft_params_string(p, "placement"), "anywhere");
	cr_expect(weft_params_is_set(p, "period"));
	cr_expect_eq(weft_params_int(p, "period"), 1000);
	weft_params_destroy(p);
}

Test(params, a_provider_without_options)
{
	struct weft_setting s = setting("x", "1", 1);
	struct weft_error *err = weft_error_create();
	struct weft_params *p;

	cr_expect_eq(weft_params_check_specs(NULL, "t", NULL), 0);
	cr_assert_eq(weft_params_create("t", NULL, SET, NULL, 0, &p, err), 0);
	cr_expect_not(weft_params_is_set(p, "x"));
	weft_params_destroy(p);
	cr_expect_eq(weft_params_create("t", NULL, SET, &s, 1, &p, err), -ENOENT);
	cr_expect_null(p);
	cr_expect_str_eq(weft_error_tag(err), "OPTION_UNKNOWN");
	weft_error_destroy(err);
	cr_expect_not(weft_params_is_set(NULL, "x"));
	cr_expect_eq(weft_params_int(NULL, "x"), 0);
	cr_expect_null(weft_params_string(NULL, "x"));
	weft_params_destroy(NULL);
}

Test(params, a_probe_takes_what_the_set_says)
{
	struct weft_setting of_set[] = {setting("placement", "cheap", 1),
					setting("period", "5ms", 2)};
	struct weft_setting of_probe[] = {setting("period", "7ms", 9)};
	struct weft_params *set, *probe;

	cr_assert_eq(weft_params_create("t", table, SET, of_set, 2, &set, NULL), 0);
	cr_assert_eq(weft_params_create("t", table, PROBE, of_probe, 1, &probe, NULL), 0);
	cr_expect_str_eq(weft_params_string(probe, "placement"), "exact");
	weft_params_inherit(probe, set);
	cr_expect_str_eq(weft_params_string(probe, "placement"), "cheap");
	cr_expect_eq(weft_params_int(probe, "period"), 7000000, "its own comes first");
	cr_expect_eq(weft_params_int(probe, "pages"), 4096);
	cr_expect_not(weft_params_is_set(probe, "stash"), "not an option of a probe");
	weft_params_inherit(probe, NULL);
	weft_params_destroy(probe);
	weft_params_destroy(set);
}

static void refused(uint32_t where, struct weft_setting s, int code, const char *tag,
		    uint32_t column, const char *says, const char *suggestion)
{
	struct weft_error *err = weft_error_create();
	struct weft_report r;
	struct weft_params *p;

	cr_expect_eq(weft_params_create("t", table, where, &s, 1, &p, err), code, "%s", s.value.s);
	cr_expect_null(p);
	cr_assert_eq(weft_error_report(err, 0, &r), 0);
	cr_expect_str_eq(r.tag, tag);
	cr_expect_eq(r.pos.line, 4);
	cr_expect_eq(r.pos.column, column, "'%s' at column %u", s.value.s, r.pos.column);
	cr_expect_not_null(strstr(r.text, says), "%s", r.text);
	if (suggestion)
		cr_expect(r.suggestion && !strcmp(r.suggestion, suggestion));
	else
		cr_expect_null(r.suggestion);
	weft_error_destroy(err);
}

Test(params, OPTION_UNKNOWN)
{
	refused(SET, setting("plcaement", "exact", 4), -ENOENT, "OPTION_UNKNOWN", 3,
		"provider 't' has no option 'plcaement'", "placement");
	refused(SET, setting("colour", "red", 4), -ENOENT, "OPTION_UNKNOWN", 3, "'colour'", NULL);
	refused(SET, setting("page", "4k", 4), -ENOENT, "OPTION_UNKNOWN", 3, "'page'", NULL);
}

Test(params, OPTION_PLACE)
{
	refused(SET, setting("pages", "4k", 4), -EINVAL, "OPTION_PLACE", 3, "one of a probe", NULL);
	refused(PROBE, setting("stash", "/x", 4), -EINVAL, "OPTION_PLACE", 3,
		"one of the whole probe set", NULL);
}

Test(params, OPTION_VALUE)
{
	static const struct {
		const char *name, *value;
		int code;
		const char *says, *suggestion;
	} rows[] = {
		{"verbose", "yes", -EINVAL,
		 "'verbose' of provider 't' wants true or false, not 'yes'", NULL},
		{"verbose", "", -EINVAL, "not ''", NULL},
		{"verbose", "1", -EINVAL, "true or false", NULL},
		{"limit", "11", -ERANGE, "from -10 to 10, which 11 is not", NULL},
		{"limit", "-11", -ERANGE, "from -10 to 10", NULL},
		{"limit", "3x", -EINVAL, "wants an integer, not '3x'", NULL},
		{"limit", "9223372036854775808", -ERANGE, "as large as", NULL},
		{"placement", "chep", -EINVAL, "one of exact, cheap, anywhere, not 'chep'", "cheap"},
		{"placement", "exact|cheap", -EINVAL, "one of", NULL},
		{"placement", "exac", -EINVAL, "one of", "exact"},
		{"placement", "anywere", -EINVAL, "one of", "anywhere"},
		{"placement", "", -EINVAL, "one of", NULL},
		{"period", "10", -EINVAL, "a time with its unit", NULL},
		{"period", "999ns", -ERANGE, "from 1000 to 1000000000 ns", NULL},
		{"period", "1001ms", -ERANGE, "from 1000 to 1000000000 ns", NULL},
		{"period", "10000000000s", -ERANGE, "as large as", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refused(SET, setting(rows[i].name, rows[i].value, 4), rows[i].code, "OPTION_VALUE",
			20, rows[i].says, rows[i].suggestion);
	refused(PROBE, setting("pages", "4x", 4), -EINVAL, "OPTION_VALUE", 20, "a number of bytes",
		NULL);
	refused(PROBE, setting("pages", "-1", 4), -EINVAL, "OPTION_VALUE", 20, "a number of bytes",
		NULL);
	refused(PROBE, setting("pages", "9223372036854775808", 4), -ERANGE, "OPTION_VALUE", 20,
		"as large as", NULL);
}

Test(params, OPTION_TWICE)
{
	struct weft_setting s[] = {setting("limit", "1", 4), setting("verbose", "true", 5),
				   setting("limit", "2", 6)};
	struct weft_error *err = weft_error_create();
	struct weft_params *p;
	struct weft_report r;

	cr_expect_eq(weft_params_create("t", table, SET, s, 3, &p, err), -EINVAL);
	cr_assert_eq(weft_error_report(err, 0, &r), 0);
	cr_expect_str_eq(r.tag, "OPTION_TWICE");
	cr_expect_eq(r.pos.line, 6);
	cr_expect_str_eq(weft_error_context_text(err, 0, 0), "first given on line 4");
	weft_error_destroy(err);
}

Test(params, every_error_is_reported)
{
	struct weft_setting s[] = {setting("limit", "x", 1), setting("nope", "x", 2),
				   setting("verbose", "true", 3), setting("pages", "x", 4)};
	static const char *const tags[] = {"OPTION_VALUE", "OPTION_UNKNOWN", "OPTION_PLACE"};
	struct weft_error *err = weft_error_create();
	struct weft_params *p;
	struct weft_report r;

	cr_expect_eq(weft_params_create("t", table, SET, s, 4, &p, err), -EINVAL, "the first's");
	cr_assert_eq(weft_error_count(err), 3);
	for (size_t i = 0; i < 3; i++) {
		cr_assert_eq(weft_error_report(err, i, &r), 0);
		cr_expect_str_eq(r.tag, tags[i]);
	}
	weft_error_destroy(err);
}
