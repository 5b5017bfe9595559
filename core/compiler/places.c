/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* See places.h: locations to rows of a table, and the code that reads by a row. */
#include "core/compiler/places.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "core/compiler/arch.h"
#include "core/compiler/location.h"
#include "core/compiler/lower.h"

/* ---- locations to rows ---- */

/* A value on the location's stack: a sum of at most two registers and a number. */
struct form {
	struct weft_place_row row;
	uint8_t size;   /* bytes of a register's value that count; 8 but for the last operation */
	bool is_signed; /* how it is extended where size is less than 8 */
	bool final;     /* was loaded or cut: nothing may be done with it any more */
};

static bool plain(const struct form *f)
{
	return !f->final && f->size == 8 && !f->row.bit;
}

static bool add(struct form *a, const struct form *b)
{
	if (!plain(a) || !plain(b))
		return false;
	a->row.add = (int64_t)((uint64_t)a->row.add + (uint64_t)b->row.add);
	if (b->row.has_index) {
		if (a->row.has_index)
			return false;
		a->row.has_index = 1;
		a->row.index = b->row.index;
		a->row.shift = b->row.shift;
	}
	if (b->row.has_base) {
		if (!a->row.has_base) {
			a->row.has_base = 1;
			a->row.base = b->row.base;
		} else if (!a->row.has_index) {
			a->row.has_index = 1;
			a->row.index = b->row.base;
			a->row.shift = 0;
		} else {
			return false;
		}
	}
	return true;
}

/* A lone register becomes a scaled index. */
static bool shift(struct form *a, const struct form *by)
{
	if (!plain(a) || !plain(by) || by->row.has_base || by->row.has_index || by->row.add < 0 ||
	    by->row.add > 63)
		return false;
	if (a->row.has_index && !(a->row.shift == 0 && !a->row.has_base))
		return false;
	if (a->row.has_base) {
		a->row.has_base = 0;
		a->row.has_index = 1;
		a->row.index = a->row.base;
	}
	a->row.shift = (uint8_t)by->row.add;
	a->row.add = (int64_t)((uint64_t)a->row.add << by->row.add);
	return true;
}

static bool push(struct form *f, const struct weft_loc_op *op)
{
	*f = (struct form){.size = 8};
	switch (op->op) {
	case WEFT_LOC_CONST:
		f->row.add = op->imm;
		return true;
	case WEFT_LOC_USER_PC: /* a probe of user space, since its memory is read as such */
		f->row.has_base = 1;
		f->row.base = (uint16_t)weft_arch.ip;
		return true;
	case WEFT_LOC_REG:
		if (op->imm < 0 || op->imm >= weft_arch.n_dwarf || weft_arch.dwarf[op->imm] < 0)
			return false;
		f->row.has_base = 1;
		f->row.base = (uint16_t)weft_arch.dwarf[op->imm];
		f->row.bit = (uint8_t)op->aux;
		f->size = op->size;
		f->is_signed = op->flags & WEFT_LOC_SIGNED;
		return op->aux < 64;
	default:
		return false;
	}
}

static bool finish_load(struct form *f, const struct weft_loc_op *op)
{
	if (!plain(f) || !(op->flags & WEFT_LOC_USER))
		return false;
	f->row.add = (int64_t)((uint64_t)f->row.add + (uint64_t)op->imm);
	f->row.loads = 1;
	f->final = true;
	f->size = op->size;
	f->is_signed = op->flags & WEFT_LOC_SIGNED;
	return true;
}

static bool cut(struct form *f, const struct weft_loc_op *op)
{
	if (!plain(f))
		return false;
	f->final = true;
	f->size = op->size;
	f->is_signed = op->flags & WEFT_LOC_SIGNED;
	return true;
}

