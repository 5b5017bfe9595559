/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a program for a probe needs to know. Arguments are 64-bit words by the C convention, as many
 * as there are registers for them and six from the stack. All is as at the function's first
 * instruction; where the probe sits on a later one, that holds for what the program uses.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>

#include "support/bpf.h"
#include "uprobe.h"

#define N_STACK_ARGS 6u

static const char go_args[] = "a Go program passes arguments in a way of its own: use regs";
static const char inside[] =
	"arguments are where they were passed at a function's entry only: use regs";

/* ---- locations ---- */

struct builder {
	struct weft_instance *in;
	size_t n;
};

static void push(struct builder *b, struct weft_location *l, struct weft_loc_op op)
{
	if (b->n == WEFT_UPROBE_OPS)
		return; /* more than arguments can need */
	if (!l->n_ops)
		l->ops = &b->in->ops[b->n];
	b->in->ops[b->n++] = op;
	l->n_ops++;
}

static struct weft_loc_op stack_pointer(void)
{
	return (struct weft_loc_op){.op = WEFT_LOC_REG, .size = 8, .imm = weft_uprobe_arch.dwarf_sp};
}

static const struct weft_arg_type word = {
	.struct_size = sizeof(word),
	.kind = WEFT_TYPE_INT,
	.size = 8,
	.flags = WEFT_TYPE_SIGNED,
};

static void plain_args(struct builder *b, const char *unreadable, struct weft_probe_info *out)
{
	uint32_t n = weft_uprobe_arch.n_reg_args + N_STACK_ARGS;

	for (uint32_t i = 0; i < n; i++) {
		struct weft_arg *a = &b->in->args[i];

		*a = (struct weft_arg){
			.struct_size = sizeof(*a), .type = word, .unreadable = unreadable};
		if (unreadable)
			continue;
		if (i < weft_uprobe_arch.n_reg_args) {
			push(b, &a->where,
			     (struct weft_loc_op){.op = WEFT_LOC_ARG, .size = 8, .imm = i});
			continue;
		}
		push(b, &a->where, stack_pointer());
		push(b, &a->where,
		     (struct weft_loc_op){.op = WEFT_LOC_LOAD,
					  .size = 8,
					  .flags = WEFT_LOC_USER,

					  .imm = weft_uprobe_arch.stack_args +
						 8 * (int64_t)(i - weft_uprobe_arch.n_reg_args)});
	}
	out->args = b->in->args;
	out->n_args = n;
	out->arg_size = sizeof(struct weft_arg);
}

static void typed_args(const struct weft_elf_function *types, struct weft_probe_info *out)
{
	out->args = types->args;
	out->n_args = types->n_args;
	out->arg_size = types->arg_size;
}

/* The stack pointer at the moment of the call, from that at the place. */
static void frame(struct builder *b, int64_t by, struct weft_location *out)
{
	push(b, out, stack_pointer());
	if (!by)
		return;
	push(b, out, (struct weft_loc_op){.op = WEFT_LOC_CONST, .imm = by});
	push(b, out, (struct weft_loc_op){.op = WEFT_LOC_ADD});
}

int weft_uprobe_probe_info(struct weft_instance *in, const struct weft_probe *probe,
			   const struct weft_params *with, struct weft_probe_info *out,
			   struct weft_error *err)
{
	struct weft_uprobe_probe *p =
		(struct weft_uprobe_probe *)(uintptr_t)in->host->probe_data(probe);
	struct builder b = {.in = in};
	struct weft_probe_desc desc = {.struct_size = sizeof(desc)};
	const struct weft_elf_function *types = weft_uprobe_types(in, p);
	bool go = p->n_sites && p->sites[0].file->go;

	/* Not while events are made: looking at code takes longer than that. */
	if (p->kind != WEFT_UPROBE_OFFSET)
		for (size_t i = 0; i < p->n_sites; i++)
			weft_uprobe_decide(&p->sites[i]);

	(void)with;
	(void)err;
	weft_uprobe_settle_mechanism(in);
	out->scope = weft_uprobe_filtered(in) ? WEFT_SCOPE_COARSE : WEFT_SCOPE_NONE;
	out->load = (struct weft_load_class){
		.struct_size = sizeof(out->load),
		.prog_type = BPF_PROG_TYPE_KPROBE,
		.expected_attach_type =
			in->uprobes.way == SUPPORT_UPROBE_LINKS ? SUPPORT_BPF_TRACE_UPROBE_MULTI : 0,
		.flags = WEFT_LOAD_COOKIE | WEFT_LOAD_SLEEPABLE,
		.ctx_kind = WEFT_CTX_REGS,
	};
	out->identity = (struct weft_identity){.struct_size = sizeof(out->identity),
					       .kind = WEFT_IDENTITY_COOKIE};
	switch (p->kind) {
	case WEFT_UPROBE_ENTRY:
		if (types)
			typed_args(types, out);
		else
			plain_args(&b, go ? go_args : NULL, out);
		if (go) /* frames move, and so do goroutines, from thread to thread */
			break;
		out->pairing.role = WEFT_PAIRING_ENTRY;
		frame(&b, 0, &out->pairing.frame);
		break;
	case WEFT_UPROBE_RETURN:
		if (go)
			break;
		in->host->probe_desc(probe, &desc);
		out->pairing.role = WEFT_PAIRING_RETURN;
		out->pairing.entry = desc;
		out->pairing.entry.struct_size = sizeof(desc);
		out->pairing.entry.provider = "uprobe";
		out->pairing.entry.name = "entry";
		frame(&b, -(int64_t)weft_uprobe_arch.return_pops, &out->pairing.frame);
		if (types) {
			out->retval_type = types->retval_type;
			out->retval = types->retval;
			break;
		}
		out->retval_type = word;
		push(&b, &out->retval,
		     (struct weft_loc_op){
			     .op = WEFT_LOC_RETVAL, .size = 8, .flags = WEFT_LOC_SIGNED});
		break;
	case WEFT_UPROBE_OFFSET:
		plain_args(&b, p->at ? inside : go ? go_args : NULL, out);
		break;
	}
	out->pairing.struct_size = sizeof(out->pairing);
	if (types)
		out->prototype = types->prototype;
	return 0;
}
