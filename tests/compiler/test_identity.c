/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Before the clauses: guard, target, and each way of telling which probe fired. */
#include <stdio.h>
#include <unistd.h>

#include "core/kernel/bpf.h"
#include "rig.h"

#define PROBES 4u

struct many {
	struct rig r;
	struct weft_registry_core *registry;
	struct weft_group_probe probes[PROBES];
};

static const struct weft_loc_op word0[1] = {{.op = WEFT_LOC_CTX, .size = 8, .imm = 0}};
static const struct weft_loc_op word1[1] = {{.op = WEFT_LOC_CTX, .size = 8, .imm = 8}};
static const char *const functions[PROBES] = {"read", "write", "read_iter", "open"};

/* Probes p:m:FUNCTION:entry with cookies 2, 4, 6, 8 and identity values 100, 101, ... */
static void many_init(struct many *m)
{
	struct weft_registry *h;

	rig_init(&m->r);
	m->registry = weft_registry_create();
	cr_assert(m->registry);
	h = weft_registry_of(m->registry, "p");
	for (unsigned i = 0; i < PROBES; i++) {
		struct weft_probe_desc d = {sizeof(d), 0, "p", "m", functions[i], "entry"};

		cr_assert(!weft_registry_add(h, &d, 0, &m->probes[i].probe, m->r.err));
		m->probes[i].cookie = 2 * (i + 1);
		m->probes[i].identity_value = 100 + i;
	}
	m->r.group.probes = m->probes;
	m->r.group.n_probes = PROBES;
	m->r.info.identity.key[0] = (struct weft_location){.ops = word0, .n_ops = 1};
	m->r.info.identity.n_keys = 1;
}

static void many_finish(struct many *m)
{
	rig_finish(&m->r);
	weft_registry_destroy(m->registry);
}

static void fire(struct many *m, uint64_t a, uint64_t b)
{
	const uint64_t words[RIG_ARGS] = {a, b};

	rig_run(&m->r, words);
}

static uint64_t fired(struct many *m, uint64_t cookie)
{
	struct rig_row rows[PROBES + 1];
	size_t n = rig_rows(&m->r, rig_agg(&m->r, "c")->map, rows, N(rows));

	for (size_t i = 0; i < n; i++)
		if (!memcmp(rows[i].key, &cookie, 8))
			return rows[i].value[0];
	return 0;
}

static void fill_dispatch(struct many *m)
{
	int map = m->r.program.dispatch_map;

	cr_assert(map >= 0 && m->r.plan->maps[map].role == WEFT_MAP_DISPATCH);
	for (unsigned i = 0; i < PROBES; i++) {
		uint64_t value = m->probes[i].cookie + 1;

		cr_assert(!weft_bpf_map_update(m->r.maps.fds[map], &m->probes[i].identity_value,
					       &value, BPF_ANY));
	}
}

Test(compiler_identity, field)
{
	struct many m;

	many_init(&m);
	m.r.info.identity.kind = WEFT_IDENTITY_FIELD;
	rig_clause(&m.r, NULL, "count", "into||c", "by|p|probefunc", NULL);
	rig_load(&m.r);
	fill_dispatch(&m);
	fire(&m, 100, 0);
	fire(&m, 102, 0);
	fire(&m, 102, 0);
	fire(&m, 99, 0);
	fire(&m, 104, 0);
	cr_expect(fired(&m, 2) == 1 && fired(&m, 4) == 0 && fired(&m, 6) == 2);
	cr_expect(!rig_losses(&m.r), "a firing of no probe of ours is no loss");
	many_finish(&m);
}

/* One probe needs no table. */
Test(compiler_identity, field_of_one)
{
	struct many m;

	many_init(&m);
	m.r.info.identity.kind = WEFT_IDENTITY_FIELD;
	m.r.group.n_probes = 1;
	rig_clause(&m.r, NULL, "count", "into||c", "by|p|probefunc", NULL);
	rig_load(&m.r);
	cr_expect(m.r.program.dispatch_map == -1);
	fire(&m, 100, 0);
	fire(&m, 101, 0);
	cr_expect(fired(&m, 2) == 1);
	many_finish(&m);
}

