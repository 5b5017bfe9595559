/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Fields of a record as arguments. What a field is in C decides what it is in a clause:
 *
 *   int, u8 ... bool, pid_t       a number of the size and sign that the format gives
 *   enum x                        the kernel's enum where it has type information, printed by name
 *   struct x *                    the kernel's struct, with members
 *   any other pointer             an address
 *   char x[16], data_loc char[]   a string
 *   any other array, data_loc     bytes
 *
 * A system call's arguments are recorded as the registers they came in, 8 bytes each, whatever they
 * are in C: an int is then the lower half with its sign, and a pointer leads into the process.
 */
#include <stdio.h>
#include <string.h>

#include "tracepoint.h"

struct builder {
	struct weft_instance *in;
	const struct tracepoint_field *field;
	struct weft_arg *arg;
	struct weft_loc_op *ops;
};

static void op(struct builder *b, uint16_t code, uint32_t size, uint8_t flags, int64_t imm)
{
	b->ops[b->arg->where.n_ops++] =
		(struct weft_loc_op){.op = code, .size = (uint8_t)size, .flags = flags, .imm = imm};
}

/* A number of the record; at odd places programs cannot read it as a whole, but as memory. */
static void load(struct builder *b, uint32_t offset, uint32_t size, bool is_signed)
{
	uint8_t flags = is_signed ? WEFT_LOC_SIGNED : 0;

	if (offset % size) {
		op(b, WEFT_LOC_CTX_ADDR, 0, 0, offset);
		op(b, WEFT_LOC_LOAD, size, flags, 0);
	} else {
		op(b, WEFT_LOC_CTX, size, flags, offset);
	}
}

/* ---- types ---- */

static bool is_number_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static bool is_text(const char *type)
{
	return !strcmp(tracepoint_bare(type), "char");
}

static bool kernel_type(struct builder *b, const char *name, uint32_t kind,
			struct weft_type_info *info)
{
	*info = (struct weft_type_info){.struct_size = sizeof(*info)};
	return !b->in->host->kernel_type(b->in->host, NULL, name, kind, info, NULL);
}

/* ---- arguments ---- */

static void number(struct builder *b)
{
	uint32_t size = b->field->size;
	bool is_signed = b->field->is_signed;

	b->arg->type = (struct weft_arg_type){
		.kind = WEFT_TYPE_INT, .size = size, .flags = is_signed ? WEFT_TYPE_SIGNED : 0};
	load(b, b->field->offset, size, is_signed);
}

/* The machine is little-endian: the lower bytes come first. */
static void word(struct builder *b)
{
	bool is_signed;
	uint32_t size;

	b->arg->type = tracepoint_word_type(b->in->host, b->field->type, &size, &is_signed);
	load(b, b->field->offset, size, is_signed);
}

static void enumeration(struct builder *b)
{
	struct weft_type_info info;

	number(b);
	if (kernel_type(b, tracepoint_bare(b->field->type) + 5, WEFT_BTF_ENUM, &info) &&
	    info.size == b->field->size)
		b->arg->type = *info.type;
}

static void pointer(struct builder *b)
{
	struct weft_type_info info;
	char name[128];

	b->arg->type = (struct weft_arg_type){.kind = WEFT_TYPE_POINTER, .size = 8};
	if (tracepoint_struct_of(b->field->type, name, sizeof(name)) &&
	    kernel_type(b, name, WEFT_BTF_STRUCT, &info))
		b->arg->type = *info.type;
	load(b, b->field->offset, 8, false);
}

/* Where the data of a field of any length lies: its address, then its length. A relative one counts
 * from its own end. */
static void far_away(struct builder *b)
{
	uint32_t at = b->field->offset;

	if (b->field->place == FIELD_DATA_LOC) {
		op(b, WEFT_LOC_DATA_LOC, 0, 0, at);
		return;
	}
	op(b, WEFT_LOC_CTX_ADDR, 0, 0, at + 4);
	op(b, WEFT_LOC_CTX, 2, 0, at);
	op(b, WEFT_LOC_ADD, 0, 0, 0);
	op(b, WEFT_LOC_CTX, 2, 0, at + 2);
}

