/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reading what may not be readable.
 *
 * A program that may sleep reads user memory as the process itself would: a page that is not there
 * is brought in. There is no helper that does so for strings, so the one that cannot wait is tried,
 * and where it fails a byte is brought in and it is tried again: first a byte of the page that the
 * string begins in, then one of the page that it goes on in; a string is shorter than a page.
 *
 * A program that may not sleep is told of a bad address and of a page that is out in the same way.
 * What lies in the first page, where nothing is ever mapped, and what no process can have is a bad
 * address for certain; anything else is counted as not resident, which it usually is.
 */
#include "core/compiler/lower.h"

#define PAGE       4096
#define USER_LIMIT (INT64_C(1) << 56) /* beyond every process, with page tables of any depth */

bool weft_lower_may_sleep(const struct weft_lower *lw)
{
	return lw->load->flags & WEFT_LOAD_SLEEPABLE;
}

static bool may_wait(struct weft_lower *lw, bool user)
{
	if (!user || !weft_lower_may_sleep(lw))
		return false;
	lw->program->load.flags |= WEFT_LOAD_SLEEPABLE;
	return true;
}

/* A helper's result of which `good` (a comparison with 0) says that it went well: on if it is so,
 * else the fault. */
static void check_read(struct weft_lower *lw, uint8_t good, uint8_t bad, weft_vreg result,
		       weft_vreg address, bool user)
{
	uint32_t fine = weft_ir_label(&lw->ir);
	weft_vreg distance;

	if (!user || weft_lower_may_sleep(lw)) {
		weft_ir_branch_imm(&lw->ir, bad, result, 0,
				   weft_lower_fault(lw, WEFT_LOSS_FAULT_ADDRESS));
		return;
	}
	weft_ir_branch_imm(&lw->ir, good, result, 0, fine);
	distance = weft_ir_alu_imm(&lw->ir, BPF_SUB, address, PAGE);
	weft_ir_branch(&lw->ir, BPF_JGE, distance, weft_ir_const(&lw->ir, USER_LIMIT - PAGE),
		       weft_lower_fault(lw, WEFT_LOSS_FAULT_ADDRESS));
	weft_ir_jump(&lw->ir, weft_lower_fault(lw, WEFT_LOSS_NOT_RESIDENT));
	weft_ir_place(&lw->ir, fine);
}

static int32_t bytes_helper(struct weft_lower *lw, bool user)
{
	if (user)
		lw->program->uses |= WEFT_USES_MEMORY;
	if (may_wait(lw, user))
		return BPF_FUNC_copy_from_user;
	return user ? BPF_FUNC_probe_read_user : BPF_FUNC_probe_read_kernel;
}

weft_vreg weft_lower_read(struct weft_lower *lw, weft_vreg address, uint8_t size, bool user)
{
	int32_t helper = bytes_helper(lw, user);
	uint32_t mark = lw->frame_used;
	struct weft_place to = weft_lower_frame(lw, 8);
	bool odd = size & (size - 1);
	weft_vreg failed;

	if (odd)
		weft_lower_store_imm(lw, to, 8, 0);
	failed = WEFT_CALL(&lw->ir, helper, WEFT_A_FP(to.off), WEFT_A_IMM(size), WEFT_A(address));
	check_read(lw, BPF_JEQ, BPF_JNE, failed, address, user);
	lw->frame_used = mark; /* the next read may use the same bytes */
	return weft_lower_load(lw, to, odd ? 8 : size);
}

/* ---- strings ---- */

struct text_read {
	weft_vreg address, size;
	weft_vreg got; /* variable: the helper's result */
	struct weft_place to;
	uint32_t cap;
	bool user;
};

static void read_text(struct weft_lower *lw, const struct text_read *r)
{
	int32_t helper = r->user ? BPF_FUNC_probe_read_user_str : BPF_FUNC_probe_read_kernel_str;
	struct weft_ir_arg to = weft_lower_address(lw, r->to);

	if (r->user)
		lw->program->uses |= WEFT_USES_MEMORY;
	weft_ir_assign(&lw->ir, r->got,
		       WEFT_CALL(&lw->ir, helper, to, WEFT_A(r->size), WEFT_A(r->address)));
}

