/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * weft/weft.h: tracing by probe sets from within a program. docs/embedding.md tells it as a story.
 *
 *	struct weft_trace *t;
 *	int ret = weft_trace_open(&options, &t);
 *
 *	ret = ret ? ret : weft_trace_plugins(t, NULL);
 *	ret = ret ? ret : weft_trace_set(t, "mine", yaml, strlen(yaml));
 *	ret = ret ? ret : weft_trace_start(t, NULL);
 *	while (!ret)
 *		ret = weft_trace_poll(t, -1);
 *	if (ret < 0)
 *		fprintf(stderr, "%s\n", weft_trace_error(t));
 *	weft_trace_stop(t);
 *	weft_trace_close(t);
 *
 * Results. Functions return 0 or a negative errno, unless said otherwise. What went wrong is said
 *by reports (weft_trace_report()), each with a tag that is stable, a sentence and, in a probe set,
 *a place. Each call but those that read reports forgets the reports of the one before it.
 *
 * Threads. A handle is used by one thread at a time, not always the same one. Different handles may
 * be used by different threads at the same time; one that calls weft_trace_plugins() waits for
 * another that does. Nothing is shared between handles but the code of plugins, which stays loaded.
 *
 * Callbacks are called on the thread that is in a function of the handle, only by functions whose
 * comment says so. Inside one, of this handle only weft_trace_symbol(), weft_trace_describe() and
 * what reads reports may be called; others return -EBUSY (TRACE_BUSY). A callback that returns not
 *0 ends the call, which returns that value (-ECANCELED for a positive one).
 *
 * Memory. What a callback is given lives until it returns; what a function returns as a pointer to
 * const, until the next call with the handle, unless said otherwise. What a caller hands over is
 * copied, unless said otherwise.
 *
 * The library prints nothing, ends no process, sets no signal handler and keeps no descriptor that
 * survives exec. It forks children of its own for files that it does not trust (and for a target's
 * command) and waits for them by their numbers; see docs/embedding.md.
 *
 * Structs only grow, at the end. The first member of each is struct_size: of those that a caller
 * fills in, its sizeof, so that the library reads no further, and refuses what it does not know
 * unless it is zero; of those that the library fills in, the library's. Structs in an array lie as
 * far apart as the size beside the array says: weft_trace_at(). Fill in a struct with
 * { .struct_size = sizeof(...) } and what else is wanted: zero is each member's default.
 */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_API __attribute__((visibility("default")))

/* ---- versions ---- */

/* Of this header. While the first is 0, programs are to be built anew for each second. */
#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0
#define WEFT_VERSION_OF(major, minor, patch) \
	(((uint32_t)(major) << 16) | ((uint32_t)(minor) << 8) | (uint32_t)(patch))
#define WEFT_VERSION WEFT_VERSION_OF(WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR, WEFT_VERSION_PATCH)

/* Of the library that runs: as WEFT_VERSION, as text, and the provider ABI (major << 16 | minor). */
WEFT_API uint32_t weft_version(void);
WEFT_API const char *weft_version_text(void);
WEFT_API uint32_t weft_version_provider_abi(void);

/* Element i of an array whose elements lie `size` bytes apart, as in
 * (const struct weft_trace_field *)weft_trace_at(r->fields, r->field_size, i). */
static inline const void *weft_trace_at(const void *array, size_t size, size_t i)
{
	return (const char *)array + size * i;
}

/* ---- values ---- */

/* One frame of a stack, or an address that a clause asked the symbol of. */
struct weft_trace_frame {
	uint32_t struct_size;
	uint32_t is_user; /* an address of user space, else the kernel's */
	uint64_t address;
	const char *symbol; /* NULL: unknown */
	uint64_t offset;    /* from the symbol's start; without a symbol but with a module of user
			     * space:    the address as linked, or failing that the offset in the file    */
	const char *module; /* a file's path, "vmlinux" or a kernel module; NULL: unknown */
	const char *file;   /* of the source code, as the compiler noted it; NULL: unknown, or not
			     * asked for (WEFT_TRACE_LINES) */
	uint32_t line;
	uint32_t reserved;
};

