/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Entries and returns: elapsed against the clock, and which return belongs to which entry, by calls
 * that the test makes up. */
#include <time.h>

#include "harness.h"

/* ---- time ---- */

struct slept {
	int64_t total_ns;
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#define SLEEPS   6
#define SLEEP_NS 20000000

static void sleep_some(void *arg)
{
	struct slept *slept = arg;

	for (int i = 0; i < SLEEPS; i++) {
		const struct timespec t = {.tv_nsec = SLEEP_NS};
		int64_t start = now_ns();

		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL);
		slept->total_ns += now_ns() - start;
	}
}

Test(pairing, elapsed_lies_between_what_was_asked_for_and_what_was_seen)
{
	struct slept *slept = worker_shared(sizeof(*slept));
	struct worker w;
	struct rig r;

	worker_fork(&w, sleep_some, slept);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-pair::clock_nanosleep:return'\n"
		  "    when: pid == %d\n"
		  "    do:\n"
		  "      - min: {into: least, value: elapsed, unit: ns}\n"
		  "      - sum: {into: total, value: elapsed, unit: ns}\n"
		  "      - emit: {elapsed: elapsed, ret: retval}\n",
		  w.pid);
	cr_expect_eq(weft_session_n_probes(r.session), 2,
		     "the entry is there for the return's sake");
	cr_assert_eq(r.cap.n_records, SLEEPS);
	int64_t sum = 0, least = INT64_MAX;
	for (int i = 0; i < SLEEPS; i++) {
		int64_t elapsed = cap_int(&r.cap.records[i], "elapsed");

		cr_expect_geq(elapsed, SLEEP_NS);
		cr_expect_eq(cap_int(&r.cap.records[i], "ret"), 0);
		sum += elapsed;
		least = elapsed < least ? elapsed : least;
	}
	cr_expect_leq(sum, slept->total_ns);
	cr_expect_eq(cap_only_row(&r.cap, "total")->value.i, sum,
		     "elapsed is one value in a firing");
	cr_expect_eq(cap_only_row(&r.cap, "least")->value.i, least);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* The predicate looks at elapsed as well; a clause on the entry shares the entry's program. */
Test(pairing, elapsed_in_a_predicate)
{
	struct slept *slept = worker_shared(sizeof(*slept));
	struct worker w;
	struct rig r;

	worker_fork(&w, sleep_some, slept);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-pair::clock_nanosleep:return'\n"
		  "    when: pid == %d && elapsed >= 20ms\n"
		  "    do: [count: {into: slow}]\n"
		  "  - probe: 'fx-pair::clock_nanosleep:return'\n"
		  "    when: pid == %d && elapsed < 20ms\n"
		  "    do: [count: {into: fast}]\n"
		  "  - probe: 'fx-pair::clock_nanosleep:entry'\n"
		  "    when: pid == %d\n"
		  "    do: [count: {into: entries}]\n",
		  w.pid, w.pid, w.pid);
	cr_expect_eq(weft_session_n_programs(r.session), 2);
	cr_expect_eq(cap_only_row(&r.cap, "slow")->count, SLEEPS);
	cr_expect_eq(cap_total(cap_last_table(&r.cap, "fast")), 0);
	cr_expect_eq(cap_only_row(&r.cap, "entries")->count, SLEEPS);
	rig_finish(&r);
}

/* A return whose clauses do not ask for elapsed needs no entry. */
Test(pairing, no_elapsed_no_entry)
{
	struct slept *slept = worker_shared(sizeof(*slept));
	struct worker w;
	struct rig r;

	worker_fork(&w, sleep_some, slept);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-pair::clock_nanosleep:return'\n"
		  "    when: pid == %d\n"
		  "    do: [count: {into: n, by: [retval, errno]}]\n",
		  w.pid);
	cr_expect_eq(weft_session_n_probes(r.session), 1);
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, SLEEPS);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- calls that are made up ---- */

#define ENTER 0x656e746572L
#define LEAVE 0x6c65617665L
enum { F, G };

/* Long beside the time for which a virtual processor may stand still. */
#define STEP_NS 20000000

static void enter(int function, long frame, long value)
{
	syscall(SYS_getpid, ENTER, function, frame, value);
}

static void leave(int function, long frame, long value)
{
	syscall(SYS_getpid, LEAVE, function, frame, value);
}

/* The value of a return says at which step its entry was; steps lie STEP_NS apart, so that
 * elapsed tells which entry it was matched with. */
