/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* NDJSON: the interface for programs, described in docs/output.md. It only ever gains fields. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/output/escape.h"
#include "core/output/render.h"
#include "core/output/sinks.h"

static void put_string(struct weft_buf *b, const char *s)
{
	weft_escape_json(b, s, strlen(s));
}

/* ,"name": */
static void put_name(struct weft_buf *b, const char *name)
{
	weft_buf_str(b, ",");
	put_string(b, name);
	weft_buf_str(b, ":");
}

/* The shortest text that reads back as the same number, recognisable as a float. */
static void put_double(struct weft_buf *b, double v)
{
	char text[40], *comma;

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	comma = strchr(text, ',');
	if (comma) /* a program that set its locale */
		*comma = '.';
	weft_buf_str(b, text);
	if (!strpbrk(text, ".e"))
		weft_buf_str(b, ".0");
}

static void put_frame(struct weft_buf *b, const struct weft_frame *f)
{
	weft_buf_printf(b, "{\"addr\":\"0x%" PRIx64 "\"", f->address);
	if (f->symbol) {
		put_name(b, "symbol");
		put_string(b, f->symbol);
	}
	if (f->symbol || f->module)
		weft_buf_printf(b, ",\"offset\":%" PRIu64, f->offset);
	if (f->module) {
		put_name(b, "module");
		put_string(b, f->module);
	}
	weft_buf_printf(b, ",\"space\":\"%s\"", f->user ? "user" : "kernel");
	if (f->line) {
		put_name(b, "file");
		put_string(b, f->file);
		weft_buf_printf(b, ",\"line\":%" PRIu32, f->line);
	}
	weft_buf_str(b, "}");
}

/* A constant of an enum is its name; a value that has none stays a number. */
static void put_int(struct weft_buf *b, const struct weft_value *v)
{
	const char *name = weft_btf_enum_name(v->type.names, v->i);

	if (name) {
		put_string(b, name);
		return;
	}
	if (v->type.is_pointer)
		weft_buf_str(b, "\"");
	weft_render_int(b, v);
	if (v->type.is_pointer)
		weft_buf_str(b, "\"");
}

static void put_regs(struct weft_buf *b, const struct weft_value *v)
{
	weft_buf_str(b, "{");
	for (size_t i = 0; i < v->regs.n; i++)
		weft_buf_printf(b, "%s\"%s\":\"0x%" PRIx64 "\"", i ? "," : "", v->regs.regs[i].name,
				v->regs.regs[i].value);
	weft_buf_str(b, "}");
}

static void put_value(struct weft_buf *b, const struct weft_value *v)
{
	switch (v->type.kind) {
	case WEFT_VALUE_INT:
		put_int(b, v);
		break;
	case WEFT_VALUE_STRING:
	case WEFT_VALUE_PROBE:
	case WEFT_VALUE_CGROUP:
		weft_escape_json(b, v->text.s, v->text.n);
		break;
	case WEFT_VALUE_BYTES:
		weft_buf_str(b, "\"");
		weft_escape_hex(b, v->text.s, v->text.n);
		weft_buf_str(b, "\"");
		break;
	case WEFT_VALUE_STACK:
		weft_buf_str(b, "[");
		for (size_t i = 0; i < v->stack.n; i++) {
			if (i)
				weft_buf_str(b, ",");
			put_frame(b, &v->stack.frames[i]);
		}
		weft_buf_str(b, "]");
		break;
	case WEFT_VALUE_SYMBOL:
		put_frame(b, v->symbol);
		break;
	case WEFT_VALUE_INET:
		weft_buf_str(b, "\"");
		weft_render_inet(b, v);
		weft_buf_str(b, "\"");
		break;
	case WEFT_VALUE_REGS:
		put_regs(b, v);
		break;
	case WEFT_VALUE_OBJECT: /* never a value */
		break;
	}
}

/* printf's arguments are named by their text and may come twice; an object has a name once. */
static bool came_before(const struct weft_named_value *values, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(values[k].name, values[i].name) == 0)
			return true;
	return false;
}

static void put_object(struct weft_buf *b, const struct weft_named_value *values, size_t n)
{
	weft_buf_str(b, "{");
	for (size_t i = 0; i < n; i++) {
		if (came_before(values, i))
			continue;
		if (i)
			weft_buf_str(b, ",");
		put_string(b, values[i].name);
		weft_buf_str(b, ":");
		put_value(b, &values[i].value);
	}
	weft_buf_str(b, "}");
}

static int finish_line(struct weft_output *o)
{
	weft_buf_str(&o->buf, "}\n");
	return weft_buf_write(&o->buf, o->options.out);
}

static int json_record(void *self, const struct weft_record *r)
{
	struct weft_output *o = self;
	struct weft_buf *b = &o->buf, text = {0};

	weft_buf_printf(b, "{\"type\":\"record\",\"time_ns\":%" PRIu64 ",\"cpu\":%u,\"probe\":",
			r->time_ns, r->cpu);
	put_string(b, r->probe);
	weft_buf_str(b, ",\"fields\":");
	put_object(b, r->fields, r->n_fields);
	if (r->format) {
		weft_render_printf(&text, r, false);
		put_name(b, "text");
		weft_escape_json(b, text.n ? text.data : "", text.n);
		if (text.status)
			b->status = text.status;
		weft_buf_finish(&text);
	}
	return finish_line(o);
}

