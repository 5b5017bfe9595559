/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Whole sets. What a set has to agree on with itself is settled before its clauses are made: the
 * types of variables (the first assignment in the file says it, so that one is cast), the shapes of
 * aggregations. Variables that some expression asks for, and nobody assigned, get a clause of their
 * own at the end.
 */
#include "tests/random/random.h"

#include <inttypes.h>
#include <string.h>

const char *const rnd_tables[] = {"count",  "sum",      "avg",       "min",       "max",
				  "stddev", "quantize", "lquantize", "llquantize"};

static const uint8_t sizes[] = {1, 2, 4, 8};

static void make_options(struct rnd_maker *m)
{
	/* Mostly small: a string costs the verifier as much as it is long. */
	static const uint32_t strsizes[] = {16, 16, 17, 20, 24, 31, 32, 33, 48, 64, 64, 128};

	m->set->strsize = strsizes[rnd_below(&m->draw, N(strsizes))];
	if (rnd_one_in(&m->draw, m->large ? 3 : 32))
		m->set->strsize = 1024;
	m->set->rows = rnd_one_in(&m->draw, 3) ? 1 + rnd_below(&m->draw, 4) : 64;
}

static void make_args(struct rnd_maker *m)
{
	struct rnd_set *s = m->set;

	for (uint32_t i = 0; i < RND_INTS; i++)
		s->args[i] = (struct rnd_type){
			.kind = RND_INT,
			.size = rnd_one_in(&m->draw, 2) ? 8 : sizes[rnd_below(&m->draw, 4)],
			.is_signed = rnd_one_in(&m->draw, 2)};
	s->args[6] = (struct rnd_type){.kind = RND_TEXT, .cap = s->strsize};
	s->args[7] = (struct rnd_type){.kind = RND_INT, .size = 8, .points = RND_USER};
	s->args[8] = (struct rnd_type){.kind = RND_BYTES, .cap = s->strsize};
	/* 9: address of 6, length of 8 */
	s->args[9] = (struct rnd_type){.kind = RND_TEXT, .cap = s->strsize};
	s->args[10] = (struct rnd_type){.kind = RND_INT, .size = 8, .points = RND_KERNEL};
}

static void make_params(struct rnd_maker *m)
{
	struct rnd_set *s = m->set;

	s->n_params = RND_PARAMS;
	for (uint32_t i = 0; i < s->n_params; i++) {
		struct rnd_param *p = &s->params[i];
		uint64_t v = rnd_value(&m->draw);

		p->name = weft_arena_printf(s->arena, "p%u", i);
		if (rnd_one_in(&m->draw, 3)) {
			static const char *const texts[] = {"", "cat", "/usr", "5ms", "a b"};

			p->spelling = texts[rnd_below(&m->draw, N(texts))];
			p->text.s = (const uint8_t *)p->spelling;
			p->text.n = (uint32_t)strlen(p->spelling);
			p->type = (struct rnd_type){.kind = RND_TEXT, .cap = p->text.n + 1};
			continue;
		}
		p->type = (struct rnd_type){.kind = RND_INT, .size = 8, .is_signed = true};
		if (rnd_one_in(&m->draw, 4)) {
			p->bits = (int64_t)(v % 100) * 1000000;
			p->spelling = weft_arena_printf(s->arena, "%" PRIu64 "ms", v % 100);
		} else if (rnd_one_in(&m->draw, 2) && (int64_t)v < 0) {
			p->bits = (int64_t)v;
			p->spelling = weft_arena_printf(s->arena, "%" PRId64, (int64_t)v);
		} else {
			p->bits = (int64_t)v;
			p->type.is_signed = v <= INT64_MAX;
			p->spelling = weft_arena_printf(
				s->arena, rnd_one_in(&m->draw, 2) ? "0x%" PRIx64 : "%" PRIu64, v);
		}
	}
}

