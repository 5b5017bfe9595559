/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Shapes: where the fields of keys and records lie, and whether two mentions of one aggregation
 * mean the same table.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/compiler/arch.h"
#include "core/compiler/plan_internal.h"

static uint32_t align_up(uint32_t n, uint32_t align)
{
	return (n + align - 1) & ~(align - 1);
}

/* Bytes of a value in a key (STACK: its id) or in a record (STACK: its frames). */
static uint32_t field_size(const struct weft_type *t, bool record)
{
	switch (t->kind) {
	case WEFT_VALUE_INT:
		return t->size;
	case WEFT_VALUE_STRING:
		return t->cap;
	case WEFT_VALUE_BYTES:
		return 8 + t->cap;
	case WEFT_VALUE_STACK:
		return record ? 8 + 8 * t->cap : 8;
	case WEFT_VALUE_SYMBOL:
		return record ? 16 : 8;
	case WEFT_VALUE_INET:
		return t->cap;
	case WEFT_VALUE_REGS:
		return 8 * weft_arch.n_regs;
	default:
		return 8;
	}
}

/* roomy: bit i for a string i that gets room for any string, whatever the most is that it has. */
static struct weft_field_layout *lay_out(const struct weft_plan *plan,
					 const struct weft_typed_item *items, size_t n, bool record,
					 uint64_t roomy, uint32_t *size, struct weft_error *err)
{
	struct weft_arena *arena = plan->arena;
	uint32_t strsize = plan->set->options.strsize;

	struct weft_field_layout *fields = weft_arena_array(arena, n + 1, sizeof(*fields));
	uint32_t at = 0;

	if (!fields) {
		weft_nomem(err);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		struct weft_field_layout *f = &fields[i];

		f->name = items[i].name;
		f->type = items[i].node->type;
		if (i < 64 && roomy >> i & 1 && f->type.kind == WEFT_VALUE_STRING &&
		    f->type.cap < strsize)
			f->type.cap = strsize;
		f->size = field_size(&f->type, record);
		at = align_up(at, f->type.kind == WEFT_VALUE_INT ? f->type.size : 8);
		f->offset = at;
		at += f->size;
	}
	*size = at;
	return fields;
}

static bool is_extreme(enum weft_action_kind kind)
{
	return kind == WEFT_ACTION_MIN || kind == WEFT_ACTION_MAX;
}

static bool is_histogram(enum weft_action_kind kind)
{
	return kind == WEFT_ACTION_QUANTIZE || kind == WEFT_ACTION_LQUANTIZE ||
	       kind == WEFT_ACTION_LLQUANTIZE;
}

bool weft_aggregation_is_unsigned(const struct weft_type *t)
{
	return t->size == 8 && !t->is_signed;
}

/* ---- two mentions of one name ---- */

static int conflict(const struct weft_aggregation *a, const struct weft_typed_action *action,
		    struct weft_error *err, const char *difference)
{
	return weft_fail_at(err, action->action->pos, -EINVAL, "AGGREGATION_CONFLICT",
			    "the aggregation `%s` was first used at %u:%u with another %s", a->name,
			    a->pos.line, a->pos.column, difference);
}

static bool same_key(const struct weft_type *a, const struct weft_type *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case WEFT_VALUE_INT:
		return a->size == b->size && a->is_signed == b->is_signed && a->names == b->names;
	case WEFT_VALUE_STRING:
		return b->cap <= a->cap; /* padded to the first one's */
	case WEFT_VALUE_STACK:
	case WEFT_VALUE_SYMBOL:
		return a->space == b->space;
	case WEFT_VALUE_PROBE:
	case WEFT_VALUE_CGROUP:
		return a->field == b->field;
	case WEFT_VALUE_INET:
		return a->cap == b->cap;
	default:
		return true;
	}
}

