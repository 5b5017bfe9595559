/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Rows of threads go when the threads do, also those that are put there on the way out. */
#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "tests/kernel/support.h"

#define SELF    WEFT_PLAN_FIRST_FREE
#define THREADS 50

enum { INSERTED = sizeof(struct weft_control) };

struct fixture {
	struct test_plan t;
	struct weft_threads *threads;
	int prog_fd, link_fd;
};

static void plan_with_self(struct test_plan *t)
{
	test_plan_init(t);
	test_spec(t, SELF, WEFT_MAP_SELF, "weft_self", BPF_MAP_TYPE_HASH, 8, 8, 4 * THREADS, 0);
	t->specs[WEFT_PLAN_STATE].used = true;
	t->specs[SELF].used = true;
	t->plan.self_map = SELF;
	t->plan.state_size = 4096;
	test_plan_create(t);
}

/* Whenever a thread of this process is switched away from, it gets a row unless it has one; each
 * insertion is counted. */
static void start(struct fixture *f)
{
	plan_with_self(&f->t);
	const int self = f->t.maps.fds[SELF], state = f->t.maps.fds[WEFT_PLAN_STATE];
	const struct bpf_insn insns[] = {
		INSN_CALL(BPF_FUNC_get_current_pid_tgid),
		INSN_ALU64_IMM(BPF_RSH, BPF_REG_0, 32),
		INSN_JMP_IMM(BPF_JNE, BPF_REG_0, getpid(), 16),
		INSN_CALL(BPF_FUNC_get_current_task),
		INSN_STX(BPF_DW, BPF_REG_10, -8, BPF_REG_0),
		INSN_ST(BPF_DW, BPF_REG_10, -16, 1),
		INSN_LD_MAP(BPF_REG_1, self),
		INSN_MOV64_REG(BPF_REG_2, BPF_REG_10),
		INSN_ALU64_IMM(BPF_ADD, BPF_REG_2, -8),
		INSN_MOV64_REG(BPF_REG_3, BPF_REG_10),
		INSN_ALU64_IMM(BPF_ADD, BPF_REG_3, -16),
		INSN_MOV64_IMM(BPF_REG_4, BPF_NOEXIST),
		INSN_CALL(BPF_FUNC_map_update_elem),
		INSN_JMP_IMM(BPF_JNE, BPF_REG_0, 0, 4),
		INSN_LD_MAP_VALUE(BPF_REG_1, state, INSERTED),
		INSN_MOV64_IMM(BPF_REG_2, 1),
		INSN_ATOMIC(BPF_DW, BPF_ADD, BPF_REG_1, 0, BPF_REG_2),
		INSN_MOV64_IMM(BPF_REG_0, 0),
		INSN_EXIT(),
	};

	cr_assert_eq(weft_threads_attach(&f->t.plan, &f->t.maps, &f->threads, f->t.err), 0, "%s",
		     weft_error_text(f->t.err));
	f->prog_fd = test_load_raw(insns, sizeof(insns) / sizeof(insns[0]), f->t.err);
	f->link_fd = weft_bpf_raw_tracepoint_open("sched_switch", f->prog_fd);
	cr_assert_geq(f->link_fd, 0);
}

static int count(const void *key, const void *value, void *arg)
{
	(void)key;
	(void)value;
	++*(size_t *)arg;
	return 0;
}

static size_t n_rows(struct fixture *f)
{
	size_t n = 0;

	cr_assert_eq(weft_map_walk(f->t.maps.fds[SELF], &f->t.specs[SELF], test_cpus(), count, &n,
				   f->t.err),
		     0);
	return n;
}

static uint64_t inserted(struct fixture *f)
{
	return *(volatile uint64_t *)((char *)f->t.maps.state + INSERTED);
}

static void *be_switched(void *arg)
{
	(void)arg;
	usleep(1000);
	return NULL;
}

Test(threads, late_rows_go_too)
{
	struct fixture f;
	pthread_t thread;
	int tries;

	start(&f);
	for (int i = 0; i < THREADS; i++) {
		cr_assert_eq(pthread_create(&thread, NULL, be_switched, NULL), 0);
		pthread_join(thread, NULL);
	}
	/* A task_struct is given back after a grace period; this thread keeps its own row. Looking
	 * takes the locks of the hash, and a removal that interrupts that is refused: its row stays
	 * until the address is used again. */
	for (tries = 0; tries < 50 && n_rows(&f) > 1; tries++)
		usleep(100000);
	cr_expect_leq(n_rows(&f), 1 + THREADS / 10, "%zu rows", n_rows(&f));
	close(f.link_fd);
	close(f.prog_fd);
	/* Not quite two each: what interrupts a change of the hash on its CPU is refused. */
	cr_expect_geq(inserted(&f), THREADS + THREADS / 2, "they end after their rows went: %llu",
		      (unsigned long long)inserted(&f));
	cr_expect_eq(weft_threads_misses(f.threads), 0);
	weft_threads_detach(f.threads);
	test_plan_finish(&f.t);
}

Test(threads, nothing_to_do)
{
	struct weft_threads *threads = (void *)1;
	struct test_plan t;

	test_plan_init(&t);
	t.plan.self_map = -1;
	test_plan_create(&t);
	cr_expect_eq(weft_threads_attach(&t.plan, &t.maps, &threads, t.err), 0);
	cr_expect_null(threads);
	weft_threads_detach(threads);
	cr_expect_eq(weft_threads_misses(threads), 0);
	test_plan_finish(&t);
}

/* No descriptor is left for the second half of attaching. */
Test(threads, THREADS_ATTACH)
{
	struct weft_threads *threads = NULL;
	struct rlimit limit;
	struct test_plan t;
	int next;

	plan_with_self(&t);
	next = dup(0);
	close(next);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = (rlim_t)next + 1;
	setrlimit(RLIMIT_NOFILE, &limit);
	cr_expect_eq(weft_threads_attach(&t.plan, &t.maps, &threads, t.err), -EMFILE);
	cr_expect_str_eq(weft_error_tag(t.err), "THREADS_ATTACH");
	cr_expect(strstr(weft_error_text(t.err), "sched_process_exit"));
	cr_expect_null(threads);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	test_plan_finish(&t);
}
