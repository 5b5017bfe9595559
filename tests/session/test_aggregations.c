/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Aggregations against what the workload computes itself, with all CPUs at the same rows at once.
 * The source is prctl(MAGIC, a, b, c), whose arguments fx-trace hands over unchanged.
 */
#include <time.h>

#include "core/bucket.h"
#include "harness.h"
#include "support/test_spin.h"

#define CALLS 4000

/* What a CPU's thread fires, i-th: both signs, all magnitudes. */
static int64_t value_of(int cpu, int i)
{
	uint64_t x = (uint64_t)(cpu * CALLS + i + 1) * 0x9e3779b97f4a7c15u;

	return (int64_t)(x >> (i % 64)) * (i % 3 == 0 ? -1 : 1);
}

static void fire(int64_t a, int64_t b, int64_t c)
{
	syscall(SYS_prctl, MAGIC, a, b, c, 0);
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

struct truth {
	uint64_t n, buckets[129];
	int64_t sum, min, max;
};

/* Of those with a given CPU and remainder; -1: of all. */
static struct truth truth_of(int cpu, int rest)
{
	struct truth t = {.min = INT64_MAX, .max = INT64_MIN};

	for (int k = 0; k < rig_cpus(); k++) {
		for (int i = 0; i < CALLS; i++) {
			int64_t v = value_of(k, i);

			if ((cpu >= 0 && k != cpu) || (rest >= 0 && i % 7 != rest))
				continue;
			t.n++;
			t.sum = (int64_t)((uint64_t)t.sum + (uint64_t)v);
			t.min = v < t.min ? v : t.min;
			t.max = v > t.max ? v : t.max;
			t.buckets[64 + weft_bucket_of((uint64_t)v, false)]++;
		}
	}
	return t;
}

static void expect_buckets(const struct weft_row *row, const struct truth *t)
{
	uint64_t n = 0;

	cr_expect_eq(row->count, t->n);
	for (size_t i = 0; i < row->n_buckets; i++) {
		const struct weft_bucket *b = &row->buckets[i];
		int32_t bucket = weft_bucket_of((uint64_t)b->from, false);

		cr_expect_eq(b->count, t->buckets[64 + bucket], "from %lld: %llu, not %llu",
			     (long long)b->from, (unsigned long long)b->count,
			     (unsigned long long)t->buckets[64 + bucket]);
		cr_expect(i == 0 || row->buckets[i - 1].from < b->from, "ascending");
		cr_expect_gt(b->count, 0, "empty ones are left out");
		n += b->count;
	}
	cr_expect_eq(n, t->n);
}

#define ALL_KINDS(by)                                    \
	"      - count: {into: n" by "}\n"               \
	"      - sum: {into: s" by ", value: args.a}\n"  \
	"      - avg: {into: m" by ", value: args.a}\n"  \
	"      - min: {into: lo" by ", value: args.a}\n" \
	"      - max: {into: hi" by ", value: args.a}\n" \
	"      - quantize: {into: q" by ", value: args.a, unit: ns}\n"

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

Test(aggregations, without_keys)
{
	struct truth t = truth_of(-1, -1);
	struct rig r;

	trace(&r, fire_on_all_cpus, NULL, "", ALL_KINDS(""));
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, t.n);
	cr_expect_eq(cap_only_row(&r.cap, "n")->n_keys, 0);
	cr_expect_eq(cap_only_row(&r.cap, "s")->value.i, t.sum);
	cr_expect_eq(cap_only_row(&r.cap, "m")->value.i, t.sum);
	cr_expect_eq(cap_only_row(&r.cap, "m")->count, t.n);
	cr_expect_eq(cap_only_row(&r.cap, "lo")->value.i, t.min);
	cr_expect_eq(cap_only_row(&r.cap, "hi")->value.i, t.max);
	expect_buckets(cap_only_row(&r.cap, "q"), &t);
	cr_expect_str_eq(cap_last_table(&r.cap, "q")->unit, "ns");
	cr_expect_null(cap_last_table(&r.cap, "n")->unit);
	cr_expect_eq(cap_last_table(&r.cap, "q")->kind, WEFT_ACTION_QUANTIZE);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

static const struct weft_row *row_of(const struct rig *r, const char *table, int cpu, int rest)
{
	const struct cap_table *t = cap_last_table(&r->cap, table);

	cr_assert_eq(t->n_rows, (size_t)(7 * rig_cpus()), "%s: %zu rows", table, t->n_rows);
	for (size_t i = 0; i < t->n_rows; i++)
		if (cap_key(&t->rows[i], "cpu")->i == cpu && cap_key(&t->rows[i], "rest")->i == rest)
			return &t->rows[i];
	cr_assert(false, "no row");
	return NULL;
}

Test(aggregations, with_keys)
{
	struct rig r;

	trace(&r, fire_on_all_cpus, NULL, "",
	      ALL_KINDS(", by: {cpu: args.b, rest: (uint8) args.c}"));
	for (int cpu = 0; cpu < rig_cpus(); cpu++) {
		for (int rest = 0; rest < 7; rest++) {
			struct truth t = truth_of(cpu, rest);

			cr_expect_eq(row_of(&r, "n", cpu, rest)->count, t.n);
			cr_expect_eq(row_of(&r, "s", cpu, rest)->value.i, t.sum);
			cr_expect_eq(row_of(&r, "m", cpu, rest)->value.i, t.sum);
			cr_expect_eq(row_of(&r, "m", cpu, rest)->count, t.n);
			cr_expect_eq(row_of(&r, "lo", cpu, rest)->value.i, t.min);
			cr_expect_eq(row_of(&r, "hi", cpu, rest)->value.i, t.max);
			expect_buckets(row_of(&r, "q", cpu, rest), &t);
		}
	}
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* All CPUs at one row of each kind. */
Test(aggregations, one_row_from_all_cpus)
{
	struct truth t = truth_of(-1, -1);
	struct rig r;

	trace(&r, fire_on_all_cpus, NULL, "", ALL_KINDS(", by: {program: execname, pid: pid}"));
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, t.n);
	cr_expect_eq(cap_only_row(&r.cap, "s")->value.i, t.sum);
	cr_expect_eq(cap_only_row(&r.cap, "m")->count, t.n);
	cr_expect_eq(cap_only_row(&r.cap, "lo")->value.i, t.min);
	cr_expect_eq(cap_only_row(&r.cap, "hi")->value.i, t.max);
	expect_buckets(cap_only_row(&r.cap, "q"), &t);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* Rows come out by value, greatest first. */
static void fire_skewed(void *arg)
{
	(void)arg;
	for (int i = 1; i <= 20; i++)
		for (int k = 0; k < (i * 7) % 23; k++)
			fire(1, i, 0);
}

Test(aggregations, rows_in_order)
{
	struct rig r;

	trace(&r, fire_skewed, NULL, "", "      - count: {into: n, by: args.b}\n");
	const struct cap_table *t = cap_last_table(&r.cap, "n");
	cr_assert_eq(t->n_rows, 20);
	for (size_t i = 0; i < t->n_rows; i++) {
		cr_expect_eq(t->rows[i].count,
			     (uint64_t)(cap_key(&t->rows[i], "args.b")->i * 7 % 23));
		cr_expect(i == 0 || t->rows[i - 1].count > t->rows[i].count);
	}
	rig_finish(&r);
}

/* ---- extremes ---- */

static const int64_t specials[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
#define N_SPECIALS (sizeof(specials) / sizeof(specials[0]))

static void fire_specials(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < N_SPECIALS; i++)
		fire(specials[i], (int64_t)i, 0);
}

Test(aggregations, least_and_greatest_at_the_ends_of_the_range)
{
	struct rig r;

	trace(&r, fire_specials, NULL, "",
	      "      - min: {into: lo, by: {i: args.b}, value: args.a}\n"
	      "      - max: {into: hi, by: {i: args.b}, value: args.a}\n"
	      "      - min: {into: ulo, by: {i: args.b}, value: (uint64) args.a}\n"
	      "      - max: {into: uhi, by: {i: args.b}, value: (uint64) args.a}\n"
	      "      - quantize: {into: q, by: {i: args.b}, value: args.a}\n"
	      "      - quantize: {into: uq, by: {i: args.b}, value: (uint64) args.a}\n"
	      "      - min: {into: all_lo, value: (uint64) args.a}\n"
	      "      - max: {into: all_hi, value: (uint64) args.a}\n"
	      "      - min: {into: narrow, value: (int8) args.a}\n");
	for (size_t i = 0; i < N_SPECIALS; i++) {
		static const char *const tables[] = {"lo", "hi", "ulo", "uhi"};

		for (size_t k = 0; k < 4; k++) {
			const struct cap_table *t = cap_last_table(&r.cap, tables[k]);
			const struct weft_row *row = cap_row_int(t, "i", (int64_t)i);

			cr_assert_eq(t->n_rows, N_SPECIALS);
			cr_expect_eq(row->value.i, specials[i], "%s of %lld: %lld", tables[k],
				     (long long)specials[i], (long long)row->value.i);
			cr_expect_eq(row->value.type.is_signed, k < 2);
		}
		for (int is_unsigned = 0; is_unsigned < 2; is_unsigned++) {
			const struct weft_row *row = cap_row_int(
				cap_last_table(&r.cap, is_unsigned ? "uq" : "q"), "i", (int64_t)i);
			int64_t from, to;
			bool to_is_max;

			cr_assert(weft_bucket_range(
				weft_bucket_of((uint64_t)specials[i], is_unsigned), is_unsigned,
				&from, &to, &to_is_max));
			cr_assert_eq(row->n_buckets, 1);
			cr_expect_eq(row->buckets[0].from, from);
			cr_expect_eq(row->buckets[0].to, to);
			cr_expect_eq(row->buckets[0].to_is_max, to_is_max);
			cr_expect_eq(row->buckets[0].is_unsigned, is_unsigned);
			cr_expect_eq(row->buckets[0].count, 1);
		}
	}
	cr_expect_eq(cap_only_row(&r.cap, "all_lo")->value.u, 0);
	cr_expect_eq(cap_only_row(&r.cap, "all_hi")->value.u, UINT64_MAX);
	cr_expect_eq(cap_only_row(&r.cap, "narrow")->value.i, -2); /* of INT64_MAX - 1 */
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* An aggregation that nothing reached is a table without rows; but the sum of nothing is 0. */
Test(aggregations, nothing)
{
	static const char *const names[] = {"n", "s", "m", "lo", "hi", "q"};
	struct rig r;

	trace(&r, fire_specials, NULL, "",
	      "      - emit: {x: args.a / (args.a - args.a)}\n" ALL_KINDS(""));
	cr_expect_eq(cap_lost(&r.cap, "FAULT_DIVIDE"), N_SPECIALS);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cr_expect_eq(cap_last_table(&r.cap, names[i])->n_rows, 0, "%s", names[i]);
	rig_finish(&r);
}

/* ---- limits ---- */

static void fire_25_keys(void *arg)
{
	(void)arg;
	for (int round = 0; round < 4; round++)
		for (int i = 0; i < 25; i++)
			fire(i, i, 0);
}

Test(aggregations, AGGREGATION_FULL)
{
	struct rig r;

	trace(&r, fire_25_keys, NULL, "options: {rows: 10}\n",
	      "      - count: {into: n, by: args.b}\n"
	      "      - count: {into: all}\n");
	cr_expect_eq(cap_last_table(&r.cap, "n")->n_rows, 10);
	cr_expect_eq(cap_total(cap_last_table(&r.cap, "n")), 40);
	cr_expect_eq(cap_only_row(&r.cap, "all")->count, 100, "the clause goes on");
	cap_expect_loss(&r.cap, "AGGREGATION_FULL", 60);
	cr_expect_eq(r.end.status, 3);
	rig_finish(&r);
}

/* ---- show and clear ---- */

/* Fires for about a second and a half while the tables are shown and cleared. */
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

static void expect_sums(const struct rig *r)
{
	struct truth t = truth_of(-1, -1);
	uint64_t n = 0, keyed = 0, means = 0, buckets = 0, sum = 0, mean_sum = 0;
	int64_t lo = INT64_MAX, hi = INT64_MIN;
	size_t shows = 0;

	for (size_t i = 0; i < r->cap.n_tables; i++) {
		const struct cap_table *table = &r->cap.tables[i];

		shows += !strcmp(table->name, "n");
		for (size_t k = 0; k < table->n_rows; k++) {
			const struct weft_row *row = &table->rows[k];

			if (!strcmp(table->name, "n"))
				n += row->count;
			if (!strcmp(table->name, "keyed"))
				keyed += row->count;
			if (!strcmp(table->name, "s"))
				sum += row->value.u;
			if (!strcmp(table->name, "m")) {
				means += row->count;
				mean_sum += row->value.u;
			}
			if (!strcmp(table->name, "q"))
				buckets += row->count;
			if (!strcmp(table->name, "lo") && row->value.i < lo)
				lo = row->value.i;
			if (!strcmp(table->name, "hi") && row->value.i > hi)
				hi = row->value.i;
		}
	}
	cr_expect_gt(shows + cap_lost(&r->cap, "FIRINGS_MISSED"), 5, "shown %zu times", shows);
	cr_expect_eq(n, t.n);
	cr_expect_eq(keyed, t.n);
	cr_expect_eq(means, t.n);
	cr_expect_eq(buckets, t.n);
	cr_expect_eq(sum, (uint64_t)t.sum);
	cr_expect_eq(mean_sum, (uint64_t)t.sum);
	cr_expect_eq(lo, t.min);
	cr_expect_eq(hi, t.max);
	cap_expect_only_ticks_missed(&r->cap);
}

#define SEVEN_TABLES                                               \
	"      - count: {into: n}\n"                               \
	"      - count: {into: keyed, by: [args.b, args.c]}\n"     \
	"      - sum: {into: s, by: args.c, value: args.a}\n"      \
	"      - avg: {into: m, by: args.b, value: args.a}\n"      \
	"      - quantize: {into: q, by: args.b, value: args.a}\n" \
	"      - min: {into: lo, by: args.c, value: args.a}\n"     \
	"      - max: {into: hi, value: args.a}\n"

/* What was shown between clears adds up to the whole: nothing twice, nothing lost. */
Test(aggregations, clear_by_a_tick)
{
	pid_t spinner[256];
	struct rig r;

	/* An idle processor of a virtual machine may make no sample when the timer runs there. */
	for (int cpu = 0; cpu < rig_cpus(); cpu++)
		spinner[cpu] = test_spin_start(cpu);
	trace(&r, fire_slowly_on_all_cpus, NULL, "",
	      SEVEN_TABLES "  - probe: 'profile:::tick-100ms'\n"
			   "    do: [show, clear]\n");
	for (int cpu = 0; cpu < rig_cpus(); cpu++)
		test_spin_stop(spinner[cpu]);
	expect_sums(&r);
	rig_finish(&r);
}

/* The interval shows and does not clear: tables only grow, and the last has everything. */
Test(aggregations, interval)
{
	struct truth t = truth_of(-1, -1);
	uint64_t last = 0;
	size_t shows = 0;
	struct rig r;

	trace(&r, fire_slowly_on_all_cpus, NULL, "options: {interval: 100ms}\n", SEVEN_TABLES);
	for (size_t i = 0; i < r.cap.n_tables; i++) {
		if (strcmp(r.cap.tables[i].name, "keyed") != 0)
			continue;
		cr_expect_geq(cap_total(&r.cap.tables[i]), last);
		last = cap_total(&r.cap.tables[i]);
		shows++;
	}
	cr_expect_gt(shows, 2);
	cr_expect_eq(last, t.n);
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, t.n);
	cr_expect_eq(cap_only_row(&r.cap, "hi")->value.i, t.max);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* In phases: the worker waits until it has been seen that its tables were shown and cleared. */
static void wait_for(const int *seen, int n)
{
	for (int i = 0; __atomic_load_n(seen, __ATOMIC_SEQ_CST) < n; i++) {
		if (i == 5000)
			_exit(103);
		usleep(1000);
	}
}

static void fire_phases(void *arg)
{
	int *seen = arg;

	for (int i = 100; i <= 200; i++)
		fire(i, 1, 0);
	fire(150, 2, 0);
	syscall(SYS_getppid);
	wait_for(seen, 8);
	for (int i = -9; i <= -5; i++)
		fire(i, 1, 0);
	syscall(SYS_getppid);
	wait_for(seen, 16);
	fire(7, 3, 0);
}

Test(aggregations, extremes_after_clear)
{
	int *seen = worker_shared(sizeof(*seen));
	struct rig r;

	trace(&r, fire_phases, seen, "",
	      "      - min: {into: lo, by: {k: args.b}, value: args.a}\n"
	      "      - max: {into: hi, by: {k: args.b}, value: args.a}\n"
	      "      - max: {into: single, value: args.a}\n"
	      "      - count: {into: n, by: {k: args.b}}\n"
	      "  - probe: 'fx-trace:::calls'\n"
	      "    when: pid == $pid\n"
	      "    do: [show, clear, show]\n");
	/* Thrice four tables in each of two showings; one of them may be the sum of two looks. */
	const struct phase {
		int64_t lo, hi, single;
		uint64_t n;
	} phases[] = {{100, 200, 200, 101}, {-9, -5, -5, 5}};
	size_t at = 0;

	for (size_t i = 0; i < r.cap.n_tables; i++) {
		const struct cap_table *t = &r.cap.tables[i];

		if (strcmp(t->name, "lo") != 0 || !t->n_rows)
			continue;
		if (at < 2) {
			const struct cap_table *hi = t + 1, *single = t + 2, *n = t + 3;

			cr_assert_str_eq(n->name, "n");
			cr_expect_eq(t->n_rows, at == 0 ? 2 : 1);
			cr_expect_eq(cap_row_int(t, "k", 1)->value.i, phases[at].lo);
			cr_expect_eq(cap_row_int(hi, "k", 1)->value.i, phases[at].hi);
			cr_expect_eq(single->rows[0].value.i, phases[at].single);
			cr_expect_eq(cap_row_int(n, "k", 1)->count, phases[at].n);
		}
		at++;
	}
	cr_expect_eq(at, 3, "two showings and the end: %zu", at);
	cr_expect_eq(cap_only_row(&r.cap, "lo")->value.i, 7);
	cr_expect_eq(cap_only_row(&r.cap, "hi")->value.i, 7);
	cr_expect_eq(cap_only_row(&r.cap, "single")->value.i, 7);
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, 1, "rows that were cleared are gone");
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* show and clear by name touch no other. */
static void fire_then_clear(void *arg)
{
	(void)arg;
	fire(1, 1, 0);
	syscall(SYS_getppid);
}

Test(aggregations, clear_by_name)
{
	struct rig r;

	trace(&r, fire_then_clear, NULL, "",
	      "      - count: {into: kept}\n"
	      "      - count: {into: gone}\n"
	      "  - probe: 'fx-trace:::calls'\n"
	      "    when: pid == $pid\n"
	      "    do: [show: kept, clear: gone]\n");
	cr_expect_eq(cap_only_row(&r.cap, "kept")->count, 1);
	cr_expect_eq(cap_total(cap_last_table(&r.cap, "gone")), 0);
	cr_assert_eq(r.cap.n_tables, 3);
	cr_expect_str_eq(r.cap.tables[0].name, "kept");
	rig_finish(&r);
}
