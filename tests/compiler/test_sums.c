/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sums and sums of squares that need more than 64 bits: what programs leave in the words of slots
 * and rows, against sums made here in wider numbers. The words: core/plan.h.
 */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "core/wide.h"
#include "rig.h"

static const uint64_t edges[] = {
	0,
	1,
	2,
	UINT64_MAX,
	UINT64_MAX - 1,
	10000000000,
	(uint64_t)-10000000000,
	(UINT64_C(1) << 31) - 1,
	UINT64_C(1) << 31,
	UINT64_C(1) << 32,
	(UINT64_C(1) << 32) - 1,
	(UINT64_C(1) << 32) + 1,
	UINT64_C(0xffffffff00000000),
	UINT64_C(0xffffffff00000001),
	(UINT64_C(1) << 62) - 1,
	UINT64_C(1) << 62,
	INT64_MAX,
	INT64_MAX - 1,
	(uint64_t)INT64_MIN,
	(uint64_t)INT64_MIN + 1,
	UINT64_C(0x123456789abcdef0),
	UINT64_C(0xfedcba9876543210),
};

struct truth {
	uint64_t n;
	weft_wide sum;
	uint64_t q[3];
};

static void add_to_truth(struct truth *t, uint64_t v, bool is_signed)
{
	uint64_t x = is_signed && (int64_t)v < 0 ? 0 - v : v;
	weft_uwide square = (weft_uwide)x * x, low = t->q[0] + (weft_uwide)(uint64_t)square;
	weft_uwide high = (low >> 64) + t->q[1] + (square >> 64);

	t->n++;
	t->sum += is_signed ? (weft_wide)(int64_t)v : (weft_wide)v;
	t->q[0] = (uint64_t)low;
	t->q[1] = (uint64_t)high;
	t->q[2] += (uint64_t)(high >> 64);
}

static void expect_sum(const uint64_t *words, const struct truth *t, bool is_signed)
{
	weft_wide got = weft_wide_of(words[0], (int64_t)words[1], !is_signed);

	cr_expect(got == t->sum, "%lx %lx is not %lx %lx", words[1], words[0],
		  (uint64_t)(t->sum >> 64), (uint64_t)t->sum);
}

/* The words of the only slot that was touched, so this CPU's, or of the only row. */
static void get_words(struct rig *r, uint64_t words[8])
{
	const struct weft_aggregation *a = rig_agg(r, "a");
	struct rig_row rows[2];

	if (a->map < 0) {
		for (unsigned w = 0; w < a->value_words; w++)
			words[w] = rig_slot(r, "a", w);
		return;
	}
	cr_assert(rig_rows(r, a->map, rows, 2) == 1);
	memcpy(words, rows[0].value, 8 * sizeof(*words));
}

static void load(struct rig *r, const char *action, const char *by, bool is_signed)
{
	rig_init(r);
	rig_arg(r, 0, 8, is_signed);
	rig_clause(r, NULL, action, "into||a", "value||arg0", by, NULL);
	rig_load(r);
}

static void stay_here(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	cr_assert(sched_setaffinity(0, sizeof(one), &one) == 0);
}

static void run(struct rig *r, uint64_t v)
{
	const uint64_t words[RIG_ARGS] = {v};

	rig_run(r, words);
}

static void expect_exact(const char *action, const char *by, bool is_signed)
{
	struct truth t = {0};
	uint64_t words[8];
	struct rig r;

	stay_here();
	load(&r, action, by, is_signed);
	/* After each value, so that every border is crossed in both directions under our eyes. */
	for (size_t i = 0; i < 4 * N(edges); i++) {
		uint64_t v = edges[i * 7 % N(edges)];

		run(&r, v);
		add_to_truth(&t, v, is_signed);
		get_words(&r, words);
		expect_sum(words + 1, &t, is_signed);
		cr_expect(words[0] == t.n && words[rig_agg(&r, "a")->value_words - 1] == t.n);
		if (!strcmp(action, "stddev"))
			cr_expect(!memcmp(words + 3, t.q, sizeof(t.q)),
				  "%lx %lx %lx is not %lx %lx %lx", words[5], words[4], words[3],
				  t.q[2], t.q[1], t.q[0]);
	}
	cr_expect(!rig_losses(&r));
	rig_finish(&r);
}

Test(compiler_sums, sum)
{
	expect_exact("sum", NULL, true);
	expect_exact("sum", NULL, false);
	expect_exact("sum", "by|k|arg1", true);
	expect_exact("sum", "by|k|arg1", false);
}

Test(compiler_sums, avg)
{
	expect_exact("avg", NULL, true);
	expect_exact("avg", NULL, false);
	expect_exact("avg", "by|k|arg1", true);
	expect_exact("avg", "by|k|arg1", false);
}

