/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions, members of structs, and whatever else reads memory. */
#include "tests/random/make.h"

static struct rnd_x *call(struct rnd_maker *m, enum rnd_function f, struct rnd_type type)
{
	struct rnd_x *x = rnd_node(m, X_CALL, type);

	x->function = f;
	return x;
}

struct rnd_x *rnd_of_number(struct rnd_maker *m, unsigned depth)
{
	static const uint8_t sizes[] = {2, 4, 8, 2, 4, 8};
	enum rnd_function f = (enum rnd_function)(F_ABS + rnd_below(&m->draw, F_HTONLL - F_ABS + 1));
	struct rnd_x *a = rnd_int(m, depth - 1), *b;

	if (f == F_MIN || f == F_MAX) {
		b = rnd_int(m, depth - 1);
		return rnd_kids(call(m, f, rnd_balanced(a, b)), a, b, NULL);
	}
	if (f == F_ABS)
		return rnd_kids(call(m, f, rnd_promoted(a->type)), a, NULL, NULL);
	if (f != F_LOG2)
		return rnd_kids(
			call(m, f, (struct rnd_type){.kind = RND_INT, .size = sizes[f - F_NTOHS]}),
			a, NULL, NULL);
	if (rnd_is_const(m->set, a) &&
	    (!rnd_const(m->set, a) || (rnd_const(m->set, a) < 0 && a->type.is_signed)))
		a = m->is_list ? rnd_builtin(m) : rnd_argument(m);
	return rnd_kids(call(m, f, RND_INT64), a, NULL, NULL);
}

struct rnd_x *rnd_of_text(struct rnd_maker *m, unsigned depth)
{
	enum rnd_function f = (enum rnd_function)(
		F_STRCONTAINS + rnd_below(&m->draw, F_ENDSWITH - F_STRCONTAINS + 1));
	struct rnd_x *s = rnd_text_x(m, depth - 1);

	if (rnd_one_in(&m->draw, 4))
		return rnd_kids(call(m, F_STRLEN, RND_INT64), s, NULL, NULL);
	return rnd_kids(call(m, f, RND_INT64), s, rnd_text_literal(m, s->type.cap), NULL);
}

/* An address that leads somewhere, as far as its bits go. */
static struct rnd_x *address(struct rnd_maker *m, bool user)
{
	struct rnd_x *x = rnd_argument(m), *sum;

	while (x->type.size != 8 || x->node == X_ENTRY || (x->type.points == RND_KERNEL && user) ||
	       (x->type.points == RND_USER && !user))
		x = rnd_argument(m);
	if (x->type.points == RND_KERNEL || rnd_below(&m->draw, 4))
		return x; /* what else the kernel has nearby is not for us to know */
	sum = rnd_node(m, X_BINARY, x->type);
	sum->op = O_ADD;
	rnd_kids(sum, x, rnd_literal(m, rnd_below(&m->draw, 9)), NULL);
	sum->type = rnd_balanced(sum->kid[0], sum->kid[1]);
	sum->type.points = x->type.points;
	return sum;
}

struct rnd_x *rnd_peek(struct rnd_maker *m)
{
	uint8_t size = (uint8_t)(1u << rnd_below(&m->draw, 4));
	enum rnd_function f = rnd_below(&m->draw, 5) ? F_PEEK : F_KPEEK;
	struct rnd_x *n = rnd_node(m, X_INT, RND_INT64);

	n->bits = size;
	n->spelling = weft_arena_printf(m->set->arena, "%u", size);
	return rnd_kids(call(m, f, (struct rnd_type){.kind = RND_INT, .size = size}),
			address(m, f == F_PEEK && rnd_below(&m->draw, 5)), n, NULL);
}

/* ---- members ---- */

#define I(n, s)                                                \
	{                                                      \
		.kind = RND_INT, .size = (n), .is_signed = (s) \
	}
const struct rnd_member rnd_members[M_MEMBERS] = {
	[M_A] = {"a", 0, I(1, false), 0, 0, 0},
	[M_KIND] = {"kind", 1, {.kind = RND_INT, .size = 1, .is_enum = true}, 0, 0, 0},
	[M_B] = {"b", 2, I(2, true), 0, 0, 0},
	[M_LO] = {"lo", 4, I(4, false), 0, 5, 0},
	[M_MID] = {"mid", 4, I(4, true), 5, 9, 0},
	[M_HI] = {"hi", 4, I(4, false), 14, 18, 0},
	[M_C] = {"c", 8, I(8, true), 0, 0, 0},
	[M_NAME] = {"name", 16, {.kind = RND_TEXT, .cap = 16}, 0, 0, 16},
	[M_NUMS] = {"nums", 32, I(4, true), 0, 0, 4},
	[M_E] = {"inside.e", 48, I(1, true), 0, 0, 0},
	[M_F] = {"inside.f", 52, I(4, false), 0, 0, 0},
	[M_NEXT] = {"next", 56, {.kind = RND_INT, .size = 8, .points = RND_USER}, 0, 0, 0},
};
#undef I

const struct rnd_constant rnd_constants[4] = {
	{"KIND_NONE", 0}, {"KIND_A", 'a'}, {"KIND_X", 'x'}, {"KIND_SLASH", '/'}};

