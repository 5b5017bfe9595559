/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Exact sums, standard deviations, linear and log-linear histograms, and how tables are shown,
 * against what the workload computes itself, with all CPUs at the same rows at once. The source is
 * prctl(MAGIC, a, b, c), whose arguments fx-trace hands over unchanged.
 */
#include <float.h>
#include <math.h>
#include <time.h>

#include "core/wide.h"
#include "harness.h"

#define CALLS 4000

static void fire(int64_t a, int64_t b, int64_t c)
{
	syscall(SYS_prctl, MAGIC, a, b, c, 0);
}

/* Both signs, all magnitudes, and every eighth of the greatest: sums are beyond 64 bits. */
static int64_t value_of(int cpu, int i)
{
	uint64_t x = (uint64_t)(cpu * CALLS + i + 1) * 0x9e3779b97f4a7c15u;

	if (i % 8 == 0)
		return i % 16 ? INT64_MIN + (int64_t)(x >> 54) : INT64_MAX - i;
	return (int64_t)(x >> (i % 64)) * (i % 3 == 0 ? -1 : 1);
}

static void fire_values(void *arg, int cpu)
{
	(void)arg;
	for (int i = 0; i < CALLS; i++)
		fire(value_of(cpu, i), cpu, i % 7);
}

static void fire_on_all_cpus(void *arg)
{
	worker_on_cpus(rig_cpus(), fire_values, arg);
}

static void fire_slowly(void *arg, int cpu)
{
	const struct timespec pause = {.tv_nsec = 5000000};

	(void)arg;
	for (int i = 0; i < CALLS; i++) {
		fire(value_of(cpu, i), cpu, i % 7);
		if (i % 20 == 0)
			nanosleep(&pause, NULL);
	}
}

static void fire_slowly_on_all_cpus(void *arg)
{
	worker_on_cpus(rig_cpus(), fire_slowly, arg);
}

struct truth {
	uint64_t n;
	weft_wide sum, usum;
	long double mean, deviations; /* squares of them, added */
	uint64_t tens[12];            /* lquantize from -50 to 50 in steps of 10 */
};

static bool is_of(int k, int i, int cpu, int rest)
{
	return (cpu < 0 || k == cpu) && (rest < 0 || i % 7 == rest);
}

static struct truth truth_of(int cpu, int rest)
{
	struct truth t = {0};

	for (int k = 0; k < rig_cpus(); k++) {
		for (int i = 0; i < CALLS; i++) {
			int64_t v = value_of(k, i), s = (int8_t)v;

			if (!is_of(k, i, cpu, rest))
				continue;
			t.n++;
			t.sum += v;
			t.usum += (uint64_t)v;
			t.tens[s < -50 ? 0 : s >= 50 ? 11 : (s + 50) / 10 + 1]++;
		}
	}
	t.mean = t.n ? (long double)t.sum / (long double)t.n : 0;
	for (int k = 0; k < rig_cpus(); k++)
		for (int i = 0; i < CALLS; i++)
			if (is_of(k, i, cpu, rest))
				t.deviations += ((long double)value_of(k, i) - t.mean) *
						((long double)value_of(k, i) - t.mean);
	return t;
}

static void expect_stddev(const struct weft_row *row, const struct truth *t)
{
	double want = (double)sqrtl(t->deviations / (long double)t->n);

	cr_expect_eq(row->count, t->n);
	cr_expect(weft_row_sum(row) == t->sum);
	cr_expect(fabs(row->stddev - want) <= 1e-12 * want, "%.17g, not %.17g", row->stddev, want);
}

static void expect_tens(const struct weft_row *row, const struct truth *t)
{
	uint64_t n = 0;

	cr_expect_eq(row->count, t->n);
	for (size_t i = 0; i < row->n_buckets; i++) {
		const struct weft_bucket *b = &row->buckets[i];

		cr_assert(b->number >= 0 && b->number < 12);
		cr_expect_eq(b->count, t->tens[b->number]);
		cr_expect_eq(b->from_is_min, b->number == 0);
		cr_expect_eq(b->to_is_max, b->number == 11);
		if (b->number > 0)
			cr_expect_eq(b->from, -60 + 10 * b->number);
		n += b->count;
	}
	cr_expect_eq(n, t->n);
}

static void trace(struct rig *r, void (*fn)(void *), void *arg, const char *head,
		  const char *clauses)
{
	struct worker w;

	worker_fork(&w, fn, arg);
	rig_init(r);
	r->cap.seen = arg;
	rig_trace(r, &w,
		  "version: 1\n"
		  "params: {pid: %d}\n%s"
		  "probes:\n"
		  "  - probe: 'fx-trace:::math'\n"
		  "    when: pid == $pid\n"
		  "    do:\n%s",
		  w.pid, head, clauses);
}