static void bring_in(struct weft_lower *lw, weft_vreg address)
{
	uint32_t mark = lw->frame_used;
	struct weft_place byte = weft_lower_frame(lw, 8);
	weft_vreg failed = WEFT_CALL(&lw->ir, BPF_FUNC_copy_from_user, WEFT_A_FP(byte.off),
				     WEFT_A_IMM(1), WEFT_A(address));

	weft_ir_branch_imm(&lw->ir, BPF_JNE, failed, 0,
			   weft_lower_fault(lw, WEFT_LOSS_FAULT_ADDRESS));
	lw->frame_used = mark;
}

static void read_again(struct weft_lower *lw, const struct text_read *r)
{
	uint32_t fine = weft_ir_label(&lw->ir);
	weft_vreg next;

	weft_ir_branch_imm(&lw->ir, BPF_JSGE, r->got, 0, fine);
	bring_in(lw, r->address);
	read_text(lw, r);
	weft_ir_branch_imm(&lw->ir, BPF_JSGE, r->got, 0, fine);
	next = weft_ir_alu_imm(&lw->ir, BPF_OR, r->address, PAGE - 1);
	bring_in(lw, weft_ir_alu_imm(&lw->ir, BPF_ADD, next, 1));
	read_text(lw, r);
	weft_ir_place(&lw->ir, fine);
}

/* A string that fills the buffer may have been cut: the byte that gave way to the NUL tells. */
static void count_truncation(struct weft_lower *lw, const struct text_read *r, uint32_t whole)
{
	weft_vreg last;

	weft_ir_branch_imm(&lw->ir, BPF_JNE, r->got, r->cap, whole);
	last = weft_lower_read(lw, weft_ir_alu_imm(&lw->ir, BPF_ADD, r->address, r->cap - 1), 1,
			       r->user);
	weft_ir_branch_imm(&lw->ir, BPF_JNE, last, 0,
			   weft_lower_loss(lw, WEFT_LOSS_STRING_TRUNCATED, whole));
}

/* A string that ended with its length, before the buffer did: the helper put the NUL in place of
 * its last byte, which is read once more. */
static void restore_last(struct weft_lower *lw, const struct text_read *r, weft_vreg size,
			 uint32_t done)
{
	weft_vreg to, from, failed;

	weft_ir_branch(&lw->ir, BPF_JNE, r->got, size, done);
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, size, 0, done);
	weft_ir_branch_imm(&lw->ir, BPF_JGE, size, r->cap, done); /* for the verifier */
	to = weft_ir_alu(&lw->ir, BPF_ADD, r->to.base, size);
	to = weft_ir_alu_imm(&lw->ir, BPF_ADD, to, r->to.off - 1);
	from = weft_ir_alu_imm(&lw->ir, BPF_SUB, weft_ir_alu(&lw->ir, BPF_ADD, r->address, size), 1);
	failed = WEFT_CALL(&lw->ir, bytes_helper(lw, r->user), WEFT_A(to), WEFT_A_IMM(1),
			   WEFT_A(from));
	check_read(lw, BPF_JEQ, BPF_JNE, failed, from, r->user);
}

