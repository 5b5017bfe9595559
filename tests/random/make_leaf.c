/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Integers that need no operator: literals in all their spellings, arguments, variables of the run. */
#include "tests/random/make.h"

#include <inttypes.h>

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
	struct rnd_x *x = rnd_node(m, X_INT, RND_INT64);
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
	return rnd_kids(x, of, NULL, NULL);
}

static struct rnd_x *number(struct rnd_maker *m)
{
	uint64_t v = rnd_value(&m->draw);
	struct rnd_x *x;

	/* The one negative number that is not an operator and a number. */
	if (rnd_one_in(&m->draw, 60)) {
		x = rnd_node(m, X_INT, RND_INT64);
		x->bits = INT64_MIN;
		x->spelling = "-9223372036854775808";
		return x;
	}
	if ((int64_t)v < 0 && (int64_t)v != INT64_MIN && rnd_below(&m->draw, 4))
		return negative(m, rnd_literal(m, 0 - v));
	return rnd_literal(m, v);
}

struct rnd_x *rnd_argument(struct rnd_maker *m)
{
	uint32_t i = rnd_below(&m->draw, RND_INTS);
	struct rnd_x *x;

	if (m->is_list)
		return number(m);
	if (m->is_return && !m->quiet && rnd_one_in(&m->draw, 3)) {
		x = rnd_node(m, X_ENTRY, m->set->args[i]);
		x->index = i;
		x->spelling =
			weft_arena_printf(m->set->arena, i % 2 ? "entry.arg%u" : "entry.n%u", i);
		return x;
	}
	if (rnd_one_in(&m->draw, 20))
		i = rnd_one_in(&m->draw, 2) ? 7 : 10;
	x = rnd_node(m, X_ARG, m->set->args[i]);
	x->index = i;
	x->spelling = weft_arena_printf(m->set->arena, i % 2 ? "arg%u" : "args.n%u", i);
	return x;
}

struct rnd_x *rnd_builtin(struct rnd_maker *m)
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
		return rnd_argument(m);
	x = rnd_node(m, X_LOCAL, m->clause->locals[i].type);
	x->index = i;
	x->spelling = m->clause->locals[i].name;
	return x;
}

struct rnd_x *rnd_leaf(struct rnd_maker *m)
{
	switch (rnd_below(&m->draw, 16)) {
	case 0:
	case 1:
	case 2:
	case 3:
		return number(m);
	case 4:
		return rnd_builtin(m);
	case 5:
		return param(m);
	case 6:
	case 7:
		return local(m);
	default:
		return rnd_argument(m);
	}
}