#define KINDS(by)                                                                                 \
	"      - sum: {into: s" by ", value: args.a}\n"                                           \
	"      - sum: {into: us" by ", value: (uint64) args.a}\n"                                 \
	"      - avg: {into: m" by ", value: args.a}\n"                                           \
	"      - avg: {into: um" by ", value: (uint64) args.a}\n"                                 \
	"      - stddev: {into: d" by ", value: args.a, unit: ns}\n"                              \
	"      - lquantize: {into: l" by ", value: (int8) args.a, from: -50, to: 50, step: 10}\n" \
	"      - llquantize: {into: ll" by ", value: args.a, factor: 10, low: 0, high: 17, "      \
	"steps: 10}\n"

static void expect_all(const struct weft_row *rows[7], const struct truth *t)
{
	cr_expect(weft_row_sum(rows[0]) == t->sum);
	cr_expect(weft_row_sum(rows[1]) == t->usum);
	cr_expect(weft_row_sum(rows[2]) == t->sum);
	cr_expect_eq(rows[2]->count, t->n);
	cr_expect(weft_row_sum(rows[3]) == t->usum);
	expect_stddev(rows[4], t);
	expect_tens(rows[5], t);
	cr_expect_eq(rows[6]->count, t->n);
}

static const char *const tables[7] = {"s", "us", "m", "um", "d", "l", "ll"};

