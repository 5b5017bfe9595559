/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the syntaxes of all architectures have in common; operands.h tells of the text. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "usdt/operands_arch.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const struct weft_usdt_arch *weft_usdt_arch_of(uint16_t machine)
{
	static const struct weft_usdt_arch *const all[] = {&weft_usdt_x86_64, &weft_usdt_arm64};

	for (size_t i = 0; i < COUNT(all); i++)
		if (all[i]->machine == machine)
			return all[i];
	return NULL;
}

/* ---- the text ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
	       c == '.' || c == '$' || (unsigned char)c >= 0x80;
}

char weft_usdt_peek(const struct weft_usdt_reader *r)
{
	static const char end = '\0';

	return *(r->at < r->end ? &r->text[r->at] : &end);
}

void weft_usdt_blanks(struct weft_usdt_reader *r)
{
	while (is_blank(weft_usdt_peek(r)))
		r->at++;
}

bool weft_usdt_take(struct weft_usdt_reader *r, char c)
{
	size_t at = r->at;

	weft_usdt_blanks(r);
	if (weft_usdt_peek(r) == c) {
		r->at++;
		return true;
	}
	r->at = at;
	return false;
}

static int digit_of(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

int weft_usdt_number(struct weft_usdt_reader *r, uint64_t *out)
{
	unsigned base = 10;
	size_t first;

	if (!is_digit(weft_usdt_peek(r)))
		return -EINVAL;
	if (weft_usdt_peek(r) == '0') {
		base = 8;
		if (r->at + 1 < r->end && (r->text[r->at + 1] == 'x' || r->text[r->at + 1] == 'X')) {
			base = 16;
			r->at += 2;
		}
	}
	*out = 0;
	first = r->at;
	for (; (unsigned)digit_of(weft_usdt_peek(r)) < base; r->at++)
		if (__builtin_mul_overflow(*out, base, out) ||
		    __builtin_add_overflow(*out, (unsigned)digit_of(weft_usdt_peek(r)), out))
			return -EINVAL;
	return r->at == first || is_word(weft_usdt_peek(r)) ? -EINVAL : 0;
}

size_t weft_usdt_word(struct weft_usdt_reader *r, const char **word)
{
	size_t first = r->at;

	while (is_word(weft_usdt_peek(r)))
		r->at++;
	*word = r->text + first;
	return r->at - first;
}

const struct weft_usdt_register *weft_usdt_find_register(const struct weft_usdt_register *table,
							 const char *word, size_t n)
{
	for (; table->name; table++)
		if (!strncasecmp(table->name, word, n) && table->name[n] == '\0')
			return table;
	return NULL;
}

static int add_symbol(struct weft_usdt_reader *r, struct weft_usdt_sum *out)
{
	const char *word;
	size_t n = weft_usdt_word(r, &word);

	if (!n)
		return weft_usdt_fail(r, "its operand is of no form that is known");
	if (weft_usdt_peek(r) == '@')
		return weft_usdt_fail(r,
				      "it lies where a relocation says that is gone after linking");
	if (out->has_symbol)
		return weft_usdt_fail(r, "its address is made of two symbols");
	if (!r->site->find || r->site->find(r->site->arg, word, n, &out->symbol))
		return weft_usdt_fail(r, "it lies at a symbol that the file does not list");
	out->has_symbol = true;
	return 0;
}

int weft_usdt_sum(struct weft_usdt_reader *r, struct weft_usdt_sum *out)
{
	bool negative = false;

	*out = (struct weft_usdt_sum){0};
	for (;;) {
		uint64_t number = 0;

		for (;; r->at++) {
			if (weft_usdt_peek(r) == '-')
				negative = !negative;
			else if (weft_usdt_peek(r) != '+')
				break;
		}
		if (is_digit(weft_usdt_peek(r))) {
			if (weft_usdt_number(r, &number))
				return weft_usdt_fail(r, "a number in its operand is not one, or "
							 "has more than 64 bits");
			out->number += negative ? -number : number;
		} else if (negative) {
			return weft_usdt_fail(r, "its operand is of no form that is known");
		} else if (add_symbol(r, out)) {
			return -EINVAL;
		}
		if (weft_usdt_peek(r) != '+' && weft_usdt_peek(r) != '-')
			return 0;
		negative = false;
	}
}

/* ---- the location ---- */

