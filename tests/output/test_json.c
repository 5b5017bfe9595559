/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The JSON is an interface: its texts are written down here byte by byte, and a parser that is not
 * ours must accept every line. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>

#include "core/arena.h"
#include "output/support.h"

/* One line, valid; the same as `want` unless that is NULL. The caller frees the result. */
static char *take_line(struct capture *c, const char *want)
{
	json_error_t error;
	json_t *parsed;
	char *line;

	capture_end(c);
	cr_assert_gt(c->out_size, 0u);
	cr_expect_eq(strchr(c->out_text, '\n'), c->out_text + c->out_size - 1, "one line");
	if (want)
		cr_expect_str_eq(c->out_text, want);
	parsed = json_loads(c->out_text,
			    JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES,
			    &error);
	cr_expect_not_null(parsed, "%s: %s", error.text, c->out_text);
	json_decref(parsed);
	line = c->out_text;
	free(c->messages_text);
	return line;
}

static void expect_record(const struct weft_record *r, const char *want)
{
	struct capture c;

	capture_begin(&c, "json", 0);
	cr_assert_eq(c.sink.record(c.sink.self, r), 0);
	free(take_line(&c, want));
}

static void expect_table(const struct weft_table *t, const char *want)
{
	struct capture c;

	capture_begin(&c, "json", 0);
	cr_assert_eq(c.sink.table(c.sink.self, t), 0);
	free(take_line(&c, want));
}

Test(json, enums_by_name)
{
	const struct weft_named_value fields[] = {
		{"a", ENUM(1)}, {"b", ENUM(2)}, {"c", ENUM(3)}, {"d", ENUM(-1)}};

	expect_record(&(struct weft_record){.time_ns = 5,
					    .cpu = 1,
					    .probe = "p",
					    .fields = fields,
					    .n_fields = COUNT(fields)},
		      "{\"type\":\"record\",\"time_ns\":5,\"cpu\":1,\"probe\":\"p\",\"fields\":{"
		      "\"a\":\"RED\",\"b\":\"a b\",\"c\":3,\"d\":-1}}\n");
}

Test(json, records)
{
	static const struct weft_frame frames[] = {
		{.address = 0x401234,
		 .symbol = "main",
		 .offset = 12,
		 .module = "/usr/bin/x",
		 .user = true},
		{.address = 0x7f0000001040,
		 .offset = 0x1040,
		 .module = "/usr/lib/y",
		 .user = true,
		 .file = "y\x1b.c",
		 .line = 7},
		{.address = 0xffffffffdeadbeef},
	};
	const struct weft_named_value fields[] = {
		{"program", TEXT("x\"\\\n\xff")}, {"ret", SIGNED(-2)},
		{"min", SIGNED(INT64_MIN)},       {"max", UNSIGNED(UINT64_MAX)},
		{"addr", POINTER(0xdeadbeef)},    {"raw", BYTES("\x00\xff")},
		{"probefunc", PROBE("read")},     {"stack", STACK(WEFT_SPACE_USER, frames)},
	};

	expect_record(
		&(struct weft_record){.time_ns = UINT64_MAX,
				      .cpu = 3,
				      .probe = "uprobe:x:main:entry",
				      .fields = fields,
				      .n_fields = COUNT(fields)},
		"{\"type\":\"record\",\"time_ns\":18446744073709551615,\"cpu\":3,"
		"\"probe\":\"uprobe:x:main:entry\",\"fields\":{"
		"\"program\":\"x\\\"\\\\\\n\\uefff\",\"ret\":-2,"
		"\"min\":-9223372036854775808,\"max\":18446744073709551615,"
		"\"addr\":\"0xdeadbeef\",\"raw\":\"00ff\",\"probefunc\":\"read\",\"stack\":["
		"{\"addr\":\"0x401234\",\"symbol\":\"main\",\"offset\":12,\"module\":\"/usr/bin/x\","
		"\"space\":\"user\"},"
		"{\"addr\":\"0x7f0000001040\",\"offset\":4160,\"module\":\"/usr/lib/y\",\"space\":\"user\","
		"\"file\":\"y\\u001b.c\",\"line\":7},"
		"{\"addr\":\"0xffffffffdeadbeef\",\"space\":\"kernel\"}]}}\n");
}