Test(moments, without_keys)
{
	struct truth t = truth_of(-1, -1);
	const struct weft_row *rows[7];
	struct rig r;

	trace(&r, fire_on_all_cpus, NULL, "", KINDS(""));
	for (size_t i = 0; i < 7; i++)
		rows[i] = cap_only_row(&r.cap, tables[i]);
	cr_expect(t.usum > (weft_wide)UINT64_MAX, "the test is about sums beyond 64 bits");
	expect_all(rows, &t);
	cr_expect_str_eq(cap_last_table(&r.cap, "d")->unit, "ns");
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* Keys of every kind: numbers, a string, stacks of both spaces. */
Test(moments, with_keys_of_every_kind)
{
	struct rig r;

	trace(&r, fire_on_all_cpus, NULL, "",
	      KINDS(", by: {cpu: args.b, rest: (uint8) args.c, program: execname, k: stack(3), "
		    "u: ustack(1)}"));
	for (int cpu = 0; cpu < rig_cpus(); cpu++) {
		for (int rest = 0; rest < 7; rest++) {
			struct truth t = truth_of(cpu, rest);
			const struct weft_row *rows[7] = {NULL};

			for (size_t i = 0; i < 7; i++) {
				const struct cap_table *table = cap_last_table(&r.cap, tables[i]);

				cr_assert_eq(table->n_rows, (size_t)(7 * rig_cpus()));
				for (size_t k = 0; k < table->n_rows; k++)
					if (cap_key(&table->rows[k], "cpu")->i == cpu &&
					    cap_key(&table->rows[k], "rest")->i == rest)
						rows[i] = &table->rows[k];
				cr_assert_not_null(rows[i]);
			}
			expect_all(rows, &t);
		}
	}
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* All CPUs at one row, shown and cleared all the while: nothing twice, nothing lost. */
Test(moments, clear_by_a_tick)
{
	struct truth t = truth_of(-1, -1);
	weft_wide sum = 0, usum = 0, mean_sum = 0, dev_sum = 0;
	uint64_t means = 0, devs = 0, linear = 0, shows = 0;
	long double squares = 0, want;
	struct rig r;

	trace(&r, fire_slowly_on_all_cpus, NULL, "",
	      KINDS(", by: {program: execname}") "  - probe: 'profile:::tick-100ms'\n"
						 "    do: [show, clear]\n");
	for (size_t i = 0; i < r.cap.n_tables; i++) {
		const struct cap_table *table = &r.cap.tables[i];

		shows += !strcmp(table->name, "d");
		for (size_t k = 0; k < table->n_rows; k++) {
			const struct weft_row *row = &table->rows[k];
			long double s = (long double)weft_row_sum(row), n = (long double)row->count;

			if (!strcmp(table->name, "s"))
				sum += weft_row_sum(row);
			if (!strcmp(table->name, "us"))
				usum += weft_row_sum(row);
			if (!strcmp(table->name, "m")) {
				mean_sum += weft_row_sum(row);
				means += row->count;
			}
			if (!strcmp(table->name, "d")) {
				dev_sum += weft_row_sum(row);
				devs += row->count;
				squares += n * ((long double)row->stddev * row->stddev +
						s / n * (s / n));
			}
			if (!strcmp(table->name, "l"))
				linear += row->count;
		}
	}
	cr_expect_gt(shows + cap_lost(&r.cap, "FIRINGS_MISSED"), 5);
	cr_expect(sum == t.sum);
	cr_expect(usum == t.usum);
	cr_expect(mean_sum == t.sum);
	cr_expect(dev_sum == t.sum);
	cr_expect_eq(means, t.n);
	cr_expect_eq(devs, t.n);
	cr_expect_eq(linear, t.n);
	want = t.deviations + (long double)t.n * t.mean * t.mean;
	cr_expect(fabsl(squares - want) <= 1e-12L * want);
	cap_expect_only_ticks_missed(&r.cap);
	rig_finish(&r);
}

/* ---- at the ends of the range ---- */

static const int64_t specials[] = {INT64_MIN,
				   INT64_MIN + 1,
				   -10000000000,
				   -1,
				   0,
				   1,
				   2,
				   (INT64_C(1) << 31) - 1,
				   INT64_C(1) << 31,
				   10000000000,
				   INT64_C(1) << 62,
				   INT64_MAX - 1,
				   INT64_MAX};
#define N_SPECIALS (sizeof(specials) / sizeof(specials[0]))

static void fire_specials(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < N_SPECIALS; i++)
		for (int k = 0; k < 3; k++)
			fire(specials[i], (int64_t)i, 0);
}

Test(moments, ends_of_the_range)
{
	struct rig r;

	trace(&r, fire_specials, NULL, "", KINDS(", by: {i: args.b}"));
	for (size_t i = 0; i < N_SPECIALS; i++) {
		const struct weft_row *row =
			cap_row_int(cap_last_table(&r.cap, "s"), "i", (int64_t)i);

		cr_expect(weft_row_sum(row) == (weft_wide)specials[i] * 3);
		row = cap_row_int(cap_last_table(&r.cap, "um"), "i", (int64_t)i);
		cr_expect(weft_row_sum(row) == (weft_wide)(uint64_t)specials[i] * 3);
		row = cap_row_int(cap_last_table(&r.cap, "d"), "i", (int64_t)i);
		cr_expect(row->count == 3 && row->stddev == 0,
			  "what does not vary has no deviation: %g", row->stddev);
		row = cap_row_int(cap_last_table(&r.cap, "ll"), "i", (int64_t)i);
		cr_assert(row->n_buckets == 1 && row->buckets[0].count == 3);
		cr_expect(row->buckets[0].from <= specials[i] &&
			  (specials[i] < row->buckets[0].to || row->buckets[0].to_is_max));
		cr_expect_eq(row->buckets[0].from_is_min, specials[i] < 1);
		cr_expect_eq(row->buckets[0].to_is_max, specials[i] >= 1000000000000000000);
	}
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(moments, nothing)
{
	struct rig r;

	trace(&r, fire_specials, NULL, "",
	      "      - emit: {x: args.a / (args.a - args.a)}\n" KINDS(""));
	for (size_t i = 0; i < 7; i++)
		cr_expect_eq(cap_last_table(&r.cap, tables[i])->n_rows, 0, "%s", tables[i]);
	rig_finish(&r);
}

/* ---- showing ---- */

static void fire_skewed(void *arg)
{
	(void)arg;
	for (int i = 1; i <= 20; i++)
		for (int k = 0; k < (i * 7) % 23; k++)
			fire(1000, i, 0);
	syscall(SYS_getppid);
}

static int64_t key_at(const struct cap_table *t, size_t i)
{
	return cap_key(&t->rows[i], "k")->i;
}

/* As the set wants it, at the end and otherwise; and as a show wants it, that time. */
Test(moments, show_as_asked)
{
	const struct cap_table *t;
	struct rig r;

	trace(&r, fire_skewed, NULL,
	      "aggregations: {n: {top: 3}, byk: {sort: key, order: desc}, rate: {per: 1s}}\n",
	      "      - count: {into: n, by: {k: args.b}}\n"
	      "      - count: {into: byk, by: {k: args.b}}\n"
	      "      - sum: {into: rate, value: args.a}\n"
	      "      - avg: {into: m, by: {k: args.b}, value: args.a}\n"
	      "  - probe: 'fx-trace:::calls'\n"
	      "    when: pid == $pid\n"
	      "    do:\n"
	      "      - show: {name: n, top: 2, sort: key}\n"
	      "      - show: {name: [m], sort: count, order: asc, top: 1, divide: 10}\n"
	      "      - show: n\n");
	cr_assert_eq(r.cap.n_tables, 7);
	t = &r.cap.tables[0];
	cr_assert(t->n_rows == 2 && t->n_left_out == 18);
	cr_expect(key_at(t, 0) == 1 && key_at(t, 1) == 2);
	t = &r.cap.tables[1];
	cr_assert(t->n_rows == 1 && t->n_left_out == 19);
	cr_expect(key_at(t, 0) == 10 && t->rows[0].count == 1); /* 10 * 7 % 23 */
	cr_expect_eq(t->scale.divide, 10);
	cr_expect_eq(t->scale.per_ns, 0);
	t = &r.cap.tables[2];
	cr_assert_eq(t->n_rows, 3);
	cr_expect(key_at(t, 0) == 13 && t->rows[0].count == 22);
	t = cap_last_table(&r.cap, "n");
	cr_assert(t->n_rows == 3 && t->n_left_out == 17);
	t = cap_last_table(&r.cap, "byk");
	cr_assert(t->n_rows == 20 && !t->n_left_out);
	for (size_t i = 0; i < 20; i++)
		cr_expect_eq(key_at(t, i), 20 - (int64_t)i);
	t = cap_last_table(&r.cap, "rate");
	cr_expect_eq(t->scale.per_ns, 1000000000);
	cr_expect(t->scale.elapsed_ns > 0 && t->scale.elapsed_ns < 60000000000);
	cr_expect_eq(cap_last_table(&r.cap, "m")->n_rows, 20);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}
