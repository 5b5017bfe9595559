/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <string.h>

#include "support/bpf.h"
#include "support/insn.h"

void support_insn(struct support_code *c, uint8_t code, uint8_t dst, uint8_t src, int16_t off,
		  int32_t imm)
{
	if (c->n == SUPPORT_CODE_MAX) {
		c->too_long = true;
		return;
	}
	c->target[c->n] = 0;
	c->insns[c->n++] = (struct bpf_insn){
		.code = code, .dst_reg = dst & 15, .src_reg = src & 15, .off = off, .imm = imm};
}

void support_mov(struct support_code *c, uint8_t dst, uint8_t src)
{
	support_insn(c, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

void support_mov32(struct support_code *c, uint8_t dst, uint8_t src)
{
	support_insn(c, BPF_ALU | BPF_MOV | BPF_X, dst, src, 0, 0);
}

void support_set(struct support_code *c, uint8_t dst, int32_t imm)
{
	support_insn(c, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm);
}

static void wide(struct support_code *c, uint8_t dst, uint8_t src, uint32_t low, uint32_t high)
{
	support_insn(c, 0x18 /* BPF_LD | BPF_IMM | BPF_DW */, dst, src, 0, (int32_t)low);
	support_insn(c, 0, 0, 0, 0, (int32_t)high);
}

void support_set64(struct support_code *c, uint8_t dst, uint64_t imm)
{
	wide(c, dst, 0, (uint32_t)imm, (uint32_t)(imm >> 32));
}

void support_alu(struct support_code *c, uint8_t op, uint8_t dst, uint8_t src)
{
	support_insn(c, BPF_ALU64 | BPF_X | op, dst, src, 0, 0);
}

void support_alu_imm(struct support_code *c, uint8_t op, uint8_t dst, int32_t imm)
{
	support_insn(c, BPF_ALU64 | BPF_K | op, dst, 0, 0, imm);
}

void support_load(struct support_code *c, uint8_t size, uint8_t dst, uint8_t src, int16_t off)
{
	support_insn(c, BPF_LDX | BPF_MEM | size, dst, src, off, 0);
}

void support_store(struct support_code *c, uint8_t size, uint8_t dst, int16_t off, uint8_t src)
{
	support_insn(c, BPF_STX | BPF_MEM | size, dst, src, off, 0);
}

void support_store_imm(struct support_code *c, uint8_t size, uint8_t dst, int16_t off, int32_t imm)
{
	support_insn(c, BPF_ST | BPF_MEM | size, dst, 0, off, imm);
}

void support_atomic(struct support_code *c, uint8_t size, int32_t op, uint8_t dst, int16_t off,
		    uint8_t src)
{
	support_insn(c, BPF_STX | BPF_ATOMIC | size, dst, src, off, op);
}

void support_map(struct support_code *c, uint8_t dst, int map_fd)
{
	wide(c, dst, BPF_PSEUDO_MAP_FD, (uint32_t)map_fd, 0);
}

void support_map_value(struct support_code *c, uint8_t dst, int map_fd, uint32_t offset)
{
	wide(c, dst, BPF_PSEUDO_MAP_VALUE, (uint32_t)map_fd, offset);
}

void support_frame(struct support_code *c, uint8_t dst, int16_t off)
{
	support_mov(c, dst, 10);
	support_alu_imm(c, BPF_ADD, dst, off);
}

void support_call(struct support_code *c, int32_t helper)
{
	support_insn(c, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

void support_exit(struct support_code *c)
{
	support_insn(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static void aim(struct support_code *c, unsigned label)
{
	if (!c->too_long)
		c->target[c->n - 1] = (uint8_t)(label + 1);
}

void support_jump(struct support_code *c, unsigned label)
{
	support_insn(c, BPF_JMP | BPF_JA, 0, 0, 0, 0);
	aim(c, label);
}

void support_jump_if(struct support_code *c, uint8_t op, uint8_t dst, int32_t imm, unsigned label)
{
	support_insn(c, BPF_JMP | BPF_K | op, dst, 0, 0, imm);
	aim(c, label);
}

void support_jump_if_reg(struct support_code *c, uint8_t op, uint8_t dst, uint8_t src,
			 unsigned label)
{
	support_insn(c, BPF_JMP | BPF_X | op, dst, src, 0, 0);
	aim(c, label);
}

void support_label(struct support_code *c, unsigned label)
{
	c->labels[label] = c->n;
}

int support_code_load(struct support_code *c, const struct support_program *what)
{
	for (size_t i = 0; i < c->n; i++) {
		if (!c->target[i])
			continue;
		c->insns[i].off = (int16_t)((long)c->labels[c->target[i] - 1] - (long)i - 1);
		c->target[i] = 0;
	}
	if (c->too_long)
		return -E2BIG;
	return support_program_load(what->name, what->type, what->flags, c->insns, c->n, what->log,
				    what->log_size);
}