int weft_usdt_fail(struct weft_usdt_reader *r, const char *why)
{
	r->out->n_ops = 0;
	r->out->why = why;
	return -EINVAL;
}

static struct weft_loc_op *append(struct weft_usdt_reader *r, uint16_t op, int64_t imm)
{
	struct weft_loc_op *o = &r->out->ops[r->out->n_ops++];

	*o = (struct weft_loc_op){.op = op, .imm = imm};
	return o;
}

void weft_usdt_op(struct weft_usdt_reader *r, uint16_t op, int64_t imm)
{
	append(r, op, imm);
}

void weft_usdt_whole_register(struct weft_usdt_reader *r, const struct weft_usdt_register *reg)
{
	if (reg->dwarf == WEFT_USDT_PC)
		append(r, WEFT_LOC_USER_PC, 0);
	else if (reg->dwarf == WEFT_USDT_ZERO)
		append(r, WEFT_LOC_CONST, 0);
	else
		append(r, WEFT_LOC_REG, reg->dwarf)->size = reg->size;
}

/* Two's complement of the argument's size, extended as its sign says. */
static uint64_t fit(uint64_t value, unsigned size, bool is_signed)
{
	unsigned drop = 64 - 8 * size;

	value <<= drop;
	return is_signed ? (uint64_t)((int64_t)value >> drop) : value >> drop;
}

void weft_usdt_constant(struct weft_usdt_reader *r, uint64_t value)
{
	append(r, WEFT_LOC_CONST, (int64_t)fit(value, r->out->size, r->out->is_signed));
}

void weft_usdt_relocated(struct weft_usdt_reader *r, uint64_t address)
{
	append(r, WEFT_LOC_USER_PC, 0);
	append(r, WEFT_LOC_CONST, (int64_t)(address - r->site->address));
	append(r, WEFT_LOC_ADD, 0);
}

int weft_usdt_register_value(struct weft_usdt_reader *r, const struct weft_usdt_register *reg)
{
	struct weft_usdt_operand *out = r->out;
	struct weft_loc_op *o;

	if (reg->dwarf == WEFT_USDT_CLOSED)
		return weft_usdt_fail(r, "it is in a register of floating-point numbers or vectors");
	if (reg->dwarf == WEFT_USDT_ZERO) {
		weft_usdt_constant(r, 0);
		return 0;
	}
	if (reg->dwarf == WEFT_USDT_PC) {
		append(r, WEFT_LOC_USER_PC, 0);
		o = append(r, WEFT_LOC_EXTEND, 0);
		o->size = out->size;
	} else {
		o = append(r, WEFT_LOC_REG, reg->dwarf);
		/* Beyond the named part of a register is something else. */
		o->size = out->size < reg->size ? out->size : reg->size;
		o->aux = reg->bit;
	}
	o->flags = out->is_signed ? WEFT_LOC_SIGNED : 0;
	return 0;
}

static bool addresses(const struct weft_usdt_register *reg)
{
	return !reg || (reg->dwarf != WEFT_USDT_CLOSED && reg->size >= 4 && reg->bit == 0);
}

static void add(struct weft_usdt_reader *r, unsigned *parts)
{
	if ((*parts)++)
		append(r, WEFT_LOC_ADD, 0);
}

