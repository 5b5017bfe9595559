/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Values of the core as the header has them. */
#include "embed/trace.h"

#include <string.h>

void weft_frame_out(const struct weft_frame *f, struct weft_trace_frame *out)
{
	*out = (struct weft_trace_frame){
		.struct_size = sizeof(*out),
		.is_user = f->user,
		.address = f->address,
		.symbol = f->symbol,
		.offset = f->offset,
		.module = f->module,
		.file = f->file,
		.line = f->line,
	};
}

size_t weft_count_frames(const struct weft_named_value *values, size_t n)
{
	size_t frames = 0;

	for (size_t i = 0; i < n; i++) {
		if (values[i].value.type.kind == WEFT_VALUE_STACK)
			frames += values[i].value.stack.n;
		else if (values[i].value.type.kind == WEFT_VALUE_SYMBOL)
			frames++;
	}
	return frames;
}

size_t weft_count_registers(const struct weft_named_value *values, size_t n)
{
	size_t registers = 0;

	for (size_t i = 0; i < n; i++)
		if (values[i].value.type.kind == WEFT_VALUE_REGS)
			registers += values[i].value.regs.n;
	return registers;
}

static void int_out(const struct weft_value *v, struct weft_trace_value *out)
{
	out->size = v->type.size;
	if (v->type.names) {
		out->kind = WEFT_TRACE_ENUM;
		out->i = v->i;
		out->text = weft_btf_enum_name(v->type.names, v->i);
		out->length = out->text ? strlen(out->text) : 0;
	} else if (v->type.is_pointer) {
		out->kind = WEFT_TRACE_POINTER;
		out->u = v->u;
	} else if (v->type.is_signed) {
		out->kind = WEFT_TRACE_INT;
		out->i = v->i;
	} else {
		out->kind = WEFT_TRACE_UINT;
		out->u = v->u;
	}
}

static void text_out(const struct weft_value *v, enum weft_trace_kind kind,
		     struct weft_trace_value *out)
{
	out->kind = kind;
	out->text = v->text.s;
	out->length = v->text.n;
}

static void frames_out(const struct weft_frame *frames, size_t n, enum weft_trace_kind kind,
		       struct weft_value_room *room, struct weft_trace_value *out)
{
	out->kind = kind;
	out->frames = room->frames;
	out->n = (uint32_t)n;
	out->frame_size = sizeof(*out->frames);
	for (size_t i = 0; i < n; i++)
		weft_frame_out(&frames[i], room->frames++);
}

static void registers_out(const struct weft_value *v, struct weft_value_room *room,
			  struct weft_trace_value *out)
{
	out->kind = WEFT_TRACE_REGISTERS;
	out->registers = room->registers;
	out->n = (uint32_t)v->regs.n;
	out->register_size = sizeof(*out->registers);
	for (size_t i = 0; i < v->regs.n; i++)
		*room->registers++ = (struct weft_trace_register){
			.struct_size = sizeof(*out->registers),
			.name = v->regs.regs[i].name,
			.value = v->regs.regs[i].value,
		};
}

void weft_value_out(const struct weft_value *v, struct weft_value_room *room,
		    struct weft_trace_value *out)
{
	*out = (struct weft_trace_value){.struct_size = sizeof(*out)};
	switch (v->type.kind) {
	case WEFT_VALUE_INT:
		int_out(v, out);
		break;
	case WEFT_VALUE_STRING:
	case WEFT_VALUE_PROBE:
	case WEFT_VALUE_CGROUP:
		text_out(v, WEFT_TRACE_STRING, out);
		break;
	case WEFT_VALUE_BYTES:
		text_out(v, WEFT_TRACE_BYTES, out);
		break;
	case WEFT_VALUE_INET:
		text_out(v, WEFT_TRACE_INET, out);
		break;
	case WEFT_VALUE_STACK:
		frames_out(v->stack.frames, v->stack.n, WEFT_TRACE_STACK, room, out);
		break;
	case WEFT_VALUE_SYMBOL:
		frames_out(v->symbol, 1, WEFT_TRACE_SYMBOL, room, out);
		break;
	case WEFT_VALUE_REGS:
		registers_out(v, room, out);
		break;
	case WEFT_VALUE_OBJECT: /* never a value */
		break;
	}
}

void weft_fields_out(const struct weft_named_value *values, size_t n, struct weft_value_room *room,
		     struct weft_trace_field *out)
{
	for (size_t i = 0; i < n; i++) {
		out[i] = (struct weft_trace_field){
			.struct_size = sizeof(out[i]),
			.name = values[i].name,
		};
		weft_value_out(&values[i].value, room, &out[i].value);
	}
}
