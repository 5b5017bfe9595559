/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The intermediate form: a list of three-address instructions over any number of virtual registers
 * of 64 bits. Control flow is BPF's own: a branch goes to a label or falls through. Registers are
 * not in single-assignment form; what is defined once as a constant is remembered as one, so that
 * the builder folds as it goes.
 *
 * The builder's functions never fail to the caller's face: a shortage of memory is kept in
 * ir->status and makes the rest do nothing.
 */
#ifndef WEFT_COMPILER_IR_H
#define WEFT_COMPILER_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/lang/lang.h"

typedef uint32_t weft_vreg;

#define WEFT_NO_VREG 0u
#define WEFT_FP      1u /* the frame pointer */
#define WEFT_FIRST   2u /* the first that the builder hands out */

enum weft_ir_op {
	WEFT_IR_LABEL,     /* label */
	WEFT_IR_CONTEXT,   /* dst = the context; only as the first instruction */
	WEFT_IR_CONST,     /* dst = imm */
	WEFT_IR_MAP_VALUE, /* dst = the address of byte off of map imm's only element */
	WEFT_IR_MOVE,      /* dst = a */
	WEFT_IR_ALU,       /* dst = a code (b or imm); imm fits 32 bits */
	WEFT_IR_NEG,       /* dst = -a */
	WEFT_IR_SWAP,   /* dst = the low size bytes of a, from or to network order, zero-extended */
	WEFT_IR_LOW32,  /* dst = the low 32 bits of a */
	WEFT_IR_SET,    /* dst = a code (b or imm) ? 1 : 0 */
	WEFT_IR_LOAD,   /* dst = size bytes at a + off, zero-extended */
	WEFT_IR_STORE,  /* size bytes at a + off = b or imm */
	WEFT_IR_ATOMIC, /* u64 at a + off code= b, atomically (BPF_ADD, BPF_OR) */
	WEFT_IR_XCHG,   /* dst = u64 at a + off, which becomes b (BPF_XCHG) or grows by b (BPF_ADD
			 * | BPF_FETCH) */
	WEFT_IR_CMPXCHG, /* dst = u64 at a + off, which becomes b if it was c */
	WEFT_IR_CALL,    /* dst = helper imm(args); dst may be none */
	WEFT_IR_JUMP,    /* to label; imm 1: it stays behind the branch around it */
	WEFT_IR_BRANCH,  /* to label if a code (b or imm); size 4: of the low 32 bits, else 0 */
	WEFT_IR_EXIT,    /* return 0 */
};

struct weft_ir_insn {
	uint8_t op;   /* enum weft_ir_op */
	uint8_t code; /* BPF_ADD ..., BPF_JEQ ... */
	uint8_t size; /* bytes */
	uint8_t n_args;
	weft_vreg dst, a, b, c;
	int32_t off;
	uint32_t label;
	uint32_t args; /* index of the first of n_args in ir->args */
	uint32_t clause;
	int64_t imm;
	struct weft_span span;
};

/* An argument of a helper. Only VREG occupies a register before the call. */
enum weft_ir_arg_kind { WEFT_ARG_VREG, WEFT_ARG_IMM, WEFT_ARG_STACK, WEFT_ARG_MAP };

struct weft_ir_arg {
	enum weft_ir_arg_kind kind;
	weft_vreg vreg;
	int64_t imm; /* IMM: the value; STACK: offset from the frame pointer; MAP: index */
};

#define WEFT_A(v)     ((struct weft_ir_arg){.kind = WEFT_ARG_VREG, .vreg = (v)})
#define WEFT_A_IMM(i) ((struct weft_ir_arg){.kind = WEFT_ARG_IMM, .imm = (int64_t)(i)})
#define WEFT_A_FP(o)  ((struct weft_ir_arg){.kind = WEFT_ARG_STACK, .imm = (o)})
#define WEFT_A_MAP(m) ((struct weft_ir_arg){.kind = WEFT_ARG_MAP, .imm = (m)})

struct weft_vreg_info {
	int64_t value;    /* of a constant */
	bool is_constant; /* defined once, by CONST */
	bool is_variable; /* may be defined several times */
	bool pinned;      /* must not be spilled: the verifier follows its bounds, or it is tiny */
};

struct weft_ir {
	struct weft_ir_insn *insns;
	size_t n_insns, cap_insns;
	struct weft_ir_arg *args;
	size_t n_args, cap_args;
	struct weft_vreg_info *vregs;
	size_t n_vregs, cap_vregs;
	uint32_t n_labels;   /* labels are 1 .. n_labels */
	uint32_t frame_size; /* bytes of the BPF stack that lowering uses, from the top */
	int status;          /* 0 or -ENOMEM */
	/* Given to instructions as they are made. */
	struct weft_span span;
	uint32_t clause;
};

int weft_ir_init(struct weft_ir *ir);
void weft_ir_finish(struct weft_ir *ir);

weft_vreg weft_ir_vreg(struct weft_ir *ir);     /* for one definition */
weft_vreg weft_ir_variable(struct weft_ir *ir); /* for several */
void weft_ir_pin(struct weft_ir *ir, weft_vreg v);
bool weft_ir_constant(const struct weft_ir *ir, weft_vreg v, int64_t *value);

uint32_t weft_ir_label(struct weft_ir *ir);
void weft_ir_place(struct weft_ir *ir, uint32_t label);

