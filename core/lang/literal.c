/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Numbers and escapes. A number is a whole number: decimal with an optional unit, or hexadecimal
 * (0x), octal (0o, and C's leading 0) or binary (0b); C's suffixes u and l are understood. `m` is
 * minutes: sizes have k, M and G, and case tells them apart.
 */
#include "core/lang/ast.h"

#include <stdio.h>
#include <string.h>

struct unit {
	const char *text;
	uint64_t factor;
};

static const struct unit units[] = {
	{"ns", 1},
	{"us", 1000},
	{"ms", 1000000},
	{"s", 1000000000},
	{"m", 60ull * 1000000000},
	{"h", 3600ull * 1000000000},
	{"d", 86400ull * 1000000000},
	{"k", 1ull << 10},
	{"M", 1ull << 20},
	{"G", 1ull << 30},
};

/* Suffixes of C constants: how wide is of no matter here, whether unsigned is. */
static const struct {
	const char *text;
	bool is_unsigned;
} suffixes[] = {
	{"u", true},   {"U", true},   {"l", false},  {"L", false},  {"ll", false}, {"LL", false},
	{"ul", true},  {"UL", true},  {"uL", true},  {"Ul", true},  {"lu", true},  {"LU", true},
	{"ull", true}, {"ULL", true}, {"uLL", true}, {"Ull", true}, {"llu", true}, {"LLU", true},
};

static const struct {
	const char *prefix; /* lower case */
	unsigned base;
	const char *name;
} bases[] = {
	{"0x", 16, "hexadecimal"},
	{"0o", 8, "octal"},
	{"0b", 2, "binary"},
};

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_';
}

static unsigned digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return 99;
}

static void syntax(struct weft_number *out, const char *text, const char *what)
{
	int n = out->length > 40 ? 40 : (int)out->length;

	out->tag = "EXPR_SYNTAX";
	snprintf(out->message, sizeof(out->message), "`%.*s%s` is not a number: %s", n, text,
		 out->length > 40 ? "..." : "", what);
}

static void range(struct weft_number *out, const char *text)
{
	int n = out->length > 40 ? 40 : (int)out->length;

	out->tag = "EXPR_NUMBER_RANGE";
	snprintf(out->message, sizeof(out->message), "the number `%.*s%s` does not fit in 64 bits",
		 n, text, out->length > 40 ? "..." : "");
}

/* What follows the digits: nothing, a C suffix, or (decimal only) a unit. */
static void read_suffix(const char *text, const char *suffix, bool decimal, struct weft_number *out)
{
	size_t n = (size_t)(text + out->length - suffix);

	if (n == 0) {
		out->is_decimal = decimal;
		return;
	}
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (strlen(suffixes[i].text) == n && memcmp(suffixes[i].text, suffix, n) == 0) {
			out->says_so = suffixes[i].is_unsigned;
			out->is_unsigned |= suffixes[i].is_unsigned;
			return;
		}
	if (!decimal) {
		syntax(out, text, "only decimal numbers have units");
		return;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i].text) != n || memcmp(units[i].text, suffix, n) != 0)
			continue;
		if (__builtin_mul_overflow(out->value, units[i].factor, &out->value) ||
		    out->value > INT64_MAX)
			range(out, text);
		return;
	}
	syntax(out, text, "the units are ns us ms s m h d for times and k M G for sizes");
}

void weft_number_read(const char *text, struct weft_number *out)
{
	unsigned base = 10;
	const char *base_name = NULL, *p = text, *digits;
	bool overflow = false;

	memset(out, 0, sizeof(*out));
	while (is_word(text[out->length]))
		out->length++;
	if (text[out->length] == '.' && text[out->length + 1] >= '0' &&
	    text[out->length + 1] <= '9') {
		out->length++;
		while (is_word(text[out->length]))
			out->length++;
		syntax(out, text, "there are no fractions; take a smaller unit (1500us for 1.5ms)");
		return;
	}
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++)
		if (text[0] == '0' && (text[1] | 0x20) == bases[i].prefix[1]) {
			base = bases[i].base;
			base_name = bases[i].name;
			p = text + 2;
		}
	if (base == 10 && text[0] == '0' && text[1] >= '0' && text[1] <= '9') {
		base = 8;
		base_name = "octal, for its leading 0,";
	}
	for (digits = p; digit_value(*p) < base; p++)
		overflow |=
			__builtin_mul_overflow(out->value, (uint64_t)base, &out->value) ||
			__builtin_add_overflow(out->value, (uint64_t)digit_value(*p), &out->value);
	/* What is left begins with a digit or is all there is: the base is at fault, not a unit. */
	if (base_name && (p == digits || (*p >= '0' && *p <= '9'))) {
		char what[80];

		snprintf(what, sizeof(what), "it is %s and has %s", base_name,
			 p == digits ? "no digits" : "a digit too great for that");
		syntax(out, text, what);
		return;
	}
	if (overflow) {
		range(out, text);
		return;
	}
	out->is_unsigned = out->value > INT64_MAX;
	read_suffix(text, p, base == 10, out);
}

static const struct {
	char letter;
	uint8_t byte;
} escapes[] = {
	{'n', '\n'}, {'t', '\t'}, {'r', '\r'}, {'a', '\a'},  {'b', '\b'},  {'f', '\f'},
	{'v', '\v'}, {'e', 0x1b}, {'0', 0},    {'\\', '\\'}, {'\'', '\''}, {'"', '"'},
};

uint32_t weft_escape_read(const char *text, uint8_t *byte, const char **why)
{
	if (text[1] == 'x') {
		unsigned hi = digit_value(text[2]);
		unsigned lo = hi < 16 ? digit_value(text[3]) : 99;

		if (lo < 16) {
			*byte = (uint8_t)(hi << 4 | lo);
			return 4;
		}
		*why = "\\x takes two hexadecimal digits";
		return 0;
	}
	if (text[1] == '0' && text[2] >= '0' && text[2] <= '9') {
		*why = "there are no octal escapes; write \\xHH";
		return 0;
	}
	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++)
		if (text[1] == escapes[i].letter) {
			*byte = escapes[i].byte;
			return 2;
		}
	*why = "the escapes are \\n \\t \\r \\a \\b \\f \\v \\e \\\\ \\' \\\" and \\xHH";
	return 0;
}
