/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * BPF programs of a provider's own, written by hand: instructions one after the other, jumps to
 * labels. Nothing fails before support_code_load(): a program that does not fit is refused there.
 *
 * Registers are numbers, 10 is the frame. size is BPF_B, BPF_H, BPF_W or BPF_DW; op is an operation
 * of linux/bpf.h without its class (BPF_ADD, BPF_JEQ ...).
 */
#ifndef WEFT_SUPPORT_INSN_H
#define WEFT_SUPPORT_INSN_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUPPORT_CODE_MAX   1024u
#define SUPPORT_LABELS_MAX 64u

struct support_code {
	struct bpf_insn insns[SUPPORT_CODE_MAX];
	size_t n;
	uint8_t target[SUPPORT_CODE_MAX]; /* label + 1 of a jump that is not set yet */
	size_t labels[SUPPORT_LABELS_MAX];
	bool too_long;
};

void support_insn(struct support_code *c, uint8_t code, uint8_t dst, uint8_t src, int16_t off,
		  int32_t imm);

/* dst = src; dst = imm; dst OP= src; dst OP= imm; all of 64 bits. */
void support_mov(struct support_code *c, uint8_t dst, uint8_t src);
void support_mov32(struct support_code *c, uint8_t dst, uint8_t src);
void support_set(struct support_code *c, uint8_t dst, int32_t imm);
void support_set64(struct support_code *c, uint8_t dst, uint64_t imm);
void support_alu(struct support_code *c, uint8_t op, uint8_t dst, uint8_t src);
void support_alu_imm(struct support_code *c, uint8_t op, uint8_t dst, int32_t imm);

void support_load(struct support_code *c, uint8_t size, uint8_t dst, uint8_t src, int16_t off);
void support_store(struct support_code *c, uint8_t size, uint8_t dst, int16_t off, uint8_t src);
void support_store_imm(struct support_code *c, uint8_t size, uint8_t dst, int16_t off, int32_t imm);
/* op: BPF_ADD, BPF_XCHG, BPF_CMPXCHG, BPF_ADD | BPF_FETCH ... */
void support_atomic(struct support_code *c, uint8_t size, int32_t op, uint8_t dst, int16_t off,
		    uint8_t src);

void support_map(struct support_code *c, uint8_t dst, int map_fd);
/* The address of byte `offset` of an array's first element. */
void support_map_value(struct support_code *c, uint8_t dst, int map_fd, uint32_t offset);
/* dst = frame + off */
void support_frame(struct support_code *c, uint8_t dst, int16_t off);
void support_call(struct support_code *c, int32_t helper);
void support_exit(struct support_code *c);

void support_jump(struct support_code *c, unsigned label);
void support_jump_if(struct support_code *c, uint8_t op, uint8_t dst, int32_t imm, unsigned label);
void support_jump_if_reg(struct support_code *c, uint8_t op, uint8_t dst, uint8_t src,
			 unsigned label);
void support_label(struct support_code *c, unsigned label);

struct support_program {
	const char *name;
	uint32_t type;  /* BPF_PROG_TYPE_* */
	uint32_t flags; /* BPF_F_SLEEPABLE */
	char *log;      /* for the verifier's words, or NULL */
	uint32_t log_size;
};
int support_code_load(struct support_code *c, const struct support_program *what);

#endif