struct weft_trace_register {
	uint32_t struct_size;
	uint32_t reserved;
	const char *name;
	uint64_t value;
};

enum weft_trace_kind {
	WEFT_TRACE_INT = 1,     /* i; of `size` bytes where it was read */
	WEFT_TRACE_UINT = 2,    /* u; likewise */
	WEFT_TRACE_POINTER = 3, /* u: an address */
	WEFT_TRACE_ENUM = 4,    /* i, and its constant's name in text, or NULL if it has none */
	WEFT_TRACE_STRING = 5, /* text, length: bytes as they were; no NUL is promised behind them */
	WEFT_TRACE_BYTES = 6,  /* text, length: any bytes; likewise */
	WEFT_TRACE_STACK = 7,  /* frames, innermost first; n; frame_size */
	WEFT_TRACE_SYMBOL = 8,     /* frames[0] */
	WEFT_TRACE_INET = 9,       /* text, length: 4 or 16 bytes in network order */
	WEFT_TRACE_REGISTERS = 10, /* registers; n; register_size */
};

/* A value. Only members that its kind names are set, the others are 0. */
struct weft_trace_value {
	uint32_t struct_size;
	uint32_t kind; /* enum weft_trace_kind; later versions may have more */
	uint32_t size;
	uint32_t n;
	int64_t i;
	uint64_t u;
	const char *text;
	size_t length;
	const struct weft_trace_frame *frames;
	const struct weft_trace_register *registers;
	uint32_t frame_size, register_size;
	uint64_t reserved[2]; /* it lies inside other structs, and cannot grow there */
};

/* A value with a name: a record's field, a row's key. */
struct weft_trace_field {
	uint32_t struct_size;
	uint32_t reserved;
	const char *name;
	struct weft_trace_value value;
};

/* ---- what comes out ---- */

/* What emit or printf made. */
struct weft_trace_record {
	uint32_t struct_size;
	uint32_t cpu;
	uint64_t time_ns;                      /* CLOCK_MONOTONIC; records come in its order */
	const char *probe;                     /* "provider:module:function:name"; "begin", "end" */
	const char *text;                      /* printf: the text it makes; emit: NULL */
	size_t length;                         /* of text, in bytes */
	const struct weft_trace_field *fields; /* emit: as named; printf: its arguments */
	uint32_t n_fields, field_size;
};

/* from inclusive, to exclusive. */
struct weft_trace_bucket {
	uint32_t struct_size;
	uint32_t flags;   /* WEFT_TRACE_BUCKET_* */
	int64_t from, to; /* the bits of uint64_t with WEFT_TRACE_BUCKET_UNSIGNED */
	uint64_t count;
};
#define WEFT_TRACE_BUCKET_UNSIGNED 1u
#define WEFT_TRACE_BUCKET_NO_UPPER 2u /* the greatest of the type belongs to it: `to` is that */
#define WEFT_TRACE_BUCKET_NO_LOWER 4u /* nothing bounds it below: `from` is the least of the type */

struct weft_trace_row {
	uint32_t struct_size;
	uint32_t n_keys;
	const struct weft_trace_field *keys;
	uint32_t key_size;
	uint32_t is_signed; /* min, max, sum, avg, stddev: of values that have a sign */
	uint64_t count;     /* count, avg, stddev: firings; histograms: those in all buckets */
	/* min, max: low, int64_t's bits if is_signed. sum, avg, stddev: the sum, of 128 bits, high
	 * and low; high is the sign alone unless it does not fit 64 bits. Never scaled. */
	uint64_t low;
	int64_t high;
	/* What is shown, divided and per time as the set asks: count, sum, min, max as they are,
	 * the average, the standard deviation. Histograms: 0. */
	double value;
	double average;                          /* avg, stddev; scaled likewise */
	const struct weft_trace_bucket *buckets; /* histograms: ascending, empty ones left out */
	uint32_t n_buckets, bucket_size;
};

