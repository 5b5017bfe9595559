/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/probes.h"

/* Two providers in turns, so that the order of addition is neither's own. */
static struct weft_registry_core *sample(void)
{
	struct weft_registry_core *r = weft_registry_create();
	struct weft_registry *fbt = weft_registry_of(r, "fbt");
	struct weft_registry *up = weft_registry_of(r, "uprobe");
	struct weft_registry *profile = weft_registry_of(r, "profile");

	add(up, "/bin/x", "main", "entry", 0);
	add(fbt, "vmlinux", "vfs_read", "entry", 0);
	add(fbt, "vmlinux", "vfs_read", "return", 0);
	add(up, "/bin/x", "ns::f(int)", "entry", 0);
	add(profile, "", "", "profile-99hz", 0);
	add(fbt, "vmlinux", "vfs_write", "entry", 0);
	add(fbt, "ext4", "ext4_read", "entry", 0);
	add(up, "vmlinux", "vfs_read", "entry", 0);
	add(up, "/bin/x", "operator[]", "entry", 0);
	return r;
}

Test(match, table)
{
	static const struct {
		const char *pattern, *expected;
	} rows[] = {
		/* exact */
		{"fbt:vmlinux:vfs_read:entry", "fbt:vmlinux:vfs_read:entry"},
		{"uprobe:/bin/x:ns::f(int):entry", "uprobe:/bin/x:ns::f(int):entry"},
		{"uprobe:/bin/x:operator\\[\\]:entry", "uprobe:/bin/x:operator[]:entry"},
		{"fbt:vmlinux:vfs_read:nothing", ""},
		{"fbt:vmlinux:ext4_read:entry", ""},
		{"nobody:vmlinux:vfs_read:entry", ""},
		/* exact but for the provider: in order of addition */
		{":vmlinux:vfs_read:entry",
		 "fbt:vmlinux:vfs_read:entry uprobe:vmlinux:vfs_read:entry"},
		{"u*:vmlinux:vfs_read:entry", "uprobe:vmlinux:vfs_read:entry"},
		{"[fp]*:vmlinux:vfs_read:entry", "fbt:vmlinux:vfs_read:entry"},
		/* an empty field is any, an empty text among them */
		{"profile:::profile-99hz", "profile:::profile-99hz"},
		{"profile:*:*:*", "profile:::profile-99hz"},
		{"profile:?*::", ""},
		{"fbt::vfs_read:", "fbt:vmlinux:vfs_read:entry fbt:vmlinux:vfs_read:return"},
		{":::return", "fbt:vmlinux:vfs_read:return"},
		/* globs */
		{"fbt::*_read:entry", "fbt:vmlinux:vfs_read:entry fbt:ext4:ext4_read:entry"},
		{"fbt:ext*:*:*", "fbt:ext4:ext4_read:entry"},
		{"fbt:vmlinux:vfs_[!r]*:*", "fbt:vmlinux:vfs_write:entry"},
		{"?bt:vmlinux:vfs_read:r*", "fbt:vmlinux:vfs_read:return"},
		{"uprobe:/bin/*:*::*:entry", "uprobe:/bin/x:ns::f(int):entry"},
		{"*:::profile-*", "profile:::profile-99hz"},
		{"zz*:::", ""},
		{"nobody:::", ""},
		{":::", "uprobe:/bin/x:main:entry fbt:vmlinux:vfs_read:entry "
			"fbt:vmlinux:vfs_read:return uprobe:/bin/x:ns::f(int):entry "
			"profile:::profile-99hz fbt:vmlinux:vfs_write:entry "
			"fbt:ext4:ext4_read:entry uprobe:vmlinux:vfs_read:entry "
			"uprobe:/bin/x:operator[]:entry"},
	};
	struct weft_registry_core *r = sample();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_str_eq(matched(r, rows[i].pattern), rows[i].expected, "'%s' gave '%s'",
				 rows[i].pattern, matched(r, rows[i].pattern));
	weft_registry_destroy(r);
}

