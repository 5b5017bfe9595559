/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Expressions that are integers. Whatever is made is right by the language's rules, which is why a
 * divisor that turns out to be the constant 0 is replaced, and the argument of log2 likewise.
 */
#include "tests/random/random.h"

#include <inttypes.h>
#include <string.h>

static const struct rnd_type int64 = {.kind = RND_INT, .size = 8, .is_signed = true};
static const struct rnd_type uint64 = {.kind = RND_INT, .size = 8};

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
};

struct rnd_type rnd_promoted(struct rnd_type t)
{
	return t.size == 8 && !t.is_signed ? uint64 : int64;
}

struct rnd_x *rnd_node(struct rnd_maker *m, enum rnd_node node, struct rnd_type type)
{
	struct rnd_x *x = weft_arena_alloc(m->set->arena, sizeof(*x));

	x->node = node;
	x->type = type;
	x->parens = rnd_one_in(&m->draw, 24);
	return x;
}

static struct rnd_x *kids(struct rnd_x *x, struct rnd_x *a, struct rnd_x *b, struct rnd_x *c)
{
	x->kid[0] = a;
	x->kid[1] = b;
	x->kid[2] = c;
	x->n_kids = c ? 3 : b ? 2 : 1;
	return x;
}

/* ---- leaves ---- */

static const struct {
	const char *text;
	uint64_t factor;
} units[] = {
	{"ns", 1},
	{"us", 1000},
	{"ms", 1000000},
	{"s", 1000000000},
	{"m", UINT64_C(60000000000)},
	{"h", UINT64_C(3600000000000)},
	{"d", UINT64_C(86400000000000)},
	{"k", 1024},
	{"M", 1048576},
	{"G", 1073741824},
};

static const char *spelt(struct rnd_maker *m, uint64_t v, bool *is_unsigned)
{
	static const char *const suffixes[] = {"u", "U", "ul", "ULL", "l", "LL"};
	struct weft_arena *a = m->set->arena;
	const char *suffix = "";
	char binary[72];
	size_t k, n = 0;

	*is_unsigned = v > INT64_MAX;
	if (rnd_one_in(&m->draw, 6)) {
		k = rnd_below(&m->draw, N(suffixes));
		suffix = suffixes[k];
		*is_unsigned |= k < 4;
	}
	switch (rnd_below(&m->draw, 8)) {
	case 0:
		return weft_arena_printf(a, "0x%" PRIx64 "%s", v, suffix);
	case 1:
		return weft_arena_printf(a, "%s%" PRIo64 "%s", v ? "0o" : "0", v, suffix);
	case 2:
		return weft_arena_printf(a, "0%" PRIo64 "%s", v, suffix);
	case 3:
		for (int bit = 63; bit >= 0; bit--)
			if (n || v >> bit & 1 || !bit)
				binary[n++] = (char)('0' + (v >> bit & 1));
		binary[n] = '\0';
		return weft_arena_printf(a, "0b%s%s", binary, suffix);
	default:
		return weft_arena_printf(a, "%" PRIu64 "%s", v, suffix);
	}
}

struct rnd_x *rnd_literal(struct rnd_maker *m, uint64_t value)
{
	struct rnd_x *x = rnd_node(m, X_INT, int64);
	bool is_unsigned = false;
	size_t k;

	x->bits = (int64_t)value;
	if (rnd_one_in(&m->draw, 10)) {
		k = rnd_below(&m->draw, N(units));
		x->bits = (int64_t)(rnd_below(&m->draw, 20) * units[k].factor);
		x->spelling = weft_arena_printf(m->set->arena, "%" PRIu64 "%s",
						(uint64_t)x->bits / units[k].factor, units[k].text);
	} else if (value > ' ' && value < 0x7f && value != '\\' && value != '\'' &&
		   rnd_one_in(&m->draw, 2)) {
		x->spelling = weft_arena_printf(m->set->arena, "'%c'", (int)value);
	} else if (value < 256 && value && rnd_one_in(&m->draw, 10)) {
		x->spelling = weft_arena_printf(m->set->arena, "'\\x%02x'", (unsigned)value);
	} else {
		x->spelling = spelt(m, value, &is_unsigned);
		x->type.is_signed = !is_unsigned;
	}
	return x;
}

static struct rnd_x *negative(struct rnd_maker *m, struct rnd_x *of)
{
	struct rnd_x *x = rnd_node(m, X_UNARY, rnd_promoted(of->type));

	x->op = O_NEG;
	return kids(x, of, NULL, NULL);
}

static struct rnd_x *number(struct rnd_maker *m)
{
	uint64_t v = rnd_value(&m->draw);
	struct rnd_x *x;

