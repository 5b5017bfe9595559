/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Constant folding: a table of corners, and random expressions against an evaluator that shares no
 * code and no method with the language: it computes in 128 bits and reduces, and it prints its
 * trees with no more parentheses than its own table of levels asks for.
 */
#include <inttypes.h>
#include <stdio.h>

#include "rig.h"

static struct rig r;

static void init(void)
{
	rig_init(&r);
}

static void finish(void)
{
	rig_finish(&r);
}

TestSuite(lang_fold, .init = init, .fini = finish);

#define LEAST "(-9223372036854775808)"
#define MOST  "9223372036854775807"
#define ALL   "18446744073709551615" /* uint64 */

Test(lang_fold, table)
{
	static const struct {
		const char *text, *value;
	} rows[] = {
		{"2 + 3", "5:int64"},
		{MOST " + 1", "-9223372036854775808:int64"},
		{ALL " + 1", "0:uint64"},
		{"-1 + " ALL, "18446744073709551614:uint64"},
		{"2 - 3", "-1:int64"},
		{"2u - 3", "18446744073709551615:uint64"},
		{LEAST " - 1", "9223372036854775807:int64"},
		{"3 * -4", "-12:int64"},
		{MOST " * 2", "-2:int64"},
		{LEAST " * -1", "-9223372036854775808:int64"},
		{"7 / 2", "3:int64"},
		{"-7 / 2", "-3:int64"},
		{"7 / -2", "-3:int64"},
		{"-7 % 2", "-1:int64"},
		{"7 % -2", "1:int64"},
		{LEAST " / -1", "-9223372036854775808:int64"},
		{LEAST " % -1", "0:int64"},
		{"-7 / 2u", "9223372036854775804:uint64"},
		{"-7 % 4u", "1:uint64"},
		{ALL " / " ALL, "1:uint64"},
		{"0xf0 & 0x3c", "48:int64"},
		{"0xf0 | 0x0f", "255:int64"},
		{"0xff ^ 0x0f", "240:int64"},
		{"-1 & " ALL, "18446744073709551615:uint64"},
		{"1 << 63", "-9223372036854775808:int64"},
		{"1 << 64", "1:int64"},
		{"1 << 65", "2:int64"},
		{"1 << -1", "-9223372036854775808:int64"},
		{"1 << " ALL, "-9223372036854775808:int64"},
		{"1u << 63", "9223372036854775808:uint64"},
		{"-8 >> 1", "-4:int64"},
		{"-8 >> 1u", "-4:int64"},
		{"-1 >> 63", "-1:int64"},
		{"-8 >> 64", "-8:int64"},
		{"-8 >> 128", "-8:int64"},
		{ALL " >> 63", "1:uint64"},
		{ALL " >> 0", "18446744073709551615:uint64"},
		{"(int8) -128 >> 7", "-1:int64"},
		{"-1 < 1", "1:int64"},
		{"-1 < 1u", "0:int64"}, /* as in C */
		{"-1 == " ALL, "1:int64"},
		{"1 <= 1", "1:int64"},
		{"2 > 1", "1:int64"},
		{LEAST " < " MOST, "1:int64"},
		{ALL " > " MOST, "1:int64"},
		{"1 >= 2", "0:int64"},
		{"3 != 3", "0:int64"},
		{"-" LEAST, "-9223372036854775808:int64"},
		{"-1u", "18446744073709551615:uint64"},
		{"~0", "-1:int64"},
		{"~0u", "18446744073709551615:uint64"},
		{"!0", "1:int64"},
		{"!5u", "0:int64"},
		{"!!5", "1:int64"},
		{"+5", "5:int64"},
		{"(int8) 127", "127:int8"},
		{"(int8) 128", "-128:int8"},
		{"(uint8) 256", "0:uint8"},
		{"(uint8) -1", "255:uint8"},
		{"(int16) 0x18000", "-32768:int16"},
		{"(uint16) -2", "65534:uint16"},
		{"(int32) 0xffffffff", "-1:int32"},
		{"(uint32) -1", "4294967295:uint32"},
		{"(int64) " ALL, "-1:int64"},
		{"(uint64) -1", "18446744073709551615:uint64"},
		{"(uint64) (int8) 255", "18446744073709551615:uint64"},
		{"(uint64) (uint8) 255", "255:uint64"},
		{"(uint32) -1 + 1",
		 "4294967296:int64"},            /* promoted to 64 bits, so it does not wrap */
		{"(uint32) -1 > -1", "1:int64"}, /* and no surprise as in C */
		{"-(uint8) 1", "-1:int64"},
		{"~(uint8) 0", "-1:int64"},
		{"1 ? 2 : 3", "2:int64"},
		{"0 ? 2 : 3u", "3:uint64"},
		{"1 ? -1 : 3u", "18446744073709551615:uint64"},
		{"2 + 3 * 4 - 10 / 3 % 2 << 1", "26:int64"},
		{"1ms + 5us", "1005000:int64"},
		{"$n * 2", "10:int64"},
		{"$big", "18446744073709551615:uint64"},
		{"$least", "-9223372036854775808:int64"},
		{"$neg - 1", "-4:int64"},
		{"$time / 1us", "5000:int64"},
		{"$size", "4096:int64"},
	};

	for (size_t i = 0; i < N(rows); i++) {
		const char *value = rig_print(&r, rows[i].text, true);

		cr_expect(!strcmp(value, rows[i].value), "`%s` gave %s, not %s", rows[i].text,
			  value, rows[i].value);
	}
}

