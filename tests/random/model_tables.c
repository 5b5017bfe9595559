/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Aggregations, by docs/language.md: a row keeps the values that were added to it, and what they
 * come to is worked out when the table is written down.
 */
#include "tests/random/model.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- buckets ---- */

struct bucket {
	weft_wide from, to; /* to is not in it */
};

static weft_wide number(int64_t bits, bool is_unsigned)
{
	return is_unsigned ? (weft_wide)(uint64_t)bits : (weft_wide)bits;
}

static struct bucket by_powers(weft_wide v, weft_wide least)
{
	weft_wide at = 1, from;

	if (!v)
		return (struct bucket){0, 1};
	if (v < 0) {
		while (-v >= 2 * at)
			at *= 2;
		from = 1 - 2 * at < least ? least : 1 - 2 * at;
		return (struct bucket){from, 1 - at};
	}
	while (v >= 2 * at)
		at *= 2;
	return (struct bucket){at, 2 * at};
}

static struct bucket by_steps(weft_wide v, weft_wide from, weft_wide to, weft_wide step,
			      weft_wide least, weft_wide end)
{
	struct bucket b;

	if (v < from)
		return (struct bucket){least, from};
	if (v >= to)
		return (struct bucket){to, end};
	b.from = from + (v - from) / step * step;
	b.to = b.from + step < to ? b.from + step : to;
	return b;
}

static weft_wide power(uint64_t of, uint64_t n)
{
	weft_wide p = 1;

	while (n--)
		p *= (weft_wide)of;
	return p;
}

static struct bucket by_magnitudes(const struct rnd_table *t, weft_wide v, weft_wide least,
				   weft_wide end)
{
	weft_wide from, to, width;

	if (v < power(t->factor, t->low))
		return (struct bucket){least, power(t->factor, t->low)};
	for (uint64_t mag = t->low; mag <= t->high; mag++) {
		from = power(t->factor, mag);
		to = power(t->factor, mag + 1);
		if (v >= to)
			continue;
		width = to / (weft_wide)t->steps;
		if (width < 1)
			width = 1;
		return by_steps(v, from, to, width, least, end);
	}
	return (struct bucket){power(t->factor, t->high + 1), end};
}

static struct bucket bucket_of(const struct rnd_table *t, int64_t value)
{
	weft_wide v = number(value, t->is_unsigned);
	weft_wide least = t->is_unsigned ? 0 : INT64_MIN;
	weft_wide end = (t->is_unsigned ? (weft_wide)UINT64_MAX : (weft_wide)INT64_MAX) + 1;

	if (t->kind == T_QUANTIZE)
		return by_powers(v, least);
	if (t->kind == T_LQUANTIZE)
		return by_steps(v, number(t->from, t->is_unsigned), number(t->to, t->is_unsigned),
				(weft_wide)t->step, least, end);
	return by_magnitudes(t, v, least, end);
}

static bool is_histogram(const struct rnd_table *t)
{
	return t->kind >= T_QUANTIZE;
}

/* ---- adding ---- */

static struct row *find(struct model *m, uint32_t table, const struct value *keys)
{
	const struct rnd_table *t = &m->set->tables[table];
	struct row *r = m->rows[table];
	uint32_t k;

	for (; r; r = r->next) {
		for (k = 0; k < t->n_keys; k++)
			if (!model_same(&r->keys[k], &keys[k], t->keys[k].kind != RND_INT))
				break;
		if (k == t->n_keys)
			break;
	}
	return r;
}

static bool has_bucket(const struct row *r, weft_wide from)
{
	for (size_t i = 0; r && i < r->n_buckets; i++)
		if (r->buckets[i] == from)
			return true;
	return false;
}

void model_add(struct model *m, const struct rnd_action *a, const struct value *keys, int64_t value)
{
	const struct rnd_table *t = &m->set->tables[a->table];
	struct row *r = find(m, a->table, keys);
	/* Room is for so many rows, of histograms for so many buckets. */
	bool is_new = is_histogram(t) ? !has_bucket(r, bucket_of(t, value).from) : !r;

	if (is_new && (t->n_keys || is_histogram(t))) {
		if (m->n_rows[a->table] == m->set->rows) {
			model_lose(m, "AGGREGATION_FULL", a->line, a->column);
			return;
		}
		m->n_rows[a->table]++;
	}
	if (!r) {
		r = weft_arena_alloc(m->arena, sizeof(*r));
		memcpy(r->keys, keys, sizeof(r->keys));
		r->next = m->rows[a->table];
		m->rows[a->table] = r;
	}
	if (is_histogram(t) && is_new && r->n_buckets < N(r->buckets))
		r->buckets[r->n_buckets++] = bucket_of(t, value).from;
	weft_grow(&r->values, &r->cap_values, r->n_values, sizeof(*r->values));
	r->values[r->n_values++] = value;
}

