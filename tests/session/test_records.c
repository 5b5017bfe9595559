/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Records: values of every type, their order, and what happens when they do not fit. */
#include <time.h>

#include "core/output/output.h"
#include "harness.h"

static void fire(int64_t a, int64_t b, int64_t c)
{
	syscall(SYS_prctl, MAGIC, a, b, c, 0);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- types ---- */

struct moment {
	uint64_t before[2], after[2];
	int32_t tid;
};

static void fire_once(void *arg)
{
	struct moment *m = arg;

	worker_pin(rig_cpus() - 1);
	m->tid = (int32_t)syscall(SYS_gettid);
	m->before[0] = now_ns(CLOCK_MONOTONIC);
	m->before[1] = now_ns(CLOCK_REALTIME);
	fire(-2, 0x1234567887654321, 0);
	m->after[0] = now_ns(CLOCK_MONOTONIC);
	m->after[1] = now_ns(CLOCK_REALTIME);
}

Test(records, every_type)
{
	static const struct {
		const char *name;
		int size;
		bool is_signed;
		int64_t value;
	} ints[] = {
		{"i8", 1, true, 0x21},
		{"u8", 1, false, 0x21},
		{"m8", 1, false, 0xfe},
		{"i16", 2, true, 0x4321},
		{"i32", 4, true, (int32_t)0x87654321},
		{"u32", 4, false, 0x87654321},
		{"i64", 8, true, 0x1234567887654321},
		{"u64", 8, false, -2},
	};
	struct moment *m = worker_shared(sizeof(*m));
	struct worker w;
	struct rig r;

	worker_fork(&w, fire_once, m);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::math'\n"
		  "    when: pid == %d\n"
		  "    do:\n"
		  "      - emit:\n"
		  "          i8: (int8) args.b\n"
		  "          u8: (uint8) args.b\n"
		  "          m8: (uint8) args.a\n"
		  "          i16: (int16) args.b\n"
		  "          i32: (int32) args.b\n"
		  "          u32: (uint32) args.b\n"
		  "          i64: args.b\n"
		  "          u64: (uint64) args.a\n"
		  "          s: execname\n"
		  "          literal: '\"a \\\"quoted\\\" one\"'\n"
		  "          choice: 'args.a < 0 ? \"negative\" : \"no\"'\n"
		  "          prov: probeprov\n"
		  "          mod: probemod\n"
		  "          func: probefunc\n"
		  "          name: probename\n"
		  "          pid: pid\n"
		  "          tid: tid\n"
		  "          ppid: ppid\n"
		  "          uid: uid\n"
		  "          gid: gid\n"
		  "          cpu: cpu\n"
		  "          t: timestamp\n"
		  "          wall: walltimestamp\n"
		  "          cgroup: cgroup\n"
		  "          stack: stack\n"
		  "          user: ustack(2)\n",
		  w.pid);
	cr_assert_eq(r.cap.n_records, 1);
	const struct cap_record *rec = &r.cap.records[0];
	for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++) {
		const struct weft_value *v = cap_field(rec, ints[i].name);

		cr_expect_eq(v->type.size, ints[i].size, "%s", ints[i].name);
		cr_expect_eq(v->type.is_signed, ints[i].is_signed, "%s", ints[i].name);
		cr_expect_eq(v->i, ints[i].value, "%s: %lld", ints[i].name, (long long)v->i);
	}
	char comm[16] = "";
	FILE *f = fopen("/proc/self/comm", "re");
	cr_assert(f && fgets(comm, sizeof(comm), f));
	fclose(f);
	comm[strcspn(comm, "\n")] = '\0';
	cr_expect(cap_is_text(rec, "s", comm));
	cr_expect(cap_is_text(rec, "literal", "a \"quoted\" one"));
	cr_expect(cap_is_text(rec, "choice", "negative"));
	cr_expect(cap_is_text(rec, "prov", "fx-trace"));
	cr_expect(cap_is_text(rec, "mod", "syscalls"));
	cr_expect(cap_is_text(rec, "func", "sys_enter_prctl"));
	cr_expect(cap_is_text(rec, "name", "math"));
	cr_expect_eq(cap_int(rec, "pid"), w.pid);
	cr_expect_eq(cap_int(rec, "tid"), m->tid);
	cr_expect_eq(cap_int(rec, "ppid"), getpid());
	cr_expect_eq(cap_int(rec, "uid"), (int64_t)getuid());
	cr_expect_eq(cap_int(rec, "gid"), (int64_t)getgid());
	cr_expect_eq(cap_int(rec, "cpu"), rig_cpus() - 1);
	cr_expect_eq(rec->cpu, (uint32_t)rig_cpus() - 1);
	cr_expect_geq((uint64_t)cap_int(rec, "t"), m->before[0]);
	cr_expect_leq((uint64_t)cap_int(rec, "t"), m->after[0]);
	cr_expect_geq(rec->time_ns, m->before[0]);
	cr_expect_leq(rec->time_ns, m->after[0]);
	cr_expect_geq((uint64_t)cap_int(rec, "wall"), m->before[1] - 1000000);
	cr_expect_leq((uint64_t)cap_int(rec, "wall"), m->after[1] + 1000000);
	cr_expect_neq(cap_int(rec, "cgroup"), 0);
	cr_expect_eq(cap_field(rec, "stack")->type.kind, WEFT_VALUE_STACK);
	cr_expect_leq(cap_field(rec, "user")->stack.n, 2);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- stacks ---- */

