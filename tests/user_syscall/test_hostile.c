/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Hostile programs beside an honest one: its numbers are exact, what they do is counted or ignored. */
#include <fcntl.h>
#include <sys/mman.h>

#include "exact.h"
#include "layout.h"

static struct stage *stage;

static long call(uint64_t word, uint64_t a)
{
	return syscall(SYS_getpid, word, a, 0, 0, 0, 0);
}

static bool finished(void)
{
	return __atomic_load_n(&stage->done, __ATOMIC_SEQ_CST) != 0;
}

/* Fires whatever number comes to its mind, the honest one's among them. */
static void forge(void *arg)
{
	uint64_t n = 0;

	(void)arg;
	sender_begin();
	weft_probe_declare("forger", "p", "", NULL); /* so that it is known */
	stage_up(&stage->declared);
	while (!finished()) {
		uint64_t word = __atomic_load_n(&stage->tallies[200].sum[0], __ATOMIC_SEQ_CST);

		call(word + n % 8, 1);
		call(WEFT_CALL_WORD(n * 2654435761u), 2);
		call(WEFT_CALL_WORD(WEFT_CALL_REGISTER), n);
		n++;
	}
}

/* Declares what cannot be, the honest one's names among it, and changes it all the time. */
static void corrupt(void *arg)
{
	const size_t size = 1 << 20;
	unsigned seed = 5;

	(void)arg;
	sender_begin();
	stage_up(&stage->declared);
	while (!finished()) {
		int fd = memfd_create("weft:probes", MFD_ALLOW_SEALING | MFD_CLOEXEC);
		unsigned char *t;

		if (fd < 0 || ftruncate(fd, (off_t)size))
			_exit(4);
		if (seed % 3)
			fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
		t = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (t == MAP_FAILED)
			_exit(4);
		for (int round = 0; round < 200; round++) {
			struct weft_probe_table h = {.magic = "weftprob",
						     .version = 1,
						     .number = (uint32_t)rand_r(&seed) % 4096,
						     .capacity = 65536,
						     .words = 1024,
						     .decls = 1024 + 8 * 65536,
						     .decls_size =
							     (uint32_t)rand_r(&seed) % (1 << 19),
						     .count = (uint32_t)rand_r(&seed)};

			memcpy(t, &h, sizeof(h));
			for (size_t at = h.decls; at + 64 < size; at += 32) {
				const uint32_t head[2] = {rand_r(&seed) % 50 ? 32 : (uint32_t)seed,
							  1};

				memcpy(t + at, head, 8);
				memcpy(t + at + 8, "sender\0p0\0uint64 v\0", 20);
				if (at > h.decls + 3200)
					break;
			}
			if (round % 7 == 0)
				fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
					  (off_t)size);
			if (round % 11 == 0 && !(seed % 3) && ftruncate(fd, 0) == 0)
				if (ftruncate(fd, (off_t)size))
					_exit(4);
			call(WEFT_CALL_WORD(WEFT_CALL_REGISTER), 0);
			call(WEFT_CALL_WORD(WEFT_CALL_ID(h.number, seed % 100)), 3);
		}
		munmap(t, size);
		close(fd);
	}
}

static void honest(void *arg)
{
	weft_probe *probes[SENDER_PROBES];

	(void)arg;
	sender_begin();
	sender_declare(probes);
	__atomic_store_n(&stage->tallies[200].sum[0], weft_probe_word(probes[0]), __ATOMIC_SEQ_CST);
	stage_up(&stage->declared);
	if (!stage_wait(&stage->go, 1) || !sender_wait_enabled(probes, SENDER_PROBES))
		_exit(2);
	sender_threads(stage, probes, 4, 50000, 0);
	__atomic_store_n(&stage->tallies[200].sum[0], 0, __ATOMIC_SEQ_CST);
	stage_up(&stage->done);
}

Test(user_syscall_hostile, two_beside_an_honest_one)
{
	struct worker good, forger, corrupter;
	struct rig r;

	stage = stage_create();
	worker_fork(&good, honest, NULL);
	worker_go(&good);
	cr_assert(stage_wait(&stage->declared, 1));
	worker_fork(&forger, forge, NULL);
	worker_go(&forger);
	worker_fork(&corrupter, corrupt, NULL);
	worker_go(&corrupter);
	cr_assert(stage_wait(&stage->declared, 3));
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r, "version: 1\n"
				     "probes:\n"
				     "  - probe: 'user-syscall:" ME ":sender:*'\n" COUNT
				     "      - count: {into: by, by: {p: pid}}\n"),
		     0, "%s", rig_errors(&r));
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	stage_up(&stage->go);
	cr_assert_eq(rig_run(&r, good.pidfd, 0), 0);
	worker_join(&good);
	worker_join(&forger);
	worker_join(&corrupter);
	stage->tallies[200].sum[0] = 0;
	cr_expect_eq(tally_total(stage), 200000);
	/* By process: nobody speaks for another, whatever it calls itself. */
	cr_expect_eq(cap_row_int(cap_last_table(&r.cap, "by"), "p", good.pid)->count, 200000);
	cr_expect(rig_has_said(&r, "had not declared"), "%s", r.said);
	cr_expect(rig_has_said(&r, "malformed"), "%s", r.said);
	rig_finish(&r);
}

