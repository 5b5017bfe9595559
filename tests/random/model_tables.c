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
			if (!model_same(&r->keys[k], &keys[k], t->keys[k].kind == RND_TEXT))
				break;
		if (k == t->n_keys)
			break;
	}
	return r;
}

static bool has_bucket(const struct rnd_table *t, const struct row *r, int64_t value)
{
	for (size_t i = 0; r && i < r->n_values; i++)
		if (bucket_of(t, r->values[i]).from == bucket_of(t, value).from)
			return true;
	return false;
}

void model_add(struct model *m, const struct rnd_action *a, const struct value *keys, int64_t value)
{
	const struct rnd_table *t = &m->set->tables[a->table];
	struct row *r = find(m, a->table, keys);
	/* Room is for so many rows, of histograms for so many buckets. */
	bool is_new = is_histogram(t) ? !has_bucket(t, r, value) : !r;

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
	weft_grow(&r->values, &r->cap_values, r->n_values, sizeof(*r->values));
	r->values[r->n_values++] = value;
	r->sum += number(value, t->is_unsigned);
}

/* ---- writing down ---- */

/* All values less the first, which is exact: then a mean and a mean square in long double. */
static double stddev(const struct rnd_table *t, const struct row *r)
{
	long double sum = 0, squares = 0, mean, d;
	weft_wide first = number(r->values[0], t->is_unsigned);

	for (size_t i = 0; i < r->n_values; i++)
		sum += (long double)(number(r->values[i], t->is_unsigned) - first);
	mean = sum / (long double)r->n_values;
	for (size_t i = 0; i < r->n_values; i++) {
		d = (long double)(number(r->values[i], t->is_unsigned) - first) - mean;
		squares += d * d;
	}
	return (double)sqrtl(squares / (long double)r->n_values);
}

static int64_t extreme(const struct rnd_table *t, const struct row *r)
{
	int64_t e = r->values[0];

	for (size_t i = 1; i < r->n_values; i++)
		if ((number(r->values[i], t->is_unsigned) < number(e, t->is_unsigned)) ==
		    (t->kind == T_MIN))
			e = r->values[i];
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

static void say_buckets(const struct model *m, const struct rnd_table *t, const struct row *r)
{
	struct bucket *all = calloc(r->n_values, sizeof(*all));
	size_t i, n;

	for (i = 0; i < r->n_values; i++)
		all[i] = bucket_of(t, r->values[i]);
	qsort(all, r->n_values, sizeof(*all), compare_buckets);
	for (i = 0; i < r->n_values; i += n) {
		for (n = 1; i + n < r->n_values && all[i + n].from == all[i].from; n++)
			;
		fputs(" [", m->out);
		rnd_say_int(m->out, (int64_t)(uint64_t)all[i].from, 8, !t->is_unsigned);
		fputs(" ", m->out);
		rnd_say_int(m->out, (int64_t)(uint64_t)(all[i].to - 1), 8, !t->is_unsigned);
		fprintf(m->out, "]=%zu", n);
	}
	free(all);
}

struct sorted {
	const struct rnd_table *table;
	struct row **rows;
};

static void say_row(struct model *m, size_t i, void *arg)
{
	const struct sorted *s = arg;
	const struct rnd_table *t = s->table;
	const struct row *r = s->rows[i];

	fputs(" ", m->out);
	for (uint32_t k = 0; k < t->n_keys; k++) {
		fprintf(m->out, " k%u=", k);
		if (t->keys[k].kind == RND_TEXT)
			rnd_say_text(m->out, "\"", r->keys[k].text.s, r->keys[k].text.n);
		else
			rnd_say_int(m->out, r->keys[k].bits, t->keys[k].size, t->keys[k].is_signed);
	}
	fputs(" :", m->out);
	if (t->kind != T_SUM && t->kind != T_MIN && t->kind != T_MAX)
		fprintf(m->out, " n=%zu", r->n_values);
	if (t->kind == T_SUM || t->kind == T_AVG || t->kind == T_STDDEV)
		fprintf(m->out, " sum=%" PRIx64 ".%016" PRIx64,
			(uint64_t)((weft_uwide)r->sum >> 64), (uint64_t)r->sum);
	if (t->kind == T_STDDEV)
		fprintf(m->out, " +-%.17g", stddev(t, r));
	if (t->kind == T_MIN || t->kind == T_MAX) {
		fputs(" ", m->out);
		rnd_say_int(m->out, extreme(t, r), 8, !t->is_unsigned);
	}
	if (is_histogram(t))
		say_buckets(m, t, r);
	fputc('\n', m->out);
}

/* ---- order: the greatest value first, then the keys ---- */

static int compare_text(struct rnd_text a, struct rnd_text b)
{
	int d = memcmp(a.s, b.s, a.n < b.n ? a.n : b.n);

	return d ? d : compare(a.n, b.n);
}

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct row *a = *(struct row *const *)pa, *b = *(struct row *const *)pb;
	const struct rnd_table *t = arg;
	bool u = t->is_unsigned;
	int d = 0;

	if (t->kind == T_SUM)
		d = compare(a->sum, b->sum);
	else if (t->kind == T_MIN || t->kind == T_MAX)
		d = compare(number(extreme(t, a), u), number(extreme(t, b), u));
	else if (t->kind == T_AVG) /* by the mean, of few values: no overflow */
		d = compare(a->sum * (weft_wide)b->n_values, b->sum * (weft_wide)a->n_values);
	else if (t->kind != T_STDDEV) /* whose order hangs on roundings: the engine undoes it */
		d = compare((weft_wide)a->n_values, (weft_wide)b->n_values);
	d = -d;
	for (uint32_t k = 0; k < t->n_keys && !d; k++)
		if (t->keys[k].kind == RND_TEXT)
			d = compare_text(a->keys[k].text, b->keys[k].text);
		else
			d = compare(number(a->keys[k].bits, !t->keys[k].is_signed),
				    number(b->keys[k].bits, !t->keys[k].is_signed));
	return d;
}

static void say_table(struct model *m, uint32_t table)
{
	struct rnd_table *t = &m->set->tables[table];
	struct row *all[256], *r;
	struct sorted s = {t, all};
	size_t n = 0;

	fprintf(m->out, "table %s\n", t->name);
	for (r = m->rows[table]; r && n < N(all); r = r->next)
		all[n++] = r;
	if (n)
		qsort_r(all, n, sizeof(struct row *), compare_rows, t);
	if (t->kind == T_STDDEV)
		model_sorted(m, n, say_row, &s);
	for (size_t i = 0; i < n && t->kind != T_STDDEV; i++)
		say_row(m, i, &s);
	for (size_t i = 0; i < n; i++)
		free(all[i]->values);
	/* The sum of nothing is 0, and where there are no keys there is nothing to say of it but that. */
	if (!n && t->kind == T_SUM && !t->n_keys)
		fputs("  : sum=0.0000000000000000\n", m->out);
}

void model_say_tables(struct model *m)
{
	bool said[RND_TABLES] = {false};

	/* In the order in which they are first mentioned. */
	for (uint32_t c = 0; c < m->set->n_clauses; c++)
		for (uint32_t i = 0; i < m->set->clauses[c].n_actions; i++) {
			const struct rnd_action *a = &m->set->clauses[c].actions[i];

			if (a->kind != A_TABLE || said[a->table])
				continue;
			said[a->table] = true;
			say_table(m, a->table);
		}
}