static int agree(struct weft_aggregation *a, const struct weft_typed_action *action,
		 struct weft_error *err)
{
	if (a->kind != action->action->spec->kind)
		return conflict(a, action, err, "kind of action");
	if (a->n_keys != action->n_keys)
		return conflict(a, action, err, "number of keys in `by`");
	for (size_t i = 0; i < a->n_keys; i++) {
		if (strcmp(a->keys[i].name, action->keys[i].name))
			return conflict(a, action, err, "name of a key in `by`");
		if (!same_key(&a->keys[i].type, &action->keys[i].node->type))
			return conflict(a, action, err, "type of a key in `by`");
	}
	if (action->value && weft_aggregation_is_unsigned(&a->value_type) !=
				     weft_aggregation_is_unsigned(&action->value->type))
		return conflict(a, action, err, "sign of the value");
	if (!weft_buckets_equal(&a->buckets, &action->buckets))
		return conflict(a, action, err, "division into buckets");
	if (a->unit && action->unit && strcmp(a->unit, action->unit))
		return conflict(a, action, err, "unit");
	if (!a->unit)
		a->unit = action->unit;
	return 0;
}

/* ---- making one ---- */

/* The most bytes of a row over all CPUs. A reader takes one of at most 16 KiB; with very many CPUs
 * they share one row, which is slower and as exact. */
#define ROW_MOST 12288u

static uint32_t map_type(const struct weft_plan *plan, const struct weft_aggregation *a)
{
	if (is_extreme(a->kind) || (uint64_t)plan->n_cpus * 8 * a->value_words > ROW_MOST)
		return BPF_MAP_TYPE_HASH;
	return BPF_MAP_TYPE_PERCPU_HASH;
}

static int make_storage(struct weft_plan *plan, struct weft_aggregation *a, struct weft_error *err)
{
	struct weft_map_spec spec = {
		.role = WEFT_MAP_AGG,
		.type = map_type(plan, a),
		.key_size = a->key_size,
		.value_size = 8 * a->value_words,
		.max_entries = plan->set->options.rows,
		.flags = BPF_F_NO_PREALLOC,
		.extern_fd = -1,
	};
	uint32_t index;
	int ret;

	a->map = -1;
	if (!a->key_size)
		return weft_plan_state(plan, weft_plan_slots(plan) * WEFT_SLOT_STRIDE,
				       &a->state_offset, err);
	snprintf(spec.name, sizeof(spec.name), "weft_agg%zu", plan->n_aggregations);
	ret = weft_plan_map(plan, &spec, &index, err);
	a->map = (int32_t)index;
	return ret;
}

static struct weft_view view_of(const struct weft_set *set, const char *name)
{
	for (size_t i = 0; i < set->n_views; i++)
		if (!strcmp(set->views[i].name.s, name))
			return set->views[i].view;
	return (struct weft_view){0};
}

/* The keys of one mention that are not written as those of another: bit i for key i. */
static uint64_t differing_keys(const struct weft_action *a, const struct weft_action *b)
{
	uint64_t differ = 0;
	size_t i = 0, k = 0;

	for (uint32_t n = 0; n < 64; n++, i++, k++) {
		while (i < a->n_items && strcmp(a->items[i].field->name, "by") != 0)
			i++;
		while (k < b->n_items && strcmp(b->items[k].field->name, "by") != 0)
			k++;
		if (i == a->n_items || k == b->n_items)
			break;
		if (strcmp(a->items[i].text.s, b->items[k].text.s) != 0)
			differ |= UINT64_C(1) << n;
	}
	return differ;
}

static bool adds_to(const struct weft_action *a, const char *name)
{
	for (size_t i = 0; i < a->n_items; i++)
		if (!strcmp(a->items[i].field->name, "into"))
			return !strcmp(a->items[i].text.s, name);
	return false;
}

/*
 * Clauses may tell the rows of one table apart by strings of different lengths, "read" here and
 * "write" there. The first that is compiled settles how much room there is, and does not know the
 * others' types, but it knows their texts: where all are the same, its own length is enough.
 */
static uint64_t varying_keys(const struct weft_set *set, const struct weft_typed_action *action)
{
	const struct weft_clause *const lists[] = {set->begin, set->clauses, set->end};
	const size_t n[] = {set->n_begin, set->n_clauses, set->n_end};
	uint64_t differ = 0;

	for (size_t l = 0; l < sizeof(n) / sizeof(n[0]); l++)
		for (size_t c = 0; c < n[l]; c++)
			for (size_t i = 0; i < lists[l][c].n_actions; i++)
				if (adds_to(&lists[l][c].actions[i], action->into))
					differ |= differing_keys(action->action,
								 &lists[l][c].actions[i]);
	return differ;
}