Test(json, symbols_addresses_dumps_and_registers)
{
	static const struct weft_frame frame = {.address = 0x401234,
						.symbol = "main",
						.offset = 12,
						.module = "/usr/bin/x",
						.user = true};
	static const struct weft_reg regs[] = {{"rip", 0x401234}, {"rsp", UINT64_MAX}};
	const struct weft_named_value fields[] = {
		{"u", SYMBOL(WEFT_SPACE_USER, &frame)},
		{"v4", INET("\x7f\0\0\1")},
		{"c", CGROUP("/x\n")},
		{"buf", DUMP("a\xff")},
		{"regs", REGS(regs)},
	};

	expect_record(
		&(struct weft_record){.probe = "p", .fields = fields, .n_fields = COUNT(fields)},
		"{\"type\":\"record\",\"time_ns\":0,\"cpu\":0,\"probe\":\"p\",\"fields\":{"
		"\"u\":{\"addr\":\"0x401234\",\"symbol\":\"main\",\"offset\":12,"
		"\"module\":\"/usr/bin/x\",\"space\":\"user\"},\"v4\":\"127.0.0.1\","
		"\"c\":\"/x\\n\",\"buf\":\"61ff\","
		"\"regs\":{\"rip\":\"0x401234\",\"rsp\":\"0xffffffffffffffff\"}}}\n");
}

Test(json, printf_has_its_text_and_each_argument_once)
{
	struct weft_arena *arena = weft_arena_create();
	const struct weft_named_value fields[] = {
		{"pid", SIGNED(7)},
		{"pid", SIGNED(7)},
		{"execname", TEXT("a\x1b\xff")},
	};
	struct weft_format format;
	size_t at;

	cr_assert_eq(weft_format_parse("%d %x %s\n", arena, &format, &at, NULL), 0);
	expect_record(
		&(struct weft_record){
			.probe = "begin", .fields = fields, .n_fields = 3, .format = &format},
		"{\"type\":\"record\",\"time_ns\":0,\"cpu\":0,\"probe\":\"begin\",\"fields\":"
		"{\"pid\":7,\"execname\":\"a\\u001b\\uefff\"},\"text\":\"7 7 a\\u001b\\uefff\\n\"}\n");
	weft_arena_destroy(arena);
}

Test(json, tables_of_one_number)
{
	const struct weft_named_value a[] = {{"program", TEXT("x")}, {"cpu", UNSIGNED(1)}};
	const struct weft_row rows[] = {
		{.keys = a, .n_keys = 2, .count = 9, .value = SIGNED(-4)},
		{.keys = a, .n_keys = 2, .count = 1, .value = UNSIGNED(UINT64_MAX)}};
	struct weft_table t = {.name = "n", .kind = WEFT_ACTION_COUNT, .rows = rows, .n_rows = 2};

	expect_table(&t, "{\"type\":\"aggregation\",\"name\":\"n\",\"kind\":\"count\",\"rows\":["
			 "{\"by\":{\"program\":\"x\",\"cpu\":1},\"value\":9},"
			 "{\"by\":{\"program\":\"x\",\"cpu\":1},\"value\":1}]}\n");
	t.kind = WEFT_ACTION_MIN;
	t.unit = "ns";
	expect_table(
		&t,
		"{\"type\":\"aggregation\",\"name\":\"n\",\"kind\":\"min\",\"unit\":\"ns\",\"rows\":["
		"{\"by\":{\"program\":\"x\",\"cpu\":1},\"value\":-4},"
		"{\"by\":{\"program\":\"x\",\"cpu\":1},\"value\":18446744073709551615}]}\n");
	t.n_rows = 0;
	expect_table(
		&t,
		"{\"type\":\"aggregation\",\"name\":\"n\",\"kind\":\"min\",\"unit\":\"ns\",\"rows\":[]}\n");
}

