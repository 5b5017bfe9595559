/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a session hands out, put into the structs of the header and handed on: to the caller's
 * functions and, as it is, to the output.
 *
 * Arrays are made in rooms of the handle that are kept from one record to the next. All that one
 * record or one aggregation needs is counted first, since a room that grows may move.
 */
#include "embed/trace.h"

#include <errno.h>
#include <stdlib.h>

#include "core/loss.h"
#include "core/output/render.h"

/* ---- records ---- */

static int printf_out(struct weft_trace *t, const struct weft_record *r,
		      struct weft_trace_record *out)
{
	struct weft_buf text = {.data = t->printf_text, .cap = t->printf_size};

	weft_render_printf(&text, r, false);
	weft_buf_put(&text, "", 1);
	t->printf_text = text.data; /* kept for the next one */
	t->printf_size = text.cap;
	if (text.status)
		return weft_nomem(t->err);
	out->text = text.data;
	out->length = text.n - 1;
	return 0;
}

static int call_record(struct weft_trace *t, const struct weft_record *r)
{
	struct weft_trace_record out = {
		.struct_size = sizeof(out),
		.cpu = r->cpu,
		.time_ns = r->time_ns,
		.probe = r->probe,
		.n_fields = (uint32_t)r->n_fields,
		.field_size = sizeof(*out.fields),
	};
	struct weft_trace_field *fields;
	struct weft_value_room room;
	int ret;

	fields = weft_room(t, WEFT_ROOM_FIELDS, r->n_fields, sizeof(*fields));
	room.frames = weft_room(t, WEFT_ROOM_FRAMES, weft_count_frames(r->fields, r->n_fields),
				sizeof(*room.frames));
	room.registers =
		weft_room(t, WEFT_ROOM_REGISTERS, weft_count_registers(r->fields, r->n_fields),
			  sizeof(*room.registers));
	if (!fields || !room.frames || !room.registers)
		return -ENOMEM;
	weft_fields_out(r->fields, r->n_fields, &room, fields);
	out.fields = fields;
	ret = r->format ? printf_out(t, r, &out) : 0;
	return ret ? ret : weft_called(t->options.record(t->options.arg, &out));
}

static int on_record(void *self, const struct weft_record *r)
{
	struct weft_trace *t = self;
	int ret = t->sink.self ? t->sink.record(t->sink.self, r) : 0;

	return !ret && t->options.record ? call_record(t, r) : ret;
}

/* ---- aggregations ---- */

static void bucket_out(const struct weft_bucket *b, struct weft_trace_bucket *out)
{
	*out = (struct weft_trace_bucket){
		.struct_size = sizeof(*out),
		.flags = (b->is_unsigned ? WEFT_TRACE_BUCKET_UNSIGNED : 0) |
			 (b->to_is_max ? WEFT_TRACE_BUCKET_NO_UPPER : 0) |
			 (b->from_is_min ? WEFT_TRACE_BUCKET_NO_LOWER : 0),
		.from = b->from,
		.to = b->to,
		.count = b->count,
	};
}

/* The numbers of a row, by what kind of aggregation it is one of. */
static void numbers_out(const struct weft_table *table, const struct weft_row *row,
			struct weft_trace_row *out)
{
	const struct weft_scale *scale = &table->scale;
	bool is_signed = row->value.type.is_signed;
	weft_wide sum = weft_row_sum(row);

	out->is_signed = is_signed;
	switch (table->kind) {
	case WEFT_ACTION_COUNT:
		out->count = row->count;
		out->is_signed = 0;
		out->value = (double)weft_scaled(scale, (long double)row->count);
		return;
	case WEFT_ACTION_MIN:
	case WEFT_ACTION_MAX:
		out->low = row->value.u;
		out->high = is_signed && row->value.i < 0 ? -1 : 0;
		out->value = (double)weft_scaled(scale, is_signed ? (long double)row->value.i
								  : (long double)row->value.u);
		return;
	case WEFT_ACTION_SUM:
	case WEFT_ACTION_AVG:
	case WEFT_ACTION_STDDEV:
		out->low = (uint64_t)sum;
		out->high = (int64_t)(sum >> 64);
		break;
	default: /* histograms */
		out->count = row->count;
		out->is_signed = table->buckets && !table->buckets->is_unsigned;
		return;
	}
	if (table->kind == WEFT_ACTION_SUM) {
		out->value = (double)weft_scaled(scale, (long double)sum);
		return;
	}
	out->count = row->count;
	out->average = (double)weft_scaled(scale, weft_average(row));
	out->value = table->kind == WEFT_ACTION_AVG
			     ? out->average
			     : (double)weft_scaled(scale, (long double)row->stddev);
}

