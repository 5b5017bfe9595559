/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/params.h"

static struct weft_option_spec spec(const char *name, uint32_t type, const char *default_text)
{
	return (struct weft_option_spec){
		.struct_size = sizeof(struct weft_option_spec),
		.type = type,
		.where = WEFT_OPTION_PER_SET,
		.name = name,
		.default_text = default_text,
		.choices = type == WEFT_OPTION_ENUM ? "a|b" : NULL,
	};
}

static void defect(struct weft_option_spec s, const char *tag, const char *says)
{
	const struct weft_option_spec *const table[] = {&s, NULL};
	struct weft_error *err = weft_error_create();

	cr_expect_lt(weft_params_check_specs(table, "t", err), 0, "%s", says);
	cr_expect_eq(weft_error_count(err), 1);
	cr_expect_str_eq(weft_error_tag(err), tag);
	cr_expect_not_null(strstr(weft_error_text(err), says), "%s", weft_error_text(err));
	cr_expect_not_null(strstr(weft_error_text(err), "provider 't'"));
	weft_error_destroy(err);
}

Test(params_check, PLUGIN_OPTION_SIZE)
{
	struct weft_option_spec s = spec("a", WEFT_OPTION_INT, NULL);

	s.struct_size = offsetof(struct weft_option_spec, max);
	defect(s, "PLUGIN_OPTION_SIZE", "struct_size 56");
	s.struct_size = 0;
	defect(s, "PLUGIN_OPTION_SIZE", "struct_size 0");
}

Test(params_check, PLUGIN_OPTION_NAME)
{
	static const char *const bad[] = {
		"",
		"A",
		"1a",
		"_a",
		"a-b",
		"a b",
		"aB",
		"a\n",
		"caf\xc3\xa9",
		"a123456789012345678901234567890123456789012345678901234567890123"};
	struct weft_option_spec a = spec("same", WEFT_OPTION_INT, NULL), b = a;
	const struct weft_option_spec *const table[] = {&a, &b, NULL};
	struct weft_error *err = weft_error_create();

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		defect(spec(bad[i], WEFT_OPTION_INT, NULL), "PLUGIN_OPTION_NAME", "bad name");
	defect(spec(NULL, WEFT_OPTION_INT, NULL), "PLUGIN_OPTION_NAME", "option 1");
	cr_expect_eq(weft_params_check_specs(table, "t", err), -EINVAL);
	cr_expect_str_eq(weft_error_tag(err), "PLUGIN_OPTION_NAME");
	cr_expect_not_null(strstr(weft_error_text(err), "two options named 'same'"));
	weft_error_destroy(err);
}

Test(params_check, PLUGIN_OPTION_TYPE)
{
	struct weft_option_spec s;

	defect(spec("a", 0, NULL), "PLUGIN_OPTION_TYPE", "a type");
	defect(spec("a", 7, NULL), "PLUGIN_OPTION_TYPE", "a type");
	defect(spec("a", UINT32_MAX, NULL), "PLUGIN_OPTION_TYPE", "a type");
	s = spec("a", WEFT_OPTION_INT, NULL);
	s.where = 0;
	defect(s, "PLUGIN_OPTION_TYPE", "a place");
	s.where = 4 | WEFT_OPTION_PER_SET;
	defect(s, "PLUGIN_OPTION_TYPE", "a place");
	s = spec("a", WEFT_OPTION_INT, NULL);
	s.min = 2;
	s.max = 1;
	defect(s, "PLUGIN_OPTION_TYPE", "least value");
	s = spec("a", WEFT_OPTION_ENUM, NULL);
	for (size_t i = 0; i < 5; i++) {
		static const char *const bad[] = {NULL, "", "|a", "a|", "a||b"};

		s.choices = bad[i];
		defect(s, "PLUGIN_OPTION_TYPE", "choices");
	}
}

Test(params_check, PLUGIN_OPTION_DEFAULT)
{
	struct weft_option_spec s = spec("a", WEFT_OPTION_INT, "5");
	const struct weft_option_spec *const table[] = {&s, NULL};
	struct weft_error *err = weft_error_create();
	struct weft_params *p;

	s.min = 6;
	s.max = 9;
	defect(s, "PLUGIN_OPTION_DEFAULT", "the default of option 'a'");
	defect(spec("a", WEFT_OPTION_BOOL, "0"), "PLUGIN_OPTION_DEFAULT", "true or false");
	defect(spec("a", WEFT_OPTION_ENUM, "c"), "PLUGIN_OPTION_DEFAULT", "one of a, b");
	defect(spec("a", WEFT_OPTION_DURATION, "5"), "PLUGIN_OPTION_DEFAULT", "a time");
	defect(spec("a", WEFT_OPTION_SIZE, "-5"), "PLUGIN_OPTION_DEFAULT", "bytes");

	cr_expect_lt(weft_params_create("t", table, WEFT_OPTION_PER_SET, NULL, 0, &p, err), 0,
		     "and so says who did not ask first");
	cr_expect_str_eq(weft_error_tag(err), "PLUGIN_OPTION_DEFAULT");
	weft_error_destroy(err);
}

Test(params_check, good_tables_pass_and_every_defect_is_reported)
{
	struct weft_option_spec a = spec("a_1", WEFT_OPTION_ENUM, "b");
	struct weft_option_spec b = spec("b", WEFT_OPTION_STRING, "");
	struct weft_option_spec c = spec("c", WEFT_OPTION_BOOL, "no");
	struct weft_option_spec d = spec("D", WEFT_OPTION_BOOL, NULL);
	const struct weft_option_spec *const good[] = {&a, &b, NULL};
	const struct weft_option_spec *const bad[] = {&a, &c, &d, NULL};
	struct weft_error *err = weft_error_create();

	cr_expect_eq(weft_params_check_specs(good, "t", err), 0);
	cr_expect_eq(weft_error_count(err), 0);
	cr_expect_eq(weft_params_check_specs(bad, "t", err), -EINVAL);
	cr_expect_eq(weft_error_count(err), 2);
	weft_error_destroy(err);
}

/* A plugin that knows more members than this core: what is beyond is not read. */
Test(params_check, a_longer_row_is_read_as_far_as_it_is_known)
{
	struct longer {
		struct weft_option_spec known;
		uint64_t unknown[4];
	} *row = calloc(1, sizeof(*row));
	const struct weft_option_spec *const table[] = {&row->known, NULL};
	struct weft_params *p;

	row->known = spec("a", WEFT_OPTION_INT, "7");
	row->known.struct_size = sizeof(*row);
	cr_expect_eq(weft_params_check_specs(table, "t", NULL), 0);
	cr_assert_eq(weft_params_create("t", table, WEFT_OPTION_PER_SET, NULL, 0, &p, NULL), 0);
	cr_expect_eq(weft_params_int(p, "a"), 7);
	weft_params_destroy(p);
	free(row);
}
