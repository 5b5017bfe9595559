/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/registry.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

Test(pattern, splits)
{
	static const struct {
		const char *text;
		const char *field[WEFT_N_FIELDS];
		const char *globs; /* "y" or "n" for each field */
	} rows[] = {
		{"fbt:vmlinux:vfs_read:entry", {"fbt", "vmlinux", "vfs_read", "entry"}, "nnnn"},
		{"profile:::profile-99hz", {"profile", "", "", "profile-99hz"}, "nnnn"},
		{":::", {"", "", "", ""}, "nnnn"},
		{"fbt:*:vfs_?ead:[er]*", {"fbt", "*", "vfs_?ead", "[er]*"}, "nyyy"},
		{"uprobe:/bin/x:std::vector<int>::push_back(int&&):entry",
		 {"uprobe", "/bin/x", "std::vector<int>::push_back(int&&)", "entry"},
		 "nnnn"},
		{"uprobe:x:a::b::*:return", {"uprobe", "x", "a::b::*", "return"}, "nnyn"},
		{"uprobe:x:::f:entry", {"uprobe", "x", "::f", "entry"}, "nnnn"},
		{"uprobe::::f:entry", {"uprobe", "", "::f", "entry"}, "nnnn"},
		{"uprobe:x:f::", {"uprobe", "x", "f:", ""}, "nnnn"},
		{"uprobe:/tmp/a\\:b:main:entry", {"uprobe", "/tmp/a\\:b", "main", "entry"}, "nnnn"},
		{"uprobe:x:operator\\[\\]:entry", {"uprobe", "x", "operator\\[\\]", "entry"}, "nnnn"},
		{"uprobe:x:operator\\*:entry", {"uprobe", "x", "operator\\*", "entry"}, "nnnn"},
		{"a:b:c:d\\\\", {"a", "b", "c", "d\\\\"}, "nnnn"},
		{"a\\\\:b:c:d", {"a\\\\", "b", "c", "d"}, "nnnn"},
		{"uprobe:/bin/x:main:+0x10", {"uprobe", "/bin/x", "main", "+0x10"}, "nnnn"},
		{"uprobe:m\xc3\xbcller:f:entry", {"uprobe", "m\xc3\xbcller", "f", "entry"}, "nnnn"},
	};

	for (size_t i = 0; i < N(rows); i++) {
		struct weft_error *err = weft_error_create();
		struct weft_pattern p;

		cr_assert_eq(weft_pattern_parse(rows[i].text, &p, err), 0, "'%s': %s", rows[i].text,
			     weft_error_text(err));
		for (int f = 0; f < WEFT_N_FIELDS; f++) {
			cr_expect_str_eq(p.field[f], rows[i].field[f], "'%s', %s", rows[i].text,
					 weft_field_names[f]);
			cr_expect_eq(p.glob[f], rows[i].globs[f] == 'y', "'%s', %s", rows[i].text,
				     weft_field_names[f]);
		}
		cr_expect_eq(weft_pattern_is_literal(&p), !strchr(rows[i].globs, 'y'));
		weft_pattern_finish(&p);
		cr_expect_null(p.field[0]);
		weft_error_destroy(err);
	}
}

static void refused(const char *text, int code, const char *tag, const char *says)
{
	struct weft_error *err = weft_error_create();
	struct weft_pattern p;

	cr_expect_eq(weft_pattern_parse(text, &p, err), code, "'%.60s'", text);
	cr_expect_eq(weft_error_count(err), 1);
	cr_expect_str_eq(weft_error_tag(err), tag);
	cr_expect_not_null(strstr(weft_error_text(err), says), "%s", weft_error_text(err));
	for (int f = 0; f < WEFT_N_FIELDS; f++)
		cr_expect_null(p.field[f], "nothing is left to free");
	weft_error_destroy(err);
}

Test(pattern, PATTERN_EMPTY)
{
	refused("", -EINVAL, "PATTERN_EMPTY", "provider:module:function:name");
}

Test(pattern, PATTERN_FIELDS)
{
	refused("vfs_read", -EINVAL, "PATTERN_FIELDS", "'vfs_read' has 0 colons");
	refused("vfs_read", -EINVAL, "PATTERN_FIELDS", "left empty: :::vfs_read");
	refused("a:b", -EINVAL, "PATTERN_FIELDS", "left empty: a:::b, a::b: or a:b::");
	refused("a:b:c", -EINVAL, "PATTERN_FIELDS", "left empty: a::b:c, a:b::c or a:b:c:");
	refused("fbt:vfs_read", -EINVAL, "PATTERN_FIELDS", "has 1 colon;");
	refused("fbt:vfs_read:entry", -EINVAL, "PATTERN_FIELDS", "has 2 colons");
	refused("a:b:c\\:d", -EINVAL, "PATTERN_FIELDS", "has 2 colons");
}

