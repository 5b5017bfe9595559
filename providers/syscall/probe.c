/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One probe: what serves it, and what a program needs to know of it.
 *
 * RECORD: the kernel's event of that call. The kernel looks at the call's number and runs programs
 * of that call alone; other calls pay for the look.
 *
 * RAW: one program on the tracepoint that all calls pass, which tells them apart by their number.
 * It runs in every call of the machine, so it is for those who ask for most of them: a program
 * there costs less than an event's in each call, and two links stand for hundreds of events.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>

#include "syscall.h"

static bool option_is(struct weft_instance *in, const struct weft_params *with, const char *what)
{
	return !strcmp(in->host->param_string(with, "mechanism"), what);
}

static int read_format(struct weft_instance *in, const struct syscall_probe *p)
{
	char event[160];
	long n;

	if (in->events < 0)
		return in->events;
	/* What a call returns is described alike for all: the entry has the arguments for both. */
	snprintf(event, sizeof(event), "sys_enter_%s", syscall_kernel_name(&p->call));
	n = tracepoint_read(in->events, "syscalls", event, "format", in->format.text,
			    sizeof(in->format.text));
	return n < 0 ? (int)n : tracepoint_parse(&in->format);
}

static void describe_event(struct weft_instance *in, struct syscall_probe *p)
{
	if (p->looked)
		return;
	p->looked = true;
	p->why_not = read_format(in, p);
}

static enum syscall_mechanism choose(struct weft_instance *in, const struct weft_probe *probe,
				     const struct weft_params *with, struct syscall_probe *p)
{
	if (!option_is(in, with, "auto"))
		return option_is(in, with, "raw") ? SYSCALL_RAW : SYSCALL_RECORD;
	if (p->call.number < 0)
		return SYSCALL_RECORD;
	if (in->host->probe_data(probe)) /* one of many */
		return SYSCALL_RAW;
	describe_event(in, p);
	return p->why_not == -ENOENT ? SYSCALL_RAW : SYSCALL_RECORD;
}

int syscall_probe_of(struct weft_instance *in, const struct weft_probe *probe,
		     const struct weft_params *with, struct syscall_probe *p, struct weft_error *err)
{
	struct weft_probe_desc d = {.struct_size = sizeof(d)};
	const struct syscall_call *call;

	in->host->probe_desc(probe, &d);
	call = syscall_by_name(d.function);
	*p = (struct syscall_probe){.call = {.number = -1, .name = d.function},
				    .leaves = !strcmp(d.name, "return")};
	if (call)
		p->call = *call;
	p->mechanism = choose(in, probe, with, p);
	if (p->mechanism == SYSCALL_RAW && !call)
		return in->host->fail(err, -ENOTSUP, "SYSCALL_NUMBER",
				      "the number of %s is not known here: it has no raw mechanism, "
				      "but records",
				      d.function);
	if (p->mechanism == SYSCALL_RAW)
		return 0;
	describe_event(in, p);
	if (p->why_not == -ENOENT)
		return in->host->fail(err, -ENOENT, "SYSCALL_EVENT",
				      "this kernel has no event of %s, and most likely no such call: "
				      "only the raw mechanism sees it",
				      d.function);
	return 0;
}

/* ---- what a program needs ---- */

static const struct weft_loc_op zero[] = {{.op = WEFT_LOC_CONST}};
static const struct weft_loc_op raw_enter[] = {{.op = WEFT_LOC_CTX, .size = 8, .imm = 8}};
static const struct weft_loc_op raw_retval[] = {
	{.op = WEFT_LOC_CTX, .size = 8, .flags = WEFT_LOC_SIGNED, .imm = 8}};
static const struct weft_loc_op record_retval[] = {
	{.op = WEFT_LOC_CTX, .size = 8, .flags = WEFT_LOC_SIGNED, .imm = 16}};

#define LOCATION(o)                           \
	(struct weft_location)                \
	{                                     \
		.ops = (o), .n_ops = COUNT(o) \
	}