static int make(struct weft_plan *plan, const struct weft_typed_action *action,
		struct weft_error *err)
{
	struct weft_aggregation a = {
		.name = action->into,
		.kind = action->action->spec->kind,
		.unit = action->unit,
		.pos = action->action->pos,
		.n_keys = action->n_keys,
		.bucket_offset = -1,
		.buckets = action->buckets,
		.view = view_of(plan->set, action->into),
		.value_type = {.kind = WEFT_VALUE_INT, .size = 8, .is_signed = true},
	};
	int ret;

	if (weft_grow(&plan->aggregations, &plan->cap_aggregations, plan->n_aggregations, sizeof(a)))
		return weft_nomem(err);
	a.keys = lay_out(plan, action->keys, action->n_keys, false, varying_keys(plan->set, action),
			 &a.key_size, err);
	if (!a.keys)
		return -ENOMEM;
	if (is_histogram(a.kind)) {
		a.bucket_offset = (int32_t)align_up(a.key_size, 8);
		a.key_size = (uint32_t)a.bucket_offset + 8;
	}
	a.key_size = align_up(a.key_size, 8);
	if (a.key_size > WEFT_KEY_MAX)
		return weft_fail_at(err, a.pos, -E2BIG, "KEY_TOO_LARGE",
				    "the keys of the aggregation `%s` are %u bytes together; %u is "
				    "the most: use fewer keys or a smaller options.strsize",
				    a.name, a.key_size, WEFT_KEY_MAX);
	a.value_words = weft_value_words(a.kind);
	if (action->value)
		a.value_type.is_signed = !weft_aggregation_is_unsigned(&action->value->type);
	ret = make_storage(plan, &a, err);
	if (ret)
		return ret;
	plan->aggregations[plan->n_aggregations++] = a;
	return 0;
}

int weft_plan_aggregation(struct weft_plan *plan, const struct weft_typed_action *action,
			  uint32_t *index, struct weft_error *err)
{
	for (size_t i = 0; i < plan->n_aggregations; i++) {
		if (strcmp(plan->aggregations[i].name, action->into))
			continue;
		*index = (uint32_t)i;
		return agree(&plan->aggregations[i], action, err);
	}
	*index = (uint32_t)plan->n_aggregations;
	return make(plan, action, err);
}

/* ---- records ---- */

static bool same_fields(const struct weft_schema *s, const struct weft_field_layout *fields,
			size_t n)
{
	if (s->n_fields != n)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct weft_field_layout *a = &s->fields[i], *b = &fields[i];

		if (a->offset != b->offset || a->size != b->size || a->type.kind != b->type.kind ||
		    a->type.is_signed != b->type.is_signed || a->type.space != b->type.space ||
		    a->type.field != b->type.field || a->type.is_pointer != b->type.is_pointer ||
		    a->type.is_dump != b->type.is_dump || a->type.names != b->type.names)
			return false;
	}
	return true;
}

int weft_plan_schema(struct weft_plan *plan, const struct weft_typed_action *action,
		     uint32_t clause, uint32_t *index, struct weft_error *err)
{
	struct weft_field_layout *fields;
	uint32_t size;

	fields = lay_out(plan, action->fields, action->n_fields, true, 0, &size, err);
	if (!fields)
		return -ENOMEM;
	size = align_up(size, 8);
	if (size > WEFT_RECORD_MAX)
		return weft_fail_at(err, action->action->pos, -E2BIG, "RECORD_TOO_LARGE",
				    "the record is %u bytes; %u is the most", size, WEFT_RECORD_MAX);
	/* One clause for several kinds of probes makes one schema as long as the types agree. */
	for (size_t i = 0; i < plan->n_schemas; i++) {
		if (plan->schemas[i].action->action == action->action &&
		    same_fields(&plan->schemas[i], fields, action->n_fields)) {
			*index = (uint32_t)i;
			return 0;
		}
	}
	if (weft_grow(&plan->schemas, &plan->cap_schemas, plan->n_schemas, sizeof(*plan->schemas)))
		return weft_nomem(err);
	*index = (uint32_t)plan->n_schemas;
	plan->schemas[plan->n_schemas++] = (struct weft_schema){.action = action,
								.clause = clause,
								.fields = fields,
								.n_fields = action->n_fields,
								.size = size};
	return 0;
}
