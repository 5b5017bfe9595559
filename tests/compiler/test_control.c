/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* `every`, `limit` and signals: what goes through and what is counted, from one CPU and from all. */
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/kernel/bpf.h"
#include "rig.h"

#define SECOND UINT64_C(1000000000)

static const struct weft_loss_site *site(const struct rig *r, enum weft_loss loss)
{
	for (size_t i = 0; i < r->plan->n_losses; i++)
		if (r->plan->losses[i].loss == loss)
			return &r->plan->losses[i];
	cr_assert_fail("no such place");
	return NULL;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static void run(struct rig *r, uint64_t arg0)
{
	const uint64_t words[RIG_ARGS] = {arg0};

	rig_run(r, words);
}

static void clause_with(struct rig *r, const char *when, uint64_t every, uint64_t count,
			uint64_t per_ns)
{
	struct weft_clause *c;

	rig_clause(r, when, "count", "into||n", NULL);
	c = &r->raw[r->n_clauses - 1];
	c->every = every;
	c->limit.count = count;
	c->limit.per_ns = per_ns;
	c->limit.text = (struct weft_text){.s = "the/limit", .pos = {5, 9}, .verbatim = true};
}

/* ---- every ---- */

/* The n-th, the 2n-th ... of those that pass `when`. */
Test(compiler_control, every)
{
	static const uint64_t steps[] = {1, 2, 3, 8, 100};

	for (size_t k = 0; k < N(steps); k++) {
		struct rig r;

		rig_init(&r);
		clause_with(&r, "arg0", steps[k], 0, 0);
		rig_load(&r);
		for (uint64_t i = 1; i <= 250; i++) {
			run(&r, 0);
			run(&r, 1);
			cr_assert(rig_slot(&r, "n", 0) == i / steps[k], "every %lu: %lu of %lu",
				  steps[k], rig_slot(&r, "n", 0), i);
		}
		if (steps[k] > 1) {
			cr_expect(site(&r, WEFT_LOSS_SAMPLED_OUT)->every == steps[k]);
			cr_expect(rig_loss(&r, WEFT_LOSS_SAMPLED_OUT) == 250,
				  "the word counts all of them");
		} else {
			cr_expect(r.plan->n_losses == 0);
		}
		rig_finish(&r);
	}
}

/* ---- limit ---- */

/* A bucket of N: N at once, then no more for as long as none has come in. */
Test(compiler_control, RATE_LIMITED)
{
	struct rig r;

	rig_init(&r);
	clause_with(&r, "arg0", 0, 5, 60 * SECOND);
	rig_load(&r);
	for (unsigned i = 0; i < 20; i++) {
		run(&r, 0);
		run(&r, 1);
	}
	cr_expect(rig_slot(&r, "n", 0) == 5, "%lu", rig_slot(&r, "n", 0));
	cr_expect(rig_loss(&r, WEFT_LOSS_RATE_LIMITED) == 15);
	cr_expect_str_eq(site(&r, WEFT_LOSS_RATE_LIMITED)->span.text->s, "the/limit");
	rig_finish(&r);
}

/* The bucket fills evenly, and not beyond its size. */
Test(compiler_control, limit_fills_again)
{
	struct timespec pause = {.tv_nsec = 100000000};
	uint64_t start, ns;
	struct rig r;

	rig_init(&r);
	clause_with(&r, NULL, 0, 10, SECOND);
	rig_load(&r);
	start = now_ns();
	for (unsigned i = 0; i < 30; i++)
		run(&r, 1);
	for (unsigned i = 0; i < 7; i++) {
		nanosleep(&pause, NULL);
		run(&r, 1);
		run(&r, 1);
	}
	ns = now_ns() - start;
	/* 10 at first, and no more than one each 100 ms; never fewer than one a pause, which was so long. */
	cr_expect(rig_slot(&r, "n", 0) >= 17 && rig_slot(&r, "n", 0) <= 10 + ns / 100000000,
		  "%lu in %lu ns", rig_slot(&r, "n", 0), ns);
	cr_expect(rig_slot(&r, "n", 0) + rig_loss(&r, WEFT_LOSS_RATE_LIMITED) == 44);
	rig_finish(&r);

	rig_init(&r);
	clause_with(&r, NULL, 0, 2, 10000000);
	rig_load(&r);
	nanosleep(&pause, NULL); /* time for twenty */
	rig_control(&r)->enabled = 1;
	start = now_ns();
	for (unsigned i = 0; i < 20; i++)
		run(&r, 1);
	ns = now_ns() - start;
	cr_expect(rig_slot(&r, "n", 0) >= 2 && rig_slot(&r, "n", 0) <= 2 + ns / 5000000);
	rig_finish(&r);
}

/* `every` comes first. */
Test(compiler_control, every_and_limit)
{
	struct rig r;

	rig_init(&r);
	clause_with(&r, "arg0", 3, 4, 60 * SECOND);
	rig_load(&r);
	for (unsigned i = 0; i < 30; i++)
		run(&r, 1);
	cr_expect(rig_slot(&r, "n", 0) == 4);
	cr_expect(rig_loss(&r, WEFT_LOSS_SAMPLED_OUT) == 30);
	cr_expect(rig_loss(&r, WEFT_LOSS_RATE_LIMITED) == 6);
	rig_finish(&r);
}

/* Who is passed over gives the working memory back that `when` claimed. */
Test(compiler_control, passed_over_with_scratch)
{
	static const char text[] = "hello";
	struct rig r;

	rig_init(&r);
	rig_place(&r, 0, WEFT_TYPE_STRING, WEFT_SPACE_USER, &r.arg_ops[0], 1);
	clause_with(&r, "arg0 == arg0 && arg0 != \"x\"", 2, 1, 60 * SECOND);
	rig_load(&r);
	for (unsigned i = 0; i < 30; i++)
		run(&r, (uint64_t)(uintptr_t)text);
	cr_expect(r.plan->maps[WEFT_PLAN_SCRATCH].used, "what this test is about");
	cr_expect(rig_loss(&r, WEFT_LOSS_NESTED) == 0);
	cr_expect(rig_slot(&r, "n", 0) == 1);
	cr_expect(rig_loss(&r, WEFT_LOSS_SAMPLED_OUT) == 30);
	cr_expect(rig_loss(&r, WEFT_LOSS_RATE_LIMITED) == 14);
	rig_finish(&r);
}

/* Two programs of one clause have one bucket and one count. */
Test(compiler_control, one_for_all_programs)
{
	struct rig r;
	int first;

	rig_init(&r);
	clause_with(&r, NULL, 2, 6, 60 * SECOND);
	rig_load(&r);
	first = r.prog_fd;
	r.prog_fd = -1;
	rig_reload(&r);
	for (unsigned i = 0; i < 10; i++) {
		int second = r.prog_fd;

		run(&r, 1);
		r.prog_fd = first;
		run(&r, 1);
		r.prog_fd = second;
	}
	cr_expect(rig_slot(&r, "n", 0) == 6);
	cr_expect(rig_loss(&r, WEFT_LOSS_SAMPLED_OUT) == 20);
	cr_expect(rig_loss(&r, WEFT_LOSS_RATE_LIMITED) == 4);
	close(first);
	rig_finish(&r);
}

/* ---- all CPUs at once ---- */

#define RUNS 20000u

struct runner {
	struct rig *r;
	int cpu;
};

static void *run_many(void *arg)
{
	struct runner *me = arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(me->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (unsigned i = 0; i < RUNS; i++)
		run(me->r, 1);
	return NULL;
}

static uint64_t run_on_all(struct rig *r)
{
	int n = (int)sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[64];
	struct runner runners[64];

	n = n > 64 ? 64 : n < 2 ? 2 : n;
	for (int i = 0; i < n; i++) {
		runners[i] = (struct runner){r, i};
		cr_assert(!pthread_create(&threads[i], NULL, run_many, &runners[i]));
	}
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return (uint64_t)n * RUNS;
}

Test(compiler_control, every_from_all_cpus)
{
	uint64_t all;
	struct rig r;

	rig_init(&r);
	clause_with(&r, NULL, 7, 0, 0);
	rig_load(&r);
	all = run_on_all(&r);
	cr_expect(rig_loss(&r, WEFT_LOSS_SAMPLED_OUT) == all);
	cr_expect(rig_slot(&r, "n", 0) == all / 7);
	rig_finish(&r);
}

Test(compiler_control, limit_from_all_cpus)
{
	uint64_t all, start, ns;
	struct rig r;

	rig_init(&r);
	clause_with(&r, NULL, 0, 1000, SECOND);
	rig_load(&r);
	start = now_ns();
	all = run_on_all(&r);
	ns = now_ns() - start;
	cr_expect(rig_slot(&r, "n", 0) + rig_loss(&r, WEFT_LOSS_RATE_LIMITED) == all,
		  "each is one or the other");
	cr_expect(rig_slot(&r, "n", 0) >= 1000 && rig_slot(&r, "n", 0) <= 1000 + ns / 1000000,
		  "%lu in %lu ns", rig_slot(&r, "n", 0), ns);
	rig_finish(&r);
}

/* The bounds of the option: the verifier takes them, and nothing overflows. */
Test(compiler_control, extremes)
{
	static const struct {
		uint64_t count, per_ns, most;
	} rates[] = {{1, 60 * SECOND, 1},
		     {60000000, 60 * SECOND, 50},
		     {1000, 1000000, 50},
		     {1000000, SECOND, 50},
		     {7, SECOND, 7}};

	for (size_t i = 0; i < N(rates); i++) {
		struct rig r;

		rig_init(&r);
		clause_with(&r, NULL, 0, rates[i].count, rates[i].per_ns);
		clause_with(&r, NULL, 1000000000, 0, 0);
		rig_load(&r);
		for (unsigned k = 0; k < 50; k++)
			run(&r, 1);
		cr_expect(rig_slot(&r, "n", 0) >= rates[i].most, "%zu: %lu", i,
			  rig_slot(&r, "n", 0));
		rig_finish(&r);
	}
}

/* ---- signal ---- */

static volatile sig_atomic_t got;

static void on_signal(int number)
{
	got = number;
}

Test(compiler_control, signal)
{
	struct rig r;

	signal(SIGUSR2, on_signal);
	rig_init(&r);
	r.env.destructive = true;
	rig_clause(&r, "arg0", "signal", "||SIGUSR2", NULL);
	rig_load(&r);
	run(&r, 0);
	cr_expect(got == 0);
	run(&r, 1);
	cr_expect(got == SIGUSR2);
	cr_expect(rig_losses(&r) == 0);
	rig_finish(&r);
}

static int attach_raw_tracepoint(int prog_fd, const char *name)
{
	union bpf_attr attr = {0};

	attr.raw_tracepoint.name = (uint64_t)(uintptr_t)name;
	attr.raw_tracepoint.prog_fd = (uint32_t)prog_fd;
	return weft_bpf(BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr));
}

/* A process that is ending gets no signal any more. */
Test(compiler_control, SIGNAL_FAILED)
{
	int go[2], link;
	char when[64], c;
	struct rig r;
	pid_t pid;

	cr_assert(!pipe(go));
	pid = fork();
	cr_assert(pid >= 0);
	if (!pid) {
		close(go[1]);
		_exit(read(go[0], &c, 1) != 0);
	}
	close(go[0]);
	rig_init(&r);
	r.env.destructive = true;
	snprintf(when, sizeof(when), "pid == %d", pid);
	rig_clause(&r, when, "signal", "||9", NULL);
	rig_action(&r, "count", "into||n", NULL);
	rig_load(&r);
	link = attach_raw_tracepoint(r.prog_fd, "sched_process_exit");
	cr_assert(link >= 0, "%s", strerror(-link));
	close(go[1]);
	cr_assert(waitpid(pid, &(int){0}, 0) == pid);
	cr_expect(rig_loss(&r, WEFT_LOSS_SIGNAL_FAILED) == 1);
	cr_expect(rig_slot(&r, "n", 0) == 1, "the clause goes on");
	close(link);
	rig_finish(&r);
}

/* ---- several clauses on one probe ---- */

/* In file order: a later clause's record comes behind an earlier one's. */
Test(compiler_control, clauses_in_file_order)
{
	const struct weft_record_header *h;
	uint32_t size, first;
	struct rig r;

	rig_init(&r);
	for (unsigned i = 0; i < 8; i++) {
		rig_clause(&r, NULL, "emit", "|a|arg0", NULL);
		rig_action(&r, "emit", "|b|arg0", NULL);
	}
	rig_load(&r);
	run(&r, 1);
	h = rig_record(&r, &size);
	cr_assert(h);
	first = h->schema;
	for (unsigned i = 1; i < 16; i++) {
		h = rig_record(&r, &size);
		cr_assert(h);
		cr_expect(h->schema == first + i, "record %u is of schema %u", i, h->schema);
	}
	cr_expect(!rig_record(&r, &size));
	rig_finish(&r);
}
