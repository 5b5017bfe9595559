/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory that a process has not touched. A program that may sleep, as those of uprobes may, reads
 * it all the same, also where a string goes from one such page to the next. What becomes of it
 * where a program may not sleep: test_functions.c.
 */
#include <sys/mman.h>

#include "harness.h"

#define PROGRAM FIXTURE_WORKLOAD_DIR "/functions"
#define ROUNDS  20

static long offset_of(const char *function)
{
	FILE *f = popen(PROGRAM " offsets", "r");
	long offset, found = -1;
	char name[64];

	while (f && fscanf(f, "%63s %lx", name, &offset) == 2)
		if (!strcmp(name, function))
			found = offset;
	cr_assert(f && pclose(f) == 0 && found > 0, "no function %s", function);
	return found;
}

static void trace(struct rig *r, const char *actions)
{
	static const char *const argv[] = {PROGRAM, "far", "20", NULL};
	struct worker w;

	worker_program(&w, -1, argv);
	rig_init(r);
	rig_trace(r, &w,
		  "version: 1\n"
		  "params: {pid: %d}\n"
		  "providers: {fx-uprobe: {mechanism: perf}}\n"
		  "probes:\n"
		  "  - probe: 'fx-uprobe:%s:greet:entry'\n"
		  "    with: {offset: %ld}\n"
		  "    when: pid == $pid\n"
		  "    do: [%s]\n",
		  w.pid, PROGRAM, offset_of("greet"), actions);
}

static void expect_all(struct rig *r)
{
	cr_assert_eq(r->cap.n_records, ROUNDS);
	for (size_t i = 0; i < ROUNDS; i++)
		cr_expect(cap_is_text(&r->cap.records[i], "s", "far away"));
	cap_expect_no_loss(&r->cap);
}

Test(resident, a_string_on_two_pages)
{
	struct rig r;

	trace(&r, "emit: {s: copyinstr(args.a)}");
	expect_all(&r);
	rig_finish(&r);
	trace(&r, "emit: {s: 'copyinstr(args.a, 8)'}");
	expect_all(&r);
	rig_finish(&r);
	trace(&r, "emit: {s: 'copyinstr(args.a, args.a - args.a + 8)'}");
	expect_all(&r);
	rig_finish(&r);
}

Test(resident, an_argument_on_two_pages)
{
	struct rig r;

	trace(&r, "emit: {s: args.string}");
	expect_all(&r);
	rig_finish(&r);
}

Test(resident, bytes_and_numbers)
{
	struct rig r;

	trace(&r, "emit: {b: 'mem(args.a, 9)', n: 'peek(args.a + 1, 4)'}");
	cr_assert_eq(r.cap.n_records, ROUNDS);
	for (size_t i = 0; i < ROUNDS; i++) {
		cr_expect(cap_is_bytes(&r.cap.records[i], "b", "far away", 9));
		cr_expect_eq(cap_int(&r.cap.records[i], "n"), 0x61207261);
	}
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* The same through types: what the cast says lies there is read as the process would read it. */
Test(resident, typed_memory)
{
	struct rig r;

	trace(&r, "emit: {c: '((char __user *) args.a)[3]', n: '*(uint32 __user *) (args.a + 1)', "
		  "s: 'str((char __user *) args.a)'}");
	cr_assert_eq(r.cap.n_records, ROUNDS);
	for (size_t i = 0; i < ROUNDS; i++) {
		cr_expect_eq(cap_int(&r.cap.records[i], "c"), ' ');
		cr_expect_eq(cap_int(&r.cap.records[i], "n"), 0x61207261);
	}
	expect_all(&r);
	rig_finish(&r);
}

/* The registers of a uprobe: the first argument's is what the argument is. */
Test(resident, registers)
{
	struct rig r;

	trace(&r, "emit: {regs: regs, a: args.a}");
	cr_assert_eq(r.cap.n_records, ROUNDS);
	for (size_t i = 0; i < ROUNDS; i++) {
		const struct weft_value *v = cap_field(&r.cap.records[i], "regs");
		uint64_t first = 0, ip = 0;

		for (size_t k = 0; k < v->regs.n; k++) {
			if (!strcmp(v->regs.regs[k].name, "rdi"))
				first = v->regs.regs[k].value;
			if (!strcmp(v->regs.regs[k].name, "rip"))
				ip = v->regs.regs[k].value;
		}
		cr_expect_eq((int64_t)first, cap_int(&r.cap.records[i], "a"));
		cr_expect_eq(ip % 4096, (uint64_t)offset_of("greet") % 4096);
	}
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

/* More maps than a program can name, in one that may sleep: it could not make tail calls. */
Test(resident, more_maps_than_a_program_can_name)
{
	char *actions = NULL, name[16];
	size_t size;
	struct rig r;
	FILE *f = open_memstream(&actions, &size);

	cr_assert(f);
	for (int i = 0; i < 100; i++)
		fprintf(f, "%scount: {into: n%d, by: {s: args.string}}", i ? ", " : "", i);
	fclose(f);
	trace(&r, actions);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		const struct cap_table *t = cap_last_table(&r.cap, name);
		cr_assert_eq(t->n_rows, 1, "%s", name);
		cr_expect_eq(cap_row_text(t, "s", "far away")->count, ROUNDS, "%s", name);
	}
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
	free(actions);
}
