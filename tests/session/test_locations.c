/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Every operation of a location, run by the kernel, against what C makes of the same values. */
#include <stdio.h>
#include <stdlib.h>

#include <time.h>

#include "harness.h"

static const char *emit_all(struct rig *r, const char *const *names, size_t n)
{
	char *out = weft_arena_strdup(r->cap.arena, "");

	for (size_t i = 0; i < n; i++)
		out = weft_arena_printf(r->cap.arena, "%s%s%s: args.%s", out, i ? ", " : "",
					names[i], names[i]);
	return out;
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- the fields of a record, by size and sign ---- */

static const struct field_case {
	const char *name;
	int size;
	bool is_signed;
} field_cases[] = {
	{"u8", 1, false},  {"s8", 1, true},  {"u16", 2, false}, {"s16", 2, true},
	{"u32", 4, false}, {"s32", 4, true}, {"u64", 8, false}, {"s64", 8, true},
	{"k8", 1, false},  {"k16", 2, true}, {"k32", 4, false}, {"k64", 8, true},
};

static int64_t cut(uint64_t v, int size, bool is_signed)
{
	int shift = 64 - 8 * size;

	return is_signed ? (int64_t)(v << shift) >> shift : (int64_t)(v << shift >> shift);
}

static const uint64_t fds[] = {
	0xfedcba9876543210u, 0x8182838485868788u, 0, UINT64_MAX, 0x7f7f7f7f7f7f7f7fu,
};

static void write_to_fds(void *arg)
{
	for (size_t i = 0; i < COUNT(fds); i++)
		syscall(SYS_write, fds[i], arg, 3000000000ul + i);
}

Test(locations, record_fields_and_kernel_memory)
{
	static const char buffer[] = "x";
	const char *names[COUNT(field_cases) + 3];
	struct worker w;
	struct rig r;

	for (size_t i = 0; i < COUNT(field_cases); i++)
		names[i] = field_cases[i].name;
	names[COUNT(field_cases)] = "nr";
	names[COUNT(field_cases) + 1] = "buf";
	names[COUNT(field_cases) + 2] = "count";
	worker_fork(&w, write_to_fds, (void *)buffer);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: fx-trace:syscalls:sys_enter_write:fields\n"
		  "    when: pid == %d\n"
		  "    do: [emit: {%s}]\n",
		  w.pid, emit_all(&r, names, COUNT(names)));

	cr_assert_eq(r.cap.n_records, COUNT(fds));
	for (size_t i = 0; i < COUNT(fds); i++) {
		const struct cap_record *rec = &r.cap.records[i];

		for (size_t k = 0; k < COUNT(field_cases); k++) {
			const struct field_case *f = &field_cases[k];

			cr_expect_eq(cap_int(rec, f->name), cut(fds[i], f->size, f->is_signed),
				     "%s of %llx is %llx", f->name, (unsigned long long)fds[i],
				     (unsigned long long)cap_int(rec, f->name));
			cr_expect_eq(cap_field(rec, f->name)->type.size, f->size);
			cr_expect_eq(cap_field(rec, f->name)->type.is_signed, f->is_signed);
		}
		cr_expect_eq(cap_int(rec, "nr"), SYS_write);
		cr_expect_eq(cap_int(rec, "buf"), (int64_t)(intptr_t)buffer);
		cr_expect(cap_field(rec, "buf")->type.is_pointer);
		cr_expect_eq(cap_int(rec, "count"), (int64_t)(3000000000ul + i));
	}
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- user memory ---- */

static const unsigned char bytes[] = {0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 'z', 0};

/* A page of a file that this process has not read yet is not to be had while probes may not wait. */
static void touch(const void *p)
{
	(void)*(const volatile char *)p;
}

static void write_memory(void *arg)
{
	(void)arg;
	touch("hello, world");
	touch(bytes);
	syscall(SYS_write, -1, "hello, world", 5);
	syscall(SYS_write, -1, bytes, sizeof(bytes));
}

Test(locations, user_memory)
{
	static const char *const names[] = {"string", "bytes", "bytes4", "u8",  "s8",    "u16",
					    "s16",    "u32",   "s32",    "u64", "second"};
	struct worker w;
	struct rig r;

	worker_fork(&w, write_memory, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: fx-trace:syscalls:sys_enter_write:memory\n"
		  "    when: pid == %d\n"
		  "    do: [emit: {%s}]\n",
		  w.pid, emit_all(&r, names, COUNT(names)));

	cr_assert_eq(r.cap.n_records, 2);
	const struct cap_record *rec = &r.cap.records[0];
	cr_expect(cap_is_text(rec, "string", "hello, world"));
	cr_expect(cap_is_bytes(rec, "bytes", "hello", 5));
	cr_expect(cap_is_bytes(rec, "bytes4", "hell", 4));
	cr_expect_eq(cap_int(rec, "second"), 'e');

	rec = &r.cap.records[1];
	uint64_t word;
	memcpy(&word, bytes, sizeof(word));
	cr_expect(cap_is_text(rec, "string", (const char *)bytes));
	cr_expect(cap_is_bytes(rec, "bytes", bytes, sizeof(bytes)), "zeros belong to bytes");
	cr_expect_eq(cap_int(rec, "u8"), cut(word, 1, false));
	cr_expect_eq(cap_int(rec, "s8"), cut(word, 1, true));
	cr_expect_eq(cap_int(rec, "u16"), cut(word, 2, false));
	cr_expect_eq(cap_int(rec, "s16"), cut(word, 2, true));
	cr_expect_eq(cap_int(rec, "u32"), cut(word, 4, false));
	cr_expect_eq(cap_int(rec, "s32"), cut(word, 4, true));
	cr_expect_eq((uint64_t)cap_int(rec, "u64"), word);
	cr_expect_eq(cap_int(rec, "second"), 0xf2);
	cap_expect_loss(&r.cap, "STRING_TRUNCATED", 2); /* bytes4 is cut as a string would be */
	cr_expect_str_eq(r.cap.losses[0].where, "set.yaml:5:65: args.bytes4");
	rig_finish(&r);
}

/* A type's own size bounds a string like options.strsize does: it is cut, and that is said. */
Test(locations, STRING_TRUNCATED)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, write_memory, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: fx-trace:syscalls:sys_enter_write:memory\n"
		  "    when: pid == %d\n"
		  "    do: [emit: {s: args.string8}]\n",
		  w.pid);
	cr_assert_eq(r.cap.n_records, 2);
	cr_expect(cap_is_text(&r.cap.records[0], "s", "hello, "));
	cr_expect(cap_is_text(&r.cap.records[1], "s", "\xf1\xf2\xf3\xf4\xf5\xf6\xf7"));
	cap_expect_loss(&r.cap, "STRING_TRUNCATED", 2);
	cr_expect_eq(r.end.status, 3);
	rig_finish(&r);
}

