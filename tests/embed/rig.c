/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rig.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>

#define AT(type, array, size, i) ((const struct weft_trace_##type *)weft_trace_at(array, size, i))

void rig_put_value(FILE *to, const struct weft_trace_value *v)
{
	char text[INET6_ADDRSTRLEN];

	switch ((enum weft_trace_kind)v->kind) {
	case WEFT_TRACE_INT:
		fprintf(to, "i%u:%" PRId64, v->size * 8, v->i);
		break;
	case WEFT_TRACE_UINT:
		fprintf(to, "u%u:%" PRIu64, v->size * 8, v->u);
		break;
	case WEFT_TRACE_POINTER:
		fprintf(to, "p:%#" PRIx64, v->u);
		break;
	case WEFT_TRACE_ENUM:
		fprintf(to, "e:%" PRId64 ":%.*s", v->i, (int)v->length, v->text ? v->text : "");
		break;
	case WEFT_TRACE_STRING:
		fprintf(to, "'%.*s'", (int)v->length, v->text);
		break;
	case WEFT_TRACE_BYTES:
		fputs("b:", to);
		for (size_t i = 0; i < v->length; i++)
			fprintf(to, "%02x", (unsigned char)v->text[i]);
		break;
	case WEFT_TRACE_INET:
		fputs(inet_ntop(v->length == 4 ? AF_INET : AF_INET6, v->text, text, sizeof(text)),
		      to);
		break;
	case WEFT_TRACE_STACK:
	case WEFT_TRACE_SYMBOL:
		fprintf(to, "%s%u", v->kind == WEFT_TRACE_STACK ? "stack" : "symbol", v->n);
		for (uint32_t i = 0; i < v->n; i++) {
			const struct weft_trace_frame *f = AT(frame, v->frames, v->frame_size, i);

			cr_expect_eq(f->struct_size, sizeof(*f));
			fprintf(to, "%c%s", f->is_user ? '<' : '/', f->symbol ? f->symbol : "?");
		}
		break;
	case WEFT_TRACE_REGISTERS:
		fprintf(to, "regs%u", v->n);
		for (uint32_t i = 0; i < v->n; i++)
			fprintf(to, ",%s", AT(register, v->registers, v->register_size, i)->name);
		break;
	default:
		cr_assert_fail("kind %u", v->kind);
	}
}

static void put_fields(FILE *to, const struct weft_trace_field *fields, size_t size, uint32_t n,
		       const char *before)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct weft_trace_field *f = AT(field, fields, size, i);

		cr_expect_eq(f->struct_size, sizeof(*f));
		cr_expect_eq(f->value.struct_size, sizeof(f->value));
		fprintf(to, "%s%s=", i || *before == ' ' ? " " : "", f->name);
		rig_put_value(to, &f->value);
	}
}

static int on_record(void *arg, const struct weft_trace_record *record)
{
	struct rig *r = arg;

	cr_expect_eq(record->struct_size, sizeof(*record));
	cr_expect_geq(record->time_ns, r->last_ns, "in the order of their times");
	r->first_ns = r->first_ns ? r->first_ns : record->time_ns;
	r->last_ns = record->time_ns;
	r->n_records++;
	fprintf(r->to, "record %s", record->probe);
	put_fields(r->to, record->fields, record->field_size, record->n_fields, " ");
	if (record->text) {
		cr_expect_eq(strlen(record->text), record->length);
		fprintf(r->to, " \"%s\"", record->text);
	}
	fputc('\n', r->to);
	return r->on_record ? r->on_record(r, record) : r->fail;
}

static void put_buckets(FILE *to, const struct weft_trace_row *row)
{
	for (uint32_t i = 0; i < row->n_buckets; i++) {
		const struct weft_trace_bucket *b = AT(bucket, row->buckets, row->bucket_size, i);

		cr_expect_eq(b->struct_size, sizeof(*b));
		fprintf(to, " [%s%" PRId64 ",%" PRId64 "%s=%" PRIu64,
			b->flags & WEFT_TRACE_BUCKET_NO_LOWER ? "<" : "", b->from, b->to,
			b->flags & WEFT_TRACE_BUCKET_NO_UPPER ? "]" : ")", b->count);
		cr_expect_eq(!!(b->flags & WEFT_TRACE_BUCKET_UNSIGNED), !row->is_signed);
	}
}

void rig_put_aggregation(FILE *to, const struct weft_trace_aggregation *a)
{
	cr_expect_eq(a->struct_size, sizeof(*a));
	for (size_t i = 0; i < a->n_rows; i++) {
		const struct weft_trace_row *row = AT(row, a->rows, a->row_size, i);

		cr_expect_eq(row->struct_size, sizeof(*row));
		fprintf(to, "%s %s", a->kind, a->name);
		if (a->unit)
			fprintf(to, " unit=%s", a->unit);
		if (a->n_left_out)
			fprintf(to, " left_out=%zu", a->n_left_out);
		fputs(": {", to);
		put_fields(to, row->keys, row->key_size, row->n_keys, "");
		fprintf(to, "} %g", row->value);
		if (!strcmp(a->kind, "avg") || !strcmp(a->kind, "stddev"))
			fprintf(to, " avg=%g count=%" PRIu64, row->average, row->count);
		if (strcmp(a->kind, "count") && !row->n_buckets)
			fprintf(to, " %" PRId64 ":%" PRIu64, row->high, row->low);
		if (row->n_buckets || !strcmp(a->kind, "count"))
			fprintf(to, " n=%" PRIu64, row->count);
		put_buckets(to, row);
		fputc('\n', to);
	}
}