static void text(struct builder *b)
{
	bool here = b->field->place == FIELD_HERE;

	b->arg->type =
		(struct weft_arg_type){.kind = WEFT_TYPE_STRING, .size = here ? b->field->size : 0};
	if (!here) {
		far_away(b);
		return;
	}
	op(b, WEFT_LOC_CTX_ADDR, 0, 0, b->field->offset);
	op(b, WEFT_LOC_CONST, 0, 0, b->field->size);
}

static void bytes(struct builder *b)
{
	bool here = b->field->place == FIELD_HERE;

	b->arg->type =
		(struct weft_arg_type){.kind = WEFT_TYPE_BYTES, .size = here ? b->field->size : 0};
	if (!here) {
		far_away(b);
		return;
	}
	op(b, WEFT_LOC_CTX_ADDR, 0, 0, b->field->offset);
	op(b, WEFT_LOC_CONST, 0, 0, b->field->size);
}

static void (*how(const struct tracepoint_field *f, bool is_syscall))(struct builder *)
{
	bool one = f->place == FIELD_HERE && !f->elements;

	if (is_syscall && one && f->size == 8)
		return word;
	if (one && tracepoint_is_pointer(f->type) && f->size == 8)
		return pointer;
	if (one && !strncmp(tracepoint_bare(f->type), "enum ", 5) && is_number_size(f->size))
		return enumeration;
	if (one && is_number_size(f->size) && strncmp(tracepoint_bare(f->type), "struct ", 7))
		return number;
	return is_text(f->type) ? text : bytes;
}

/* The type with the size of an array. */
static const char *type_text(struct weft_instance *in, uint32_t i)
{
	const struct tracepoint_field *f = &in->format.fields[i];

	if (f->place == FIELD_HERE && !f->elements)
		return f->type;
	snprintf(in->texts[i], sizeof(in->texts[i]), f->place == FIELD_HERE ? "%s[%u]" : "%s[]",
		 f->type, f->elements);
	return in->texts[i];
}

static void build(struct weft_instance *in, uint32_t i, bool is_syscall)
{
	const struct tracepoint_field *f = &in->format.fields[i];
	struct builder b = {.in = in, .field = f, .arg = &in->args[i], .ops = in->ops[i]};

	in->args[i] = (struct weft_arg){.struct_size = sizeof(struct weft_arg),
					.name = f->name,
					.where = {.ops = in->ops[i]}};
	if (!f->size)
		in->args[i].unreadable = "it has no size in the record";
	else
		how(f, is_syscall)(&b);
	in->args[i].type.struct_size = sizeof(struct weft_arg_type);
	if (!in->args[i].type.text)
		in->args[i].type.text = type_text(in, i);
}

static void describe(struct weft_instance *in)
{
	size_t at = 0, size = sizeof(in->prototype);

	at += (size_t)snprintf(in->prototype, size, "(");
	for (uint32_t i = 0; i < in->format.n_fields && at < size; i++) {
		const struct tracepoint_field *f = &in->format.fields[i];

		at += (size_t)snprintf(in->prototype + at, size - at, "%s%s%s%s", i ? ", " : "",
				       f->type, tracepoint_is_pointer(f->type) ? "" : " ", f->name);
		if (at < size && f->elements)
			at += (size_t)snprintf(in->prototype + at, size - at, "[%u]", f->elements);
	}
	if (at < size)
		snprintf(in->prototype + at, size - at, ")");
}

uint32_t tracepoint_args(struct weft_instance *in, const char *category)
{
	bool is_syscall = !strcmp(category, "syscalls");

	for (uint32_t i = 0; i < in->format.n_fields; i++)
		build(in, i, is_syscall);
	describe(in);
	return in->format.n_fields;
}