static void make_vars(struct rnd_maker *m)
{
	struct rnd_set *s = m->set;

	s->n_vars = rnd_below(&m->draw, 7);
	for (uint32_t i = 0; i < s->n_vars; i++) {
		struct rnd_var *v = &s->vars[i];

		v->scope = (enum rnd_scope)rnd_below(&m->draw, 3);
		v->name =
			weft_arena_printf(s->arena, v->scope == RND_THREAD ? "self.v%u" : "v%u", i);
		if (rnd_one_in(&m->draw, 3)) {
			v->type = (struct rnd_type){.kind = RND_TEXT, .cap = s->strsize};
		} else {
			v->type = (struct rnd_type){.kind = RND_INT,
						    .size = 8,
						    .is_signed = rnd_below(&m->draw, 3) != 0};
			v->counts = rnd_one_in(&m->draw, 3);
		}
		if (v->scope != RND_ARRAY)
			continue;
		v->n_keys = 1 + rnd_below(&m->draw, RND_KEYS);
		for (uint32_t k = 0; k < v->n_keys; k++)
			v->keys[k] = rnd_one_in(&m->draw, 6)   ? RND_PROBE
				     : rnd_one_in(&m->draw, 3) ? RND_TEXT
							       : RND_INT;
	}
}

static void make_buckets(struct rnd_maker *m, struct rnd_table *t)
{
	static const uint64_t steps[] = {1, 1, 3, 10, 1000000, UINT64_C(1) << 40};

	if (t->kind == T_LQUANTIZE) {
		t->step = steps[rnd_below(&m->draw, N(steps))];
		t->from = (int64_t)rnd_below(&m->draw, 100);
		if (!t->is_unsigned && rnd_one_in(&m->draw, 2))
			t->from = -t->from;
		t->to = t->from + (int64_t)(t->step * (1 + rnd_below(&m->draw, 40)));
		if (t->step > 2 && rnd_one_in(&m->draw, 2))
			t->to += (int64_t)t->step / 2;
		if (rnd_one_in(&m->draw, 10)) {
			t->from = t->is_unsigned ? 0 : INT64_MIN;
			t->to = t->is_unsigned ? -1 : INT64_MAX;
			t->step = UINT64_C(1) << 60;
		}
	} else if (t->kind == T_LLQUANTIZE) {
		t->factor = 2 + rnd_below(&m->draw, 9);
		t->low = rnd_below(&m->draw, 3);
		t->high = t->low + rnd_below(&m->draw, 5);
		t->steps = t->factor * (rnd_one_in(&m->draw, 2) ? t->factor : 1);
	}
}

static void make_tables(struct rnd_maker *m)
{
	struct rnd_set *s = m->set;

	s->n_tables = rnd_below(&m->draw, 5);
	for (uint32_t i = 0; i < s->n_tables; i++) {
		struct rnd_table *t = &s->tables[i];

		t->name = weft_arena_printf(s->arena, "t%u", i);
		t->kind = (enum rnd_table_kind)rnd_below(&m->draw, N(rnd_tables));
		t->is_unsigned = rnd_one_in(&m->draw, 3);
		make_buckets(m, t);
		if (rnd_one_in(&m->draw, 3))
			continue;
		t->n_keys = 1 + rnd_below(&m->draw, RND_KEYS);
		t->is_list = rnd_one_in(&m->draw, 6);
		for (uint32_t k = 0; k < t->n_keys; k++) {
			t->keys[k] = (struct rnd_type){.kind = RND_INT,
						       .size = sizes[rnd_below(&m->draw, 4)],
						       .is_signed = rnd_one_in(&m->draw, 2)};
			if (rnd_one_in(&m->draw, 3))
				t->keys[k] = (struct rnd_type){.kind = RND_TEXT};
			if (rnd_one_in(&m->draw, 8))
				t->keys[k] = (struct rnd_type){
					.kind = RND_INET, .cap = rnd_one_in(&m->draw, 2) ? 4 : 16};
			if (rnd_one_in(&m->draw, 12))
				t->keys[k] = rnd_members[M_KIND].type;
			/* Rows of several probes may read alike, and then are one that takes the
			 * room of several: there had better be enough. */
			if (rnd_one_in(&m->draw, 6)) {
				t->keys[k] = (struct rnd_type){.kind = RND_PROBE};
				s->rows = 64;
			}
		}
	}
}

