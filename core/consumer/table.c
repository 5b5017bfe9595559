/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From raw rows to a table: subtract what was there at the last clear, drop what is then empty,
 * replace ids by classes of what they look like (stacks.c; texts of probe fields), merge rows that
 * have become equal, join the buckets of a histogram, decode, sort, hand over. All memory of a
 * table is given back when the sink has seen it.
 *
 * Which rows are empty: those that no value came to (since the clear). A sum of 0 may be a true
 * sum; that something came to it is told by the number of values that is kept with it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/strings.h"
#include "core/buckets.h"
#include "core/consumer/internal.h"

struct build {
	struct weft_consumer *c;
	const struct weft_aggregation *agg;
	struct weft_buckets buckets;
	const struct weft_rows *raw, *cleared;
	struct weft_arena *arena;
	struct weft_stack_classes stacks;
	struct weft_strings texts;
	struct weft_rows merged; /* by keys of classes; for quantize, still a row a bucket */
	size_t group_size;       /* bytes of the key that tell rows apart: all but the bucket */
	size_t *order;           /* merged rows, those of one histogram together */
	struct weft_row *rows;
	size_t n_rows;
};

/* The row less what was there at the last clear; false: nothing is left of it. */
static bool since_clear(const struct build *b, size_t i, uint64_t words[WEFT_ROW_WORDS])
{
	const uint64_t *now = weft_rows_words(b->raw, i), *then = NULL;

	if (now[WEFT_ROW_UNSETTLED])
		return false;
	memcpy(words, now, WEFT_ROW_WORDS * sizeof(*words));
	if (b->cleared && !weft_is_extreme(b->agg))
		then = weft_rows_find(b->cleared, weft_rows_key(b->raw, i));
	if (then)
		weft_words_subtract(b->agg, words, then);
	return !weft_words_are_empty(b->agg, words);
}

static int want_stacks(struct build *b)
{
	uint64_t words[WEFT_ROW_WORDS], id;
	size_t i, k;

	for (k = 0; k < b->agg->n_keys; k++) {
		const struct weft_field_layout *f = &b->agg->keys[k];

		if (f->type.kind != WEFT_VALUE_STACK &&
		    (f->type.kind != WEFT_VALUE_SYMBOL || f->type.space != WEFT_SPACE_USER))
			continue;
		for (i = 0; i < b->raw->n; i++) {
			const uint8_t *key = weft_rows_key(b->raw, i);

			if (!since_clear(b, i, words))
				continue;
			memcpy(&id, key + f->offset, sizeof(id));
			if (weft_stacks_want(&b->stacks, id, f->type.space))
				return -ENOMEM;
		}
	}
	return 0;
}

/* The id under which a text is one with others that read alike. */
static int text_class(struct build *b, const char *text, uint64_t *class)
{
	uint32_t id;
	int ret = weft_strings_intern(&b->texts, text, &id);

	*class = id;
	return ret;
}

/* Replaces what stands in a key for something else by the class of what that looks like. */
static int classify(struct build *b, const struct weft_type *t, uint64_t *class)
{
	const char *text;

	switch (t->kind) {
	case WEFT_VALUE_STACK:
		*class = weft_stacks_class(&b->stacks, *class, t->space);
		return 0;
	case WEFT_VALUE_SYMBOL:
		if (t->space == WEFT_SPACE_KERNEL)
			return weft_stacks_symbol(&b->stacks, *class, class);
		*class = weft_stacks_class(&b->stacks, *class, t->space);
		return 0;
	case WEFT_VALUE_CGROUP:
		text = weft_cgroups_text(&b->c->cgroups, *class, t->field);
		return text ? text_class(b, text, class) : -ENOMEM;
	default: /* a field of the probe */
		text = b->c->env.probe_text(b->c->env.arg, *class, t->field);
		return text_class(b, text ? text : "", class);
	}
}

static bool has_class(const struct weft_type *t)
{
	return t->kind == WEFT_VALUE_STACK || t->kind == WEFT_VALUE_SYMBOL ||
	       t->kind == WEFT_VALUE_CGROUP || t->kind == WEFT_VALUE_PROBE;
}

static int merge(struct build *b)
{
	uint8_t *key = weft_arena_alloc(b->arena, b->raw->key_size + 8);
	uint64_t words[WEFT_ROW_WORDS], *into, class;
	bool is_new;
	size_t i, k;

	if (!key)
		return -ENOMEM;
	for (i = 0; i < b->raw->n; i++) {
		if (!since_clear(b, i, words))
			continue;
		memcpy(key, weft_rows_key(b->raw, i), b->raw->key_size);
		for (k = 0; k < b->agg->n_keys; k++) {
			const struct weft_field_layout *f = &b->agg->keys[k];

			if (!has_class(&f->type))
				continue;
			memcpy(&class, key + f->offset, sizeof(class));
			if (classify(b, &f->type, &class))
				return -ENOMEM;
			memcpy(key + f->offset, &class, sizeof(class));
		}
		into = weft_rows_put(&b->merged, key, &is_new);
		if (!into)
			return -ENOMEM;
		weft_words_add(b->agg, into, words);
	}
	return 0;
}

