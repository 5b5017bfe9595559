/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Records. All fields are evaluated first, so that a fault leaves no half of a record behind and
 * the ring is held up for as short as can be; then the record is reserved, the time is taken -
 * after the reservation, so that the order of times is the order of the ring but for those that
 * were being filled at the same time - and the fields are copied in.
 */
#include <stddef.h>

#include "core/compiler/lower.h"

/* A field between its evaluation and the record. */
struct evaluated {
	weft_vreg value;         /* INT, PROBE; STACK: bytes; BYTES: length */
	weft_vreg tgid;          /* STACK */
	struct weft_place place; /* STRING, STACK, BYTES */
	struct weft_place kept;  /* frugal: of value */
};

#define HEADER(member) ((int32_t)offsetof(struct weft_record_header, member))

/* Memory for a field until it is copied into the record. */
static struct weft_place wait_in(struct weft_lower *lw, uint32_t size)
{
	return lw->frugal ? weft_lower_scratch(lw, size) : weft_lower_temp(lw, size);
}

static void evaluate_field(struct weft_lower *lw, const struct weft_field_layout *f,
			   const struct weft_node *n, struct evaluated *out)
{
	switch (f->type.kind) {
	case WEFT_VALUE_STRING:
		out->place = wait_in(lw, f->type.cap);
		weft_lower_string(lw, n, out->place, f->type.cap);
		break;
	case WEFT_VALUE_BYTES:
		out->place = wait_in(lw, f->type.cap);
		weft_lower_blob(lw, n, out->place, &out->value);
		break;
	case WEFT_VALUE_STACK:
		out->place = weft_lower_scratch(lw, 8 * f->type.cap);
		weft_lower_frames(lw, n, out->place, &out->value, &out->tgid);
		break;
	case WEFT_VALUE_SYMBOL:
		out->value = weft_lower_value(lw, n);
		out->tgid = weft_ir_const(&lw->ir, 0);
		if (f->type.space == WEFT_SPACE_USER) {
			out->tgid = weft_lower_tgid(lw);
			lw->plan->uses_ustack = true;
		}
		break;
	case WEFT_VALUE_REGS: /* copied from the context, where nothing changes them */
		break;
	default:
		if (f->type.kind == WEFT_VALUE_INET && f->type.cap != 4) {
			out->place = wait_in(lw, f->type.cap);
			weft_lower_ipv6(lw, n, out->place);
			break;
		}
		out->value = weft_lower_value(lw, n);
		break;
	}
}

static void evaluate(struct weft_lower *lw, const struct weft_field_layout *f,
		     const struct weft_node *n, struct evaluated *out)
{
	uint32_t frame, scratch;

	if (lw->frugal)
		out->kept = weft_lower_scratch(lw, 8);
	frame = lw->frame_used;
	scratch = lw->scratch_used;
	evaluate_field(lw, f, n, out);
	if (lw->frugal && out->value)
		weft_lower_store(lw, out->kept, 8, out->value);
	if (!out->place.base) { /* what it took is free for the next field */
		lw->frame_used = frame;
		lw->scratch_used = scratch;
	}
}

static weft_vreg value_of(struct weft_lower *lw, const struct evaluated *e)
{
	return lw->frugal ? weft_lower_load(lw, e->kept, 8) : e->value;
}

static void fill(struct weft_lower *lw, const struct weft_field_layout *f,
		 const struct evaluated *e, struct weft_place to)
{
	weft_vreg value = e->value ? value_of(lw, e) : WEFT_NO_VREG;

	switch (f->type.kind) {
	case WEFT_VALUE_STRING:
		weft_lower_copy(lw, to, e->place, f->type.cap);
		break;
	case WEFT_VALUE_BYTES:
		weft_lower_store(lw, to, 4, value);
		weft_lower_store_imm(lw, weft_place_at(to, 4), 4, 0);
		weft_lower_copy_some(lw, weft_place_at(to, 8), e->place, value, f->type.cap);
		break;
	case WEFT_VALUE_STACK:
		weft_lower_store(lw, to, 4, weft_ir_alu_imm(&lw->ir, BPF_RSH, value, 3));
		weft_lower_store(lw, weft_place_at(to, 4), 4, e->tgid);
		weft_lower_copy_some(lw, weft_place_at(to, 8), e->place, value, 8 * f->type.cap);
		break;
	case WEFT_VALUE_SYMBOL:
		weft_lower_store(lw, to, 8, value);
		weft_lower_store(lw, weft_place_at(to, 8), 4, e->tgid);
		weft_lower_store_imm(lw, weft_place_at(to, 12), 4, 0);
		break;
	case WEFT_VALUE_REGS:
		weft_lower_regs(lw, to);
		break;
	default:
		if (f->type.kind == WEFT_VALUE_INET && f->type.cap != 4)
			weft_lower_copy(lw, to, e->place, f->type.cap);
		else
			weft_lower_store(lw, to, (uint8_t)f->size, value);
		break;
	}
}

static weft_vreg reserve(struct weft_lower *lw, uint32_t size)
{
	lw->plan->maps[WEFT_PLAN_RING].used = true;
	return WEFT_CALL(&lw->ir, BPF_FUNC_ringbuf_reserve, WEFT_A_MAP(WEFT_PLAN_RING),
			 WEFT_A_IMM(size), WEFT_A_IMM(0));
}

