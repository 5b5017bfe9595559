/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The target set against processes that are made here and known. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/kernel/support.h"

enum { LOSS_OFFSET = 128 };

struct fixture {
	struct test_plan t;
	struct weft_procset *set;
	struct weft_control *control;
};

static void start(struct fixture *f, uint32_t entries, bool follow, bool execgen, bool targets)
{
	test_plan_init(&f->t);
	f->t.specs[WEFT_PLAN_STATE].used = true;
	f->t.specs[WEFT_PLAN_TARGETS].used = targets;
	f->t.specs[WEFT_PLAN_TARGETS].max_entries = entries;
	f->t.specs[WEFT_PLAN_EXECGEN].used = execgen;
	f->t.plan.state_size = 256;
	f->t.losses[0] = (struct weft_loss_site){
		.loss = WEFT_LOSS_TARGETS_FULL, .clause = UINT32_MAX, .state_offset = LOSS_OFFSET};
	f->t.plan.n_losses = 1;
	test_plan_create(&f->t);
	f->control = f->t.maps.state;
	cr_assert_eq(weft_procset_attach(&f->t.plan, &f->t.maps, follow, execgen, targets, &f->set,
					 f->t.err),
		     0, "%s", weft_error_text(f->t.err));
}

static void stop(struct fixture *f)
{
	cr_expect_eq(weft_procset_misses(f->set), 0u);
	weft_procset_detach(f->set);
	test_plan_finish(&f->t);
}

static bool is_target(struct fixture *f, pid_t pid)
{
	uint32_t key = (uint32_t)pid;
	uint64_t value;

	return !weft_bpf_map_lookup(f->t.maps.fds[WEFT_PLAN_TARGETS], &key, &value);
}

static uint64_t live(struct fixture *f)
{
	return __atomic_load_n(&f->control->live_targets, __ATOMIC_SEQ_CST);
}

static int count(const void *key, const void *value, void *arg)
{
	(void)key;
	(void)value;
	++*(size_t *)arg;
	return 0;
}

static size_t n_targets(struct fixture *f)
{
	size_t n = 0;

	cr_assert_eq(weft_map_walk(f->t.maps.fds[WEFT_PLAN_TARGETS], &f->t.specs[WEFT_PLAN_TARGETS],
				   1, count, &n, f->t.err),
		     0);
	return n;
}

static uint64_t generation(struct fixture *f, pid_t pid)
{
	uint32_t key = (uint32_t)pid % WEFT_EXECGEN_SLOTS;
	uint64_t value = 0;

	cr_assert_eq(weft_bpf_map_lookup(f->t.maps.fds[WEFT_PLAN_EXECGEN], &key, &value), 0);
	return value;
}

static void add_self(struct fixture *f)
{
	cr_assert_eq(weft_procset_add(&f->t.maps, getpid(), f->t.err), 0, "%s",
		     weft_error_text(f->t.err));
}

static int wait_for(pid_t pid)
{
	int status = -1;

	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return status;
}

Test(procset, a_child_is_a_target_before_it_runs)
{
	struct fixture f;
	int i, status;

	start(&f, 4096, true, false, true);
	add_self(&f);
	cr_expect_eq(live(&f), 1u);
	for (i = 0; i < 300; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(is_target(&f, getpid()) ? 0 : 1);
		status = wait_for(pid);
		cr_expect_eq(status, 0, "child %d was no target", pid);
		cr_expect_not(is_target(&f, pid), "child %d still is one", pid);
	}
	cr_expect_eq(live(&f), 1u);
	cr_expect_eq(n_targets(&f), 1u);
	stop(&f);
}

Test(procset, grandchildren_and_exec_and_vfork)
{
	struct fixture f;
	int i;

	start(&f, 4096, true, false, true);
	add_self(&f);
	for (i = 0; i < 30; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			pid_t grandchild = fork();
			int status;

			if (grandchild == 0)
				_exit(is_target(&f, getpid()) ? 0 : 1);
			if (waitpid(grandchild, &status, 0) != grandchild || status)
				_exit(2);
			/* A shell that runs commands of its own; its exec leaves it a target. */
			execl("/bin/sh", "sh", "-c", "/bin/true; /bin/true; exit 0", NULL);
			_exit(3);
		}
		cr_expect_eq(wait_for(pid), 0);
	}
	cr_expect_eq(live(&f), 1u);
	cr_expect_eq(n_targets(&f), 1u);
	stop(&f);
}

