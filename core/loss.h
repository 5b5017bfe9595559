/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The table of losses: every way in which a firing, a record or a value can fail to reach the
 * reader. Tags are stable; docs/reference/losses.md is made from the table. */
#ifndef WEFT_CORE_LOSS_H
#define WEFT_CORE_LOSS_H

#include <stdbool.h>
#include <stddef.h>

struct weft_arena;

enum weft_loss {
	WEFT_LOSS_RECORD_BUFFER_FULL,
	WEFT_LOSS_AGGREGATION_FULL,  /* E2BIG: more rows than options.rows */
	WEFT_LOSS_AGGREGATION_NOMEM, /* ENOMEM */
	WEFT_LOSS_AGGREGATION_BUSY,  /* EBUSY, or a compare-and-exchange that lost every round */
	WEFT_LOSS_AGGREGATION_UNSETTLED, /* a row that was half written whenever it was read */
	WEFT_LOSS_STACKS_FULL, /* more distinct stacks than options.stacks, or no memory for one */
	WEFT_LOSS_STACK_MISSING,   /* bpf_get_stack failed */
	WEFT_LOSS_STACK_COLLISION, /* two stacks with one hash */
	WEFT_LOSS_NESTED,          /* no scratch slot free: a firing inside a firing */
	WEFT_LOSS_PROGRAM_BUSY,    /* the kernel skipped the program (recursion_misses) */
	WEFT_LOSS_FIRINGS_MISSED,  /* due by the clock, but the kernel made no event */
	WEFT_LOSS_FAULT_ADDRESS,   /* kernel or user memory that cannot be read */
	WEFT_LOSS_NOT_RESIDENT, /* user memory that is not in memory, where waiting is not allowed */
	WEFT_LOSS_FAULT_DIVIDE, /* division or remainder by zero */
	WEFT_LOSS_FAULT_RANGE,  /* a length or an argument out of its range */
	WEFT_LOSS_FAULT_INDEX,  /* an element that an array of the kernel's types does not have */
	WEFT_LOSS_FAULT_VALUE,  /* a value that the context does not have (a helper failed) */
	WEFT_LOSS_STRING_TRUNCATED, /* longer than options.strsize */
	WEFT_LOSS_PAIRING_DEPTH,    /* more nested frames than options.depth */
	WEFT_LOSS_PAIRING_NO_ENTRY, /* a return whose entry was not seen */
	WEFT_LOSS_PAIRING_FULL,     /* more threads than options.threads */
	WEFT_LOSS_STATE_UNSET,      /* a variable that no one has set */
	WEFT_LOSS_STATE_FULL, /* E2BIG: more threads than options.threads, elements than options.rows */
	WEFT_LOSS_STATE_NOMEM, /* ENOMEM: an element */
	WEFT_LOSS_STATE_BUSY,  /* a variable that others were changing all the time */
	WEFT_LOSS_TARGETS_FULL, /* more target processes than the set holds: a child is not followed */
	WEFT_LOSS_PROCESS_EVENTS_LOST,
	WEFT_LOSS_SIGNAL_FAILED, /* bpf_send_signal refused */
	WEFT_LOSS_RATE_LIMITED,  /* asked for: more firings than the clause's `limit` */
	WEFT_LOSS_SAMPLED_OUT,   /* asked for: firings that the clause's `every` passes over */
	WEFT_N_LOSSES
};

struct weft_loss_spec {
	const char *tag;
	const char *meaning; /* one sentence for the user */
	const char *remedy;  /* what to do, or NULL */
};
extern const struct weft_loss_spec weft_losses[WEFT_N_LOSSES];

/* Whether the probe set asks for it: reported as skipped, and the run is none the worse. */
bool weft_loss_is_asked_for(enum weft_loss loss);

/* The reference page of the losses (docs/reference/losses.md). NULL: out of memory. */
char *weft_loss_reference(struct weft_arena *arena);

#endif
