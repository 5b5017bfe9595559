/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "tests/consumer/support.h"

#include <inttypes.h>

/* ---- symbols ---- */

static const char *name(char kind, uint64_t n)
{
	static char names[2][256][8];
	char *s = names[kind == 'u'][n % 256];

	snprintf(s, 8, "%c%u", kind, (unsigned int)(n % 256));
	return s;
}

void weft_symbols_kernel(struct weft_symbols *s, uint64_t address, bool caller,
			 struct weft_frame *out)
{
	(void)s;
	(void)caller;
	*out = (struct weft_frame){.address = address,
				   .symbol = name('k', address / 256),
				   .offset = address % 256,
				   .module = "vmlinux"};
}

void weft_symbols_user(struct weft_symbols *s, int32_t tgid, uint64_t time_ns, uint64_t address,
		       bool caller, struct weft_frame *out)
{
	uint64_t r = address - 0x10000 * (uint64_t)tgid;

	(void)s;
	(void)time_ns;
	(void)caller;
	*out = (struct weft_frame){.address = address, .user = true};
	if (r >= 0x8000)
		return;
	out->module = "/bin/app";
	out->symbol = r < 0x7000 ? name('u', r / 256) : NULL;
	out->offset = out->symbol ? r % 256 : r;
}

/* ---- the sink ---- */

static void put_frame(FILE *f, const struct weft_frame *k)
{
	if (k->symbol)
		fprintf(f, "%s+%" PRIu64, k->symbol, k->offset);
	else if (k->module)
		fprintf(f, "%s+%" PRIu64, k->module, k->offset);
	else
		fprintf(f, "0x%" PRIx64, k->address);
}

static void put_value(FILE *f, const struct weft_value *v)
{
	size_t i;

	switch (v->type.kind) {
	case WEFT_VALUE_INT:
		if (v->type.is_signed)
			fprintf(f, "%" PRId64, v->i);
		else
			fprintf(f, "%" PRIu64, v->u);
		break;
	case WEFT_VALUE_STACK:
		fputc('[', f);
		for (i = 0; i < v->stack.n; i++) {
			if (i)
				fputc(' ', f);
			put_frame(f, &v->stack.frames[i]);
		}
		fputc(']', f);
		break;
	case WEFT_VALUE_SYMBOL:
		put_frame(f, v->symbol);
		break;
	case WEFT_VALUE_INET:
		for (i = 0; i < v->text.n; i++)
			fprintf(f, "%s%u", i ? "." : "", (uint8_t)v->text.s[i]);
		break;
	case WEFT_VALUE_REGS:
		for (i = 0; i < v->regs.n; i++)
			fprintf(f, "%s%s:%" PRIx64, i ? "," : "", v->regs.regs[i].name,
				v->regs.regs[i].value);
		break;
	default:
		fprintf(f, "\"%.*s\"", (int)v->text.n, v->text.s);
		break;
	}
}

static int see_record(void *self, const struct weft_record *r)
{
	struct seen_sink *s = self;
	size_t i;

	s->n_records++;
	s->disorder += r->time_ns < s->last_time;
	s->last_time = r->time_ns;
	fprintf(s->file, "record %s cpu%u", r->probe, r->cpu);
	if (r->format)
		fprintf(s->file, " format%zu", r->format->n_conversions);
	for (i = 0; i < r->n_fields; i++) {
		fprintf(s->file, " %s=", r->fields[i].name);
		put_value(s->file, &r->fields[i].value);
	}
	fputc('\n', s->file);
	return s->fail;
}

