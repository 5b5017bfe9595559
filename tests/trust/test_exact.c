/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Exact numbers under a load that the consumer cannot follow: every CPU fires as fast as it can.
 * Aggregations are exact to the last firing; records received and records counted as lost are
 * together as many as firings, whatever the size of the buffer; what goes around the buffer (shows,
 * clears, the exit, signals, ticks) is never lost. By a system call, where nothing preempts the
 * program, and by a function of the program, where a preemptible kernel does.
 *
 * WEFT_LONG=1: 10,000,000 firings at each size of the buffer, and every size there is.
 */
#include <signal.h>

#include "session/harness.h"
#include "support/test_long.h"

#define MOST_CPUS 64

/* Of each CPU, so that all are so many. */
static int64_t share(int64_t total)
{
	return total / rig_cpus();
}

/* ---- who fires ---- */

struct load {
	int64_t n; /* of each CPU */
	bool calls;
};

/* Begins with an instruction that the kernel does itself: one that is stepped over takes ten times
 * as long, and a consumer that keeps up loses nothing. */
__attribute__((noinline)) void weft_exact_fire(long i, long cpu);
__attribute__((noinline)) void weft_exact_fire(long i, long cpu)
{
	__asm__ volatile("nop" ::"r"(i), "r"(cpu) : "memory");
}

static void fire_on(void *arg, int cpu)
{
	const struct load *l = arg;

	for (int64_t i = 0; i < l->n; i++) {
		if (l->calls)
			syscall(SYS_getpriority, (long)i, (long)cpu);
		else
			weft_exact_fire((long)i, cpu);
	}
}

static void fire(void *arg)
{
	worker_on_cpus(rig_cpus(), fire_on, arg);
}

/* The probe of that load, of which arg0 is the number of the firing and arg1 the CPU. */
static const char *probe_of(bool calls)
{
	static char probe[512];
	char path[400];
	ssize_t n;

	if (calls)
		return "syscall::getpriority:entry";
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	cr_assert_gt(n, 0);
	path[n] = '\0';
	snprintf(probe, sizeof(probe), "uprobe:%s:weft_exact_fire:entry", path);
	return probe;
}

/* ---- a sink that counts ---- */

struct counting {
	struct weft_sink sink, inner;
	uint64_t n, of_cpu[MOST_CPUS], disorder;
	int64_t last[MOST_CPUS];
};

static int count_record(void *self, const struct weft_record *r)
{
	struct counting *c = self;
	int64_t cpu = r->fields[1].value.i, i = r->fields[0].value.i;

	if (cpu < 0 || cpu >= MOST_CPUS || i <= c->last[cpu]) {
		c->disorder++;
		return 0;
	}
	c->last[cpu] = i;
	c->of_cpu[cpu]++;
	c->n++;
	return 0;
}

static int pass_table(void *self, const struct weft_table *t)
{
	struct counting *c = self;

	return c->inner.table(c->inner.self, t);
}

static int pass_loss(void *self, const struct weft_loss_report *l)
{
	struct counting *c = self;

	return c->inner.loss(c->inner.self, l);
}

static int pass_end(void *self, const struct weft_end *e)
{
	struct counting *c = self;

	return c->inner.end(c->inner.self, e);
}

static int pass_flush(void *self)
{
	struct counting *c = self;

	return c->inner.flush(c->inner.self);
}

static void count_records(struct rig *r, struct counting *c)
{
	memset(c, 0, sizeof(*c));
	for (int i = 0; i < MOST_CPUS; i++)
		c->last[i] = -1;
	c->inner = capture_sink(&r->cap);
	c->sink = (struct weft_sink){.record = count_record,
				     .table = pass_table,
				     .loss = pass_loss,
				     .end = pass_end,
				     .flush = pass_flush,
				     .self = c};
	r->sink = &c->sink;
}

/* ---- aggregations and records ---- */

/* Of 0 .. n - 1, how many lie between. */
static uint64_t between(int64_t n, int64_t from, int64_t to)
{
	int64_t end = to < n ? to : n;

	return end > from ? (uint64_t)(end - from) : 0;
}

static void expect_aggregations(struct rig *r, int64_t n)
{
	const uint64_t cpus = (uint64_t)rig_cpus(), all = (uint64_t)n * cpus;
	const struct cap_table *by_cpu = cap_last_table(&r->cap, "of");
	const struct weft_row *q = cap_only_row(&r->cap, "q");

	cr_expect_eq(cap_only_row(&r->cap, "n")->count, all);
	cr_expect_eq(by_cpu->n_rows, cpus);
	for (int cpu = 0; cpu < rig_cpus(); cpu++)
		cr_expect_eq(cap_row_int(by_cpu, "cpu", cpu)->count, (uint64_t)n);
	cr_expect_eq(cap_only_row(&r->cap, "s")->value.i, n * (n - 1) / 2 * (int64_t)cpus);
	cr_expect_eq(q->count, all);
	cr_expect_eq(cap_bucket(q, 0, 1), cpus);
	for (int64_t from = 1; from < n; from *= 2)
		cr_expect_eq(cap_bucket(q, from, 2 * from), between(n, from, 2 * from) * cpus,
			     "from %lld", (long long)from);
	cr_expect_eq(cap_only_row(&r->cap, "least")->value.i, 0);
	cr_expect_eq(cap_only_row(&r->cap, "most")->value.i, n - 1);
}

