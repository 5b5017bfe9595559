/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions of strings. They work in scratch, where the verifier lets an offset be computed. The
 * length of a string comes from a helper that copies it: the copy goes to waste, the number does
 * not. Loops go over a string byte by byte, with a counter that is constant in each round as the
 * verifier sees it; what leaves a loop falls through, what goes on jumps, so that the verifier has
 * one state to come back to however long the string may be. What a loop found is stored and loaded
 * again before it is used: loaded, it is any number, and the code behind is looked at once.
 */
#include <errno.h>
#include <string.h>

#include "core/compiler/lower.h"

/* A power of two less one that covers the capacity: offsets cut by it are bounded. */
static uint32_t mask_of(uint32_t cap)
{
	uint32_t mask = 7;

	while (mask < cap)
		mask = mask * 2 + 1;
	return mask;
}

#define ROUNDS_MOST 800000u /* of the million steps that the verifier takes at most */

/* A loop over a string: the verifier goes through all of its rounds. */
static void count_rounds(struct weft_lower *lw, uint32_t cap, uint32_t steps)
{
	lw->rounds += cap * steps;
	if (lw->rounds > ROUNDS_MOST)
		weft_lower_status(
			lw, weft_fail_at(lw->err, weft_lower_pos(lw), -E2BIG, "CLAUSE_TOO_LARGE",
					 "the clauses of this probe search more strings than "
					 "the kernel is willing to check: use fewer "
					 "strcontains and basename, or a smaller "
					 "options.strsize"));
}

/* Evaluates the string into scratch. */
static struct weft_place operand(struct weft_lower *lw, const struct weft_node *n)
{
	struct weft_place at = weft_lower_scratch(lw, n->type.cap);

	weft_lower_string(lw, n, at, n->type.cap);
	return at;
}

/* Bytes of a string in memory; spare is as large. */
static weft_vreg length_of(struct weft_lower *lw, struct weft_place at, uint32_t cap,
			   struct weft_place spare)
{
	struct weft_ir_arg to = weft_lower_address(lw, spare);
	weft_vreg n = WEFT_CALL(&lw->ir, BPF_FUNC_probe_read_kernel_str, to, WEFT_A_IMM(cap),
				weft_lower_address(lw, at));

	return weft_ir_alu_imm(&lw->ir, BPF_SUB, n, 1);
}

weft_vreg weft_lower_strlen(struct weft_lower *lw, const struct weft_node *n)
{
	const struct weft_node *of = n->kid[0];
	uint32_t mark = lw->scratch_used;
	struct weft_place at = operand(lw, of), spare = weft_lower_scratch(lw, of->type.cap);
	weft_vreg length = length_of(lw, at, of->type.cap, spare);

	lw->scratch_used = mark;
	return length;
}

/* ---- parts ---- */

/* Clears the string at `to`, then copies n bytes (less than cap) from byte `from` of another. */
static void copy_part(struct weft_lower *lw, struct weft_place to, uint32_t cap,
		      struct weft_place source, uint32_t source_cap, weft_vreg from, weft_vreg n)
{
	weft_vreg at;

	at = weft_ir_alu_imm(&lw->ir, BPF_AND, from, mask_of(source_cap));
	at = weft_ir_alu(&lw->ir, BPF_ADD, source.base, at);
	weft_lower_zero(lw, to, cap);
	weft_lower_copy_some(lw, to, (struct weft_place){at, source.off}, n, cap - 1);
}

/* Where the part begins, clamped to [0, length]. */
static weft_vreg start_of(struct weft_lower *lw, const struct weft_node *n, weft_vreg length)
{
	weft_vreg start = weft_ir_variable(&lw->ir);
	uint32_t fine = weft_ir_label(&lw->ir), positive = weft_ir_label(&lw->ir);

	weft_ir_assign(&lw->ir, start, weft_lower_value(lw, n));
	if (n->type.is_signed) {
		weft_ir_branch_imm(&lw->ir, BPF_JSGE, start, 0, positive);
		weft_ir_apply(&lw->ir, BPF_ADD, start, length);
		weft_ir_branch_imm(&lw->ir, BPF_JSGE, start, 0, positive);
		weft_ir_assign_const(&lw->ir, start, 0);
	}
	weft_ir_place(&lw->ir, positive);
	weft_ir_branch(&lw->ir, BPF_JLE, start, length, fine);
	weft_ir_assign(&lw->ir, start, length);
	weft_ir_place(&lw->ir, fine);
	return start;
}

