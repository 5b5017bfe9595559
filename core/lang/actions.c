/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The rows of actions.h. The texts here are what the schema and the reference page print. */
#include "core/lang/actions.h"
#include "core/view.h"

#include <string.h>

/*
 * Units are a closed list: a reader of the results scales what it knows ("1.5 ms", "4.0 KiB"), and
 * a slip of the pen is an error instead of a label. Without a unit a value is a plain number.
 */
#define UNITS "ns|us|ms|s|bytes"

#define INTO                                                                                      \
	{                                                                                         \
		"into", WEFT_SHAPE_NAME, true, NULL,                                              \
			"The aggregation's name; clauses that say the same name add to the same " \
			"table."                                                                  \
	}
#define BY                                                                                          \
	{                                                                                           \
		"by", WEFT_SHAPE_KEYS, false, NULL,                                                 \
			"What to tell apart, a row for each combination: an expression, a list of " \
			"them, or a map from name to expression. Without it there is one row."      \
	}
#define VALUE(text)                                        \
	{                                                  \
		"value", WEFT_SHAPE_EXPR, true, NULL, text \
	}
#define UNIT                                                                             \
	{                                                                                \
		"unit", WEFT_SHAPE_CHOICE, false, UNITS,                                 \
			"What the value is measured in, for those who read the results." \
	}

/* The only field of an action, which then needs no name. */
#define ALONE(shape, required, text)                         \
	{                                                    \
		"", WEFT_SHAPE_##shape, required, NULL, text \
	}
#define NAMES ALONE(NAMES, false, "An aggregation or a list of them; nothing stands for all.")

#define CONSTANT(name, required, text)                          \
	{                                                       \
		name, WEFT_SHAPE_CONSTANT, required, NULL, text \
	}

static const struct weft_action_field count_fields[] = {INTO, BY};
static const struct weft_action_field sum_fields[] = {INTO, BY, VALUE("The integer to add."), UNIT};
static const struct weft_action_field avg_fields[] = {INTO, BY, VALUE("The integer to average."),
						      UNIT};
static const struct weft_action_field min_fields[] = {
	INTO, BY, VALUE("The integer of which the least is kept."), UNIT};
static const struct weft_action_field max_fields[] = {
	INTO, BY, VALUE("The integer of which the greatest is kept."), UNIT};
static const struct weft_action_field quantize_fields[] = {
	INTO, BY, VALUE("The integer whose distribution is wanted."), UNIT};
static const struct weft_action_field stddev_fields[] = {
	INTO, BY, VALUE("The integer whose standard deviation is wanted."), UNIT};
static const struct weft_action_field lquantize_fields[] = {
	INTO,
	BY,
	VALUE("The integer whose distribution is wanted."),
	CONSTANT("from", true, "The lower bound: what is less is counted in a bucket below it."),
	CONSTANT("to", true, "The upper bound: it and what is greater have a bucket of their own."),
	CONSTANT("step", false,
		 "The width of a bucket, 1 if it is not given. Where it does not divide the range the "
		 "last bucket is the rest."),
	UNIT,
};
static const struct weft_action_field llquantize_fields[] = {
	INTO,
	BY,
	VALUE("The integer whose distribution is wanted."),
	CONSTANT("factor", true, "How many times greater a magnitude is than the one before it."),
	CONSTANT("low", true,
		 "The lowest magnitude: what is less than factor^low is counted in a bucket below it."),
	CONSTANT("high", true,
		 "The highest magnitude: factor^(high + 1) and what is greater have a bucket of their "
		 "own."),
	CONSTANT("steps", true,
		 "How many buckets, all equally wide, would fill a magnitude and what lies below it: "
		 "a multiple of the factor."),
	UNIT,
};
static const struct weft_action_field emit_fields[] = {
	ALONE(FIELDS, true,
	      "The record's fields: a map from name to expression, or a list of expressions, which are then "
	      "named by their own text."),
};
static const struct weft_action_field printf_fields[] = {
	ALONE(FORMAT, true,
	      "A format as in C, or a list of a format and the expressions that it prints."),
};
static const struct weft_action_field show_fields[] = {
	NAMES,
	{"name", WEFT_SHAPE_NAMES, false, NULL,
	 "The same, where there is more to say about how they are shown. What is not said is taken "
	 "from the set's `aggregations`."},
	CONSTANT("top", false, WEFT_VIEW_TOP_HELP),
	{"sort", WEFT_SHAPE_CHOICE, false, WEFT_VIEW_SORTS, WEFT_VIEW_SORT_HELP},
	{"order", WEFT_SHAPE_CHOICE, false, WEFT_VIEW_ORDERS, WEFT_VIEW_ORDER_HELP},
	CONSTANT("divide", false, WEFT_VIEW_DIVIDE_HELP),
	CONSTANT("per", false, WEFT_VIEW_PER_HELP),
};
static const struct weft_action_field clear_fields[] = {
	NAMES,
};
static const struct weft_action_field exit_fields[] = {
	ALONE(EXPR, false, "The status that the run ends with, 0 to 255; nothing stands for 0."),
};

