/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/probes.h"

#define MANY 100000u

Test(registry, a_probe_tells_what_it_was_given)
{
	struct weft_registry_core *r = weft_registry_create();
	struct weft_registry *h = weft_registry_of(r, "fbt");
	const struct weft_probe *p = add(h, "vmlinux", "vfs_read", "entry", 77);
	struct weft_probe_desc d;
	char text[64];

	weft_probe_desc(p, &d);
	cr_expect_eq(d.struct_size, sizeof(d));
	cr_expect_str_eq(d.provider, "fbt");
	cr_expect_str_eq(d.module, "vmlinux");
	cr_expect_str_eq(d.function, "vfs_read");
	cr_expect_str_eq(d.name, "entry");
	cr_expect_eq(weft_probe_data(p), 77);
	cr_expect_eq(weft_probe_index(p), 0);
	cr_expect_not(weft_probe_retired(p));
	cr_expect_eq(weft_probe_format(p, text, sizeof(text)), 26);
	cr_expect_str_eq(text, "fbt:vmlinux:vfs_read:entry");
	cr_expect_eq(weft_registry_size(r), 1);
	cr_expect_eq(weft_registry_at(r, 0), p);
	cr_expect_null(weft_registry_at(r, 1));
	weft_registry_destroy(r);
	weft_registry_destroy(NULL);
}

Test(registry, format_cuts_like_snprintf)
{
	struct weft_registry_core *r = weft_registry_create();
	const struct weft_probe *p = add(weft_registry_of(r, "ab"), "", "f*", "entry", 0);
	static const char whole[] = "ab::f*:entry";

	cr_expect_eq(weft_probe_format(p, NULL, 0), (int)strlen(whole));
	for (size_t size = 1; size <= sizeof(whole) + 1; size++) {
		char text[sizeof(whole) + 2], expected[sizeof(whole) + 2];

		memset(text, '#', sizeof(text));
		cr_expect_eq(weft_probe_format(p, text, size), (int)strlen(whole));
		snprintf(expected, size, "%s", whole);
		cr_expect_str_eq(text, expected, "size %zu", size);
		cr_expect_eq(text[size], '#', "size %zu", size);
	}
	weft_registry_destroy(r);
}

Test(registry, one_handle_for_each_provider)
{
	struct weft_registry_core *r = weft_registry_create();
	struct weft_registry *a = weft_registry_of(r, "a");
	struct weft_registry *b = weft_registry_of(r, "b");
	struct weft_probe_desc d = desc("m", "f", "n");
	const struct weft_probe *pa, *pb;

	cr_expect_neq(a, b);
	cr_expect_eq(weft_registry_of(r, "a"), a);
	pa = add(a, "m", "f", "n", 1);
	pb = add(b, "m", "f", "n", 2);
	cr_expect_neq(pa, pb, "the same names of two providers are two probes");
	cr_expect_eq(weft_registry_find(a, &d), pa);
	cr_expect_eq(weft_registry_find(b, &d), pb);

	d.provider = "b";
	cr_expect_eq(weft_registry_find(a, &d), pa, "the provider is the handle's");
	weft_registry_retire(a, pb);
	cr_expect_not(weft_probe_retired(pb), "nobody retires another's probes");
	weft_registry_destroy(r);
}

Test(registry, EEXIST_keeps_the_data_and_gives_the_probe)
{
	struct weft_registry_core *r = weft_registry_create();
	struct weft_registry *h = weft_registry_of(r, "p");
	const struct weft_probe *first = add(h, "m", "f", "n", 1), *again = NULL;
	struct weft_error *err = weft_error_create();
	struct weft_probe_desc d = desc("m", "f", "n");

	cr_expect_eq(weft_registry_add(h, &d, 2, &again, err), -EEXIST);
	cr_expect_eq(again, first);
	cr_expect_eq(weft_probe_data(first), 1);
	cr_expect_eq(weft_registry_size(r), 1);
	cr_expect_eq(weft_error_count(err), 0, "a state, not a failure to describe");
	cr_expect_eq(weft_registry_add(h, &d, 2, NULL, err), -EEXIST, "out is optional");
	weft_error_destroy(err);
	weft_registry_destroy(r);
}

Test(registry, fields_are_not_confused)
{
	struct weft_registry_core *r = weft_registry_create();
	struct weft_registry *h = weft_registry_of(r, "p");
	struct weft_probe_desc d;

	add(h, "a", "b", "c", 0);
	add(h, "a", "c", "b", 0);
	add(h, "", "ab", "c", 0);
	add(h, "ab", "", "c", 0);
	add(h, "", "", "abc", 0);
	d = desc("a", "b", "d");
	cr_expect_null(weft_registry_find(h, &d), "no such text");
	d = desc("c", "b", "a");
	cr_expect_null(weft_registry_find(h, &d), "the texts, but not there");
	d = desc("", "", "");
	cr_expect_null(weft_registry_find(h, &d));
	d = desc("A", "b", "c");
	cr_expect_null(weft_registry_find(h, &d), "case counts");
	weft_registry_destroy(r);
}