/* A map of the provider's: {tgid, u32 id} here, and the cookie first in its value. */
Test(compiler_identity, map)
{
	struct weft_map_spec spec = {.name = "theirs",
				     .type = BPF_MAP_TYPE_HASH,
				     .key_size = 8,
				     .value_size = 16,
				     .max_entries = 8,
				     .extern_fd = -1};
	struct weft_map_spec *ours;
	uint64_t value[2] = {6, 77};
	struct {
		uint32_t tgid, id;
	} key = {(uint32_t)getpid(), 5};
	struct many m;
	int fd = weft_bpf_map_create(&spec);

	cr_assert(fd >= 0);
	many_init(&m);
	m.r.info.identity.kind = WEFT_IDENTITY_MAP;
	m.r.info.identity.map_fd = fd;
	m.r.info.identity.n_keys = 2;
	m.r.info.identity.key_size[0] = m.r.info.identity.key_size[1] = 4;
	m.r.info.identity.key[0] = (struct weft_location){0};
	m.r.info.identity.key[1] = (struct weft_location){.ops = word1, .n_ops = 1};
	rig_clause(&m.r, NULL, "count", "into||c", "by|p|probefunc", NULL);
	rig_load(&m.r);
	ours = &m.r.plan->maps[WEFT_PLAN_FIRST_FREE];
	cr_expect(ours->extern_fd == fd && ours->key_size == 8);
	cr_assert(!weft_bpf_map_update(fd, &key, value, BPF_ANY));
	fire(&m, 0, 5);
	fire(&m, 0, 6);
	cr_expect(fired(&m, 6) == 1 && !rig_losses(&m.r));
	many_finish(&m);
	close(fd);
}

Test(compiler_identity, IDENTITY_BAD)
{
	struct many m;

	many_init(&m);
	rig_clause(&m.r, NULL, "count", "into||c", NULL);
	m.r.info.identity.kind = WEFT_IDENTITY_MAP;
	m.r.info.identity.map_fd = 3;
	m.r.info.identity.key_size[0] = 3;
	cr_expect(rig_compile(&m.r) < 0);
	cr_expect_str_eq(rig_tag(&m.r), "IDENTITY_BAD");
	weft_error_clear(m.r.err);
	m.r.info.identity.kind = WEFT_IDENTITY_COOKIE;
	cr_expect(rig_compile(&m.r) < 0, "the context has no cookie");
	cr_expect_str_eq(rig_tag(&m.r), "IDENTITY_BAD");
	weft_error_clear(m.r.err);
	m.r.info.identity.kind = 9;
	cr_expect(rig_compile(&m.r) < 0);
	cr_expect_str_eq(rig_tag(&m.r), "IDENTITY_BAD");
	many_finish(&m);
}

/* Comparisons of probe fields by the table of bits. */
Test(compiler_identity, probe_fields)
{
	struct many m;

	many_init(&m);
	m.r.info.identity.kind = WEFT_IDENTITY_FIELD;
	rig_clause(&m.r, "probefunc == \"read\"", "count", "into||r", NULL);
	rig_clause(&m.r, "probefunc != \"write\" && probename == \"entry\"", "count", "into||w",
		   NULL);
	rig_clause(&m.r, "probeprov == \"other\" || probemod != \"m\"", "count", "into||never",
		   NULL);
	rig_load(&m.r);
	fill_dispatch(&m);
	cr_assert(m.r.maps.probes);
	for (unsigned i = 0; i < PROBES; i++)
		m.r.maps.probes[m.probes[i].cookie] =
			weft_plan_probe_bits(m.r.plan, m.probes[i].probe);
	for (uint64_t i = 0; i < PROBES; i++)
		fire(&m, 100 + i, 0);
	cr_expect(rig_slot(&m.r, "r", 0) == 1);
	cr_expect(rig_slot(&m.r, "w", 0) == 3);
	cr_expect(!rig_losses(&m.r));
	/* Four of the comparisons: two are decided by the group, bits 2, 3 and 4 in order of mention. */
	cr_expect(m.r.plan->n_comparisons == 5);
	cr_expect(m.r.program.decided_bits == 0x1c, "%lx", m.r.program.decided_bits);
	many_finish(&m);
}

/* Where all agree, no table is needed: the clause is there or it is not. */
Test(compiler_identity, probe_fields_of_one)
{
	struct many m;

	many_init(&m);
	m.r.group.n_probes = 1;
	rig_clause(&m.r, "probefunc == \"read\"", "count", "into||r", NULL);
	rig_clause(&m.r, "probefunc == \"write\"", "count", "into||w", NULL);
	rig_load(&m.r);
	cr_expect(!m.r.plan->maps[WEFT_PLAN_PROBES].used);
	fire(&m, 0, 0);
	cr_expect(rig_slot(&m.r, "r", 0) == 1 && rig_slot(&m.r, "w", 0) == 0);
	many_finish(&m);
}