/* The call itself, so that the place it is made from is in the function and not in the library. */
#if defined(__x86_64__)
__attribute__((noinline)) static void innermost(void)
{
	long ret;
	register long r10 __asm__("r10") = 0;

	/* Without a frame of its own a function that calls nothing hides its caller. */
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));

	/* Who asks for its frame has one: optimising gcc makes none for a leaf without variables. */
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(SYS_prctl), "D"(MAGIC), "S"(0L), "d"(0L), "r"(r10)
			 : "rcx", "r11", "memory");
	(void)ret;
}
#else
__attribute__((noinline)) static void innermost(void)
{
	fire(0, 0, 0);
	__asm__ volatile("");
}
#endif

__attribute__((noinline)) static void middle(void)
{
	innermost();
	__asm__ volatile("");
}

__attribute__((noinline)) static void outermost(void *arg)
{
	(void)arg;
	/* The mappings of processes that were there before are read while tracing, one by one. */
	usleep(400000);
	for (volatile int i = 0; i < 3; i++) { /* not unrolled: one place */
		middle();
		__asm__ volatile("");
	}
}

static void outermost_later(void *arg)
{
	usleep(200000);
	outermost(arg);
}

static void expect_frames(const struct weft_value *stack)
{
	static const char *const symbols[] = {"innermost", "middle", "outermost"};
	char self[4096] = "";

	cr_assert_gt(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
	cr_assert_eq(stack->type.kind, WEFT_VALUE_STACK);
	cr_assert_eq(stack->stack.n, 3, "%zu frames", stack->stack.n);
	for (size_t i = 0; i < 3; i++) {
		const struct weft_frame *f = &stack->stack.frames[i];

		cr_expect(f->symbol && !strcmp(f->symbol, symbols[i]), "frame %zu: %s", i,
			  f->symbol ? f->symbol : "unknown");
		cr_expect(f->module && !strcmp(f->module, self), "frame %zu: %s", i,
			  f->module ? f->module : "unknown");
		cr_expect(f->user);
		cr_expect_gt(f->offset, 0);
	}
}

/* In a record, and as a key, of a process that has ended by the time that it is printed. */
Test(records, user_stacks)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, outermost, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::math'\n"
		  "    when: pid == %d\n"
		  "    do:\n"
		  "      - emit: {s: ustack(3)}\n"
		  "      - count: {into: n, by: {s: ustack(3)}}\n",
		  w.pid);
	cr_assert_eq(r.cap.n_records, 3);
	for (size_t i = 0; i < 3; i++)
		expect_frames(cap_field(&r.cap.records[i], "s"));
	const struct weft_row *row = cap_only_row(&r.cap, "n");
	cr_expect_eq(row->count, 3);
	expect_frames(cap_key(row, "s"));
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* Two processes of one program: their stacks read alike and are one row, though ASLR and ids differ. */
Test(records, stacks_of_two_processes_are_one_row)
{
	struct worker w, other;
	struct rig r;

	worker_fork(&w, outermost_later, NULL);
	worker_fork(&other, outermost, NULL);
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "probes:\n"
				 "  - probe: 'fx-trace:::math'\n"
				 "    when: pid == %d || pid == %d\n"
				 "    do: [count: {into: n, by: {s: ustack(3)}}]\n",
				 w.pid, other.pid),
		     0);
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	worker_go(&other);
	worker_go(&w);
	cr_assert_eq(rig_run(&r, w.pidfd, 0), 0);
	worker_join(&w);
	worker_join(&other);
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, 6);
	expect_frames(cap_key(cap_only_row(&r.cap, "n"), "s"));
	rig_finish(&r);
}