/* The clause that reads what is not there ends, and the others do not. */
Test(locations, FAULT_ADDRESS)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, write_memory, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: fx-trace:syscalls:sys_enter_write:memory\n"
		  "    when: pid == %d\n"
		  "    do: [count: {into: before}, emit: {v: args.fault}, count: {into: after}]\n"
		  "  - probe: fx-trace:syscalls:sys_enter_write:memory\n"
		  "    when: pid == %d\n"
		  "    do: [count: {into: second}]\n",
		  w.pid, w.pid);
	cr_expect_eq(r.cap.n_records, 0);
	cr_expect_eq(cap_only_row(&r.cap, "before")->count, 2);
	cr_expect_eq(cap_total(cap_last_table(&r.cap, "after")), 0);
	cr_expect_eq(cap_only_row(&r.cap, "second")->count, 2);
	cap_expect_loss(&r.cap, "FAULT_ADDRESS", 2);
	cr_expect_str_eq(r.cap.losses[0].where, "set.yaml:5:43: args.fault");
	rig_finish(&r);
}

/* ---- saved registers ---- */

static void six_arguments(void *arg)
{
	touch(arg);
	syscall(SYS_write, 0x1122334480000001l, arg, 0x5566778899aabbccl, 4l, -5l,
		0x6666666666666666l);
}

