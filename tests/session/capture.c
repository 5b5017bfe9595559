/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "capture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *copy_text(struct capture *c, const char *s)
{
	return s ? weft_arena_strdup(c->arena, s) : NULL;
}

static const struct weft_frame *copy_frames(struct capture *c, const struct weft_frame *in, size_t n)
{
	struct weft_frame *frames = weft_arena_array(c->arena, n + 1, sizeof(*frames));

	for (size_t i = 0; i < n; i++) {
		frames[i] = in[i];
		frames[i].symbol = copy_text(c, in[i].symbol);
		frames[i].module = copy_text(c, in[i].module);
	}
	return frames;
}

static struct weft_value copy_value(struct capture *c, const struct weft_value *v)
{
	struct weft_value out = *v;
	char *text;

	switch (v->type.kind) {
	case WEFT_VALUE_INT:
		break;
	case WEFT_VALUE_STACK:
		out.stack.frames = copy_frames(c, v->stack.frames, v->stack.n);
		break;
	case WEFT_VALUE_SYMBOL:
		out.symbol = copy_frames(c, v->symbol, 1);
		break;
	case WEFT_VALUE_REGS: /* the names are constants */
		out.regs.regs = weft_arena_memdup(c->arena, v->regs.regs,
						  v->regs.n * sizeof(*v->regs.regs));
		break;
	default:
		text = weft_arena_alloc(c->arena, v->text.n + 1);
		if (v->text.n)
			memcpy(text, v->text.s, v->text.n);
		out.text.s = text;
	}
	return out;
}

static struct weft_named_value *copy_named(struct capture *c, const struct weft_named_value *in,
					   size_t n)
{
	struct weft_named_value *out = weft_arena_array(c->arena, n + 1, sizeof(*out));

	for (size_t i = 0; i < n; i++) {
		out[i].name = copy_text(c, in[i].name);
		out[i].value = copy_value(c, &in[i].value);
	}
	return out;
}

static int on_record(void *self, const struct weft_record *r)
{
	struct capture *c = self;

	if (c->fail)
		return c->fail;
	if (weft_grow(&c->records, &c->cap_records, c->n_records, sizeof(*c->records)))
		return -ENOMEM;
	c->records[c->n_records++] = (struct cap_record){
		.time_ns = r->time_ns,
		.cpu = r->cpu,
		.probe = copy_text(c, r->probe),
		.is_printf = r->format != NULL,
		.fields = copy_named(c, r->fields, r->n_fields),
		.n_fields = r->n_fields,
	};
	return 0;
}

static int on_table(void *self, const struct weft_table *t)
{
	struct capture *c = self;
	struct cap_table *out;

	if (c->fail)
		return c->fail;
	if (weft_grow(&c->tables, &c->cap_tables, c->n_tables, sizeof(*c->tables)))
		return -ENOMEM;
	out = &c->tables[c->n_tables++];
	*out = (struct cap_table){
		.name = copy_text(c, t->name),
		.kind = t->kind,
		.unit = copy_text(c, t->unit),
		.rows = weft_arena_array(c->arena, t->n_rows + 1, sizeof(*out->rows)),
		.n_rows = t->n_rows,
		.n_left_out = t->n_left_out,
		.scale = t->scale,
	};
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct weft_row *row = &t->rows[i];

		out->rows[i] = *row;
		out->rows[i].keys = copy_named(c, row->keys, row->n_keys);
		out->rows[i].value = copy_value(c, &row->value);
		out->rows[i].buckets = NULL;
		if (row->n_buckets)
			out->rows[i].buckets = weft_arena_memdup(
				c->arena, row->buckets, row->n_buckets * sizeof(*row->buckets));
	}
	if (c->seen)
		__atomic_add_fetch(c->seen, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static int on_loss(void *self, const struct weft_loss_report *l)
{
	struct capture *c = self;

	if (weft_grow(&c->losses, &c->cap_losses, c->n_losses, sizeof(*c->losses)))
		return -ENOMEM;
	c->losses[c->n_losses++] = (struct cap_loss){.tag = copy_text(c, l->tag),
						     .where = copy_text(c, l->where),
						     .count = l->count,
						     .asked = l->asked};
	return 0;
}

static int on_end(void *self, const struct weft_end *e)
{
	struct capture *c = self;

	c->end = *e;
	c->n_ends++;
	return 0;
}

static int on_flush(void *self)
{
	struct capture *c = self;

	c->n_flushes++;
	return 0;
}

void capture_init(struct capture *c)
{
	memset(c, 0, sizeof(*c));
	c->arena = weft_arena_create();
	cr_assert_not_null(c->arena);
}

void capture_finish(struct capture *c)
{
	weft_arena_destroy(c->arena);
	free(c->records);
	free(c->tables);
	free(c->losses);
	memset(c, 0, sizeof(*c));
}

struct weft_sink capture_sink(struct capture *c)
{
	return (struct weft_sink){.record = on_record,
				  .table = on_table,
				  .loss = on_loss,
				  .end = on_end,
				  .flush = on_flush,
				  .self = c};
}

/* ---- records ---- */

const struct weft_value *cap_field(const struct cap_record *r, const char *name)
{
	for (size_t i = 0; i < r->n_fields; i++)
		if (!strcmp(r->fields[i].name, name))
			return &r->fields[i].value;
	cr_assert(false, "a record of %s has no field '%s'", r->probe, name);
	return NULL;
}

int64_t cap_int(const struct cap_record *r, const char *name)
{
	const struct weft_value *v = cap_field(r, name);

	cr_assert_eq(v->type.kind, WEFT_VALUE_INT, "field '%s' is no integer", name);
	return v->i;
}

static bool value_is_text(const struct weft_value *v, const char *text)
{
	if (v->type.kind != WEFT_VALUE_STRING && v->type.kind != WEFT_VALUE_PROBE &&
	    v->type.kind != WEFT_VALUE_CGROUP)
		return false;
	return v->text.n == strlen(text) && !memcmp(v->text.s, text, v->text.n);
}

bool cap_is_text(const struct cap_record *r, const char *name, const char *text)
{
	return value_is_text(cap_field(r, name), text);
}

bool cap_is_bytes(const struct cap_record *r, const char *name, const void *bytes, size_t n)
{
	const struct weft_value *v = cap_field(r, name);

	return v->type.kind == WEFT_VALUE_BYTES && v->text.n == n && !memcmp(v->text.s, bytes, n);
}

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n >= k && !strcmp(s + n - k, end);
}