Test(records, kernel_stacks)
{
	const struct weft_value *stack;
	struct worker w;
	struct rig r;
	bool found = false;

	worker_fork(&w, outermost, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::math'\n"
		  "    when: pid == %d\n"
		  "    do: [count: {into: n, by: {s: stack}}]\n",
		  w.pid);
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, 3);
	stack = cap_key(cap_only_row(&r.cap, "n"), "s");
	cr_assert_gt(stack->stack.n, 1);
	for (size_t i = 0; i < stack->stack.n; i++) {
		const struct weft_frame *f = &stack->stack.frames[i];

		cr_expect(!f->user);
		cr_expect(f->symbol && f->module && !strcmp(f->module, "vmlinux"));
		found |= f->symbol && strstr(f->symbol, "syscall");
	}
	cr_expect(found, "a system call's stack goes through the kernel's entry of system calls");
	rig_finish(&r);
}

/* ---- order ---- */

#define MANY 4000

static void fire_numbered(void *arg, int cpu)
{
	(void)arg;
	for (int i = 0; i < MANY; i++)
		fire(cpu, i, 0);
}

static void fire_everywhere(void *arg)
{
	worker_on_cpus(rig_cpus(), fire_numbered, arg);
}

Test(records, in_order_of_time_over_cpus)
{
	int64_t next[64] = {0};
	struct worker w;
	struct rig r;

	worker_fork(&w, fire_everywhere, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "options: {buffer: 4m}\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::math'\n"
		  "    when: pid == %d\n"
		  "    do: [emit: {cpu: args.a, i: args.b}]\n",
		  w.pid);
	cr_assert_eq(r.cap.n_records, (size_t)(MANY * rig_cpus()));
	for (size_t i = 0; i < r.cap.n_records; i++) {
		const struct cap_record *rec = &r.cap.records[i];
		int64_t cpu = cap_int(rec, "cpu");

		cr_assert_eq(cap_int(rec, "i"), next[cpu]++, "record %zu", i);
		cr_assert_eq(rec->cpu, (uint32_t)cpu);
		cr_assert(i == 0 || r.cap.records[i - 1].time_ns <= rec->time_ns,
			  "record %zu goes back in time", i);
	}
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* A buffer for a few dozen records: what came and what was lost are all of it. */
Test(records, RECORD_BUFFER_FULL)
{
	int64_t last[64];
	struct worker w;
	struct rig r;
	uint64_t lost;

	worker_fork(&w, fire_everywhere, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "options: {buffer: 4k}\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::math'\n"
		  "    when: pid == %d\n"
		  "    do:\n"
		  "      - emit: {cpu: args.a, i: args.b, pad: args.c, more: args.c}\n"
		  "      - count: {into: n}\n",
		  w.pid);
	lost = cap_lost(&r.cap, "RECORD_BUFFER_FULL");
	cr_expect_gt(lost, 0);
	cr_expect_gt(r.cap.n_records, 0);
	cr_expect_eq(r.cap.n_records + lost, (uint64_t)(MANY * rig_cpus()), "%zu + %llu",
		     r.cap.n_records, (unsigned long long)lost);
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, (uint64_t)(MANY * rig_cpus()),
		     "the clause goes on");
	cap_expect_loss(&r.cap, "RECORD_BUFFER_FULL", lost);
	cr_expect_eq(r.end.status, 3);
	cr_expect_eq(strncmp(r.cap.losses[0].where, "set.yaml:7:", 11), 0, "%s",
		     r.cap.losses[0].where);
	memset(last, -1, sizeof(last));
	for (size_t i = 0; i < r.cap.n_records; i++) {
		int64_t cpu = cap_int(&r.cap.records[i], "cpu");

		cr_assert_gt(cap_int(&r.cap.records[i], "i"), last[cpu], "what comes is in order");
		last[cpu] = cap_int(&r.cap.records[i], "i");
	}
	rig_finish(&r);
}

