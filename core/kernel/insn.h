/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * BPF instructions as expressions of type struct bpf_insn. Registers are BPF_REG_0 .. BPF_REG_10,
 * `op` is an operation of linux/bpf.h without its class (BPF_ADD, BPF_JEQ, ...), `size` one of
 * BPF_B, BPF_H, BPF_W, BPF_DW. Jump offsets count instructions from the one after the jump.
 *
 * INSN_LD_IMM64 and INSN_LD_MAP are two instructions: they expand to two initialisers.
 */
#ifndef WEFT_KERNEL_INSN_H
#define WEFT_KERNEL_INSN_H

#include <linux/bpf.h>
#include <stdint.h>

#define WEFT_INSN(c, d, s, o, i)                 \
	((struct bpf_insn){.code = (uint8_t)(c), \
			   .dst_reg = (d),       \
			   .src_reg = (s),       \
			   .off = (int16_t)(o),  \
			   .imm = (int32_t)(i)})

/* dst = dst op src, of 64 and of 32 bits; a 32-bit result clears the upper half. */
#define INSN_ALU64_REG(op, dst, src) WEFT_INSN(BPF_ALU64 | BPF_X | (op), dst, src, 0, 0)
#define INSN_ALU64_IMM(op, dst, imm) WEFT_INSN(BPF_ALU64 | BPF_K | (op), dst, 0, 0, imm)
#define INSN_ALU32_REG(op, dst, src) WEFT_INSN(BPF_ALU | BPF_X | (op), dst, src, 0, 0)
#define INSN_ALU32_IMM(op, dst, imm) WEFT_INSN(BPF_ALU | BPF_K | (op), dst, 0, 0, imm)

#define INSN_MOV64_REG(dst, src) INSN_ALU64_REG(BPF_MOV, dst, src)
#define INSN_MOV64_IMM(dst, imm) INSN_ALU64_IMM(BPF_MOV, dst, imm)
#define INSN_MOV32_REG(dst, src) INSN_ALU32_REG(BPF_MOV, dst, src)
#define INSN_MOV32_IMM(dst, imm) INSN_ALU32_IMM(BPF_MOV, dst, imm)
#define INSN_NEG64(dst)          INSN_ALU64_IMM(BPF_NEG, dst, 0)

/* The low 2, 4 or 8 bytes of dst from this machine's order to the network's; the rest becomes zero. */
#define INSN_TO_BE(dst, bytes) WEFT_INSN(BPF_ALU | BPF_END | BPF_TO_BE, dst, 0, 0, 8 * (bytes))

/* Memory. */
#define INSN_LDX(size, dst, src, off) WEFT_INSN(BPF_LDX | BPF_MEM | (size), dst, src, off, 0)
#define INSN_STX(size, dst, off, src) WEFT_INSN(BPF_STX | BPF_MEM | (size), dst, src, off, 0)
#define INSN_ST(size, dst, off, imm)  WEFT_INSN(BPF_ST | BPF_MEM | (size), dst, 0, off, imm)

/* *(size *)(dst + off) op= src; op is BPF_ADD, BPF_AND, BPF_OR, BPF_XOR, each with BPF_FETCH where
 * src shall receive the old value, or BPF_XCHG (src is exchanged) or BPF_CMPXCHG (compared with r0,
 * which receives the old value; src is stored if they were equal). size is BPF_W or BPF_DW. */
#define INSN_ATOMIC(size, op, dst, off, src) \
	WEFT_INSN(BPF_STX | BPF_ATOMIC | (size), dst, src, off, op)

/* Jumps. op is BPF_JEQ, BPF_JNE, BPF_JSET, BPF_JGT, ..., BPF_JSLE. */
#define INSN_JA(off)                      WEFT_INSN(BPF_JMP | BPF_JA, 0, 0, off, 0)
#define INSN_JMP_REG(op, dst, src, off)   WEFT_INSN(BPF_JMP | BPF_X | (op), dst, src, off, 0)
#define INSN_JMP_IMM(op, dst, imm, off)   WEFT_INSN(BPF_JMP | BPF_K | (op), dst, 0, off, imm)
#define INSN_JMP32_REG(op, dst, src, off) WEFT_INSN(BPF_JMP32 | BPF_X | (op), dst, src, off, 0)
#define INSN_JMP32_IMM(op, dst, imm, off) WEFT_INSN(BPF_JMP32 | BPF_K | (op), dst, 0, off, imm)

#define INSN_CALL(helper) WEFT_INSN(BPF_JMP | BPF_CALL, 0, 0, 0, helper)
/* A BPF function of the same program; off counts instructions from the one after the call. */
#define INSN_CALL_LOCAL(off) WEFT_INSN(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, off)
#define INSN_EXIT()          WEFT_INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* Two instructions: a 64-bit constant. */
#define INSN_LD_IMM64(dst, imm64)                                                     \
	WEFT_INSN(BPF_LD | BPF_DW | BPF_IMM, dst, 0, 0, (uint32_t)(uint64_t)(imm64)), \
		WEFT_INSN(0, 0, 0, 0, (uint32_t)((uint64_t)(imm64) >> 32))
/* Two instructions: a map, by index in a program of a plan and by file descriptor in what the
 * kernel is given. */
#define INSN_LD_MAP(dst, map)                                                 \
	WEFT_INSN(BPF_LD | BPF_DW | BPF_IMM, dst, BPF_PSEUDO_MAP_FD, 0, map), \
		WEFT_INSN(0, 0, 0, 0, 0)
/* Two instructions: the address of byte `offset` of an array's first element. */
#define INSN_LD_MAP_VALUE(dst, map, offset)                                      \
	WEFT_INSN(BPF_LD | BPF_DW | BPF_IMM, dst, BPF_PSEUDO_MAP_VALUE, 0, map), \
		WEFT_INSN(0, 0, 0, 0, offset)
/* Two instructions: the address of a BPF function of the same program, for bpf_loop; off as in
 * INSN_CALL_LOCAL, counted from the instruction after the first of the two. */
#define INSN_LD_FUNC(dst, off) \
	WEFT_INSN(BPF_LD | BPF_DW | BPF_IMM, dst, BPF_PSEUDO_FUNC, 0, off), WEFT_INSN(0, 0, 0, 0, 0)

#define INSN_IS_LD_IMM64(insn) ((insn)->code == (BPF_LD | BPF_DW | BPF_IMM))

#endif
