/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What aggregations hold after values at the edges: exact words, exact rows. */
#include <stdio.h>
#include <unistd.h>

#include "core/bucket.h"
#include "rig.h"

static const int64_t values[] = {
	-1,
	0,
	1,
	2,
	3,
	4,
	-2,
	-3,
	-4,
	127,
	128,
	INT64_C(1) << 31,
	(INT64_C(1) << 31) - 1,
	INT64_C(1) << 32,
	(INT64_C(1) << 62) - 1,
	INT64_C(1) << 62,
	INT64_MIN,
	INT64_MIN + 1,
	INT64_MAX,
	INT64_MAX - 1,
};

static void run_all(struct rig *r)
{
	for (size_t i = 0; i < N(values); i++) {
		const uint64_t words[RIG_ARGS] = {(uint64_t)values[i], i % 3};

		rig_run(r, words);
	}
	cr_expect(!rig_losses(r));
}

static void load_one(struct rig *r, const char *action, const char *by, bool is_signed)
{
	rig_init(r);
	rig_arg(r, 0, 8, is_signed);
	if (!strcmp(action, "count"))
		rig_clause(r, NULL, action, "into||a", by, NULL);
	else
		rig_clause(r, NULL, action, "into||a", "value||arg0", by, NULL);
	rig_load(r);
}

/* What is kept of all values whose i % 3 is key, or of all with key -1. */
static void expect_words(const uint64_t *got, enum weft_action_kind kind, bool is_signed, int key)
{
	uint64_t n = 0, sum = 0, least = UINT64_MAX, most = 0, flip = is_signed ? 1ul << 63 : 0;

	for (size_t i = 0; i < N(values); i++) {
		uint64_t v = (uint64_t)values[i];

		if (key >= 0 && (int)(i % 3) != key)
			continue;
		n++;
		sum += v;
		if ((v ^ flip) < least)
			least = v ^ flip;
		if ((v ^ flip) > most)
			most = v ^ flip;
	}
	switch (kind) {
	case WEFT_ACTION_COUNT:
		cr_expect(got[0] == n);
		break;
	case WEFT_ACTION_SUM:
	case WEFT_ACTION_AVG:
		cr_expect(got[0] == n && got[1] == sum);
		break;
	case WEFT_ACTION_MAX:
		cr_expect(got[0] == most, "max %lx, not %lx", got[0], most);
		break;
	default: /* min: counted from the greatest value */
		cr_expect(got[0] == UINT64_MAX - least, "min %lx, not %lx", got[0],
			  UINT64_MAX - least);
	}
}

static const struct kind {
	const char *name;
	enum weft_action_kind kind;
	unsigned words;
} kinds[] = {
	{"count", WEFT_ACTION_COUNT, 1}, {"sum", WEFT_ACTION_SUM, 2}, {"avg", WEFT_ACTION_AVG, 2},
	{"min", WEFT_ACTION_MIN, 2},     {"max", WEFT_ACTION_MAX, 2},
};

Test(compiler_aggregations, slots)
{
	for (size_t k = 0; k < 2 * N(kinds); k++) {
		const struct kind *kind = &kinds[k / 2];
		uint64_t words[2] = {0};
		struct rig r;

		load_one(&r, kind->name, NULL, k % 2);
		run_all(&r);
		for (unsigned w = 0; w < kind->words; w++)
			words[w] = rig_slot(&r, "a", w);
		expect_words(words, kind->kind, k % 2, -1);
		rig_finish(&r);
	}
}

Test(compiler_aggregations, rows)
{
	for (size_t k = 0; k < 2 * N(kinds); k++) {
		const struct kind *kind = &kinds[k / 2];
		struct rig_row rows[8];
		struct rig r;
		size_t n;

		load_one(&r, kind->name, "by|k|arg1", k % 2);
		run_all(&r);
		n = rig_rows(&r, rig_agg(&r, "a")->map, rows, N(rows));
		cr_expect(n == 3, "%s: %zu rows", kind->name, n);
		for (size_t i = 0; i < n; i++)
			expect_words(rows[i].value, kind->kind, k % 2, rows[i].key[0]);
		rig_finish(&r);
	}
}