/* ---- floods ---- */

static void flood(void *arg)
{
	weft_probe *p[1];

	(void)arg;
	sender_begin();
	p[0] = weft_probe_declare("flood", "p", "uint64 v", NULL);
	if (!sender_wait_enabled(p, 1))
		_exit(2);
	for (int i = 0; i < 100000; i++)
		WEFT_FIRE(p[0], i);
}

Test(user_syscall_hostile, USER_SYSCALL_RATE)
{
	uint64_t counted, lost;
	struct worker w;
	struct rig r;

	worker_fork(&w, flood, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "providers: {user-syscall: {rate: 1000}}\n"
		  "probes:\n"
		  "  - probe: 'user-syscall:" ME ":flood:p'\n"
		  "    do: [count: {into: n}]\n");
	counted = cap_only_row(&r.cap, "n")->count;
	lost = cap_lost(&r.cap, "USER_SYSCALL_RATE");
	cr_expect_geq(counted, 1000);
	cr_expect_gt(lost, 0);
	cr_expect_eq(counted + lost, 100000);
	cr_expect_eq(r.end.status, 3);
	rig_finish(&r);
}

/* ---- more processes than there is room for ---- */

#define CROWD 40

static void crowd(void *arg)
{
	weft_probe *probes[SENDER_PROBES];

	(void)arg;
	sender_begin();
	sender_declare(probes);
	if (!sender_wait_enabled(probes, SENDER_PROBES))
		_exit(2);
	for (int i = 0; i < CROWD; i++) {
		if (!fork()) {
			sender_begin();
			/* All of them live at once. */
			stage_up(&stage->declared);
			if (!stage_wait(&stage->declared, CROWD))
				_exit(2);
			sender_fire(probes, 100, (uint32_t)i, &stage->tallies[i]);
			stage_up(&stage->done);
			stage_wait(&stage->done, CROWD);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

Test(user_syscall_hostile, USER_SYSCALL_PROCESSES)
{
	uint64_t counted, lost;
	struct worker w;
	struct rig r;

	stage = stage_create();
	worker_fork(&w, crowd, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "providers: {user-syscall: {processes: 16}}\n"
		  "probes:\n"
		  "  - probe: 'user-syscall:" ME ":sender:*'\n"
		  "    do: [count: {into: n}]\n");
	counted = cap_only_row(&r.cap, "n")->count;
	lost = cap_lost(&r.cap, "USER_SYSCALL_PROCESSES");
	cr_expect_geq(lost, 2000);
	cr_expect_eq(counted + lost, CROWD * 100, "%llu + %llu", (unsigned long long)counted,
		     (unsigned long long)lost);
	cr_expect_eq(r.end.status, 3);
	rig_finish(&r);
}

/* ---- a name that is taken ---- */

static void declare_differently(void *arg)
{
	weft_probe *p[1];
	int second = arg != NULL;

	sender_begin();

	p[0] = weft_probe_declare("taken", "p", second ? "int32 v" : "uint64 v", NULL);
	stage_up(&stage->declared);
	if (!sender_wait_enabled(p, 1))
		_exit(2);
	/* The first is enabled before the session counts, the second by a session that does. */
	if (second)
		stage_up(&stage->go);
	else if (!stage_wait(&stage->go, 1))
		_exit(3);
	for (int i = 0; i < (second ? 7 : 5); i++)
		WEFT_FIRE(p[0], -1);
	stage_up(&stage->done);
	/* The session ends with the second. */
	if (second && !stage_wait(&stage->done, 2))
		_exit(4);
}

Test(user_syscall_hostile, a_name_that_is_taken)
{
	struct worker first, second;
	char name[128];
	struct rig r;

	stage = stage_create();
	worker_fork(&first, declare_differently, NULL);
	worker_go(&first);
	cr_assert(stage_wait(&stage->declared, 1));
	worker_fork(&second, declare_differently, stage);
	rig_init(&r);
	rig_trace(&r, &second,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'user-syscall:" ME "*:taken:p'\n"
		  "    do: [count: {into: n, by: {m: probemod}}]\n");
	worker_join(&first);
	snprintf(name, sizeof(name), ME "#%d", second.pid);
	cr_expect_eq(cap_row_text(cap_last_table(&r.cap, "n"), "m", ME)->count, 5);
	cr_expect_eq(cap_row_text(cap_last_table(&r.cap, "n"), "m", name)->count, 7);
	rig_finish(&r);
}