	/* The one negative number that is not an operator and a number. */
	if (rnd_one_in(&m->draw, 60)) {
		x = rnd_node(m, X_INT, int64);
		x->bits = INT64_MIN;
		x->spelling = "-9223372036854775808";
		return x;
	}
	if ((int64_t)v < 0 && (int64_t)v != INT64_MIN && rnd_below(&m->draw, 4))
		return negative(m, rnd_literal(m, 0 - v));
	return rnd_literal(m, v);
}

static struct rnd_x *argument(struct rnd_maker *m)
{
	uint32_t i = rnd_below(&m->draw, RND_INTS);
	struct rnd_x *x;

	if (rnd_one_in(&m->draw, 20))
		i = rnd_one_in(&m->draw, 2) ? 7 : 10;
	x = rnd_node(m, X_ARG, m->set->args[i]);
	x->index = i;
	x->spelling = weft_arena_printf(m->set->arena, i % 2 ? "arg%u" : "args.n%u", i);
	return x;
}

static struct rnd_x *builtin(struct rnd_maker *m)
{
	static const struct {
		const char *name;
		bool is_signed;
	} vars[] = {{"pid", true}, {"tid", true}, {"uid", false}, {"gid", false}, {"cpu", false}};
	size_t i = rnd_below(&m->draw, N(vars));
	struct rnd_x *x = rnd_node(
		m, X_VAR,
		(struct rnd_type){.kind = RND_INT, .size = 4, .is_signed = vars[i].is_signed});

	x->index = (uint32_t)i;
	x->spelling = vars[i].name;
	return x;
}

static struct rnd_x *param(struct rnd_maker *m)
{
	uint32_t i = rnd_below(&m->draw, m->set->n_params);
	struct rnd_x *x;

	if (m->set->params[i].type.kind != RND_INT)
		return number(m);
	x = rnd_node(m, X_PARAM, m->set->params[i].type);
	x->index = i;
	return x;
}

static struct rnd_x *local(struct rnd_maker *m)
{
	uint32_t i = m->n_locals ? rnd_below(&m->draw, m->n_locals) : 0;
	struct rnd_x *x;

	if (!m->n_locals || m->quiet || m->clause->locals[i].type.kind != RND_INT)
		return argument(m);
	x = rnd_node(m, X_LOCAL, m->clause->locals[i].type);
	x->index = i;
	x->spelling = m->clause->locals[i].name;
	return x;
}

static struct rnd_x *leaf(struct rnd_maker *m)
{
	switch (rnd_below(&m->draw, 16)) {
	case 0:
	case 1:
	case 2:
	case 3:
		return number(m);
	case 4:
		return builtin(m);
	case 5:
		return param(m);
	case 6:
	case 7:
		return local(m);
	default:
		return argument(m);
	}
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
		few = rnd_node(m, X_BINARY, int64);
		few->op = O_AND;
		kids(few, argument(m), rnd_literal(m, rnd_below(&m->draw, 4)), NULL);
		few->type = rnd_promoted(few->kid[0]->type);
		if (!few->kid[1]->type.is_signed)
			few->type = uint64;
		x->kid[k] = rnd_one_in(&m->draw, 4) ? rnd_int(m, depth ? depth - 1 : 0) : few;
	}
	return x;
}

static bool pick_var(struct rnd_maker *m, enum rnd_kind kind, uint32_t *var)
{
	if (!m->set->n_vars || m->quiet)
		return false;
	*var = rnd_below(&m->draw, m->set->n_vars);
	if (m->set->vars[*var].type.kind != kind)
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
		m->set->vars[var].mentioned = true;
		x = rnd_node(m, X_DEFINED, int64);
		return kids(x, rnd_state(m, var, depth), NULL, NULL);
	}
	if (!pick_var(m, RND_INT, &var))
		return leaf(m);
	v = rnd_state(m, var, depth);
	if (rnd_one_in(&m->draw, 4))
		return v;
	x = rnd_node(m, X_DEFAULT, v->type);
	x->op = O_DEFAULT;
	return kids(x, v, rnd_int(m, depth - 1), NULL);
}

/* ---- operators ---- */

struct rnd_x *rnd_cast(struct rnd_maker *m, struct rnd_x *x, uint8_t size, bool is_signed)
{
	struct rnd_x *cast =
		rnd_node(m, X_CAST,
			 (struct rnd_type){.kind = RND_INT, .size = size, .is_signed = is_signed});

	return kids(cast, x, NULL, NULL);
}

static struct rnd_x *unary(struct rnd_maker *m, unsigned depth)
{
	static const enum rnd_op ops[] = {O_NEG, O_NEG, O_NOT, O_LOGNOT, O_LOGNOT, O_PLUS};
	enum rnd_op op = ops[rnd_below(&m->draw, N(ops))];
	struct rnd_x *of = rnd_int(m, depth - 1);
	struct rnd_x *x = rnd_node(m, X_UNARY, op == O_LOGNOT ? int64 : rnd_promoted(of->type));

