/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Every firing arrives, once, at its probe: a tracer that comes before, after and in the middle. */
#include "exact.h"

#define PROCESSES 4
#define THREADS   8
#define EACH      31250L /* 1,000,000 in all */

static struct stage *stage;

/* ---- programs that declared before the tracer came ---- */

static void one_process(int number)
{
	weft_probe *probes[SENDER_PROBES];

	sender_begin();

	sender_declare(probes);
	stage_up(&stage->declared);
	if (!stage_wait(&stage->go, 1) || !sender_wait_enabled(probes, SENDER_PROBES))
		_exit(2);
	sender_threads(stage, probes, THREADS, EACH, number * THREADS);
	_exit(0);
}

static void processes(void *arg)
{
	int status, bad = 0;

	(void)arg;
	sender_begin();
	for (int i = 0; i < PROCESSES; i++)
		if (!fork())
			one_process(i);
	while (wait(&status) > 0)
		bad |= status;
	_exit(bad != 0);
}

static void million(const char *options)
{
	struct worker w;
	struct rig r;

	stage = stage_create();
	worker_fork(&w, processes, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&stage->declared, PROCESSES));
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "providers: {user-syscall: {%s}}\n"
				 "probes:\n"
				 "  - probe: 'user-syscall:" ME ":sender:*'\n" COUNT,
				 options),
		     0, "%s", rig_errors(&r));
	cr_expect_eq(weft_session_n_probes(r.session), SENDER_PROBES);
	cr_expect_eq(weft_session_n_programs(r.session), 1);
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	stage_up(&stage->go);
	cr_assert_eq(rig_run(&r, w.pidfd, 0), 0);
	worker_join(&w);
	cr_expect_eq(tally_total(stage), PROCESSES * THREADS * EACH);
	expect_tally(&r, stage);
	cap_expect_no_loss(&r.cap);
	cr_expect_eq(r.end.status, 0);
	rig_finish(&r);
}

Test(user_syscall, million)
{
	million("rate: 1000000000");
}

Test(user_syscall, million_by_raw_tracepoint)
{
	million("mechanism: raw, rate: 0");
}

/* ---- programs that come after ---- */

Test(user_syscall, tracer_first)
{
	struct worker w;
	struct rig r;

	stage = stage_create();
	stage->go = 1;
	worker_fork(&w, processes, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'user-syscall:" ME ":sender:p?'\n" COUNT);
	cr_expect_eq(tally_total(stage), PROCESSES * THREADS * EACH);
	expect_tally(&r, stage);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- programs that are in the middle of it: no firing is missing between the first and the last ---- */

static void fire_for_ever(void *arg)
{
	weft_probe *p = weft_probe_declare("middle", "p", "uint64 v", NULL);
	uint64_t v = 0;

	(void)arg;
	sender_begin();
	stage_up(&stage->declared);
	while (!__atomic_load_n(&stage->done, __ATOMIC_SEQ_CST)) {
		if (!weft_probe_enabled(p))
			continue;
		WEFT_FIRE(p, v);
		v++;
	}
	stage->tallies[0].n[0] = v;
}

Test(user_syscall, tracer_in_the_middle)
{
	struct worker w;

	stage = stage_create();
	worker_fork(&w, fire_for_ever, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&stage->declared, 1));
	for (int round = 0; round < 3; round++) {
		const struct weft_row *n, *lo, *hi;
		struct rig r;

		rig_init(&r);
		cr_assert_eq(rig_prepare(&r,
					 "version: 1\n"
					 "target: {pid: %d}\n"
					 "probes:\n"
					 "  - probe: 'user-syscall:" ME ":middle:p'\n"
					 "    do:\n"
					 "      - count: {into: n}\n"
					 "      - min: {into: lo, value: args.v}\n"
					 "      - max: {into: hi, value: args.v}\n",
					 w.pid),
			     0, "%s", rig_errors(&r));
		cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
		cr_assert_eq(rig_run(&r, -1, 300000000), 0);
		n = cap_only_row(&r.cap, "n");
		lo = cap_only_row(&r.cap, "lo");
		hi = cap_only_row(&r.cap, "hi");
		cr_expect_gt(n->count, 1000);
		cr_expect_eq((uint64_t)(hi->value.i - lo->value.i + 1), n->count);
		cap_expect_no_loss(&r.cap);
		rig_finish(&r);
	}
	stage_up(&stage->done);
	worker_join(&w);
}

/* ---- a plain getpid after a firing finds the registers as the firing left them ---- */

static void call_getpid_after(void *arg)
{
	weft_probe *p[1];

	(void)arg;
	sender_begin();
	p[0] = weft_probe_declare("plain", "p", "uint64 v", NULL);
	if (!sender_wait_enabled(p, 1))
		_exit(2);
	for (int i = 0; i < 100; i++) {
		weft_probe_fire(p[0], 1, 2, 3, 4, 5);
		getpid();
		getpid();
	}
}

Test(user_syscall, plain_getpid_is_none)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, call_getpid_after, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'user-syscall:" ME ":plain:p'\n"
		  "    do: [count: {into: n}]\n");
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, 100);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- disabled again ---- */

