/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The rows: all that the format is, beside the actions (core/lang/actions.c). */
#include "config/schema.h"

#include "config/config.h"
#include "core/set.h"
#include "core/view.h"

/* NOLINTBEGIN(bugprone-macro-parentheses): types and members cannot stand in parentheses */
#define AT(type, member)           .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)
#define KEYS(k)                    .keys = k, .n_keys = sizeof(k) / sizeof(k[0])
#define STORED(how, type_, member) .type = WEFT_KEY_##how, AT(type_, member)
#define INTEGER(type_, member, least, most) \
	STORED(INT, type_, member), .min = (least), .max = (most)
/* NOLINTEND(bugprone-macro-parentheses) */

#define US UINT64_C(1000)
#define MS (1000 * US)
#define S  (1000 * MS)

const struct weft_key_type_spec weft_key_types[WEFT_N_KEY_TYPES] = {
	[WEFT_KEY_VERSION] = {weft_read_version, "the integer 1", "the integer 1"},
	[WEFT_KEY_TEXT] = {weft_read_text, "a text", "text"},
	[WEFT_KEY_FIELD] = {weft_read_field, "a text", "text or glob"},
	[WEFT_KEY_EXPR] = {weft_read_expr_key, "an expression", "expression"},
	[WEFT_KEY_BOOL] = {weft_read_bool, "true or false", "`true` or `false`"},
	[WEFT_KEY_INT] = {weft_read_int, "an integer", "integer"},
	[WEFT_KEY_DURATION] = {weft_read_duration, "a duration such as 500ms or 2s", "duration"},
	[WEFT_KEY_SIZE] = {weft_read_size, "a size such as 64k or 1m", "size"},
	[WEFT_KEY_RATE] = {weft_read_rate, "a rate such as 1000/s, 30/m or 5/ms", "rate"},
	[WEFT_KEY_CHOICE] = {weft_read_choice, "one word", "one of"},
	[WEFT_KEY_LEVEL] = {weft_read_sublevel, "a map", "map"},
	[WEFT_KEY_COMMAND] = {weft_read_command, "a list of words, or one text",
			      "list of words, or text"},
	[WEFT_KEY_PIDS] = {weft_read_pids, "a process id, or a list of them",
			   "integer, or list of integers"},
	[WEFT_KEY_PARAMS] = {weft_read_params, "a map of names and values", "map: name -> value"},
	[WEFT_KEY_PROVIDERS] = {weft_read_providers, "a map of providers",
				"map: provider -> (option -> value)"},
	[WEFT_KEY_VIEWS] = {weft_read_views, "a map of aggregations", "map: aggregation -> map"},
	[WEFT_KEY_PROBES] = {weft_read_probes, "a list of clauses", "list of clauses"},
	[WEFT_KEY_BEGIN] = {weft_read_begin, "a list of actions", "list of actions"},
	[WEFT_KEY_END] = {weft_read_end, "a list of actions", "list of actions"},
	[WEFT_KEY_PATTERNS] = {weft_read_patterns,
			       "a probe description (provider:module:function:name), or a list of "
			       "them",
			       "probe description, map, or list of them"},
	[WEFT_KEY_ACTIONS] = {weft_read_actions, "a list of actions", "list of actions"},
	[WEFT_KEY_SETTINGS] = {weft_read_settings, "a map of options and values",
			       "map: option -> value"},
};

/* ---- the whole set ---- */