/* ---- grouping ---- */

static int32_t bucket_of(const struct build *b, size_t i)
{
	int32_t bucket;

	memcpy(&bucket, (const uint8_t *)weft_rows_key(&b->merged, i) + b->agg->bucket_offset,
	       sizeof(bucket));
	return bucket;
}

static int compare_order(const void *pa, const void *pb, void *arg)
{
	size_t x = *(const size_t *)pa, y = *(const size_t *)pb;
	const struct build *b = arg;
	int d = memcmp(weft_rows_key(&b->merged, x), weft_rows_key(&b->merged, y), b->group_size);

	if (!d && b->agg->bucket_offset >= 0) {
		int32_t bx = bucket_of(b, x), by = bucket_of(b, y);

		d = bx < by ? -1 : bx > by;
	}
	return d;
}

static int put_in_order(struct build *b)
{
	size_t i;

	b->group_size =
		b->agg->bucket_offset >= 0 ? (size_t)b->agg->bucket_offset : b->merged.key_size;
	b->order = weft_arena_array(b->arena, b->merged.n + 1, sizeof(*b->order));
	b->rows = weft_arena_array(b->arena, b->merged.n + 1, sizeof(*b->rows));
	if (!b->order || !b->rows)
		return -ENOMEM;
	for (i = 0; i < b->merged.n; i++)
		b->order[i] = i;
	/* Only the buckets of a histogram need to be neighbours. */
	if (b->agg->bucket_offset >= 0 && b->merged.n > 1)
		qsort_r(b->order, b->merged.n, sizeof(*b->order), compare_order, b);
	return 0;
}

/* ---- decoding ---- */

static const struct weft_frame unknown_frame = {.user = true};

static int decode_keys(struct build *b, const uint8_t *key, struct weft_row *row)
{
	struct weft_named_value *out = weft_arena_array(b->arena, b->agg->n_keys + 1, sizeof(*out));
	uint64_t class;
	size_t k;

	if (!out)
		return -ENOMEM;
	for (k = 0; k < b->agg->n_keys; k++) {
		const struct weft_field_layout *f = &b->agg->keys[k];
		struct weft_value *v = &out[k].value;

		out[k].name = f->name;
		v->type = f->type;
		if (f->type.kind == WEFT_VALUE_INT) {
			weft_value_int(v, &f->type, key + f->offset, f->size);
			continue;
		}
		if (f->type.kind == WEFT_VALUE_STRING || f->type.kind == WEFT_VALUE_BYTES) {
			v->text.s = (const char *)key + f->offset;
			v->text.n = strnlen(v->text.s, f->size);
			continue;
		}
		if (f->type.kind == WEFT_VALUE_INET) {
			v->text.s = (const char *)key + f->offset;
			v->text.n = f->size;
			continue;
		}
		memcpy(&class, key + f->offset, sizeof(class));
		if (f->type.kind == WEFT_VALUE_SYMBOL) {
			/* No frame: its row of STACKS is missing, which nothing does. */
			v->symbol = class ? b->stacks.classes[class].frames : &unknown_frame;
		} else if (f->type.kind == WEFT_VALUE_STACK) {
			v->stack.frames = b->stacks.classes[class].frames;
			v->stack.n = b->stacks.classes[class].n;
		} else {
			v->text.s = weft_strings_text(&b->texts, (uint32_t) class);
			v->text.n = strlen(v->text.s);
		}
	}
	row->keys = out;
	row->n_keys = b->agg->n_keys;
	return 0;
}

/* The extreme value that words stand for: see the essay of core/plan.h. */
static uint64_t extreme_value(const struct weft_aggregation *agg, const uint64_t *words)
{
	const uint64_t least = UINT64_C(1) << 63; /* INT64_MIN; also its distance from 0 */
	uint64_t x;

	if (agg->kind == WEFT_ACTION_MAX)
		x = words[0] ? words[0] + least : least;
	else
		x = words[0] ? (least - 1) - words[0] : least - 1;
	return weft_is_unsigned(agg) ? x ^ least : x;
}