/* ---- writing down ---- */

/* All values less the first, which is exact: then a mean and a mean square in long double. */
static double stddev(const struct rnd_table *t, const int64_t *values, size_t n)
{
	long double sum = 0, squares = 0, mean, d;
	weft_wide first = number(values[0], t->is_unsigned);

	for (size_t i = 0; i < n; i++)
		sum += (long double)(number(values[i], t->is_unsigned) - first);
	mean = sum / (long double)n;
	for (size_t i = 0; i < n; i++) {
		d = (long double)(number(values[i], t->is_unsigned) - first) - mean;
		squares += d * d;
	}
	return (double)sqrtl(squares / (long double)n);
}

static int64_t extreme(const struct rnd_table *t, const int64_t *values, size_t n)
{
	int64_t e = values[0];

	for (size_t i = 1; i < n; i++)
		if ((number(values[i], t->is_unsigned) < number(e, t->is_unsigned)) ==
		    (t->kind == T_MIN))
			e = values[i];
	return e;
}

static int compare(weft_wide a, weft_wide b)
{
	return a < b ? -1 : a > b;
}

static int compare_buckets(const void *a, const void *b)
{
	return compare(((const struct bucket *)a)->from, ((const struct bucket *)b)->from);
}

static void say_buckets(const struct model *m, const struct rnd_table *t, const int64_t *values,
			size_t n_values)
{
	struct bucket *all = calloc(n_values, sizeof(*all));
	size_t i, n;

	for (i = 0; i < n_values; i++)
		all[i] = bucket_of(t, values[i]);
	qsort(all, n_values, sizeof(*all), compare_buckets);
	for (i = 0; i < n_values; i += n) {
		for (n = 1; i + n < n_values && all[i + n].from == all[i].from; n++)
			;
		fputs(" [", m->out);
		rnd_say_int(m->out, (int64_t)(uint64_t)all[i].from, 8, !t->is_unsigned);
		fputs(" ", m->out);
		rnd_say_int(m->out, (int64_t)(uint64_t)(all[i].to - 1), 8, !t->is_unsigned);
		fprintf(m->out, "]=%zu", n);
	}
	free(all);
}

/* A row as it is since the last clear. */
struct shown {
	const struct rnd_table *table;
	const struct row *row;
	const int64_t *values;
	size_t n;
	weft_wide sum;
};

static void say_row(struct model *m, size_t i, void *arg)
{
	const struct shown *s = (const struct shown *)arg + i;
	const struct rnd_table *t = s->table;

	fputs(" ", m->out);
	for (uint32_t k = 0; k < t->n_keys; k++) {
		const struct value *key = &s->row->keys[k];

		fprintf(m->out, " %s=", t->names[k]);
		if (model_name(&t->keys[k], key->bits))
			fputs(model_name(&t->keys[k], key->bits), m->out);
		else if (t->keys[k].kind != RND_INT)
			rnd_say_text(m->out, "\"", key->text.s, key->text.n);
		else
			rnd_say_int(m->out, key->bits, t->keys[k].size, t->keys[k].is_signed);
	}
	fputs(" :", m->out);
	if (t->kind != T_SUM && t->kind != T_MIN && t->kind != T_MAX)
		fprintf(m->out, " n=%zu", s->n);
	if (t->kind == T_SUM || t->kind == T_AVG || t->kind == T_STDDEV)
		fprintf(m->out, " sum=%" PRIx64 ".%016" PRIx64,
			(uint64_t)((weft_uwide)s->sum >> 64), (uint64_t)s->sum);
	if (t->kind == T_STDDEV)
		fprintf(m->out, " +-%.17g", stddev(t, s->values, s->n));
	if (t->kind == T_MIN || t->kind == T_MAX) {
		fputs(" ", m->out);
		rnd_say_int(m->out, extreme(t, s->values, s->n), 8, !t->is_unsigned);
	}
	if (is_histogram(t))
		say_buckets(m, t, s->values, s->n);
	fputc('\n', m->out);
}