Test(compiler_sums, stddev)
{
	expect_exact("stddev", NULL, true);
	expect_exact("stddev", NULL, false);
	expect_exact("stddev", "by|k|arg1", true);
	expect_exact("stddev", "by|k|arg1", false);
}

/* A sum stays in one word as long as 64 bits hold it. */
Test(compiler_sums, high_word_is_not_touched_below_64_bits)
{
	struct rig r;

	stay_here();
	load(&r, "sum", NULL, true);
	run(&r, INT64_MAX);
	run(&r, (uint64_t)-INT64_MAX);
	run(&r, (uint64_t)INT64_MIN);
	run(&r, INT64_MAX);
	cr_expect(rig_slot(&r, "a", 1) == UINT64_MAX && rig_slot(&r, "a", 2) == 0);
	rig_finish(&r);
}

/* A square whose value is known when it is compiled. */
Test(compiler_sums, constants)
{
	static const struct {
		const char *text;
		uint64_t sum, q[3];
	} cases[] = {
		{"value||3", 3, {9, 0, 0}},
		{"value||-3", (uint64_t)-3, {9, 0, 0}},
		{"value||0", 0, {0, 0, 0}},
		{"value||4294967296", UINT64_C(1) << 32, {0, 1, 0}},
		{"value||0xffffffffffffffff", UINT64_MAX, {1, UINT64_MAX - 1, 0}},
	};

	for (size_t i = 0; i < N(cases); i++) {
		uint64_t words[8];
		struct rig r;

		rig_init(&r);
		rig_clause(&r, NULL, "stddev", "into||a", cases[i].text, NULL);
		rig_load(&r);
		run(&r, 0);
		get_words(&r, words);
		cr_expect(words[0] == 1 && words[1] == cases[i].sum && !words[2], "%s",
			  cases[i].text);
		cr_expect(!memcmp(words + 3, cases[i].q, sizeof(cases[i].q)), "%s", cases[i].text);
		rig_finish(&r);
	}
}

/* All CPUs at one CPU's slots: with one slot only, every carry is fought over. */
struct share {
	struct rig *r;
	int cpu;
};

#define ROUNDS 20000

static uint64_t value_of(int cpu, int i)
{
	return edges[(size_t)(i + 5 * cpu) % N(edges)];
}

static void *fire(void *arg)
{
	const struct share *s = arg;

	for (int i = 0; i < ROUNDS; i++)
		run(s->r, value_of(s->cpu, i));
	return NULL;
}

static void expect_shared(bool is_signed)
{
	struct share shares[4];
	pthread_t threads[4];
	struct truth t = {0};
	uint64_t words[8];
	struct rig r;

	rig_init(&r);
	rig_arg(&r, 0, 8, is_signed);
	rig_clause(&r, NULL, "stddev", "into||a", "value||arg0", NULL);
	r.plan->n_cpus = 1;
	rig_load(&r);
	for (int c = 0; c < 4; c++) {
		shares[c] = (struct share){&r, c};
		cr_assert(pthread_create(&threads[c], NULL, fire, &shares[c]) == 0);
	}
	for (int c = 0; c < 4; c++) {
		pthread_join(threads[c], NULL);
		for (int i = 0; i < ROUNDS; i++)
			add_to_truth(&t, value_of(c, i), is_signed);
	}
	get_words(&r, words);
	cr_expect(words[0] == t.n && words[6] == t.n);
	expect_sum(words + 1, &t, is_signed);
	cr_expect(!memcmp(words + 3, t.q, sizeof(t.q)));
	rig_finish(&r);
}

Test(compiler_sums, nothing_is_lost_between_cpus)
{
	expect_shared(true);
	expect_shared(false);
}

/* With so many CPUs that a row of all of them could not be read at once, they share one. */
Test(compiler_sums, very_many_cpus)
{
	struct truth t = {0};
	uint64_t words[8];
	struct rig r;

	rig_init(&r);
	r.plan->n_cpus = 4096;
	rig_clause(&r, NULL, "stddev", "into||a", "value||arg0", "by|k|arg1", NULL);
	rig_action(&r, "count", "into||n", "by|k|arg1", NULL);
	rig_load(&r);
	cr_expect(r.plan->maps[rig_agg(&r, "a")->map].type == BPF_MAP_TYPE_HASH);
	cr_expect(r.plan->maps[rig_agg(&r, "n")->map].type == BPF_MAP_TYPE_HASH);
	for (size_t i = 0; i < N(edges); i++) {
		run(&r, edges[i]);
		add_to_truth(&t, edges[i], true);
	}
	get_words(&r, words);
	cr_expect(words[0] == t.n && words[6] == t.n);
	expect_sum(words + 1, &t, true);
	cr_expect(!memcmp(words + 3, t.q, sizeof(t.q)));
	rig_finish(&r);
}