/* ---- actions ---- */

static unsigned depth(struct rnd_maker *m)
{
	return rnd_one_in(&m->draw, 8) ? 4 : rnd_below(&m->draw, 4);
}

static struct rnd_x *of_type(struct rnd_maker *m, struct rnd_x *x, uint8_t size, bool is_signed)
{
	if (x->type.size == size && x->type.is_signed == is_signed)
		return x;
	return rnd_cast(m, x, size, is_signed);
}

static struct rnd_x *few(struct rnd_maker *m)
{
	struct rnd_x *x = rnd_node(m, X_BINARY, (struct rnd_type){0});

	x->op = O_MOD;
	x->kid[0] = rnd_int(m, 0);
	x->kid[1] = rnd_literal(m, 3);
	x->n_kids = 2;
	if (!x->kid[1]->bits) {
		x->kid[1]->bits = 3;
		x->kid[1]->spelling = "3";
	}
	x->type = rnd_promoted(x->kid[0]->type);
	if (!x->kid[1]->type.is_signed)
		x->type.is_signed = false;
	return x;
}

static void make_keys(struct rnd_maker *m, struct rnd_action *a, struct rnd_table *t)
{
	for (uint32_t k = 0; k < t->n_keys; k++) {
		struct rnd_item *item = &a->items[a->n_items++];

		item->name = weft_arena_printf(m->set->arena, "k%u", k);
		if (t->keys[k].kind == RND_INET) {
			item->x = rnd_inet(m, t->keys[k].cap);
			continue;
		}
		if (t->keys[k].is_enum) {
			item->x = rnd_enum(m);
			continue;
		}
		if (t->keys[k].kind == RND_INT) {
			item->x = of_type(m, rnd_one_in(&m->draw, 3) ? rnd_int(m, depth(m)) : few(m),
					  t->keys[k].size, t->keys[k].is_signed);
			continue;
		}
		if (t->keys[k].kind == RND_TEXT) {
			item->x = rnd_text_x(m, rnd_below(&m->draw, 3));
			continue;
		}
		item->x = rnd_probe(m);
		if (t->mentioned)
			*item->x = *t->probes[k];
		t->probes[k] = item->x;
	}
}

/* In a list there is no probe, and no address that leads anywhere. */
static bool suits(const struct rnd_maker *m, const struct rnd_table *t)
{
	for (uint32_t k = 0; k < t->n_keys && m->is_list; k++)
		if (t->keys[k].kind == RND_PROBE || t->keys[k].kind == RND_INET ||
		    t->keys[k].is_enum)
			return false;
	return !t->is_list || !t->mentioned;
}

static void make_table(struct rnd_maker *m, struct rnd_action *a)
{
	struct rnd_table *t;

	a->table = m->set->n_tables ? rnd_below(&m->draw, m->set->n_tables) : 0;
	t = &m->set->tables[a->table];
	if (!m->set->n_tables || !suits(m, t)) {
		a->kind = A_EMIT;
		return;
	}
	make_keys(m, a, t);
	t->mentioned = true;
	if (t->kind == T_COUNT)
		return;
	a->value = rnd_int(m, depth(m));
	if ((a->value->type.size == 8 && !a->value->type.is_signed) != t->is_unsigned)
		a->value = rnd_cast(m, a->value, 8, !t->is_unsigned);
}

