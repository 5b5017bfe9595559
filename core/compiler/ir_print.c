/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The intermediate form as text, for `explain` and for whoever debugs the compiler. */
#include "core/compiler/ir.h"

#include <inttypes.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/compiler/names.h"

static void print_reg(FILE *f, weft_vreg v)
{
	if (v == WEFT_FP)
		fputs("fp", f);
	else
		fprintf(f, "v%u", v);
}

static void print_place(FILE *f, const struct weft_ir_insn *i, unsigned size)
{
	fprintf(f, "u%u [", size * 8);
	print_reg(f, i->a);
	fprintf(f, "%+d]", i->off);
}

static void print_operand(FILE *f, const struct weft_ir_insn *i)
{
	if (i->b)
		print_reg(f, i->b);
	else
		fprintf(f, "%" PRId64, i->imm);
}

static void print_call(FILE *f, const struct weft_ir *ir, const struct weft_ir_insn *i)
{
	fprintf(f, "%s(", weft_helper_name((int)i->imm));
	for (size_t k = 0; k < i->n_args; k++) {
		const struct weft_ir_arg *arg = &ir->args[i->args + k];

		if (k)
			fputs(", ", f);
		if (arg->kind == WEFT_ARG_VREG)
			print_reg(f, arg->vreg);
		else if (arg->kind == WEFT_ARG_IMM)
			fprintf(f, "%" PRId64, arg->imm);
		else if (arg->kind == WEFT_ARG_STACK)
			fprintf(f, "fp%+" PRId64, arg->imm);
		else
			fprintf(f, "map %" PRId64, arg->imm);
	}
	fputc(')', f);
}

static void print_insn(FILE *f, const struct weft_ir *ir, const struct weft_ir_insn *i)
{
	if (i->op == WEFT_IR_LABEL) {
		fprintf(f, "L%u:\n", i->label);
		return;
	}
	fputs("  ", f);
	if (i->dst) {
		print_reg(f, i->dst);
		fputs(" = ", f);
	}
	switch (i->op) {
	case WEFT_IR_CONTEXT:
		fputs("context", f);
		break;
	case WEFT_IR_CONST:
		fprintf(f, "%" PRId64, i->imm);
		break;
	case WEFT_IR_MAP_VALUE:
		fprintf(f, "&map %" PRId64 " value[%d]", i->imm, i->off);
		break;
	case WEFT_IR_MOVE:
		print_reg(f, i->a);
		break;
	case WEFT_IR_ALU:
		print_reg(f, i->a);
		fprintf(f, " %s ", weft_alu_text(i->code));
		print_operand(f, i);
		break;
	case WEFT_IR_NEG:
		fputc('-', f);
		print_reg(f, i->a);
		break;
	case WEFT_IR_SWAP:
		fprintf(f, "swap%u ", i->size * 8u);
		print_reg(f, i->a);
		break;
	case WEFT_IR_LOW32:
		fputs("(u32)", f);
		print_reg(f, i->a);
		break;
	case WEFT_IR_SET:
		print_reg(f, i->a);
		fprintf(f, " %s ", weft_jump_text(i->code));
		print_operand(f, i);
		break;
	case WEFT_IR_LOAD:
		print_place(f, i, i->size);
		break;
	case WEFT_IR_STORE:
		print_place(f, i, i->size);
		fputs(" = ", f);
		print_operand(f, i);
		break;
	case WEFT_IR_ATOMIC:
		fputs("atomic ", f);
		print_place(f, i, 8);
		fprintf(f, " %s= ", weft_alu_text(i->code));
		print_reg(f, i->b);
		break;
	case WEFT_IR_XCHG:
		fputs(i->code == BPF_XCHG ? "exchange " : "fetch-add ", f);
		print_place(f, i, 8);
		fputs(", ", f);
		print_reg(f, i->b);
		break;
	case WEFT_IR_CMPXCHG:
		fputs("compare-exchange ", f);
		print_place(f, i, 8);
		fputs(", ", f);
		print_reg(f, i->c);
		fputs(" -> ", f);
		print_reg(f, i->b);
		break;
	case WEFT_IR_CALL:
		print_call(f, ir, i);
		break;
	case WEFT_IR_JUMP:
		fprintf(f, "goto L%u", i->label);
		break;
	case WEFT_IR_BRANCH:
		fputs(i->size == 4 ? "if (low 32) " : "if ", f);
		print_reg(f, i->a);
		fprintf(f, " %s ", weft_jump_text(i->code));
		print_operand(f, i);
		fprintf(f, " goto L%u", i->label);
		break;
	default:
		fputs("exit", f);
		break;
	}
	fputc('\n', f);
}

char *weft_ir_print(const struct weft_ir *ir, struct weft_arena *arena)
{
	char *text = NULL, *copy = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (size_t i = 0; i < ir->n_insns; i++)
		print_insn(f, ir, &ir->insns[i]);
	if (fclose(f) == 0)
		copy = weft_arena_strndup(arena, text, size);
	free(text);
	return copy;
}