static const struct weft_key top_keys[] = {
	{
		.name = "version",
		.type = WEFT_KEY_VERSION,
		.required = true,
		.help = "The version of this format.",
		.example = "version: 1",
	},
	{
		.name = "name",
		STORED(TEXT, struct weft_set, name),
		.help = "A short name for the set.",
		.example = "name: read-latency",
	},
	{
		.name = "description",
		STORED(TEXT, struct weft_set, description),
		.help = "What the set shows, in a sentence.",
		.example = "description: How long reads take, by program",
	},
	{
		.name = "target",
		.type = WEFT_KEY_LEVEL,
		.level = &weft_level_target,
		AT(struct weft_set, target),
		.help = "The processes that the set is about. Without it, the whole system. "
			"`-c` and `-p` override it.",
		.example = "target: {command: [./server, --port, 8080], follow: true}",
	},
	{
		.name = "params",
		.type = WEFT_KEY_PARAMS,
		.help = "Values that expressions use as `$name` and that `--param name=value` "
			"replaces: integers, durations, sizes, texts. A quoted value is a text "
			"whatever it looks like.",
		.example = "params: {threshold_us: 1000, who: \"10\"}",
	},
	{
		.name = "options",
		.type = WEFT_KEY_LEVEL,
		.level = &weft_level_options,
		AT(struct weft_set, options),
		.help = "Sizes and limits of the run.",
		.example = "options: {strsize: 256, interval: 1s}",
	},
	{
		.name = "providers",
		.type = WEFT_KEY_PROVIDERS,
		.help = "Options of providers, each checked by its provider. "
			"`trace-cli providers` lists them.",
		.example = "providers: {uprobe: {placement: exact}}",
	},
	{
		.name = "aggregations",
		.type = WEFT_KEY_VIEWS,
		.level = &weft_level_view,
		.help = "How aggregations are shown, by name: whenever they are, unless a `show` says "
			"otherwise.",
		.example = "aggregations: {oncpu: {top: 20}}",
	},
	{
		.name = "begin",
		.type = WEFT_KEY_BEGIN,
		.help = "Actions that run once, before anything is attached.",
		.example = "begin:\n  - printf: \"tracing\"",
	},
	{
		.name = "probes",
		.type = WEFT_KEY_PROBES,
		.required = true,
		.level = &weft_level_clause,
		.help = "The clauses: which probes, under which condition, do what.",
		.example = "probes:\n"
			   "  - probe: profile:::profile-99hz\n"
			   "    when: pid != 0\n"
			   "    do:\n"
			   "      - count: {into: oncpu, by: execname}",
	},
	{
		.name = "end",
		.type = WEFT_KEY_END,
		.help = "Actions that run once, after everything was detached.",
		.example = "end:\n  - printf: \"done\"",
	},
};

const struct weft_level weft_level_top = {
	.name = "The probe set",
	.title = "a probe set",
	.help = "A file is one map with these keys.",
	KEYS(top_keys),
};

/* ---- target ---- */

#define PID_MOST 4194304u /* PID_MAX_LIMIT of include/linux/threads.h, 64 bits */

static const struct weft_key target_keys[] = {
	{
		.name = "command",
		.type = WEFT_KEY_COMMAND,
		.one_of = true,
		.help = "A command to start and trace, and the run ends when it does. A text is split "
			"into words at blanks; no shell reads it, so quotes, `$` and `|` mean "
			"nothing in it. Give `[sh, -c, \"...\"]` where a shell is wanted.",
		.example = "command: [./server, --port, 8080]",
	},
	{
		.name = "pid",
		.type = WEFT_KEY_PIDS,
		.one_of = true,
		.min = 1,
		.max = PID_MOST,
		.help = "One or more processes that run already, by their ids as the tracer sees "
			"them.",
		.example = "pid: [1234, 5678]",
	},
	{
		.name = "follow",
		STORED(BOOL, struct weft_target_spec, follow),
		.default_text = "false",
		.help = "Also trace what the targets start.",
		.example = "follow: true",
	},
};

const struct weft_level weft_level_target = {
	.name = "target",
	.title = "`target`",
	.help = "Restricts every probe but timers to some processes.",
	KEYS(target_keys),
};

/* ---- options ---- */