struct weft_trace_aggregation {
	uint32_t struct_size;
	uint32_t row_size;
	const char *name;
	const char *kind; /* "count" "sum" "avg" "min" "max" "stddev" "quantize" ... */
	const char *unit; /* or NULL */
	const struct weft_trace_row *rows; /* in the order that the set asks for */
	size_t n_rows;
	size_t n_left_out;           /* further rows, which `top` cut off */
	uint64_t divide;             /* values by this, or 0 */
	uint64_t per_ns, elapsed_ns; /* values become so many in per_ns of elapsed_ns, or 0 */
};

enum weft_trace_loss_kind {
	WEFT_TRACE_LOST = 1,    /* something that should have come out did not */
	WEFT_TRACE_FAULT = 2,   /* a value could not be had: that firing's clause ended there */
	WEFT_TRACE_SKIPPED = 3, /* the set asks for it (`limit`, `every`): no loss */
};

struct weft_trace_loss {
	uint32_t struct_size;
	uint32_t kind;       /* enum weft_trace_loss_kind */
	const char *tag;     /* docs/reference/losses.md; or a provider's own */
	const char *meaning; /* a sentence */
	uint64_t count;
	const char *where; /* "mine:12:9: arg0 / arg1", or a program's or provider's name; or NULL */
	const char *remedy; /* or NULL */
};

/* ---- the handle ---- */

struct weft_trace;

#define WEFT_TRACE_DESTRUCTIVE 1u /* allow actions that change the system */
#define WEFT_TRACE_EXPLAIN     2u /* keep what weft_trace_explain() shows */
#define WEFT_TRACE_LINES       4u /* frames of user space have the line of source code, if known */

enum weft_trace_level { WEFT_TRACE_DEBUG = 0, WEFT_TRACE_INFO = 1, WEFT_TRACE_WARNING = 2 };

struct weft_trace_options {
	uint32_t struct_size;
	uint32_t flags; /* WEFT_TRACE_DESTRUCTIVE | WEFT_TRACE_EXPLAIN | WEFT_TRACE_LINES */
	void *arg;      /* the first argument of the functions below, each of which may be NULL */
	/* By poll, run and stop. */
	int (*record)(void *arg, const struct weft_trace_record *record);
	int (*aggregation)(void *arg, const struct weft_trace_aggregation *aggregation);
	int (*loss)(void *arg, const struct weft_trace_loss *loss);
	/* By any function: what is said about the run. source: "weft" or a provider's name. */
	void (*log)(void *arg, int level, const char *source, const char *text);
};

/* On failure too *out is a handle, for the report and to be closed, or NULL if there is no memory.
 * options may be NULL. Tags: TRACE_OPTIONS. */
WEFT_API int weft_trace_open(const struct weft_trace_options *options, struct weft_trace **out);

/* Detaches what is attached, without results, and frees everything. NULL is nothing. -EBUSY inside
 * a callback. */
WEFT_API int weft_trace_close(struct weft_trace *t);

/* ---- reports ---- */

struct weft_trace_report {
	uint32_t struct_size;
	int32_t code; /* a negative errno */
	const char *tag;
	const char *text;
	const char *file;       /* the probe set, as it was named; or NULL */
	uint32_t line, column;  /* from 1, columns in bytes; 0: none */
	const char *suggestion; /* the nearest right name, or NULL */
	uint32_t n_causes;      /* weft_trace_cause() */
	uint32_t reserved;
};

/* Of the last call, in the order in which they were found; calls that succeeded have none. For NULL
 * there is one, TRACE_NULL. NULL: no such report. */
WEFT_API size_t weft_trace_n_reports(const struct weft_trace *t);
WEFT_API const struct weft_trace_report *weft_trace_report(struct weft_trace *t, size_t i);
/* What report i was met in, from the inside out. */
WEFT_API const char *weft_trace_cause(const struct weft_trace *t, size_t i, size_t k);
/* The first report as a line: "mine:4:27: struct task_struct has no member `tgd` [MEMBER_UNKNOWN]". */
WEFT_API const char *weft_trace_error(struct weft_trace *t);

/* ---- plugins ---- */