Test(procset, the_set_is_exactly_who_lives)
{
	enum { N = 300 };
	struct fixture f;
	pid_t pids[N], outsider;
	int gate[2], i;
	char c;

	start(&f, 4096, true, false, true);
	cr_assert_eq(pipe(gate), 0);
	outsider = fork(); /* before we are a target */
	if (outsider == 0) {
		close(gate[1]);
		_exit((int)read(gate[0], &c, 1));
	}
	add_self(&f);
	for (i = 0; i < N; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			close(gate[1]);
			_exit((int)read(gate[0], &c, 1));
		}
	}
	cr_expect_eq(live(&f), N + 1u);
	cr_expect_eq(n_targets(&f), N + 1u);
	for (i = 0; i < N; i++)
		cr_expect(is_target(&f, pids[i]));
	cr_expect_not(is_target(&f, outsider));
	/* Killed ones leave like others. */
	for (i = 0; i < N / 2; i++) {
		kill(pids[i], SIGKILL);
		wait_for(pids[i]);
	}
	cr_expect_eq(live(&f), N / 2 + 1u);
	close(gate[0]);
	close(gate[1]);
	for (; i < N; i++)
		wait_for(pids[i]);
	wait_for(outsider);
	cr_expect_eq(live(&f), 1u);
	cr_expect_eq(n_targets(&f), 1u);
	stop(&f);
}

static void *thread_main(void *arg)
{
	char c;

	if (arg && read(*(int *)arg, &c, 1) < 0)
		return NULL;
	return (void *)(uintptr_t)syscall(SYS_gettid);
}

Test(procset, threads_do_not_count)
{
	struct fixture f;
	pthread_t threads[20];
	void *tid;
	int i;

	start(&f, 4096, true, true, true);
	add_self(&f);
	for (i = 0; i < 20; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, thread_main, NULL), 0);
	cr_expect_eq(live(&f), 1u);
	for (i = 0; i < 20; i++) {
		pthread_join(threads[i], &tid);
		cr_expect_not(is_target(&f, (pid_t)(uintptr_t)tid));
	}
	cr_expect_eq(live(&f), 1u);
	cr_expect(is_target(&f, getpid()), "the end of a thread is not that of its process");
	cr_expect_eq(generation(&f, getpid()), 0u);
	stop(&f);
}

static char state_of(pid_t pid)
{
	char path[64], text[256] = "", *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	at = fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
	fclose(file);
	return at ? at[2] : 0;
}

Test(procset, a_process_whose_leader_ends_first_lives_on)
{
	struct fixture f;
	int gate[2], i;
	pid_t pid;

	start(&f, 4096, true, true, true);
	add_self(&f);
	cr_assert_eq(pipe(gate), 0);
	pid = fork();
	if (pid == 0) {
		pthread_t thread;

		close(gate[1]);
		if (pthread_create(&thread, NULL, thread_main, &gate[0]))
			_exit(1);
		syscall(SYS_exit, 0); /* the leader alone */
	}
	for (i = 0; i < 5000 && state_of(pid) != 'Z'; i++)
		usleep(1000);
	cr_assert_eq(state_of(pid), 'Z', "the leader has ended");
	cr_expect(is_target(&f, pid));
	cr_expect_eq(live(&f), 2u);
	cr_expect_eq(generation(&f, pid), 0u);
	/* And one that is in this state can be added. */
	cr_expect_eq(weft_procset_add(&f.t.maps, pid, f.t.err), 0);
	cr_expect_eq(live(&f), 2u);
	close(gate[1]);
	wait_for(pid);
	cr_expect_not(is_target(&f, pid));
	cr_expect_eq(live(&f), 1u);
	cr_expect_eq(generation(&f, pid), 1u);
	close(gate[0]);
	stop(&f);
}

Test(procset, exec_by_a_thread_that_is_no_leader)
{
	struct fixture f;
	pid_t pid;

	start(&f, 4096, true, true, true);
	add_self(&f);
	pid = fork();
	if (pid == 0) {
		/* The child of this process inherits nothing of its threads: make some. */
		pthread_t thread;
		int never[2];

		if (pipe(never) || pthread_create(&thread, NULL, thread_main, &never[0]))
			_exit(1);
		execl("/bin/true", "true", NULL);
		_exit(2);
	}
	cr_expect_eq(wait_for(pid), 0);
	cr_expect_not(is_target(&f, pid));
	cr_expect_eq(live(&f), 1u);
	cr_expect_eq(generation(&f, pid), 2u, "one exec, one end");
	stop(&f);
}

Test(procset, without_follow_children_stay_outside)
{
	struct fixture f;
	pid_t pid;

	start(&f, 4096, false, false, true);
	add_self(&f);
	pid = fork();
	if (pid == 0)
		_exit(is_target(&f, getpid()));
	cr_expect_eq(wait_for(pid), 0);
	cr_expect_eq(live(&f), 1u);
	stop(&f);
}

