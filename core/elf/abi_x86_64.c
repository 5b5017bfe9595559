/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * System V ABI, AMD64 supplement, section 3.2.3. A type is classified by its eightbytes:
 *
 *   INTEGER  the next of rdi, rsi, rdx, rcx, r8, r9
 *   SSE      the next of eight vector registers, which a program cannot read
 *   X87      long double: on the stack; as a result in a register of its own
 *   MEMORY   on the stack, as is what finds no register; a value goes to one place or the other as a
 *            whole, and a later, smaller one may still find a register
 *
 * On the stack, places are multiples of 8, or of the type's alignment; the first is above the return
 * address. A result of class MEMORY makes the caller pass an address in rdi, before the arguments.
 */
#include <linux/btf.h>

#include "core/elf/abi.h"

#define DEPTH_MOST    16
#define STEPS_MOST    4096
#define STACK_POINTER 7 /* DWARF's number of rsp */

enum passed { NONE = 0, INTEGER, SSE, X87, MEMORY, UNKNOWN };

struct passing {
	enum passed of[2];
	uint64_t size, align;
	int steps; /* that are left: types may be made to take for ever */
};

static enum passed merge(enum passed a, enum passed b)
{
	if (a == b || b == NONE)
		return a;
	if (a == NONE)
		return b;
	if (a == UNKNOWN || b == UNKNOWN)
		return UNKNOWN;
	if (a == MEMORY || b == MEMORY || a == X87 || b == X87)
		return MEMORY;
	return a == INTEGER || b == INTEGER ? INTEGER : SSE;
}

static void put(struct passing *p, uint64_t at, uint64_t size, enum passed as)
{
	for (uint64_t word = at / 8; size && word <= (at + size - 1) / 8 && word < 2; word++)
		p->of[word] = merge(p->of[word], as);
}

static void whole(struct passing *p, enum passed as)
{
	p->of[0] = merge(p->of[0], as);
}

/* long double has the size of what goes into a vector register; its name has not. */
static bool is_x87(const struct weft_btf_type *t)
{
	for (const char *s = t->name; *s; s++)
		if (s[0] == '1' && s[1] == '2' && s[2] == '8')
			return false;
	return t->type > 8;
}

/* Adds a type at a byte of what is classified. */
static void classify(const struct weft_btf *btf, uint32_t id, uint64_t at, int depth,
		     struct passing *p)
{
	uint64_t size, align = 1;
	struct weft_btf_type t;

	if (depth > DEPTH_MOST || !p->steps-- || !weft_btf_strip(btf, id, &t, NULL) ||
	    !weft_btf_size(btf, id, &size) || (!size && t.kind != BTF_KIND_ARRAY)) {
		p->steps = 0;
		whole(p, UNKNOWN);
		return;
	}
	switch (t.kind) {
	case BTF_KIND_INT:
	case BTF_KIND_PTR:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		align = size;
		put(p, at, size, INTEGER);
		break;
	case BTF_KIND_FLOAT:
		align = size > 8 ? 16 : size;
		if (is_x87(&t))
			put(p, at, size, X87);
		else
			put(p, at, size, SSE);
		break;
	case BTF_KIND_ARRAY:
		/* A large one is in memory whatever it holds; the first tells the alignment. */
		if (!weft_btf_size(btf, weft_btf_array_of(&t), &align) || !align)
			whole(p, UNKNOWN);
		else
			for (uint64_t i = 0, step = align; i * step < size && (!i || i * step < 16);
			     i++)
				classify(btf, weft_btf_array_of(&t), at + i * step, depth + 1, p);
		align = 1;
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		if (!t.vlen) /* empty, or of a kind for which there is no word */
			whole(p, UNKNOWN);
		for (uint32_t i = 0; i < t.vlen; i++) {
			struct weft_btf_field f;

			weft_btf_field(btf, &t, i, &f);
			if (f.bits)
				put(p, at + f.bit / 8, (f.bit % 8 + f.bits + 7) / 8, INTEGER);
			else
				classify(btf, f.type, at + f.bit / 8, depth + 1, p);
		}
		break;
	default:
		whole(p, UNKNOWN);
		break;
	}
	if (align > p->align)
		p->align = align;
	if (at % align) /* packed */
		whole(p, MEMORY);
}

static struct passing passing_of(const struct weft_btf *btf, uint32_t id)
{
	struct passing p = {.align = 1, .steps = STEPS_MOST};

