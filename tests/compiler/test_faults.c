/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Faults: a clause ends where it cannot go on, the clauses behind it run, the place is counted
 * exactly, and a scratch slot is given back whatever happened.
 */
#include <unistd.h>

#include "core/kernel/bpf.h"
#include "rig.h"

Test(compiler_faults, FAULT_DIVIDE)
{
	const uint64_t zero[RIG_ARGS] = {10, 0}, two[RIG_ARGS] = {10, 2};
	const struct weft_loss_site *site;
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "count", "into||before", NULL);
	rig_action(&r, "sum", "into||s", "value||1 + arg0 / arg1", NULL);
	rig_action(&r, "count", "into||after", NULL);
	rig_clause(&r, NULL, "count", "into||next", NULL);
	rig_clause(&r, "arg0 % arg1 == 0", "count", "into||when", NULL);
	rig_load(&r);
	for (unsigned i = 0; i < 7; i++)
		rig_run(&r, i % 2 ? zero : two);
	cr_expect(rig_slot(&r, "before", 0) == 7);
	cr_expect(rig_sum(&r, "s") == 4 * 6);
	cr_expect(rig_slot(&r, "after", 0) == 4);
	cr_expect(rig_slot(&r, "next", 0) == 7);
	cr_expect(rig_slot(&r, "when", 0) == 4);
	cr_expect(rig_loss(&r, WEFT_LOSS_FAULT_DIVIDE) == 6 && rig_losses(&r) == 6);
	cr_assert(r.plan->n_losses == 2);
	site = &r.plan->losses[0];
	cr_expect(site->clause == 0 && site->span.text);
	cr_expect(!strncmp(site->span.text->s + site->span.start, "arg0 / arg1", site->span.length));
	cr_expect(weft_span_pos(site->span).column == 24);
	cr_expect(r.plan->losses[1].clause == 2);
	rig_finish(&r);
}

/* What decides is evaluated, what does not is not. */
Test(compiler_faults, short_circuit)
{
	static const struct {
		const char *when;
		unsigned faults;
	} cases[] = {
		{"arg0 && 1 / arg1", 0},
		{"arg2 || 1 / arg1", 0},
		{"arg2 && 1 / arg1", 1},
		{"arg0 || 1 / arg1", 1},
		{"arg0 ? 1 / arg1 : 5", 0},
		{"arg2 ? 5 : 1 / arg1", 0},
		{"arg2 ? 1 / arg1 : 5", 1},
		{"(arg2 || 1 / arg1) && (arg0 || arg2)", 0},
		{"!(arg0 && 1 / arg1) && arg2", 0},
	};
	const uint64_t words[RIG_ARGS] = {0, 0, 1};

	for (size_t i = 0; i < N(cases); i++) {
		struct rig r;

		rig_init(&r);
		rig_clause(&r, cases[i].when, "count", "into||c", NULL);
		rig_load(&r);
		rig_run(&r, words);
		cr_expect(rig_losses(&r) == cases[i].faults, "%s: %lu", cases[i].when,
			  rig_losses(&r));
		rig_finish(&r);
	}
}

/* One clause for two kinds of probes counts at one place. */
Test(compiler_faults, one_site_for_a_clause)
{
	struct rig r;
	size_t n;

	rig_init(&r);
	rig_clause(&r, "1 / arg0", "count", "into||c", NULL);
	rig_load(&r);
	n = r.plan->n_losses;
	r.probe.cookie = 4;
	rig_reload(&r);
	cr_expect(n == 1 && r.plan->n_losses == 1);
	rig_finish(&r);
}

/* The busy words of the scratch slots: all are 0 when nothing runs. */
static unsigned busy(struct rig *r)
{
	const struct weft_map_spec *spec = &r->plan->maps[WEFT_PLAN_SCRATCH];
	uint32_t words = (spec->value_size + 7) / 8;
	uint64_t *value = weft_arena_array(r->arena, words * r->plan->n_cpus, 8);
	unsigned n = 0;

	for (uint32_t slot = 0; slot < WEFT_SCRATCH_SLOTS; slot++) {
		cr_assert(!weft_bpf_map_lookup(r->maps.fds[WEFT_PLAN_SCRATCH], &slot, value));
		for (uint32_t cpu = 0; cpu < r->plan->n_cpus; cpu++)
			n += value[cpu * words] != 0;
	}
	return n;
}