int weft_usdt_memory(struct weft_usdt_reader *r, const struct weft_usdt_address *a)
{
	uint64_t number = a->sum.number;
	unsigned parts = 0;
	struct weft_loc_op *o;

	if (!addresses(a->base) || !addresses(a->index))
		return weft_usdt_fail(r, "its address is in a register that holds no addresses");
	if (a->base) {
		weft_usdt_whole_register(r, a->base);
		add(r, &parts);
	}
	if (a->index) {
		weft_usdt_whole_register(r, a->index);
		if (a->extend) {
			o = append(r, WEFT_LOC_EXTEND, 0);
			o->size = a->extend;
			o->flags = a->extend_signed ? WEFT_LOC_SIGNED : 0;
		}
		if (a->shift) {
			append(r, WEFT_LOC_CONST, a->shift);
			append(r, WEFT_LOC_SHL, 0);
		}
		add(r, &parts);
	}
	if (a->sum.has_symbol) {
		weft_usdt_relocated(r, a->sum.symbol + number);
		number = 0;
		add(r, &parts);
	}
	if (!parts || (int64_t)number != (int32_t)number) {
		append(r, WEFT_LOC_CONST, (int64_t)number);
		number = 0;
		add(r, &parts);
	}
	o = append(r, WEFT_LOC_LOAD, (int64_t)number);
	o->size = r->out->size;
	o->flags = WEFT_LOC_USER | (r->out->is_signed ? WEFT_LOC_SIGNED : 0);
	return 0;
}

/* ---- arguments ---- */

/* "-4@", "8f@". Leaves r->at where it is if there is none. */
static bool read_size(struct weft_usdt_reader *r, struct weft_usdt_operand *out, bool *is_float)
{
	size_t at = r->at;
	bool is_signed = false;
	char size;

	*is_float = false;
	if (at < r->end && r->text[at] == '-') {
		is_signed = true;
		at++;
	}
	if (at >= r->end)
		return false;
	size = r->text[at++];
	if (size != '1' && size != '2' && size != '4' && size != '8')
		return false;
	if (at < r->end && r->text[at] == 'f') {
		*is_float = true;
		at++;
	}
	if (at >= r->end || r->text[at] != '@')
		return false;
	r->at = at + 1;
	out->size = (uint8_t)(size - '0');
	out->is_signed = is_signed;
	return true;
}

/* To where the next argument begins: behind blanks, with a size. */
static void resume(struct weft_usdt_reader *r)
{
	struct weft_usdt_operand ignored;
	bool is_float;

	while (r->at < r->end) {
		size_t at;

		while (r->at < r->end && !is_blank(r->text[r->at]))
			r->at++;
		weft_usdt_blanks(r);
		at = r->at;
		if (read_size(r, &ignored, &is_float)) {
			r->at = at;
			return;
		}
	}
}

static void read_operand(const struct weft_usdt_arch *arch, struct weft_usdt_reader *r)
{
	const struct weft_usdt_form *form = arch->syntax->forms;
	char lead = weft_usdt_peek(r);

	while (form->leads && (!lead || !strchr(form->leads, lead)))
		form++;
	if (form->read(r))
		return;
	if (r->at < r->end && !is_blank(r->text[r->at]))
		weft_usdt_fail(r, "something follows its operand that does not belong there");
}

static void read_argument(const struct weft_usdt_arch *arch, struct weft_usdt_reader *r)
{
	struct weft_usdt_operand *out = r->out;
	bool is_float;

	*out = (struct weft_usdt_operand){.start = (uint32_t)r->at};
	if (!read_size(r, out, &is_float))
		weft_usdt_fail(r, "its size is not said");
	else if (is_float)
		weft_usdt_fail(r, "it is a floating-point number");
	else
		read_operand(arch, r);
	if (!out->n_ops) {
		if (r->at > out->start && is_blank(r->text[r->at - 1]))
			r->at--;
		resume(r);
	}
	out->length = (uint32_t)r->at - out->start;
	while (out->length && is_blank(r->text[out->start + out->length - 1]))
		out->length--;
}

void weft_usdt_operands(const struct weft_usdt_arch *arch, const char *text, size_t n,
			const struct weft_usdt_site *site,
			struct weft_usdt_operand out[WEFT_USDT_MOST_ARGS], uint32_t *n_args)
{
	struct weft_usdt_reader r = {.text = text, .end = strnlen(text, n), .site = site};
	struct weft_usdt_operand beyond;

	*n_args = 0;
	for (weft_usdt_blanks(&r); r.at < r.end; weft_usdt_blanks(&r)) {
		r.out = *n_args < WEFT_USDT_MOST_ARGS ? &out[*n_args] : &beyond;
		read_argument(arch, &r);
		++*n_args;
	}
}