Test(json, averages)
{
	const struct weft_row rows[] = {{.count = 3, .value = SIGNED(10)},
					{.count = 2, .value = SIGNED(-10)},
					{.count = 1, .value = UNSIGNED(UINT64_MAX)}};
	struct weft_table t = {.name = "a", .kind = WEFT_ACTION_AVG, .rows = rows, .n_rows = 3};

	expect_table(&t, "{\"type\":\"aggregation\",\"name\":\"a\",\"kind\":\"avg\",\"rows\":["
			 "{\"by\":{},\"value\":{\"avg\":3.3333333333333335,\"count\":3,\"sum\":10}},"
			 "{\"by\":{},\"value\":{\"avg\":-5.0,\"count\":2,\"sum\":-10}},"
			 "{\"by\":{},\"value\":{\"avg\":1.8446744073709552e+19,\"count\":1,"
			 "\"sum\":18446744073709551615}}]}\n");
}

Test(json, standard_deviations)
{
	const struct weft_row rows[] = {
		{.count = 8, .value = SIGNED(40), .stddev = 2},
		{.count = 2, .value = SIGNED(INT64_MAX), .wraps = 1, .stddev = 0}};
	struct weft_table t = {.name = "a", .kind = WEFT_ACTION_STDDEV, .rows = rows, .n_rows = 2};

	expect_table(&t,
		     "{\"type\":\"aggregation\",\"name\":\"a\",\"kind\":\"stddev\",\"rows\":["
		     "{\"by\":{},\"value\":{\"stddev\":2.0,\"avg\":5.0,\"count\":8,\"sum\":40}},"
		     "{\"by\":{},\"value\":{\"stddev\":0.0,\"avg\":1.3835058055282164e+19,\"count\":2,"
		     "\"sum\":27670116110564327423},\"wide\":true}]}\n");
}

Test(json, scaled_and_cut)
{
	const struct weft_row rows[] = {{.count = 3, .value = SIGNED(40), .stddev = 2}};
	struct weft_table t = {.name = "a",
			       .kind = WEFT_ACTION_COUNT,
			       .rows = rows,
			       .n_rows = 1,
			       .n_left_out = 5,
			       .scale = {.per_ns = 1000, .elapsed_ns = 2000}};

	expect_table(&t, "{\"type\":\"aggregation\",\"name\":\"a\",\"kind\":\"count\",\"per_ns\":"
			 "1000,\"elapsed_ns\":2000,\"left_out\":5,\"rows\":["
			 "{\"by\":{},\"value\":1.5}]}\n");
	t.kind = WEFT_ACTION_STDDEV;
	t.n_left_out = 0;
	t.scale = (struct weft_scale){.divide = 4};
	expect_table(&t, "{\"type\":\"aggregation\",\"name\":\"a\",\"kind\":\"stddev\",\"divide\":4,"
			 "\"rows\":[{\"by\":{},\"value\":{\"stddev\":0.5,\"avg\":3.3333333333333335,"
			 "\"count\":3,\"sum\":40}}]}\n");
}

Test(json, averages_read_back_as_the_same_number)
{
	srand(3);
	for (int i = 0; i < 500; i++) {
		struct weft_row row = {.count = 1u + (uint64_t)rand(),
				       .value = SIGNED((int64_t)rand() * rand())};
		struct weft_table t = {
			.name = "a", .kind = WEFT_ACTION_AVG, .rows = &row, .n_rows = 1};
		struct capture c;
		char *line, *at;

		capture_begin(&c, "json", 0);
		c.sink.table(c.sink.self, &t);
		line = take_line(&c, NULL);
		at = strstr(line, "\"avg\":");
		cr_assert_not_null(at);
		cr_expect_eq(strtod(at + 6, NULL),
			     (double)((long double)row.value.i / (long double)row.count));
		free(line);
	}
}