struct weft_trace_plugin {
	uint32_t struct_size;
	uint32_t is_usable;
	const char *path;
	const char *name;     /* the provider's; NULL: not found out */
	const char *summary;  /* or NULL */
	uint32_t abi_version; /* as it was built; 0: unknown */
	uint32_t reserved;
	const char *tag;  /* not usable: why; else NULL */
	const char *text; /* likewise, a sentence */
};

/* Loads the providers of a folder; NULL: of those that come with the library. May be called again
 * for further folders, before the set is prepared (TRACE_STATE). A plugin that cannot be used is no
 * error. Tags: PLUGIN_DIR. */
WEFT_API int weft_trace_plugins(struct weft_trace *t, const char *dir);
WEFT_API size_t weft_trace_n_plugins(const struct weft_trace *t);
/* Its pointers live as long as the handle. NULL: no such plugin. */
WEFT_API const struct weft_trace_plugin *weft_trace_plugin(struct weft_trace *t, size_t i);

/* ---- privileges ---- */

#define WEFT_TRACE_REQUIRED 1u /* nothing works without it; else something does not */
#define WEFT_TRACE_IN_USE   2u /* of weft itself, or of a provider that the set or a list asked */

/* A capability, and what it is good for. */
struct weft_trace_capability {
	uint32_t struct_size;
	uint32_t capability; /* its number, CAP_* of linux/capability.h */
	uint32_t flags;      /* WEFT_TRACE_REQUIRED | WEFT_TRACE_IN_USE */
	uint32_t reserved;
	const char *provider; /* NULL: weft itself */
	const char *what_for;
};

/* Those that weft and the loaded providers can use, one by one; NULL: no more. A program that gives
 * up privileges once a run has started keeps those that are in use. */
WEFT_API const struct weft_trace_capability *weft_trace_capability(struct weft_trace *t, size_t i);

/* ---- probes ---- */

struct weft_trace_probe {
	uint32_t struct_size;
	uint32_t reserved;
	const char *text; /* "provider:module:function:name" */
	size_t length;
	const char *provider, *module, *function, *name;
	const void *handle; /* for weft_trace_describe() */
};

/* Calls fn for each probe that the pattern matches: provider:module:function:name with fields empty
 * or globs, or a provider's name alone; NULL: all. Tags: PATTERN_*, PROBE_NO_*, providers' own. */
WEFT_API int weft_trace_list(struct weft_trace *t, const char *pattern,
			     int (*fn)(void *arg, const struct weft_trace_probe *probe), void *arg);

struct weft_trace_argument {
	uint32_t struct_size;
	uint32_t reserved;
	const char *name;       /* or NULL: it is argN only */
	const char *type;       /* as a person writes it */
	const char *unreadable; /* why it cannot be read, or NULL */
};

/* Some sites of a probe, whose arguments lie in the same places. */
struct weft_trace_layout {
	uint32_t struct_size;
	uint32_t n_sites;
	const char *text; /* the places, or NULL */
	const struct weft_trace_argument *arguments;
	uint32_t n_arguments, argument_size;
};

struct weft_trace_details {
	uint32_t struct_size;
	uint32_t has_elapsed;  /* a return that is paired with its entry */
	const char *prototype; /* or NULL */
	const char *note;      /* where the probe is and how, or NULL */
	const char *retval;    /* the type of the value returned, or NULL */
	const struct weft_trace_argument *arguments;
	uint32_t n_arguments, argument_size;
	const struct weft_trace_layout *layouts; /* of a probe whose sites differ; arguments are the
						  * first one's */
	uint32_t n_layouts, layout_size;
};

/* Inside weft_trace_list()'s fn: what there is to know of a probe, until fn returns or calls this
 * again. Tags: providers' own. */
WEFT_API int weft_trace_describe(struct weft_trace *t, const struct weft_trace_probe *probe,
				 const struct weft_trace_details **out);

/* What this kernel allows, found out by trying ("kernel"), and what each provider makes of it
 * ("providers"): row() for each line. */
WEFT_API int weft_trace_info(struct weft_trace *t,
			     int (*row)(void *arg, const char *group, const char *what,
					const char *value),
			     void *arg);

/* ---- the probe set ---- */