static int see_table(void *self, const struct weft_table *t)
{
	struct seen_sink *s = self;
	size_t i, k;

	s->n_tables++;
	fprintf(s->file, "table %s", t->name);
	if (t->n_left_out)
		fprintf(s->file, " and %zu more", t->n_left_out);
	if (t->scale.divide)
		fprintf(s->file, " / %" PRIu64, t->scale.divide);
	if (t->scale.per_ns)
		fprintf(s->file, " per %" PRIu64, t->scale.per_ns);
	s->elapsed_ns = t->scale.elapsed_ns;
	fputc('\n', s->file);
	for (i = 0; i < t->n_rows; i++) {
		const struct weft_row *r = &t->rows[i];

		fputc(' ', s->file);
		for (k = 0; k < r->n_keys; k++) {
			fprintf(s->file, " %s=", r->keys[k].name);
			put_value(s->file, &r->keys[k].value);
		}
		switch (t->kind) {
		case WEFT_ACTION_SUM:
		case WEFT_ACTION_MIN:
		case WEFT_ACTION_MAX:
			fputs(" : ", s->file);
			put_value(s->file, &r->value);
			break;
		case WEFT_ACTION_AVG:
		case WEFT_ACTION_STDDEV:
			fputs(" : ", s->file);
			put_value(s->file, &r->value);
			fprintf(s->file, "/%" PRIu64, r->count);
			if (t->kind == WEFT_ACTION_STDDEV)
				fprintf(s->file, " +-%.17g", r->stddev);
			break;
		default:
			fprintf(s->file, " : %" PRIu64, r->count);
			break;
		}
		if (r->wraps)
			fprintf(s->file, " %+" PRId64 "*2^64", r->wraps);
		for (k = 0; k < r->n_buckets; k++) {
			const struct weft_bucket *b = &r->buckets[k];

			if (b->is_unsigned)
				fprintf(s->file, " [%" PRIu64 ",%" PRIu64 "%c=%" PRIu64,
					(uint64_t)b->from, (uint64_t)b->to,
					b->to_is_max ? ']' : ')', b->count);
			else
				fprintf(s->file, " [%" PRId64 ",%" PRId64 "%c=%" PRIu64, b->from,
					b->to, b->to_is_max ? ']' : ')', b->count);
		}
		fputc('\n', s->file);
	}
	return s->fail;
}

static int see_loss(void *self, const struct weft_loss_report *l)
{
	struct seen_sink *s = self;

	fprintf(s->file, "%s %s %" PRIu64 " %s\n", l->asked ? "skipped" : "loss", l->tag, l->count,
		l->where ? l->where : "-");
	return s->fail;
}

void seen_init(struct seen_sink *s, struct weft_sink *out)
{
	memset(s, 0, sizeof(*s));
	s->file = open_memstream(&s->text, &s->size);
	*out = (struct weft_sink){
		.record = see_record, .table = see_table, .loss = see_loss, .self = s};
}

void seen_finish(struct seen_sink *s)
{
	fclose(s->file);
	free(s->text);
}

const char *seen_text(struct seen_sink *s)
{
	static char *copy;

	fclose(s->file);
	free(copy);
	copy = s->text;
	s->file = open_memstream(&s->text, &s->size);
	return copy;
}

/* ---- the consumer ---- */

static const char *probe_text(void *arg, uint64_t cookie, int field)
{
	(void)arg;
	if (cookie >= 10)
		return NULL;
	if (field < 0)
		return "p:m:f:n";
	/* Functions 2k and 2k + 1 have one name. */
	return field == WEFT_FIELD_FUNCTION ? name('k', cookie / 2) : "n";
}

void fixture_init(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	test_plan_init(&f->t);
	f->t.specs[WEFT_PLAN_STATE].used = true;
	f->t.plan.state_size = 4096;
	f->t.plan.aggregations = f->aggs;
	f->t.plan.schemas = f->schemas;
	f->t.plan.controls = f->controls;
	seen_init(&f->seen, &f->sink);
}

void fixture_start(struct fixture *f)
{
	struct weft_consumer_env env = {
		.plan = &f->t.plan, .maps = &f->t.maps, .sink = &f->sink, .probe_text = probe_text};

	test_plan_create(&f->t);
	cr_assert_eq(weft_consumer_create(&env, &f->c, f->t.err), 0, "%s",
		     weft_error_text(f->t.err));
}

void fixture_finish(struct fixture *f)
{
	weft_consumer_destroy(f->c);
	seen_finish(&f->seen);
	test_plan_finish(&f->t);
}

void fixture_poll(struct fixture *f, bool attached, bool *exiting)
{
	bool ignored;

	cr_assert_eq(weft_consumer_poll(f->c, attached, exiting ? exiting : &ignored, f->t.err), 0,
		     "%s", weft_error_text(f->t.err));
}

const char *fixture_show(struct fixture *f, bool attached)
{
	cr_assert_eq(weft_consumer_show(f->c, NULL, 0, attached, f->t.err), 0, "%s",
		     weft_error_text(f->t.err));
	return seen_text(&f->seen);
}