	x->op = op;
	return kids(x, of, NULL, NULL);
}

static bool compares(enum rnd_op op)
{
	return op >= O_LT && op <= O_NE;
}

static struct rnd_type balanced(const struct rnd_x *a, const struct rnd_x *b)
{
	struct rnd_type x = rnd_promoted(a->type), y = rnd_promoted(b->type);

	return x.is_signed && y.is_signed ? int64 : uint64;
}

static struct rnd_x *binary(struct rnd_maker *m, unsigned depth)
{
	static const enum rnd_op ops[] = {O_MUL, O_DIV, O_MOD, O_ADD, O_SUB, O_SHL, O_SHR, O_LT,
					  O_LE,  O_GT,  O_GE,  O_EQ,  O_NE,  O_AND, O_XOR, O_OR};
	enum rnd_op op = ops[rnd_below(&m->draw, N(ops))];
	struct rnd_x *a = rnd_int(m, depth - 1), *b = rnd_int(m, depth - 1), *x;

	if ((op == O_DIV || op == O_MOD) && rnd_is_const(m->set, b) && !rnd_const(m->set, b))
		b = rnd_literal(m, 3);
	x = rnd_node(m, X_BINARY, int64);
	x->op = op;
	if (op == O_SHL || op == O_SHR)
		x->type = rnd_promoted(a->type);
	else if (!compares(op))
		x->type = balanced(a, b);
	if ((op == O_DIV || op == O_MOD) && rnd_is_const(m->set, b) && !rnd_const(m->set, b))
		op = x->op = O_ADD; /* of the one in a thousand that was given a unit */
	return kids(x, a, b, NULL);
}

static struct rnd_x *logical(struct rnd_maker *m, unsigned depth)
{
	struct rnd_x *x = rnd_node(m, X_LOGICAL, int64);

	x->op = rnd_one_in(&m->draw, 2) ? O_LOGAND : O_LOGOR;
	return kids(x, rnd_int(m, depth - 1), rnd_int(m, depth - 1), NULL);
}

static struct rnd_x *choice(struct rnd_maker *m, unsigned depth)
{
	struct rnd_x *c = rnd_int(m, depth - 1), *a = rnd_int(m, depth - 1);
	struct rnd_x *b = rnd_int(m, depth - 1);

	return kids(rnd_node(m, X_COND, balanced(a, b)), c, a, b);
}

static struct rnd_x *same_text(struct rnd_maker *m, unsigned depth)
{
	struct rnd_x *x = rnd_node(m, X_BINARY, int64), *a = rnd_text_x(m, depth - 1), *b;

	x->op = rnd_one_in(&m->draw, 2) ? O_EQ : O_NE;
	b = rnd_below(&m->draw, 3) ? rnd_text_literal(m, a->type.cap) : rnd_text_x(m, depth - 1);
	/* A constant that the other side can never be is refused. */
	if (rnd_is_const(m->set, a) && !rnd_is_const(m->set, b) && a->type.cap > b->type.cap)
		b = rnd_text_literal(m, m->set->strsize);
	if (!rnd_is_const(m->set, a) && rnd_is_const(m->set, b) && b->type.cap > a->type.cap)
		b = rnd_text_literal(m, a->type.cap);
	return rnd_one_in(&m->draw, 2) ? kids(x, a, b, NULL) : kids(x, b, a, NULL);
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
	struct rnd_x *x = rnd_node(m, X_BINARY, int64), *p = rnd_probe(m);
	struct rnd_x *text = rnd_text_literal(m, m->set->strsize);

	if (rnd_below(&m->draw, 5)) {
		const char *s = rnd_probes[rnd_below(&m->draw, RND_PROBES)][p->index];

		text->text = (struct rnd_text){(const uint8_t *)s, (uint32_t)strlen(s)};
	}
	x->op = rnd_one_in(&m->draw, 2) ? O_EQ : O_NE;
	return rnd_one_in(&m->draw, 2) ? kids(x, p, text, NULL) : kids(x, text, p, NULL);
}

/* ---- calls ---- */

static struct rnd_x *call(struct rnd_maker *m, enum rnd_function f, struct rnd_type type)
{
	struct rnd_x *x = rnd_node(m, X_CALL, type);

	x->function = f;
	return x;
}

static struct rnd_x *of_number(struct rnd_maker *m, unsigned depth)
{
	static const uint8_t sizes[] = {2, 4, 8, 2, 4, 8};
	enum rnd_function f = (enum rnd_function)(F_ABS + rnd_below(&m->draw, F_HTONLL - F_ABS + 1));
	struct rnd_x *a = rnd_int(m, depth - 1), *b;