static void record_class(const struct syscall_probe *p, struct weft_probe_info *out)
{
	out->load = (struct weft_load_class){
		.struct_size = sizeof(out->load),
		.prog_type = BPF_PROG_TYPE_TRACEPOINT,
		.flags = WEFT_LOAD_COOKIE,
		.ctx_kind = WEFT_CTX_RECORD,
		/* Number, then arguments or the value returned. */
		.ctx_size = p->leaves ? 24 : 16 + 8 * SYSCALL_MOST_ARGS,
	};
	out->identity = (struct weft_identity){.struct_size = sizeof(out->identity),
					       .kind = WEFT_IDENTITY_COOKIE};
}

static void raw_class(const struct syscall_probe *p, struct weft_probe_info *out)
{
	out->load = (struct weft_load_class){
		.struct_size = sizeof(out->load),
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.ctx_kind = WEFT_CTX_WORDS,
		.ctx_size = 16,
	};
	out->identity = (struct weft_identity){
		.struct_size = sizeof(out->identity),
		.kind = WEFT_IDENTITY_FIELD,
		.value = (uint64_t)p->call.number,
		.n_keys = 1,
		.key = {p->leaves ? syscall_arch.exit_number : LOCATION(raw_enter)},
	};
	out->guard = syscall_arch.native;
}

/*
 * A thread is in one call at a time, and while it is, its user code is not done and the kernel's
 * functions begin anew: the frame of a call lies between the two stacks.
 */
static void pair(const struct syscall_probe *p, struct weft_probe_info *out)
{
	out->pairing = (struct weft_pairing){
		.struct_size = sizeof(out->pairing),
		.role = p->leaves ? WEFT_PAIRING_RETURN : WEFT_PAIRING_ENTRY,
		.entry = {.struct_size = sizeof(out->pairing.entry),
			  .provider = "syscall",
			  .module = "",
			  .function = p->call.name,
			  .name = "entry"},
		.frame = LOCATION(zero),
	};
}

int syscall_probe_info(struct weft_instance *in, const struct weft_probe *probe,
		       const struct weft_params *with, struct weft_probe_info *out,
		       struct weft_error *err)
{
	struct syscall_probe p;
	int ret = syscall_probe_of(in, probe, with, &p, err);

	if (ret)
		return ret;
	out->scope = WEFT_SCOPE_NONE;
	if (p.mechanism == SYSCALL_RAW)
		raw_class(&p, out);
	else
		record_class(&p, out);
	pair(&p, out);
	if (p.leaves) {
		out->retval_type = (struct weft_arg_type){.struct_size = sizeof(out->retval_type),
							  .kind = WEFT_TYPE_INT,
							  .size = 8,
							  .flags = WEFT_TYPE_SIGNED,
							  .text = "long"};
		out->retval =
			p.mechanism == SYSCALL_RAW ? LOCATION(raw_retval) : LOCATION(record_retval);
	}
	if (out->brief)
		return 0;
	describe_event(in, &p);
	if (p.why_not == -EINVAL)
		return in->host->fail(err, p.why_not, "SYSCALL_FORMAT",
				      "the kernel's description of %s is not understood",
				      p.call.name);
	if (p.why_not && p.why_not != -ENOENT)
		return syscall_no_events(in, p.why_not, err);
	out->n_args = syscall_args(in, &p);
	out->prototype = in->prototype;
	out->args = in->args;
	out->arg_size = sizeof(in->args[0]);
	if (p.leaves)
		out->n_args = 0;
	return 0;
}

const char *syscall_probe_note(struct weft_instance *in, const struct weft_probe *probe,
			       const struct weft_params *with)
{
	struct syscall_probe p;

	if (syscall_probe_of(in, probe, with, &p, NULL))
		return NULL;
	describe_event(in, &p);
	if (p.why_not == -ENOENT)
		snprintf(in->note, sizeof(in->note),
			 "number %d, of which this kernel has no description: most likely it fails "
			 "with ENOSYS",
			 p.call.number);
	else if (p.call.number >= 0)
		snprintf(in->note, sizeof(in->note), "number %d", p.call.number);
	else
		return NULL;
	return in->note;
}