static void trace_calls(struct rig *r, void (*calls)(void *), const char *options)
{
	struct worker w;

	worker_fork(&w, calls, NULL);
	rig_init(r);
	rig_trace(r, &w,
		  "version: 1\n"
		  "target: {pid: %d}\n%s"
		  "probes:\n"
		  "  - probe: 'fx-call:::return'\n"
		  "    do: [emit: {f: probefunc, frame: args.frame, v: retval, e: elapsed}]\n"
		  "  - probe: 'fx-call:::entry'\n"
		  "    do: [emit: {f: probefunc, frame: args.frame, v: args.value}]\n",
		  w.pid, options);
}

/* Record i is a return that was matched with the entry that is record `entry`. */
static void expect_pair(const struct rig *r, size_t i, size_t entry)
{
	cr_assert_lt(i, r->cap.n_records, "%zu records", r->cap.n_records);
	const struct cap_record *ret = &r->cap.records[i], *ent = &r->cap.records[entry];
	int64_t between = (int64_t)(ret->time_ns - ent->time_ns);

	/* The times of the records and those that elapsed is made of are taken moments apart; the
	 * entries next to this one are a step away. */
	cr_expect_lt(llabs(cap_int(ret, "e") - between), STEP_NS / 2,
		     "record %zu: elapsed %lld ns, but its entry was %lld ns ago", i,
		     (long long)cap_int(ret, "e"), (long long)between);
}

static void step(void)
{
	const struct timespec t = {.tv_nsec = STEP_NS};

	nanosleep(&t, NULL);
}

static void recursion(void *arg)
{
	(void)arg;
	for (int i = 0; i < 5; i++) {
		enter(F, 1000 - 16 * i, i);
		step();
	}
	for (int i = 4; i >= 0; i--)
		leave(F, 1000 - 16 * i, i);
}