	if (f == F_MIN || f == F_MAX) {
		b = rnd_int(m, depth - 1);
		return kids(call(m, f, balanced(a, b)), a, b, NULL);
	}
	if (f == F_ABS)
		return kids(call(m, f, rnd_promoted(a->type)), a, NULL, NULL);
	if (f != F_LOG2)
		return kids(
			call(m, f, (struct rnd_type){.kind = RND_INT, .size = sizes[f - F_NTOHS]}),
			a, NULL, NULL);
	if (rnd_is_const(m->set, a) &&
	    (!rnd_const(m->set, a) || (rnd_const(m->set, a) < 0 && a->type.is_signed)))
		a = argument(m);
	return kids(call(m, f, int64), a, NULL, NULL);
}

static struct rnd_x *of_text(struct rnd_maker *m, unsigned depth)
{
	enum rnd_function f = (enum rnd_function)(
		F_STRCONTAINS + rnd_below(&m->draw, F_ENDSWITH - F_STRCONTAINS + 1));
	struct rnd_x *s = rnd_text_x(m, depth - 1);

	if (rnd_one_in(&m->draw, 4))
		return kids(call(m, F_STRLEN, int64), s, NULL, NULL);
	return kids(call(m, f, int64), s, rnd_text_literal(m, s->type.cap), NULL);
}

/* An address that leads somewhere, as far as its bits go. */
static struct rnd_x *address(struct rnd_maker *m, bool user)
{
	struct rnd_x *x = argument(m), *sum;

	while (x->type.size != 8 || (x->type.points == RND_KERNEL && user) ||
	       (x->type.points == RND_USER && !user))
		x = argument(m);
	if (rnd_below(&m->draw, 4))
		return x;
	sum = rnd_node(m, X_BINARY, x->type);
	sum->op = O_ADD;
	kids(sum, x, rnd_literal(m, rnd_below(&m->draw, 9)), NULL);
	sum->type = balanced(sum->kid[0], sum->kid[1]);
	sum->type.points = x->type.points;
	return sum;
}

static struct rnd_x *peek(struct rnd_maker *m)
{
	uint8_t size = (uint8_t)(1u << rnd_below(&m->draw, 4));
	enum rnd_function f = rnd_below(&m->draw, 5) ? F_PEEK : F_KPEEK;
	struct rnd_x *n = rnd_node(m, X_INT, int64);

	n->bits = size;
	n->spelling = weft_arena_printf(m->set->arena, "%u", size);
	return kids(call(m, f, (struct rnd_type){.kind = RND_INT, .size = size}),
		    address(m, f == F_PEEK && rnd_below(&m->draw, 5)), n, NULL);
}

/* ---- members ---- */

#define I(n, s)                                                \
	{                                                      \
		.kind = RND_INT, .size = (n), .is_signed = (s) \
	}
const struct rnd_member rnd_members[M_MEMBERS] = {
	[M_A] = {"a", 0, I(1, false), 0, 0, 0},
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

struct rnd_x *rnd_member(struct rnd_maker *m, bool text)
{
	uint32_t i = text ? M_NAME : rnd_below(&m->draw, M_NEXT);
	struct rnd_x *x, *of = address(m, true);

	while (!text && i == M_NAME)
		i = rnd_below(&m->draw, M_NEXT);
	if (rnd_one_in(&m->draw, 5)) {
		x = rnd_node(m, X_MEMBER, rnd_members[M_NEXT].type);
		x->index = M_NEXT;
		x->parens = false;
		of = kids(x, of, NULL, NULL);
	}
	x = rnd_node(m, X_MEMBER, rnd_members[i].type);
	x->index = i;
	kids(x, of, NULL, NULL);
	if (i != M_NUMS)
		return x;
	x->kid[1] = rnd_int(m, 1);
	if (rnd_is_const(m->set, x->kid[1]))
		x->kid[1] = argument(m);
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
		n = argument(m);
		if (rnd_below(&m->draw, 3)) {
			mask = rnd_node(m, X_BINARY, int64);
			mask->op = O_AND;
			kids(mask, n, rnd_literal(m, 2 * cap - 1), NULL);
			mask->type = balanced(n, mask->kid[1]);
			n = mask;
		}
	}
	return kids(x, address(m, user), n, NULL);
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

struct rnd_x *rnd_int(struct rnd_maker *m, unsigned depth)
{
	static const uint8_t sizes[] = {1, 2, 4, 8};

	if (!depth)
		return leaf(m);
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
		return is_probe(m);
	case 10:
		return m->quiet ? leaf(m) : same_text(m, depth);
	case 11:
		return m->quiet ? leaf(m) : of_text(m, depth);
	case 12:
	case 13:
		return of_number(m, depth);
	case 14:
		return m->quiet                  ? leaf(m)
		       : rnd_one_in(&m->draw, 2) ? peek(m)
						 : rnd_member(m, false);
	case 15:
	case 16:
	case 17:
		return leaf(m);
	default:
		return binary(m, depth);
	}
}
