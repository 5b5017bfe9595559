/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/symbols/maps.h"

static int parse(const char *text, struct weft_maps_entry *e, char line[512])
{
	strcpy(line, text);
	return weft_maps_parse(line, strlen(text), e);
}

Test(maps, lines)
{
	static const struct {
		const char *line;
		uint64_t start, end, offset, inode;
		uint32_t major, minor;
		bool executable;
		const char *path;
	} cases[] = {
		{"00400000-00452000 r-xp 00001000 08:02 173521      /usr/bin/dbus-daemon", 0x400000,
		 0x452000, 0x1000, 173521, 8, 2, true, "/usr/bin/dbus-daemon"},
		{"7f5c-7f5d rw-p 00000000 00:00 0 ", 0x7f5c, 0x7f5d, 0, 0, 0, 0, false, ""},
		{"7f5c-7f5d rwxp 00000000 00:00 0", 0x7f5c, 0x7f5d, 0, 0, 0, 0, true, ""},
		{"1000-2000 r-xs ffffffff000 fe:1f 18446744073709551615 /a b  c (deleted)", 0x1000,
		 0x2000, 0xffffffff000, UINT64_MAX, 0xfe, 0x1f, true, "/a b  c (deleted)"},
		{"1000-2000 r-xp 00000000 00:01 7   /memfd:jit (deleted)", 0x1000, 0x2000, 0, 7, 0,
		 1, true, "/memfd:jit (deleted)"},
		{"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0     [vsyscall]",
		 0xffffffffff600000, 0xffffffffff601000, 0, 0, 0, 0, true, "[vsyscall]"},
		{"1000-2000 r-xp 00000000 00:1f 7   /x\\012y", 0x1000, 0x2000, 0, 7, 0, 0x1f, true,
		 "/x\\012y"},
		{"1000-2000 r-xp 00000000 100000:fffff 7   [anon: x]", 0x1000, 0x2000, 0, 7,
		 0x100000, 0xfffff, true, "[anon: x]"},
	};
	char line[512];
	struct weft_maps_entry e;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_assert_eq(parse(cases[i].line, &e, line), 0, "%s", cases[i].line);
		cr_expect(e.start == cases[i].start && e.end == cases[i].end &&
				  e.offset == cases[i].offset && e.inode == cases[i].inode &&
				  e.major == cases[i].major && e.minor == cases[i].minor &&
				  e.executable == cases[i].executable,
			  "%s", cases[i].line);
		cr_expect_str_eq(e.path, cases[i].path);
		cr_expect_eq(e.path_length, strlen(cases[i].path));
	}
}

Test(maps, lines_that_are_none)
{
	static const char *const bad[] = {
		"",
		"x",
		"1000",
		"1000-",
		"1000-2000",
		"1000-2000 ",
		"1000-2000 r-x",
		"1000-2000 r-xp",
		"1000-2000 r-xp 0",
		"1000-2000 r-xp 0 8",
		"1000-2000 r-xp 0 8:",
		"1000-2000 r-xp 0 8:2",
		"1000-2000 r-xp 0 8:2 ",
		"1000-2000 r-xp 0 8:2 x",
		"1000-2000 r-xp 0 8:2 1x /y",
		"2000-1000 r-xp 0 8:2 1 /y",
		"1000-1000 r-xp 0 8:2 1 /y",
		"10000000000000000-2 r-xp 0 8:2 1 /y",
		"1000-2000 r-xp 0 100000000:2 1 /y",
		"1000-2000 r-xp 0 8:2 18446744073709551616 /y",
		"-1000-2000 r-xp 0 8:2 1 /y",
	};
	char line[512];
	struct weft_maps_entry e;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(parse(bad[i], &e, line), -EINVAL, "\"%s\"", bad[i]);
}

Test(maps, no_bytes_do_harm)
{
	static const char set[] = "0123456789abcdef-rwxp: /\\012[]";
	char line[512];
	struct weft_maps_entry e;

	srand(9);
	for (int round = 0; round < 20000; round++) {
		size_t n = (size_t)rand() % 100;

		for (size_t i = 0; i < n; i++)
			line[i] = rand() % 20 ? set[(size_t)rand() % (sizeof(set) - 1)]
					      : (char)rand();
		if (weft_maps_parse(line, n, &e) == 0)
			cr_expect_lt(e.start, e.end);
	}
}

Test(maps, names)
{
	char buf[64];

	cr_expect_eq(weft_maps_name("/a (deleted)", buf, sizeof(buf)), 2u);
	cr_expect_str_eq(buf, "/a");
	weft_maps_name("/a\\012b\\013", buf, sizeof(buf));
	cr_expect_str_eq(buf, "/a\nb\\013");
	weft_maps_name(" (deleted)", buf, sizeof(buf));
	cr_expect_str_eq(buf, " (deleted)");
	cr_expect_eq(weft_maps_name("/abc", buf, 3), 2u);
	cr_expect_str_eq(buf, "/a");
	weft_maps_name("", buf, sizeof(buf));
	cr_expect_str_eq(buf, "");
}

static int count(const struct weft_maps_entry *e, void *arg)
{
	size_t *n = arg;

	cr_expect_lt(e->start, e->end);
	(*n)++;
	return 0;
}

static int stop(const struct weft_maps_entry *e, void *arg)
{
	(void)e;
	return ++*(int *)arg == 2 ? 77 : 0;
}

Test(maps, files)
{
	size_t all = 0, executable = 0;
	int calls = 0;

	cr_expect_eq(weft_maps_read("/proc/self/maps", false, count, &all), 0);
	cr_expect_eq(weft_maps_read("/proc/self/maps", true, count, &executable), 0);
	cr_expect(executable > 2 && executable < all);
	cr_expect_eq(weft_maps_read("/proc/self/maps", false, stop, &calls), 77);
	cr_expect_eq(calls, 2);
	cr_expect_eq(weft_maps_read("/proc/0/maps", false, count, &all), -ENOENT);
}
