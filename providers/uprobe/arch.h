/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What differs between architectures; arch_ARCH.c has it. */
#ifndef WEFT_UPROBE_ARCH_H
#define WEFT_UPROBE_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft/provider.h"

#define WEFT_UPROBE_OPS 512u /* operations of all locations of one probe_info */

/* What is no longer as it was at the entry: bit i for the register of argument i, and */
#define WEFT_UPROBE_TOUCHES_STACK  (1u << 28) /* the stack pointer */
#define WEFT_UPROBE_TOUCHES_FRAME  (1u << 29) /* the frame pointer */
#define WEFT_UPROBE_TOUCHES_MEMORY (1u << 30) /* memory other than the function's own frame */

/* A place for the probe of a function's entry. */
struct weft_uprobe_place {
	bool cheap;       /* another than the first instruction is cheaper, provided that no jump
			   * from elsewhere lands in (0, delta] */
	uint32_t delta;   /* cheap: bytes behind the first instruction */
	uint32_t touched; /* cheap: WEFT_UPROBE_TOUCHES_* */
	bool sure;        /* nothing before it can fail */
	bool unfit; /* the first instruction cannot bear a probe; with .cheap, that place can */
	const char *reason; /* static: why there, or why not elsewhere */
};

struct weft_uprobe_arch {
	uint16_t machine;    /* EM_* */
	uint32_t dwarf_sp;   /* the stack pointer's DWARF number */
	uint32_t n_reg_args; /* integer arguments in registers */
	uint32_t stack_args; /* bytes from the stack pointer at the entry to the first on the stack */
	uint32_t return_pops; /* how far a return moves the stack pointer up beyond the call's */
};
extern const struct weft_uprobe_arch weft_uprobe_arch;

/* Where a probe on the entry of a function costs least. code: the function's bytes, size of them
 * (the whole function, if whole). */
void weft_uprobe_arch_place(const uint8_t *code, size_t size, uint64_t address, bool whole,
			    struct weft_uprobe_place *out);

/* What a register, by its DWARF number, is to calls: the bit of an argument, or
 * WEFT_UPROBE_TOUCHES_FRAME; UINT32_MAX where it is none of these and may have changed. */
uint32_t weft_uprobe_arch_register(int64_t dwarf);

/* Why the kernel should not be asked for a probe on an instruction, or NULL. */
const char *weft_uprobe_arch_unfit(const uint8_t *code, size_t size);
/* Whether it emulates it. */
bool weft_uprobe_arch_emulated(const uint8_t *code, size_t length);
/* The length of a vector instruction that the disassembler does not know; 0: it is none. */
size_t weft_uprobe_arch_vector_length(const uint8_t *code, size_t size);

/* Whether an instruction begins `at` bytes behind the beginning, decoding from there. */
bool weft_uprobe_arch_begins(const uint8_t *code, size_t size, uint64_t address, uint64_t at);

/* go_ARCH.c. Where a function that may begin twice, since it makes its stack grow and starts anew,
 * has begun for good: bytes from its beginning; 0: it has no such check. whole: code is all of it,
 * and nothing else. */
uint32_t weft_uprobe_arch_behind_check(const uint8_t *code, size_t size, uint64_t address,
				       bool whole);
/* Calls found() with each instruction by which the whole function that is given returns. NULL, or
 * why these are not all ways out of it: static text. */
const char *weft_uprobe_arch_returns(const uint8_t *code, size_t size, uint64_t address,
				     int (*found)(void *arg, uint32_t offset), void *arg);

/* Marks where the long jumps and calls that the bytes could contain would go: calls mark() with
 * addresses. Any jump that there is is among them. */
void weft_uprobe_arch_landings(const uint8_t *code, size_t size, uint64_t address,
			       void (*mark)(void *arg, uint64_t to), void *arg);

#endif
