/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>

#include "output/support.h"

static void expect_table(const struct weft_table *t, int width, const char *want)
{
	struct capture c;

	capture_begin(&c, "text", width);
	cr_assert_eq(c.sink.table(c.sink.self, t), 0);
	capture_end(&c);
	cr_expect_str_eq(c.out_text, want);
	capture_free(&c);
}

Test(histogram, gaps_are_drawn_and_times_scaled)
{
	static const struct weft_bucket buckets[] = {
		{.from = 512, .to = 1024, .count = 1},
		{.from = 1024, .to = 2048, .count = 40},
		{.from = 8192, .to = 16384, .count = 20},
		{.from = 1048576, .to = 2097152, .count = 1},
	};
	const struct weft_named_value keys[] = {{"program", TEXT("bash")}, {"cpu", UNSIGNED(1)}};
	const struct weft_row row = {
		.keys = keys, .n_keys = 2, .count = 62, .buckets = buckets, .n_buckets = 4};

	expect_table(&(struct weft_table){.name = "latency",
					  .kind = WEFT_ACTION_QUANTIZE,
					  .unit = "ns",
					  .rows = &row,
					  .n_rows = 1},
		     0,
		     "latency (quantize, ns):\n"
		     "  program=bash cpu=1 62 values\n"
		     "    [512ns, 1.02us)    1 |#                                       |\n"
		     "    [1.02us, 2.05us)  40 |########################################|\n"
		     "    [2.05us, 4.1us)    0 |                                        |\n"
		     "    [4.1us, 8.19us)    0 |                                        |\n"
		     "    [8.19us, 16.4us)  20 |####################                    |\n"
		     "    [16.4us, 32.8us)   0 |                                        |\n"
		     "    [32.8us, 65.5us)   0 |                                        |\n"
		     "    [65.5us, 131us)    0 |                                        |\n"
		     "    [131us, 262us)     0 |                                        |\n"
		     "    [262us, 524us)     0 |                                        |\n"
		     "    [524us, 1.05ms)    0 |                                        |\n"
		     "    [1.05ms, 2.1ms)    1 |#                                       |\n");
}

Test(histogram, negative_zero_and_positive)
{
	static const struct weft_bucket closed[] = {
		{.from = -7, .to = -3, .count = 1}, /* -4 to -7, as some count them */
		{.from = 0, .to = 1, .count = 2},
		{.from = 2, .to = 4, .count = 4},
	};
	static const struct weft_bucket open[] = {
		{.from = -8, .to = -4, .count = 1},
		{.from = -1, .to = 0, .count = 2},
		{.from = 1, .to = 2, .count = 4},
	};
	struct weft_row row = {.count = 7, .buckets = closed, .n_buckets = 3};
	struct weft_table t = {.name = "d", .kind = WEFT_ACTION_QUANTIZE, .rows = &row, .n_rows = 1};

	expect_table(&t, 30,
		     "d (quantize):\n"
		     "  7 values\n"
		     "    [-7, -3)  1 |###         |\n"
		     "    [-3, -1)  0 |            |\n"
		     "    [-1, 0)   0 |            |\n"
		     "    [0, 1)    2 |######      |\n"
		     "    [1, 2)    0 |            |\n"
		     "    [2, 4)    4 |############|\n");
	row.buckets = open;
	expect_table(&t, 1,
		     "d (quantize):\n"
		     "  7 values\n"
		     "    [-8, -4)  1 |##      |\n"
		     "    [-4, -2)  0 |        |\n"
		     "    [-2, -1)  0 |        |\n"
		     "    [-1, 0)   2 |####    |\n"
		     "    [0, 1)    0 |        |\n"
		     "    [1, 2)    4 |########|\n");
}

Test(histogram, bounds_at_the_extremes)
{
	static const struct weft_bucket sign[] = {
		{.from = INT64_MIN, .to = INT64_MIN / 2, .count = 1},
	};
	static const struct weft_bucket last[] = {
		{.from = INT64_C(1) << 62, .to = INT64_MAX, .count = 1, .to_is_max = true},
	};
	static const struct weft_bucket top[] = {
		{.from = INT64_MIN,
		 .to = -1,
		 .count = UINT64_MAX,
		 .is_unsigned = true,
		 .to_is_max = true},
	};
	struct weft_row row = {.count = 1, .buckets = sign, .n_buckets = 1};
	struct weft_table t = {.name = "d", .kind = WEFT_ACTION_QUANTIZE, .rows = &row, .n_rows = 1};

	expect_table(&t, 1, "d (quantize):\n  1 value\n    [-8E, -4E)  1 |########|\n");
	row.buckets = last;
	expect_table(&t, 1, "d (quantize):\n  1 value\n    [4E, max]  1 |########|\n");
	row.buckets = top;
	t.unit = "ns";
	expect_table(&t, 1,
		     "d (quantize, ns):\n  1 value\n"
		     "    [9223372037s, max]  18446744073709551615 |########|\n");
}

