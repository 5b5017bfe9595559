/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Records byte by byte, controls word by word. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rig.h"

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static const struct weft_field_layout *field(const struct rig *r, size_t i)
{
	return &r->plan->schemas[0].fields[i];
}

static uint64_t word(const struct weft_record_header *h, uint32_t offset, uint32_t size)
{
	uint64_t v = 0;

	memcpy(&v, (const char *)(h + 1) + offset, size);
	return v;
}

Test(compiler_records, emit)
{
	const uint64_t words[RIG_ARGS] = {0xfffffffffffffffe, 7};
	const struct weft_record_header *h;
	uint64_t before = now();
	uint32_t size, cpu;
	struct rig r;

	rig_init(&r);
	rig_arg(&r, 0, 2, true);
	rig_clause(&r, NULL, "emit", "|a|arg0", "|b|arg1 * 3", "|n|execname", "|p|probename",
		   "|t|tid", "|q|pid == tid", NULL);
	rig_load(&r);
	rig_run(&r, words);
	h = rig_record(&r, &size);
	cr_assert(h);
	cr_expect(size == sizeof(*h) + r.plan->schemas[0].size);
	cr_expect(h->time_ns > before && h->time_ns < now());
	syscall(SYS_getcpu, &cpu, NULL, NULL);
	cr_expect(h->schema == 0 && h->cookie == RIG_COOKIE && h->cpu < r.plan->n_cpus);
	cr_expect(field(&r, 0)->size == 2 && word(h, field(&r, 0)->offset, 2) == 0xfffe);
	cr_expect(word(h, field(&r, 1)->offset, 8) == 21);
	cr_expect(field(&r, 2)->size == 16);
	cr_expect(strlen((const char *)(h + 1) + field(&r, 2)->offset) > 0);
	cr_expect(word(h, field(&r, 3)->offset, 8) == RIG_COOKIE);
	cr_expect(word(h, field(&r, 4)->offset, 4) == (uint64_t)syscall(SYS_gettid));
	cr_expect(!rig_record(&r, &size));
	rig_finish(&r);
}

Test(compiler_records, printf_and_empty)
{
	const struct weft_record_header *h;
	uint32_t size;
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "printf", "||hello", NULL);
	rig_action(&r, "printf", "||%d", "||arg0 + 1", NULL);
	rig_load(&r);
	rig_run(&r, NULL);
	h = rig_record(&r, &size);
	cr_assert(h && size == sizeof(*h) && h->schema == 0);
	h = rig_record(&r, &size);
	cr_assert(h && size == sizeof(*h) + 8 && h->schema == 1 && word(h, 0, 8) == 1);
	rig_finish(&r);
}

/* RECORD_BUFFER_FULL: every record is either there or counted. */
Test(compiler_records, RECORD_BUFFER_FULL)
{
	unsigned delivered = 0, runs = 400;
	uint32_t size;
	struct rig r;

	rig_init(&r);
	r.set.options.buffer = 4096;
	weft_plan_destroy(r.plan);
	r.plan = weft_plan_create(&r.set, (uint32_t)sysconf(_SC_NPROCESSORS_CONF), r.err);
	rig_clause(&r, NULL, "emit", "|a|arg0", NULL);
	rig_action(&r, "sum", "into||after", "value||1", NULL);
	rig_load(&r);
	for (unsigned i = 0; i < runs; i++)
		rig_run(&r, NULL);
	while (rig_record(&r, &size))
		delivered++;
	cr_expect(delivered > 50 && delivered < runs);
	cr_expect(rig_loss(&r, WEFT_LOSS_RECORD_BUFFER_FULL) == runs - delivered);
	cr_expect(rig_sum(&r, "after") == runs, "the clause goes on behind a lost record");
	rig_finish(&r);
}

static struct weft_loc_op bytes_ops[2] = {
	{.op = WEFT_LOC_CTX, .size = 8, .imm = 0},
	{.op = WEFT_LOC_CTX, .size = 8, .imm = 8},
};