Test(procset, TARGETS_FULL)
{
	struct fixture f;
	pid_t pids[6];
	int gate[2], i;
	char c;

	start(&f, 4, true, false, true);
	add_self(&f);
	cr_assert_eq(pipe(gate), 0);
	for (i = 0; i < 6; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			close(gate[1]);
			_exit((int)read(gate[0], &c, 1));
		}
	}
	cr_expect_eq(live(&f), 4u);
	cr_expect_eq(n_targets(&f), 4u);
	cr_expect_eq(*(uint64_t *)((uint8_t *)f.t.maps.state + LOSS_OFFSET), 3u);
	cr_expect_eq(weft_procset_add(&f.t.maps, pids[5], f.t.err), -E2BIG);
	cr_expect_str_eq(weft_error_tag(f.t.err), "TARGETS_FULL");
	cr_expect_eq(live(&f), 4u);
	close(gate[0]);
	close(gate[1]);
	for (i = 0; i < 6; i++)
		wait_for(pids[i]);
	cr_expect_eq(live(&f), 1u);
	stop(&f);
}

Test(procset, TARGET_NO_PROCESS)
{
	struct fixture f;
	siginfo_t info;
	pid_t pid;

	start(&f, 16, true, false, true);
	pid = fork();
	if (pid == 0)
		_exit(0);
	/* Ended, not yet reaped. */
	cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	cr_expect_eq(weft_procset_add(&f.t.maps, pid, f.t.err), -ESRCH);
	cr_expect_str_eq(weft_error_tag(f.t.err), "TARGET_NO_PROCESS");
	wait_for(pid);
	cr_expect_eq(weft_procset_add(&f.t.maps, pid, f.t.err), -ESRCH);
	cr_expect_eq(live(&f), 0u);
	cr_expect_eq(n_targets(&f), 0u);
	stop(&f);
}

/* A tracer in a pid namespace of its own names processes by numbers that programs do not know. */
Test(procset, adding_by_the_number_of_a_namespace)
{
	struct fixture f;
	int gate[2], up[2];
	pid_t outer;
	char c;

	start(&f, 4096, true, false, true);
	cr_assert_eq(pipe(gate), 0);
	cr_assert_eq(pipe(up), 0);
	/* The tracer of this test is a child, which has no part in such memory otherwise. */
	madvise(f.t.maps.state, f.t.maps.state_size, MADV_DOFORK);
	outer = (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0);
	if (outer == 0) {
		bool good = getpid() == 1 && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
			    !mount("proc", "/proc", "proc", 0, NULL);

		if (good) {
			good = !weft_procset_add(&f.t.maps, 1, f.t.err) &&
			       weft_procset_add(&f.t.maps, 4000, f.t.err) == -ESRCH;
			if (write(up[1], good ? "y" : "n", 1) != 1)
				_exit(1);
		}
		close(gate[1]);
		if (read(gate[0], &c, 1) < 0)
			_exit(1);
		_exit(good ? 0 : 2);
	}
	close(up[1]);
	cr_assert_eq(read(up[0], &c, 1), 1);
	cr_expect_eq(c, 'y');
	cr_expect(is_target(&f, outer), "the set has the number of the initial namespace");
	cr_expect_eq(live(&f), 1u);
	close(gate[1]);
	cr_expect_eq(wait_for(outer), 0);
	cr_expect_eq(live(&f), 0u);
	close(gate[0]);
	close(up[0]);
	stop(&f);
}

/* Processes are added while they end, in every phase of that: none stays behind. */
Test(procset, adding_races_with_the_end)
{
	struct fixture f;
	pid_t pids[200];
	int i, added = 0;

	start(&f, 4096, true, false, true);
	for (i = 0; i < 200; i++) {
		int spin = i * 40;

		pids[i] = fork();
		if (pids[i] == 0) {
			while (spin--)
				__asm__ volatile("");
			_exit(0);
		}
		added += !weft_procset_add(&f.t.maps, pids[i], f.t.err);
		weft_error_clear(f.t.err);
	}
	for (i = 0; i < 200; i++)
		wait_for(pids[i]);
	cr_expect_eq(live(&f), 0u, "%lu of %d added stayed", live(&f), added);
	cr_expect_eq(n_targets(&f), 0u);
	stop(&f);
}

