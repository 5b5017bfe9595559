/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From the bytes of a record to named values. Layouts come from the plan; the bytes come from our
 * own programs, but nothing here relies on that: lengths and counts within a record are cut to what
 * their field can hold.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/consumer/internal.h"

void weft_value_int(struct weft_value *out, const struct weft_type *type, const void *at,
		    uint32_t size)
{
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	out->type = *type;
	switch (size) {
	case 1:
		memcpy(&u8, at, sizeof(u8));
		out->i = type->is_signed ? (int8_t)u8 : (int64_t)u8;
		break;
	case 2:
		memcpy(&u16, at, sizeof(u16));
		out->i = type->is_signed ? (int16_t)u16 : (int64_t)u16;
		break;
	case 4:
		memcpy(&u32, at, sizeof(u32));
		out->i = type->is_signed ? (int32_t)u32 : (int64_t)u32;
		break;
	default:
		memcpy(&u64, at, sizeof(u64));
		out->u = u64;
		break;
	}
}

static void decode_stack(struct weft_consumer *c, const struct weft_field_layout *f,
			 const uint8_t *at, uint64_t time_ns, size_t *n_frames,
			 struct weft_value *out)
{
	uint32_t head[2], most = f->size >= 8 ? (f->size - 8) / 8 : 0, i;
	uint64_t address;

	memcpy(head, at, sizeof(head));
	if (head[0] > most)
		head[0] = most;
	/* The room was made before the first field: frames must not move under earlier ones. */
	out->stack.frames = c->frames + *n_frames;
	out->stack.n = head[0];
	for (i = 0; i < head[0]; i++) {
		memcpy(&address, at + 8 + 8 * (size_t)i, sizeof(address));
		weft_symbolise(c, f->type.space == WEFT_SPACE_USER, head[1], time_ns, address,
			       i > 0, &c->frames[(*n_frames)++]);
	}
}

static void decode_symbol(struct weft_consumer *c, const struct weft_field_layout *f,
			  const uint8_t *at, uint64_t time_ns, size_t *n_frames,
			  struct weft_value *out)
{
	struct weft_frame *frame = &c->frames[(*n_frames)++];
	uint64_t address;
	uint32_t tgid;

	memcpy(&address, at, sizeof(address));
	memcpy(&tgid, at + 8, sizeof(tgid));
	weft_symbolise(c, f->type.space == WEFT_SPACE_USER, tgid, time_ns, address, false, frame);
	out->symbol = frame;
}

static void decode_regs(struct weft_consumer *c, const struct weft_field_layout *f,
			const uint8_t *at, struct weft_value *out)
{
	size_t n = f->size / 8 < c->env.plan->n_regs ? f->size / 8 : c->env.plan->n_regs;

	for (size_t i = 0; i < n; i++) {
		c->regs[i].name = c->env.plan->reg_names[i];
		memcpy(&c->regs[i].value, at + 8 * i, sizeof(c->regs[i].value));
	}
	out->regs.regs = c->regs;
	out->regs.n = n;
}

static int decode_field(struct weft_consumer *c, const struct weft_field_layout *f,
			const uint8_t *at, const struct weft_record_header *h, size_t *n_frames,
			struct weft_value *out)
{
	uint64_t cookie, cgroup;
	uint32_t length;

	out->type = f->type;
	switch (f->type.kind) {
	case WEFT_VALUE_INT:
		weft_value_int(out, &f->type, at, f->size);
		return 0;
	case WEFT_VALUE_STRING:
		out->text.s = (const char *)at;
		out->text.n = strnlen((const char *)at, f->size);
		return 0;
	case WEFT_VALUE_BYTES:
		memcpy(&length, at, sizeof(length));
		out->text.s = (const char *)at + 8;
		out->text.n = length <= f->size - 8 ? length : f->size - 8;
		return 0;
	case WEFT_VALUE_STACK:
		decode_stack(c, f, at, h->time_ns, n_frames, out);
		return 0;
	case WEFT_VALUE_PROBE:
		memcpy(&cookie, at, sizeof(cookie));
		out->text.s = c->env.probe_text(c->env.arg, cookie, f->type.field);
		if (!out->text.s)
			out->text.s = "";
		out->text.n = strlen(out->text.s);
		return 0;
	case WEFT_VALUE_SYMBOL:
		decode_symbol(c, f, at, h->time_ns, n_frames, out);
		return 0;
	case WEFT_VALUE_INET:
		out->text.s = (const char *)at;
		out->text.n = f->size;
		return 0;
	case WEFT_VALUE_CGROUP:
		memcpy(&cgroup, at, sizeof(cgroup));
		out->text.s = weft_cgroups_text(&c->cgroups, cgroup, f->type.field);
		if (!out->text.s)
			return -ENOMEM;
		out->text.n = strlen(out->text.s);
		return 0;
	case WEFT_VALUE_REGS:
		decode_regs(c, f, at, out);
		return 0;
	case WEFT_VALUE_OBJECT: /* never a value */
		break;
	}
	return -EINVAL;
}

