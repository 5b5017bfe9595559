/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What is seen of a run, in the form that the model has, too. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/btf/enums.h"
#include "core/compiler/cell.h"
#include "core/output/render.h"
#include "tests/random/engine.h"

/* ---- what the consumer says ---- */

static void say_value(FILE *f, const struct weft_value *v)
{
	const char *name = v->type.kind == WEFT_VALUE_INT && v->type.names
				   ? weft_btf_enum_name(v->type.names, v->i)
				   : NULL;

	if (name)
		fputs(name, f);
	else if (v->type.kind == WEFT_VALUE_INT)
		rnd_say_int(f, v->i, v->type.size, v->type.is_signed);
	else
		rnd_say_text(f, v->type.kind == WEFT_VALUE_BYTES ? "'" : "\"", v->text.s, v->text.n);
}

int engine_see_record(void *self, const struct weft_record *r)
{
	struct engine *e = self;

	bool has_bytes = false;
	struct weft_buf line = {0};

	fputs(r->format ? "printf" : "emit", e->out);
	for (size_t i = 0; i < r->n_fields; i++) {
		has_bytes |= r->fields[i].value.type.kind == WEFT_VALUE_BYTES;
		fprintf(e->out, " %s=", r->format ? "" : r->fields[i].name);
		say_value(e->out, &r->fields[i].value);
	}
	if (r->format && !has_bytes) {
		weft_render_printf(&line, r, false);
		rnd_say_text(e->out, " \"", line.data, line.n);
		weft_buf_finish(&line);
	}
	fputc('\n', e->out);
	return 0;
}

