/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Stacks: interned once, told apart by process generation, whole in records, and what gets lost.
 * User stacks are cut to the frames of this file: Criterion is built without frame pointers, and
 * what the kernel takes for a frame there differs from call to call.
 */
#include <unistd.h>

#include "core/kernel/bpf.h"
#include "rig.h"

static void load_stack(struct rig *r, const char *by)
{
	rig_init(r);
	rig_clause(r, NULL, "count", "into||c", by, NULL);
	rig_load(r);
}

static uint64_t id_of(const struct rig_row *row)
{
	uint64_t id;

	memcpy(&id, row->key, sizeof(id));
	return id;
}

static const struct weft_stack_row *stack_row(const struct rig_row *row)
{
	return (const struct weft_stack_row *)row->value;
}

/* The kernel stack of a test run is the way into it; the same each time. */
Test(compiler_stacks, kernel)
{
	struct rig_row rows[4], stacks[4];
	const struct weft_stack_row *s;
	struct rig r;

	load_stack(&r, "by|k|stack");
	for (unsigned i = 0; i < 50; i++)
		rig_run(&r, NULL);
	cr_assert(rig_rows(&r, rig_agg(&r, "c")->map, rows, 4) == 1);
	cr_expect(rows[0].value[0] == 50);
	cr_assert(rig_rows(&r, WEFT_PLAN_STACKS, stacks, 4) == 1);
	s = stack_row(&stacks[0]);
	cr_expect(id_of(&stacks[0]) == id_of(&rows[0]) && id_of(&rows[0]) != 0);
	cr_expect(s->tgid == 0 && s->n_frames > 2 && s->n_frames <= 64 && s->time_ns && s->check);
	for (uint32_t i = 0; i < s->n_frames; i++)
		cr_expect((int64_t)s->frames[i] < 0, "frame %u is %lx", i, s->frames[i]);
	cr_expect(!rig_losses(&r));
	rig_finish(&r);
}

static __attribute__((noinline)) void from_here(struct rig *r)
{
	rig_run(r, NULL);
	__asm__ volatile("");
}

static __attribute__((noinline)) void from_there(struct rig *r)
{
	from_here(r);
	__asm__ volatile("");
}

Test(compiler_stacks, user)
{
	struct rig_row rows[8], stacks[8];
	size_t n;
	struct rig r;

	load_stack(&r, "by|k|ustack(4)");
	for (unsigned i = 0; i < 20; i++)
		from_here(&r);
	for (unsigned i = 0; i < 30; i++)
		from_there(&r);
	n = rig_rows(&r, rig_agg(&r, "c")->map, rows, 8);
	cr_assert(n == 2, "%zu", n);
	cr_expect(rows[0].value[0] + rows[1].value[0] == 50);
	cr_expect(rows[0].value[0] == 20 || rows[0].value[0] == 30);
	cr_assert(rig_rows(&r, WEFT_PLAN_STACKS, stacks, 8) == 2);
	for (unsigned i = 0; i < 2; i++) {
		cr_expect(stack_row(&stacks[i])->tgid == (uint32_t)getpid());
		cr_expect((int64_t)stack_row(&stacks[i])->frames[0] > 0);
	}
	cr_expect(r.plan->uses_ustack && !rig_losses(&r));
	rig_finish(&r);
}

static __attribute__((noinline)) void fire_twice(struct rig *r)
{
	for (volatile unsigned i = 0; i < 2; i++)
		from_here(r);
}

/* After exec the same addresses are another stack: the generation says so. */
Test(compiler_stacks, generation)
{
	struct rig_row rows[8];
	struct rig r;
	uint32_t slot = (uint32_t)getpid() % WEFT_EXECGEN_SLOTS;
	uint64_t generation = 1;

	load_stack(&r, "by|k|ustack(4)");
	fire_twice(&r);
	cr_assert(!weft_bpf_map_update(r.maps.fds[WEFT_PLAN_EXECGEN], &slot, &generation, BPF_ANY));
	fire_twice(&r);
	cr_assert(rig_rows(&r, rig_agg(&r, "c")->map, rows, 8) == 2);
	cr_expect(rows[0].value[0] == 2 && rows[1].value[0] == 2);
	rig_finish(&r);
}

