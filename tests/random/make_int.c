/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Expressions that are integers. Whatever is made is right by the language's rules, which is why a
 * divisor that turns out to be the constant 0 is replaced, and the argument of log2 likewise.
 */
#include "tests/random/make.h"

#include <string.h>

const struct rnd_op_row rnd_ops[] = {
	[O_NONE] = {"", 0},      [O_NEG] = {"-", 1},     [O_NOT] = {"~", 1},
	[O_LOGNOT] = {"!", 1},   [O_PLUS] = {"+", 1},    [O_MUL] = {"*", 2},
	[O_DIV] = {"/", 2},      [O_MOD] = {"%", 2},     [O_ADD] = {"+", 3},
	[O_SUB] = {"-", 3},      [O_SHL] = {"<<", 4},    [O_SHR] = {">>", 4},
	[O_LT] = {"<", 6},       [O_LE] = {"<=", 6},     [O_GT] = {">", 6},
	[O_GE] = {">=", 6},      [O_EQ] = {"==", 7},     [O_NE] = {"!=", 7},
	[O_AND] = {"&", 8},      [O_XOR] = {"^", 9},     [O_OR] = {"|", 10},
	[O_LOGAND] = {"&&", 11}, [O_LOGOR] = {"||", 12}, [O_DEFAULT] = {"??", 5},
};

const char *const rnd_functions[] = {
	[F_COPYINSTR] = "copyinstr",
	[F_STR] = "str",
	[F_KSTR] = "kstr",
	[F_COPYIN] = "copyin",
	[F_MEM] = "mem",
	[F_KMEM] = "kmem",
	[F_PEEK] = "peek",
	[F_KPEEK] = "kpeek",
	[F_STRLEN] = "strlen",
	[F_SUBSTR] = "substr",
	[F_BASENAME] = "basename",
	[F_STRCONTAINS] = "strcontains",
	[F_STARTSWITH] = "startswith",
	[F_ENDSWITH] = "endswith",
	[F_ABS] = "abs",
	[F_MIN] = "min",
	[F_MAX] = "max",
	[F_LOG2] = "log2",
	[F_NTOHS] = "ntohs",
	[F_NTOHL] = "ntohl",
	[F_NTOHLL] = "ntohll",
	[F_HTONS] = "htons",
	[F_HTONL] = "htonl",
	[F_HTONLL] = "htonll",
	[F_IPV4] = "ipv4",
	[F_IPV6] = "ipv6",
};

struct rnd_type rnd_promoted(struct rnd_type t)
{
	return t.size == 8 && !t.is_signed ? RND_UINT64 : RND_INT64;
}

struct rnd_x *rnd_node(struct rnd_maker *m, enum rnd_node node, struct rnd_type type)
{
	struct rnd_x *x = weft_arena_alloc(m->set->arena, sizeof(*x));

	x->node = node;
	x->type = type;
	x->parens = rnd_one_in(&m->draw, 24);
	return x;
}

struct rnd_x *rnd_kids(struct rnd_x *x, struct rnd_x *a, struct rnd_x *b, struct rnd_x *c)
{
	x->kid[0] = a;
	x->kid[1] = b;
	x->kid[2] = c;
	x->n_kids = c ? 3 : b ? 2 : 1;
	return x;
}

/* ---- variables ---- */

struct rnd_x *rnd_state(struct rnd_maker *m, uint32_t var, unsigned depth)
{
	const struct rnd_var *v = &m->set->vars[var];
	struct rnd_x *x = rnd_node(m, X_STATE, v->type), *few;

	x->index = var;
	x->n_kids = v->n_keys;
	for (uint32_t k = 0; k < v->n_keys; k++) {
		if (v->keys[k] == RND_PROBE) {
			x->kid[k] = rnd_probe(m);
			continue;
		}
		if (v->keys[k] == RND_TEXT) {
			x->kid[k] = rnd_text_x(m, depth ? depth - 1 : 0);
			continue;
		}
		/* Few elements, so that they are met again. */
		few = rnd_node(m, X_BINARY, RND_INT64);
		few->op = O_AND;
		rnd_kids(few, rnd_argument(m), rnd_literal(m, rnd_below(&m->draw, 4)), NULL);
		few->type = rnd_promoted(few->kid[0]->type);
		if (!few->kid[1]->type.is_signed)
			few->type = RND_UINT64;
		x->kid[k] = rnd_one_in(&m->draw, 4) ? rnd_int(m, depth ? depth - 1 : 0) : few;
	}
	return x;
}

bool rnd_var_suits(const struct rnd_maker *m, uint32_t var)
{
	const struct rnd_var *v = &m->set->vars[var];

	for (uint32_t k = 0; k < v->n_keys && m->is_list; k++)
		if (v->keys[k] == RND_PROBE)
			return false;
	return true;
}