static void occupy(struct rig *r, uint32_t slots)
{
	const struct weft_map_spec *spec = &r->plan->maps[WEFT_PLAN_SCRATCH];
	uint32_t words = (spec->value_size + 7) / 8;
	uint64_t *value = weft_arena_array(r->arena, words * r->plan->n_cpus, 8);

	for (uint32_t slot = 0; slot < slots; slot++) {
		memset(value, 0, words * r->plan->n_cpus * 8);
		for (uint32_t cpu = 0; cpu < r->plan->n_cpus; cpu++)
			value[cpu * words] = 1;
		cr_assert(!weft_bpf_map_update(r->maps.fds[WEFT_PLAN_SCRATCH], &slot, value,
					       BPF_ANY));
	}
}

Test(compiler_faults, scratch_is_given_back)
{
	const uint64_t one[RIG_ARGS] = {1, 1};
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "count", "into||a", "by|k|stack", "by|d|1 / arg0", NULL);
	rig_clause(&r, "1 / arg1", "count", "into||b", "by|k|stack", NULL);
	rig_load(&r);
	for (unsigned i = 0; i < 10; i++)
		rig_run(&r, i % 2 ? one : NULL);
	cr_expect(rig_loss(&r, WEFT_LOSS_FAULT_DIVIDE) == 10 && rig_losses(&r) == 10);
	cr_expect(busy(&r) == 0);
	rig_finish(&r);
}

/* NESTED: three taken slots leave one, four leave none. */
Test(compiler_faults, NESTED)
{
	struct rig_row rows[2];
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "count", "into||a", "by|k|stack", NULL);
	rig_clause(&r, NULL, "count", "into||b", NULL);
	rig_load(&r);
	occupy(&r, WEFT_SCRATCH_SLOTS - 1);
	rig_run(&r, NULL);
	cr_expect(rig_losses(&r) == 0);
	cr_expect(busy(&r) == (WEFT_SCRATCH_SLOTS - 1) * r.plan->n_cpus);
	occupy(&r, WEFT_SCRATCH_SLOTS);
	rig_run(&r, NULL);
	cr_expect(rig_loss(&r, WEFT_LOSS_NESTED) == 1 && rig_losses(&r) == 1);
	cr_expect(busy(&r) == WEFT_SCRATCH_SLOTS * r.plan->n_cpus,
		  "it gives back none that it did not get");
	cr_assert(rig_rows(&r, rig_agg(&r, "a")->map, rows, 2) == 1 && rows[0].value[0] == 1);
	cr_expect(rig_slot(&r, "b", 0) == 2);
	rig_finish(&r);
}

/* What cannot be read is the call, whatever a cast around it says or does not say. */
Test(compiler_faults, a_cast_that_changes_nothing)
{
	static const char *const values[] = {"value||(uint64) peek(arg0, 8)",
					     "value||(uint64) (uint64) peek(arg0, 8)",
					     "value||(uint64) (int8) peek(arg0, 8)"};

	for (size_t i = 0; i < N(values); i++) {
		const struct weft_loss_site *site;
		struct rig r;

		rig_init(&r);
		rig_clause(&r, NULL, "sum", "into||s", values[i], NULL);
		rig_load(&r);
		rig_run(&r, NULL);
		cr_expect(rig_loss(&r, WEFT_LOSS_FAULT_ADDRESS) == 1 && rig_losses(&r) == 1);
		for (size_t k = 0; k < r.plan->n_losses; k++) {
			site = &r.plan->losses[k];
			cr_expect(!strncmp(site->span.text->s + site->span.start, "peek(", 5), "%s",
				  values[i]);
		}
		rig_finish(&r);
	}
}