static void put_histogram(struct weft_buf *b, const struct weft_row *row)
{
	weft_buf_printf(b, "{\"count\":%" PRIu64 ",\"buckets\":[", row->count);
	for (size_t i = 0; i < row->n_buckets; i++) {
		const struct weft_bucket *k = &row->buckets[i];

		if (i)
			weft_buf_str(b, ",");
		if (k->is_unsigned)
			weft_buf_printf(b, "{\"from\":%" PRIu64 ",\"to\":%" PRIu64,
					(uint64_t)k->from, (uint64_t)k->to);
		else
			weft_buf_printf(b, "{\"from\":%" PRId64 ",\"to\":%" PRId64, k->from, k->to);
		weft_buf_printf(b, ",\"count\":%" PRIu64 "}", k->count);
	}
	weft_buf_str(b, "]}");
}

/* avg and stddev: what they are, and what they are of. */
static void put_moments(struct weft_buf *b, const struct weft_table *t, const struct weft_row *row)
{
	weft_buf_str(b, "{");
	if (t->kind == WEFT_ACTION_STDDEV) {
		weft_buf_str(b, "\"stddev\":");
		put_double(b, (double)weft_scaled(&t->scale, (long double)row->stddev));
		weft_buf_str(b, ",");
	}
	weft_buf_str(b, "\"avg\":");
	put_double(b, (double)weft_scaled(&t->scale, weft_average(row)));
	weft_buf_printf(b, ",\"count\":%" PRIu64 ",\"sum\":", row->count);
	weft_render_wide(b, weft_row_sum(row));
	weft_buf_str(b, "}");
}

static void put_number(struct weft_buf *b, const struct weft_table *t, weft_wide v)
{
	if (weft_is_scaled(&t->scale))
		put_double(b, (double)weft_scaled(&t->scale, (long double)v));
	else
		weft_render_wide(b, v);
}

static void put_row_value(struct weft_buf *b, const struct weft_table *t, const struct weft_row *row)
{
	switch (t->kind) {
	case WEFT_ACTION_AVG:
	case WEFT_ACTION_STDDEV:
		put_moments(b, t, row);
		break;
	case WEFT_ACTION_SUM:
		put_number(b, t, weft_row_sum(row));
		break;
	case WEFT_ACTION_MIN:
	case WEFT_ACTION_MAX:
		put_number(b, t,
			   row->value.type.is_signed ? (weft_wide)row->value.i
						     : (weft_wide)row->value.u);
		break;
	case WEFT_ACTION_QUANTIZE:
	case WEFT_ACTION_LQUANTIZE:
	case WEFT_ACTION_LLQUANTIZE:
		put_histogram(b, row);
		break;
	default:
		put_number(b, t, (weft_wide)row->count);
		break;
	}
}

static int json_table(void *self, const struct weft_table *t)
{
	struct weft_output *o = self;
	struct weft_buf *b = &o->buf;
	int r;

	weft_buf_str(b, "{\"type\":\"aggregation\"");
	put_name(b, "name");
	put_string(b, t->name);
	put_name(b, "kind");
	put_string(b, weft_kind_name(t->kind));
	if (t->unit) {
		put_name(b, "unit");
		put_string(b, t->unit);
	}
	if (t->scale.divide)
		weft_buf_printf(b, ",\"divide\":%" PRIu64, t->scale.divide);
	if (t->scale.per_ns)
		weft_buf_printf(b, ",\"per_ns\":%" PRIu64 ",\"elapsed_ns\":%" PRIu64,
				t->scale.per_ns, t->scale.elapsed_ns);
	if (t->n_left_out)
		weft_buf_printf(b, ",\"left_out\":%zu", t->n_left_out);
	weft_buf_str(b, ",\"rows\":[");
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct weft_row *row = &t->rows[i];

		weft_buf_str(b, i ? ",{\"by\":" : "{\"by\":");
		put_object(b, row->keys, row->n_keys);
		weft_buf_str(b, ",\"value\":");
		put_row_value(b, t, row);
		if (row->wraps)
			weft_buf_str(b, ",\"wide\":true");
		weft_buf_str(b, "}");
		r = weft_buf_spill(b, o->options.out);
		if (r)
			return r;
	}
	weft_buf_str(b, "]");
	return finish_line(o);
}

static int json_loss(void *self, const struct weft_loss_report *l)
{
	struct weft_output *o = self;
	struct weft_buf *b = &o->buf;

	weft_buf_printf(b, "{\"type\":\"%s\"", l->asked ? "skipped" : "loss");
	put_name(b, "tag");
	put_string(b, l->tag);
	weft_buf_printf(b, ",\"count\":%" PRIu64, l->count);
	put_name(b, "meaning");
	put_string(b, l->meaning);
	if (l->where) {
		put_name(b, "where");
		put_string(b, l->where);
	}
	if (l->remedy) {
		put_name(b, "remedy");
		put_string(b, l->remedy);
	}
	return finish_line(o);
}

static int json_end(void *self, const struct weft_end *e)
{
	struct weft_output *o = self;

	weft_buf_str(&o->buf, "{\"type\":\"end\"");
	put_name(&o->buf, "reason");
	put_string(&o->buf, e->reason);
	weft_buf_printf(&o->buf, ",\"status\":%d", e->status);
	return finish_line(o);
}

const struct weft_sink weft_json_sink = {
	.record = json_record,
	.table = json_table,
	.loss = json_loss,
	.end = json_end,
	.flush = weft_output_flush,
	.destroy = weft_output_destroy,
};
