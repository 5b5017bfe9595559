/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What operands.c and the architectures' files share: a reader over the text, and the assembling
 * of a location. An architecture is two tables: its registers, and the ways in which an operand can
 * begin, each with the function that reads on from there.
 */
#ifndef WEFT_USDT_OPERANDS_ARCH_H
#define WEFT_USDT_OPERANDS_ARCH_H

#include "usdt/operands.h"

struct weft_usdt_reader {
	const char *text;
	size_t at, end;
	const struct weft_usdt_site *site;
	struct weft_usdt_operand *out;
};

struct weft_usdt_register {
	const char *name;
	int8_t dwarf; /* WEFT_USDT_PC, WEFT_USDT_ZERO, or the number; WEFT_USDT_CLOSED: not to be had */
	uint8_t size; /* bytes */
	uint8_t bit;  /* the first */
};
#define WEFT_USDT_PC     (-1)
#define WEFT_USDT_ZERO   (-2)
#define WEFT_USDT_CLOSED (-3)

/* One way to begin: any of these characters. Functions return 0, or -EINVAL with out->why set. */
struct weft_usdt_form {
	const char *leads;
	int (*read)(struct weft_usdt_reader *r);
};

struct weft_usdt_syntax {
	const struct weft_usdt_form *forms; /* ends with leads NULL: for anything else */
};

/* The text. */
char weft_usdt_peek(const struct weft_usdt_reader *r); /* NUL at the end */
void weft_usdt_blanks(struct weft_usdt_reader *r);
bool weft_usdt_take(struct weft_usdt_reader *r, char c); /* blanks before it are passed over */
/* A C integer constant without a sign, wrapped to 64 bits if a sign follows from its use. -EINVAL:
 * none is there, or it has more than 64 bits. */
int weft_usdt_number(struct weft_usdt_reader *r, uint64_t *out);
/* A word of letters, digits, '_', '.' and '$'; its length, which may be 0. */
size_t weft_usdt_word(struct weft_usdt_reader *r, const char **word);
/* The register that a word names, without regard to case; NULL: none. */
const struct weft_usdt_register *weft_usdt_find_register(const struct weft_usdt_register *table,
							 const char *word, size_t n);
/* A sum of numbers and at most one symbol, each with its sign: "-4", "8+sym", "sym-16". */
struct weft_usdt_sum {
	uint64_t number;
	bool has_symbol;
	uint64_t symbol; /* its address as linked */
};
int weft_usdt_sum(struct weft_usdt_reader *r, struct weft_usdt_sum *out);

/* The location. */
int weft_usdt_fail(struct weft_usdt_reader *r, const char *why); /* -EINVAL */
void weft_usdt_op(struct weft_usdt_reader *r, uint16_t op, int64_t imm);
void weft_usdt_whole_register(struct weft_usdt_reader *r, const struct weft_usdt_register *reg);
/* The value is the number that is pushed, cut to the argument's size. */
void weft_usdt_constant(struct weft_usdt_reader *r, uint64_t value);
/* Adds the running address of what was linked at `address`. */
void weft_usdt_relocated(struct weft_usdt_reader *r, uint64_t address);
int weft_usdt_register_value(struct weft_usdt_reader *r, const struct weft_usdt_register *reg);

/* An address: any of the parts may be missing. */
struct weft_usdt_address {
	const struct weft_usdt_register *base, *index;
	uint8_t shift;
	uint8_t extend; /* bytes of the index that count; 0: all */
	bool extend_signed;
	struct weft_usdt_sum sum;
};
int weft_usdt_memory(struct weft_usdt_reader *r, const struct weft_usdt_address *a);

#endif