size_t cap_count(const struct capture *c, const char *probe_end)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_records; i++)
		n += ends_in(c->records[i].probe, probe_end);
	return n;
}

const struct cap_record *cap_only(const struct capture *c, const char *probe_end)
{
	const struct cap_record *found = NULL;

	cr_assert_eq(cap_count(c, probe_end), 1, "%zu records of '%s', not one (%zu in all)",
		     cap_count(c, probe_end), probe_end, c->n_records);
	for (size_t i = 0; i < c->n_records; i++)
		if (ends_in(c->records[i].probe, probe_end))
			found = &c->records[i];
	return found;
}

/* ---- tables ---- */

const struct cap_table *cap_last_table(const struct capture *c, const char *name)
{
	for (size_t i = c->n_tables; i-- > 0;)
		if (!strcmp(c->tables[i].name, name))
			return &c->tables[i];
	cr_assert(false, "no table '%s' was printed", name);
	return NULL;
}

const struct weft_row *cap_only_row(const struct capture *c, const char *name)
{
	const struct cap_table *t = cap_last_table(c, name);

	cr_assert_eq(t->n_rows, 1, "table '%s' has %zu rows, not one", name, t->n_rows);
	return &t->rows[0];
}

const struct weft_value *cap_key(const struct weft_row *row, const char *name)
{
	for (size_t i = 0; i < row->n_keys; i++)
		if (!strcmp(row->keys[i].name, name))
			return &row->keys[i].value;
	cr_assert(false, "a row has no key '%s'", name);
	return NULL;
}

const struct weft_row *cap_row_int(const struct cap_table *t, const char *key, int64_t value)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct weft_value *v = cap_key(&t->rows[i], key);

		if (v->type.kind == WEFT_VALUE_INT && v->i == value)
			return &t->rows[i];
	}
	cr_assert(false, "table '%s' of %zu rows has none with %s = %lld", t->name, t->n_rows, key,
		  (long long)value);
	return NULL;
}

const struct weft_row *cap_row_text(const struct cap_table *t, const char *key, const char *text)
{
	for (size_t i = 0; i < t->n_rows; i++)
		if (value_is_text(cap_key(&t->rows[i], key), text))
			return &t->rows[i];
	cr_assert(false, "table '%s' of %zu rows has none with %s = '%s'", t->name, t->n_rows, key,
		  text);
	return NULL;
}

uint64_t cap_total(const struct cap_table *t)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->n_rows; i++)
		n += t->rows[i].count;
	return n;
}

uint64_t cap_bucket(const struct weft_row *row, int64_t from, int64_t to)
{
	for (size_t i = 0; i < row->n_buckets; i++)
		if (row->buckets[i].from == from && row->buckets[i].to == to)
			return row->buckets[i].count;
	return 0;
}

/* ---- losses ---- */

uint64_t cap_lost(const struct capture *c, const char *tag)
{
	uint64_t n = 0;

	for (size_t i = 0; i < c->n_losses; i++)
		if (!strcmp(c->losses[i].tag, tag))
			n += c->losses[i].count;
	return n;
}

static void expect_no_loss_but(const struct capture *c, const char *tag)
{
	for (size_t i = 0; i < c->n_losses; i++)
		if (strcmp(c->losses[i].tag, tag))
			cr_expect_fail("lost: %llu x %s (%s)",
				       (unsigned long long)c->losses[i].count, c->losses[i].tag,
				       c->losses[i].where ? c->losses[i].where : "");
}

void cap_expect_no_loss(const struct capture *c)
{
	expect_no_loss_but(c, "");
}

void cap_expect_only_ticks_missed(const struct capture *c)
{
	expect_no_loss_but(c, "FIRINGS_MISSED");
}

void cap_expect_loss(const struct capture *c, const char *tag, uint64_t count)
{
	cr_expect_eq(cap_lost(c, tag), count, "%s: lost %llu, not %llu", tag,
		     (unsigned long long)cap_lost(c, tag), (unsigned long long)count);
	expect_no_loss_but(c, tag);
}
