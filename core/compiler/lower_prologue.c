/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What comes before the clauses: is the session running, is the firing the provider's, is the
 * process a target, which probe is it, and what time. The cheapest and most often negative first.
 */
#include <errno.h>
#include <stddef.h>

#include "core/compiler/lower.h"

static void check_enabled(struct weft_lower *lw)
{
	weft_vreg word =
		weft_ir_map_value(&lw->ir, WEFT_PLAN_STATE, offsetof(struct weft_control, enabled));

	weft_ir_branch_imm(&lw->ir, BPF_JEQ, weft_ir_load(&lw->ir, 8, word, 0), 0, lw->end);
}

static void check_guard(struct weft_lower *lw)
{
	weft_vreg values[2];
	unsigned n;

	weft_lower_location(lw, &lw->group->info->guard, 1, 1, "the guard", values, &n);
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, values[0], 0, lw->end);
}

static void check_target(struct weft_lower *lw)
{
	uint32_t mark = lw->frame_used;
	struct weft_place key = weft_lower_frame(lw, 8);
	weft_vreg row;

	lw->plan->maps[WEFT_PLAN_TARGETS].used = true;
	weft_lower_store(lw, key, 4, weft_lower_tgid(lw));
	row = WEFT_CALL(&lw->ir, BPF_FUNC_map_lookup_elem, WEFT_A_MAP(WEFT_PLAN_TARGETS),
			WEFT_A_FP(key.off));
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, row, 0, lw->end);
	lw->frame_used = mark;
}

/* ---- identity ---- */

static void fail_identity(struct weft_lower *lw, const char *why)
{
	weft_lower_status(lw,
			  weft_fail(lw->err, -EINVAL, "IDENTITY_BAD",
				    "the provider's identity of the probe is not usable: %s", why));
}

/* Looks the key up; a firing that it does not know is none. */
static weft_vreg look_up(struct weft_lower *lw, uint32_t map, struct weft_place key)
{
	weft_vreg row =
		WEFT_CALL(&lw->ir, BPF_FUNC_map_lookup_elem, WEFT_A_MAP(map), WEFT_A_FP(key.off));

	weft_ir_branch_imm(&lw->ir, BPF_JEQ, row, 0, lw->end);
	return weft_ir_load(&lw->ir, 8, row, 0);
}

static void identify_const(struct weft_lower *lw)
{
	lw->cookie = weft_ir_const(&lw->ir,
				   lw->group->n_probes ? (int64_t)lw->group->probes[0].cookie : 0);
}

static void identify_cookie(struct weft_lower *lw)
{
	if (!(lw->load->flags & WEFT_LOAD_COOKIE))
		fail_identity(lw, "its context has no cookie");
	lw->cookie = WEFT_CALL(&lw->ir, BPF_FUNC_get_attach_cookie, WEFT_A(lw->ctx));
}

static void identify_field(struct weft_lower *lw)
{
	const struct weft_group *g = lw->group;
	struct weft_map_spec spec = {.role = WEFT_MAP_DISPATCH,
				     .name = "weft_dispatch",
				     .type = BPF_MAP_TYPE_HASH,
				     .key_size = 8,
				     .value_size = 8,
				     .max_entries = (uint32_t)g->n_probes,
				     .flags = BPF_F_NO_PREALLOC,
				     .extern_fd = -1};
	struct weft_place key;
	weft_vreg values[2];
	uint32_t map = 0;
	unsigned n;

	weft_lower_location(lw, &g->info->identity.key[0], 1, 1, "the identity", values, &n);
	if (g->n_probes == 1) {
		weft_ir_branch(&lw->ir, BPF_JNE, values[0],
			       weft_ir_const(&lw->ir, (int64_t)g->probes[0].identity_value),
			       lw->end);
		identify_const(lw);
		return;
	}
	if (lw->program->dispatch_map < 0) { /* a program may be made twice: compile.c */
		weft_lower_status(lw, weft_plan_map(lw->plan, &spec, &map, lw->err));
		lw->program->dispatch_map = (int32_t)map;
	}
	map = (uint32_t)lw->program->dispatch_map;
	key = weft_lower_frame(lw, 8);
	weft_lower_store(lw, key, 8, values[0]);
	lw->cookie = weft_ir_alu_imm(&lw->ir, BPF_SUB, look_up(lw, map, key), 1);
}