Test(compiler_identity, PROBE_COMPARISONS_FULL)
{
	char when[64];
	struct many m;
	int ret = 0;

	many_init(&m);
	m.r.info.identity.kind = WEFT_IDENTITY_FIELD;
	for (unsigned i = 0; i < RIG_CLAUSES; i++) {
		snprintf(when, sizeof(when), "probefunc == \"f%u\" || probefunc == \"g%u\"", i, i);
		rig_clause(&m.r, when, "count", "into||c", NULL);
	}
	ret = rig_compile(&m.r);
	cr_expect(ret < 0);
	cr_expect_str_eq(rig_tag(&m.r), "PROBE_COMPARISONS_FULL");
	many_finish(&m);
}

Test(compiler_identity, PROBES_FULL)
{
	struct many m;

	many_init(&m);
	m.r.info.identity.kind = WEFT_IDENTITY_FIELD;
	m.probes[3].cookie = UINT64_MAX;
	rig_clause(&m.r, "probefunc == \"read\"", "count", "into||c", NULL);
	cr_expect(rig_compile(&m.r) < 0);
	cr_expect_str_eq(rig_tag(&m.r), "PROBES_FULL");
	weft_error_clear(m.r.err);
	m.probes[3].cookie = 8;
	rig_load(&m.r);
	m.probes[3].cookie = 100000;
	cr_expect(rig_compile(&m.r) < 0, "a table that exists does not grow");
	cr_expect_str_eq(rig_tag(&m.r), "PROBES_FULL");
	many_finish(&m);
}

Test(compiler_identity, guard)
{
	struct rig r;

	rig_init(&r);
	r.info.guard = (struct weft_location){.ops = word1, .n_ops = 1};
	rig_clause(&r, NULL, "count", "into||c", NULL);
	rig_load(&r);
	for (uint64_t i = 0; i < 10; i++) {
		const uint64_t words[RIG_ARGS] = {0, i % 5 == 0};

		rig_run(&r, words);
	}
	cr_expect(rig_slot(&r, "c", 0) == 2 && !rig_losses(&r));
	rig_finish(&r);
}

/* A fault in a guard is counted outside of all clauses. */
Test(compiler_identity, guard_that_faults)
{
	static const struct weft_loc_op load[2] = {
		{.op = WEFT_LOC_CTX, .size = 8, .imm = 0},
		{.op = WEFT_LOC_LOAD, .size = 4},
	};
	struct rig r;

	rig_init(&r);
	r.info.guard = (struct weft_location){.ops = load, .n_ops = 2};
	rig_clause(&r, NULL, "count", "into||c", NULL);
	rig_load(&r);
	rig_run(&r, NULL);
	cr_expect(rig_slot(&r, "c", 0) == 0);
	cr_expect(rig_loss(&r, WEFT_LOSS_FAULT_ADDRESS) == 1);
	cr_expect(r.plan->losses[0].clause == UINT32_MAX);
	rig_finish(&r);
}

Test(compiler_identity, target)
{
	static const enum weft_scope scopes[] = {WEFT_SCOPE_NONE, WEFT_SCOPE_COARSE,
						 WEFT_SCOPE_EXACT};
	uint32_t me = (uint32_t)getpid();
	uint64_t one = 1;

	for (size_t i = 0; i < N(scopes); i++) {
		bool exact = scopes[i] == WEFT_SCOPE_EXACT;
		struct rig r;

		rig_init(&r);
		r.plan->target_check = true;
		r.info.scope = scopes[i];
		rig_clause(&r, NULL, "count", "into||c", NULL);
		rig_load(&r);
		rig_run(&r, NULL);
		cr_expect(rig_slot(&r, "c", 0) == exact);
		if (!exact) {
			cr_assert(!weft_bpf_map_update(r.maps.fds[WEFT_PLAN_TARGETS], &me, &one,
						       BPF_ANY));
			rig_run(&r, NULL);
			cr_expect(rig_slot(&r, "c", 0) == 1);
		}
		rig_finish(&r);
	}
}
