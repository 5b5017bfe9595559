/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a program needs to know of a probe: its context, its arguments, how a return finds its
 * entry.
 *
 * Names and types of arguments are the kernel's type information; where they lie is the calling
 * convention (arguments.c). A function of which the kernel has no type, or several of that name, or
 * one that the compiler changed (.isra, .constprop, .part), has the integer registers as numbers:
 * how many of them mean something nobody knows.
 *
 * Frames: with registers, the stack pointer at the call (arch_*.c). A program of fentry sees none,
 * but it and that of fexit are called from one trampoline, whose frame lies on the stack for as
 * long as the function runs: where it keeps the arguments, which is the context's address, names
 * the activation.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fbt.h"

static const struct weft_loc_op retval_ops[] = {{.op = WEFT_LOC_RETVAL, .size = 8}};
static const struct weft_loc_op frame_ops[] = {{.op = WEFT_LOC_CTX_ADDR}};
static const struct weft_location frame_of_tracing = {.ops = frame_ops, .n_ops = 1};

static bool typed(struct weft_instance *in, const struct weft_fbt_function *f,
		  struct weft_func_info *out, struct weft_error *err)
{
	const struct weft_host *host = in->host;
	const char *name = weft_fbt_text(in, f->name);

	if (host->struct_size < offsetof(struct weft_host, kernel_function) + sizeof(void *) ||
	    f->nth || strchr(name, '.'))
		return false;
	memset(out, 0, sizeof(*out));
	out->struct_size = sizeof(*out);
	return !host->kernel_function(host, weft_fbt_text(in, f->module), name, out, err);
}

int weft_fbt_fentry_target(struct weft_instance *in, const char *function, const char *module,
			   struct weft_load_class *load)
{
	const struct weft_host *host = in->host;
	struct weft_func_info info = {.struct_size = sizeof(info)};
	int ret;

	if (host->struct_size < offsetof(struct weft_host, kernel_function) + sizeof(void *))
		return -EOPNOTSUPP;
	ret = host->kernel_function(host, module, function, &info, NULL);
	if (ret)
		return ret;
	if (info.flags & WEFT_FUNC_NO_ATTACH)
		return -EPERM;
	load->attach_btf_id = info.func_id;
	load->attach_btf_fd = info.btf_fd;
	return 0;
}

static void untyped_args(struct weft_instance *in, struct weft_probe_info *out)
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
	out->prototype = "(no type is known: registers)";
}

static void untyped_retval(struct weft_probe_info *out)
{
	out->retval_type = (struct weft_arg_type){
		.struct_size = sizeof(out->retval_type),
		.kind = WEFT_TYPE_INT,
		.size = 8,
		.flags = WEFT_TYPE_SIGNED,
	};
	out->retval = (struct weft_location){.ops = retval_ops, .n_ops = 1};
}

/* Arguments at the entry, the value returned at the return. */
static void describe_values(struct weft_instance *in, const struct weft_func_info *info,
			    bool is_return, struct weft_probe_info *out)
{
	bool words = in->mechanism == WEFT_FBT_FENTRY;
	uint32_t n_words = weft_fbt_arguments(in, info, words);

	if (words)
		out->load.ctx_size = 8 * (n_words + is_return);
	if (out->brief)
		return;
	out->prototype = info->prototype;
	if (!is_return) {
		out->args = in->args;
		out->n_args = in->n_args;
		out->arg_size = sizeof(struct weft_arg);
		return;
	}
	weft_fbt_retval(in, info, words ? (int)n_words : -1, out);
}

/* fentry: the program is loaded for its function, of which the type has to be known. */
static int describe_target(struct weft_instance *in, const struct weft_fbt_function *f,
			   const struct weft_func_info *info, struct weft_probe_info *out,
			   struct weft_error *err)
{
	if (!info)
		return in->host->fail(err, -ENOENT, "FBT_NO_TYPE",
				      "%s cannot be traced by fentry: the kernel has no type of it, "
				      "or not one alone; providers: {fbt: {mechanism: kprobe}} does "
				      "without",
				      weft_fbt_text(in, f->name));
	if (info->flags & WEFT_FUNC_NO_ATTACH)
		return in->host->fail(err, -EPERM, "FBT_DENIED",
				      "tracing a module's function by fentry takes CAP_SYS_ADMIN");
	out->load.attach_btf_id = info->func_id;
	out->load.attach_btf_fd = info->btf_fd;
	out->load.most = (uint32_t)in->host->param_int(in->params, "limit");
	out->identity.kind = WEFT_IDENTITY_CONST;
	return 0;
}

int weft_fbt_probe_info(struct weft_instance *in, const struct weft_probe *probe,
			const struct weft_params *with, struct weft_probe_info *out,
			struct weft_error *err)
{
	const struct weft_fbt_function *f;
	struct weft_func_info info;
	struct weft_probe_desc d = {.struct_size = sizeof(d)};
	bool is_return, tracing, known = false;
	int ret = 0;

	(void)with;
	weft_fbt_settle(in);
	tracing = in->mechanism == WEFT_FBT_FENTRY;
	f = weft_fbt_function_of(in, probe, &is_return);
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
		.frame = tracing     ? frame_of_tracing
			 : is_return ? weft_fbt_frame_return
				     : weft_fbt_frame_entry,
	};
	if (is_return) {
		out->pairing.entry = d;
		out->pairing.entry.name = "entry";
	}
	if (!out->brief || tracing)
		known = typed(in, f, &info, NULL);
	if (tracing)
		ret = describe_target(in, f, known ? &info : NULL, out, err);
	if (ret)
		return ret;
	if (known)
		describe_values(in, &info, is_return, out);
	else if (!out->brief && is_return)
		untyped_retval(out);
	else if (!out->brief)
		untyped_args(in, out);
	return 0;
}