/* Reads a probe set (YAML). `name` stands in messages where a file's would. The set before it, if there
 * is one, is forgotten; TRACE_STATE while it runs. Tags: CONFIG_*, ACTION_*, PATTERN_*, ... */
WEFT_API int weft_trace_set(struct weft_trace *t, const char *name, const char *yaml, size_t size);
WEFT_API int weft_trace_set_file(struct weft_trace *t, const char *path);

struct weft_trace_param {
	uint32_t struct_size;
	uint32_t reserved;
	const char *name;
	const char *value; /* as written */
};

struct weft_trace_set_info {
	uint32_t struct_size;
	uint32_t n_clauses;
	const char *name, *description; /* or NULL */
	const struct weft_trace_param *params;
	uint32_t n_params, param_size;
};

/* NULL: no set. */
WEFT_API const struct weft_trace_set_info *weft_trace_set_info(struct weft_trace *t);

/* Sets a parameter of the set. Tags: PARAM_UNKNOWN. */
WEFT_API int weft_trace_param(struct weft_trace *t, const char *name, const char *value);

#define WEFT_TRACE_FOLLOW 1u /* and all that the targets start */

struct weft_trace_target {
	uint32_t struct_size;
	uint32_t flags; /* WEFT_TRACE_FOLLOW */
	const int32_t *pids;
	size_t n_pids;
	const char *const *command; /* a program to start, as execvp() takes it; or NULL */
};

/* The processes that it is about, instead of the set's; with neither pids nor a command: the set's.
 * Before the set is prepared, or for weft_trace_list(). Tags: TARGET_*, by those. */
WEFT_API int weft_trace_target(struct weft_trace *t, const struct weft_trace_target *target);

/* Everything short of the kernel: finds probes, types and compiles the clauses. Needs no
 * privileges. weft_trace_start() does it where it was not done. Reports all errors. */
WEFT_API int weft_trace_prepare(struct weft_trace *t);

struct weft_trace_counts {
	uint32_t struct_size;
	uint32_t n_clauses;
	size_t n_probes, n_programs;
	uint64_t map_bytes; /* of kernel memory, while it runs */
};

/* NULL: not prepared. */
WEFT_API const struct weft_trace_counts *weft_trace_counts(struct weft_trace *t);

/* ---- running ---- */

#define WEFT_TRACE_STOP_FD 1u /* stop_fd counts */

struct weft_trace_run_options {
	uint32_t struct_size;
	uint32_t flags;       /* WEFT_TRACE_STOP_FD */
	uint64_t duration_ns; /* the run is over after this; 0: no limit */
	int32_t stop_fd; /* the run is over once this is readable; stays the caller's, open until stop */
	uint32_t reserved;
};

/* Creates maps, loads programs, runs `begin`, attaches everything, starts the command. On failure
 * nothing stays behind. options may be NULL. */
WEFT_API int weft_trace_start(struct weft_trace *t, const struct weft_trace_run_options *options);

/* What the verifier said if start failed since the kernel rejected a program, or NULL. */
WEFT_API const char *weft_trace_verifier_log(const struct weft_trace *t);

/* Waits at most timeout_ms (-1: without limit; 0: not at all) for something to do, and does it.
 * Calls back. Returns 0: it runs; 1: it is over (duration, targets have ended, an exit action,
 * stop_fd): stop it; or -errno. */
WEFT_API int weft_trace_poll(struct weft_trace *t, int timeout_ms);

/* For a loop of the caller's own: readable whenever poll is to be called (with 0). -errno if it is
 * not running. It is the library's, and closed by stop. */
WEFT_API int weft_trace_fd(struct weft_trace *t);

/* Polls until it is over. 0 or -errno. */
WEFT_API int weft_trace_run(struct weft_trace *t);

/* Detaches, runs `end`, and calls back for what remains: records, every aggregation, losses. After
 * a poll or run that failed it still does, and returns what that returned, with its reports. */
WEFT_API int weft_trace_stop(struct weft_trace *t);

struct weft_trace_end {
	uint32_t struct_size;
	int32_t status;     /* 0, an exit action's status, 3: something was lost, 1: failed */
	const char *reason; /* duration target exit signal (stop_fd) stop (called before it was
			     * over) error */
};