/* The same stack with fewer frames, and one with the most that there can be. */
Test(compiler_stacks, depth)
{
	struct rig_row rows[4], stacks[4];
	struct rig r;

	rig_init(&r);
	r.set.options.stackframes = 127;
	weft_plan_destroy(r.plan);
	r.plan = weft_plan_create(&r.set, (uint32_t)sysconf(_SC_NPROCESSORS_CONF), r.err);
	rig_clause(&r, NULL, "count", "into||c", "by|k|stack(2)", NULL);
	rig_clause(&r, NULL, "count", "into||d", "by|k|stack(127)", "by|u|ustack(127)",
		   "by|v|ustack", NULL);
	rig_load(&r);
	rig_run(&r, NULL);
	cr_assert(rig_rows(&r, rig_agg(&r, "c")->map, rows, 4) == 1);
	cr_assert(rig_rows(&r, rig_agg(&r, "d")->map, rows, 4) == 1);
	cr_assert(rig_rows(&r, WEFT_PLAN_STACKS, stacks, 4) == 3);
	cr_expect(!rig_losses(&r));
	rig_finish(&r);
}

Test(compiler_stacks, in_records)
{
	const struct weft_record_header *h;
	uint32_t size, n, tgid;
	const char *at;
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "emit", "|u|ustack(8)", "|k|stack(8)", "|e|ustack(4)", NULL);
	rig_load(&r);
	rig_run(&r, NULL);
	h = rig_record(&r, &size);
	cr_assert(h);
	for (unsigned i = 0; i < 3; i++) {
		at = (const char *)(h + 1) + r.plan->schemas[0].fields[i].offset;
		memcpy(&n, at, 4);
		memcpy(&tgid, at + 4, 4);
		cr_expect(n > 0 && n <= 8);
		cr_expect(tgid == (i == 1 ? 0 : (uint32_t)getpid()));
		for (unsigned f = 0; f < n; f++) {
			int64_t frame;

			memcpy(&frame, at + 8 + 8 * f, 8);
			cr_expect(i == 1 ? frame < 0 : frame > 0);
		}
	}
	cr_expect(!rig_losses(&r));
	rig_finish(&r);
}

/* STACK_COLLISION: a row with our id and another check is never taken for ours. */
Test(compiler_stacks, STACK_COLLISION)
{
	struct rig_row rows[2], stacks[2];
	uint64_t id;
	struct rig r;

	load_stack(&r, "by|k|stack");
	rig_run(&r, NULL);
	cr_assert(rig_rows(&r, WEFT_PLAN_STACKS, stacks, 2) == 1);
	id = id_of(&stacks[0]);
	stacks[0].value[0] ^= 1;
	cr_assert(!weft_bpf_map_update(r.maps.fds[WEFT_PLAN_STACKS], &id, stacks[0].value, BPF_ANY));
	rig_run(&r, NULL);
	cr_expect(rig_loss(&r, WEFT_LOSS_STACK_COLLISION) == 1 && rig_losses(&r) == 1);
	cr_assert(rig_rows(&r, rig_agg(&r, "c")->map, rows, 2) == 1);
	cr_expect(rows[0].value[0] == 1);
	rig_finish(&r);
}

/* STACKS_FULL: more distinct stacks than there is room for; the old ones go on. */
Test(compiler_stacks, STACKS_FULL)
{
	struct rig_row rows[4];
	struct rig r;

	rig_init(&r);
	r.set.options.stacks = 1;
	weft_plan_destroy(r.plan);
	r.plan = weft_plan_create(&r.set, (uint32_t)sysconf(_SC_NPROCESSORS_CONF), r.err);
	rig_clause(&r, NULL, "count", "into||c", "by|k|ustack(4)", NULL);
	rig_load(&r);
	for (unsigned i = 0; i < 15; i++)
		(i < 3 || i >= 8 ? from_here : from_there)(&r);
	cr_expect(rig_loss(&r, WEFT_LOSS_STACKS_FULL) == 5 && rig_losses(&r) == 5);
	cr_assert(rig_rows(&r, rig_agg(&r, "c")->map, rows, 4) == 1);
	cr_expect(rows[0].value[0] == 10);
	rig_finish(&r);
}