Test(json, histograms)
{
	static const struct weft_bucket signed_buckets[] = {
		{.from = INT64_MIN, .to = -4, .count = 1},
		{.from = 0, .to = 1, .count = 2},
		{.from = INT64_C(1) << 62, .to = INT64_MAX, .count = 3, .to_is_max = true},
	};
	static const struct weft_bucket unsigned_buckets[] = {
		{.from = INT64_MIN, .to = -1, .count = 1, .is_unsigned = true, .to_is_max = true},
	};
	const struct weft_row rows[] = {{.count = 6, .buckets = signed_buckets, .n_buckets = 3},
					{.count = 1, .buckets = unsigned_buckets, .n_buckets = 1}};

	expect_table(
		&(struct weft_table){.name = "q",
				     .kind = WEFT_ACTION_QUANTIZE,
				     .unit = "ns",
				     .rows = rows,
				     .n_rows = 2},
		"{\"type\":\"aggregation\",\"name\":\"q\",\"kind\":\"quantize\",\"unit\":\"ns\",\"rows\":["
		"{\"by\":{},\"value\":{\"count\":6,\"buckets\":["
		"{\"from\":-9223372036854775808,\"to\":-4,\"count\":1},"
		"{\"from\":0,\"to\":1,\"count\":2},"
		"{\"from\":4611686018427387904,\"to\":9223372036854775807,\"count\":3}]}},"
		"{\"by\":{},\"value\":{\"count\":1,\"buckets\":["
		"{\"from\":9223372036854775808,\"to\":18446744073709551615,\"count\":1}]}}]}\n");
}

Test(json, losses_and_the_end)
{
	struct capture c;

	capture_begin(&c, "json", 0);
	c.sink.loss(c.sink.self, &(struct weft_loss_report){.tag = "NESTED",
							    .meaning = "a \"b\"",
							    .count = 7,
							    .where = "x.yaml:1:2",
							    .remedy = "wait"});
	free(take_line(
		&c, "{\"type\":\"loss\",\"tag\":\"NESTED\",\"count\":7,\"meaning\":\"a \\\"b\\\"\","
		    "\"where\":\"x.yaml:1:2\",\"remedy\":\"wait\"}\n"));
	capture_begin(&c, "json", 0);
	c.sink.loss(c.sink.self,
		    &(struct weft_loss_report){.tag = "NESTED", .meaning = "m", .count = 1});
	free(take_line(&c, "{\"type\":\"loss\",\"tag\":\"NESTED\",\"count\":1,\"meaning\":\"m\"}\n"));
	capture_begin(&c, "json", 0);
	c.sink.loss(c.sink.self,
		    &(struct weft_loss_report){
			    .tag = "SAMPLED_OUT", .meaning = "m", .count = 2, .asked = true});
	free(take_line(
		&c,
		"{\"type\":\"skipped\",\"tag\":\"SAMPLED_OUT\",\"count\":2,\"meaning\":\"m\"}\n"));
	capture_begin(&c, "json", 0);
	c.sink.end(c.sink.self, &(struct weft_end){.reason = "target", .status = 3});
	free(take_line(&c, "{\"type\":\"end\",\"reason\":\"target\",\"status\":3}\n"));
}

Test(json, any_bytes_make_a_valid_line)
{
	srand(11);
	for (int round = 0; round < 500; round++) {
		char bytes[64];
		struct weft_named_value field = {"v", TEXT("")};
		struct capture c;

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (char)(rand() % 4 ? rand() : "\xee\xbe\xed\xf4"[rand() % 4]);
		field.value.text.s = bytes;
		field.value.text.n = sizeof(bytes);
		capture_begin(&c, "json", 0);
		c.sink.record(c.sink.self,
			      &(struct weft_record){.probe = "p", .fields = &field, .n_fields = 1});
		free(take_line(&c, NULL));
	}
}