static const struct weft_action_field signal_fields[] = {
	{"", WEFT_SHAPE_SIGNAL, true,
	 "HUP|INT|QUIT|ILL|TRAP|ABRT|BUS|FPE|KILL|USR1|SEGV|USR2|PIPE|ALRM|TERM|CHLD|CONT|STOP|TSTP|"
	 "TTIN|TTOU|URG|XCPU|XFSZ|PROF|IO|PWR|SYS|WINCH|VTALRM",
	 "The signal, by its name or its number, 1 to 64."},
};
static const struct weft_action_field set_fields[] = {
	ALONE(ASSIGN, true,
	      "A map from variable to expression, carried out in order. An expression that begins with an "
	      "operator, `+= 1`, changes the variable in one step; there are those of +, -, and, or and "
	      "exclusive or."),
};
static const struct weft_action_field delete_fields[] = {
	ALONE(VARIABLES, true, "A variable or a list of them."),
};

#define ACTION(text, of_kind, of_group, its_fields)                                    \
	.name = (text), .kind = WEFT_ACTION_##of_kind, .group = WEFT_GROUP_##of_group, \
	.fields = (its_fields), .n_fields = sizeof(its_fields) / sizeof((its_fields)[0])

const struct weft_action_spec weft_actions[] = {
	{
		ACTION("count", COUNT, AGGREGATION, count_fields),
		.help = "Counts firings.",
		.example = "count: {into: oncpu, by: {program: execname, stack: ustack}}",
	},
	{
		ACTION("sum", SUM, AGGREGATION, sum_fields),
		.help = "Adds values up, exactly: a sum may need more than 64 bits.",
		.example = "sum: {into: written, by: execname, value: arg2, unit: bytes}",
	},
	{
		ACTION("avg", AVG, AGGREGATION, avg_fields),
		.help = "Keeps the mean of the values, with their number and sum.",
		.example = "avg: {into: latency, by: execname, value: elapsed, unit: ns}",
	},
	{
		ACTION("min", MIN, AGGREGATION, min_fields),
		.help = "Keeps the least value.",
		.example = "min: {into: fastest, by: execname, value: elapsed, unit: ns}",
	},
	{
		ACTION("max", MAX, AGGREGATION, max_fields),
		.help = "Keeps the greatest value.",
		.example = "max: {into: slowest, by: execname, value: elapsed, unit: ns}",
	},
	{
		ACTION("stddev", STDDEV, AGGREGATION, stddev_fields),
		.help = "Keeps how far values lie from their mean: the standard deviation of all of "
			"them (the population's), with their number and mean. It is computed from exact "
			"sums.",
		.example = "stddev: {into: jitter, by: execname, value: elapsed, unit: ns}",
	},
	{
		ACTION("quantize", QUANTIZE, AGGREGATION, quantize_fields),
		.help = "Counts values in buckets that double in width, a histogram by powers of "
			"two.",
		.example =
			"quantize: {into: latency, by: {program: execname}, value: elapsed, unit: ns}",
	},
	{
		ACTION("lquantize", LQUANTIZE, AGGREGATION, lquantize_fields),
		.help = "Counts values in buckets of one width, a linear histogram.",
		.example = "lquantize: {into: waits, value: elapsed, from: 0, to: 10ms, step: 100us, "
			   "unit: ns}",
	},
	{
		ACTION("llquantize", LLQUANTIZE, AGGREGATION, llquantize_fields),
		.help = "Counts values in magnitudes, powers of the factor, each cut into buckets of "
			"one width: a histogram that is fine everywhere. With factor 10 and steps 20, "
			"[100, 1000) has 18 buckets that are 50 wide.",
		.example = "llquantize: {into: sizes, value: arg2, factor: 10, low: 0, high: 6, steps: "
			   "10, unit: bytes}",
	},
	{
		ACTION("emit", EMIT, RECORD, emit_fields),
		.help = "Sends a record of named fields: a JSON object, or a line of text.",
		.example = "emit: {program: execname, tid: tid, stack: ustack(16)}",
	},
	{
		ACTION("printf", PRINTF, RECORD, printf_fields),
		.help = "Sends a line of text, formatted as C's printf does it.",
		.example = "printf: [\"%s (%d) took %d us\", execname, pid, elapsed / 1us]",
	},
	{
		ACTION("show", SHOW, CONTROL, show_fields),
		.help = "Prints aggregations now. At the end they are printed in any case.",
		.example = "show: {name: oncpu, top: 10}",
	},
	{
		ACTION("clear", CLEAR, CONTROL, clear_fields),
		.help = "Empties aggregations.",
		.example = "clear: latency",
	},
	{
		ACTION("exit", EXIT, CONTROL, exit_fields),
		.help = "Ends the run, results printed.",
		.example = "exit: 0",
	},
	{
		ACTION("signal", SIGNAL, DESTRUCTIVE, signal_fields),
		.help = "Sends a signal to the process that fires the probe, whoever it is: name it in "
			"`when`. Only with `--destructive`.",
		.example = "signal: TERM",
	},
	{
		ACTION("set", SET, STATE, set_fields),
		.help = "Gives variables values: `total` of the whole run, `self.start` of the thread, "
			"`this.x` of this firing of the clause, `sizes[pid, arg0]` of an array.",
		.example = "set: {self.start: timestamp, total: += arg2}",
	},
	{
		ACTION("delete", DELETE, STATE, delete_fields),
		.help = "Makes variables unset again, and gives back the room of an array's element.",
		.example = "delete: [self.start, 'sizes[pid, arg0]']",
	},
};
const size_t weft_n_actions = sizeof(weft_actions) / sizeof(weft_actions[0]);

const struct weft_action_spec *weft_action_find(const char *name)
{
	for (size_t i = 0; i < weft_n_actions; i++)
		if (strcmp(weft_actions[i].name, name) == 0)
			return &weft_actions[i];
	return NULL;
}