static inline bool weft_fits32(int64_t v)
{
	return v == (int32_t)v;
}
struct weft_ir_insn *weft_ir_append(struct weft_ir *ir, enum weft_ir_op op);
/* With a result, a new register. */
struct weft_ir_insn *weft_ir_define(struct weft_ir *ir, enum weft_ir_op op, weft_vreg *dst);
weft_vreg weft_ir_context(struct weft_ir *ir);
weft_vreg weft_ir_const(struct weft_ir *ir, int64_t value);
weft_vreg weft_ir_map_value(struct weft_ir *ir, uint32_t map, uint32_t offset);
weft_vreg weft_ir_alu(struct weft_ir *ir, uint8_t code, weft_vreg a, weft_vreg b);
weft_vreg weft_ir_alu_imm(struct weft_ir *ir, uint8_t code, weft_vreg a, int64_t imm);
weft_vreg weft_ir_neg(struct weft_ir *ir, weft_vreg a);
weft_vreg weft_ir_swap(struct weft_ir *ir, weft_vreg a, uint8_t size);
weft_vreg weft_ir_extend(struct weft_ir *ir, weft_vreg a, uint8_t size, bool is_signed);
weft_vreg weft_ir_set(struct weft_ir *ir, uint8_t code, weft_vreg a, weft_vreg b);
weft_vreg weft_ir_set_imm(struct weft_ir *ir, uint8_t code, weft_vreg a, int64_t imm);
weft_vreg weft_ir_load(struct weft_ir *ir, uint8_t size, weft_vreg base, int32_t off);
void weft_ir_store(struct weft_ir *ir, uint8_t size, weft_vreg base, int32_t off, weft_vreg value);
void weft_ir_store_imm(struct weft_ir *ir, uint8_t size, weft_vreg base, int32_t off, int64_t value);
void weft_ir_atomic(struct weft_ir *ir, uint8_t code, weft_vreg base, int32_t off, weft_vreg value);
weft_vreg weft_ir_xchg(struct weft_ir *ir, weft_vreg base, int32_t off, weft_vreg value);
weft_vreg weft_ir_fetch_add(struct weft_ir *ir, weft_vreg base, int32_t off, weft_vreg value);
weft_vreg weft_ir_cmpxchg(struct weft_ir *ir, weft_vreg base, int32_t off, weft_vreg expected,
			  weft_vreg value);
/* `wanted`: the result is used. */
weft_vreg weft_ir_call(struct weft_ir *ir, int32_t helper, bool wanted,
		       const struct weft_ir_arg *args, size_t n);
void weft_ir_jump(struct weft_ir *ir, uint32_t label);
/* Out of a loop, behind a branch that goes on: the verifier follows what falls through first, so
 * that it has only one branch of a loop to come back to, not one for each round. */
void weft_ir_leave(struct weft_ir *ir, uint32_t label);
void weft_ir_branch(struct weft_ir *ir, uint8_t code, weft_vreg a, weft_vreg b, uint32_t label);
void weft_ir_branch_imm(struct weft_ir *ir, uint8_t code, weft_vreg a, int64_t imm, uint32_t label);
void weft_ir_exit(struct weft_ir *ir);
/* Definitions of a variable. */
void weft_ir_assign(struct weft_ir *ir, weft_vreg variable, weft_vreg a);
void weft_ir_assign_const(struct weft_ir *ir, weft_vreg variable, int64_t value);
void weft_ir_assign_map_value(struct weft_ir *ir, weft_vreg variable, uint32_t map, uint32_t offset);
void weft_ir_step(struct weft_ir *ir, uint8_t code, weft_vreg variable, int64_t imm); /* v op= imm */
void weft_ir_apply(struct weft_ir *ir, uint8_t code, weft_vreg variable, weft_vreg b); /* v op= b */

#define WEFT_CALL(ir, helper, ...)                                                    \
	weft_ir_call((ir), (helper), true, (const struct weft_ir_arg[]){__VA_ARGS__}, \
		     sizeof((const struct weft_ir_arg[]){__VA_ARGS__}) / sizeof(struct weft_ir_arg))
#define WEFT_CALL_VOID(ir, helper, ...)                                                       \
	((void)weft_ir_call((ir), (helper), false, (const struct weft_ir_arg[]){__VA_ARGS__}, \
			    sizeof((const struct weft_ir_arg[]){__VA_ARGS__}) /               \
				    sizeof(struct weft_ir_arg)))

/* What the instruction reads; at most 7. The frame pointer is left out. */
#define WEFT_IR_MAX_USES 7u
size_t weft_ir_uses(const struct weft_ir *ir, const struct weft_ir_insn *insn,
		    weft_vreg *uses[WEFT_IR_MAX_USES]);
bool weft_ir_is_jump(const struct weft_ir_insn *insn); /* refers to a label */
bool weft_ir_ends(const struct weft_ir_insn *insn);    /* control does not go on behind it */
bool weft_ir_is_pure(const struct weft_ir_insn *insn); /* does nothing but define dst */
/* Truth of a comparison, and a operation's result, as the machine has them. */
bool weft_ir_compare(uint8_t code, int64_t a, int64_t b);
bool weft_ir_compute(uint8_t code, int64_t a, int64_t b, int64_t *result);

/* Drops what cannot be reached (the verifier refuses it) and what is not used; shortens jumps. */
int weft_ir_clean(struct weft_ir *ir);

/* Compares the lower halves where that says as much: marks branches with size 4. -ENOMEM. */
int weft_ir_narrow(struct weft_ir *ir);

/* As text, a line each; NULL: out of memory. */
char *weft_ir_print(const struct weft_ir *ir, struct weft_arena *arena);

#endif