struct rnd_x *rnd_enum(struct rnd_maker *m)
{
	struct rnd_x *x = rnd_node(m, X_MEMBER, rnd_members[M_KIND].type);

	x->index = M_KIND;
	return rnd_kids(x, address(m, true), NULL, NULL);
}

/* Now and then of an item in the kernel's memory. */
static struct rnd_x *item_address(struct rnd_maker *m)
{
	struct rnd_x *x = address(m, true);

	if (!rnd_one_in(&m->draw, 5))
		return x;
	x = rnd_node(m, X_ARG, m->set->args[10]);
	x->index = 10;
	x->spelling = "arg10";
	return x;
}

struct rnd_x *rnd_member(struct rnd_maker *m, bool text)
{
	uint32_t i = text ? M_NAME : rnd_below(&m->draw, M_NEXT);
	struct rnd_x *x, *of = item_address(m);

	while (!text && (i == M_NAME || i == M_KIND))
		i = rnd_below(&m->draw, M_NEXT);
	if (rnd_one_in(&m->draw, 5)) {
		x = rnd_node(m, X_MEMBER, rnd_members[M_NEXT].type);
		x->index = M_NEXT;
		x->parens = false;
		of = rnd_kids(x, of, NULL, NULL);
	}
	x = rnd_node(m, X_MEMBER, rnd_members[i].type);
	x->index = i;
	rnd_kids(x, of, NULL, NULL);
	if (i != M_NUMS)
		return x;
	x->kid[1] = rnd_int(m, 1);
	if (rnd_is_const(m->set, x->kid[1]))
		x->kid[1] = rnd_argument(m);
	x->n_kids = 2;
	return x;
}

/* Of what kind is right for the function; then a length, or none. */

static struct rnd_x *reading(struct rnd_maker *m, enum rnd_function f, struct rnd_type type,
			     bool length)
{
	bool user = f == F_COPYINSTR || f == F_COPYIN ||
		    ((f == F_STR || f == F_MEM) && rnd_below(&m->draw, 6));
	struct rnd_x *x = call(m, f, type), *n = NULL, *mask;
	uint32_t cap = m->set->strsize, fixed;

	if (length && rnd_one_in(&m->draw, 2)) {
		static const int32_t ends[] = {-1, 0, 1};

		fixed = rnd_one_in(&m->draw, 2) ? 1 + rnd_below(&m->draw, 20)
						: cap + (uint32_t)ends[rnd_below(&m->draw, 3)];
		n = rnd_literal(m, fixed);
		if (n->bits < 1 || n->bits > 4096) {
			n->bits = 1;
			n->spelling = "1";
		}
		if (type.kind == RND_BYTES)
			x->type.cap = (uint32_t)n->bits;
		else if (n->bits < cap)
			x->type.cap = (uint32_t)n->bits + 1;
	} else if (length) {
		n = rnd_argument(m);
		if (rnd_below(&m->draw, 3)) {
			mask = rnd_node(m, X_BINARY, RND_INT64);
			mask->op = O_AND;
			rnd_kids(mask, n, rnd_literal(m, 2 * cap - 1), NULL);
			mask->type = rnd_balanced(n, mask->kid[1]);
			n = mask;
		}
	}
	return rnd_kids(x, address(m, user), n, NULL);
}

struct rnd_x *rnd_read_text(struct rnd_maker *m)
{
	static const enum rnd_function f[] = {F_COPYINSTR, F_COPYINSTR, F_STR, F_STR, F_KSTR};
	struct rnd_type t = {.kind = RND_TEXT, .cap = m->set->strsize};

	return reading(m, f[rnd_below(&m->draw, N(f))], t, rnd_one_in(&m->draw, 2));
}

struct rnd_x *rnd_bytes(struct rnd_maker *m)
{
	static const enum rnd_function f[] = {F_COPYIN, F_COPYIN, F_MEM, F_MEM, F_KMEM};
	struct rnd_type t = {.kind = RND_BYTES, .cap = m->set->strsize};
	struct rnd_x *x;

	if (rnd_below(&m->draw, 3))
		return reading(m, f[rnd_below(&m->draw, N(f))], t, true);
	x = rnd_node(m, X_ARG, t);
	x->index = 8;
	x->spelling = "arg8";
	return x;
}

struct rnd_x *rnd_inet(struct rnd_maker *m, uint32_t cap)
{
	struct rnd_type t = {.kind = RND_INET, .cap = cap}, bytes = {.kind = RND_BYTES, .cap = 16};
	struct rnd_x *n;

	if (cap == 4)
		return rnd_kids(call(m, F_IPV4, t), rnd_int(m, 1), NULL, NULL);
	if (rnd_one_in(&m->draw, 3)) {
		n = rnd_bytes(m);
		if (n->type.cap >= 16)
			return rnd_kids(call(m, F_IPV6, t), n, NULL, NULL);
	}
	n = rnd_node(m, X_INT, RND_INT64);
	n->bits = 16;
	n->spelling = "16";
	n = rnd_kids(call(m, F_COPYIN, bytes), address(m, true), n, NULL);
	return rnd_kids(call(m, F_IPV6, t), n, NULL, NULL);
}