Test(procset, generations_of_exec_and_exit)
{
	struct fixture f;
	int out[2];
	uint64_t before;
	pid_t pid;
	char c;

	start(&f, 16, false, true, false);
	cr_assert_eq(pipe(out), 0);
	pid = fork();
	if (pid == 0) {
		dup2(out[1], 1);
		execl("/bin/sh", "sh", "-c", "echo x; read y", NULL);
		_exit(1);
	}
	close(out[1]);
	before = 0;
	cr_assert_eq(read(out[0], &c, 1), 1);
	cr_expect_eq(generation(&f, pid), before + 1, "%lu after exec", generation(&f, pid));
	kill(pid, SIGKILL);
	wait_for(pid);
	cr_expect_eq(generation(&f, pid), before + 2, "%lu after exit", generation(&f, pid));
	close(out[0]);
	stop(&f);
}

static pid_t storm(int depth)
{
	pid_t pid = fork(), kid;
	pthread_t thread;
	int i;

	if (pid)
		return pid;
	for (i = 0; depth && i < 3; i++) {
		kid = storm(depth - 1);
		if (i % 2)
			waitpid(kid, NULL, 0); /* others are left to whoever reaps */
	}
	if (!pthread_create(&thread, NULL, thread_main, NULL) && depth % 2)
		pthread_join(thread, NULL);
	if (depth == 0) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	_exit(0);
}

Test(procset, a_storm_leaves_nothing, .timeout = 60)
{
	struct fixture f;
	int i;

	start(&f, 4096, true, true, true);
	add_self(&f);
	for (i = 0; i < 6; i++)
		wait_for(storm(3));
	/* Orphans end in their own time. */
	for (i = 0; i < 5000 && live(&f) > 1; i++)
		usleep(1000);
	cr_expect_eq(live(&f), 1u);
	cr_expect_eq(n_targets(&f), 1u);
	cr_expect(is_target(&f, getpid()));
	cr_expect_eq(*(uint64_t *)((uint8_t *)f.t.maps.state + LOSS_OFFSET), 0u);
	stop(&f);
}

Test(procset, PROCSET_ATTACH)
{
	struct test_plan t;
	struct weft_procset *set = NULL;

	test_plan_init(&t);
	t.specs[WEFT_PLAN_STATE].used = true;
	test_plan_create(&t);
	cr_expect_eq(weft_procset_attach(&t.plan, &t.maps, true, false, true, &set, t.err), -EINVAL);
	cr_expect_str_eq(weft_error_tag(t.err), "PROCSET_ATTACH");
	t.specs[WEFT_PLAN_TARGETS].used = true;
	test_plan_create(&t);
	weft_error_clear(t.err);
	cr_expect_eq(weft_procset_attach(&t.plan, &t.maps, true, false, true, &set, t.err), -EINVAL,
		     "there is no place to count what is lost");
	cr_expect(strstr(weft_error_text(t.err), "TARGETS_FULL"), "%s", weft_error_text(t.err));
	cr_expect_null(set);
	test_plan_finish(&t);
}

Test(procset, PROCSET_ADD)
{
	struct fixture f;
	int targets, null;

	start(&f, 16, true, false, true);
	targets = f.t.maps.fds[WEFT_PLAN_TARGETS];
	null = open("/dev/null", O_RDONLY); /* no map */
	f.t.maps.fds[WEFT_PLAN_TARGETS] = null;
	cr_expect_eq(weft_procset_add(&f.t.maps, getpid(), f.t.err), -EINVAL);
	cr_expect_str_eq(weft_error_tag(f.t.err), "PROCSET_ADD");
	cr_expect_eq(live(&f), 0u);
	f.t.maps.fds[WEFT_PLAN_TARGETS] = targets;
	close(null);
	stop(&f);
}

/* A process that cannot be looked at is not one that there is not. */
Test(procset, PROCSET_ADD_without_descriptors)
{
	struct rlimit before, none;
	struct fixture f;
	int ret, fd;

	start(&f, 16, true, false, true);
	fd = dup(0);
	cr_assert_geq(fd, 0);
	close(fd);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = (rlim_t)fd;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	ret = weft_procset_add(&f.t.maps, getpid(), f.t.err);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	cr_expect_eq(ret, -EMFILE);
	cr_expect_str_eq(weft_error_tag(f.t.err), "PROCSET_ADD");
	cr_expect_eq(live(&f), 0u);
	cr_expect_eq(n_targets(&f), 0u);
	stop(&f);
}

/* Nothing to do: no program, no privilege needed. */
Test(procset, nothing_is_attached_for_nothing)
{
	struct test_plan t;
	struct weft_procset *set = NULL;

	test_plan_init(&t);
	cr_expect_eq(weft_procset_attach(&t.plan, &t.maps, true, false, false, &set, t.err), 0);
	weft_procset_detach(set);
	test_plan_finish(&t);
}
