/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What operators compute, on constants: exactly what the BPF code does with values. Everything is
 * done on unsigned words, where C defines wrapping; signs matter to division, remainder, the right
 * shift and order.
 */
#include "core/lang/sema.h"

static int64_t divide(bool is_signed, int64_t a, int64_t b)
{
	if (!is_signed)
		return (int64_t)((uint64_t)a / (uint64_t)b);
	return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static int64_t remainder_of(bool is_signed, int64_t a, int64_t b)
{
	if (!is_signed)
		return (int64_t)((uint64_t)a % (uint64_t)b);
	return b == -1 ? 0 : a % b;
}

static int64_t shift_right(bool is_signed, int64_t a, unsigned count)
{
	uint64_t bits = (uint64_t)a >> count;

	if (is_signed && a < 0 && count)
		bits |= ~(uint64_t)0 << (64 - count);
	return (int64_t)bits;
}

static bool less(bool is_signed, int64_t a, int64_t b)
{
	return is_signed ? a < b : (uint64_t)a < (uint64_t)b;
}

bool weft_fold_binary(enum weft_op op, bool is_signed, int64_t a, int64_t b, int64_t *out)
{
	uint64_t x = (uint64_t)a, y = (uint64_t)b;

	switch (op) {
	case WEFT_OP_ADD:
		*out = (int64_t)(x + y);
		return true;
	case WEFT_OP_SUB:
		*out = (int64_t)(x - y);
		return true;
	case WEFT_OP_MUL:
		*out = (int64_t)(x * y);
		return true;
	case WEFT_OP_DIV:
	case WEFT_OP_MOD:
		if (b == 0)
			return false;
		*out = op == WEFT_OP_DIV ? divide(is_signed, a, b) : remainder_of(is_signed, a, b);
		return true;
	case WEFT_OP_AND:
		*out = (int64_t)(x & y);
		return true;
	case WEFT_OP_OR:
		*out = (int64_t)(x | y);
		return true;
	case WEFT_OP_XOR:
		*out = (int64_t)(x ^ y);
		return true;
	case WEFT_OP_SHL:
		*out = (int64_t)(x << (y & 63));
		return true;
	case WEFT_OP_SHR:
		*out = shift_right(is_signed, a, (unsigned)(y & 63));
		return true;
	case WEFT_OP_EQ:
		*out = a == b;
		return true;
	case WEFT_OP_NE:
		*out = a != b;
		return true;
	case WEFT_OP_LT:
		*out = less(is_signed, a, b);
		return true;
	case WEFT_OP_LE:
		*out = !less(is_signed, b, a);
		return true;
	case WEFT_OP_GT:
		*out = less(is_signed, b, a);
		return true;
	case WEFT_OP_GE:
		*out = !less(is_signed, a, b);
		return true;
	default:
		*out = 0;
		return true;
	}
}

int64_t weft_fold_unary(enum weft_op op, int64_t a)
{
	switch (op) {
	case WEFT_OP_NEG:
		return (int64_t)(0 - (uint64_t)a);
	case WEFT_OP_NOT:
		return (int64_t) ~(uint64_t)a;
	case WEFT_OP_LOGNOT:
		return a == 0;
	default:
		return a;
	}
}

int64_t weft_fold_cast(int64_t value, uint8_t size, bool is_signed)
{
	unsigned shift = 64 - size * 8u;
	uint64_t bits = (uint64_t)value << shift;

	return is_signed ? shift_right(true, (int64_t)bits, shift) : (int64_t)(bits >> shift);
}
