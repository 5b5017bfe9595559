/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Every aggregation, signed and unsigned, with keys and without, of the values where something
 * changes: -1, 0, 1, 10^10, each power of two and its neighbour, the ends of the range. Empty,
 * after them, after a clear, after them again; and from two processors at once. What is to be seen
 * comes from the model, which keeps every value.
 */
#include <criterion/criterion.h>

#include "tests/random/random.h"

enum { VALUE, CLEAR, SHOW }; /* arg1 */

static struct rnd_x *argument(struct rnd_maker *m, uint32_t i)
{
	struct rnd_x *x = rnd_node(m, X_ARG, m->set->args[i]);

	x->index = i;
	x->spelling = weft_arena_printf(m->set->arena, "arg%u", i);
	x->parens = false;
	return x;
}

static struct rnd_x *constant(struct rnd_maker *m, int64_t v)
{
	struct rnd_x *x =
		rnd_node(m, X_INT, (struct rnd_type){.kind = RND_INT, .size = 8, .is_signed = true});

	x->bits = v;
	x->spelling = weft_arena_printf(m->set->arena, "%ld", v);
	return x;
}

static struct rnd_clause *clause(struct rnd_maker *m, int64_t when)
{
	struct rnd_clause *c = &m->set->clauses[m->set->n_clauses++];

	c->probes = 1;
	c->when = rnd_node(m, X_BINARY,
			   (struct rnd_type){.kind = RND_INT, .size = 8, .is_signed = true});
	c->when->op = O_EQ;
	c->when->kid[0] = argument(m, 1);
	c->when->kid[1] = constant(m, when);
	c->when->n_kids = 2;
	return c;
}

/* The tables: each kind, and the linear ones with bounds in the middle and at the ends. */
static void make_tables(struct rnd_maker *m, bool is_unsigned, bool keyed)
{
	struct rnd_set *s = m->set;

	for (uint32_t i = 0; i <= T_LLQUANTIZE + 2; i++) {
		struct rnd_table *t = &s->tables[s->n_tables++];

		*t = (struct rnd_table){.name = weft_arena_printf(s->arena, "t%u", i),
					.kind = (enum rnd_table_kind)i,
					.is_unsigned = is_unsigned,
					.from = is_unsigned ? 0 : -10000000000,
					.to = 10000000000,
					.step = 1000000000,
					.factor = 10,
					.low = 0,
					.high = 17,
					.steps = 10};
		if (i > T_LLQUANTIZE) {
			t->kind = i == T_LLQUANTIZE + 1 ? T_LQUANTIZE : T_LLQUANTIZE;
			t->from = is_unsigned ? 0 : INT64_MIN;
			t->to = is_unsigned ? -1 : INT64_MAX;
			t->step = UINT64_C(1) << 58;
			t->factor = t->steps = 2;
			t->high = 61;
		}
		if (keyed) {
			t->n_keys = 1;
			t->keys[0] =
				(struct rnd_type){.kind = RND_INT, .size = 2, .is_signed = true};
		}
	}
}

static void make_clauses(struct rnd_maker *m, bool keyed)
{
	struct rnd_clause *c = clause(m, VALUE);

	for (uint32_t i = 0; i < m->set->n_tables; i++) {
		struct rnd_action *a = &c->actions[c->n_actions++];

		a->kind = A_TABLE;
		a->table = i;
		if (m->set->tables[i].kind != T_COUNT)
			a->value = argument(m, 0);
		if (keyed) {
			a->n_items = 1;
			a->items[0].name = "k0";
			a->items[0].x = argument(m, 2);
		}
	}
	for (int i = 0; i < 2; i++) {
		c = clause(m, i ? SHOW : CLEAR);
		c->actions[0].kind = i ? A_SHOW : A_CLEAR;
		c->actions[0].table = m->set->n_tables;
		c->n_actions = 1;
	}
}

static void fire(struct rnd_set *s, uint64_t value, uint64_t what)
{
	uint64_t *w = s->firings[s->n_firings++];

	cr_assert(s->n_firings <= RND_FIRINGS);
	w[0] = value;
	w[1] = what;
	w[2] = s->n_firings % 3;
	w[11] = 100; /* the first probe */
}

static void fire_all(struct rnd_set *s)
{
	for (int k = 0; k < 64; k++) {
		fire(s, UINT64_C(1) << k, VALUE);       /* 1 ... INT64_MIN */
		fire(s, (UINT64_C(1) << k) - 1, VALUE); /* 0 ... INT64_MAX */
	}
	fire(s, UINT64_MAX, VALUE);
	fire(s, 10000000000, VALUE);
	fire(s, 0 - UINT64_C(10000000000), VALUE);
	fire(s, 0 - UINT64_C(9999999999), VALUE);
	fire(s, (UINT64_C(1) << 63) + 1, VALUE);
	fire(s, UINT64_MAX - 1, VALUE);
}

static void expect_same(bool is_unsigned, bool keyed, uint32_t at_once)
{
	struct weft_arena *arena = weft_arena_create();
	struct rnd_maker m = {.set = weft_arena_alloc(arena, sizeof(*m.set))};
	struct rnd_set *s = m.set;
	const char *refused, *wrong;

	s->arena = arena;
	s->strsize = 16;
	s->rows = 1024;
	s->n_probes = 1;
	s->at_once = at_once;
	for (uint32_t i = 0; i < RND_INTS; i++)
		s->args[i] = (struct rnd_type){.kind = RND_INT, .size = 8, .is_signed = true};
	s->args[0].is_signed = !is_unsigned;
	s->args[2].size = 2;
	make_tables(&m, is_unsigned, keyed);
	make_clauses(&m, keyed);
	if (at_once) {
		fire_all(s);
	} else {
		fire(s, 0, SHOW);
		fire_all(s);
		fire(s, 0, SHOW);
		fire(s, 0, CLEAR);
		fire(s, 0, SHOW);
		fire(s, UINT64_C(1) << 63, VALUE);
		fire(s, 0, SHOW);
		fire(s, INT64_MAX, VALUE);
		fire(s, 0, CLEAR);
		fire(s, 0, VALUE);
		fire(s, UINT64_MAX, VALUE);
		fire(s, 1, VALUE);
	}
	wrong = rnd_check(s, &refused);
	cr_expect(!wrong, "%s", wrong);
	weft_arena_destroy(arena);
}

Test(boundaries, of_all_aggregations)
{
	cr_assert(!rnd_memory_map());
	for (int i = 0; i < 4; i++)
		expect_same(i % 2, i / 2, 0);
}

/* 2 x 200 x 134 firings: not one value is lost, and none is counted twice. */
Test(boundaries, from_two_processors_at_once, .timeout = 600)
{
	cr_assert(!rnd_memory_map());
	for (int i = 0; i < 4; i++)
		expect_same(i % 2, i / 2, 200);
}