static bool to_form(const struct weft_location *where, struct form *out)
{
	struct form stack[WEFT_LOC_MAX_DEPTH];
	unsigned depth = 0;

	if (!where->n_ops || where->n_ops > WEFT_LOC_MAX_OPS)
		return false;
	for (uint32_t i = 0; i < where->n_ops; i++) {
		const struct weft_loc_op *op = &where->ops[i];
		bool fits;

		if (op->op == WEFT_LOC_ADD || op->op == WEFT_LOC_SHL) {
			if (depth < 2)
				return false;
			depth--;
			fits = op->op == WEFT_LOC_ADD ? add(&stack[depth - 1], &stack[depth])
						      : shift(&stack[depth - 1], &stack[depth]);
		} else if (op->op == WEFT_LOC_LOAD || op->op == WEFT_LOC_EXTEND) {
			if (!depth)
				return false;
			fits = op->op == WEFT_LOC_LOAD ? finish_load(&stack[depth - 1], op)
						       : cut(&stack[depth - 1], op);
		} else {
			if (depth == WEFT_LOC_MAX_DEPTH)
				return false;
			fits = push(&stack[depth++], op);
		}
		if (!fits)
			return false;
	}
	*out = stack[0];
	return depth == 1;
}

static bool to_row(const struct weft_location *where, const struct weft_arg_type *type,
		   struct weft_place_row *out)
{
	bool is_signed = type->flags & WEFT_TYPE_SIGNED;
	uint8_t size = type->kind == WEFT_TYPE_POINTER ? 8 : (uint8_t)type->size;
	struct form f;

	if ((type->kind != WEFT_TYPE_INT && type->kind != WEFT_TYPE_POINTER) || !to_form(where, &f))
		return false;
	/* Memory is read in the type's size, and one extension is for all. */
	if (f.row.loads && f.size != size)
		return false;
	if (f.size < size && f.is_signed != is_signed)
		return false;
	if (f.size > size)
		f.size = size;
	*out = f.row;
	out->drop = (uint8_t)(64 - 8 * f.size);
	return true;
}

bool weft_places_fit(const struct weft_location *where, const struct weft_arg_type *type)
{
	struct weft_place_row ignored;

	return to_row(where, type, &ignored);
}

/* ---- the table ---- */

static uint64_t used_args(const struct weft_group *g)
{
	uint64_t all = 0;

	for (size_t i = 0; i < g->n_clauses; i++)
		all |= g->clauses[i].args;
	return all;
}

/* Where the row of an argument lies in an element. */
static uint32_t row_offset(const struct weft_group *g, uint32_t arg)
{
	uint64_t before = used_args(g) & ((UINT64_C(1) << arg) - 1);

	return (uint32_t)(sizeof(uint64_t) +
			  (size_t)__builtin_popcountll(before) * sizeof(struct weft_place_row));
}

static int fail_scattered(struct weft_lower *lw)
{
	return weft_fail(lw->err, -EINVAL, "LOCATION_SCATTERED",
			 "an argument lies where a table cannot say");
}

static int make_rows(struct weft_lower *lw, uint64_t used, uint32_t size, const void **out)
{
	const struct weft_group *g = lw->group;
	char *bytes = weft_arena_array(lw->plan->arena, g->n_probes, size);

	if (!bytes)
		return weft_nomem(lw->err);
	for (size_t i = 0; i < g->n_probes; i++) {
		const struct weft_probe_info *info = g->probes[i].info;
		char *at = bytes + i * size;

		memcpy(at, &g->probes[i].cookie, sizeof(uint64_t));
		at += sizeof(uint64_t);
		for (uint32_t arg = 0; arg < info->n_args; arg++) {
			struct weft_place_row row;

			if (!(used >> arg & 1))
				continue;
			if (!to_row(&info->args[arg].where, &info->args[arg].type, &row))
				return fail_scattered(lw);
			memcpy(at, &row, sizeof(row));
			at += sizeof(row);
		}
	}
	*out = bytes;
	return 0;
}

