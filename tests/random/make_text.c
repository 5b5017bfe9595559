/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Expressions that are strings, and how long each can be at most: its type's cap, less one. */
#include "tests/random/random.h"

#include <string.h>

static struct rnd_type text_of(uint32_t cap)
{
	return (struct rnd_type){.kind = RND_TEXT, .cap = cap};
}

/* A literal that has fewer bytes than cap, and fits in any variable. */
struct rnd_x *rnd_text_literal(struct rnd_maker *m, uint32_t cap)
{
	uint32_t most = (cap < m->set->strsize ? cap : m->set->strsize) - 1;
	struct rnd_x *x = rnd_node(m, X_TEXT, text_of(0));
	static const char *const known[] = {"",   "cat",          "/",  "a",
					    "b/", "/usr/bin/cat", "ab", "a/b/"};

	x->text = rnd_text(&m->draw, m->set->arena, most);
	if (rnd_one_in(&m->draw, 2)) {
		const char *s = known[rnd_below(&m->draw, N(known))];

		if (strlen(s) <= most)
			x->text = (struct rnd_text){(const uint8_t *)s, (uint32_t)strlen(s)};
	}
	x->type.cap = x->text.n + 1;
	return x;
}

static struct rnd_x *argument(struct rnd_maker *m)
{
	struct rnd_x *x;

	if (m->is_list)
		return rnd_text_literal(m, m->set->strsize);
	if (m->is_return && !m->quiet && rnd_one_in(&m->draw, 2)) {
		x = rnd_node(m, X_ENTRY, text_of(m->set->strsize));
		x->index = 6;
		x->spelling = "entry.arg6";
		return x;
	}
	x = rnd_node(m, X_ARG, text_of(m->set->strsize));
	x->index = rnd_one_in(&m->draw, 3) ? 9 : 6;
	x->spelling = weft_arena_printf(m->set->arena, "arg%u", x->index);
	return x;
}

static struct rnd_x *leaf(struct rnd_maker *m)
{
	uint32_t i;
	struct rnd_x *x;

	switch (rnd_below(&m->draw, 6)) {
	case 0:
		x = rnd_node(m, X_VAR, text_of(16));
		x->spelling = "execname";
		return x;
	case 1:
		i = rnd_below(&m->draw, m->set->n_params);
		if (m->set->params[i].type.kind != RND_TEXT)
			return rnd_text_literal(m, m->set->strsize);
		x = rnd_node(m, X_PARAM, m->set->params[i].type);
		x->index = i;
		return x;
	case 2:
		i = m->n_locals ? rnd_below(&m->draw, m->n_locals) : 0;
		if (!m->n_locals || m->quiet || m->clause->locals[i].type.kind != RND_TEXT)
			return rnd_text_literal(m, m->set->strsize);
		x = rnd_node(m, X_LOCAL, m->clause->locals[i].type);
		x->index = i;
		x->spelling = m->clause->locals[i].name;
		return x;
	default:
		return argument(m);
	}
}

static struct rnd_x *variable(struct rnd_maker *m, unsigned depth)
{
	uint32_t var = m->set->n_vars ? rnd_below(&m->draw, m->set->n_vars) : 0;
	struct rnd_x *x, *v;

	if (!m->set->n_vars || m->quiet || m->set->vars[var].type.kind != RND_TEXT ||
	    !rnd_var_suits(m, var))
		return leaf(m);
	m->set->vars[var].mentioned = true;
	v = rnd_state(m, var, depth);
	if (rnd_one_in(&m->draw, 4))
		return v;
	x = rnd_node(m, X_DEFAULT, v->type);
	x->op = O_DEFAULT;
	x->n_kids = 2;
	x->kid[0] = v;
	x->kid[1] = rnd_text_x(m, depth - 1);
	return x;
}

static struct rnd_x *part(struct rnd_maker *m, unsigned depth)
{
	struct rnd_x *x = rnd_node(m, X_CALL, text_of(0)), *s = rnd_text_x(m, depth - 1);
	uint64_t n;

	if (rnd_one_in(&m->draw, 3)) {
		x->function = F_BASENAME;
		x->kid[0] = s;
		x->n_kids = 1;
		x->type.cap = s->type.cap;
		return x;
	}
	x->function = F_SUBSTR;
	x->kid[0] = s;
	x->kid[1] = rnd_one_in(&m->draw, 2) ? rnd_literal(m, rnd_below(&m->draw, 6))
					    : rnd_int(m, depth - 1);
	x->n_kids = 2;
	x->type.cap = s->type.cap;
	if (rnd_one_in(&m->draw, 3))
		return x;
	x->kid[2] = rnd_one_in(&m->draw, 2) ? rnd_literal(m, rnd_below(&m->draw, 6))
					    : rnd_int(m, depth - 1);
	x->n_kids = 3;
	if (rnd_is_const(m->set, x->kid[2])) {
		n = (uint64_t)rnd_const(m->set, x->kid[2]);
		if (x->kid[2]->type.is_signed && (int64_t)n < 0)
			n = 0;
		if (n < x->type.cap)
			x->type.cap = (uint32_t)n + 1;
	}
	return x;
}

static struct rnd_x *choice(struct rnd_maker *m, unsigned depth)
{
	struct rnd_x *x = rnd_node(m, X_COND, text_of(0));

	x->kid[0] = rnd_int(m, depth - 1);
	x->kid[1] = rnd_text_x(m, depth - 1);
	x->kid[2] = rnd_text_x(m, depth - 1);
	x->n_kids = 3;
	x->type.cap = x->kid[1]->type.cap > x->kid[2]->type.cap ? x->kid[1]->type.cap
								: x->kid[2]->type.cap;
	/* What a constant decides has the length of what it decides for. */
	if (rnd_is_const(m->set, x->kid[0]))
		x->type.cap = x->kid[rnd_const(m->set, x->kid[0]) ? 1 : 2]->type.cap;
	return x;
}

static struct rnd_x *make(struct rnd_maker *m, unsigned depth)
{
	if (!depth)
		return leaf(m);
	switch (rnd_below(&m->draw, 10)) {
	case 0:
		return rnd_text_literal(m, m->set->strsize);
	case 1:
		return m->is_list ? leaf(m) : rnd_member(m, true);
	case 2:
		return m->is_list ? leaf(m) : rnd_read_text(m);
	case 3:
	case 4:
		return variable(m, depth);
	case 5:
	case 6:
		return part(m, depth);
	case 7:
		return choice(m, depth);
	default:
		return leaf(m);
	}
}

struct rnd_x *rnd_text_x(struct rnd_maker *m, unsigned depth)
{
	struct rnd_x *x = make(m, depth);

	if (rnd_is_const(m->set, x))
		x->type.cap = rnd_const_length(m->set, x) + 1;
	return x;
}