static int call_table(struct weft_trace *t, const struct weft_table *table,
		      int (*fn)(void *arg, const struct weft_trace_aggregation *a), void *arg)
{
	struct weft_trace_aggregation out = {
		.struct_size = sizeof(out),
		.row_size = sizeof(*out.rows),
		.name = table->name,
		.kind = weft_kind_name(table->kind),
		.unit = table->unit,
		.n_rows = table->n_rows,
		.n_left_out = table->n_left_out,
		.divide = table->scale.divide,
		.per_ns = table->scale.per_ns,
		.elapsed_ns = table->scale.per_ns ? table->scale.elapsed_ns : 0,
	};
	size_t n_keys = 0, n_frames = 0, n_buckets = 0, i, k;
	struct weft_value_room room = {0};
	struct weft_trace_bucket *buckets;
	struct weft_trace_field *keys;
	struct weft_trace_row *rows;

	for (i = 0; i < table->n_rows; i++) {
		n_keys += table->rows[i].n_keys;
		n_frames += weft_count_frames(table->rows[i].keys, table->rows[i].n_keys);
		n_buckets += table->rows[i].n_buckets;
	}
	rows = weft_room(t, WEFT_ROOM_ROWS, table->n_rows, sizeof(*rows));
	keys = weft_room(t, WEFT_ROOM_FIELDS, n_keys, sizeof(*keys));
	buckets = weft_room(t, WEFT_ROOM_BUCKETS, n_buckets, sizeof(*buckets));
	room.frames = weft_room(t, WEFT_ROOM_FRAMES, n_frames, sizeof(*room.frames));
	if (!rows || !keys || !buckets || !room.frames)
		return -ENOMEM;
	out.rows = rows;
	for (i = 0; i < table->n_rows; i++) {
		const struct weft_row *row = &table->rows[i];

		rows[i] = (struct weft_trace_row){
			.struct_size = sizeof(*rows),
			.n_keys = (uint32_t)row->n_keys,
			.keys = keys,
			.key_size = sizeof(*keys),
			.buckets = row->n_buckets ? buckets : NULL,
			.n_buckets = (uint32_t)row->n_buckets,
			.bucket_size = sizeof(*buckets),
		};
		numbers_out(table, row, &rows[i]);
		weft_fields_out(row->keys, row->n_keys, &room, keys); /* no key is of registers */
		keys += row->n_keys;
		for (k = 0; k < row->n_buckets; k++)
			bucket_out(&row->buckets[k], buckets++);
	}
	return weft_called(fn(arg, &out));
}

static int on_table(void *self, const struct weft_table *table)
{
	struct weft_trace *t = self;
	int ret = 0;

	if (t->read)
		return call_table(t, table, t->read, t->read_arg);
	if (t->sink.self)
		ret = t->sink.table(t->sink.self, table);
	if (!ret && t->options.aggregation)
		ret = call_table(t, table, t->options.aggregation, t->options.arg);
	return ret;
}

/* ---- losses, and the end ---- */

static enum weft_trace_loss_kind kind_of(const struct weft_loss_report *l)
{
	if (l->asked)
		return WEFT_TRACE_SKIPPED;
	for (int i = WEFT_LOSS_FAULT_ADDRESS; i <= WEFT_LOSS_FAULT_VALUE; i++)
		if (weft_losses[i].tag == l->tag)
			return WEFT_TRACE_FAULT;
	return WEFT_TRACE_LOST;
}

static int on_loss(void *self, const struct weft_loss_report *l)
{
	struct weft_trace *t = self;
	const struct weft_trace_loss out = {
		.struct_size = sizeof(out),
		.kind = kind_of(l),
		.tag = l->tag,
		.meaning = l->meaning,
		.count = l->count,
		.where = l->where,
		.remedy = l->remedy,
	};
	int ret = 0;

	if (t->read_loss)
		return weft_called(t->read_loss(t->read_arg, &out));
	if (t->sink.self)
		ret = t->sink.loss(t->sink.self, l);
	if (!ret && t->options.loss)
		ret = weft_called(t->options.loss(t->options.arg, &out));
	return ret;
}

static int on_end(void *self, const struct weft_end *e)
{
	struct weft_trace *t = self;

	return t->sink.self && t->sink.end ? t->sink.end(t->sink.self, e) : 0;
}

static int on_flush(void *self)
{
	struct weft_trace *t = self;

	return t->sink.self && t->sink.flush ? t->sink.flush(t->sink.self) : 0;
}

struct weft_sink weft_trace_sink(struct weft_trace *t)
{
	return (struct weft_sink){
		.record = on_record,
		.table = on_table,
		.loss = on_loss,
		.end = on_end,
		.flush = on_flush,
		.self = t,
	};
}