static const struct weft_key options_keys[] = {
	{
		.name = "strsize",
		/* At least what execname may need: a variable holds every string whole. */
		INTEGER(struct weft_options, strsize, 16, 1024),
		.default_text = "128",
		.help = "The most bytes of a string, its final NUL included. What is longer is cut, "
			"and counted as STRING_TRUNCATED.",
		.example = "strsize: 256",
	},
	{
		.name = "stackframes",
		INTEGER(struct weft_options, stackframes, 1, 127),
		.default_text = "64",
		.help = "The most frames of a stack, the innermost first.",
		.example = "stackframes: 32",
	},
	{
		.name = "interval",
		.type = WEFT_KEY_DURATION,
		AT(struct weft_options, interval),
		.zero = true,
		.min = 100 * MS,
		.min_text = "100ms",
		.max = UINT64_C(365) * 86400 * S,
		.max_text = "365d",
		.default_text = "0",
		.help = "Print the aggregations this often; 0: only at the end.",
		.example = "interval: 1s",
	},
	{
		.name = "buffer",
		.type = WEFT_KEY_SIZE,
		AT(struct weft_options, buffer),
		.power_of_two = true,
		.min = UINT64_C(4) << 10,
		.min_text = "4k",
		.max = UINT64_C(1) << 30,
		.max_text = "1g",
		.default_text = "1m",
		.help = "The buffer that records wait in. Records that find it full are counted as "
			"RECORD_BUFFER_FULL.",
		.example = "buffer: 4m",
	},
	{
		.name = "rows",
		INTEGER(struct weft_options, rows, 1, 10000000),
		.default_text = "10240",
		.help = "The most rows of each aggregation and elements of each array. What would "
			"need one more is counted as AGGREGATION_FULL or STATE_FULL.",
		.example = "rows: 100000",
	},
	{
		.name = "stacks",
		INTEGER(struct weft_options, stacks, 1, 10000000),
		.default_text = "10240",
		.help = "The most distinct stacks that are remembered. What would need one more is "
			"counted as STACKS_FULL.",
		.example = "stacks: 50000",
	},
	{
		.name = "depth",
		INTEGER(struct weft_options, depth, 1, 256),
		.default_text = "64",
		.help = "The most calls of a thread inside each other whose returns are paired with "
			"their entries. Deeper ones are counted as PAIRING_DEPTH.",
		.example = "depth: 128",
	},
	{
		.name = "threads",
		INTEGER(struct weft_options, threads, 1, 1000000),
		.default_text = "10240",
		.help = "The most threads that have state at a time: pairing and variables of "
			"threads. What would need one more is counted as PAIRING_FULL or STATE_FULL.",
		.example = "threads: 50000",
	},
};

const struct weft_level weft_level_options = {
	.name = "options",
	.title = "`options`",
	.help = "Sizes and limits. Whatever a limit cuts off is counted and reported.",
	KEYS(options_keys),
};

/* ---- how an aggregation is shown ---- */

static const struct weft_key view_keys[] = {
	{
		.name = "top",
		INTEGER(struct weft_view, top, 1, WEFT_VIEW_TOP_MOST),
		.help = WEFT_VIEW_TOP_HELP,
		.example = "top: 20",
	},
	{
		.name = "sort",
		.type = WEFT_KEY_CHOICE,
		AT(struct weft_view, sort),
		.choices = WEFT_VIEW_SORTS,
		.help = WEFT_VIEW_SORT_HELP,
		.example = "sort: key",
	},
	{
		.name = "order",
		.type = WEFT_KEY_CHOICE,
		AT(struct weft_view, order),
		.choices = WEFT_VIEW_ORDERS,
		.help = WEFT_VIEW_ORDER_HELP,
		.example = "order: asc",
	},
	{
		.name = "divide",
		INTEGER(struct weft_view, divide, 1, INT64_MAX),
		.help = WEFT_VIEW_DIVIDE_HELP,
		.example = "divide: 1000",
	},
	{
		.name = "per",
		.type = WEFT_KEY_DURATION,
		AT(struct weft_view, per_ns),
		.min = 1,
		.min_text = "1ns",
		.max = UINT64_C(365) * 86400 * S,
		.max_text = "365d",
		.help = WEFT_VIEW_PER_HELP,
		.example = "per: 1s",
	},
};

