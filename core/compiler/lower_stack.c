/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Stacks. A row of STACKS is built in scratch, hashed and interned: bpf_get_stackid would drop the
 * later of two stacks that fall into one bucket, and could not tell address spaces apart.
 *
 * Two hashes are made in one walk over the frames. h names the row, check lies in it: stacks that
 * agree in h and differ in check are counted as STACK_COLLISION. Both are made by xor or addition,
 * multiplication by an odd constant and a shift that brings the high bits down, a step a frame; h
 * and check have different constants, steps and beginnings, so that a collision of one says nothing
 * of the other. A user stack begins with {tgid, exec generation}: the same addresses in another
 * process, or in the same after exec, are another stack.
 *
 * The walk is a bounded loop whose counter is a constant in each round as the verifier sees it: no
 * bound is lost, and the state behind the loop is the same from whichever round it is reached.
 */
#include <errno.h>
#include <stddef.h>

#include "core/compiler/lower.h"

#define HASH_START   INT64_C(0x51f9c3a7e2d4860b)
#define HASH_FACTOR  INT64_C(-0x61c8864680b583eb) /* 2^64 / golden ratio, odd */
#define CHECK_START  INT64_C(0x2b7e151628aed2a6)
#define CHECK_FACTOR INT64_C(-0x3b314601e57a13ad)

#define FRAMES_MOST 127u /* PERF_MAX_STACK_DEPTH: the most frames that the kernel gives */
#define ROW(member) ((int32_t)offsetof(struct weft_stack_row, member))
#define ROW_FRAMES  ((int32_t)sizeof(struct weft_stack_row))

static bool is_user(const struct weft_node *n)
{
	return n->type.space == WEFT_SPACE_USER;
}

/* bpf_get_stack; *bytes is how much it wrote. */
static void capture(struct weft_lower *lw, const struct weft_node *n, struct weft_place to,
		    weft_vreg *bytes)
{
	struct weft_ir_arg buffer = weft_lower_address(lw, to);

	if (is_user(n))
		lw->program->uses |= WEFT_USES_USTACK;
	*bytes = WEFT_CALL(&lw->ir, BPF_FUNC_get_stack, WEFT_A(lw->ctx), buffer,
			   WEFT_A_IMM(8 * n->type.cap),
			   WEFT_A_IMM(is_user(n) ? BPF_F_USER_STACK : 0));
	weft_ir_branch_imm(&lw->ir, BPF_JSLT, *bytes, 0,
			   weft_lower_fault(lw, WEFT_LOSS_STACK_MISSING));
	if (is_user(n))
		lw->plan->uses_ustack = true;
}

void weft_lower_frames(struct weft_lower *lw, const struct weft_node *n, struct weft_place to,
		       weft_vreg *bytes, weft_vreg *tgid)
{
	struct weft_span outer = lw->ir.span;

	if (n->span.text)
		lw->ir.span = n->span;
	capture(lw, n, to, bytes);
	*tgid = is_user(n) ? weft_lower_tgid(lw) : weft_ir_const(&lw->ir, 0);
	lw->ir.span = outer;
}

/* ---- interning ---- */

struct hash {
	weft_vreg h, check; /* variables */
};

static void begin_user(struct weft_lower *lw, struct hash *hash)
{
	uint32_t mark = lw->frame_used;
	struct weft_place index = weft_lower_frame(lw, 8);
	weft_vreg tgid = weft_lower_tgid(lw), row, seed;

	lw->plan->maps[WEFT_PLAN_EXECGEN].used = true;
	weft_lower_store(lw, index, 4,
			 weft_ir_alu_imm(&lw->ir, BPF_AND, tgid, WEFT_EXECGEN_SLOTS - 1));
	row = WEFT_CALL(&lw->ir, BPF_FUNC_map_lookup_elem, WEFT_A_MAP(WEFT_PLAN_EXECGEN),
			WEFT_A_FP(index.off));
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, row, 0, weft_lower_fault(lw, WEFT_LOSS_FAULT_VALUE));
	seed = weft_ir_alu_imm(&lw->ir, BPF_LSH, weft_ir_load(&lw->ir, 8, row, 0), 32);
	seed = weft_ir_alu(&lw->ir, BPF_XOR, seed, tgid);
	weft_ir_assign(&lw->ir, hash->h, weft_ir_alu_imm(&lw->ir, BPF_XOR, seed, HASH_START));
	weft_ir_assign(&lw->ir, hash->check, weft_ir_alu_imm(&lw->ir, BPF_ADD, seed, CHECK_START));
	lw->frame_used = mark;
}