Test(registry, retired_and_alive_again)
{
	struct weft_registry_core *r = weft_registry_create();
	struct weft_registry *h = weft_registry_of(r, "p");
	const struct weft_probe *p = add(h, "m", "f", "n", 1), *other = add(h, "m", "f", "o", 2);
	struct weft_probe_desc d = desc("m", "f", "n");
	bool revived;

	cr_expect_null(weft_registry_next_changed(r, &revived));
	weft_registry_retire(h, p);
	weft_registry_retire(h, p);
	weft_registry_retire(h, NULL);
	cr_expect(weft_probe_retired(p));
	cr_expect_not(weft_probe_retired(other));
	cr_expect_null(weft_registry_find(h, &d));
	cr_expect_str_eq(matched(r, ":::"), "p:m:f:o");
	cr_expect_str_eq(matched(r, "p:m:f:n"), "", "by hash too");
	cr_expect_eq(weft_registry_size(r), 2, "it is never removed");

	cr_expect_eq(add(h, "m", "f", "n", 5), p, "the same probe");
	cr_expect_not(weft_probe_retired(p));
	cr_expect_eq(weft_probe_data(p), 5, "with the new data");
	cr_expect_eq(weft_probe_index(p), 0, "at its old place");
	cr_expect_eq(weft_registry_find(h, &d), p);
	cr_expect_str_eq(matched(r, ":::"), "p:m:f:n p:m:f:o");
	weft_registry_destroy(r);
}

Test(registry, says_which_probes_came_alive_again)
{
	struct weft_registry_core *r = weft_registry_create();
	struct weft_registry *h = weft_registry_of(r, "p");
	const struct weft_probe *a = add(h, "", "", "a", 0), *b = add(h, "", "", "b", 0);
	bool revived = false;

	for (int round = 0; round < 3; round++) {
		weft_registry_retire(h, a);
		weft_registry_retire(h, b);
		add(h, "", "", "b", 0);
		weft_registry_retire(h, b);
		add(h, "", "", "b", 0);
		cr_expect_eq(weft_registry_next_changed(r, &revived), b,
			     "once, however often it went");
		cr_expect_null(weft_registry_next_changed(r, &revived));
		add(h, "", "", "a", 0);
		weft_registry_retire(h, a);
		cr_expect(revived);
		cr_expect_null(weft_registry_next_changed(r, &revived), "not if it is gone again");
	}
	weft_registry_destroy(r);
}

Test(registry, says_which_probes_were_extended)
{
	struct weft_registry_core *r = weft_registry_create();
	struct weft_registry *h = weft_registry_of(r, "p"), *others = weft_registry_of(r, "q");
	const struct weft_probe *a = add(h, "", "", "a", 0), *b = add(h, "", "", "b", 0);
	bool revived = true;

	for (int round = 0; round < 3; round++) {
		cr_expect_eq(weft_registry_extended(h, a), 0);
		cr_expect_eq(weft_registry_extended(h, a), 0);
		cr_expect_eq(weft_registry_extended(h, NULL), 0);
		cr_expect_eq(weft_registry_extended(others, b), 0, "nobody extends another's");
		cr_expect_eq(weft_registry_next_changed(r, &revived), a);
		cr_expect_not(revived);
		cr_expect_null(weft_registry_next_changed(r, &revived));
		weft_registry_retire(h, b);
		cr_expect_eq(weft_registry_extended(h, b), 0);
		cr_expect_null(weft_registry_next_changed(r, &revived), "it is retired");
		/* Extended, gone and alive again: that it is alive again is what counts. */
		weft_registry_extended(h, a);
		weft_registry_retire(h, a);
		add(h, "", "", "a", 0);
		add(h, "", "", "b", 0);
		cr_expect_eq(weft_registry_next_changed(r, &revived), a);
		cr_expect(revived);
		cr_expect_eq(weft_registry_next_changed(r, &revived), b);
		cr_expect_null(weft_registry_next_changed(r, &revived));
	}
	weft_registry_destroy(r);
}

/* ---- what providers may not add ---- */

static void bad(const char *module, const char *function, const char *name, const char *says)
{
	struct weft_registry_core *r = weft_registry_create();
	struct weft_error *err = weft_error_create();
	struct weft_probe_desc d = desc(module, function, name);
	const struct weft_probe *p = (const struct weft_probe *)&d;

	cr_expect_eq(weft_registry_add(weft_registry_of(r, "p"), &d, 0, &p, err), -EINVAL);
	cr_expect_null(p);
	cr_expect_str_eq(weft_error_tag(err), "PROBE_NAME_BAD");
	cr_expect_not_null(strstr(weft_error_text(err), says), "%s", weft_error_text(err));
	for (const char *c = weft_error_text(err); *c; c++)
		cr_expect((unsigned char)*c >= 0x20, "the message repeats the control character");
	cr_expect_eq(weft_registry_size(r), 0);
	weft_error_destroy(err);
	weft_registry_destroy(r);
}

