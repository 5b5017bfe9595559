/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a program needs to know of a probe: its context, its arguments, how a return finds its
 * entry.
 *
 * A function of which the kernel has no type information has the six integer registers, as numbers;
 * whether it takes that many nobody knows.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fbt.h"

static const struct weft_loc_op retval_ops[] = {{.op = WEFT_LOC_RETVAL, .size = 8}};

static void untyped(struct weft_instance *in, struct weft_probe_info *out)
{
	for (uint32_t i = 0; i < weft_fbt_reg_args; i++) {
		in->ops[i][0] = (struct weft_loc_op){.op = WEFT_LOC_ARG, .imm = i};
		in->args[i] = (struct weft_arg){
			.struct_size = sizeof(struct weft_arg),
			.type = {.struct_size = sizeof(struct weft_arg_type),
				 .kind = WEFT_TYPE_INT,
				 .size = 8},
			.where = {.ops = in->ops[i], .n_ops = 1},
		};
	}
	out->args = in->args;
	out->n_args = weft_fbt_reg_args;
	out->arg_size = sizeof(struct weft_arg);
}

int weft_fbt_probe_info(struct weft_instance *in, const struct weft_probe *probe,
			const struct weft_params *with, struct weft_probe_info *out,
			struct weft_error *err)
{
	bool is_return;
	struct weft_probe_desc d = {.struct_size = sizeof(d)};

	(void)with;
	(void)err;
	weft_fbt_settle(in);
	weft_fbt_function_of(in, probe, &is_return);
	in->host->probe_desc(probe, &d);
	out->scope = WEFT_SCOPE_NONE;
	weft_fbt_load_class(in->mechanism, is_return, &out->load);
	out->identity = (struct weft_identity){
		.struct_size = sizeof(out->identity),
		.kind = WEFT_IDENTITY_COOKIE,
	};
	out->pairing = (struct weft_pairing){
		.struct_size = sizeof(out->pairing),
		.role = is_return ? WEFT_PAIRING_RETURN : WEFT_PAIRING_ENTRY,
		.frame = is_return ? weft_fbt_frame_return : weft_fbt_frame_entry,
	};
	if (is_return) {
		out->pairing.entry = d;
		out->pairing.entry.name = "entry";
		out->retval_type = (struct weft_arg_type){
			.struct_size = sizeof(out->retval_type),
			.kind = WEFT_TYPE_INT,
			.size = 8,
			.flags = WEFT_TYPE_SIGNED,
		};
		out->retval = (struct weft_location){.ops = retval_ops, .n_ops = 1};
	} else {
		untyped(in, out);
	}
	return 0;
}

int weft_fbt_fentry_target(struct weft_instance *in, const char *function, const char *module,
			   struct weft_load_class *load)
{
	(void)in;
	(void)function;
	(void)module;
	(void)load;
	return -EOPNOTSUPP;
}