/* ---- random expressions ---- */

typedef __int128 wide;

struct value {
	wide v; /* the number that it stands for, not its bits */
	int bits;
	bool is_signed;
};

enum shape { LEAF, PREFIX, CAST, BINARY, CONDITION };

struct tree {
	enum shape shape;
	const char *op;
	int level; /* lower binds tighter */
	struct value leaf;
	char text[32];
	int cast_bits;
	bool cast_signed;
	struct tree *kid[3];
};

static const struct {
	const char *text;
	int level;
} binaries[] = {
	{"*", 3},  {"/", 3}, {"%", 3}, {"+", 4},  {"-", 4},   {"<<", 5},
	{">>", 5}, {"<", 6}, {">", 6}, {"<=", 6}, {">=", 6},  {"==", 7},
	{"!=", 7}, {"&", 8}, {"^", 9}, {"|", 10}, {"&&", 11}, {"||", 12},
};
static const char *const prefixes[] = {"-", "~", "!", "+"};

static uint64_t seed;

static uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static uint64_t pick(uint64_t n)
{
	return (draw() >> 11) % n;
}

static wide reduce(wide v, int bits, bool is_signed)
{
	wide modulus = (wide)1 << bits;

	v %= modulus;
	if (v < 0)
		v += modulus;
	if (is_signed && v >= modulus / 2)
		v -= modulus;
	return v;
}

static struct value whole(wide v, bool is_signed)
{
	struct value out = {reduce(v, 64, is_signed), 64, is_signed};

	return out;
}

static struct value promote(struct value a)
{
	return a.bits == 64 ? a : whole(a.v, true);
}

/* false: a division by zero that counts */
static bool evaluate(const struct tree *t, struct value *out);

static bool evaluate_binary(const struct tree *t, struct value *out)
{
	struct value a, b;
	bool is_signed;
	wide k = 0;

	if (!evaluate(t->kid[0], &a))
		return false;
	if (!strcmp(t->op, "&&") || !strcmp(t->op, "||")) {
		bool or = t->op[0] == '|';

		*out = whole(or, true);
		if ((a.v != 0) == or)
			return true;
		if (!evaluate(t->kid[1], &b))
			return false;
		*out = whole(b.v != 0, true);
		return true;
	}
	if (!evaluate(t->kid[1], &b))
		return false;
	a = promote(a);
	b = promote(b);
	if (!strcmp(t->op, "<<") || !strcmp(t->op, ">>")) {
		k = (wide)1 << (int)reduce(b.v, 6, false);
		if (t->op[0] == '<')
			*out = whole(reduce(a.v, 64, false) * k, a.is_signed);
		else /* towards minus infinity */
			*out = whole(a.v >= 0 ? a.v / k : -((-a.v + k - 1) / k), a.is_signed);
		return true;
	}
	is_signed = a.is_signed && b.is_signed;
	a = whole(a.v, is_signed);
	b = whole(b.v, is_signed);
	switch (t->op[0] << 8 | t->op[1]) {
	case '*' << 8:
		/* 64 by 64 bits may not fit in a signed 128: by halves */
		*out = whole(reduce(a.v, 64, false) * (reduce(b.v, 64, false) % ((wide)1 << 32)) +
				     reduce(reduce(a.v, 64, false) *
						    (reduce(b.v, 64, false) / ((wide)1 << 32)),
					    64, false) %
					     ((wide)1 << 32) * ((wide)1 << 32),
			     is_signed);
		return true;
	case '/' << 8:
		if (b.v == 0)
			return false;
		*out = whole(a.v / b.v, is_signed);
		return true;
	case '%' << 8:
		if (b.v == 0)
			return false;
		*out = whole(a.v % b.v, is_signed);
		return true;
	case '+' << 8:
		*out = whole(a.v + b.v, is_signed);
		return true;
	case '-' << 8:
		*out = whole(a.v - b.v, is_signed);
		return true;
	case '<' << 8:
		*out = whole(a.v < b.v, true);
		return true;
	case '>' << 8:
		*out = whole(a.v > b.v, true);
		return true;
	case '<' << 8 | '=':
		*out = whole(a.v <= b.v, true);
		return true;
	case '>' << 8 | '=':
		*out = whole(a.v >= b.v, true);
		return true;
	case '=' << 8 | '=':
		*out = whole(a.v == b.v, true);
		return true;
	case '!' << 8 | '=':
		*out = whole(a.v != b.v, true);
		return true;
	default: /* bit by bit */
		a.v = reduce(a.v, 64, false);
		b.v = reduce(b.v, 64, false);
		for (int i = 0; i < 64; i++) {
			int x = (int)(a.v >> i & 1), y = (int)(b.v >> i & 1);
			int z = t->op[0] == '&' ? x * y : t->op[0] == '^' ? x != y : x + y > 0;

			k += (wide)z << i;
		}
		*out = whole(k, is_signed);
		return true;
	}
}