/* How it ended; NULL: it was not stopped. */
WEFT_API const struct weft_trace_end *weft_trace_end(struct weft_trace *t);

/* While it runs: calls fn for the aggregation of that name, or for all with NULL, as they are now.
 * Tags: AGGREGATION_UNKNOWN. */
WEFT_API int weft_trace_read(struct weft_trace *t, const char *name,
			     int (*fn)(void *arg, const struct weft_trace_aggregation *aggregation),
			     void *arg);

/* While it runs: calls fn for each loss counted so far. Some are known only at the end. */
WEFT_API int weft_trace_losses(struct weft_trace *t,
			       int (*fn)(void *arg, const struct weft_trace_loss *loss), void *arg);

/* Once it was started: what an address belongs to, in the process pid or, with 0, the kernel, as it
 * was at time_ns (CLOCK_MONOTONIC; 0: now). What is unknown is NULL in *out. Its texts live as long
 * as the set. */
WEFT_API int weft_trace_symbol(struct weft_trace *t, int32_t pid, uint64_t time_ns,
			       uint64_t address, const struct weft_trace_frame **out);

/* ---- as text ---- */

/* Takes n bytes; 0 or -errno. */
typedef int weft_trace_write(void *arg, const char *bytes, size_t n);

#define WEFT_TRACE_COLOR 1u

struct weft_trace_output {
	uint32_t struct_size;
	uint32_t flags;     /* WEFT_TRACE_COLOR */
	const char *format; /* "text", "json" or "folded": docs/output.md */
	uint32_t width;     /* columns of the terminal; 0: unknown */
	uint32_t reserved;
	void *arg;
	weft_trace_write *results;  /* by poll, run and stop */
	weft_trace_write *messages; /* losses and the end, but of json; NULL: nowhere */
};

/* Results as trace-cli prints them, beside the callbacks. Before start. Tags: OUTPUT_FORMAT. */
WEFT_API int weft_trace_output(struct weft_trace *t, const struct weft_trace_output *output);

/* The prepared programs: typed clauses and annotated BPF. Needs WEFT_TRACE_EXPLAIN. */
WEFT_API int weft_trace_explain(struct weft_trace *t, weft_trace_write *write, void *arg);

enum weft_trace_page {
	WEFT_TRACE_JSON_SCHEMA = 1, /* of probe sets, with the options of the providers loaded */
	WEFT_TRACE_REFERENCE = 2,   /* the same as a page in Markdown */
};
WEFT_API int weft_trace_page(struct weft_trace *t, int page, weft_trace_write *write, void *arg);

/* ---- what comes along ---- */

/* The path of a probe set by what a user calls it: a path, or the bare name of one that comes
 * along. Tags: SET_UNKNOWN. -ENAMETOOLONG. */
WEFT_API int weft_trace_find_set(struct weft_trace *t, const char *name, char *path, size_t size);
/* Calls fn for each probe set that comes along. Tags: SETS_DIR. */
WEFT_API int weft_trace_sets(struct weft_trace *t,
			     int (*fn)(void *arg, const char *name, const char *path), void *arg);

/* ---- helpers that need no handle ---- */

/* The nearest of n candidates to a misspelt word, or NULL if none is near. */
WEFT_API const char *weft_trace_nearest(const char *word, const char *const *candidates, size_t n);
/* Whether this thread is in a plugin's code, 1 or 0, and then which provider's, and in which of its
 * functions: for a handler of signals, that says whose crash it is. The texts are good until the
 * handler returns. */
WEFT_API int weft_trace_in_plugin(const char **provider, const char **slot);
/* "500ms", "10s", "5m". 0, -EINVAL or -ERANGE. */
WEFT_API int weft_trace_duration(const char *text, uint64_t *ns);
/* Text that strangers chose made fit for a terminal: controls, marks that turn the direction of
 * writing and what is not UTF-8 become \xNN. Like snprintf(): what it would take, and cut to size. */
WEFT_API size_t weft_trace_printable(const char *text, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif
