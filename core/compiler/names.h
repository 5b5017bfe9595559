/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Names of operations and helpers, for listings. */
#ifndef WEFT_COMPILER_NAMES_H
#define WEFT_COMPILER_NAMES_H

#include <stdint.h>
#include <stdio.h>

#include <linux/bpf.h>

const char *weft_alu_text(uint8_t code);  /* "+", "s>>" */
const char *weft_jump_text(uint8_t code); /* "==", "s<=" */
const char *weft_helper_name(int helper);

/* One instruction (insn[1] is read for ld_imm64), without a line end. pos: its index. */
void weft_disassemble(FILE *f, const struct bpf_insn *insn, uint32_t pos);

#endif
