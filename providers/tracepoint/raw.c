/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Raw tracepoints: the arguments that the kernel's code gives to the tracepoint, before anything is
 * recorded. Names and types come from the function __traceiter_NAME, which the kernel has for each
 * tracepoint; where it is not told of, from the typedef btf_trace_NAME, which has no names. The
 * first parameter of either is the tracepoint's own and not in the context.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>

#include "tracepoint.h"

static void describe(struct weft_instance *in, uint32_t n)
{
	size_t at = (size_t)snprintf(in->prototype, sizeof(in->prototype), "(");

	for (uint32_t i = 0; i < n && at < sizeof(in->prototype); i++) {
		const char *type = in->args[i].type.text ? in->args[i].type.text : "?";
		size_t length = strlen(type);

		at += (size_t)snprintf(in->prototype + at, sizeof(in->prototype) - at, "%s%s%s%s",
				       i ? ", " : "", type,
				       length && type[length - 1] == '*' ? "" : " ",
				       in->args[i].name ? in->args[i].name : "");
	}
	if (at < sizeof(in->prototype))
		snprintf(in->prototype + at, sizeof(in->prototype) - at, ")");
}

static void take(struct weft_instance *in, uint32_t i, const struct weft_func_param *p)
{
	uint32_t size = p->size && p->size < 8 ? p->size : 8;

	in->args[i] = (struct weft_arg){
		.struct_size = sizeof(struct weft_arg), .name = p->name, .type = p->type};
	if (!p->type.kind || p->flags & WEFT_FUNC_PARAM_BY_VALUE || (size & (size - 1))) {
		in->args[i].type = (struct weft_arg_type){.struct_size = sizeof(p->type),
							  .kind = WEFT_TYPE_INT,
							  .size = 8,
							  .text = p->type.text};
		in->args[i].unreadable = "it is not passed as a number or an address";
		return;
	}
	in->ops[i][0] = (struct weft_loc_op){
		.op = WEFT_LOC_CTX,
		.size = (uint8_t)size,
		.flags = p->type.kind == WEFT_TYPE_INT && p->type.flags & WEFT_TYPE_SIGNED
				 ? WEFT_LOC_SIGNED
				 : 0,
		.imm = 8 * (int64_t)i,
	};
	in->args[i].where = (struct weft_location){.ops = in->ops[i], .n_ops = 1};
}

static int function_of(struct weft_instance *in, const char *event, struct weft_func_info *f,
		       struct weft_error *err)
{
	struct weft_type_info t = {.struct_size = sizeof(t)};
	const struct weft_host *host = in->host;
	char name[160];
	int ret;

	snprintf(name, sizeof(name), "__traceiter_%s", event);
	if (!host->kernel_function(host, NULL, name, f, NULL))
		return 0;
	snprintf(name, sizeof(name), "btf_trace_%s", event);
	ret = host->kernel_type(host, NULL, name, WEFT_BTF_TYPEDEF, &t, err);
	if (!ret)
		ret = host->function_type(host, t.btf_fd, t.btf_id, f, err);
	if (ret)
		host->context(err, "while looking for the raw arguments of %s", event);
	return ret;
}

int tracepoint_raw_info(struct weft_instance *in, const char *event, struct weft_probe_info *out,
			struct weft_error *err)
{
	struct weft_func_info f = {.struct_size = sizeof(f)};
	int ret = function_of(in, event, &f, err);
	uint32_t n;

	if (ret)
		return ret;
	n = f.n_params ? f.n_params - 1 : 0;
	n = n > WEFT_MAX_ARGS ? WEFT_MAX_ARGS : n;
	for (uint32_t i = 0; i < n; i++)
		take(in, i, weft_func_param_at(&f, i + 1));
	describe(in, n);
	out->scope = WEFT_SCOPE_NONE;
	out->load = (struct weft_load_class){
		.struct_size = sizeof(out->load),
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.flags = WEFT_LOAD_ONE_PER_PROBE,
		.ctx_kind = WEFT_CTX_WORDS,
		.ctx_size = 8 * n,
	};
	/* Before Linux 6.10 the context has no cookie: which probe it is, is compiled in. */
	out->identity = (struct weft_identity){.struct_size = sizeof(out->identity),
					       .kind = WEFT_IDENTITY_CONST};
	out->args = in->args;
	out->n_args = n;
	out->arg_size = sizeof(in->args[0]);
	out->prototype = in->prototype;
	return 0;
}