static void fill_header(struct weft_lower *lw, weft_vreg record, uint32_t schema)
{
	weft_vreg now = weft_ir_call(&lw->ir, BPF_FUNC_ktime_get_ns, true, NULL, 0);

	weft_ir_store(&lw->ir, 8, record, HEADER(time_ns), now);
	weft_ir_store_imm(&lw->ir, 4, record, HEADER(schema), schema);
	weft_ir_store(&lw->ir, 4, record, HEADER(cpu), weft_lower_cpu(lw));
	weft_ir_store(&lw->ir, 8, record, HEADER(cookie), lw->cookie);
}

static void submit(struct weft_lower *lw, weft_vreg record)
{
	WEFT_CALL_VOID(&lw->ir, BPF_FUNC_ringbuf_submit, WEFT_A(record), WEFT_A_IMM(0));
}

void weft_lower_record(struct weft_lower *lw, const struct weft_typed_action *a)
{
	struct weft_span action_span = lw->ir.span;
	struct weft_schema schema;
	struct evaluated *fields;
	uint32_t index, done;
	struct weft_place body;
	weft_vreg record;
	int ret;

	ret = weft_plan_schema(lw->plan, a, lw->ir.clause, &index, lw->err);
	if (ret) {
		weft_lower_status(lw, ret);
		return;
	}
	schema = lw->plan->schemas[index];
	fields = weft_arena_array(lw->plan->arena, schema.n_fields + 1, sizeof(*fields));
	if (!fields) {
		weft_lower_status(lw, weft_nomem(lw->err));
		return;
	}
	for (size_t i = 0; i < schema.n_fields; i++)
		evaluate(lw, &schema.fields[i], a->fields[i].node, &fields[i]);
	lw->ir.span = action_span;
	weft_lower_cpu(lw); /* not while the record is held */
	done = weft_lower_behind(lw);
	record = reserve(lw, (uint32_t)sizeof(struct weft_record_header) + schema.size);
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, record, 0,
			   weft_lower_loss(lw, WEFT_LOSS_RECORD_BUFFER_FULL, done));
	body = (struct weft_place){record, (int32_t)sizeof(struct weft_record_header)};
	fill_header(lw, record, index);
	for (size_t i = 0; i < schema.n_fields; i++)
		fill(lw, &schema.fields[i], &fields[i],
		     weft_place_at(body, (int32_t)schema.fields[i].offset));
	weft_lower_gaps(lw, schema.fields, schema.n_fields, schema.size, body);
	submit(lw, record);
	weft_lower_place_behind(lw, done);
}

/* ---- show, clear, exit ---- */

#define CONTROL(member) ((uint32_t)offsetof(struct weft_control, member))

static void count_up(struct weft_lower *lw, uint32_t state_offset)
{
	weft_vreg word = weft_ir_map_value(&lw->ir, WEFT_PLAN_STATE, state_offset);

	weft_ir_atomic(&lw->ir, BPF_ADD, word, 0, weft_ir_const(&lw->ir, 1));
}

/* The first to claim it writes the status, then says that there is one. Exchanges, because they
 * order the two writes on every architecture. */
static void lower_exit(struct weft_lower *lw, const struct weft_typed_action *a)
{
	uint32_t done = weft_ir_label(&lw->ir);
	weft_vreg status, claim, old;

	status = a->value ? weft_lower_value(lw, a->value) : weft_ir_const(&lw->ir, 0);
	status = weft_ir_alu_imm(&lw->ir, BPF_AND, status, 0xff);
	claim = weft_ir_map_value(&lw->ir, WEFT_PLAN_STATE, CONTROL(exit_claim));
	old = weft_ir_xchg(&lw->ir, claim, 0, weft_ir_const(&lw->ir, 1));
	weft_ir_branch_imm(&lw->ir, BPF_JNE, old, 0, done);
	weft_ir_store(&lw->ir, 8, weft_ir_map_value(&lw->ir, WEFT_PLAN_STATE, CONTROL(exit_status)),
		      0, status);
	claim = weft_ir_map_value(&lw->ir, WEFT_PLAN_STATE, CONTROL(exit_requested));
	weft_ir_xchg(&lw->ir, claim, 0, weft_ir_const(&lw->ir, 1));
	weft_ir_place(&lw->ir, done);
}

void weft_lower_control(struct weft_lower *lw, const struct weft_typed_action *a)
{
	uint32_t done = weft_ir_label(&lw->ir), offset;
	weft_vreg record;
	int ret;

	if (a->action->spec->kind == WEFT_ACTION_EXIT) {
		lower_exit(lw, a);
	} else {
		ret = weft_plan_control(lw->plan, a, &offset, lw->err);
		if (ret) {
			weft_lower_status(lw, ret);
			return;
		}
		count_up(lw, offset);
	}
	count_up(lw, CONTROL(sequence));
	/* The record only wakes the consumer; where it does not fit, there are others to wake it. */
	weft_lower_cpu(lw);
	record = reserve(lw, sizeof(struct weft_record_header));
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, record, 0, done);
	fill_header(lw, record, WEFT_SCHEMA_WAKE);
	submit(lw, record);
	weft_ir_place(&lw->ir, done);
}