Test(pattern, PATTERN_BRACKET)
{
	refused("fbt:vmlinux:vfs_[rw:entry", -EINVAL, "PATTERN_BRACKET", "function 'vfs_[rw'");
	refused("uprobe:x:operator[]:entry", -EINVAL, "PATTERN_BRACKET", "\\[");
	refused("fbt:vmlinux:f:[!]", -EINVAL, "PATTERN_BRACKET", "name '[!]'");
	refused("fbt:[a\\]:f:entry", -EINVAL, "PATTERN_BRACKET", "module '[a\\]'");
}

Test(pattern, PATTERN_ESCAPE)
{
	refused("fbt:vmlinux:vfs_read:entry\\", -EINVAL, "PATTERN_ESCAPE", "name 'entry\\'");
}

Test(pattern, PATTERN_TOO_LONG)
{
	struct weft_error *err = weft_error_create();
	const char *field[WEFT_N_FIELDS] = {"fbt", "", "", ""};
	struct weft_pattern p;
	char text[4098];

	memset(text, 'a', sizeof(text));
	memcpy(text, ":::", 3);
	text[4096] = '\0';
	cr_expect_eq(weft_pattern_parse(text, &p, err), 0, "4,096 bytes are the most");
	weft_pattern_finish(&p);
	text[4096] = 'a';
	text[4097] = '\0';
	refused(text, -ENAMETOOLONG, "PATTERN_TOO_LONG", "4097 bytes");

	text[0] = text[1] = text[2] = 'a';
	field[WEFT_FIELD_FUNCTION] = text;
	cr_expect_eq(weft_pattern_from_fields(field, &p, err), -ENAMETOOLONG);
	cr_expect_str_eq(weft_error_tag(err), "PATTERN_TOO_LONG");
	cr_expect_not_null(strstr(weft_error_text(err), "function"));
	cr_expect_null(p.field[0]);
	text[4096] = '\0';
	cr_expect_eq(weft_pattern_from_fields(field, &p, NULL), 0);
	weft_pattern_finish(&p);
	weft_error_destroy(err);
}

Test(pattern, from_fields)
{
	const char *const good[WEFT_N_FIELDS] = {"uprobe", NULL, "a::b*", "entry"};
	const char *const bad[WEFT_N_FIELDS] = {"uprobe", "x", "[", "entry"};
	struct weft_error *err = weft_error_create();
	struct weft_pattern p;

	cr_assert_eq(weft_pattern_from_fields(good, &p, err), 0);
	cr_expect_str_eq(p.field[WEFT_FIELD_MODULE], "");
	cr_expect_str_eq(p.field[WEFT_FIELD_FUNCTION], "a::b*");
	cr_expect(p.glob[WEFT_FIELD_FUNCTION]);
	cr_expect_not(weft_pattern_is_literal(&p));
	weft_pattern_finish(&p);
	cr_expect_eq(weft_pattern_from_fields(bad, &p, err), -EINVAL);
	cr_expect_str_eq(weft_error_tag(err), "PATTERN_BRACKET");
	weft_error_destroy(err);
}

Test(pattern, literal_gives_texts_without_escapes)
{
	struct weft_probe_desc d;
	struct weft_pattern p;
	char *storage;

	cr_assert_eq(weft_pattern_parse("uprobe:/tmp/a\\:b:operator\\[\\]\\*:\\\\x", &p, NULL), 0);
	cr_assert_eq(weft_pattern_literal(&p, &d, &storage), 0);
	cr_expect_eq(d.struct_size, sizeof(d));
	cr_expect_str_eq(d.provider, "uprobe");
	cr_expect_str_eq(d.module, "/tmp/a:b");
	cr_expect_str_eq(d.function, "operator[]*");
	cr_expect_str_eq(d.name, "\\x");
	free(storage);
	weft_pattern_finish(&p);

	cr_assert_eq(weft_pattern_parse("fbt::vfs_*:entry", &p, NULL), 0);
	cr_expect_eq(weft_pattern_literal(&p, &d, &storage), -EINVAL);
	weft_pattern_finish(&p);
	weft_pattern_finish(NULL);
}