static void run_at(const char *buffer, bool calls, int64_t n)
{
	struct load l = {.n = n, .calls = calls};
	struct counting c;
	struct worker w;
	struct rig r;
	uint64_t lost;

	worker_fork(&w, fire, &l);
	rig_init(&r);
	count_records(&r, &c);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n"
		  "options: {buffer: %s}\n"
		  "providers: {syscall: {mechanism: raw}}\n"
		  "probes:\n"
		  "  - probe: '%s'\n"
		  "    do:\n"
		  "      - emit: {i: (int32) arg0, cpu: (int32) arg1}\n"
		  "      - count: {into: n}\n"
		  "      - count: {into: of, by: {cpu: (int32) arg1}}\n"
		  "      - sum: {into: s, value: (int32) arg0}\n"
		  "      - quantize: {into: q, value: (int32) arg0}\n"
		  "      - min: {into: least, value: (int32) arg0}\n"
		  "      - max: {into: most, value: (int32) arg0}\n",
		  w.pid, buffer, probe_of(calls));
	lost = cap_lost(&r.cap, "RECORD_BUFFER_FULL");
	printf("%s, buffer %s: %lld firings, %llu records and %llu counted as lost\n",
	       calls ? "system call" : "function", buffer, (long long)n * rig_cpus(),
	       (unsigned long long)c.n, (unsigned long long)lost);
	expect_aggregations(&r, n);
	cr_expect_eq(c.n + lost, (uint64_t)n * (uint64_t)rig_cpus(), "buffer %s: %llu + %llu",
		     buffer, (unsigned long long)c.n, (unsigned long long)lost);
	cr_expect_eq(c.disorder, 0, "a record twice, or out of order");
	/* Nothing else is lost, and no loss leaves the status alone. */
	if (lost)
		cap_expect_loss(&r.cap, "RECORD_BUFFER_FULL", lost);
	else
		cap_expect_no_loss(&r.cap);
	cr_expect_eq(r.end.status, lost ? 3 : 0);
	rig_finish(&r);
}

static void at_every_size(bool calls)
{
	static const char *const some[] = {"4k", "64k", "1m", "16m", NULL};
	static const char *const all[] = {"4k",   "8k",   "16k",  "32k",  "64k", "128k", "256k",
					  "512k", "1m",   "2m",   "4m",   "8m",  "16m",  "32m",
					  "64m",  "128m", "256m", "512m", "1g",  NULL};

	for (const char *const *size = test_is_long() ? all : some; *size; size++)
		run_at(*size, calls, share(test_is_long() ? 10000000 : 60000));
}

Test(exact, system_calls)
{
	at_every_size(true);
}

Test(exact, functions)
{
	at_every_size(false);
}

/* ---- what goes around a full buffer ---- */

#define SIGNAL_EVERY 1000

static volatile uint64_t *signals; /* that the worker's threads have seen */

static void on_signal(int number)
{
	(void)number;
	__atomic_add_fetch(signals, 1, __ATOMIC_RELAXED);
}

static void fire_and_be_told(void *arg)
{
	struct load *l = arg;

	signal(SIGUSR1, on_signal);
	worker_on_cpus(rig_cpus(), fire_on, l);
	/* From one thread: its signal is there before the call returns. */
	for (int64_t i = 0; i < 100 * SIGNAL_EVERY; i++)
		syscall(SYS_getpriority, (long)i, -1L);
}

/* The counts of all tables of that name that were shown. */
static uint64_t shown(const struct rig *r, const char *name, size_t *tables)
{
	uint64_t n = 0;

	*tables = 0;
	for (size_t i = 0; i < r->cap.n_tables; i++) {
		if (strcmp(r->cap.tables[i].name, name))
			continue;
		n += cap_total(&r->cap.tables[i]);
		*tables += r->cap.tables[i].n_rows != 0;
	}
	return n;
}

/*
 * Records flood the smallest buffer. A signal is sent each thousand firings of a thread, a tick
 * shows and clears a table, a firing shows another, the last of all ends the run.
 */