/* ---- order: the greatest value first, then the keys ---- */

static int compare_text(struct rnd_text a, struct rnd_text b)
{
	uint32_t n = a.n < b.n ? a.n : b.n;
	int d = n ? memcmp(a.s, b.s, n) : 0;

	return d ? d : compare(a.n, b.n);
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct shown *a = pa, *b = pb;
	const struct rnd_table *t = a->table;
	bool u = t->is_unsigned;
	int d = 0;

	if (t->kind == T_SUM)
		d = compare(a->sum, b->sum);
	else if (t->kind == T_MIN || t->kind == T_MAX)
		d = compare(number(extreme(t, a->values, a->n), u),
			    number(extreme(t, b->values, b->n), u));
	else if (t->kind == T_AVG) /* by the mean, of few values: no overflow */
		d = compare(a->sum * (weft_wide)b->n, b->sum * (weft_wide)a->n);
	else if (t->kind != T_STDDEV) /* whose order hangs on roundings: the engine undoes it */
		d = compare((weft_wide)a->n, (weft_wide)b->n);
	d = -d;
	for (uint32_t k = 0; k < t->n_keys && !d; k++) {
		const struct value *x = &a->row->keys[k], *y = &b->row->keys[k];

		if (t->keys[k].kind != RND_INT)
			d = compare_text(x->text, y->text);
		else
			d = compare(number(x->bits, !t->keys[k].is_signed),
				    number(y->bits, !t->keys[k].is_signed));
	}
	return d;
}

#define ROWS_MOST 256u

static size_t gather(struct model *m, uint32_t table, struct shown *all)
{
	const struct rnd_table *t = &m->set->tables[table];
	size_t n = 0;

	for (const struct row *r = m->rows[table]; r && n < ROWS_MOST; r = r->next) {
		struct shown s = {t, r, r->values + r->n_cleared, r->n_values - r->n_cleared, 0};

		for (size_t i = 0; i < s.n; i++)
			s.sum += number(s.values[i], t->is_unsigned);
		if (s.n)
			all[n++] = s;
	}
	return n;
}

static void say_table(struct model *m, uint32_t table, uint32_t top)
{
	struct shown *all = calloc(ROWS_MOST, sizeof(*all));
	size_t n = gather(m, table, all), left_out = 0;

	qsort(all, n, sizeof(*all), compare_rows);
	if (top && n > top) {
		left_out = n - top;
		n = top;
	}
	fprintf(m->out, "table %s", m->set->tables[table].name);
	if (left_out)
		fprintf(m->out, " and %zu more", left_out);
	fputc('\n', m->out);
	if (m->set->tables[table].kind == T_STDDEV)
		model_sorted(m, n, say_row, all);
	for (size_t i = 0; i < n && m->set->tables[table].kind != T_STDDEV; i++)
		say_row(m, i, all);
	free(all);
}

/* The tables that an action names, in the order in which they are first mentioned. */
static void for_each(struct model *m, const struct rnd_action *only,
		     void (*one)(struct model *m, uint32_t table, uint32_t top))
{
	bool done[RND_TABLES] = {false};

	for (uint32_t n = 0; n < m->n_order + 2; n++) {
		const struct rnd_clause *c = n < m->n_order    ? &m->set->clauses[m->order[n]]
					     : n == m->n_order ? &m->set->begin
							       : &m->set->end;

		for (uint32_t i = 0; i < c->n_actions; i++) {
			const struct rnd_action *a = &c->actions[i];

			if (a->kind != A_TABLE || done[a->table])
				continue;
			done[a->table] = true;
			if (!only || only->table == a->table || only->table == m->set->n_tables)
				one(m, a->table, only ? only->top : 0);
		}
	}
}

void model_say_tables(struct model *m, const struct rnd_action *only)
{
	for_each(m, only, say_table);
}

static void clear(struct model *m, uint32_t table, uint32_t top)
{
	(void)top;
	for (struct row *r = m->rows[table]; r; r = r->next)
		r->n_cleared = r->n_values;
}

void model_clear(struct model *m, const struct rnd_action *a)
{
	for_each(m, a, clear);
}

void model_free_rows(struct model *m)
{
	for (uint32_t t = 0; t < RND_TABLES; t++)
		for (struct row *r = m->rows[t]; r; r = r->next)
			free(r->values);
}