static void make_record(struct rnd_maker *m, struct rnd_action *a)
{
	static const char *const converts[] = {"%d", "%u", "%x", "%i", "%#x",  "%08d",
					       "%o", "%c", "%X", "%p", "%-6d", "%+d"};

	a->is_list = a->kind == A_EMIT && rnd_one_in(&m->draw, 4);
	a->n_items = 1 + rnd_below(&m->draw, m->large                   ? 8
					     : rnd_one_in(&m->draw, 20) ? RND_FIELDS
									: 4);
	for (uint32_t i = 0; i < a->n_items; i++) {
		struct rnd_item *item = &a->items[i];

		item->name = weft_arena_printf(m->set->arena, "f%u", i);
		switch (m->is_list ? 3 * rnd_below(&m->draw, 2) : rnd_below(&m->draw, 8)) {
		case 7:
			item->x = rnd_probe(m);
			if (rnd_one_in(&m->draw, 3))
				item->x = rnd_inet(m, rnd_one_in(&m->draw, 2) ? 4 : 16);
			else if (rnd_one_in(&m->draw, 3))
				item->x = rnd_enum(m);
			item->convert = "%s";
			break;
		case 0:
		case 1:
			item->x = rnd_text_x(m, rnd_below(&m->draw, 3));
			item->convert = "%s";
			break;
		case 2:
			item->x = rnd_bytes(m);
			item->convert = "%s";
			break;
		default:
			item->x = rnd_int(m, depth(m));
			item->convert = converts[rnd_below(
				&m->draw, item->x->type.is_signed ? N(converts) : N(converts) - 1)];
		}
	}
}

static enum rnd_op update(struct rnd_maker *m, bool counts)
{
	static const enum rnd_op ops[] = {O_ADD, O_ADD, O_SUB, O_OR, O_XOR, O_AND};

	return ops[rnd_below(&m->draw, counts ? N(ops) - 1 : N(ops))];
}

static void set_local(struct rnd_maker *m, struct rnd_item *item)
{
	struct rnd_clause *c = m->clause;
	bool is_new = m->n_locals < RND_LOCALS && (!m->n_locals || rnd_one_in(&m->draw, 2));
	uint32_t i = is_new ? m->n_locals : rnd_below(&m->draw, m->n_locals);
	struct rnd_local *l = &c->locals[i];
	bool is_text = is_new ? rnd_one_in(&m->draw, 4) : l->type.kind == RND_TEXT;

	item->x = is_text ? rnd_text_x(m, rnd_below(&m->draw, 3)) : rnd_int(m, depth(m));
	if (is_new) {
		l->name = weft_arena_printf(m->set->arena, "this.l%u", i);
		l->type = is_text ? (struct rnd_type){.kind = RND_TEXT, .cap = m->set->strsize}
				  : rnd_promoted(item->x->type);
		c->n_locals = ++m->n_locals;
	} else if (!is_text && rnd_one_in(&m->draw, 2)) {
		item->op = update(m, false);
	}
	item->var = rnd_node(m, X_LOCAL, l->type);
	item->var->index = i;
	item->var->spelling = l->name;
}

static void set_var(struct rnd_maker *m, struct rnd_item *item, uint32_t i)
{
	struct rnd_var *v = &m->set->vars[i];

	/* What the type is told by must not wait for another's type. */
	m->quiet = !v->assigned;
	item->x = v->type.kind == RND_TEXT ? rnd_text_x(m, rnd_below(&m->draw, 3))
					   : rnd_int(m, depth(m));
	if (v->type.kind == RND_INT && !v->assigned &&
	    rnd_promoted(item->x->type).is_signed != v->type.is_signed)
		item->x = rnd_cast(m, item->x, 8, v->type.is_signed);
	if (v->counts || (v->assigned && v->type.kind == RND_INT && rnd_one_in(&m->draw, 2)))
		item->op = update(m, v->counts);
	item->var = rnd_state(m, i, rnd_below(&m->draw, 3));
	item->var->parens = false;
	m->quiet = false;
	v->assigned = true;
}

static void make_set(struct rnd_maker *m, struct rnd_action *a)
{
	uint32_t n = 1 + rnd_below(&m->draw, 3), i;

	for (; n--; a->n_items++) {
		struct rnd_item *item = &a->items[a->n_items];

		i = rnd_below(&m->draw, RND_VARS);
		if (i < m->set->n_vars && rnd_var_suits(m, i))
			set_var(m, item, i);
		else
			set_local(m, item);
		item->var->parens = false;
		/* Each is written once in one map. */
		for (uint32_t k = 0; k < a->n_items; k++)
			if (item->var->node == a->items[k].var->node &&
			    item->var->index == a->items[k].var->index)
				return;
	}
}