static void begin_kernel(struct weft_lower *lw, struct hash *hash)
{
	weft_ir_assign_const(&lw->ir, hash->h, ~HASH_START);
	weft_ir_assign_const(&lw->ir, hash->check, ~CHECK_START);
}

/* v = (v code frame) * factor; v ^= v >> shift */
static void step(struct weft_lower *lw, weft_vreg v, uint8_t code, weft_vreg frame,
		 weft_vreg factor, unsigned shift)
{
	weft_ir_apply(&lw->ir, code, v, frame);
	weft_ir_apply(&lw->ir, BPF_MUL, v, factor);
	weft_ir_apply(&lw->ir, BPF_XOR, v, weft_ir_alu_imm(&lw->ir, BPF_RSH, v, shift));
}

static void walk(struct weft_lower *lw, struct weft_place row, weft_vreg bytes, uint32_t cap,
		 struct hash *hash)
{
	uint32_t again = weft_ir_label(&lw->ir), done = weft_ir_label(&lw->ir);
	weft_vreg at = weft_ir_variable(&lw->ir), frame, address, base, factor, check_factor;

	/* Made outside the loop, and for it alone, so that the loop has them in registers. */
	base = weft_ir_alu_imm(&lw->ir, BPF_ADD, row.base, row.off + ROW_FRAMES);
	factor = weft_ir_const(&lw->ir, HASH_FACTOR);
	check_factor = weft_ir_const(&lw->ir, CHECK_FACTOR);
	weft_ir_pin(&lw->ir, at);
	weft_ir_assign_const(&lw->ir, at, 0);
	weft_ir_place(&lw->ir, again);
	weft_ir_branch(&lw->ir, BPF_JGE, at, bytes, done);
	address = weft_ir_alu(&lw->ir, BPF_ADD, base, at);
	frame = weft_ir_load(&lw->ir, 8, address, 0);
	step(lw, hash->h, BPF_XOR, frame, factor, 29);
	step(lw, hash->check, BPF_ADD, frame, check_factor, 32);
	weft_ir_step(&lw->ir, BPF_ADD, at, 8);
	weft_ir_branch_imm(&lw->ir, BPF_JLT, at, (int64_t)8 * cap, again);
	weft_ir_place(&lw->ir, done);
}

/* An insertion's error: no room and no memory are one to the user, the rest is contention. */
static void insert_failed(struct weft_lower *lw, weft_vreg error)
{
	uint32_t full = weft_lower_fault(lw, WEFT_LOSS_STACKS_FULL);

	weft_ir_branch_imm(&lw->ir, BPF_JEQ, error, -E2BIG, full);
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, error, -ENOMEM, full);
	weft_ir_jump(&lw->ir, weft_lower_fault(lw, WEFT_LOSS_AGGREGATION_BUSY));
}

static void intern(struct weft_lower *lw, const struct weft_node *n, struct weft_place row,
		   weft_vreg bytes, const struct hash *hash)
{
	uint32_t mark = lw->frame_used;
	uint32_t found = weft_ir_label(&lw->ir), done = weft_ir_label(&lw->ir);
	uint32_t there = weft_ir_label(&lw->ir);
	struct weft_place key = weft_lower_frame(lw, 8);
	weft_vreg old = weft_ir_variable(&lw->ir), ret, now, check;
	struct weft_ir_arg value;

	weft_lower_store(lw, key, 8, hash->h);
	weft_ir_assign(&lw->ir, old,
		       WEFT_CALL(&lw->ir, BPF_FUNC_map_lookup_elem, WEFT_A_MAP(WEFT_PLAN_STACKS),
				 WEFT_A_FP(key.off)));
	weft_ir_branch_imm(&lw->ir, BPF_JNE, old, 0, found);
	weft_lower_store(lw, weft_place_at(row, ROW(check)), 8, hash->check);
	now = weft_ir_call(&lw->ir, BPF_FUNC_ktime_get_ns, true, NULL, 0);
	weft_lower_store(lw, weft_place_at(row, ROW(time_ns)), 8, now);
	if (is_user(n))
		weft_lower_store(lw, weft_place_at(row, ROW(tgid)), 4, weft_lower_tgid(lw));
	else
		weft_lower_store_imm(lw, weft_place_at(row, ROW(tgid)), 4, 0);
	weft_lower_store(lw, weft_place_at(row, ROW(n_frames)), 4,
			 weft_ir_alu_imm(&lw->ir, BPF_RSH, bytes, 3));
	value = weft_lower_address(lw, row);
	ret = weft_lower_update(lw, WEFT_A_MAP(WEFT_PLAN_STACKS), WEFT_A_FP(key.off), value,
				BPF_NOEXIST);
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, ret, 0, done);
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, ret, -EEXIST, there);
	insert_failed(lw, ret);
	/* Another CPU was faster: its row is as good, if it is the same stack. */
	weft_ir_place(&lw->ir, there);
	weft_ir_assign(&lw->ir, old,
		       WEFT_CALL(&lw->ir, BPF_FUNC_map_lookup_elem, WEFT_A_MAP(WEFT_PLAN_STACKS),
				 WEFT_A_FP(key.off)));
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, old, 0,
			   weft_lower_fault(lw, WEFT_LOSS_AGGREGATION_BUSY));
	weft_ir_place(&lw->ir, found);
	check = weft_ir_load(&lw->ir, 8, old, ROW(check));
	weft_ir_branch(&lw->ir, BPF_JNE, check, hash->check,
		       weft_lower_fault(lw, WEFT_LOSS_STACK_COLLISION));
	weft_ir_place(&lw->ir, done);
	lw->frame_used = mark;
}

