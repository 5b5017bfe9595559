/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A plugin of another time, built with the headers of then: it is loaded, listed, described,
 * attached and counts exactly; and today's structs still have everything where it was.
 */
#include "cli/support.h"

#include "weft/provider.h"

#define AGED "--plugin-dir", AGED_DIR

/* ---- offsets and sizes ---- */

static const struct {
	const char *name;
	size_t now, then;
	bool may_grow;
} sizes[] = {
#define STRUCT(s, size, grows) {#s, sizeof(struct s), size, grows},
#define MEMBER(s, m, offset, size)
#include AGED_LAYOUT
#undef STRUCT
#undef MEMBER
};

static const struct {
	const char *name, *member;
	size_t offset, offset_then, size, size_then;
} members[] = {
#define STRUCT(s, size, grows)
#define MEMBER(s, m, offset, size) \
	{#s, #m, offsetof(struct s, m), offset, sizeof(((struct s *)NULL)->m), size},
#include AGED_LAYOUT
#undef STRUCT
#undef MEMBER
};

Test(abi, everything_is_where_it_was)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (sizes[i].may_grow)
			cr_expect_geq(sizes[i].now, sizes[i].then, "%s", sizes[i].name);
		else
			cr_expect_eq(sizes[i].now, sizes[i].then, "%s", sizes[i].name);
	}
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		cr_expect_eq(members[i].offset, members[i].offset_then, "%s.%s", members[i].name,
			     members[i].member);
		cr_expect_eq(members[i].size, members[i].size_then, "%s.%s", members[i].name,
			     members[i].member);
	}
	cr_expect_gt(sizeof(members) / sizeof(members[0]), 200);
}

/* ---- the plugin ---- */

Test(abi, it_is_found_listed_and_described)
{
	struct cli_run c;

	CLI(&c, "providers", AGED);
	cli_expect(&c, 0, NULL, "");
	cr_expect(strstr(c.out, "usable    " AGED_DIR "/aged.so\n"), "%s", c.out);
	cr_expect(strstr(c.out, "a provider of another time\n"), "%s", c.out);
	cli_finish(&c);
	CLI(&c, "list", AGED, "aged");
	cli_expect(&c, 0,
		   "aged::getppid:entry\naged::getppid:return\naged::getuid:entry\n"
		   "aged::getuid:return\n",
		   "");
	cli_finish(&c);
	CLI(&c, "list", AGED, "-v", "aged:::now");
	cr_expect_eq(c.status, 0, "%s", c.err);
	cr_expect(strstr(c.out, "aged:::now\n"), "%s", c.out);
	cr_expect(strstr(c.out, "    number 4\n"), "%s", c.out);
	cli_finish(&c);
	CLI(&c, "list", AGED, "-v", "aged::getppid:");
	cr_expect_eq(c.status, 0, "%s", c.err);
	cr_expect(strstr(c.out, "    arg0     nr               uint32\n"), "%s", c.out);
	cr_expect(strstr(c.out, "(cannot be read: it was forgotten)\n"), "%s", c.out);
	cr_expect(strstr(c.out, "    long (void)\n"), "%s", c.out);
	cr_expect(strstr(c.out, "    elapsed                   int64"), "%s", c.out);
	cli_finish(&c);
	CLI(&c, "info", AGED);
	cr_expect(strstr(c.out, "tracepoints, as ever"), "%s", c.out);
	cli_finish(&c);
}

static json_int_t number(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

Test(abi, it_attaches_and_counts_exactly)
{
	const char *set = cli_set(
		"version: 1\n"
		"target: {command: [" CALLS ", '1000']}\n"
		"probes:\n"
		"  - probe: 'aged::getppid:entry'\n"
		"    do:\n"
		"      - count: {into: calls}\n"
		"      - sum: {into: halves, value: args.half}\n"
		"      - emit: {nr: args.nr}\n"
		"  - probe: 'aged::getppid:return'\n"
		"    do:\n"
		"      - count: {into: pairs, by: {own: retval == ppid, took: elapsed > 0}}\n");
	struct cli_run c;
	const json_t *rows, *record;
	json_t *lines;

	CLI(&c, "run", AGED, "-o", "json", set);
	cr_assert_eq(c.status, 0, "%s", c.err);
	lines = cli_json_lines(c.out);
	cr_assert_eq(cli_json_count(lines, "aggregation"), 3, "%s", c.out);
	for (size_t i = 0; i < 3; i++) {
		const json_t *a = cli_json_nth(lines, "aggregation", i);
		const char *name = json_string_value(json_object_get(a, "name"));

		rows = json_object_get(a, "rows");
		cr_assert_eq(json_array_size(rows), 1, "%s", c.out);
		rows = json_array_get(rows, 0);
		cr_expect_eq(number(rows, "value"), strcmp(name, "halves") ? 1000 : 55000, "%s",
			     name);
		if (!strcmp(name, "pairs")) {
			cr_expect_eq(number(json_object_get(rows, "by"), "own"), 1);
			cr_expect_eq(number(json_object_get(rows, "by"), "took"), 1);
		}
	}
	cr_expect_eq(cli_json_count(lines, "record"), 1000);
	cr_expect_eq(cli_json_count(lines, "loss"), 0);
	record = cli_json_nth(lines, "record", 999);
	cr_assert_not_null(record);
	cr_expect_eq(number(json_object_get(record, "fields"), "nr"), 110);
	json_decref(lines);
	cli_finish(&c);
	cli_unlink_sets();
}

Test(abi, what_it_refuses_is_said_in_its_words)
{
	struct cli_run c;

	CLI(&c, "list", AGED, "aged:::never");
	cr_expect_eq(c.status, 2);
	cr_expect(strstr(c.err, "aged has no probe 'never' [AGED_NONE]"), "%s", c.err);
	cli_finish(&c);
}