Test(user_syscall, nothing_is_left_enabled)
{
	struct worker w;
	struct rig r;

	stage = stage_create();
	worker_fork(&w, fire_for_ever, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&stage->declared, 1));
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r, "version: 1\n"
				     "probes:\n"
				     "  - probe: 'user-syscall:" ME ":middle:*'\n"
				     "    do: [count: {into: n}]\n"),
		     0, "%s", rig_errors(&r));
	cr_assert_eq(rig_start(&r), 0);
	cr_assert_eq(rig_run(&r, -1, 100000000), 0);
	rig_finish(&r);
	/* It fires only what is enabled: its tally stands still. */
	stage_up(&stage->done);
	worker_join(&w);
	cr_expect_gt(stage->tallies[0].n[0], 0);
}

/* ---- declared, undeclared, declared again ---- */

static void come_and_go(void *arg)
{
	weft_probe *probes[1];
	uint64_t fired = 0;

	(void)arg;
	sender_begin();
	for (int round = 0; round < 20; round++) {
		probes[0] = weft_probe_declare("again", "p", "uint64 v", NULL);
		if (!sender_wait_enabled(probes, 1))
			_exit(3);
		for (int i = 0; i < 100; i++, fired++)
			WEFT_FIRE(probes[0], i);
		weft_probe_undeclare(probes[0]);
		if (weft_probe_enabled(probes[0]))
			_exit(4);
	}
	stage->tallies[0].n[0] = fired;
}

Test(user_syscall, undeclared_and_declared_again)
{
	struct worker w;
	struct rig r;

	stage = stage_create();
	worker_fork(&w, come_and_go, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'user-syscall:" ME ":again:p'\n"
		  "    do: [count: {into: n}]\n");
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, 2000);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- many probes ---- */

#define MANY 3000

static void declare_many(void *arg)
{
	static weft_probe *probes[MANY];
	char name[32];

	(void)arg;
	sender_begin();
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		probes[i] = weft_probe_declare("many", name, i % 2 ? "int64 v" : "int32 v", NULL);
	}
	if (!sender_wait_enabled(probes, MANY))
		_exit(3);
	for (int i = 0; i < MANY; i++)
		WEFT_FIRE(probes[i], i);
}

Test(user_syscall, thousands_at_run_time)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, declare_many, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'user-syscall:" ME ":many:*'\n"
		  "    do:\n"
		  "      - count: {into: n}\n"
		  "      - sum: {into: s, value: args.v}\n");
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, MANY);
	cr_expect_eq(cap_only_row(&r.cap, "s")->value.i, MANY * (MANY - 1) / 2);
	cr_expect_eq(weft_session_n_probes(r.session), MANY);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}
