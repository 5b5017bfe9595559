/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The rows of ops.h. Binary operators group from the left, but for `??`. */
#include "core/lang/ops.h"

const struct weft_op_spec weft_ops[] = {
	[WEFT_OP_MUL] = {WEFT_OP_MUL, "*", 11, "product; wraps"},
	[WEFT_OP_DIV] = {WEFT_OP_DIV, "/", 11, "quotient, towards zero; by zero is a fault"},
	[WEFT_OP_MOD] = {WEFT_OP_MOD, "%", 11,
			 "remainder, with the sign of the left; by zero is a fault"},
	[WEFT_OP_ADD] = {WEFT_OP_ADD, "+", 10, "sum; wraps"},
	[WEFT_OP_SUB] = {WEFT_OP_SUB, "-", 10, "difference; wraps"},
	[WEFT_OP_SHL] = {WEFT_OP_SHL, "<<", 9, "shift to the left; the count is taken modulo 64"},
	[WEFT_OP_SHR] = {WEFT_OP_SHR, ">>", 9,
			 "shift to the right, keeping the sign of a signed left side; the count is taken "
			 "modulo 64"},
	[WEFT_OP_DEFAULT] = {WEFT_OP_DEFAULT, "??", 8,
			     "the variable on the left if it is set, else the right side, which is "
			     "evaluated only then"},
	[WEFT_OP_LT] = {WEFT_OP_LT, "<", 7, "less than"},
	[WEFT_OP_LE] = {WEFT_OP_LE, "<=", 7, "less than or equal"},
	[WEFT_OP_GT] = {WEFT_OP_GT, ">", 7, "greater than"},
	[WEFT_OP_GE] = {WEFT_OP_GE, ">=", 7, "greater than or equal"},
	[WEFT_OP_EQ] = {WEFT_OP_EQ, "==", 6, "equal; also of strings"},
	[WEFT_OP_NE] = {WEFT_OP_NE, "!=", 6, "not equal; also of strings"},
	[WEFT_OP_AND] = {WEFT_OP_AND, "&", 5, "bitwise and"},
	[WEFT_OP_XOR] = {WEFT_OP_XOR, "^", 4, "bitwise exclusive or"},
	[WEFT_OP_OR] = {WEFT_OP_OR, "|", 3, "bitwise or"},
	[WEFT_OP_LOGAND] = {WEFT_OP_LOGAND, "&&", 2,
			    "both are not 0; the right side is evaluated only if the left is not 0"},
	[WEFT_OP_LOGOR] = {WEFT_OP_LOGOR, "||", WEFT_PRECEDENCE_LOOSEST,
			   "one is not 0; the right side is evaluated only if the left is 0"},
	[WEFT_OP_NEG] = {WEFT_OP_NEG, "-", 0, "negative; wraps"},
	[WEFT_OP_NOT] = {WEFT_OP_NOT, "~", 0, "bitwise complement"},
	[WEFT_OP_LOGNOT] = {WEFT_OP_LOGNOT, "!", 0, "1 if it is 0, else 0"},
	[WEFT_OP_PLUS] = {WEFT_OP_PLUS, "+", 0, "the value, promoted to 64 bits"},
	[WEFT_OP_DEREF] = {WEFT_OP_DEREF, "*", 0, "what a typed pointer points to"},
	[WEFT_OP_ADDRESS] = {WEFT_OP_ADDRESS, "&", 0,
			     "the address of a member, an element or what a pointer points to"},
};
const size_t weft_n_ops = sizeof(weft_ops) / sizeof(weft_ops[0]);

const char *weft_op_text(enum weft_op op)
{
	return (size_t)op < weft_n_ops ? weft_ops[op].text : "?";
}