void weft_lower_find_places(struct weft_lower *lw)
{
	uint64_t used = used_args(lw->group);
	uint32_t size = (uint32_t)(sizeof(uint64_t) + (size_t)__builtin_popcountll(used) *
							      sizeof(struct weft_place_row));
	struct weft_map_spec spec = {.role = WEFT_MAP_PLACES,
				     .name = "weft_places",
				     .type = BPF_MAP_TYPE_ARRAY,
				     .key_size = 4,
				     .value_size = size,
				     .max_entries = (uint32_t)lw->group->n_probes,
				     .flags = BPF_F_MMAPABLE,
				     .extern_fd = -1};
	uint32_t mark = lw->frame_used, map = 0;
	struct weft_place key;

	weft_lower_status(lw, make_rows(lw, used, size, &lw->program->places));
	if (lw->program->places_map < 0) { /* a program may be made twice: compile.c */
		weft_lower_status(lw, weft_plan_map(lw->plan, &spec, &map, lw->err));
		lw->program->places_map = (int32_t)map;
	}
	map = (uint32_t)lw->program->places_map;
	key = weft_lower_frame(lw, 8);
	weft_lower_store(lw, key, 4,
			 WEFT_CALL(&lw->ir, BPF_FUNC_get_attach_cookie, WEFT_A(lw->ctx)));
	lw->places =
		WEFT_CALL(&lw->ir, BPF_FUNC_map_lookup_elem, WEFT_A_MAP(map), WEFT_A_FP(key.off));
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, lw->places, 0, lw->end);
	lw->cookie = weft_ir_load(&lw->ir, 8, lw->places, 0);
	lw->frame_used = mark;
}

#define FIELD(lw, at, member)                                                               \
	weft_ir_load(&(lw)->ir, sizeof(((struct weft_place_row *)0)->member), (lw)->places, \
		     (int32_t)((at) + offsetof(struct weft_place_row, member)))

/* The register at an offset that is only known now; 0 where there is none. */
static weft_vreg read_register(struct weft_lower *lw, weft_vreg offset, weft_vreg has)
{
	weft_vreg at = weft_ir_alu(&lw->ir, BPF_ADD, weft_lower_context_address(lw, 0), offset);
	weft_vreg v = weft_lower_read(lw, at, 8, false);

	return weft_ir_alu(&lw->ir, BPF_AND, v, weft_ir_neg(&lw->ir, has));
}

weft_vreg weft_lower_placed(struct weft_lower *lw, uint32_t arg)
{
	const struct weft_arg_type *type = &lw->group->info->args[arg].type;
	uint8_t size = type->kind == WEFT_TYPE_POINTER ? 8 : (uint8_t)type->size;
	uint32_t at = row_offset(lw->group, arg), done = weft_ir_label(&lw->ir);
	weft_vreg sum, index, result, drop;

	lw->program->used_args |= UINT64_C(1) << arg;
	sum = read_register(lw, FIELD(lw, at, base), FIELD(lw, at, has_base));
	index = read_register(lw, FIELD(lw, at, index), FIELD(lw, at, has_index));
	index = weft_ir_alu(&lw->ir, BPF_LSH, index, FIELD(lw, at, shift));
	sum = weft_ir_alu(&lw->ir, BPF_ADD, sum, index);
	sum = weft_ir_alu(&lw->ir, BPF_ADD, sum, FIELD(lw, at, add));
	result = weft_ir_variable(&lw->ir);
	weft_ir_assign(&lw->ir, result, weft_ir_alu(&lw->ir, BPF_RSH, sum, FIELD(lw, at, bit)));
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, FIELD(lw, at, loads), 0, done);
	weft_ir_assign(&lw->ir, result, weft_lower_read(lw, sum, size, true));
	weft_ir_place(&lw->ir, done);
	drop = FIELD(lw, at, drop);
	result = weft_ir_alu(&lw->ir, BPF_LSH, result, drop);
	return weft_ir_alu(&lw->ir, type->flags & WEFT_TYPE_SIGNED ? BPF_ARSH : BPF_RSH, result,
			   drop);
}
