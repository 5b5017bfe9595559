/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arithmetic is done in 128 bits and cut to 64, so that nothing overflows and no code is shared
 * with what is tested.
 */
#include "eval.h"

typedef __int128 wide;

static wide widen(int64_t bits, bool is_signed)
{
	return is_signed ? (wide)bits : (wide)(uint64_t)bits;
}

static int64_t cut(wide v)
{
	return (int64_t)(uint64_t)v;
}

static int64_t narrow(int64_t bits, const struct weft_type *t)
{
	wide modulus = (wide)1 << (8 * t->size), v = (wide)(uint64_t)bits % modulus;

	if (t->is_signed && v >= modulus / 2)
		v -= modulus;
	return cut(v);
}

static wide floor_shift(wide a, unsigned n)
{
	wide divisor = (wide)1 << n, q = a / divisor;

	return a % divisor < 0 ? q - 1 : q;
}

static bool binary(enum weft_op op, wide a, wide b, wide *r)
{
	unsigned count = (unsigned)((uint64_t)b % 64);

	switch (op) {
	case WEFT_OP_ADD:
		*r = a + b;
		return true;
	case WEFT_OP_SUB:
		*r = a - b;
		return true;
	case WEFT_OP_MUL: /* the low half alone, by halves */
		*r = (wide)((uint64_t)a * (uint64_t)b);
		return true;
	case WEFT_OP_DIV:
		if (b)
			*r = a / b;
		return b != 0;
	case WEFT_OP_MOD:
		if (b)
			*r = a % b;
		return b != 0;
	case WEFT_OP_AND:
		*r = a & b;
		return true;
	case WEFT_OP_OR:
		*r = a | b;
		return true;
	case WEFT_OP_XOR:
		*r = a ^ b;
		return true;
	case WEFT_OP_SHL:
		*r = (wide)((unsigned __int128)(uint64_t)a << count);
		return true;
	case WEFT_OP_SHR:
		*r = floor_shift(a, count);
		return true;
	case WEFT_OP_EQ:
		*r = a == b;
		return true;
	case WEFT_OP_NE:
		*r = a != b;
		return true;
	case WEFT_OP_LT:
		*r = a < b;
		return true;
	case WEFT_OP_LE:
		*r = a <= b;
		return true;
	case WEFT_OP_GT:
		*r = a > b;
		return true;
	default: /* WEFT_OP_GE */
		*r = a >= b;
		return true;
	}
}

static bool eval_binary(const struct weft_node *n, const uint64_t *args, int64_t *out)
{
	bool is_signed = n->kid[0]->type.is_signed;
	int64_t a, b;
	wide r;

	if (!eval(n->kid[0], args, &a) || !eval(n->kid[1], args, &b))
		return false;
	if (!binary(n->op, widen(a, is_signed), widen(b, is_signed), &r))
		return false;
	*out = cut(r);
	return true;
}

bool eval(const struct weft_node *n, const uint64_t *args, int64_t *out)
{
	int64_t a;

	switch (n->kind) {
	case WEFT_NODE_INT:
		*out = n->value;
		return true;
	case WEFT_NODE_ARG:
		*out = narrow((int64_t)args[n->index], &n->type);
		return true;
	case WEFT_NODE_UNARY:
		if (!eval(n->kid[0], args, &a))
			return false;
		if (n->op == WEFT_OP_NEG)
			*out = cut(-(wide)a);
		else if (n->op == WEFT_OP_NOT)
			*out = ~a;
		else
			*out = !a;
		return true;
	case WEFT_NODE_BINARY:
		return eval_binary(n, args, out);
	case WEFT_NODE_LOGICAL:
		if (!eval(n->kid[0], args, &a))
			return false;
		if ((a != 0) == (n->op == WEFT_OP_LOGOR)) {
			*out = a != 0;
			return true;
		}
		if (!eval(n->kid[1], args, &a))
			return false;
		*out = a != 0;
		return true;
	case WEFT_NODE_COND:
		if (!eval(n->kid[0], args, &a))
			return false;
		return eval(n->kid[a ? 1 : 2], args, out);
	case WEFT_NODE_CAST:
		if (!eval(n->kid[0], args, &a))
			return false;
		*out = narrow(a, &n->type);
		return true;
	default:
		return false;
	}
}