static int on_aggregation(void *arg, const struct weft_trace_aggregation *a)
{
	struct rig *r = arg;

	rig_put_aggregation(r->to, a);
	return r->fail;
}

static int on_loss(void *arg, const struct weft_trace_loss *l)
{
	static const char *const kinds[] = {"?", "lost", "fault", "skipped"};
	struct rig *r = arg;

	cr_expect_eq(l->struct_size, sizeof(*l));
	cr_expect(l->meaning && *l->meaning);
	fprintf(r->to, "%s %" PRIu64 " %s %s\n", kinds[l->kind], l->count, l->tag,
		l->where ? l->where : "");
	return r->fail;
}

static void on_log(void *arg, int level, const char *source, const char *text)
{
	struct rig *r = arg;

	cr_expect(level >= WEFT_TRACE_DEBUG && level <= WEFT_TRACE_WARNING);
	fprintf(r->to_log, "%d %s: %s\n", level, source, text);
}

void rig_open(struct rig *r, uint32_t flags)
{
	memset(r, 0, sizeof(*r));
	r->to = open_memstream(&r->out, &r->out_size);
	r->to_log = open_memstream(&r->log, &r->log_size);
	r->options = (struct weft_trace_options){
		.struct_size = sizeof(r->options),
		.flags = flags,
		.arg = r,
		.record = on_record,
		.aggregation = on_aggregation,
		.loss = on_loss,
		.log = on_log,
	};
	cr_assert_eq(weft_trace_open(&r->options, &r->t), 0);
	cr_assert_eq(weft_trace_plugins(r->t, FIXTURE_PROVIDER_DIR), 0, "%s",
		     weft_trace_error(r->t));
}

void rig_close(struct rig *r)
{
	cr_expect_eq(weft_trace_close(r->t), 0);
	fclose(r->to);
	fclose(r->to_log);
	free(r->out);
	free(r->log);
}

void rig_set(struct rig *r, const char *format, ...)
{
	va_list ap;
	char *yaml;
	int n, ret;

	va_start(ap, format);
	n = vasprintf(&yaml, format, ap);
	va_end(ap);
	cr_assert_geq(n, 0);
	ret = weft_trace_set(r->t, "set.yaml", yaml, (size_t)n);
	memset(yaml, '?', (size_t)n); /* it is not needed any more */
	free(yaml);
	cr_assert_eq(ret, 0, "%s", weft_trace_error(r->t));
}

void rig_run(struct rig *r, struct worker *w)
{
	struct weft_trace_run_options run = {.struct_size = sizeof(run)};
	int ret;

	if (w) {
		run.flags = WEFT_TRACE_STOP_FD;
		run.stop_fd = w->pidfd;
	}
	ret = weft_trace_start(r->t, &run);
	cr_assert_eq(ret, 0, "start: %s %s", weft_trace_error(r->t),
		     weft_trace_verifier_log(r->t) ? weft_trace_verifier_log(r->t) : "");
	if (w)
		worker_go(w);
	ret = weft_trace_run(r->t);
	cr_assert_eq(ret, 0, "run: %s", weft_trace_error(r->t));
	ret = weft_trace_stop(r->t);
	cr_assert_eq(ret, 0, "stop: %s", weft_trace_error(r->t));
	if (w)
		worker_join(w);
}

const char *rig_out(struct rig *r)
{
	fflush(r->to);
	fflush(r->to_log);
	return r->out;
}

void rig_expect_line(struct rig *r, const char *format, ...)
{
	const char *out = rig_out(r), *at;
	char *line = NULL;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&line, format, ap);
	va_end(ap);
	cr_assert_geq(n, 0);
	for (at = out; (at = strstr(at, line)); at++)
		if ((at == out || at[-1] == '\n') && at[n] == '\n')
			break;
	cr_expect(at, "there is no line\n%s\nbut\n%s", line, out);
	free(line);
}

void rig_expect(struct rig *r, int ret, int code, const char *tag)
{
	const struct weft_trace_report *report = weft_trace_report(r->t, 0);

	cr_expect_eq(ret, code, "%s: %d", tag, ret);
	cr_assert(report, "%s: no report", tag);
	cr_expect_str_eq(report->tag, tag, "%s, not %s: %s", report->tag, tag, report->text);
	cr_expect(report->struct_size == sizeof(*report) && *report->text);
}

int rig_write(void *to, const char *bytes, size_t n)
{
	return fwrite(bytes, 1, n, to) == n ? 0 : -EIO;
}
