/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What happens seldom: helpers that fail, each way by itself, in a machine that runs the program with
 * helpers of the test's. One firing; one loss of the kind that the test is named for, and no other.
 */
#include <errno.h>
#include <stdlib.h>

#include "machine.h"
#include "rig.h"

#define EXTRA   65536u /* bytes behind STATE: what helpers hand out */
#define SCRATCH 0u     /* in there */
#define RECORD  32768u
#define ROW     49152u

struct world {
	struct rig rig;
	uint8_t *state;
	int32_t failing; /* the helper */
	int64_t result;
	bool rows;      /* look-ups of rows succeed */
	unsigned calls; /* of the one that fails */
};

static uint64_t helper(void *arg, int32_t number, const uint64_t args[5])
{
	struct world *w = arg;
	uint8_t *extra = w->state + w->rig.plan->state_size;

	if (number == w->failing) {
		w->calls++;
		return (uint64_t)w->result;
	}
	switch (number) {
	case BPF_FUNC_map_lookup_elem:
		if (args[0] == WEFT_PLAN_SCRATCH)
			return (uintptr_t)(extra + SCRATCH);
		return w->rows ? (uintptr_t)(extra + ROW) : 0;
	case BPF_FUNC_ringbuf_reserve:
		return (uintptr_t)(extra + RECORD);
	case BPF_FUNC_get_stack:
		return 16;
	case BPF_FUNC_get_current_task:
		return 4096;
	default:
		return 0;
	}
}

static void init(struct world *w, int32_t failing, int64_t result)
{
	w->failing = failing;
	w->result = result;
	w->rows = false;
	w->calls = 0;
	rig_init(&w->rig);
}

static void expect_loss(struct world *w, enum weft_loss loss)
{
	uint64_t words[RIG_ARGS] = {1, 2, 3, 4, 5, 6}, found = 0, others = 0;
	struct rig *r = &w->rig;
	const char *wrong;

	cr_assert_eq(rig_compile(r), 0, "%s", weft_error_text(r->err));
	w->state = calloc(1, r->plan->state_size + EXTRA);
	cr_assert(w->state);
	((struct weft_control *)w->state)->enabled = 1;
	wrong = machine_run_calling(r->program.insns, r->program.n_insns, words, sizeof(words),
				    w->state, r->plan->state_size + EXTRA, helper, w);
	cr_assert_null(wrong, "%s", wrong);
	cr_expect(!w->failing || w->calls, "it was not called");
	for (size_t i = 0; i < r->plan->n_losses; i++) {
		uint64_t n = *(uint64_t *)(w->state + r->plan->losses[i].state_offset);

		*(r->plan->losses[i].loss == loss ? &found : &others) += n;
	}
	cr_expect_eq(found, 1, "%s: %llu", weft_losses[loss].tag, (unsigned long long)found);
	cr_expect_eq(others, 0, "others: %llu", (unsigned long long)others);
	/* Whatever went wrong, working memory is given back. */
	cr_expect_eq(*(uint64_t *)(w->state + r->plan->state_size + SCRATCH), 0);
	free(w->state);
	rig_finish(r);
}

/* ---- rows ---- */

static void no_row(const char *action, const char *a, const char *b, int64_t result,
		   enum weft_loss loss)
{
	struct world w;

	init(&w, BPF_FUNC_map_update_elem, result);
	rig_clause(&w.rig, NULL, action, a, b, NULL);
	expect_loss(&w, loss);
}

Test(compiler_losses, AGGREGATION_FULL)
{
	no_row("count", "into||n", "by||arg0", -E2BIG, WEFT_LOSS_AGGREGATION_FULL);
}

Test(compiler_losses, AGGREGATION_NOMEM)
{
	no_row("count", "into||n", "by||arg0", -ENOMEM, WEFT_LOSS_AGGREGATION_NOMEM);
}

/* Others hold the bucket; or what another CPU had put there is gone. */
Test(compiler_losses, AGGREGATION_BUSY)
{
	no_row("count", "into||n", "by||arg0", -EBUSY, WEFT_LOSS_AGGREGATION_BUSY);
	no_row("count", "into||n", "by||arg0", -EEXIST, WEFT_LOSS_AGGREGATION_BUSY);
	no_row("count", "into||n", "by||arg0", 0, WEFT_LOSS_AGGREGATION_BUSY);
}

Test(compiler_losses, STATE_FULL)
{
	no_row("set", "|e[arg0]|arg1", NULL, -E2BIG, WEFT_LOSS_STATE_FULL);
	no_row("set", "|self.x|arg1", NULL, -E2BIG, WEFT_LOSS_STATE_FULL);
}