static weft_vreg stack_id(struct weft_lower *lw, const struct weft_node *n)
{
	uint32_t scratch_mark = lw->scratch_used;
	uint32_t empty = weft_ir_label(&lw->ir), named = weft_ir_label(&lw->ir);
	struct hash hash = {weft_ir_variable(&lw->ir), weft_ir_variable(&lw->ir)};
	struct weft_place row;
	weft_vreg bytes;

	weft_lower_status(
		lw, weft_plan_need_stacks(lw->plan, n->type.cap, weft_lower_pos(lw), lw->err));
	/* An insertion reads a whole value, whose size a clause to come may still raise. */
	row = weft_lower_scratch(lw, ROW_FRAMES + 8 * FRAMES_MOST);
	capture(lw, n, weft_place_at(row, ROW_FRAMES), &bytes);
	weft_ir_assign_const(&lw->ir, hash.h, 0);
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, bytes, 0, empty);
	if (is_user(n))
		begin_user(lw, &hash);
	else
		begin_kernel(lw, &hash);
	walk(lw, row, bytes, n->type.cap, &hash);
	weft_ir_branch_imm(&lw->ir, BPF_JNE, hash.h, 0, named);
	weft_ir_assign_const(&lw->ir, hash.h, 1); /* 0 stands for the empty stack */
	weft_ir_place(&lw->ir, named);
	intern(lw, n, row, bytes, &hash);
	weft_ir_place(&lw->ir, empty);
	lw->scratch_used = scratch_mark;
	return hash.h;
}

weft_vreg weft_lower_symbol_id(struct weft_lower *lw, const struct weft_node *n)
{
	const struct weft_node frame = {
		.span = n->span,
		.type = {.kind = WEFT_VALUE_STACK, .space = WEFT_SPACE_USER, .cap = 1}};
	uint32_t scratch_mark = lw->scratch_used, named = weft_ir_label(&lw->ir);
	struct hash hash = {weft_ir_variable(&lw->ir), weft_ir_variable(&lw->ir)};
	weft_vreg address = weft_lower_value(lw, n);
	struct weft_place row;

	weft_lower_status(lw, weft_plan_need_stacks(lw->plan, 1, weft_lower_pos(lw), lw->err));
	lw->plan->uses_ustack = true;
	row = weft_lower_scratch(lw, ROW_FRAMES + 8 * FRAMES_MOST);
	weft_lower_store(lw, weft_place_at(row, ROW_FRAMES), 8, address);
	begin_user(lw, &hash);
	step(lw, hash.h, BPF_XOR, address, weft_ir_const(&lw->ir, HASH_FACTOR), 29);
	step(lw, hash.check, BPF_ADD, address, weft_ir_const(&lw->ir, CHECK_FACTOR), 32);
	weft_ir_branch_imm(&lw->ir, BPF_JNE, hash.h, 0, named);
	weft_ir_assign_const(&lw->ir, hash.h, 1);
	weft_ir_place(&lw->ir, named);
	intern(lw, &frame, row, weft_ir_const(&lw->ir, 8), &hash);
	lw->scratch_used = scratch_mark;
	return hash.h;
}

weft_vreg weft_lower_stack_id(struct weft_lower *lw, const struct weft_node *n)
{
	weft_vreg id;

	for (size_t i = 0; i < lw->n_stacks; i++)
		if (lw->stacks[i].space == n->type.space && lw->stacks[i].cap == n->type.cap)
			return lw->stacks[i].id;
	id = stack_id(lw, n);
	if (!lw->conditional && lw->n_stacks < WEFT_CACHED_STACKS)
		lw->stacks[lw->n_stacks++] = (struct weft_cached_stack){
			.space = n->type.space, .cap = n->type.cap, .id = id};
	return id;
}