Test(registry, PROBE_NAME_BAD)
{
	struct weft_registry_core *r = weft_registry_create();
	struct weft_registry *h = weft_registry_of(r, "p");
	struct weft_probe_desc d;
	char text[4098];

	bad("a\nb", "f", "n",
	    "module of a probe of provider 'p' has a control character (0x0a) at "
	    "byte 1, after 'a'");
	bad("m", "\x1b[31mred", "n", "function");
	bad("m", "f", "x\x7f", "(0x7f) at byte 1");
	bad("m", "f",
	    "\xc2\x9b"
	    "31m",
	    "(0xc2) at byte 0");
	memset(text, 'a', 4097);
	text[4097] = '\0';
	bad(text, "f", "n", "more than 4096 bytes");
	bad("m", text, "n", "function");

	text[4096] = '\0';
	add(h, text, text, text, 0);
	add(h, "m\xc3\xbcll", "\xff\xfe", "caf\xc2\xa0\xc3", 0);
	d = desc(text, text, text);
	cr_expect_not_null(weft_registry_find(h, &d), "4,096 bytes are the most");
	weft_registry_destroy(r);
}

Test(registry, PROBE_NAME_BAD_for_a_description_without_its_size)
{
	struct weft_registry_core *r = weft_registry_create();
	struct weft_error *err = weft_error_create();
	struct weft_registry *h = weft_registry_of(r, "p");
	struct weft_probe_desc d = {.provider = "", .module = "m", .function = "f", .name = "n"};

	cr_expect_eq(weft_registry_add(h, &d, 0, NULL, err), -EINVAL);
	cr_expect_str_eq(weft_error_tag(err), "PROBE_NAME_BAD");
	cr_expect_not_null(strstr(weft_error_text(err), "struct_size"));
	cr_expect_null(weft_registry_find(h, &d));
	d = (struct weft_probe_desc){.struct_size = sizeof(d) + 64};
	d.name = "n";
	cr_expect_eq(weft_registry_add(h, &d, 0, NULL, err), 0, "a newer plugin's, NULL is empty");
	cr_expect_str_eq(matched(r, ":::"), "p:::n");
	weft_error_destroy(err);
	weft_registry_destroy(r);
}

/* ---- many ---- */

static void name_of(char *buf, size_t size, unsigned int i)
{
	snprintf(buf, size, "subsystem_%02u_function_%u", i % 37, i);
}

Test(registry, many_probes_are_found_stay_where_they_are_and_are_small, .timeout = 120)
{
	struct weft_registry_core *r = weft_registry_create();
	struct weft_registry *h = weft_registry_of(r, "fbt");
	const struct weft_probe **probes = calloc(MANY, sizeof(struct weft_probe *));
	size_t strings, rest;
	char function[64];

	for (unsigned int i = 0; i < MANY; i++) {
		name_of(function, sizeof(function), i);
		probes[i] = add(h, "vmlinux", function, "entry", i);
	}
	cr_assert_eq(weft_registry_size(r), MANY);
	for (unsigned int i = 0; i < MANY; i++) {
		struct weft_probe_desc d, said;

		name_of(function, sizeof(function), i);
		d = desc("vmlinux", function, "entry");
		cr_assert_eq(weft_registry_find(h, &d), probes[i], "%s", function);
		cr_assert_eq(weft_registry_at(r, i), probes[i]);
		cr_assert_eq(weft_probe_index(probes[i]), i);
		cr_assert_eq(weft_probe_data(probes[i]), i);
		weft_probe_desc(probes[i], &said);
		cr_assert_str_eq(said.function, function);
		d.name = "return";
		cr_assert_null(weft_registry_find(h, &d));
	}
	/* Every function has a string to itself here, the dearest case. */
	weft_registry_memory(r, &strings, &rest);
	cr_expect_leq(rest, 100u * MANY, "%zu bytes", rest);
	cr_expect_geq(rest, 32u * MANY, "%zu bytes", rest);
	cr_expect_geq(strings, MANY * strlen("subsystem_00_function_0"));
	free(probes);
	weft_registry_destroy(r);
}

/* The bound holds wherever a table has just doubled. */
Test(registry, memory_is_bounded_at_every_size_above_twenty_thousand, .timeout = 120)
{
	struct weft_registry_core *r = weft_registry_create();
	struct weft_registry *h = weft_registry_of(r, "fbt");
	size_t strings, rest, worst = 0;
	char function[64];

	for (unsigned int i = 0; i < MANY; i++) {
		name_of(function, sizeof(function), i);
		add(h, "vmlinux", function, "entry", i);
		weft_registry_memory(r, &strings, &rest);
		if (i >= 20000 && rest / (i + 1) > worst)
			worst = rest / (i + 1);
	}
	cr_expect_leq(worst, 100, "%zu bytes a probe", worst);
	weft_registry_destroy(r);
}