/* The type of an expression, whatever its value: an arm that is not taken still has a say. */
static struct value type_of(const struct tree *t)
{
	struct value a, b;

	switch (t->shape) {
	case LEAF:
		return t->leaf;
	case CAST:
		a.bits = t->cast_bits;
		a.is_signed = t->cast_signed;
		return a;
	case PREFIX:
		return t->op[0] == '!' ? whole(0, true) : promote(type_of(t->kid[0]));
	case BINARY:
		if (t->level >= 11 || t->level == 6 || t->level == 7)
			return whole(0, true);
		a = promote(type_of(t->kid[0]));
		b = promote(type_of(t->kid[1]));
		return whole(0, t->level == 5 ? a.is_signed : a.is_signed && b.is_signed);
	default:
		a = promote(type_of(t->kid[1]));
		b = promote(type_of(t->kid[2]));
		return whole(0, a.is_signed && b.is_signed);
	}
}

static bool evaluate(const struct tree *t, struct value *out)
{
	struct value a, type;

	switch (t->shape) {
	case LEAF:
		*out = t->leaf;
		return true;
	case CAST:
		if (!evaluate(t->kid[0], &a))
			return false;
		out->v = reduce(a.v, t->cast_bits, t->cast_signed);
		out->bits = t->cast_bits;
		out->is_signed = t->cast_signed;
		return true;
	case PREFIX:
		if (!evaluate(t->kid[0], &a))
			return false;
		if (t->op[0] == '!') {
			*out = whole(a.v == 0, true);
			return true;
		}
		a = promote(a);
		*out = whole(t->op[0] == '-'   ? -a.v
			     : t->op[0] == '~' ? -a.v - 1
					       : a.v,
			     a.is_signed);
		return true;
	case BINARY:
		return evaluate_binary(t, out);
	default:
		if (!evaluate(t->kid[0], &a))
			return false;
		type = type_of(t);
		if (!evaluate(t->kid[a.v != 0 ? 1 : 2], &a))
			return false;
		*out = whole(a.v, type.is_signed);
		return true;
	}
}

static void grow_leaf(struct tree *t)
{
	static const uint64_t corners[] = {0,         1,          2,         3,          63,
					   64,        127,        128,       255,        256,
					   32767,     65535,      INT32_MAX, UINT32_MAX, 1ull << 32,
					   INT64_MAX, 1ull << 63, UINT64_MAX};
	uint64_t v = pick(3) ? corners[pick(N(corners))] : draw() >> pick(64);
	bool is_unsigned = v > INT64_MAX;

	t->shape = LEAF;
	t->level = 0;
	switch (pick(7)) {
	case 0:
		snprintf(t->text, sizeof(t->text), "0x%" PRIx64, v);
		break;
	case 1:
		snprintf(t->text, sizeof(t->text), "0%" PRIo64, v);
		break;
	case 2:
		snprintf(t->text, sizeof(t->text), "0o%" PRIo64, v);
		break;
	case 3:
		snprintf(t->text, sizeof(t->text), "%" PRIu64 "u", v);
		is_unsigned = true;
		break;
	case 4:
		v %= 1000;
		snprintf(t->text, sizeof(t->text), "%" PRIu64 "us", v);
		v *= 1000;
		is_unsigned = false;
		break;
	case 5:
		v = INT64_MIN;
		snprintf(t->text, sizeof(t->text), "-9223372036854775808");
		t->level = 1;
		t->leaf = whole(INT64_MIN, true);
		return;
	default:
		/* a minus before 2^63 in decimal is the case above */
		if (v == 1ull << 63)
			v++;
		snprintf(t->text, sizeof(t->text), "%" PRIu64, v);
	}
	t->leaf = whole((wide)v, !is_unsigned);
}

