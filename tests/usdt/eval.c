/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "eval.h"

#include <criterion/criterion.h>

static uint64_t extend(uint64_t v, unsigned size, int is_signed)
{
	switch (size) {
	case 1:
		return is_signed ? (uint64_t)(int8_t)v : (uint8_t)v;
	case 2:
		return is_signed ? (uint64_t)(int16_t)v : (uint16_t)v;
	case 4:
		return is_signed ? (uint64_t)(int32_t)v : (uint32_t)v;
	case 8:
		return v;
	default:
		cr_assert_fail("a size of %u", size);
		return 0;
	}
}

uint64_t test_eval(const struct test_machine *m, const struct weft_loc_op *ops, uint32_t n)
{
	uint64_t stack[WEFT_LOC_MAX_DEPTH];
	unsigned depth = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct weft_loc_op *op = &ops[i];
		int is_signed = op->flags & WEFT_LOC_SIGNED;

		switch (op->op) {
		case WEFT_LOC_CONST:
			stack[depth++] = (uint64_t)op->imm;
			break;
		case WEFT_LOC_REG:
			stack[depth++] = extend(m->reg[op->imm] >> op->aux, op->size, is_signed);
			break;
		case WEFT_LOC_USER_PC:
			stack[depth++] = m->pc;
			break;
		case WEFT_LOC_LOAD:
			cr_assert_geq(depth, 1);
			cr_assert(op->flags & WEFT_LOC_USER);
			stack[depth - 1] =
				extend(m->memory(stack[depth - 1] + (uint64_t)op->imm, op->size),
				       op->size, is_signed);
			break;
		case WEFT_LOC_EXTEND:
			cr_assert_geq(depth, 1);
			stack[depth - 1] = extend(stack[depth - 1], op->size, is_signed);
			break;
		case WEFT_LOC_ADD:
			cr_assert_geq(depth, 2);
			depth--;
			stack[depth - 1] += stack[depth];
			break;
		case WEFT_LOC_SHL:
			cr_assert_geq(depth, 2);
			depth--;
			stack[depth - 1] <<= stack[depth] & 63;
			break;
		default:
			cr_assert_fail("operation %u is none that operands need", op->op);
		}
		cr_assert_leq(depth, WEFT_LOC_MAX_DEPTH);
	}
	cr_assert_eq(depth, 1);
	return stack[0];
}