void weft_lower_read_text(struct weft_lower *lw, const struct weft_memory *m, struct weft_place to,
			  uint32_t cap)
{
	struct text_read r = {.address = m->address,
			      .got = weft_ir_variable(&lw->ir),
			      .to = to,
			      .cap = cap,
			      .user = m->user};
	uint32_t done = weft_ir_label(&lw->ir), cut = weft_ir_label(&lw->ir);
	weft_vreg size = WEFT_NO_VREG;

	weft_lower_zero(lw, to, cap);
	r.size = weft_ir_const(&lw->ir, cap);
	if (m->length) {
		uint32_t fits = weft_ir_label(&lw->ir);

		size = weft_ir_variable(&lw->ir);
		weft_ir_pin(&lw->ir, size);
		weft_ir_assign(&lw->ir, size, m->length);
		weft_ir_branch_imm(&lw->ir, BPF_JLE, size, cap, fits);
		weft_ir_assign_const(&lw->ir, size, cap);
		weft_ir_place(&lw->ir, fits);
		r.size = size;
	}
	read_text(lw, &r);
	if (may_wait(lw, m->user))
		read_again(lw, &r);
	check_read(lw, BPF_JSGE, BPF_JSLT, r.got, m->address, m->user);
	if (size) {
		weft_ir_branch_imm(&lw->ir, BPF_JEQ, size, cap, cut);
		restore_last(lw, &r, size, done);
		weft_ir_jump(&lw->ir, done);
		weft_ir_place(&lw->ir, cut);
	}
	if (!m->cut_is_meant)
		count_truncation(lw, &r, done);
	weft_ir_place(&lw->ir, done);
}

void weft_lower_argument_text(struct weft_lower *lw, const struct weft_node *n,
			      struct weft_place to, uint32_t cap)
{
	struct weft_memory m = {0};

	m.address = weft_lower_argument(lw, n, &m.length, &m.user);
	weft_lower_read_text(lw, &m, to, cap);
}

/* ---- bytes ---- */

static weft_vreg read_bytes(struct weft_lower *lw, const struct weft_memory *m,
			    struct weft_place to, uint32_t cap)
{
	weft_vreg size = weft_ir_variable(&lw->ir), length = weft_ir_variable(&lw->ir), failed;
	uint32_t fits = weft_ir_label(&lw->ir), cut = weft_ir_label(&lw->ir);
	uint32_t done = weft_ir_label(&lw->ir);
	struct weft_ir_arg buffer = weft_lower_address(lw, to);

	weft_ir_pin(&lw->ir, size);
	weft_ir_assign(&lw->ir, size, m->length);
	weft_ir_branch_imm(&lw->ir, BPF_JLE, size, cap, fits);
	weft_ir_jump(&lw->ir, weft_lower_loss(lw, WEFT_LOSS_STRING_TRUNCATED, cut));
	weft_ir_place(&lw->ir, cut);
	weft_ir_assign_const(&lw->ir, size, cap);
	weft_ir_place(&lw->ir, fits);
	weft_ir_assign(&lw->ir, length, size);
	/* Of nothing, some helpers look at the address all the same. */
	weft_ir_branch_imm(&lw->ir, BPF_JEQ, size, 0, done);
	failed = WEFT_CALL(&lw->ir, bytes_helper(lw, m->user), buffer, WEFT_A(size),
			   WEFT_A(m->address));
	check_read(lw, BPF_JEQ, BPF_JNE, failed, m->address, m->user);
	weft_ir_place(&lw->ir, done);
	return length;
}

/* Exactly cap bytes. */
static weft_vreg read_all(struct weft_lower *lw, const struct weft_memory *m, struct weft_place to,
			  uint32_t cap)
{
	weft_vreg failed = WEFT_CALL(&lw->ir, bytes_helper(lw, m->user), weft_lower_address(lw, to),
				     WEFT_A_IMM(cap), WEFT_A(m->address));

	check_read(lw, BPF_JEQ, BPF_JNE, failed, m->address, m->user);
	return weft_ir_const(&lw->ir, cap);
}

void weft_lower_blob(struct weft_lower *lw, const struct weft_node *n, struct weft_place to,
		     weft_vreg *length)
{
	struct weft_span outer = lw->ir.span;
	struct weft_memory m = {0};

	if (n->span.text)
		lw->ir.span = n->span;
	if (n->kind == WEFT_NODE_CALL) {
		weft_lower_call_memory(lw, n, &m);
		*length = (m.length ? read_bytes : read_all)(lw, &m, to, n->type.cap);
	} else if (n->kind == WEFT_NODE_ENTRY) {
		weft_lower_entry_text(lw, n, to, n->type.cap, length);
	} else {
		m.address = weft_lower_argument(lw, n, &m.length, &m.user);
		*length = read_bytes(lw, &m, to, n->type.cap);
	}
	lw->ir.span = outer;
}