static struct tree *grow(int depth)
{
	struct tree *t = weft_arena_alloc(r.arena, sizeof(*t));
	uint64_t what = depth ? pick(10) : 0;
	size_t i;

	cr_assert(t);
	if (what < 2) {
		grow_leaf(t);
	} else if (what < 3) {
		t->shape = PREFIX;
		t->op = prefixes[pick(N(prefixes))];
		t->level = 1;
	} else if (what < 4) {
		t->shape = CAST;
		t->cast_bits = 8 << pick(4);
		t->cast_signed = pick(2);
		t->level = 1;
	} else if (what < 9) {
		t->shape = BINARY;
		i = pick(N(binaries));
		t->op = binaries[i].text;
		t->level = binaries[i].level;
	} else {
		t->shape = CONDITION;
		t->level = 13;
	}
	for (i = 0; i < (size_t[]){0, 1, 1, 2, 3}[t->shape]; i++)
		t->kid[i] = grow(depth - 1);
	return t;
}

static void print(FILE *f, const struct tree *t, int most)
{
	bool paren = t->level > most || pick(8) == 0;
	static const char *const space[] = {"", " ", "  "};

	if (paren)
		putc('(', f);
	switch (t->shape) {
	case LEAF:
		fputs(t->text, f);
		break;
	case PREFIX: /* the blank keeps - - from being -- */
		fprintf(f, "%s ", t->op);
		print(f, t->kid[0], 1);
		break;
	case CAST:
		fprintf(f, "(%sint%d)%s", t->cast_signed ? "" : "u", t->cast_bits, space[pick(3)]);
		print(f, t->kid[0], 1);
		break;
	case BINARY:
		print(f, t->kid[0], t->level);
		fprintf(f, "%s%s ", space[pick(3)], t->op);
		print(f, t->kid[1], t->level - 1);
		break;
	case CONDITION:
		print(f, t->kid[0], 12);
		fputs(" ? ", f);
		print(f, t->kid[1], 13);
		fputs(" : ", f);
		print(f, t->kid[2], 13);
		break;
	}
	if (paren)
		putc(')', f);
}

Test(lang_fold, random_expressions, .timeout = 110)
{
	size_t folded = 0, faults = 0;

	seed = 0x5eed0fc0ffee;
	for (int i = 0; i < 30000; i++) {
		char text[8192];
		FILE *f = fmemopen(text, sizeof(text), "w");
		struct value want = {0};
		struct weft_node *n;
		struct tree *t;
		bool ok;

		cr_assert(f);
		t = grow(1 + (int)pick(5));
		print(f, t, 13);
		fclose(f);
		ok = evaluate(t, &want);
		n = rig_expr(&r, text);
		if (ok) {
			struct value type = type_of(t);

			cr_assert(n && n->kind == WEFT_NODE_INT, "%s: %s", text,
				  weft_error_text(r.err));
			cr_assert(n->type.size * 8 == type.bits &&
					  n->type.is_signed == type.is_signed,
				  "%s: the wrong type", text);
			cr_assert((uint64_t)n->value == (uint64_t)reduce(want.v, 64, false),
				  "%s: %" PRId64 ", not %" PRId64, text, n->value, (int64_t)want.v);
			folded++;
		} else {
			cr_assert(!n && !strcmp(weft_error_tag(r.err), "DIVIDE_BY_ZERO"), "%s: %s",
				  text, n ? "no error" : weft_error_text(r.err));
			faults++;
		}
		if (i % 1000 == 999) {
			rig_finish(&r);
			rig_init(&r);
		}
	}
	cr_expect(folded > 20000 && faults > 500, "%zu folded, %zu faults", folded, faults);
}