#define N_LEAST (sizeof(least_sizes) / sizeof(least_sizes[0]))
static const uint32_t least_sizes[] = {
	[WEFT_VALUE_INT] = 1,   [WEFT_VALUE_STRING] = 0, [WEFT_VALUE_BYTES] = 8,
	[WEFT_VALUE_STACK] = 8, [WEFT_VALUE_PROBE] = 8,  [WEFT_VALUE_SYMBOL] = 16,
	[WEFT_VALUE_INET] = 4,  [WEFT_VALUE_CGROUP] = 8, [WEFT_VALUE_REGS] = 0,
};

/* A field that does not lie within its record would be a compiler's mistake. */
static bool layout_holds(const struct weft_schema *schema)
{
	size_t i;

	for (i = 0; i < schema->n_fields; i++) {
		const struct weft_field_layout *f = &schema->fields[i];
		uint32_t least = f->type.kind < N_LEAST ? least_sizes[f->type.kind] : 0;

		if (f->size < least || f->offset > schema->size ||
		    f->size > schema->size - f->offset)
			return false;
	}
	return true;
}

static int prepare_schema(struct weft_consumer *c, uint32_t index, struct weft_error *err)
{
	const struct weft_schema *schema = &c->env.plan->schemas[index];
	struct weft_schema_state *state;
	struct weft_format *format;
	size_t at;
	int ret;

	if (weft_zero_grow(&c->schemas, &c->cap_schemas, index + 1, sizeof(*c->schemas)))
		return weft_nomem(err);
	state = &c->schemas[index];
	if (state->ready)
		return 0;
	if (!layout_holds(schema))
		return weft_fail(err, -EBADMSG, "RECORD_BROKEN",
				 "the layout of record %u does not hold its fields", index);
	if (schema->action && schema->action->format) {
		format = weft_arena_alloc(c->arena, sizeof(*format));
		if (!format)
			return weft_nomem(err);
		ret = weft_format_parse(schema->action->format, c->arena, format, &at, err);
		if (ret)
			return ret;
		state->format = format;
	}
	state->ready = true;
	return 0;
}

/* Room for all fields and all frames of a schema. */
static int make_room(struct weft_consumer *c, const struct weft_schema *schema)
{
	size_t i, frames = 0;
	bool has_regs = false;

	for (i = 0; i < schema->n_fields; i++) {
		if (schema->fields[i].type.kind == WEFT_VALUE_STACK)
			frames += schema->fields[i].size / 8;
		frames += schema->fields[i].type.kind == WEFT_VALUE_SYMBOL;
		has_regs |= schema->fields[i].type.kind == WEFT_VALUE_REGS;
	}
	if (has_regs && weft_zero_grow(&c->regs, &c->cap_regs, c->env.plan->n_regs, sizeof(*c->regs)))
		return -ENOMEM;
	if (weft_zero_grow(&c->fields, &c->cap_fields, schema->n_fields, sizeof(*c->fields)) ||
	    weft_zero_grow(&c->frames, &c->cap_frames, frames, sizeof(*c->frames)))
		return -ENOMEM;
	return 0;
}

int weft_record_deliver(const void *record, size_t size, void *consumer)
{
	struct weft_consumer *c = consumer;
	const struct weft_record_header *h = record;
	const uint8_t *body = (const uint8_t *)record + sizeof(*h);
	const struct weft_schema *schema;
	struct weft_record r;
	size_t i, n_frames = 0;
	int ret;

	if (h->schema == WEFT_SCHEMA_WAKE)
		return 0;
	if (h->schema >= c->env.plan->n_schemas ||
	    size - sizeof(*h) < c->env.plan->schemas[h->schema].size)
		return weft_fail(c->err, -EBADMSG, "RECORD_BROKEN",
				 "a record of %zu bytes and shape %u is none of ours", size,
				 h->schema);
	schema = &c->env.plan->schemas[h->schema];
	ret = prepare_schema(c, h->schema, c->err);
	if (ret)
		return ret;
	if (make_room(c, schema))
		return weft_nomem(c->err);
	for (i = 0; i < schema->n_fields; i++) {
		c->fields[i].name = schema->fields[i].name;
		ret = decode_field(c, &schema->fields[i], body + schema->fields[i].offset, h,
				   &n_frames, &c->fields[i].value);
		if (ret == -ENOMEM)
			return weft_nomem(c->err);
		if (ret)
			return weft_fail(c->err, ret, "RECORD_BROKEN",
					 "a record has a field of unknown type");
	}
	r = (struct weft_record){
		.time_ns = h->time_ns,
		.cpu = h->cpu,
		.probe = c->env.probe_text(c->env.arg, h->cookie, -1),
		.fields = c->fields,
		.n_fields = schema->n_fields,
		.format = c->schemas[h->schema].format,
	};
	if (!r.probe)
		r.probe = "";
	ret = c->env.sink->record(c->env.sink->self, &r);
	return ret ? weft_sink_failed(c->err, ret) : 0;
}

void weft_records_finish(struct weft_consumer *c)
{
	free(c->schemas);
	free(c->fields);
	free(c->frames);
	free(c->regs);
}