Test(locations, saved_registers)
{
	static const char *const names[] = {"arg0", "arg1", "arg2",      "arg3",       "arg4",
					    "arg5", "fd32", "count_low", "count_high", "string"};
	static const char text[] = "by register";
	struct worker w;
	struct rig r;

	worker_fork(&w, six_arguments, (void *)text);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: fx-trace:syscalls:sys_enter_write:regs\n"
		  "    when: pid == %d\n"
		  "    do: [emit: {%s, by_place: arg4}]\n",
		  w.pid, emit_all(&r, names, COUNT(names)));
	cr_assert_eq(r.cap.n_records, 1);
	const struct cap_record *rec = &r.cap.records[0];
	cr_expect_eq(cap_int(rec, "arg0"), 0x1122334480000001l);
	cr_expect_eq(cap_int(rec, "arg1"), (int64_t)(intptr_t)text);
	cr_expect_eq(cap_int(rec, "arg2"), 0x5566778899aabbccl);
	cr_expect_eq(cap_int(rec, "arg3"), 4);
	cr_expect_eq(cap_int(rec, "arg4"), -5);
	cr_expect_eq(cap_int(rec, "by_place"), -5);
	cr_expect_eq(cap_int(rec, "arg5"), 0x6666666666666666l);
	cr_expect_eq(cap_int(rec, "fd32"), (int32_t)0x80000001);
	cr_expect_eq(cap_int(rec, "count_low"), 0xcc);
	cr_expect_eq(cap_int(rec, "count_high"), 0xbb);
	cr_expect(cap_is_text(rec, "string", text));
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- arithmetic ---- */

static const int64_t triples[][3] = {
	{1, 2, 3},
	{-1, 1, 63},
	{INT64_MIN, -1, 1},
	{INT64_MAX, 2, 64},
	{0, -7, 65},
	{-1000000007, 13, 0},
	{0x1234567890abcdefl, -0x7fffffffl, -1},
	{0x80, 0x8000, 31},
	{0x80000000l, 0x80000000l, 32},
	{5, 0, 4},
};

static void prctl_triples(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < COUNT(triples); i++)
		syscall(SYS_prctl, MAGIC, triples[i][0], triples[i][1], triples[i][2], 0);
	syscall(SYS_prctl, MAGIC + 1, 1, 2, 3, 0); /* the guard says that this is not ours */
}

static int64_t truth(const char *op, int64_t sa, int64_t sb, int64_t sc)
{
	uint64_t a = (uint64_t)sa, b = (uint64_t)sb, c = (uint64_t)sc;
	const struct {
		const char *name;
		uint64_t value;
	} all[] = {
		{"a", a},
		{"b", b},
		{"c", c},
		{"add", a + b},
		{"sub", a - b},
		{"mul", a * b},
		{"and", a & b},
		{"or", a | b},
		{"xor", a ^ b},
		{"shl", a << (c & 63)},
		{"shr", a >> (c & 63)},
		{"sar", (uint64_t)(sa >> (c & 63))},
		{"eq", a == b},
		{"ne", a != b},
		{"lt", a < b},
		{"le", a <= b},
		{"slt", sa < sb},
		{"sle", sa <= sb},
		{"neg", 0 - a},
		{"not", ~a},
		{"zext8", a & 0xff},
		{"sext8", (uint64_t)(int64_t)(int8_t)a},
		{"zext16", a & 0xffff},
		{"sext16", (uint64_t)(int64_t)(int16_t)a},
		{"zext32", a & 0xffffffff},
		{"sext32", (uint64_t)(int64_t)(int32_t)a},
		{"select", c ? a : b},
		{"square", a * a},
		{"swapped", b - a},
		{"constant", (uint64_t)INT64_MIN + 1},
		{"deep", 3 * a + 3 * b + 2 * c},
		{"div", b ? a / b : 0},
		{"mod", b ? a % b : 0},
	};

	for (size_t i = 0; i < COUNT(all); i++)
		if (!strcmp(all[i].name, op))
			return (int64_t)all[i].value;
	cr_assert(false, "no truth for %s", op);
	return 0;
}