static void decode_value(const struct build *b, const uint64_t *words, struct weft_row *row)
{
	const struct weft_aggregation *agg = b->agg;

	row->value.type = agg->value_type;
	row->value.type.kind = WEFT_VALUE_INT;
	row->value.type.size = 8;
	row->value.type.is_signed = !weft_is_unsigned(agg);
	switch (agg->kind) {
	case WEFT_ACTION_STDDEV:
		row->stddev = weft_words_stddev(words);
		/* fallthrough */
	case WEFT_ACTION_AVG:
		row->count = words[0];
		/* fallthrough */
	case WEFT_ACTION_SUM:
		weft_words_sum(agg, words, row);
		break;
	case WEFT_ACTION_MIN:
	case WEFT_ACTION_MAX:
		row->value.u = extreme_value(agg, words);
		break;
	default:
		row->count = words[0];
		row->value.type.is_signed = false;
		row->value.u = words[0];
		break;
	}
}

/* The buckets of one row: order[from..to). */
static int decode_buckets(struct build *b, size_t from, size_t to, struct weft_row *row)
{
	struct weft_bucket *out = weft_arena_array(b->arena, to - from, sizeof(*out));
	size_t i, n = 0;

	if (!out)
		return -ENOMEM;
	row->count = 0;
	for (i = from; i < to; i++) {
		struct weft_bucket_range range;
		struct weft_bucket *k = &out[n];

		k->number = bucket_of(b, b->order[i]);
		if (!weft_buckets_range(&b->buckets, k->number, &range))
			continue;
		k->is_unsigned = b->buckets.is_unsigned;
		k->from = range.from;
		k->to = range.to;
		k->from_is_min = range.from_is_min;
		k->to_is_max = range.to_is_max;
		k->count = weft_rows_words(&b->merged, b->order[i])[0];
		row->count += k->count;
		n++;
	}
	row->buckets = out;
	row->n_buckets = n;
	return 0;
}

static int decode(struct build *b)
{
	size_t from, to;
	int ret;

	for (from = 0; from < b->merged.n; from = to) {
		const uint8_t *key = weft_rows_key(&b->merged, b->order[from]);
		struct weft_row *row = &b->rows[b->n_rows++];

		to = from + 1;
		ret = decode_keys(b, key, row);
		if (ret)
			return ret;
		if (b->agg->bucket_offset < 0) {
			decode_value(b, weft_rows_words(&b->merged, b->order[from]), row);
			continue;
		}
		while (to < b->merged.n &&
		       !memcmp(key, weft_rows_key(&b->merged, b->order[to]), b->group_size))
			to++;
		ret = decode_buckets(b, from, to, row);
		if (ret)
			return ret;
	}
	return 0;
}

/* What of the view's scale suits the kind. */
static struct weft_scale scale_of(const struct weft_table_request *request)
{
	struct weft_scale s = {.divide = request->view.divide, .per_ns = request->view.per_ns};

	if (weft_view_misfit(&(struct weft_view){.divide = 1}, request->agg->kind))
		s.divide = 0;
	if (weft_view_misfit(&(struct weft_view){.per_ns = 1}, request->agg->kind))
		s.per_ns = 0;
	if (s.per_ns)
		s.elapsed_ns = request->elapsed_ns;
	return s;
}

int weft_table_emit(struct weft_consumer *c, const struct weft_table_request *request,
		    struct weft_error *err)
{
	const struct weft_aggregation *agg = request->agg;
	struct build b = {.c = c,
			  .agg = agg,
			  .buckets = agg->buckets,
			  .raw = request->raw,
			  .cleared = request->cleared};
	struct weft_table table = {.name = agg->name,
				   .kind = agg->kind,
				   .unit = agg->unit,
				   .buckets = &b.buckets,
				   .scale = scale_of(request)};
	int ret = -ENOMEM;

	b.buckets.is_unsigned = weft_is_unsigned(agg);
	weft_rows_init(&b.merged, request->raw->key_size);
	b.arena = weft_arena_create();
	if (!b.arena)
		return weft_nomem(err);
	if (weft_strings_init(&b.texts, b.merged.hash) || weft_stacks_init(&b.stacks, c, b.arena) ||
	    want_stacks(&b))
		goto out;
	ret = weft_stacks_read(&b.stacks, request->attached, err);
	if (ret)
		goto out_said;
	ret = merge(&b);
	if (!ret)
		ret = put_in_order(&b);
	if (!ret)
		ret = decode(&b);
	if (ret)
		goto out;
	table.rows = b.rows;
	table.n_rows = b.n_rows;
	weft_table_sort(&table, b.rows, &request->view);
	if (request->view.top && request->view.top < table.n_rows) {
		table.n_left_out = table.n_rows - request->view.top;
		table.n_rows = request->view.top;
	}
	ret = c->env.sink->table(c->env.sink->self, &table);
	if (ret)
		ret = weft_sink_failed(err, ret);
	goto out_said;
out:
	if (ret)
		weft_nomem(err);
out_said:
	weft_stacks_finish(&b.stacks);
	weft_strings_finish(&b.texts);
	weft_rows_finish(&b.merged);
	weft_arena_destroy(b.arena);
	return ret;
}