/* The provider's map among the plan's: one entry, however many programs use it. */
static uint32_t provider_map(struct weft_lower *lw, int32_t fd, uint32_t key_size)
{
	struct weft_map_spec spec = {.role = WEFT_MAP_DISPATCH,
				     .name = "weft_provider",
				     .type = BPF_MAP_TYPE_HASH,
				     .key_size = key_size,
				     .value_size = 8,
				     .max_entries = 1,
				     .extern_fd = fd};
	uint32_t index = 0;

	for (size_t i = WEFT_PLAN_FIRST_FREE; i < lw->plan->n_maps; i++)
		if (lw->plan->maps[i].extern_fd == fd)
			return (uint32_t)i;
	weft_lower_status(lw, weft_plan_map(lw->plan, &spec, &index, lw->err));
	return index;
}

static void identify_map(struct weft_lower *lw)
{
	const struct weft_identity *id = &lw->group->info->identity;
	struct weft_place key = weft_lower_frame(lw, 8 * WEFT_IDENTITY_MAX_KEYS);
	uint32_t at = 0;

	if (id->map_fd < 0 || !id->n_keys || id->n_keys > WEFT_IDENTITY_MAX_KEYS) {
		fail_identity(lw, "a map needs a descriptor and one to four keys");
		return;
	}
	for (uint32_t i = 0; i < id->n_keys; i++) {
		uint32_t size = id->key_size[i];
		weft_vreg values[2];
		unsigned n;

		if ((size != 4 && size != 8) || at % size) {
			fail_identity(lw, "keys are of 4 or 8 bytes, at offsets aligned to that");
			return;
		}
		if (id->key[i].n_ops)
			weft_lower_location(lw, &id->key[i], 1, 1, "a key of the identity", values,
					    &n);
		else
			values[0] = weft_lower_tgid(lw);
		weft_lower_store(lw, weft_place_at(key, (int32_t)at), (uint8_t)size, values[0]);
		at += size;
	}
	lw->cookie = look_up(lw, provider_map(lw, id->map_fd, at), key);
}

static void (*const identify[])(struct weft_lower *) = {
	[WEFT_IDENTITY_CONST] = identify_const,
	[WEFT_IDENTITY_COOKIE] = identify_cookie,
	[WEFT_IDENTITY_FIELD] = identify_field,
	[WEFT_IDENTITY_MAP] = identify_map,
};

static void lower_identity(struct weft_lower *lw)
{
	uint32_t kind = lw->group->info->identity.kind;

	if (kind >= sizeof(identify) / sizeof(identify[0])) {
		fail_identity(lw, "there is no such kind");
		kind = WEFT_IDENTITY_CONST;
	}
	lw->cookie = weft_ir_const(&lw->ir, 0);
	if (lw->group->scattered)
		weft_lower_find_places(lw);
	else
		identify[kind](lw);
}

weft_vreg weft_lower_time(struct weft_lower *lw)
{
	if (!lw->timestamp)
		lw->timestamp = weft_ir_call(&lw->ir, BPF_FUNC_ktime_get_ns, true, NULL, 0);
	return lw->timestamp;
}

void weft_lower_prologue(struct weft_lower *lw)
{
	const struct weft_probe_info *info = lw->group->info;
	bool pops = false;

	lw->fault_exit = lw->end;
	for (size_t i = 0; i < lw->group->n_clauses; i++)
		pops |= lw->group->clauses[i].uses_elapsed || lw->group->clauses[i].entry_args;
	pops = pops && info && info->pairing.role == WEFT_PAIRING_RETURN;
	lw->ctx = weft_ir_context(&lw->ir);
	if (info) {
		uint32_t ready = weft_ir_label(&lw->ir);

		check_enabled(lw);
		if (info->guard.n_ops)
			check_guard(lw);
		if (info->schedule.period_ns)
			weft_lower_schedule(lw);
		if (lw->plan->target_check && info->scope != WEFT_SCOPE_EXACT)
			check_target(lw);
		lower_identity(lw);
		if (lw->timed || lw->group->pairing_entry || pops)
			weft_lower_time(lw);
		if (lw->group->pairing_entry)
			weft_lower_push_frame(lw);
		if (pops)
			weft_lower_pop_frame(lw);
		weft_ir_jump(&lw->ir, ready);
		weft_lower_cold(lw);
		/* Behind much code the program's end is farther than a jump spans. */
		if (lw->exits_early) {
			weft_ir_place(&lw->ir, lw->end);
			weft_ir_exit(&lw->ir);
		}
		weft_ir_place(&lw->ir, ready);
	} else {
		identify_const(lw);
		if (lw->timed)
			weft_lower_time(lw);
	}
	lw->frame_used = 0;
}
