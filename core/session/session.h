/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A tracing session: providers, the probes they know, and the life of one probe set from matching
 * to detaching. The session drives everything else in the core; it knows no kind of probe and
 * prints nothing.
 *
 *   create -> find / describe / mechanism             looking at probes
 *          -> prepare                                 match, type, compile: no privileges needed
 *          -> start -> run -> stop                    the kernel is touched from start to stop
 *          -> destroy                                 stops what still runs
 */
#ifndef WEFT_SESSION_H
#define WEFT_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/plan.h"
#include "core/registry.h"
#include "core/set.h"
#include "core/value.h"
#include "weft/provider.h"

struct weft_session;

struct weft_session_env {
	/* Validated providers; borrowed, must outlive the session. */
	const struct weft_provider *const *providers;
	size_t n_providers;
	/* What is said about the run; source is a provider's name or "weft". May be NULL. */
	void (*log)(void *arg, enum weft_log_level level, const char *source, const char *text);
	void *log_arg;
	bool explain;     /* keep what weft_plan_explain() shows */
	bool destructive; /* actions that change the system are allowed */
	bool lines;       /* frames of user space have the line of source code, where it is known */
};

int weft_session_create(const struct weft_session_env *env, struct weft_session **out,
			struct weft_error *err);
void weft_session_destroy(struct weft_session *s);

/* Whether this thread is in a slot of a plugin, and which: for who handles a crash, since it may be
 * asked in a signal handler. The texts are good as long as that is so. */
bool weft_session_inside(const char **provider, const char **slot);

/* ---- looking ---- */

/* Restricts the session to processes before anything is opened (list -p). pids are copied. */
int weft_session_set_target(struct weft_session *s, const int32_t *pids, size_t n_pids, bool follow,
			    struct weft_error *err);

/* Calls fn for every probe that the pattern matches, asking providers for what they have not said
 * yet. No match: PROBE_NO_* (registry.h) or the provider's own reason. */
int weft_session_find(struct weft_session *s, const struct weft_pattern *pattern,
		      int (*fn)(const struct weft_probe *probe, void *arg), void *arg,
		      struct weft_error *err);

/* What a program needs to know of a probe: the core's validated copy, alive as long as the session.
 * A probe whose sites differ has layouts too, of which *out is the first; else *n_layouts is 0. */
int weft_session_describe(struct weft_session *s, const struct weft_probe *probe,
			  const struct weft_probe_info **out, const struct weft_layout **layouts,
			  uint32_t *n_layouts, struct weft_error *err);

/* What the provider says of where the probe is and how, or NULL; borrowed until the next call. */
int weft_session_note(struct weft_session *s, const struct weft_probe *probe, const char **out,
		      struct weft_error *err);

/* One line of how the provider gets its events on this kernel; borrowed until the next call. */
int weft_session_mechanism(struct weft_session *s, const char *provider, const char **out,
			   struct weft_error *err);

/* Whether the i-th provider of the environment has been opened, that is, is in use. */
bool weft_session_uses(const struct weft_session *s, size_t i);

/* ---- a probe set ---- */

/* Matches, types and compiles; reports every error found. The set is borrowed until destroy. */
int weft_session_prepare(struct weft_session *s, struct weft_set *set, struct weft_error *err);

/* The result of prepare, for explain: programs and how many probes each serves. */
const struct weft_plan *weft_session_plan(const struct weft_session *s);
size_t weft_session_n_programs(const struct weft_session *s);
const struct weft_program *weft_session_program(const struct weft_session *s, size_t i,
						const struct weft_probe **first, size_t *n_probes);
/* Those of the lists; NULL: the set has none. */
const struct weft_program *weft_session_begin(const struct weft_session *s);
const struct weft_program *weft_session_end(const struct weft_session *s);
size_t weft_session_n_probes(const struct weft_session *s);

/* Creates maps, runs `begin`, attaches everything, starts the command. On failure nothing stays
 * behind. *log, where wanted, gets the verifier's log of a rejected program (free with free()). */
int weft_session_start(struct weft_session *s, const struct weft_sink *sink, char **log,
		       struct weft_error *err);

struct weft_run_options {
	uint64_t duration_ns; /* 0: no limit */
	int stop_fd;          /* readable: stop, reason "signal"; -1: none */
};

/* Consumes until the duration is over, the targets have ended, an exit action ran or stop_fd is
 * readable. */
int weft_session_run(struct weft_session *s, const struct weft_run_options *options,
		     struct weft_end *end, struct weft_error *err);

/* The same in steps. poll() waits at most timeout_ms (-1: as long as it takes) for something to do and
 * does it; *over: the run has come to its end, which *end describes. The loop ends with stop(). */
int weft_session_open_loop(struct weft_session *s, const struct weft_run_options *options,
			   struct weft_error *err);
int weft_session_poll(struct weft_session *s, int timeout_ms, bool *over, struct weft_end *end,
		      struct weft_error *err);
void weft_session_close_loop(struct weft_session *s);
/* Readable when there is something to do, for who waits elsewhere; or -errno. Borrowed. */
int weft_session_fd(struct weft_session *s, struct weft_error *err);

/* While it runs: hands the aggregations named (n 0: all) to the sink, and the losses counted so far. */
int weft_session_show(struct weft_session *s, const char *const *names, size_t n,
		      struct weft_error *err);
int weft_session_losses(struct weft_session *s, uint64_t *total, struct weft_error *err);

/* What names are found with, once it was started; NULL before. */
struct weft_symbols *weft_session_symbols(struct weft_session *s);

/* Detaches, runs `end`, writes what remains: records, aggregations, losses, the end. end->status
 * becomes 3 if it was 0 and something was lost. */
int weft_session_stop(struct weft_session *s, struct weft_end *end, struct weft_error *err);

/* Bytes of kernel memory that the session's maps account for. */
uint64_t weft_session_map_memory(const struct weft_session *s);

#endif