Test(histogram, bytes_and_plain_numbers_are_exact)
{
	static const struct weft_bucket buckets[] = {
		{.from = 512, .to = 1024, .count = 1},
		{.from = 1024, .to = 2048, .count = 1},
		{.from = 3 * 1048576,
		 .to = 3 * 1048576 + 1,
		 .count = 1}, /* no power of two: one gap before it */
	};
	struct weft_row row = {.count = 3, .buckets = buckets, .n_buckets = 3};
	struct weft_table t = {.name = "d",
			       .kind = WEFT_ACTION_QUANTIZE,
			       .unit = "bytes",
			       .rows = &row,
			       .n_rows = 1};
	struct capture c;

	capture_begin(&c, "text", 1);
	cr_assert_eq(c.sink.table(c.sink.self, &t), 0);
	capture_end(&c);
	cr_expect(strstr(c.out_text, "[512B, 1KiB)"));
	cr_expect(strstr(c.out_text, "[1KiB, 2KiB)"));
	cr_expect(strstr(c.out_text, "[2MiB, 3MiB) "));
	cr_expect(strstr(c.out_text, "[3MiB, 3145729B)"));
	capture_free(&c);
}

static const struct weft_buckets tens = {
	.how = WEFT_BUCKETS_LINEAR, .from = 100000, .to = 105000, .step = 100};

/* Bounds that are alike in three digits are told apart. */
Test(histogram, linear)
{
	static const struct weft_bucket buckets[] = {
		{.number = 0, .from = INT64_MIN, .to = 100000, .count = 4, .from_is_min = true},
		{.number = 1, .from = 100000, .to = 100100, .count = 1},
		{.number = 4, .from = 100300, .to = 100400, .count = 2},
		{.number = 50, .from = 104900, .to = 105000, .count = 1},
		{.number = 51, .from = 105000, .to = INT64_MAX, .count = 8, .to_is_max = true},
	};
	struct weft_row row = {.count = 16, .buckets = buckets, .n_buckets = 5};
	struct weft_table t = {.name = "d",
			       .kind = WEFT_ACTION_LQUANTIZE,
			       .unit = "ns",
			       .buckets = &tens,
			       .rows = &row,
			       .n_rows = 1};

	expect_table(&t, 1,
		     "d (lquantize, ns):\n"
		     "  16 values\n"
		     "    [min, 100us)        4 |####    |\n"
		     "    [100us, 100.1us)    1 |#       |\n"
		     "    [100.1us, 100.2us)  0 |        |\n"
		     "    [100.2us, 100.3us)  0 |        |\n"
		     "    [100.3us, 100.4us)  2 |##      |\n"
		     "    [100.4us, 104.9us)  0 |        |\n" /* a long gap is one line */
		     "    [104.9us, 105us)    1 |#       |\n"
		     "    [105us, max]        8 |########|\n");
}

Test(histogram, log_linear)
{
	static const struct weft_buckets spec = {
		.how = WEFT_BUCKETS_LOG_LINEAR, .factor = 10, .low = 0, .high = 2, .steps = 10};
	static const struct weft_bucket buckets[] = {
		{.number = 8, .from = 8, .to = 9, .count = 1},
		{.number = 11, .from = 20, .to = 30, .count = 2},
	};
	struct weft_row row = {.count = 3, .buckets = buckets, .n_buckets = 2};
	struct weft_table t = {.name = "d",
			       .kind = WEFT_ACTION_LLQUANTIZE,
			       .unit = "bytes",
			       .buckets = &spec,
			       .rows = &row,
			       .n_rows = 1};

	expect_table(&t, 1,
		     "d (llquantize, bytes):\n"
		     "  3 values\n"
		     "    [8B, 9B)    1 |####    |\n"
		     "    [9B, 10B)   0 |        |\n"
		     "    [10B, 20B)  0 |        |\n"
		     "    [20B, 30B)  2 |########|\n");
}
