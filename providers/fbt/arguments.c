/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where a function's arguments lie at its first instruction.
 *
 * With registers (kprobes): integers and addresses take one register after the other; what finds
 * none left lies on the stack, in words above the return address. A struct of up to two words takes
 * as many registers, if they are left, and has no address then; a larger one lies on the stack,
 * where its address is what an expression wants.
 *
 * With words (fentry): the trampoline has put the registers into an array, those of a small struct
 * included, and the value returned behind them.
 *
 * Bits of a register above the size of its argument are whatever was there: values are cut.
 */
#include <stdio.h>
#include <string.h>

#include "fbt.h"

#define BY_VALUE "it is a struct passed in registers, which has no address"
#define NO_VALUE "a value of its type cannot be read"

/* What is read there as a whole word, cut to the type's size. */
static void cut(const struct weft_arg_type *type, struct weft_loc_op *ops, uint32_t *n)
{
	bool is_int = type->kind == WEFT_TYPE_INT || type->kind == WEFT_TYPE_BTF;

	if (!is_int || (type->size != 1 && type->size != 2 && type->size != 4))
		return;
	ops[(*n)++] =
		(struct weft_loc_op){.op = WEFT_LOC_EXTEND,
				     .size = (uint8_t)type->size,
				     .flags = type->flags & WEFT_TYPE_SIGNED ? WEFT_LOC_SIGNED : 0};
}

struct places {
	uint32_t regs;  /* taken so far; with words: words */
	uint32_t stack; /* bytes taken on the stack */
	bool words;
};

/* The word of an argument that is no struct. */
static uint32_t place_word(struct places *p, struct weft_loc_op *ops)
{
	uint32_t n = 0;

	if (p->words) {
		ops[n++] = (struct weft_loc_op){
			.op = WEFT_LOC_CTX, .size = 8, .imm = 8 * (int64_t)p->regs++};
		return n;
	}
	if (p->regs < weft_fbt_reg_args) {
		ops[n++] = (struct weft_loc_op){.op = WEFT_LOC_ARG, .imm = p->regs++};
		return n;
	}
	ops[n++] = weft_fbt_stack_pointer;
	ops[n++] = (struct weft_loc_op){
		.op = WEFT_LOC_LOAD, .size = 8, .imm = weft_fbt_stack_args + (int64_t)p->stack};
	p->stack += 8;
	return n;
}

/* A struct. The address, where it has one. */
static uint32_t place_struct(struct places *p, uint32_t size, struct weft_loc_op *ops)
{
	uint32_t words = (size + 7) / 8, n = 0;

	if (!words)
		return 0;
	if (words <= 2 && (p->words || p->regs + words <= weft_fbt_reg_args)) {
		p->regs += words;
		return 0;
	}
	if (!p->words) {
		ops[n++] = weft_fbt_stack_pointer;
		ops[n++] = (struct weft_loc_op){.op = WEFT_LOC_CONST,
						.imm = weft_fbt_stack_args + (int64_t)p->stack};
		ops[n++] = (struct weft_loc_op){.op = WEFT_LOC_ADD};
	}
	p->stack += 8 * words;
	return n;
}

uint32_t weft_fbt_arguments(struct weft_instance *in, const struct weft_func_info *info, bool words)
{
	struct places p = {.words = words};
	uint32_t n = info->n_params < WEFT_FBT_ARGS_MOST ? info->n_params : WEFT_FBT_ARGS_MOST;

	for (uint32_t i = 0; i < n; i++) {
		const struct weft_func_param *param = weft_func_param_at(info, i);
		struct weft_arg *arg = &in->args[i];
		struct weft_loc_op *ops = in->ops[i];
		uint32_t n_ops;

		*arg = (struct weft_arg){
			.struct_size = sizeof(*arg), .name = param->name, .type = param->type};
		for (uint32_t k = 0; param->name && k < i; k++)
			if (in->args[k].name && !strcmp(in->args[k].name, param->name))
				arg->name = NULL;
		if (param->flags & WEFT_FUNC_PARAM_BY_VALUE) {
			n_ops = place_struct(&p, param->size, ops);
			arg->unreadable = n_ops ? NULL : BY_VALUE;
		} else if (param->type.kind && param->size <= 8) {
			n_ops = place_word(&p, ops);
			cut(&param->type, ops, &n_ops);
		} else {
			/* It takes its place all the same. */
			n_ops = 0;
			place_struct(&p, param->size, ops);
			arg->unreadable = NO_VALUE;
		}
		if (!arg->type.kind)
			arg->type.kind = WEFT_TYPE_POINTER; /* any: it cannot be read */
		arg->where = (struct weft_location){.ops = n_ops ? ops : NULL, .n_ops = n_ops};
	}
	in->n_args = n;
	return p.regs;
}

void weft_fbt_retval(struct weft_instance *in, const struct weft_func_info *info, int word,
		     struct weft_probe_info *out)
{
	const struct weft_func_param *result = info->result;
	struct weft_loc_op *ops = in->ops[0];
	uint32_t n = 0;

	if (!result || !result->type.kind || result->size > 8 ||
	    result->flags & WEFT_FUNC_PARAM_BY_VALUE)
		return;
	ops[n++] = word < 0 ? (struct weft_loc_op){.op = WEFT_LOC_RETVAL, .size = 8}
			    : (struct weft_loc_op){
				      .op = WEFT_LOC_CTX, .size = 8, .imm = 8 * (int64_t)word};
	cut(&result->type, ops, &n);
	out->retval_type = result->type;
	out->retval = (struct weft_location){.ops = ops, .n_ops = n};
}