static const char *const operations[] = {
	"a",      "b",      "c",      "add",    "sub",     "mul",      "and",    "or",
	"xor",    "shl",    "shr",    "sar",    "eq",      "ne",       "lt",     "le",
	"slt",    "sle",    "neg",    "not",    "zext8",   "sext8",    "zext16", "sext16",
	"zext32", "sext32", "select", "square", "swapped", "constant", "deep",
};

Test(locations, arithmetic_and_guard)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, prctl_triples, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: fx-trace:syscalls:sys_enter_prctl:math\n"
		  "    when: pid == %d\n"
		  "    do: [emit: {%s}]\n",
		  w.pid, emit_all(&r, operations, COUNT(operations)));
	cr_assert_eq(r.cap.n_records, COUNT(triples));
	for (size_t i = 0; i < COUNT(triples); i++) {
		const int64_t *t = triples[i];

		for (size_t k = 0; k < COUNT(operations); k++) {
			int64_t is = cap_int(&r.cap.records[i], operations[k]);
			int64_t ought = truth(operations[k], t[0], t[1], t[2]);

			cr_expect_eq(is, ought, "%s of %lld, %lld, %lld: %lld, not %lld",
				     operations[k], (long long)t[0], (long long)t[1],
				     (long long)t[2], (long long)is, (long long)ought);
		}
	}
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* In a location, division and remainder are unsigned, and by zero a fault of that clause. */
Test(locations, FAULT_DIVIDE)
{
	struct worker w;
	struct rig r;
	size_t n = 0;

	worker_fork(&w, prctl_triples, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: fx-trace:syscalls:sys_enter_prctl:math\n"
		  "    when: pid == %d\n"
		  "    do: [emit: {div: args.div, mod: args.mod}]\n",
		  w.pid);
	for (size_t i = 0; i < COUNT(triples); i++) {
		const int64_t *t = triples[i];

		if (!t[1])
			continue;
		cr_assert_lt(n, r.cap.n_records);
		cr_expect_eq(cap_int(&r.cap.records[n], "div"), truth("div", t[0], t[1], t[2]));
		cr_expect_eq(cap_int(&r.cap.records[n], "mod"), truth("mod", t[0], t[1], t[2]));
		n++;
	}
	cr_expect_eq(r.cap.n_records, n);
	cap_expect_loss(&r.cap, "FAULT_DIVIDE", 1);
	cr_expect_str_eq(r.cap.losses[0].where, "set.yaml:5:22: args.div");
	cr_expect_eq(r.end.status, 3);
	rig_finish(&r);
}

/* ---- data that lies behind a record ---- */

static void exec_true(void *arg)
{
	(void)arg;
	execl("/bin/true", "true", NULL);
	_exit(126);
}

Test(locations, data_behind_the_record)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, exec_true, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: fx-trace:sched:sched_process_exec:exec\n"
		  "    when: pid == %d\n"
		  "    do: [emit: {f: args.filename, raw: args.raw, p: args.pid, o: args.old_pid}]\n",
		  w.pid);
	cr_assert_eq(r.cap.n_records, 1);
	const struct cap_record *rec = &r.cap.records[0];
	cr_expect(cap_is_text(rec, "f", "/bin/true"));
	cr_expect(cap_is_bytes(rec, "raw", "/bin/true", sizeof("/bin/true")));
	cr_expect_eq(cap_int(rec, "p"), w.pid);
	cr_expect_eq(cap_int(rec, "o"), w.pid);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- raw tracepoints ---- */

static void raw_calls(void *arg)
{
	(void)arg;
	syscall(SYS_prctl, 0x1234567812345678l, -2l, 0, 0, 0);
	syscall(SYS_getppid);
}

Test(locations, words_and_registers_behind_a_pointer)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, raw_calls, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-raw::sys_enter:raw'\n"
		  "    when: 'pid == %d && args.nr == %d'\n"
		  "    do: [emit: {nr: args.nr, first: args.first, second: args.second}]\n"
		  "  - probe: 'fx-raw::sys_exit:raw'\n"
		  "    when: 'pid == %d && args.ret == %d'\n"
		  "    do: [emit: {ret: args.ret}]\n",
		  w.pid, (int)SYS_prctl, w.pid, (int)getpid());
	const struct cap_record *rec = cap_only(&r.cap, "sys_enter:raw");
	cr_expect_eq(cap_int(rec, "nr"), SYS_prctl);
	cr_expect_eq(cap_int(rec, "first"), 0x1234567812345678l);
	cr_expect_eq(cap_int(rec, "second"), -2);
	cr_expect_eq(cap_int(cap_only(&r.cap, "sys_exit:raw"), "ret"), getpid());
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

