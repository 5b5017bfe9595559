/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The life of programs: what fires before main and in signal handlers, code that is made at run
 * time, children that come before anyone could have looked, and numbers that are used again.
 */
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "exact.h"

static struct stage *stage;

static struct weft_probe *enabled_probe(const char *provider, const char *name, const char *args)
{
	weft_probe *p = weft_probe_declare(provider, name, args, NULL);

	if (!sender_wait_enabled(&p, 1))
		_exit(2);
	return p;
}

/* ---- a number that another process has later ---- */

#define ROUNDS 20

/* fork(), with a number of our choice: what happens by chance when numbers have gone round. */
static pid_t fork_as(pid_t pid)
{
	struct clone_args args = {.exit_signal = SIGCHLD};

	if (pid) {
		args.set_tid = (uint64_t)(uintptr_t)&pid;
		args.set_tid_size = 1;
	}
	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

static void reap(pid_t pid, int wanted)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != wanted)
		_exit(70);
}

static void victim(bool end)
{
	weft_probe *p;

	sender_begin();
	p = enabled_probe("reuse", "p", "uint64 v");
	for (int i = 0; i < 10; i++)
		WEFT_FIRE(p, 1);
	__atomic_store_n(&stage->tallies[0].n[0], weft_probe_word(p), __ATOMIC_SEQ_CST);
	if (end)
		_exit(0);
	stage_up(&stage->declared);
	pause();
}

static void reuse(void *arg)
{
	(void)arg;
	sender_begin();
	for (int i = 0; i < ROUNDS; i++) {
		pid_t pid = fork_as(0);

		if (!pid)
			victim(i % 2);
		if (i % 2) {
			reap(pid, 0);
		} else {
			if (!stage_wait(&stage->declared, i / 2 + 1))
				_exit(71);
			kill(pid, SIGKILL);
			reap(pid, SIGKILL);
		}
		/* One that has its number, but never declared: it fires what the other had enabled. */
		if (!fork_as(pid)) {
			for (int k = 0; k < 100; k++)
				syscall(SYS_getpid, stage->tallies[0].n[0], 1000, 0, 0, 0, 0);
			_exit(0);
		}
		reap(pid, 0);
		/* One that has its number and declares for itself. */
		if (!fork_as(pid))
			victim(true);
		reap(pid, 0);
	}
}