/* How many bytes, clamped to what there are. */
static weft_vreg count_of(struct weft_lower *lw, const struct weft_node *n, weft_vreg most)
{
	weft_vreg count = weft_ir_variable(&lw->ir);
	uint32_t fine = weft_ir_label(&lw->ir), positive = weft_ir_label(&lw->ir);

	weft_ir_assign(&lw->ir, count, weft_lower_value(lw, n));
	if (n->type.is_signed) {
		weft_ir_branch_imm(&lw->ir, BPF_JSGE, count, 0, positive);
		weft_ir_assign_const(&lw->ir, count, 0);
	}
	weft_ir_place(&lw->ir, positive);
	weft_ir_branch(&lw->ir, BPF_JLE, count, most, fine);
	weft_ir_assign(&lw->ir, count, most);
	weft_ir_place(&lw->ir, fine);
	return count;
}

static void lower_substr(struct weft_lower *lw, const struct weft_node *n, struct weft_place to,
			 uint32_t cap)
{
	const struct weft_node *of = n->kid[0];
	struct weft_place at = operand(lw, of), spare = weft_lower_scratch(lw, of->type.cap);
	weft_vreg length = length_of(lw, at, of->type.cap, spare), start, count;

	start = start_of(lw, n->kid[1], length);
	count = weft_ir_alu(&lw->ir, BPF_SUB, length, start);
	if (n->kid[2])
		count = count_of(lw, n->kid[2], count);
	copy_part(lw, to, cap, at, of->type.cap, start, count);
}

/* v = cond ? value : v, where cond is 0 or 1 */
static void assign_if(struct weft_lower *lw, weft_vreg v, weft_vreg cond, weft_vreg value)
{
	weft_vreg d = weft_ir_alu(&lw->ir, BPF_SUB, value, v);

	weft_ir_apply(&lw->ir, BPF_ADD, v, weft_ir_alu(&lw->ir, BPF_MUL, d, cond));
}

/*
 * [*start, *end) becomes the last run of bytes that are no slashes: a byte that is none and follows
 * one moves the start here, and every one that is none the end behind it.
 */
static void last_component(struct weft_lower *lw, struct weft_place at, uint32_t cap,
			   weft_vreg start, weft_vreg end)
{
	uint32_t again = weft_ir_label(&lw->ir), go_on = weft_ir_label(&lw->ir);
	uint32_t done = weft_ir_label(&lw->ir);
	weft_vreg i = weft_ir_variable(&lw->ir), behind = weft_ir_variable(&lw->ir), c, name;
	weft_vreg base = weft_ir_alu_imm(&lw->ir, BPF_ADD, at.base, at.off);

	count_rounds(lw, cap, 24);
	weft_ir_pin(&lw->ir, i);
	weft_ir_assign_const(&lw->ir, start, 0);
	weft_ir_assign_const(&lw->ir, end, 0);
	weft_ir_assign_const(&lw->ir, behind, 1); /* a slash, or the beginning */
	weft_ir_assign_const(&lw->ir, i, 0);
	weft_ir_place(&lw->ir, again);
	c = weft_ir_load(&lw->ir, 1, weft_ir_alu(&lw->ir, BPF_ADD, base, i), 0);
	weft_ir_branch_imm(&lw->ir, BPF_JNE, c, 0, go_on);
	weft_ir_leave(&lw->ir, done);
	weft_ir_place(&lw->ir, go_on);
	/* 1 if it is no slash: (0 - x) >> 63 is 1 for 0 < x < 2^63 */
	name = weft_ir_neg(&lw->ir, weft_ir_alu_imm(&lw->ir, BPF_XOR, c, '/'));
	name = weft_ir_alu_imm(&lw->ir, BPF_RSH, name, 63);
	assign_if(lw, start, weft_ir_alu(&lw->ir, BPF_AND, name, behind), i);
	assign_if(lw, end, name, weft_ir_alu_imm(&lw->ir, BPF_ADD, i, 1));
	weft_ir_assign(&lw->ir, behind, weft_ir_alu_imm(&lw->ir, BPF_XOR, name, 1));
	weft_ir_step(&lw->ir, BPF_ADD, i, 1);
	weft_ir_branch_imm(&lw->ir, BPF_JLT, i, cap - 1, again);
	weft_ir_place(&lw->ir, done);
}