static void exec_twice(void *arg)
{
	pid_t pid = fork();

	if (pid == 0)
		exec_true(arg);
	exec_true(arg);
}

/* By the raw tracepoint and by its BTF: both see every exec, and the same of it. */
Test(locations, btf_target)
{
	struct worker w;
	struct rig r;

	worker_fork(&w, exec_twice, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-raw::sched_process_exec:*'\n"
		  "    when: pid == %d\n"
		  "    do: [emit: {old: args.old_pid, task: args.task}]\n",
		  w.pid);
	cr_expect_eq(r.cap.n_records, 2);
	const struct cap_record *raw = cap_only(&r.cap, "exec:raw"),
				*btf = cap_only(&r.cap, "exec:btf");
	cr_expect_eq(cap_int(raw, "old"), w.pid);
	cr_expect_eq(cap_int(btf, "old"), w.pid);
	cr_expect_eq(cap_int(raw, "task"), cap_int(btf, "task"));
	cr_expect_lt(cap_int(raw, "task"), 0, "a kernel address");
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* ---- members of kernel structs, and the time ---- */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void nothing(void *arg)
{
	(void)arg;
}

Test(locations, members_and_time)
{
	uint64_t before = now_ns();
	struct worker w;
	struct rig r;

	worker_fork(&w, nothing, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "probes:\n"
		  "  - probe: 'fx-raw::sched_process_exit:raw'\n"
		  "    when: args.tgid == %d && pid == %d\n"
		  "    do:\n"
		  "      - emit: {pid: args.tgid, cpu: args.cpu, is_on: cpu, start: args.start,\n"
		  "               time: args.time, at: timestamp, self: args.self}\n",
		  w.pid, w.pid);
	cr_assert_eq(r.cap.n_records, 1);
	const struct cap_record *rec = &r.cap.records[0];
	cr_expect_eq(cap_int(rec, "pid"), w.pid);
	cr_expect_eq(cap_int(rec, "self"), w.pid);
	cr_expect_eq(cap_int(rec, "cpu"), cap_int(rec, "is_on"));
	cr_expect_eq(cap_int(rec, "cpu"), rec->cpu);
	cr_expect_eq(cap_int(rec, "time"), cap_int(rec, "at"));
	cr_expect_geq((uint64_t)cap_int(rec, "start"), before);
	cr_expect_lt(cap_int(rec, "start"), cap_int(rec, "time"));
	cr_expect_lt((uint64_t)cap_int(rec, "time"), now_ns());
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* A member that this kernel lacks is said where it is used, with its name; and only there. */
Test(locations, LOCATION_MEMBER)
{
	struct weft_report e;
	struct rig r;

	rig_init(&r);
	cr_expect_lt(rig_prepare(&r, "version: 1\n"
				     "probes:\n"
				     "  - probe: 'fx-raw::sched_process_exit:raw'\n"
				     "    do: [count: {into: n, by: [args.tgid]}]\n"
				     "  - probe: 'fx-raw::sched_process_exit:raw'\n"
				     "    do: [emit: {x: args.gone}]\n"),
		     0);
	cr_assert_eq(weft_error_count(r.err), 1, "%s", rig_errors(&r));
	weft_error_report(r.err, 0, &e);
	cr_expect_str_eq(e.tag, "LOCATION_MEMBER");
	cr_expect(strstr(e.text, "argument 5 (gone)"), "%s", e.text);
	cr_expect(strstr(e.text, "task_struct.no_kernel_has_this"), "%s", e.text);
	cr_expect_eq(e.pos.line, 6);
	cr_expect_eq(e.pos.column, 20);
	rig_finish(&r);
}