/* The value that t == 0 would stand for is told by the second word. */
static void expect_extreme(const char *action, bool is_signed, uint64_t value, uint64_t other)
{
	const uint64_t first[RIG_ARGS] = {value}, second[RIG_ARGS] = {other};
	struct rig r;

	load_one(&r, action, NULL, is_signed);
	cr_expect(rig_slot(&r, "a", 0) == 0 && rig_slot(&r, "a", 1) == 0);
	rig_run(&r, first);
	cr_expect(rig_slot(&r, "a", 0) == 0, "%s", action);
	cr_expect(rig_slot(&r, "a", 1) == 1, "%s", action);
	rig_run(&r, second);
	cr_expect(rig_slot(&r, "a", 0) == 1, "%s: %lx", action, rig_slot(&r, "a", 0));
	rig_finish(&r);
}

Test(compiler_aggregations, extremes)
{
	expect_extreme("max", true, (uint64_t)INT64_MIN, (uint64_t)INT64_MIN + 1);
	expect_extreme("min", true, INT64_MAX, INT64_MAX - 1);
	expect_extreme("max", false, 0, 1);
	expect_extreme("min", false, UINT64_MAX, UINT64_MAX - 1);
}

static void expect_buckets(bool is_signed)
{
	uint64_t expected[129] = {0};
	struct rig_row rows[129];
	struct rig r;
	size_t n;

	load_one(&r, "quantize", "by|k|arg1 * 0", is_signed);
	for (unsigned bit = 0; bit < 64; bit++) {
		const uint64_t power = UINT64_C(1) << bit;
		const uint64_t near[] = {power, power - 1, power + 1, 0 - power, 1 - power};

		for (size_t i = 0; i < N(near); i++) {
			const uint64_t words[RIG_ARGS] = {near[i]};

			rig_run(&r, words);
			expected[64 + weft_bucket_of(near[i], !is_signed)]++;
		}
	}
	n = rig_rows(&r, rig_agg(&r, "a")->map, rows, N(rows));
	for (size_t i = 0; i < n; i++) {
		int32_t bucket, zero;

		cr_assert(rig_agg(&r, "a")->bucket_offset == 8 && rig_agg(&r, "a")->key_size == 16);
		memcpy(&bucket, rows[i].key + 8, 4);
		memcpy(&zero, rows[i].key + 12, 4);
		cr_assert(bucket >= -64 && bucket <= 64 && !zero);
		cr_expect(rows[i].value[0] == expected[64 + bucket], "bucket %d: %lu, not %lu",
			  bucket, rows[i].value[0], expected[64 + bucket]);
		expected[64 + bucket] = 0;
	}
	for (size_t i = 0; i < N(expected); i++)
		cr_expect(!expected[i], "bucket %zd is missing", (ssize_t)i - 64);
	cr_expect(!rig_losses(&r));
	rig_finish(&r);
}

Test(compiler_aggregations, buckets)
{
	expect_buckets(true);
	expect_buckets(false);
}

Test(compiler_aggregations, buckets_without_keys)
{
	const uint64_t words[RIG_ARGS] = {5};
	struct rig_row rows[2];
	struct rig r;

	load_one(&r, "quantize", NULL, true);
	rig_run(&r, words);
	rig_run(&r, words);
	cr_assert(rig_rows(&r, rig_agg(&r, "a")->map, rows, 2) == 1);
	cr_expect(rows[0].key[0] == 3 && rows[0].value[0] == 2);
	rig_finish(&r);
}

/* Every byte of a key is decided: fields of odd sizes, and gaps, which are zero. */
Test(compiler_aggregations, key_layout)
{
	const uint64_t words[RIG_ARGS] = {0x1111111111111111, 0x2222222222222222,
					  0x3333333333333333, 0x4444444444444444};
	static const uint8_t ints[24] = {0x11, 0,    0x22, 0x22, 0x33, 0x33, 0x33, 0x33,
					 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44,
					 0x11, 0,    0,    0,    0,    0,    0,    0};
	const struct weft_aggregation *agg;
	struct rig_row rows[2];
	char name[16] = {0};
	struct rig r;

	rig_init(&r);
	rig_arg(&r, 0, 1, false);
	rig_arg(&r, 1, 2, false);
	rig_arg(&r, 2, 4, false);
	rig_clause(&r, NULL, "count", "into||a", "by|a|arg0", "by|b|arg1", "by|c|arg2", "by|d|arg3",
		   "by|e|arg0", "by|f|execname", "by|g|\"abc\"", "by|h|probefunc", NULL);
	rig_load(&r);
	rig_run(&r, words);
	agg = rig_agg(&r, "a");
	cr_assert(rig_rows(&r, agg->map, rows, 2) == 1);
	cr_assert(agg->keys[5].offset == 24 && agg->keys[6].offset == 40);
	cr_expect(!memcmp(rows[0].key, ints, sizeof(ints)));
	FILE *comm = fopen("/proc/thread-self/comm", "r");
	cr_assert(comm && fgets(name, sizeof(name), comm));
	fclose(comm);
	name[strcspn(name, "\n")] = '\0';
	cr_expect_str_eq((char *)rows[0].key + 24, name);
	cr_expect(!memcmp(rows[0].key + 40, "abc\0\0\0\0\0", 8));
	cr_expect(*(uint64_t *)(rows[0].key + 48) == RIG_COOKIE);
	cr_expect(agg->key_size == 56);
	rig_finish(&r);
}