Test(compiler_losses, STATE_NOMEM)
{
	no_row("set", "|e[arg0]|arg1", NULL, -ENOMEM, WEFT_LOSS_STATE_NOMEM);
}

Test(compiler_losses, STATE_BUSY)
{
	no_row("set", "|e[arg0]|arg1", NULL, -EBUSY, WEFT_LOSS_STATE_BUSY);
	no_row("set", "|self.x|arg1", NULL, 0, WEFT_LOSS_STATE_BUSY);
}

/* An element that can be removed: what holds it is given back as well. */
Test(compiler_losses, STATE_NOMEM_of_what_is_deleted)
{
	static const int64_t results[] = {-ENOMEM, -E2BIG, -EBUSY};
	static const enum weft_loss losses[] = {WEFT_LOSS_STATE_NOMEM, WEFT_LOSS_STATE_FULL,
						WEFT_LOSS_STATE_BUSY};

	for (size_t i = 0; i < N(losses); i++) {
		struct world w;

		init(&w, BPF_FUNC_map_update_elem, results[i]);
		rig_clause(&w.rig, NULL, "set", "|e[arg0]|arg1", NULL);
		rig_clause(&w.rig, "arg0 == 77", "delete", "||e[arg0]", NULL);
		expect_loss(&w, losses[i]);
	}
}

Test(compiler_losses, STATE_UNSET)
{
	struct world w;

	init(&w, BPF_FUNC_map_lookup_elem, 0);
	rig_clause(&w.rig, "arg0 == 77", "set", "|self.x|arg1", NULL);
	rig_clause(&w.rig, NULL, "emit", "|x|self.x", NULL);
	expect_loss(&w, WEFT_LOSS_STATE_UNSET);
}

/* ---- stacks ---- */

Test(compiler_losses, STACK_MISSING)
{
	struct world w;

	init(&w, BPF_FUNC_get_stack, -EFAULT);
	rig_clause(&w.rig, NULL, "count", "into||n", "by||ustack", NULL);
	expect_loss(&w, WEFT_LOSS_STACK_MISSING);
	init(&w, BPF_FUNC_get_stack, -EFAULT);
	rig_clause(&w.rig, NULL, "emit", "|s|stack", NULL);
	expect_loss(&w, WEFT_LOSS_STACK_MISSING);
}

Test(compiler_losses, STACKS_FULL)
{
	no_row("count", "into||n", "by||stack", -E2BIG, WEFT_LOSS_STACKS_FULL);
	no_row("count", "into||n", "by||stack", -ENOMEM, WEFT_LOSS_STACKS_FULL);
}

/* The row that is there has another check. */
Test(compiler_losses, STACK_COLLISION)
{
	struct world w;

	init(&w, 0, 0);
	w.rows = true;
	rig_clause(&w.rig, NULL, "count", "into||n", "by||stack", NULL);
	expect_loss(&w, WEFT_LOSS_STACK_COLLISION);
}

/* ---- the rest ---- */

Test(compiler_losses, RECORD_BUFFER_FULL)
{
	struct world w;

	init(&w, BPF_FUNC_ringbuf_reserve, 0);
	rig_clause(&w.rig, NULL, "emit", "|a|arg0", NULL);
	expect_loss(&w, WEFT_LOSS_RECORD_BUFFER_FULL);
}

Test(compiler_losses, FAULT_VALUE)
{
	struct world w;

	init(&w, BPF_FUNC_get_current_comm, -EINVAL);
	rig_clause(&w.rig, "execname == \"x\"", "count", "into||n", NULL);
	expect_loss(&w, WEFT_LOSS_FAULT_VALUE);
}

Test(compiler_losses, FAULT_ADDRESS)
{
	struct world w;

	init(&w, BPF_FUNC_probe_read_kernel_str, -EFAULT);
	rig_clause(&w.rig, NULL, "emit", "|s|kstr(arg0)", NULL);
	expect_loss(&w, WEFT_LOSS_FAULT_ADDRESS);
}

Test(compiler_losses, NOT_RESIDENT)
{
	struct world w;

	init(&w, BPF_FUNC_probe_read_user_str, -EFAULT);
	rig_clause(&w.rig, NULL, "emit", "|s|copyinstr(arg0 + 65536)", NULL);
	expect_loss(&w, WEFT_LOSS_NOT_RESIDENT);
}

Test(compiler_losses, SIGNAL_FAILED)
{
	struct world w;

	init(&w, BPF_FUNC_send_signal, -EPERM);
	w.rig.env.destructive = true;
	rig_clause(&w.rig, NULL, "signal", "||SIGUSR1", NULL);
	expect_loss(&w, WEFT_LOSS_SIGNAL_FAILED);
}