	classify(btf, id, 0, 0, &p);
	if (!weft_btf_size(btf, id, &p.size))
		p.of[0] = UNKNOWN;
	if (p.of[0] == UNKNOWN || p.of[1] == UNKNOWN)
		p.of[0] = p.of[1] = UNKNOWN;
	else if (p.size > 16 || p.of[0] == MEMORY || p.of[1] == MEMORY)
		p.of[0] = p.of[1] = MEMORY;
	return p;
}

static unsigned int count(const struct passing *p, enum passed as)
{
	return (p->of[0] == as) + (p->of[1] == as);
}

/* Whether a type is one value that an instruction could load. */
static bool is_scalar(const struct weft_btf *btf, uint32_t id, uint64_t size, bool *is_signed)
{
	struct weft_btf_type t;

	*is_signed = false;
	if (!weft_btf_strip(btf, id, &t, NULL) || (size != 1 && size != 2 && size != 4 && size != 8))
		return false;
	if (t.kind == BTF_KIND_INT)
		*is_signed = weft_btf_int_is_signed(&t);
	else if (weft_btf_is_enum(&t))
		*is_signed = weft_btf_enum_is_signed(btf, &t);
	return t.kind == BTF_KIND_INT || t.kind == BTF_KIND_PTR || weft_btf_is_enum(&t);
}

static struct weft_abi_place unreadable(const char *why)
{
	return (struct weft_abi_place){.unreadable = why};
}

static const char *why_not(const struct passing *p)
{
	if (count(p, SSE))
		return "it is passed in a vector register, which a probe cannot read";
	return "it is passed by value, and is no single number";
}

void weft_abi_x86_64(const struct weft_btf *btf, const uint32_t *types, uint32_t n, uint32_t result,
		     bool hidden, struct weft_abi_place *places, struct weft_abi_place *result_place)
{
	static const uint8_t registers[] = {5, 4, 1, 2, 8, 9}; /* rdi rsi rdx rcx r8 r9 */
	unsigned int used = 0, vectors = 0;
	uint64_t stack = 8;
	bool lost = false, is_signed;
	struct passing p;

	*result_place = (struct weft_abi_place){.n_ops = 0};
	if (result) {
		p = passing_of(btf, result);
		lost = p.of[0] == UNKNOWN;
		used = hidden || p.of[0] == MEMORY;
		/* a hidden result's type is the pointer to it, which is given back */
		if (is_scalar(btf, result, p.size, &is_signed))
			*result_place = (struct weft_abi_place){
				.ops = {{.op = WEFT_LOC_RETVAL,
					 .size = (uint8_t)p.size,
					 .flags = is_signed ? WEFT_LOC_SIGNED : 0}},
				.n_ops = 1,
			};
	}
	for (uint32_t i = 0; i < n; i++) {
		struct weft_abi_place *to = &places[i];
		unsigned int integers, sse;
		bool scalar;

		p = passing_of(btf, types[i]);
		lost |= p.of[0] == UNKNOWN;
		if (lost) {
			*to = unreadable("how it, or what comes before it, is passed is not known");
			continue;
		}
		scalar = is_scalar(btf, types[i], p.size, &is_signed);
		integers = count(&p, INTEGER);
		sse = count(&p, SSE);
		if (p.of[0] != MEMORY && p.of[0] != X87 && used + integers <= sizeof(registers) &&
		    vectors + sse <= 8) {
			if (scalar)
				*to = (struct weft_abi_place){
					.ops = {{.op = WEFT_LOC_REG,
						 .size = (uint8_t)p.size,
						 .flags = is_signed ? WEFT_LOC_SIGNED : 0,
						 .imm = registers[used]}},
					.n_ops = 1,
				};
			else
				*to = unreadable(why_not(&p));
			used += integers;
			vectors += sse;
			continue;
		}
		if (p.align > 8)
			stack = ((stack - 8 + 15) & ~UINT64_C(15)) + 8;
		if (scalar)
			*to = (struct weft_abi_place){
				.ops = {{.op = WEFT_LOC_REG, .size = 8, .imm = STACK_POINTER},
					{.op = WEFT_LOC_LOAD,
					 .size = (uint8_t)p.size,
					 .flags = WEFT_LOC_USER | (is_signed ? WEFT_LOC_SIGNED : 0),
					 .imm = (int64_t)stack}},
				.n_ops = 2,
			};
		else
			*to = unreadable(
				"it is passed by value on the stack, and is no single number");
		stack += (p.size + 7) & ~UINT64_C(7);
	}
}