/* AGGREGATION_FULL: what does not fit is counted, and what is there goes on being counted. */
Test(compiler_aggregations, AGGREGATION_FULL)
{
	struct rig_row rows[16];
	uint64_t sum = 0;
	struct rig r;
	size_t n;

	rig_init(&r);
	r.set.options.rows = 8;
	rig_clause(&r, NULL, "count", "into||a", "by|k|arg0", NULL);
	rig_action(&r, "sum", "into||after", "value||1", NULL);
	rig_load(&r);
	for (uint64_t i = 0; i < 40; i++) {
		const uint64_t words[RIG_ARGS] = {i % 20};

		rig_run(&r, words);
	}
	n = rig_rows(&r, rig_agg(&r, "a")->map, rows, N(rows));
	for (size_t i = 0; i < n; i++)
		sum += rows[i].value[0];
	cr_expect(n == 8 && sum == 16, "%zu rows, %lu", n, sum);
	cr_expect(rig_loss(&r, WEFT_LOSS_AGGREGATION_FULL) == 24);
	cr_expect(rig_losses(&r) == 24);
	cr_expect(rig_sum(&r, "after") == 40, "the clause goes on behind a row that is full");
	rig_finish(&r);
}

/* A key that is too large for the BPF stack is made in scratch. */
Test(compiler_aggregations, large_keys)
{
	struct rig_row rows[2];
	struct rig r;
	char longest[200];

	rig_init(&r);
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "by|k|\"", 6);
	strcpy(longest + 120, "\"");
	rig_clause(&r, NULL, "count", "into||a", longest, "by|n|arg0", NULL);
	rig_load(&r);
	rig_run(&r, NULL);
	rig_run(&r, NULL);
	cr_assert(rig_rows(&r, rig_agg(&r, "a")->map, rows, 2) == 1);
	cr_expect(rows[0].value[0] == 2);
	cr_expect(strspn((char *)rows[0].key, "x") == 114);
	cr_expect(!rig_losses(&r));
	rig_finish(&r);
}

/* Clauses tell rows apart by words of their own: none has to be as short as the first. */
Test(compiler_aggregations, keys_of_different_lengths)
{
	struct rig_row rows[4];
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "count", "into||a", "by|what|\"in\"", "by|n|arg0", NULL);
	rig_clause(&r, NULL, "count", "into||a", "by|what|\"out of it\"", "by|n|arg0", NULL);
	rig_clause(&r, NULL, "count", "into||a", "by|what|execname", "by|n|arg0", NULL);
	rig_clause(&r, NULL, "count", "into||b", "by|who|execname", NULL);
	rig_clause(&r, "arg0", "count", "into||b", "by|who|execname", NULL);
	rig_load(&r);
	rig_run(&r, NULL);
	rig_run(&r, NULL);
	cr_assert(rig_rows(&r, rig_agg(&r, "a")->map, rows, 4) == 3);
	cr_expect_str_eq((char *)rows[0].key, "in");
	cr_expect_str_eq((char *)rows[1].key, "out of it");
	for (int i = 0; i < 3; i++)
		cr_expect(rows[i].value[0] == 2);
	cr_expect(rig_agg(&r, "a")->keys[0].size == r.set.options.strsize);
	cr_expect(rig_agg(&r, "b")->keys[0].size == 16, "those that are alike need no more");
	cr_expect(!rig_losses(&r));
	rig_finish(&r);
}