static void see_row(FILE *f, const struct weft_table *t, const struct weft_row *r)
{
	enum weft_action_kind k = t->kind;

	fputs(" ", f);
	for (size_t i = 0; i < r->n_keys; i++) {
		fprintf(f, " %s=", r->keys[i].name);
		say_value(f, &r->keys[i].value);
	}
	fputs(" :", f);
	if (k != WEFT_ACTION_SUM && k != WEFT_ACTION_MIN && k != WEFT_ACTION_MAX)
		fprintf(f, " n=%" PRIu64, r->count);
	if (k == WEFT_ACTION_SUM || k == WEFT_ACTION_AVG || k == WEFT_ACTION_STDDEV)
		fprintf(f, " sum=%" PRIx64 ".%016" PRIx64,
			(uint64_t)((weft_uwide)weft_row_sum(r) >> 64), (uint64_t)weft_row_sum(r));
	if (k == WEFT_ACTION_STDDEV)
		fprintf(f, " +-%.17g", r->stddev);
	if (k == WEFT_ACTION_MIN || k == WEFT_ACTION_MAX) {
		fputs(" ", f);
		say_value(f, &r->value);
	}
	for (size_t i = 0; i < r->n_buckets; i++) {
		const struct weft_bucket *b = &r->buckets[i];

		fputs(" [", f);
		rnd_say_int(f, b->from, 8, !b->is_unsigned);
		fputs(" ", f);
		rnd_say_int(f, b->to_is_max ? b->to : (int64_t)((uint64_t)b->to - 1), 8,
			    !b->is_unsigned);
		fprintf(f, "]=%" PRIu64, b->count);
	}
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_line(struct engine *e, char *line)
{
	weft_grow(&e->lines, &e->cap_lines, e->n_lines, sizeof(*e->lines));
	e->lines[e->n_lines++] = line;
}

static void say_lines(struct engine *e, bool sorted)
{
	if (sorted && e->n_lines)
		qsort(e->lines, e->n_lines, sizeof(char *), compare_lines);
	for (size_t i = 0; i < e->n_lines; i++) {
		fprintf(e->out, "%s\n", e->lines[i]);
		free(e->lines[i]);
	}
	e->n_lines = 0;
}

int engine_see_table(void *self, const struct weft_table *t)
{
	struct engine *e = self;

	fprintf(e->out, "table %s", t->name);
	if (t->n_left_out)
		fprintf(e->out, " and %zu more", t->n_left_out);
	fputc('\n', e->out);
	for (size_t i = 0; i < t->n_rows; i++) {
		/* Where the order hangs on roundings, it is looked at here and not by the model. */
		if (t->kind == WEFT_ACTION_STDDEV && i && t->rows[i].stddev > t->rows[i - 1].stddev)
			fputs("in no order\n", e->out);
		char *line;
		size_t size;
		FILE *f = open_memstream(&line, &size);

		see_row(f, t, &t->rows[i]);
		fclose(f);
		add_line(e, line);
	}
	say_lines(e, t->kind == WEFT_ACTION_STDDEV);
	return 0;
}

/* The place is "LINE:COLUMN: ..." behind the file's name. */
int engine_see_loss(void *self, const struct weft_loss_report *l)
{
	struct engine *e = self;
	struct loss seen = {.tag = l->tag, .count = l->count};
	size_t i;

	if (l->where)
		sscanf(l->where, "case.yaml:%u:%u", &seen.line, &seen.column);
	/* Of what an entry keeps, which the model does not know: it depends on what is folded. */
	if (!seen.line && !strcmp(l->tag, "STRING_TRUNCATED"))
		return 0;
	/* In a scalar whose columns cannot be told, expressions have one place. */
	for (i = 0; i < e->n_losses; i++)
		if (e->losses[i].tag == seen.tag && e->losses[i].line == seen.line &&
		    e->losses[i].column == seen.column)
			break;
	if (i < e->n_losses) {
		e->losses[i].count += seen.count;
		return 0;
	}
	weft_grow(&e->losses, &e->cap_losses, e->n_losses, sizeof(seen));
	e->losses[e->n_losses++] = seen;
	return 0;
}

const char *engine_probe_text(void *arg, uint64_t cookie, int field)
{
	const struct engine *e = arg;

	for (uint32_t i = 0; i < RND_PROBES && field >= 0; i++)
		if (rnd_cookie(e->set, i) == cookie)
			return rnd_probes[i][field];
	return "none";
}

/* ---- what variables hold ---- */

struct left {
	struct engine *e;
	const struct weft_variable *v;
};

static int say_left(const void *key, const void *value, void *arg)
{
	const struct left *l = arg;
	const struct weft_state_var *var = l->v->var;
	const struct weft_cell *cell = (const void *)((const uint8_t *)value + l->v->offset);
	const uint8_t *k = key;
	char *line;
	size_t size;
	FILE *f;
	int64_t bits;

	if (!cell->set && !var->counts)
		return 0;
	f = open_memstream(&line, &size);
	fprintf(f, "left %s", var->name);
	for (uint32_t i = 0; i < var->n_keys; i++) {
		const struct weft_field_layout *at = &l->v->keys[i];

		fputc(' ', f);
		memcpy(&bits, k + at->offset, sizeof(bits));
		if (at->type.kind == WEFT_VALUE_STRING)
			rnd_say_text(f, "\"", k + at->offset,
				     strnlen((const char *)k + at->offset, at->size));
		else
			rnd_say_int(f, bits, 8, true);
	}
	fputs(" = ", f);
	if (var->type.kind == WEFT_VALUE_STRING)
		rnd_say_text(f, "\"", cell->text, strnlen(cell->text, var->type.cap));
	else
		rnd_say_int(f, (int64_t)cell->word, 8, var->type.is_signed);
	fclose(f);
	/* A counter that is 0 looks like one that was never touched, where it has no element. */
	if (var->counts && !cell->word && !var->n_keys) {
		free(line);
		return 0;
	}
	add_line(l->e, line);
	return 0;
}

int engine_say_variables(struct engine *e)
{
	int ret = 0;

	for (size_t i = 0; i < e->plan->n_variables && !ret; i++) {
		struct left l = {.e = e, .v = &e->plan->variables[i]};

		if (l.v->map == WEFT_PLAN_STATE)
			say_left(NULL, e->maps.state, &l);
		else if (e->plan->maps[l.v->map].used)
			ret = weft_map_walk(e->maps.fds[l.v->map], &e->plan->maps[l.v->map],
					    e->plan->n_cpus, say_left, &l, e->err);
	}
	say_lines(e, true);
	return ret;
}