/* exit and show pass a full buffer: they do not go through it. */
Test(records, controls_pass_a_full_buffer)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, fire_everywhere, NULL);
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r,
				 "version: 1\n"
				 "options: {buffer: 4k}\n"
				 "probes:\n"
				 "  - probe: 'fx-trace:::math'\n"
				 "    when: pid == %d\n"
				 "    do: [emit: [arg0, arg1, arg2]]\n"
				 "  - probe: 'fx-trace:::math'\n"
				 "    when: pid == %d && args.b == %d && args.a == 0\n"
				 "    do: [count: {into: n}, exit: 42]\n",
				 w.pid, w.pid, MANY - 1),
		     0);
	cr_assert_eq(rig_start(&r), 0, "%s", rig_errors(&r));
	worker_go(&w);
	cr_assert_eq(rig_run(&r, -1, 0), 0);
	cr_expect_str_eq(r.end.reason, "exit");
	cr_expect_eq(r.end.status, 42);
	cr_expect_eq(cap_only_row(&r.cap, "n")->count, 1);
	worker_join(&w);
	rig_finish(&r);
}

/* ---- printf ---- */

static void fire_three(void *arg)
{
	(void)arg;
	fire(-1, 255, 8);
	fire(INT64_MIN, 0, 0);
	fire(7, 1000000, 3);
}

Test(records, printf_as_text)
{
	char *text = NULL, *messages = NULL;
	size_t size, messages_size;
	struct weft_output_options options = {.out = open_memstream(&text, &size),
					      .messages = open_memstream(&messages, &messages_size)};
	struct weft_sink sink;
	struct worker w;
	struct rig r;

	worker_fork(&w, fire_three, NULL);
	rig_init(&r);
	cr_assert_eq(weft_output_create("text", &options, &sink, r.err), 0);
	r.sink = &sink;
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-trace:::math'\n"
		  "    when: pid == %d\n"
		  "    do:\n"
		  "      - printf: [\"%%d|%%5d|%%-5x|%%#o|%%s|%%%%\", args.a, args.b, (uint16) args.b, "
		  "args.c, probename]\n",
		  w.pid);
	sink.destroy(sink.self);
	fclose(options.out);
	fclose(options.messages);
	cr_expect_str_eq(text, "-1|  255|ff   |010|math|%\n"
			       "-9223372036854775808|    0|0    |0|math|%\n"
			       "7|1000000|4240 |03|math|%\n");
	free(text);
	free(messages);
	rig_finish(&r);
}
