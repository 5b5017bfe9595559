/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arguments. The kernel's event describes them by name and by the words of C, each recorded as the
 * register that it came in. A program on the event reads the record; one on all calls reads the
 * registers that the thread entered the kernel with. A call that this kernel has not is described
 * by nothing: its arguments are six registers.
 */
#include <stdio.h>
#include <string.h>

#include "syscall.h"

/* What all records of calls begin with: 8 bytes that all have, and the number. */
#define FIRST_ARG 16

static void place(struct weft_instance *in, uint32_t i, bool raw, uint32_t size, bool is_signed)
{
	const uint8_t flags = is_signed ? WEFT_LOC_SIGNED : 0;
	struct weft_location *where = &in->args[i].where;

	if (raw) {
		in->ops[i][0] = (struct weft_loc_op){
			.op = WEFT_LOC_ARG, .flags = WEFT_LOC_USER, .imm = (int64_t)i};
		in->ops[i][1] = (struct weft_loc_op){
			.op = WEFT_LOC_EXTEND, .size = (uint8_t)size, .flags = flags};
	} else {
		/* The machine is little-endian: the lower bytes come first. */
		in->ops[i][0] = (struct weft_loc_op){.op = WEFT_LOC_CTX,
						     .size = (uint8_t)size,
						     .flags = flags,
						     .imm = FIRST_ARG + 8 * (int64_t)i};
	}
	where->ops = in->ops[i];
	where->n_ops = raw && size < 8 ? 2 : 1;
}

static void register_arg(struct weft_instance *in, uint32_t i)
{
	in->args[i] = (struct weft_arg){
		.struct_size = sizeof(struct weft_arg),
		.type = {.struct_size = sizeof(struct weft_arg_type),
			 .kind = WEFT_TYPE_INT,
			 .size = 8,
			 .text = "unsigned long"},
	};
	place(in, i, true, 8, false);
}

/* The format's fields that are arguments, from the first on, one a register: what else is recorded
 * (texts that arguments lead to, on later kernels) lies behind. */
static const struct tracepoint_field *arg_field(const struct weft_instance *in, uint32_t i)
{
	for (uint32_t k = 0; k < in->format.n_fields; k++) {
		const struct tracepoint_field *f = &in->format.fields[k];

		if (f->place == FIELD_HERE && !f->elements && f->size == 8 &&
		    f->offset == FIRST_ARG + 8 * i)
			return f;
	}
	return NULL;
}

static void describe(struct weft_instance *in, const char *name, uint32_t n)
{
	size_t size = sizeof(in->prototype);
	size_t at = (size_t)snprintf(in->prototype, size, "long %s(", name);

	for (uint32_t i = 0; i < n && at < size; i++) {
		const char *type = in->args[i].type.text;
		const char *arg = in->args[i].name;

		at += (size_t)snprintf(in->prototype + at, size - at, "%s%s%s%s", i ? ", " : "",
				       type, arg && !tracepoint_is_pointer(type) ? " " : "",
				       arg ? arg : "");
	}
	if (at < size)
		snprintf(in->prototype + at, size - at, "%s)", n ? "" : "void");
}

uint32_t syscall_args(struct weft_instance *in, const struct syscall_probe *p)
{
	const struct tracepoint_field *f;
	uint32_t n = 0;

	if (p->why_not) {
		for (; n < SYSCALL_MOST_ARGS; n++)
			register_arg(in, n);
		snprintf(in->prototype, sizeof(in->prototype), "long %s(...)", p->call.name);
		return n;
	}
	for (; n < SYSCALL_MOST_ARGS && (f = arg_field(in, n)); n++) {
		bool is_signed;
		uint32_t size;

		in->args[n] =
			(struct weft_arg){.struct_size = sizeof(struct weft_arg), .name = f->name};
		in->args[n].type = tracepoint_word_type(in->host, f->type, &size, &is_signed);
		place(in, n, p->mechanism == SYSCALL_RAW, size, is_signed);
	}
	describe(in, p->call.name, n);
	return n;
}
