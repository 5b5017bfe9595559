/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * x86-64 in the syntax of AT&T: "%eax", "$-1", "(%rdi)", "-8(%rbp)", "8(%rax,%rbx,4)", "(,%rcx,8)",
 * "sym(%rip)", "40+sym(%rip)", "$sym". DWARF numbers: System V ABI, AMD64 supplement, figure 3.36.
 */
#include <elf.h>
#include <errno.h>

#include "usdt/operands_arch.h"

#define LEGACY(number, whole, half, word, low, high)                                            \
	{whole, number, 8, 0}, {half, number, 4, 0}, {word, number, 2, 0}, {low, number, 1, 0}, \
	{                                                                                       \
		high, number, 1, 8                                                              \
	}
#define POINTER(number, whole, half, word, low)                            \
	{whole, number, 8, 0}, {half, number, 4, 0}, {word, number, 2, 0}, \
	{                                                                  \
		low, number, 1, 0                                          \
	}
#define NUMBERED(n) POINTER(n, "r" #n, "r" #n "d", "r" #n "w", "r" #n "b")

static const struct weft_usdt_register registers[] = {
	LEGACY(0, "rax", "eax", "ax", "al", "ah"),
	LEGACY(1, "rdx", "edx", "dx", "dl", "dh"),
	LEGACY(2, "rcx", "ecx", "cx", "cl", "ch"),
	LEGACY(3, "rbx", "ebx", "bx", "bl", "bh"),
	POINTER(4, "rsi", "esi", "si", "sil"),
	POINTER(5, "rdi", "edi", "di", "dil"),
	POINTER(6, "rbp", "ebp", "bp", "bpl"),
	POINTER(7, "rsp", "esp", "sp", "spl"),
	NUMBERED(8),
	NUMBERED(9),
	NUMBERED(10),
	NUMBERED(11),
	NUMBERED(12),
	NUMBERED(13),
	NUMBERED(14),
	NUMBERED(15),
	{"rip", WEFT_USDT_PC, 8, 0},
	{0},
};

/* %xmm0 to %zmm31, %st, %mm0, %k1: by how they begin. */
static const char *const closed[] = {"xmm", "ymm", "zmm", "st", "mm", "k"};
static const struct weft_usdt_register closed_register = {"", WEFT_USDT_CLOSED, 8, 0};

static bool is_closed(const char *word, size_t n)
{
	for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++) {
		size_t k = 0;

		while (closed[i][k] && k < n && word[k] == closed[i][k])
			k++;
		if (!closed[i][k])
			return true;
	}
	return false;
}

static int read_register(struct weft_usdt_reader *r, const struct weft_usdt_register **out)
{
	const char *word;
	size_t n;

	*out = NULL;
	if (!weft_usdt_take(r, '%'))
		return weft_usdt_fail(r, "its operand is of no form that is known");
	n = weft_usdt_word(r, &word);
	*out = weft_usdt_find_register(registers, word, n);
	if (!*out && is_closed(word, n))
		*out = &closed_register;
	return *out ? 0 : weft_usdt_fail(r, "it names a register that is not known");
}

static int in_register(struct weft_usdt_reader *r)
{
	const struct weft_usdt_register *reg;

	if (read_register(r, &reg))
		return weft_usdt_peek(r) == ':' ? weft_usdt_fail(r, "it lies in memory of a segment")
						: -EINVAL;
	return weft_usdt_register_value(r, reg);
}

static int immediate(struct weft_usdt_reader *r)
{
	struct weft_usdt_sum sum;
	struct weft_loc_op *last;

	weft_usdt_take(r, '$');
	if (weft_usdt_sum(r, &sum))
		return -EINVAL;
	if (!sum.has_symbol) {
		weft_usdt_constant(r, sum.number);
		return 0;
	}
	weft_usdt_relocated(r, sum.symbol + sum.number);
	weft_usdt_op(r, WEFT_LOC_EXTEND, 0);
	last = &r->out->ops[r->out->n_ops - 1];
	last->size = r->out->size;
	last->flags = r->out->is_signed ? WEFT_LOC_SIGNED : 0;
	return 0;
}

/* "(base)", "(base,index)", "(base,index,scale)", "(,index,scale)" */
static int in_brackets(struct weft_usdt_reader *r, struct weft_usdt_address *a)
{
	uint64_t scale = 1;

	weft_usdt_blanks(r);
	if (weft_usdt_peek(r) != ',' && read_register(r, &a->base))
		return -EINVAL;
	if (weft_usdt_take(r, ',')) {
		if (read_register(r, &a->index))
			return -EINVAL;
		if (weft_usdt_take(r, ',')) {
			weft_usdt_blanks(r);
			if (weft_usdt_number(r, &scale))
				scale = 0;
		}
	}
	if (!weft_usdt_take(r, ')'))
		return weft_usdt_fail(r, "its operand is of no form that is known");
	if (scale != 1 && scale != 2 && scale != 4 && scale != 8)
		return weft_usdt_fail(r, "its index is scaled by what is not 1, 2, 4 or 8");
	a->shift = (uint8_t)__builtin_ctzll(scale);
	return 0;
}

static int in_memory(struct weft_usdt_reader *r)
{
	struct weft_usdt_address a = {0};

	if (weft_usdt_peek(r) != '(' && weft_usdt_sum(r, &a.sum))
		return -EINVAL;
	if (weft_usdt_peek(r) == '(') {
		r->at++;
		if (in_brackets(r, &a))
			return -EINVAL;
	}
	if (a.index && a.index->dwarf == WEFT_USDT_PC)
		return weft_usdt_fail(r, "it names a register that is not known");
	if (a.base && a.base->dwarf == WEFT_USDT_PC) {
		/* What rip is there depends on the instruction that the operand was for: only a
		 * symbol says which place is meant, and it says all of it. */
		if (!a.sum.has_symbol)
			return weft_usdt_fail(r, "its place is relative to an instruction that is "
						 "not known");
		a.base = NULL;
	}
	return weft_usdt_memory(r, &a);
}

static const struct weft_usdt_form forms[] = {
	{"$", immediate},
	{"%", in_register},
	{NULL, in_memory},
};

static const struct weft_usdt_syntax syntax = {forms};

const struct weft_usdt_arch weft_usdt_x86_64 = {"x86-64", EM_X86_64, &syntax};