Test(user_syscall_life, numbers_are_used_again)
{
	struct worker w;
	struct rig r;

	stage = stage_create();
	worker_fork(&w, reuse, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'user-syscall:" ME ":reuse:p'\n"
		  "    do: [sum: {into: s, value: args.v}]\n");
	cr_expect_eq(cap_only_row(&r.cap, "s")->value.i, ROUNDS * 20);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- a server that declares and forks its workers at once, under a tracer that is there already ---- */

static void prefork(void *arg)
{
	weft_probe *probes[SENDER_PROBES];
	int status, bad = 0;

	(void)arg;
	sender_begin();
	sender_declare(probes);
	for (int i = 0; i < 16; i++) {
		if (!fork()) {
			sender_begin();
			/* Their children come as early. */
			if (i % 2 && fork())
				_exit(0);
			if (!sender_wait_enabled(probes, SENDER_PROBES))
				_exit(2);
			sender_fire(probes, 1000, (uint32_t)i, &stage->tallies[i]);
			stage_up(&stage->done);
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		bad |= status;
	if (!stage_wait(&stage->done, 16))
		_exit(3);
	_exit(bad != 0);
}

Test(user_syscall_life, workers_forked_at_once)
{
	for (int round = 0; round < 5; round++) {
		struct worker w;
		struct rig r;

		stage = stage_create();
		worker_fork(&w, prefork, NULL);
		rig_init(&r);
		rig_trace(&r, &w,
			  "version: 1\n"
			  "probes:\n"
			  "  - probe: 'user-syscall:" ME ":sender:*'\n" COUNT);
		cr_expect_eq(tally_total(stage), 16 * 1000);
		expect_tally(&r, stage);
		cap_expect_no_loss(&r.cap);
		rig_finish(&r);
	}
}

/* ---- before main, and in signal handlers that interrupt firings ---- */

static weft_probe *handled, *between;
static volatile sig_atomic_t n_handled;

static void handler(int sig)
{
	(void)sig;
	WEFT_FIRE(handled, n_handled);
	n_handled++;
}

/* The test's program, executed again; it does not come as far as main. */
__attribute__((constructor(102))) static void fire_before_main(void)
{
	const struct itimerval often = {.it_interval = {0, 300}, .it_value = {0, 300}};
	weft_probe *early, *ended;
	long n = 0;

	if (!getenv("WEFT_TEST_FIRE_EARLY"))
		return;
	sender_begin();
	early = enabled_probe("early", "before", "uint64 v");
	handled = enabled_probe("early", "handled", "uint64 v");
	between = enabled_probe("early", "between", "uint64 v");
	ended = enabled_probe("early", "ended", "uint64 handled, uint64 between");
	for (int i = 0; i < 100; i++)
		WEFT_FIRE(early, i);
	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &often, NULL);
	for (; n_handled < 200; n++)
		WEFT_FIRE(between, n);
	signal(SIGALRM, SIG_IGN);
	WEFT_FIRE(ended, n_handled, n);
	_exit(0);
}

Test(user_syscall_life, before_main_and_in_signal_handlers)
{
	const struct cap_record *ended;
	char path[512];
	const char *const argv[] = {path, NULL};
	struct worker w;
	struct rig r;

	cr_assert_gt(readlink("/proc/self/exe", memset(path, 0, sizeof(path)), sizeof(path) - 1), 0);
	setenv("WEFT_TEST_FIRE_EARLY", "1", 1);
	worker_program(&w, -1, argv);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'user-syscall:" ME ":early:*'\n"
		  "    do: [count: {into: n, by: {p: probename}}]\n"
		  "  - probe: 'user-syscall:" ME ":early:ended'\n"
		  "    do: [emit: {handled: args.handled, between: args.between}]\n");
	ended = cap_only(&r.cap, "ended");
	cr_expect_geq(cap_int(ended, "handled"), 200);
	cr_expect_eq(cap_row_text(cap_last_table(&r.cap, "n"), "p", "before")->count, 100);
	cr_expect_eq((int64_t)cap_row_text(cap_last_table(&r.cap, "n"), "p", "handled")->count,
		     cap_int(ended, "handled"));
	cr_expect_eq((int64_t)cap_row_text(cap_last_table(&r.cap, "n"), "p", "between")->count,
		     cap_int(ended, "between"));
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- functions that are made at run time, each with a probe of its own and the call itself ---- */

#define FUNCTIONS 2000
#define CALLS     3

#if defined(__x86_64__)
static uint8_t *put(uint8_t *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

/* rdi: the value. Loads, compares, and calls by the instruction: nothing of the library. */
static uint8_t *generate(uint8_t *at, weft_probe *p)
{
	const uint64_t word = (uint64_t)p, call = weft_probe_word(p);

	at = put(at, "\x48\xb8", 2); /* mov rax, the word's address */
	at = put(at, &word, 8);
	at = put(at, "\x48\x83\x38\x00\x74\x16", 6); /* cmp qword [rax], 0; je to the end */
	at = put(at, "\x48\x89\xfe\x48\xbf", 5);     /* mov rsi, rdi; mov rdi, the id */
	at = put(at, &call, 8);
	at = put(at, "\xb8\x27\x00\x00\x00", 5); /* mov eax, getpid */
	at = put(at, "\x0f\x05\x31\xff", 4);     /* syscall; xor edi, edi */
	return put(at, "\xc3", 1);
}

static void compiled(void *arg)
{
	static weft_probe *probes[FUNCTIONS];
	static void (*functions[FUNCTIONS])(uint64_t);
	uint8_t *at = mmap(NULL, FUNCTIONS * 64, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[16];

	(void)arg;
	sender_begin();
	for (int i = 0; i < FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		probes[i] = weft_probe_declare("made", name, "uint64 v", NULL);
		functions[i] = (void (*)(uint64_t))(void *)at;
		at = generate(at, probes[i]);
	}
	if (!sender_wait_enabled(probes, FUNCTIONS))
		_exit(2);
	for (int k = 0; k < CALLS; k++)
		for (int i = 0; i < FUNCTIONS; i++)
			functions[i]((uint64_t)i);
}

Test(user_syscall_life, generated_code)
{
	const struct cap_table *t;
	struct worker w;
	struct rig r;

	worker_fork(&w, compiled, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'user-syscall:" ME ":made:*'\n"
		  "    do:\n"
		  "      - count: {into: n, by: {p: probename}}\n"
		  "      - sum: {into: s, value: args.v}\n");
	t = cap_last_table(&r.cap, "n");
	cr_expect_eq(t->n_rows, FUNCTIONS);
	for (size_t i = 0; i < t->n_rows; i++)
		cr_expect_eq(t->rows[i].count, CALLS);
	cr_expect_eq(cap_only_row(&r.cap, "s")->value.i,
		     (int64_t)CALLS * FUNCTIONS * (FUNCTIONS - 1) / 2);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- the calls of 32-bit programs: they are none, in whatever way they are looked for ---- */

/* getpid is 20 there, and arguments have 32 bits. */
static void call_32(void *arg)
{
	weft_probe *p;
	long ret;

	(void)arg;
	sender_begin();
	p = enabled_probe("narrow", "p", "uint64 v");
	WEFT_FIRE(p, 1);
	/* A kernel without 32-bit calls answers with a signal. */
	if (!fork()) {
		signal(SIGSEGV, SIG_DFL); /* not the sanitizer's, which reports it */
		for (int i = 0; i < 200; i++)
			__asm__ volatile("int $0x80"
					 : "=a"(ret)
					 : "a"(20L), "D"(weft_probe_word(p)), "S"(1L), "b"(0L),
					   "c"(0L), "d"(0L)
					 : "memory", "r8", "r9", "r10", "r11");
		_exit(0);
	}
	wait(NULL);
	WEFT_FIRE(p, 2);
}

static void expect_narrow(const char *mechanism)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, call_32, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "providers: {user-syscall: {mechanism: %s}}\n"
		  "probes:\n"
		  "  - probe: 'user-syscall:" ME ":narrow:p'\n"
		  "    do: [count: {into: n}]\n",
		  mechanism);
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, 2, "%s", mechanism);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(user_syscall_life, calls_of_32_bits_are_none)
{
	expect_narrow("tracepoint");
	expect_narrow("raw");
}
#endif