static void lower_basename(struct weft_lower *lw, const struct weft_node *n, struct weft_place to,
			   uint32_t cap)
{
	const struct weft_node *of = n->kid[0];
	struct weft_place at = operand(lw, of), kept = weft_lower_scratch(lw, 16);
	weft_vreg start = weft_ir_variable(&lw->ir), end = weft_ir_variable(&lw->ir), c;
	uint32_t named = weft_ir_label(&lw->ir);

	last_component(lw, at, of->type.cap, start, end);
	weft_lower_store(lw, kept, 8, start);
	weft_lower_store(lw, weft_place_at(kept, 8), 8, end);
	start = weft_lower_load(lw, kept, 8);
	weft_ir_assign(&lw->ir, end, weft_lower_load(lw, weft_place_at(kept, 8), 8));
	/* No component: of slashes alone one is left, of nothing nothing. */
	weft_ir_branch_imm(&lw->ir, BPF_JNE, end, 0, named);
	c = weft_lower_load(lw, at, 1);
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, c, 0, named);
	weft_ir_assign_const(&lw->ir, end, 1);
	weft_ir_place(&lw->ir, named);
	copy_part(lw, to, cap, at, of->type.cap, start, weft_ir_alu(&lw->ir, BPF_SUB, end, start));
}

void weft_lower_text(struct weft_lower *lw, const struct weft_node *n, struct weft_place to,
		     uint32_t cap)
{
	uint32_t mark = lw->scratch_used;
	struct weft_memory m;

	switch (n->function) {
	case WEFT_FN_SUBSTR:
		lower_substr(lw, n, to, cap);
		break;
	case WEFT_FN_BASENAME:
		lower_basename(lw, n, to, cap);
		break;
	default: /* copyinstr and its like */
		weft_lower_call_memory(lw, n, &m);
		weft_lower_read_text(lw, &m, to, cap);
		break;
	}
	lw->scratch_used = mark;
}

/* ---- searching ---- */

/* Bytes of a text as pieces that one load takes; the last may overlap the one before. */
static uint32_t piece_at(uint32_t n, uint32_t i, uint8_t *size)
{
	uint8_t step = n >= 8 ? 8 : n >= 4 ? 4 : n >= 2 ? 2 : 1;

	*size = step;
	return i + step <= n ? i : n - step;
}

static weft_vreg constant_piece(struct weft_lower *lw, const char *text, uint32_t at, uint8_t size)
{
	uint64_t word = 0;

	memcpy(&word, text + at, size);
	return weft_ir_const(&lw->ir, (int64_t)word);
}

/* 0 if the bytes at an address are the text. */
static weft_vreg difference(struct weft_lower *lw, struct weft_place at, const char *text,
			    uint32_t n)
{
	weft_vreg sum = weft_ir_const(&lw->ir, 0);
	uint8_t size;

	for (uint32_t i = 0; i < n; i += size) {
		uint32_t k = piece_at(n, i, &size);
		weft_vreg piece = weft_lower_load(lw, weft_place_at(at, (int32_t)k), size);

		piece = weft_ir_alu(&lw->ir, BPF_XOR, piece, constant_piece(lw, text, k, size));
		sum = i ? weft_ir_alu(&lw->ir, BPF_OR, sum, piece) : piece;
	}
	return sum;
}