Test(pairing, recursion)
{
	struct rig r;

	trace_calls(&r, recursion, "");
	cr_assert_eq(r.cap.n_records, 10);
	for (size_t i = 0; i < 5; i++) {
		expect_pair(&r, 5 + i, 4 - i);
		cr_expect_eq(cap_int(&r.cap.records[5 + i], "v"), (int64_t)(4 - i));
		cr_expect_eq(cap_int(&r.cap.records[5 + i], "frame"),
			     (int64_t)(1000 - 16 * (4 - i)));
	}
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* f calls g calls f, which jumps back into the outermost. */
static void longjmp_over(void *arg)
{
	(void)arg;
	enter(F, 1000, 0);
	step();
	enter(G, 900, 1);
	step();
	enter(F, 800, 2);
	step();
	leave(F, 1000, 0);
	leave(G, 900, 1); /* cannot be: it was jumped over */
}

Test(pairing, PAIRING_NO_ENTRY)
{
	struct rig r;

	trace_calls(&r, longjmp_over, "");
	cr_assert_eq(r.cap.n_records, 4, "three entries and the outermost's return");
	expect_pair(&r, 3, 0);
	cap_expect_loss(&r.cap, "PAIRING_NO_ENTRY", 1);
	cr_expect_eq(r.end.status, 3);
	rig_finish(&r);
}

/* Returns that were missed: a later call from the same place takes the frame over. */
static void missed_returns(void *arg)
{
	(void)arg;
	enter(F, 1000, 0);
	step();
	enter(G, 900, 1); /* its return is missed */
	step();
	enter(G, 900, 2);
	step();
	leave(G, 900, 2);
	enter(F, 950, 3); /* above: g's frame is dead by then */
	step();
	leave(F, 950, 3);
	leave(F, 1000, 0);
}

Test(pairing, missed_returns)
{
	struct rig r;

	trace_calls(&r, missed_returns, "");
	cr_assert_eq(r.cap.n_records, 7);
	expect_pair(&r, 3, 2);
	expect_pair(&r, 5, 4);
	expect_pair(&r, 6, 0);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* f ends in a jump to g: they share a frame, and one return address is hit for both. */
static void tail_call(void *arg)
{
	(void)arg;
	enter(F, 1000, 0);
	step();
	enter(G, 1000, 1);
	step();
	leave(G, 1000, 1);
	leave(F, 1000, 0);
}

Test(pairing, tail_call)
{
	struct rig r;

	trace_calls(&r, tail_call, "");
	cr_assert_eq(r.cap.n_records, 4);
	expect_pair(&r, 2, 1);
	expect_pair(&r, 3, 0);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* Ten deep with room for four. */
static void deep(void *arg)
{
	(void)arg;
	for (int i = 0; i < 10; i++)
		enter(F, 1000 - 16 * i, i);
	for (int i = 9; i >= 0; i--)
		leave(F, 1000 - 16 * i, i);
}

Test(pairing, PAIRING_DEPTH)
{
	struct rig r;

	trace_calls(&r, deep, "options: {depth: 4}\n");
	cr_expect_eq(cap_lost(&r.cap, "PAIRING_DEPTH"), 6);
	cr_expect_eq(cap_lost(&r.cap, "PAIRING_NO_ENTRY"), 6, "their returns have no entry");
	cr_expect_eq(cap_count(&r.cap, "f:entry"), 10);
	cr_assert_eq(cap_count(&r.cap, "f:return"), 4);
	for (size_t i = 0; i < 4; i++)
		cr_expect_eq(cap_int(&r.cap.records[10 + i], "v"), (int64_t)(3 - i));
	rig_finish(&r);
}

/* Threads do not see each other's frames, on whatever CPU. */
static void same_frames(void *arg, int cpu)
{
	(void)arg;
	for (int i = 0; i < 200; i++) {
		enter(F, 1000, cpu);
		enter(F, 900, cpu);
		leave(F, 900, cpu);
		leave(F, 1000, cpu);
	}
}

static void same_frames_everywhere(void *arg)
{
	worker_on_cpus(rig_cpus(), same_frames, arg);
}

Test(pairing, threads_do_not_mix)
{
	struct rig r;

	trace_calls(&r, same_frames_everywhere, "options: {buffer: 8m}\n");
	cr_expect_eq(cap_count(&r.cap, "f:return"), 400u * (unsigned)rig_cpus());
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* With room for one thread. */
static void enter_only(void *arg, int cpu)
{
	(void)arg;
	enter(F, 1000, cpu);
	usleep(200000);
	leave(F, 1000, cpu);
}

static void enter_everywhere(void *arg)
{
	worker_on_cpus(rig_cpus(), enter_only, arg);
}

Test(pairing, PAIRING_FULL)
{
	struct rig r;

	cr_assert_geq(rig_cpus(), 2);
	trace_calls(&r, enter_everywhere, "options: {threads: 1}\n");
	uint64_t full = cap_lost(&r.cap, "PAIRING_FULL");
	cr_expect_eq(full, (uint64_t)rig_cpus() - 1, "%llu", (unsigned long long)full);
	cr_expect_eq(cap_lost(&r.cap, "PAIRING_NO_ENTRY"), full);
	cr_expect_eq(cap_count(&r.cap, "f:return"), 1);
	rig_finish(&r);
}

/* ---- strings of the entry ---- */

static void change_directories(void *arg)
{
	char path[32];

	(void)arg;
	for (int i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "/no/such/place/%d", i % 2);
		syscall(SYS_chdir, path);
		memset(path, 0, sizeof(path));
	}
	syscall(SYS_chdir, 8); /* no string */
}

/* The set says what it wants of the entry, and the frames have room for it. */
Test(pairing, strings_of_the_entry)
{
	const struct cap_table *t;
	struct worker w;
	struct rig r;

	worker_fork(&w, change_directories, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-pair::chdir:return'\n"
		  "    when: pid == %d\n"
		  "    do:\n"
		  "      - count: {into: all, by: retval}\n"
		  "      - count: {into: places, by: {p: basename(entry.path)}}\n"
		  "      - set: {last: entry.path}\n"
		  "      - emit: {path: last, n: strlen(entry.arg0)}\n",
		  w.pid);
	t = cap_last_table(&r.cap, "places");
	cr_expect_eq(t->n_rows, 2);
	cr_expect_eq(cap_row_text(t, "p", "0")->count, 3);
	cr_expect_eq(cap_row_text(t, "p", "1")->count, 2);
	cr_assert_eq(r.cap.n_records, 5);
	for (int i = 0; i < 5; i++) {
		const struct weft_value *path = cap_field(&r.cap.records[i], "path");

		cr_expect(path->text.n == 16 && !memcmp(path->text.s, "/no/such/place/", 15));
		cr_expect_eq(cap_int(&r.cap.records[i], "n"), 16);
	}
	cr_expect_eq(cap_row_int(cap_last_table(&r.cap, "all"), "retval", -ENOENT)->count, 5);
	cr_expect_eq(cap_lost(&r.cap, "FAULT_VALUE"), 1);
	rig_finish(&r);
}
