/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the files for x86-64 share; arch_x86_64.c has it. */
#ifndef WEFT_UPROBE_DISASM_X86_64_H
#define WEFT_UPROBE_DISASM_X86_64_H

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* With details; 0: there is no memory. */
csh weft_uprobe_disassembler(void);
/* The next instruction; vector instructions that are younger than the disassembler are passed over
 * as *unknown, since all that matters of them is that they are no jumps. */
bool weft_uprobe_next(csh cs, const uint8_t **at, size_t *size, uint64_t *pc, cs_insn *insn,
		      bool *unknown);

#endif