static void search(struct weft_lower *lw, struct weft_place at, uint32_t cap,
		   const struct weft_node *what, uint32_t found, uint32_t missing)
{
	uint32_t again = weft_ir_label(&lw->ir), next = weft_ir_label(&lw->ir);
	uint32_t more = weft_ir_label(&lw->ir);
	weft_vreg i = weft_ir_variable(&lw->ir), p, c;
	weft_vreg base = weft_ir_alu_imm(&lw->ir, BPF_ADD, at.base, at.off);

	count_rounds(lw, cap, 10 + what->length / 2);
	weft_ir_pin(&lw->ir, i);
	weft_ir_assign_const(&lw->ir, i, 0);
	weft_ir_place(&lw->ir, again);
	p = weft_ir_alu(&lw->ir, BPF_ADD, base, i);
	c = difference(lw, (struct weft_place){p, 0}, what->string, what->length);
	weft_ir_branch_imm(&lw->ir, BPF_JNE, c, 0, next);
	weft_ir_leave(&lw->ir, found);
	weft_ir_place(&lw->ir, next);
	c = weft_ir_load(&lw->ir, 1, p, 0);
	weft_ir_branch_imm(&lw->ir, BPF_JNE, c, 0, more);
	weft_ir_leave(&lw->ir, missing);
	weft_ir_place(&lw->ir, more);
	weft_ir_step(&lw->ir, BPF_ADD, i, 1);
	weft_ir_branch_imm(&lw->ir, BPF_JLE, i, cap - 1 - what->length, again);
	weft_ir_jump(&lw->ir, missing);
}

static void search_end(struct weft_lower *lw, struct weft_place at, uint32_t cap,
		       const struct weft_node *what, uint32_t found, uint32_t missing)
{
	struct weft_place spare = weft_lower_scratch(lw, cap);
	weft_vreg from =
		weft_ir_alu_imm(&lw->ir, BPF_SUB, length_of(lw, at, cap, spare), what->length);

	weft_ir_branch_imm(&lw->ir, BPF_JSLT, from, 0, missing);
	from = weft_ir_alu_imm(&lw->ir, BPF_AND, from, mask_of(cap));
	from = weft_ir_alu(&lw->ir, BPF_ADD, at.base, from);
	WEFT_CALL_VOID(&lw->ir, BPF_FUNC_probe_read_kernel, weft_lower_address(lw, spare),
		       WEFT_A_IMM(what->length),
		       WEFT_A(weft_ir_alu_imm(&lw->ir, BPF_ADD, from, at.off)));
	weft_ir_branch_imm(&lw->ir, BPF_JNE, difference(lw, spare, what->string, what->length), 0,
			   missing);
	weft_ir_jump(&lw->ir, found);
}

void weft_lower_text_jump(struct weft_lower *lw, const struct weft_node *n, bool sense,
			  uint32_t label)
{
	const struct weft_node *in = n->kid[0], *what = n->kid[1];
	uint32_t on = weft_ir_label(&lw->ir), mark = lw->scratch_used;
	uint32_t found = sense ? label : on, missing = sense ? on : label;
	struct weft_place at = operand(lw, in);
	uint32_t cap = in->type.cap;

	if (!what->length) {
		weft_ir_jump(&lw->ir, found);
	} else if (n->function == WEFT_FN_STRCONTAINS) {
		search(lw, at, cap, what, found, missing);
	} else if (n->function == WEFT_FN_ENDSWITH) {
		search_end(lw, at, cap, what, found, missing);
	} else {
		weft_ir_branch_imm(&lw->ir, BPF_JNE, difference(lw, at, what->string, what->length),
				   0, missing);
		weft_ir_jump(&lw->ir, found);
	}
	weft_ir_place(&lw->ir, on);
	lw->scratch_used = mark;
}
