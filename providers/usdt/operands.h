/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The arguments of a USDT site, from the text of its note to locations.
 *
 * The text is what the program's assembler was given: for each argument its size, negative if it is
 * signed, an @, and an operand in the syntax of the architecture: "-4@%eax 8@16(%rsp) 4@$7". It
 * comes from a file that nobody vouches for, so it is read within the bounds of the text, and what
 * is not understood costs that argument alone. Arguments are separated by blanks, but an operand
 * may hold blanks as well ("[x0, 8]"), so it is the operand's syntax that says where it ends.
 */
#ifndef WEFT_USDT_OPERANDS_H
#define WEFT_USDT_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft/provider.h"

#define WEFT_USDT_MOST_ARGS 12u /* as many as any header writes */
#define WEFT_USDT_MOST_OPS  12u /* the longest: base, index, scale, displacement, symbol, load */

struct weft_usdt_operand {
	uint8_t size; /* bytes: 1, 2, 4, 8; 0 where even that is not said */
	bool is_signed;
	uint32_t n_ops; /* 0: it cannot be read */
	struct weft_loc_op ops[WEFT_USDT_MOST_OPS];
	const char *why;        /* n_ops 0: a static sentence */
	uint32_t start, length; /* its text, as a part of the whole */
};

/* What the note belongs to, for operands that are relative to it. find() gives the address of a
 * symbol as linked, or -ENOENT; NULL: there are no symbols. */
struct weft_usdt_site {
	uint64_t address; /* as linked, the base correction applied */
	int (*find)(void *arg, const char *name, size_t length, uint64_t *address);
	void *arg;
};

struct weft_usdt_arch {
	const char *name;
	uint16_t machine; /* e_machine of ELF */
	const struct weft_usdt_syntax *syntax;
};

extern const struct weft_usdt_arch weft_usdt_x86_64, weft_usdt_arm64;

/* NULL: none that is known. */
const struct weft_usdt_arch *weft_usdt_arch_of(uint16_t machine);

/* Reads the n bytes of text (a NUL ends them earlier). *n_args is the number of arguments, of which
 * those beyond WEFT_USDT_MOST_ARGS are counted but not written. Never fails. */
void weft_usdt_operands(const struct weft_usdt_arch *arch, const char *text, size_t n,
			const struct weft_usdt_site *site,
			struct weft_usdt_operand out[WEFT_USDT_MOST_ARGS], uint32_t *n_args);

#endif