static bool pick_var(struct rnd_maker *m, enum rnd_kind kind, uint32_t *var)
{
	if (!m->set->n_vars || m->quiet)
		return false;
	*var = rnd_below(&m->draw, m->set->n_vars);
	if (m->set->vars[*var].type.kind != kind || !rnd_var_suits(m, *var))
		return false;
	m->set->vars[*var].mentioned = true;
	return true;
}

static struct rnd_x *of_variable(struct rnd_maker *m, unsigned depth)
{
	struct rnd_x *x, *v;
	uint32_t var;

	if (!rnd_below(&m->draw, 4) && m->set->n_vars && !m->quiet) {
		var = rnd_below(&m->draw, m->set->n_vars);
		if (!rnd_var_suits(m, var))
			return rnd_leaf(m);
		m->set->vars[var].mentioned = true;
		x = rnd_node(m, X_DEFINED, RND_INT64);
		return rnd_kids(x, rnd_state(m, var, depth), NULL, NULL);
	}
	if (!pick_var(m, RND_INT, &var))
		return rnd_leaf(m);
	v = rnd_state(m, var, depth);
	if (rnd_one_in(&m->draw, 4))
		return v;
	x = rnd_node(m, X_DEFAULT, v->type);
	x->op = O_DEFAULT;
	return rnd_kids(x, v, rnd_int(m, depth - 1), NULL);
}

/* ---- operators ---- */

struct rnd_x *rnd_cast(struct rnd_maker *m, struct rnd_x *x, uint8_t size, bool is_signed)
{
	struct rnd_x *cast =
		rnd_node(m, X_CAST,
			 (struct rnd_type){.kind = RND_INT, .size = size, .is_signed = is_signed});

	return rnd_kids(cast, x, NULL, NULL);
}

static struct rnd_x *unary(struct rnd_maker *m, unsigned depth)
{
	static const enum rnd_op ops[] = {O_NEG, O_NEG, O_NOT, O_LOGNOT, O_LOGNOT, O_PLUS};
	enum rnd_op op = ops[rnd_below(&m->draw, N(ops))];
	struct rnd_x *of = rnd_int(m, depth - 1);
	struct rnd_x *x = rnd_node(m, X_UNARY, op == O_LOGNOT ? RND_INT64 : rnd_promoted(of->type));

	x->op = op;
	return rnd_kids(x, of, NULL, NULL);
}

static bool compares(enum rnd_op op)
{
	return op >= O_LT && op <= O_NE;
}

struct rnd_type rnd_balanced(const struct rnd_x *a, const struct rnd_x *b)
{
	struct rnd_type x = rnd_promoted(a->type), y = rnd_promoted(b->type);

	return x.is_signed && y.is_signed ? RND_INT64 : RND_UINT64;
}

static struct rnd_x *binary(struct rnd_maker *m, unsigned depth)
{
	static const enum rnd_op ops[] = {O_MUL, O_DIV, O_MOD, O_ADD, O_SUB, O_SHL, O_SHR, O_LT,
					  O_LE,  O_GT,  O_GE,  O_EQ,  O_NE,  O_AND, O_XOR, O_OR};
	enum rnd_op op = ops[rnd_below(&m->draw, N(ops))];
	struct rnd_x *a = rnd_int(m, depth - 1), *b = rnd_int(m, depth - 1), *x;

	if ((op == O_DIV || op == O_MOD) && rnd_is_const(m->set, b) && !rnd_const(m->set, b))
		b = rnd_literal(m, 3);
	x = rnd_node(m, X_BINARY, RND_INT64);
	x->op = op;
	if (op == O_SHL || op == O_SHR)
		x->type = rnd_promoted(a->type);
	else if (!compares(op))
		x->type = rnd_balanced(a, b);
	if ((op == O_DIV || op == O_MOD) && rnd_is_const(m->set, b) && !rnd_const(m->set, b))
		op = x->op = O_ADD; /* of the one in a thousand that was given a unit */
	return rnd_kids(x, a, b, NULL);
}

static struct rnd_x *logical(struct rnd_maker *m, unsigned depth)
{
	struct rnd_x *x = rnd_node(m, X_LOGICAL, RND_INT64);

	x->op = rnd_one_in(&m->draw, 2) ? O_LOGAND : O_LOGOR;
	return rnd_kids(x, rnd_int(m, depth - 1), rnd_int(m, depth - 1), NULL);
}

static struct rnd_x *choice(struct rnd_maker *m, unsigned depth)
{
	struct rnd_x *c = rnd_int(m, depth - 1), *a = rnd_int(m, depth - 1);
	struct rnd_x *b = rnd_int(m, depth - 1);

	return rnd_kids(rnd_node(m, X_COND, rnd_balanced(a, b)), c, a, b);
}

static struct rnd_x *same_text(struct rnd_maker *m, unsigned depth)
{
	struct rnd_x *x = rnd_node(m, X_BINARY, RND_INT64), *a = rnd_text_x(m, depth - 1), *b;