static void make_delete(struct rnd_maker *m, struct rnd_action *a)
{
	uint32_t i;

	if (!m->set->n_vars) {
		a->kind = A_SET;
		return;
	}
	i = rnd_below(&m->draw, m->set->n_vars);
	m->set->vars[i].mentioned = m->set->vars[i].deleted = true;
	a->items[0].var = rnd_state(m, i, rnd_below(&m->draw, 3));
	a->items[0].var->parens = false;
	a->n_items = 1;
}

static void make_action(struct rnd_maker *m, struct rnd_action *a)
{
	uint32_t k = rnd_below(&m->draw, 100);

	if (rnd_one_in(&m->draw, 16) && m->set->n_tables) {
		a->kind = rnd_one_in(&m->draw, 2) ? A_SHOW : A_CLEAR;
		a->table = rnd_below(&m->draw, m->set->n_tables + 1);
		a->top = rnd_one_in(&m->draw, 2) ? 1 + rnd_below(&m->draw, 3) : 0;
		return;
	}
	a->kind = k < 35   ? A_TABLE
		  : k < 55 ? A_EMIT
		  : k < 88 ? A_SET
		  : k < 93 ? A_DELETE
		  : k < 98 ? A_PRINTF
			   : A_EXIT;
	if (a->kind == A_TABLE)
		make_table(m, a);
	if (a->kind == A_DELETE)
		make_delete(m, a);
	if (a->kind == A_EMIT || a->kind == A_PRINTF)
		make_record(m, a);
	if (a->kind == A_SET)
		make_set(m, a);
	if (a->kind == A_EXIT && rnd_one_in(&m->draw, 2)) {
		a->value = rnd_int(m, depth(m));
		if (rnd_is_const(m->set, a->value)) /* has to be one */
			a->value = rnd_cast(m, a->value, 1, false);
	}
}

static void make_clause(struct rnd_maker *m)
{
	struct rnd_clause *c = &m->set->clauses[m->set->n_clauses++];
	uint32_t n = m->large || rnd_one_in(&m->draw, 20) ? RND_ACTIONS : 1 + rnd_below(&m->draw, 3);

	m->clause = c;
	m->n_locals = 0;
	c->probes = rnd_one_in(&m->draw, 2) ? 7 : 1 + rnd_below(&m->draw, 7);
	m->is_return = m->set->pairs && rnd_one_in(&m->draw, 2);
	if (m->is_return)
		c->probes = 1u << RND_RETURN;
	if (rnd_one_in(&m->draw, 2))
		c->when = rnd_int(m, 1 + rnd_below(&m->draw, 3));
	if (rnd_one_in(&m->draw, 10))
		c->every = 1 + rnd_below(&m->draw, 4);
	if (rnd_one_in(&m->draw, 12))
		c->limit = 1 + rnd_below(&m->draw, 3);
	while (c->n_actions < n)
		make_action(m, &c->actions[c->n_actions++]);
}

/* begin or end. */
static void make_list(struct rnd_maker *m, struct rnd_clause *c)
{
	uint32_t n = rnd_below(&m->draw, 4);

	m->clause = c;
	m->n_locals = 0;
	m->is_list = true;
	m->is_return = false;
	while (c->n_actions < n) {
		struct rnd_action *a = &c->actions[c->n_actions++];

		a->kind = rnd_one_in(&m->draw, 3)   ? A_TABLE
			  : rnd_one_in(&m->draw, 2) ? A_SET
						    : A_EMIT;
		if (a->kind == A_TABLE)
			make_table(m, a);
		if (a->kind == A_SET)
			make_set(m, a);
		if (a->kind == A_EMIT)
			make_record(m, a);
	}
	m->is_list = false;
}

