/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Children: they share what their parent declared, declare for themselves, and come in storms. */
#include <sched.h>
#include <spawn.h>

#include "exact.h"

static struct stage *stage;

#define COUNT_ALL      \
	"version: 1\n" \
	"probes:\n"    \
	"  - probe: 'user-syscall:" ME ":sender:*'\n" COUNT

static void reap(void)
{
	int status;

	while (wait(&status) > 0)
		if (status)
			__atomic_store_n(&stage->failed, status, __ATOMIC_SEQ_CST);
}

/* ---- storm ---- */

#define CHILDREN 250

static void storm(void *arg)
{
	weft_probe *probes[SENDER_PROBES];

	(void)arg;
	sender_begin();
	sender_declare(probes);
	if (!sender_wait_enabled(probes, SENDER_PROBES))
		_exit(2);
	for (int i = 0; i < CHILDREN; i++) {
		if (!fork()) {
			sender_begin();
			/* One in four has a child of its own and ends before it. */
			if (i % 4 == 0 && fork())
				_exit(0);
			sender_fire(probes, 200, (uint32_t)i, &stage->tallies[i]);
			stage_up(&stage->done);
			_exit(0);
		}
		sender_fire(probes, 10, 250, &stage->tallies[250]);
	}
	reap();
	if (!stage_wait(&stage->done, CHILDREN))
		_exit(5);
}

Test(user_syscall_fork, storm)
{
	struct worker w;
	struct rig r;

	stage = stage_create();
	worker_fork(&w, storm, NULL);
	rig_init(&r);
	rig_trace(&r, &w, COUNT_ALL);
	cr_expect_eq(tally_total(stage), CHILDREN * 210);
	cr_expect_eq(stage->failed, 0);
	expect_tally(&r, stage);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- children that were there before the tracer ---- */

static void family(void *arg)
{
	weft_probe *probes[SENDER_PROBES];

	(void)arg;
	sender_begin();
	sender_declare(probes);
	for (int i = 0; i < 20; i++) {
		if (!fork()) {
			sender_begin();
			stage_up(&stage->declared);
			if (!stage_wait(&stage->go, 1))
				_exit(2);
			sender_fire(probes, 500, (uint32_t)i, &stage->tallies[i]);
			_exit(0);
		}
	}
	reap();
}

Test(user_syscall_fork, children_before_the_tracer)
{
	struct worker w;
	struct rig r;

	stage = stage_create();
	worker_fork(&w, family, NULL);
	worker_go(&w);
	cr_assert(stage_wait(&stage->declared, 20));
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r, COUNT_ALL), 0, "%s", rig_errors(&r));
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	stage_up(&stage->go);
	cr_assert_eq(rig_run(&r, w.pidfd, 0), 0);
	worker_join(&w);
	cr_expect_eq(tally_total(stage), 20 * 500);
	expect_tally(&r, stage);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- a child that declares goes on firing what was enabled, while it gets a table of its own ---- */

static void diverge(void *arg)
{
	weft_probe *probes[SENDER_PROBES], *more[1];

	(void)arg;
	sender_begin();
	sender_declare(probes);
	if (!sender_wait_enabled(probes, SENDER_PROBES))
		_exit(2);
	for (int i = 0; i < 30; i++) {
		if (!fork()) {
			sender_begin();
			char name[16];

			sender_fire(probes, 50, (uint32_t)i, &stage->tallies[i]);
			snprintf(name, sizeof(name), "own%d", i);
			more[0] = weft_probe_declare("child", name, "uint64 v", NULL);
			sender_fire(probes, 500, (uint32_t)i, &stage->tallies[i]);
			if (!sender_wait_enabled(more, 1))
				_exit(3);
			sender_fire(probes, 50, (uint32_t)i, &stage->tallies[i]);
			WEFT_FIRE(more[0], 1000);
			_exit(0);
		}
	}
	reap();
}

Test(user_syscall_fork, children_that_declare)
{
	struct worker w;
	struct rig r;

	stage = stage_create();
	worker_fork(&w, diverge, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  COUNT_ALL "  - probe: 'user-syscall:" ME ":child:own*'\n"
			    "    do: [sum: {into: own, value: args.v}]\n");
	cr_expect_eq(stage->failed, 0);
	cr_expect_eq(tally_total(stage), 30 * 600);
	expect_tally(&r, stage);
	cr_expect_eq(cap_only_row(&r.cap, "own")->value.i, 30000);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- vfork and clone, which run no handlers ---- */

static int fire_ten(void *arg)
{
	weft_probe **probes = arg;

	sender_fire(probes, 10, 7, &stage->tallies[7]);
	return 0;
}

static void clones(void *arg)
{
	static char stack[65536] __attribute__((aligned(16)));
	weft_probe *probes[SENDER_PROBES];

	(void)arg;
	sender_begin();
	sender_declare(probes);
	if (!sender_wait_enabled(probes, SENDER_PROBES))
		_exit(2);
	for (int i = 0; i < 20; i++) {
		int pid = clone(fire_ten, stack + sizeof(stack),
				SIGCHLD | (i % 2 ? CLONE_VM | CLONE_VFORK : 0), probes);

		waitpid(pid, NULL, 0);
	}
	sender_fire(probes, 10, 8, &stage->tallies[8]);
}

Test(user_syscall_fork, vfork_and_clone)
{
	struct worker w;
	struct rig r;

	stage = stage_create();
	worker_fork(&w, clones, NULL);
	rig_init(&r);
	rig_trace(&r, &w, COUNT_ALL);
	cr_expect_eq(tally_total(stage), 210);
	expect_tally(&r, stage);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- exec ends it: what the new program calls is not the old one's firing ---- */

/* The test's program, executed again, forges and does not come as far as main. */
__attribute__((constructor(101))) static void forge_before_main(void)
{
	const char *forge = getenv("WEFT_TEST_FORGE");

	if (!forge)
		return;
	for (int i = 0; i < 100; i++)
		syscall(SYS_getpid, strtoull(forge, NULL, 10), 1);
	_exit(0);
}

static void exec_and_forge(void *arg)
{
	weft_probe *p[1];
	char word[32];

	(void)arg;
	sender_begin();
	p[0] = weft_probe_declare("exec", "p", "uint64 v", NULL);
	if (!sender_wait_enabled(p, 1))
		_exit(2);
	for (int i = 0; i < 10; i++)
		WEFT_FIRE(p[0], i);
	snprintf(word, sizeof(word), "%llu", (unsigned long long)weft_probe_word(p[0]));
	setenv("WEFT_TEST_FORGE", word, 1);
	execl("/proc/self/exe", "forge", NULL);
	_exit(3);
}

Test(user_syscall_fork, exec)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, exec_and_forge, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'user-syscall:" ME ":exec:p'\n"
		  "    do: [count: {into: n}]\n");
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, 10);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}
