/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * arm64: "x0", "w1", "sp", "[x0]", "[x0, 8]", "[sp, #-16]", "[x0, x1]", "[x0, w1, sxtw 2]", and
 * constants without a mark: "5", "-1", "#7". DWARF numbers: DWARF for the Arm 64-bit Architecture,
 * 4.1.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "usdt/operands_arch.h"

#define NUMBERED(n)             \
	{"x" #n, n, 8, 0},      \
	{                       \
		"w" #n, n, 4, 0 \
	}

static const struct weft_usdt_register registers[] = {
	NUMBERED(0),
	NUMBERED(1),
	NUMBERED(2),
	NUMBERED(3),
	NUMBERED(4),
	NUMBERED(5),
	NUMBERED(6),
	NUMBERED(7),
	NUMBERED(8),
	NUMBERED(9),
	NUMBERED(10),
	NUMBERED(11),
	NUMBERED(12),
	NUMBERED(13),
	NUMBERED(14),
	NUMBERED(15),
	NUMBERED(16),
	NUMBERED(17),
	NUMBERED(18),
	NUMBERED(19),
	NUMBERED(20),
	NUMBERED(21),
	NUMBERED(22),
	NUMBERED(23),
	NUMBERED(24),
	NUMBERED(25),
	NUMBERED(26),
	NUMBERED(27),
	NUMBERED(28),
	NUMBERED(29),
	NUMBERED(30),
	{"fp", 29, 8, 0},
	{"lr", 30, 8, 0},
	{"sp", 31, 8, 0},
	{"wsp", 31, 4, 0},
	{"xzr", WEFT_USDT_ZERO, 8, 0},
	{"wzr", WEFT_USDT_ZERO, 4, 0},
	{0},
};

/* How an index is widened before it is shifted. */
static const struct extension {
	const char *name;
	uint8_t size;
	bool is_signed;
} extensions[] = {
	{"lsl", 0, false},  {"sxtx", 0, false}, {"uxtx", 0, false},
	{"uxtw", 4, false}, {"sxtw", 4, true},
};

static const struct weft_usdt_register *read_register(struct weft_usdt_reader *r)
{
	const char *word;
	size_t n = weft_usdt_word(r, &word);

	return weft_usdt_find_register(registers, word, n);
}

static int in_register(struct weft_usdt_reader *r)
{
	static const struct weft_usdt_register closed = {"", WEFT_USDT_CLOSED, 8, 0};
	const char *word;
	size_t n = weft_usdt_word(r, &word);
	const struct weft_usdt_register *reg = weft_usdt_find_register(registers, word, n);

	/* b0, h0, s0, d0, q0, v0 and the like: one letter and a number. */
	if (!reg && n >= 2 && n <= 3 && strchr("bhsdqv", word[0]) && word[1] >= '0' && word[1] <= '9')
		reg = &closed;
	if (!reg)
		return weft_usdt_fail(r, "its operand is of no form that is known");
	return weft_usdt_register_value(r, reg);
}

static int immediate(struct weft_usdt_reader *r)
{
	struct weft_usdt_sum sum;

	weft_usdt_take(r, '#');
	if (weft_usdt_peek(r) == ':')
		return weft_usdt_fail(r, "a part of its place is in instructions (#:lo12:)");
	if (weft_usdt_sum(r, &sum))
		return -EINVAL;
	if (sum.has_symbol)
		return weft_usdt_fail(r, "its operand is of no form that is known");
	weft_usdt_constant(r, sum.number);
	return 0;
}

/* ", lsl 3", ", sxtw #2", ", sxtw" */
static int read_extension(struct weft_usdt_reader *r, struct weft_usdt_address *a)
{
	const struct extension *e = NULL;
	uint64_t shift = 0;
	const char *word;
	size_t n;

	weft_usdt_blanks(r);
	n = weft_usdt_word(r, &word);
	for (size_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++)
		if (strlen(extensions[i].name) == n && !strncasecmp(word, extensions[i].name, n))
			e = &extensions[i];
	if (!e)
		return weft_usdt_fail(r, "its index is widened in a way that is not known");
	weft_usdt_blanks(r);
	if (weft_usdt_peek(r) != ']') {
		weft_usdt_take(r, '#');
		if (weft_usdt_number(r, &shift) || shift > 4)
			return weft_usdt_fail(r, "its index is shifted by what is not 0 to 4");
	}
	a->extend = e->size;
	a->extend_signed = e->is_signed;
	a->shift = (uint8_t)shift;
	return 0;
}

static int read_offset(struct weft_usdt_reader *r, struct weft_usdt_address *a)
{
	size_t at;

	weft_usdt_blanks(r);
	at = r->at;
	a->index = read_register(r);
	if (a->index) {
		/* A narrow index without a word on how to widen it counts as it is. */
		a->extend = a->index->size == 4 ? 4 : 0;
		return weft_usdt_take(r, ',') ? read_extension(r, a) : 0;
	}
	r->at = at;
	weft_usdt_take(r, '#');
	if (weft_usdt_peek(r) == ':')
		return weft_usdt_fail(r, "a part of its place is in instructions (#:lo12:)");
	if (weft_usdt_sum(r, &a->sum))
		return -EINVAL;
	return a->sum.has_symbol ? weft_usdt_fail(r, "its operand is of no form that is known") : 0;
}

static int in_memory(struct weft_usdt_reader *r)
{
	struct weft_usdt_address a = {0};

	weft_usdt_take(r, '[');
	weft_usdt_blanks(r);
	a.base = read_register(r);
	if (!a.base)
		return weft_usdt_fail(r, "its operand is of no form that is known");
	if (weft_usdt_take(r, ',') && read_offset(r, &a))
		return -EINVAL;
	if (!weft_usdt_take(r, ']'))
		return weft_usdt_fail(r, "its operand is of no form that is known");
	if (weft_usdt_peek(r) == '!' || weft_usdt_peek(r) == ',')
		return weft_usdt_fail(r, "its operand changes the register of its address");
	return weft_usdt_memory(r, &a);
}

static const struct weft_usdt_form forms[] = {
	{"[", in_memory},
	{"#+-0123456789", immediate},
	{NULL, in_register},
};

static const struct weft_usdt_syntax syntax = {forms};

const struct weft_usdt_arch weft_usdt_arm64 = {"arm64", EM_AARCH64, &syntax};