/* Variables that are asked for and that nothing assigns. */
static void make_last(struct rnd_maker *m)
{
	struct rnd_clause *c = NULL;
	struct rnd_action *a;

	for (uint32_t i = 0; i < m->set->n_vars; i++) {
		if (!m->set->vars[i].mentioned || m->set->vars[i].assigned)
			continue;
		if (!c) {
			c = m->clause = &m->set->clauses[m->set->n_clauses++];
			m->n_locals = 0;
			m->is_return = false;
			c->probes = 7;
		}
		a = &c->actions[c->n_actions++];
		a->kind = A_SET;
		a->n_items = 1;
		set_var(m, &a->items[0], i);
	}
}

/* What is shown or cleared has to be a table that some action adds to. */
static void settle_names(struct rnd_maker *m)
{
	struct rnd_set *s = m->set;

	for (uint32_t c = 0; c < s->n_clauses; c++)
		for (uint32_t i = 0; i < s->clauses[c].n_actions; i++) {
			struct rnd_action *a = &s->clauses[c].actions[i];

			if (a->kind != A_SHOW && a->kind != A_CLEAR)
				continue;
			if (a->table < s->n_tables && !s->tables[a->table].mentioned)
				a->table = s->n_tables;
			/* Which are the first of equals is a matter of roundings there. */
			for (uint32_t t = 0; t < s->n_tables; t++)
				if (s->tables[t].kind == T_STDDEV)
					a->top = 0;
		}
}

/* ---- firings ---- */

static uint64_t length(struct rnd_maker *m)
{
	switch (rnd_below(&m->draw, 6)) {
	case 0:
		return rnd_value(&m->draw);
	case 1:
		return m->set->strsize - 2 + rnd_below(&m->draw, 5);
	default:
		return rnd_below(&m->draw, 24);
	}
}

static void make_firings(struct rnd_maker *m)
{
	struct rnd_set *s = m->set;
	bool wanders = rnd_one_in(&m->draw, 20); /* it takes a while to get there */

	s->n_firings = 1 + rnd_below(&m->draw, 8);
	for (uint32_t f = 0; f < s->n_firings; f++) {
		uint64_t *w = s->firings[f];

		for (uint32_t i = 0; i < RND_INTS; i++)
			w[i] = rnd_one_in(&m->draw, 6) ? rnd_address(&m->draw) : rnd_value(&m->draw);
		w[6] = rnd_address(&m->draw);
		w[7] = rnd_address(&m->draw);
		w[8] = rnd_address(&m->draw);
		w[9] = length(m);
		w[10] = rnd_kernel_address(&m->draw);
		if (s->pairs)
			w[RND_FRAME] = 16 + 8 * rnd_below(&m->draw, 3);

		s->probe[f] = rnd_below(&m->draw, s->n_probes);
		w[11] = 100 + s->probe[f];
		s->cpus[f] = wanders ? rnd_below(&m->draw, 2) : 0;
		for (uint32_t i = 0; f && i < 11; i++)
			if (rnd_one_in(&m->draw, 3))
				w[i] = s->firings[f - 1][i];
	}
}

struct rnd_set *rnd_make(struct weft_arena *arena, uint64_t seed, bool large)
{
	struct rnd_maker m = {.set = weft_arena_alloc(arena, sizeof(*m.set)), .large = large};
	uint32_t n;

	rnd_seed(&m.draw, seed);
	m.set->arena = arena;
	m.set->seed = seed;
	m.set->n_probes = rnd_one_in(&m.draw, 2) ? 1 : RND_PROBES;
	make_options(&m);
	rnd_memory_fill(&m.draw, m.set->strsize);
	make_args(&m);
	make_params(&m);
	make_vars(&m);
	make_tables(&m);
	m.set->pairs = m.set->n_probes == RND_PROBES && rnd_one_in(&m.draw, 3);
	if (rnd_one_in(&m.draw, 4))
		make_list(&m, &m.set->begin);
	n = 1 + rnd_below(&m.draw, 4);
	while (n--)
		make_clause(&m);
	if (rnd_one_in(&m.draw, 4))
		make_list(&m, &m.set->end);
	make_last(&m);
	settle_names(&m);
	make_firings(&m);
	return m.set;
}