/* Whatever road a pattern takes, the walk agrees with asking each probe. */
Test(match, agrees_with_asking_one_by_one)
{
	static const char *const patterns[] = {":::",
					       "fbt:::",
					       "*:vmlinux::",
					       "fbt:vmlinux:vfs_read:entry",
					       ":vmlinux:vfs_read:entry",
					       "?*:?*:?*:?*",
					       "uprobe::*f*:entry",
					       ":::[er]*"};
	struct weft_registry_core *r = sample();

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		char expected[1024] = "";
		struct weft_pattern p;

		cr_assert_eq(weft_pattern_parse(patterns[i], &p, NULL), 0);
		for (size_t k = 0; k < weft_registry_size(r); k++) {
			if (weft_probe_matches(weft_registry_at(r, k), &p))
				append_name(weft_registry_at(r, k), expected);
		}
		weft_pattern_finish(&p);
		cr_expect_str_eq(matched(r, patterns[i]), expected, "%s", patterns[i]);
	}
	weft_registry_destroy(r);
}

Test(match, from_an_index)
{
	struct weft_registry_core *r = sample();

	cr_expect_str_eq(matched_from(r, "fbt:::", 2),
			 "fbt:vmlinux:vfs_read:return fbt:vmlinux:vfs_write:entry "
			 "fbt:ext4:ext4_read:entry");
	cr_expect_str_eq(matched_from(r, ":vmlinux:vfs_read:entry", 2),
			 "uprobe:vmlinux:vfs_read:entry");
	cr_expect_str_eq(matched_from(r, "fbt:vmlinux:vfs_read:entry", 2), "");
	cr_expect_str_eq(matched_from(r, "*:::e*", 7),
			 "uprobe:vmlinux:vfs_read:entry uprobe:/bin/x:operator[]:entry");
	cr_expect_str_eq(matched_from(r, ":::", 9), "");
	cr_expect_str_eq(matched_from(r, "fbt:::", 1000), "");
	weft_registry_destroy(r);
}

static int stop_at_second(const struct weft_probe *p, void *arg)
{
	int *n = arg;

	(void)p;
	return ++*n == 2 ? 42 : 0;
}

Test(match, a_result_of_fn_ends_the_walk)
{
	static const char *const patterns[] = {":::", "fbt:::", ":vmlinux:vfs_read:entry"};
	struct weft_registry_core *r = sample();

	for (size_t i = 0; i < 3; i++) {
		struct weft_pattern p;
		int n = 0;

		cr_assert_eq(weft_pattern_parse(patterns[i], &p, NULL), 0);
		cr_expect_eq(weft_registry_match(r, &p, 0, stop_at_second, &n), 42);
		cr_expect_eq(n, 2, "%s", patterns[i]);
		weft_pattern_finish(&p);
	}
	weft_registry_destroy(r);
}

struct adding {
	struct weft_registry *h;
	unsigned int calls;
};

static int add_more(const struct weft_probe *p, void *arg)
{
	struct adding *a = arg;
	char name[32];

	a->calls++;
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "n%u-%d", a->calls, i);
		add(a->h, "m", "f", name, 0);
	}
	weft_registry_retire(a->h, p);
	return 0;
}

Test(match, fn_may_add_and_retire)
{
	static const char *const patterns[] = {":::", "p:::", "p:m:f:first", "?:m:f:first"};

	for (size_t i = 0; i < 4; i++) {
		struct weft_registry_core *r = weft_registry_create();
		struct adding a = {.h = weft_registry_of(r, "p")};
		const struct weft_probe *first = add(a.h, "m", "f", "first", 9);
		struct weft_pattern p;

		cr_assert_eq(weft_pattern_parse(patterns[i], &p, NULL), 0);
		cr_expect_eq(weft_registry_match(r, &p, 0, add_more, &a), 0);
		cr_expect_eq(a.calls, 1, "%s: what was added is not walked", patterns[i]);
		cr_expect_eq(weft_registry_size(r), 3001);
		cr_expect_eq(weft_probe_data(first), 9, "the pointer holds");
		cr_expect(weft_probe_retired(first));
		weft_pattern_finish(&p);
		weft_registry_destroy(r);
	}
}
