/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Places for the variables of a set. What lies there, and how it is changed: lower_state.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/compiler/cell.h"
#include "core/compiler/plan_internal.h"

#define SELF_MOST 8192u /* bytes of variables of one thread */

static uint32_t cell_size(const struct weft_type *t)
{
	uint32_t size = (uint32_t)sizeof(struct weft_cell);

	return t->kind == WEFT_VALUE_STRING ? size + ((t->cap + 7) & ~7u) : size;
}

/* A new element begins as zeros, copied from bytes of STATE that nobody writes to. */
int weft_plan_need_zeros(struct weft_plan *plan, uint32_t size, struct weft_error *err)
{
	uint32_t offset;
	int ret;

	if (size <= plan->zeros_size)
		return 0;
	ret = weft_plan_state(plan, size, &offset, err);
	if (ret)
		return ret;
	plan->zeros_offset = offset;
	plan->zeros_size = size;
	return 0;
}

static int place_global(struct weft_plan *plan, struct weft_variable *v, struct weft_error *err)
{
	v->map = WEFT_PLAN_STATE;
	return weft_plan_state(plan, cell_size(&v->var->type), &v->offset, err);
}

static int make_self_map(struct weft_plan *plan, struct weft_error *err)
{
	/* Preallocated: the room of a thread that ends goes to the next one at once. */
	struct weft_map_spec spec = {.role = WEFT_MAP_SELF,
				     .name = "weft_self",
				     .type = BPF_MAP_TYPE_HASH,
				     .key_size = 8,
				     .max_entries = plan->set->options.threads,
				     .extern_fd = -1};
	uint32_t index;
	int ret;

	ret = weft_plan_need_zeros(plan, SELF_MOST, err);
	if (!ret)
		ret = weft_plan_map(plan, &spec, &index, err);
	if (!ret)
		plan->self_map = (int32_t)index;
	return ret;
}

static int place_thread(struct weft_plan *plan, struct weft_variable *v, struct weft_error *err)
{
	uint32_t size = cell_size(&v->var->type);
	struct weft_map_spec *map;
	int ret;

	if (weft_plan_is_created(plan))
		return weft_fail_at(err, v->var->pos, -ENOSPC, "STATE_TOO_LARGE",
				    "`%s` was not known when the variables of threads were made",
				    v->var->name);
	if (plan->self_map < 0) {
		ret = make_self_map(plan, err);
		if (ret)
			return ret;
	}
	map = &plan->maps[plan->self_map];
	if (map->value_size + size > SELF_MOST)
		return weft_fail_at(
			err, v->var->pos, -E2BIG, "STATE_TOO_LARGE",
			"with `%s` the variables of a thread are %u bytes; %u is the most: "
			"use fewer or a smaller options.strsize",
			v->var->name, map->value_size + size, SELF_MOST);
	v->map = plan->self_map;
	v->offset = map->value_size;
	map->value_size += size;
	return 0;
}

static uint32_t key_bytes(const struct weft_type *t)
{
	return t->kind == WEFT_VALUE_STRING ? (t->cap + 7) & ~7u : 8;
}

static int lay_out_keys(struct weft_plan *plan, struct weft_variable *v, struct weft_error *err)
{
	v->keys = weft_arena_array(plan->arena, v->var->n_keys, sizeof(*v->keys));
	if (!v->keys)
		return weft_nomem(err);
	for (uint32_t i = 0; i < v->var->n_keys; i++) {
		v->keys[i] = (struct weft_field_layout){.name = v->var->name,
							.type = v->var->keys[i],
							.offset = v->key_size,
							.size = key_bytes(&v->var->keys[i])};
		v->key_size += v->keys[i].size;
	}
	if (v->key_size > WEFT_KEY_MAX)
		return weft_fail_at(
			err, v->var->pos, -E2BIG, "KEY_TOO_LARGE",
			"the keys of `%s` are %u bytes together; %u is the most: use fewer "
			"keys or a smaller options.strsize",
			v->var->name, v->key_size, WEFT_KEY_MAX);
	return 0;
}

static int place_array(struct weft_plan *plan, struct weft_variable *v, struct weft_error *err)
{
	struct weft_map_spec spec = {.role = WEFT_MAP_ARRAY,
				     .type = BPF_MAP_TYPE_HASH,
				     .value_size = cell_size(&v->var->type),
				     .max_entries = plan->set->options.rows,
				     .flags = BPF_F_NO_PREALLOC,
				     .extern_fd = -1};
	uint32_t index;
	int ret;

	ret = lay_out_keys(plan, v, err);
	if (!ret)
		ret = weft_plan_need_zeros(plan, spec.value_size, err);
	if (!ret && v->var->deleted)
		ret = weft_plan_state(plan, 8 * WEFT_ARRAY_LOCKS, &v->locks_offset, err);
	if (ret)
		return ret;
	spec.key_size = v->key_size;
	snprintf(spec.name, sizeof(spec.name), "weft_array%zu", plan->n_variables);
	ret = weft_plan_map(plan, &spec, &index, err);
	v->map = (int32_t)index;
	return ret;
}

int weft_plan_variable(struct weft_plan *plan, const struct weft_state_var *var, uint32_t *index,
		       struct weft_error *err)
{
	struct weft_variable v = {.var = var};
	int ret;

	for (size_t i = 0; i < plan->n_variables; i++)
		if (plan->variables[i].var == var ||
		    !strcmp(plan->variables[i].var->name, var->name)) {
			*index = (uint32_t)i;
			return 0;
		}
	if (weft_grow(&plan->variables, &plan->cap_variables, plan->n_variables, sizeof(v)))
		return weft_nomem(err);
	if (var->scope == WEFT_STATE_ARRAY)
		ret = place_array(plan, &v, err);
	else if (var->scope == WEFT_STATE_THREAD)
		ret = place_thread(plan, &v, err);
	else
		ret = place_global(plan, &v, err);
	if (ret)
		return ret;
	*index = (uint32_t)plan->n_variables;
	plan->variables[plan->n_variables++] = v;
	return 0;
}