Test(exact, what_goes_around_a_full_buffer)
{
	const int64_t n = share(test_is_long() ? 10000000 : 200000);
	struct load l = {.n = n, .calls = true};
	struct counting c;
	struct worker w;
	struct rig r;
	uint64_t between_clears;
	size_t tables;

	signals = worker_shared(sizeof(*signals));
	worker_fork(&w, fire_and_be_told, &l);
	rig_init(&r);
	r.destructive = true;
	count_records(&r, &c);
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "target: {pid: %d}\n"
				 "options: {buffer: 4k}\n"
				 "providers: {syscall: {mechanism: raw}}\n"
				 "probes:\n"
				 "  - probe: syscall::getpriority:entry\n"
				 "    when: args.who >= 0\n"
				 "    do:\n"
				 "      - emit: {i: args.which, cpu: args.who}\n"
				 "      - count: {into: cleared}\n"
				 "      - count: {into: kept}\n"
				 "  - probe: syscall::getpriority:entry\n"
				 "    when: args.who < 0 && args.which %% %d == 0\n"
				 "    do: [signal: USR1, count: {into: asked}]\n"
				 "  - probe: syscall::getpriority:entry\n"
				 "    when: args.who == 0 && args.which == %lld\n"
				 "    do: [show: kept]\n"
				 "  - probe: 'profile:::tick-10ms'\n"
				 "    do: [show: cleared, clear: cleared, count: {into: ticks}]\n"
				 "  - probe: syscall::getpriority:entry\n"
				 "    when: args.who < 0 && args.which == %d\n"
				 "    do: [exit: 42]\n",
				 w.pid, SIGNAL_EVERY, (long long)n / 2, 100 * SIGNAL_EVERY - 1),
		     0, "%s", rig_errors(&r));
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	worker_go(&w);
	cr_assert_eq(rig_run(&r, -1, 0), 0);
	worker_join(&w);
	cr_expect_str_eq(r.end.reason, "exit");
	cr_expect_eq(r.end.status, 42);
	cr_expect_gt(cap_lost(&r.cap, "RECORD_BUFFER_FULL"), 0);
	cr_expect_eq(c.n + cap_lost(&r.cap, "RECORD_BUFFER_FULL"), (uint64_t)(n * rig_cpus()));
	/* What is between two clears is in one table, and all of them have all of it. */
	between_clears = shown(&r, "cleared", &tables);
	cr_expect_eq(between_clears, (uint64_t)(n * rig_cpus()), "%llu",
		     (unsigned long long)between_clears);
	printf("%zu tables between clears, %llu ticks, %llu signals\n", tables,
	       (unsigned long long)cap_only_row(&r.cap, "ticks")->count,
	       (unsigned long long)*signals);
	cr_expect_gt(tables, 1);
	cr_expect_eq(cap_only_row(&r.cap, "kept")->count, (uint64_t)(n * rig_cpus()));
	shown(&r, "kept", &tables);
	cr_expect_eq(tables, 2, "once in the middle, and at the end");
	cr_expect_eq(cap_only_row(&r.cap, "asked")->count, 100);
	cr_expect_eq(*signals + cap_lost(&r.cap, "SIGNAL_FAILED"), 100);
	rig_finish(&r);
}

/* ---- ticks ---- */

#define PERIOD_NS 1000000

/* The periods that the event of a row's CPU counted from its first firing to its last, and the first. */
static uint64_t firings_due(const struct rig *r, int64_t cpu)
{
	int64_t from = cap_row_int(cap_last_table(&r->cap, "from"), "cpu", cpu)->value.i;
	int64_t to = cap_row_int(cap_last_table(&r->cap, "to"), "cpu", cpu)->value.i;

	return (uint64_t)(to - from + PERIOD_NS / 2) / PERIOD_NS + 1;
}

/*
 * Each event of profile counts the nanoseconds that its CPU went on. Firings, and firings counted
 * as missed, are as many as that has room for. The first and the last of a CPU may be late, by less
 * than a period; where another event of the CPU comes or goes the kernel begins a period anew, and
 * such a run is repeated.
 */
Test(exact, ticks_are_what_the_events_counted)
{
	char why[160] = "";

	for (int run = 0; run < 6; run++) {
		uint64_t due = 0, n, missed, slack = 2 * (uint64_t)rig_cpus();
		struct rig r;

		rig_init(&r);
		cr_assert_eq(
			rig_prepare(
				&r,
				"version: 1\n"
				"probes:\n"
				"  - probe: 'profile:::profile-1ms'\n"
				"    do:\n"
				"      - count: {into: n, by: {cpu: cpu}}\n"
				"      - min: {into: from, by: {cpu: cpu}, value: args.counted}\n"
				"      - max: {into: to, by: {cpu: cpu}, value: args.counted}\n"),
			0, "%s", rig_errors(&r));
		cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
		cr_assert_eq(rig_run(&r, -1, test_is_long() ? 60000000000u : 500000000u), 0);
		for (int cpu = 0; cpu < rig_cpus(); cpu++)
			due += firings_due(&r, cpu);
		n = cap_total(cap_last_table(&r.cap, "n"));
		missed = cap_lost(&r.cap, "FIRINGS_MISSED");
		cr_expect_eq(r.end.status, missed ? 3 : 0);
		snprintf(why, sizeof(why),
			 "%llu firings and %llu missed, where the events counted %llu periods",
			 (unsigned long long)n, (unsigned long long)missed, (unsigned long long)due);
		rig_finish(&r);
		/* Those that were missed before the first and behind the last are not among these. */
		if (n <= due + slack && n + missed + slack >= due) {
			printf("%s\n", why);
			return;
		}
	}
	cr_expect(false, "%s", why);
}