const struct weft_level weft_level_view = {
	.name = "An aggregation",
	.title = "an aggregation",
	.help = "One entry of `aggregations`: how it is shown. A `show` takes the same, for that time.",
	KEYS(view_keys),
};

/* ---- a clause ---- */

static const struct weft_key clause_keys[] = {
	{
		.name = "probe",
		.type = WEFT_KEY_PATTERNS,
		.required = true,
		.level = &weft_level_probe,
		.help = "The probes: a description `provider:module:function:name` whose fields may "
			"be empty (any) or globs, the same as a map, or a list of both.",
		.example = "probe: profile:::profile-99hz",
	},
	{
		.name = "when",
		STORED(EXPR, struct weft_clause, when),
		.help = "The predicate: the actions run only where it is not 0.",
		.example = "when: pid != 0",
	},
	{
		.name = "every",
		INTEGER(struct weft_clause, every, 1, 1000000000),
		.help = "Take a sample: of the firings that pass `when`, the actions run for each of "
			"this number, from all CPUs together. The others are counted as SAMPLED_OUT, "
			"which is no loss.",
		.example = "every: 100",
	},
	{
		.name = "limit",
		.type = WEFT_KEY_RATE,
		AT(struct weft_clause, limit),
		.min = 1,
		.max = WEFT_RATE_MOST,
		.min_text = "1/m",
		.max_text = "1000000/s",
		.help = "Run the actions so often at most, on the whole machine, by a bucket of so many "
			"tokens that fills evenly: what comes at once may use all of them, so that "
			"no span of that time sees more than twice the number. The surplus is counted "
			"as RATE_LIMITED, which is no loss.",
		.example = "limit: 1000/s",
	},
	{
		.name = "do",
		.type = WEFT_KEY_ACTIONS,
		.required = true,
		.help = "The actions, in order.",
		.example = "do:\n  - count: {into: oncpu, by: execname}\n  - show",
	},
	{
		.name = "with",
		.type = WEFT_KEY_SETTINGS,
		.help = "Options of the probes' provider for these probes alone.",
		.example = "with: {placement: exact}",
	},
};

const struct weft_level weft_level_clause = {
	.name = "A clause",
	.title = "a clause",
	.help = "One entry of `probes`.",
	KEYS(clause_keys),
};

/* ---- a probe as a map ---- */

struct fields {
	const char *field[WEFT_N_FIELDS];
};
#define FIELD(i) .offset = offsetof(struct fields, field[i])

static const struct weft_key probe_keys[] = {
	{
		.name = "provider",
		.type = WEFT_KEY_FIELD,
		.one_of = true,
		FIELD(WEFT_FIELD_PROVIDER),
		.help = "The provider, by the name that `trace-cli providers` gives.",
		.example = "provider: uprobe",
	},
	{
		.name = "module",
		.type = WEFT_KEY_FIELD,
		.one_of = true,
		FIELD(WEFT_FIELD_MODULE),
		.help = "Where the probe lies, for instance an ELF file.",
		.example = "module: libc.so.6",
	},
	{
		.name = "function",
		.type = WEFT_KEY_FIELD,
		.one_of = true,
		FIELD(WEFT_FIELD_FUNCTION),
		.help = "The function, or what stands for one.",
		.example = "function: std::vector<*>::push_back",
	},
	{
		.name = "name",
		.type = WEFT_KEY_FIELD,
		.one_of = true,
		FIELD(WEFT_FIELD_NAME),
		.help = "The probe's own name.",
		.example = "name: entry",
	},
};

const struct weft_level weft_level_probe = {
	.name = "A probe as a map",
	.title = "a probe",
	.help = "Says the same as `provider:module:function:name`, with no colon to escape. A key that "
		"is left out is any.",
	KEYS(probe_keys),
};

const struct weft_level *const weft_levels[] = {
	&weft_level_top,  &weft_level_target, &weft_level_options,
	&weft_level_view, &weft_level_clause, &weft_level_probe,
};
const size_t weft_n_levels = sizeof(weft_levels) / sizeof(weft_levels[0]);