/* A short piece of bytes is whole, a long one is cut and counted, a bad one is a fault. */
Test(compiler_records, bytes)
{
	static char data[512];
	const struct weft_record_header *h;
	uint64_t words[RIG_ARGS] = {(uintptr_t)data, 10};
	uint32_t size, cap;
	struct rig r;

	memset(data, 'b', sizeof(data));
	rig_init(&r);
	rig_place(&r, 0, WEFT_TYPE_BYTES, WEFT_SPACE_USER, bytes_ops, 2);
	rig_clause(&r, NULL, "emit", "|x|arg0", NULL);
	rig_load(&r);
	cap = field(&r, 0)->type.cap;
	rig_run(&r, words);
	h = rig_record(&r, &size);
	cr_assert(h && word(h, 0, 4) == 10 && word(h, 4, 4) == 0);
	cr_expect(!memcmp((const char *)(h + 1) + 8, data, 10));
	words[1] = sizeof(data);
	rig_run(&r, words);
	h = rig_record(&r, &size);
	cr_assert(h && word(h, 0, 4) == cap);
	cr_expect(!memcmp((const char *)(h + 1) + 8, data, cap));
	cr_expect(rig_loss(&r, WEFT_LOSS_STRING_TRUNCATED) == 1);
	words[0] = 8;
	words[1] = 10;
	rig_run(&r, words);
	cr_expect(!rig_record(&r, &size));
	cr_expect(rig_loss(&r, WEFT_LOSS_FAULT_ADDRESS) == 1);
	cr_expect(rig_losses(&r) == 2);
	rig_finish(&r);
}

Test(compiler_records, show_clear_exit)
{
	const struct weft_record_header *h;
	const uint64_t words[RIG_ARGS] = {3}, other[RIG_ARGS] = {300};
	struct weft_control *control;
	unsigned wakes = 0;
	uint32_t size;
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "count", "into||c", NULL);
	rig_action(&r, "show", "||c", NULL);
	rig_action(&r, "clear", "||c", NULL);
	rig_action(&r, "exit", "||arg0", NULL);
	rig_load(&r);
	control = rig_control(&r);
	rig_run(&r, words);
	cr_expect(control->exit_requested == 1 && control->exit_status == 3);
	cr_expect(control->sequence == 3);
	cr_assert(r.plan->n_controls == 2);
	rig_run(&r, other);
	cr_expect(control->exit_requested == 1 && control->exit_status == 3,
		  "the first exit counts");
	cr_expect(control->sequence == 6);
	for (size_t i = 0; i < r.plan->n_controls; i++)
		cr_expect(*(uint64_t *)((char *)r.maps.state + r.plan->controls[i].state_offset) ==
			  2);
	while ((h = rig_record(&r, &size)) != NULL) {
		cr_expect(h->schema == WEFT_SCHEMA_WAKE && size == sizeof(*h));
		wakes++;
	}
	cr_expect(wakes == 6);
	cr_expect(!rig_losses(&r));
	rig_finish(&r);
}

/* The words of controls are not behind a full ring. */
Test(compiler_records, control_with_a_full_ring)
{
	struct rig r;

	rig_init(&r);
	r.set.options.buffer = 4096;
	weft_plan_destroy(r.plan);
	r.plan = weft_plan_create(&r.set, (uint32_t)sysconf(_SC_NPROCESSORS_CONF), r.err);
	rig_clause(&r, NULL, "show", NULL);
	rig_load(&r);
	for (unsigned i = 0; i < 500; i++)
		rig_run(&r, NULL);
	cr_expect(rig_control(&r)->sequence == 500);
	cr_expect(!rig_losses(&r), "a wake that does not fit is no loss");
	rig_finish(&r);
}

/* Nothing happens before the session is enabled; a list runs at any time. */
Test(compiler_records, enabled)
{
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "count", "into||c", NULL);
	rig_load(&r);
	rig_control(&r)->enabled = 0;
	rig_run(&r, NULL);
	cr_expect(rig_slot(&r, "c", 0) == 0);
	r.group.info = NULL;
	r.probe.cookie = UINT64_MAX;
	rig_reload(&r);
	cr_assert(!weft_program_run(r.prog_fd, r.err));
	cr_expect(rig_slot(&r, "c", 0) == 1);
	rig_finish(&r);
}
