/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The table of losses. docs/reference/losses.md is made from it. */
#include "core/loss.h"

const struct weft_loss_spec weft_losses[WEFT_N_LOSSES] = {
	[WEFT_LOSS_RECORD_BUFFER_FULL] =
		{
			"RECORD_BUFFER_FULL",
			"A record was dropped: records came faster than they could be written out.",
			"Raise options.buffer, record less, or narrow the predicate.",
		},
	[WEFT_LOSS_AGGREGATION_FULL] =
		{
			"AGGREGATION_FULL",
			"A firing was not counted: its aggregation has no room for another row.",
			"Raise options.rows, or aggregate by fewer or coarser keys.",
		},
	[WEFT_LOSS_AGGREGATION_NOMEM] =
		{
			"AGGREGATION_NOMEM",
			"A firing was not counted: the kernel had no memory for another row of its "
			"aggregation.",
			"Free memory on this machine, or aggregate by fewer or coarser keys.",
		},
	[WEFT_LOSS_AGGREGATION_BUSY] =
		{
			"AGGREGATION_BUSY",
			"A firing was not counted: its row was being changed on other CPUs all the time.",
			"Add a key that sets CPUs apart, such as cpu.",
		},
	[WEFT_LOSS_AGGREGATION_UNSETTLED] =
		{
			"AGGREGATION_UNSETTLED",
			"A row was left out of a table: a value was being added to it whenever it was "
			"read. What it holds is in later tables.",
			"Print aggregations less often, or only at the end.",
		},
	[WEFT_LOSS_STACKS_FULL] =
		{
			"STACKS_FULL",
			"A stack was not remembered: there is no room, or no memory, for another "
			"distinct one.",
			"Raise options.stacks, or lower options.stackframes so that fewer differ.",
		},
	[WEFT_LOSS_STACK_MISSING] =
		{
			"STACK_MISSING",
			"The kernel could not give the stack of a firing.",
			NULL,
		},
	[WEFT_LOSS_STACK_COLLISION] =
		{
			"STACK_COLLISION",
			"A stack was not remembered: another one has the same 64-bit hash.",
			NULL,
		},
	[WEFT_LOSS_NESTED] =
		{
			"NESTED",
			"A firing was dropped: it interrupted others on its CPU, which hold all of the "
			"working memory.",
			"Move probes that fire inside each other into probe sets of their own.",
		},
	[WEFT_LOSS_PROGRAM_BUSY] =
		{
			"PROGRAM_BUSY",
			"The kernel skipped a firing: the probe's program was already running on that "
			"CPU.",
			"Narrow the probe to functions that its own tracing does not run.",
		},
	[WEFT_LOSS_FIRINGS_MISSED] =
		{
			"FIRINGS_MISSED",
			"A firing that was due by the clock did not come: the CPU was kept from running "
			"for longer than the period, or it was idle and the kernel made no event.",
			"Where idle CPUs are of no interest, say `with: {idle: false}` to the probe, or "
			"use a lower rate.",
		},
	[WEFT_LOSS_FAULT_ADDRESS] =
		{
			"FAULT_ADDRESS",
			"A clause ended early: it read memory that cannot be read.",
			"Check the address that the expression reads, or guard it with `when`.",
		},
	[WEFT_LOSS_NOT_RESIDENT] =
		{
			"NOT_RESIDENT",
			"A clause ended early: it read user memory that is not in memory now, where the "
			"kernel may not wait for it.",
			"Read the value at a later probe, once the program has touched it.",
		},
	[WEFT_LOSS_FAULT_DIVIDE] =
		{
			"FAULT_DIVIDE",
			"A clause ended early: it divided by zero.",
			"Guard the divisor with `when` or `? :`.",
		},
	[WEFT_LOSS_FAULT_RANGE] =
		{
			"FAULT_RANGE",
			"A clause ended early: it used a length or a number that is out of range.",
			"Guard the expression with `when` or `? :`.",
		},
	[WEFT_LOSS_FAULT_INDEX] =
		{
			"FAULT_INDEX",
			"A clause ended early: it took an element that the array does not have.",
			"Guard the index with `when` or `? :`.",
		},
	[WEFT_LOSS_FAULT_VALUE] =
		{
			"FAULT_VALUE",
			"A clause ended early: it used a value that this firing does not have.",
			NULL,
		},
	[WEFT_LOSS_STRING_TRUNCATED] =
		{
			"STRING_TRUNCATED",
			"A string was cut short.",
			"Raise options.strsize.",
		},
	[WEFT_LOSS_PAIRING_DEPTH] =
		{
			"PAIRING_DEPTH",
			"The entry of a call was not remembered: calls are nested too deep.",
			"Raise options.depth.",
		},
	[WEFT_LOSS_PAIRING_NO_ENTRY] =
		{
			"PAIRING_NO_ENTRY",
			"A return was dropped: its entry was not seen.",
			"Nothing, where the calls had begun before tracing did; `defined(elapsed)` asks.",
		},
	[WEFT_LOSS_PAIRING_FULL] =
		{
			"PAIRING_FULL",
			"The entry of a call was not remembered: too many threads are inside calls.",
			"Raise options.threads.",
		},
	[WEFT_LOSS_STATE_UNSET] =
		{
			"STATE_UNSET",
			"A clause ended early: it read a variable that was not set.",
			"Ask with `defined(x)`, or say what holds while it is unset: `x ?? 0`.",
		},
	[WEFT_LOSS_STATE_FULL] =
		{
			"STATE_FULL",
			"A variable was not set: there is no room for another thread's variables, or "
			"for another element of the array.",
			"Raise options.threads for `self.`, options.rows for arrays, or delete what is "
			"done with.",
		},
	[WEFT_LOSS_STATE_NOMEM] =
		{
			"STATE_NOMEM",
			"A variable was not set: the kernel had no memory for another element of the "
			"array.",
			"Free memory on this machine, or delete elements that are done with.",
		},
	[WEFT_LOSS_STATE_BUSY] =
		{
			"STATE_BUSY",
			"A variable was not read or changed: the firing interrupted, or met on another "
			"CPU, one that was changing it.",
			"Keep what fires inside other probes to variables of its own.",
		},
	[WEFT_LOSS_TARGETS_FULL] =
		{
			"TARGETS_FULL",
			"A child of the target is not traced: the set of target processes is full.",
			"Target fewer processes, or trace without `follow`.",
		},
	[WEFT_LOSS_PROCESS_EVENTS_LOST] =
		{
			"PROCESS_EVENTS_LOST",
			"A process started, ended or mapped a file without the tracer hearing of it: "
			"symbols and targets may be incomplete.",
			"Trace while fewer processes come and go.",
		},
	[WEFT_LOSS_SIGNAL_FAILED] =
		{
			"SIGNAL_FAILED",
			"A signal was not sent: what runs is a thread of the kernel, the first process "
			"or one that is ending, or the CPU has not delivered the signal before it.",
			"Narrow the predicate to the processes that are meant.",
		},
	[WEFT_LOSS_RATE_LIMITED] =
		{
			"RATE_LIMITED",
			"A firing was passed over: the clause's `limit` was reached.",
			"Raise the limit, or narrow the predicate.",
		},
	[WEFT_LOSS_SAMPLED_OUT] =
		{
			"SAMPLED_OUT",
			"A firing was passed over, as the clause's `every` asks.",
			NULL,
		},
};

bool weft_loss_is_asked_for(enum weft_loss loss)
{
	return loss == WEFT_LOSS_RATE_LIMITED || loss == WEFT_LOSS_SAMPLED_OUT;
}