	x->op = rnd_one_in(&m->draw, 2) ? O_EQ : O_NE;
	b = rnd_below(&m->draw, 3) ? rnd_text_literal(m, a->type.cap) : rnd_text_x(m, depth - 1);
	/* A constant that the other side can never be is refused. */
	if (rnd_is_const(m->set, a) && !rnd_is_const(m->set, b) && a->type.cap > b->type.cap)
		b = rnd_text_literal(m, m->set->strsize);
	if (!rnd_is_const(m->set, a) && rnd_is_const(m->set, b) && b->type.cap > a->type.cap)
		b = rnd_text_literal(m, a->type.cap);
	return rnd_one_in(&m->draw, 2) ? rnd_kids(x, a, b, NULL) : rnd_kids(x, b, a, NULL);
}

/* ---- the probe ---- */

const char *const rnd_probes[RND_PROBES][4] = {
	{"t", "m", "f", "n"}, {"t", "m", "g", "n"}, {"t", "lib", "f", "other"}};

struct rnd_x *rnd_probe(struct rnd_maker *m)
{
	static const char *const names[] = {"probeprov", "probemod", "probefunc", "probename"};
	struct rnd_x *x = rnd_node(m, X_PROBE, (struct rnd_type){.kind = RND_PROBE});

	x->index = rnd_below(&m->draw, 4);
	x->spelling = names[x->index];
	return x;
}

static struct rnd_x *is_probe(struct rnd_maker *m)
{
	struct rnd_x *x = rnd_node(m, X_BINARY, RND_INT64), *p = rnd_probe(m);
	struct rnd_x *text = rnd_text_literal(m, m->set->strsize);

	if (rnd_below(&m->draw, 5)) {
		const char *s = rnd_probes[rnd_below(&m->draw, RND_PROBES)][p->index];

		text->text = (struct rnd_text){(const uint8_t *)s, (uint32_t)strlen(s)};
	}
	x->op = rnd_one_in(&m->draw, 2) ? O_EQ : O_NE;
	return rnd_one_in(&m->draw, 2) ? rnd_kids(x, p, text, NULL) : rnd_kids(x, text, p, NULL);
}

/* What took how long cannot be told, but that it took some time. */
static struct rnd_x *is_paired(struct rnd_maker *m)
{
	struct rnd_x *x = rnd_node(m, X_BINARY, RND_INT64), *e = rnd_node(m, X_ENTRY, RND_INT64);

	e->index = RND_ARGS;
	e->spelling = "elapsed";
	x->op = O_GE;
	rnd_kids(x, e, rnd_node(m, X_INT, RND_INT64), NULL);
	x->kid[1]->spelling = "0";
	return x;
}

/* A value of an enum and a name of it. */
static struct rnd_x *is_constant(struct rnd_maker *m)
{
	struct rnd_x *x = rnd_node(m, X_BINARY, RND_INT64), *a = rnd_enum(m);
	struct rnd_x *b = rnd_node(m, X_INT, RND_INT64);
	uint32_t i = rnd_below(&m->draw, N(rnd_constants));

	x->op = (enum rnd_op)(O_LT + rnd_below(&m->draw, O_NE - O_LT + 1));
	a->parens = b->parens = false;
	b->bits = rnd_constants[i].value;
	b->spelling = rnd_constants[i].name;
	return rnd_one_in(&m->draw, 2) ? rnd_kids(x, a, b, NULL) : rnd_kids(x, b, a, NULL);
}

struct rnd_x *rnd_int(struct rnd_maker *m, unsigned depth)
{
	static const uint8_t sizes[] = {1, 2, 4, 8};

	if (!depth)
		return rnd_leaf(m);
	switch (rnd_below(&m->draw, 24)) {
	case 0:
	case 1:
		return unary(m, depth);
	case 2:
	case 3:
		return rnd_cast(m, rnd_int(m, depth - 1), sizes[rnd_below(&m->draw, 4)],
				rnd_one_in(&m->draw, 2));
	case 4:
	case 5:
		return logical(m, depth);
	case 6:
		return choice(m, depth);
	case 7:
	case 8:
		return of_variable(m, depth);
	case 9:
		if (m->is_return && !m->quiet && rnd_one_in(&m->draw, 2))
			return is_paired(m);
		return m->is_list                             ? rnd_leaf(m)
		       : rnd_one_in(&m->draw, 4) && !m->quiet ? is_constant(m)
							      : is_probe(m);
	case 10:
		return m->quiet ? rnd_leaf(m) : same_text(m, depth);
	case 11:
		return m->quiet ? rnd_leaf(m) : rnd_of_text(m, depth);
	case 12:
	case 13:
		return rnd_of_number(m, depth);
	case 14:
		return m->quiet || m->is_list    ? rnd_leaf(m)
		       : rnd_one_in(&m->draw, 2) ? rnd_peek(m)
						 : rnd_member(m, false);
	case 15:
	case 16:
	case 17:
		return rnd_leaf(m);
	default:
		return binary(m, depth);
	}
}
