/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A prepared set in the kernel: started, polled, looked at, stopped. */
#include "embed/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/clock.h"
#include "core/symbols/symbols.h"

int weft_trace_start(struct weft_trace *t, const struct weft_trace_run_options *options)
{
	struct weft_run_options run = {.stop_fd = -1};
	struct weft_trace_run_options copy = {0};
	struct weft_sink sink;
	int ret;

	ret = weft_enter(t, "start", WEFT_AT_SET | WEFT_AT_PREPARED);
	if (ret)
		return ret;
	if (options)
		ret = weft_copy_in(t, &copy, sizeof(copy), options, WEFT_TRACE_STOP_FD,
				   "run_options");
	if (!ret && t->state == WEFT_AT_SET)
		ret = weft_prepare(t);
	if (ret)
		return weft_leave(t, ret);
	run.duration_ns = copy.duration_ns;
	if (copy.flags & WEFT_TRACE_STOP_FD)
		run.stop_fd = copy.stop_fd;
	sink = weft_trace_sink(t);
	ret = weft_session_start(t->session, &sink, &t->verifier_log, t->err);
	if (!ret) {
		/* A log may be there of a program that another form of it could replace. */
		free(t->verifier_log);
		t->verifier_log = NULL;
		t->end_state = (struct weft_end){.reason = "stop"};
		ret = weft_session_open_loop(t->session, &run, t->err);
		if (ret) { /* a stop_fd that cannot be waited for */
			weft_session_destroy(t->session);
			t->session = NULL;
		}
	}
	t->state = ret ? WEFT_AT_BROKEN : WEFT_AT_RUNNING;
	return weft_leave(t, ret);
}

const char *weft_trace_verifier_log(const struct weft_trace *t)
{
	return t ? t->verifier_log : NULL;
}

static int poll_once(struct weft_trace *t, int timeout_ms)
{
	struct weft_end end;
	int ret;

	ret = weft_session_poll(t->session, timeout_ms, &t->over, &end, t->err);
	if (ret)
		t->failed = ret;
	if (t->over || ret)
		t->end_state = end;
	return ret;
}

/* A run that has failed goes no further. */
static int enter_running(struct weft_trace *t, const char *what)
{
	int ret;

	if (t && !t->inside && t->state == WEFT_AT_RUNNING && t->failed)
		return t->failed; /* its reports are still there */
	ret = weft_enter(t, what, WEFT_AT_RUNNING);
	return ret;
}

int weft_trace_poll(struct weft_trace *t, int timeout_ms)
{
	int ret;

	ret = enter_running(t, "poll");
	if (ret)
		return ret;
	ret = weft_leave(t, poll_once(t, timeout_ms < 0 ? -1 : timeout_ms));
	return ret ? ret : t->over;
}

int weft_trace_run(struct weft_trace *t)
{
	int ret;

	ret = enter_running(t, "run");
	if (ret)
		return ret;
	while (!ret && !t->over)
		ret = poll_once(t, -1);
	return weft_leave(t, ret);
}

int weft_trace_fd(struct weft_trace *t)
{
	int fd;

	fd = enter_running(t, "fd");
	if (fd)
		return fd;
	fd = weft_session_fd(t->session, t->err);
	weft_leave(t, fd < 0 ? fd : 0);
	return fd;
}

int weft_trace_stop(struct weft_trace *t)
{
	size_t said = 0;
	int ret, failed = 0;

	if (t && !t->inside && t->state == WEFT_AT_RUNNING && t->failed) {
		failed = t->failed;
		said = weft_error_count(t->err);
		t->inside = true;
	} else {
		ret = weft_enter(t, "stop", WEFT_AT_RUNNING);
		if (ret)
			return ret;
	}
	ret = weft_session_stop(t->session, &t->end_state, t->err);
	if (failed) { /* what fails now fails for the reason that the run failed for */
		weft_error_truncate(t->err, said);
		ret = failed;
		if (!t->end_state.status)
			t->end_state.status = 1;
	}
	t->end = (struct weft_trace_end){
		.struct_size = sizeof(t->end),
		.status = t->end_state.status,
		.reason = t->end_state.reason,
	};
	t->state = WEFT_AT_STOPPED;
	return weft_leave(t, ret);
}

const struct weft_trace_end *weft_trace_end(struct weft_trace *t)
{
	return t && t->end.struct_size ? &t->end : NULL;
}

/* ---- looking ---- */

static int check_aggregation(struct weft_trace *t, const char *name)
{
	const struct weft_plan *plan = weft_session_plan(t->session);
	const char **names;
	const char *near;
	size_t i;
	int ret;

	for (i = 0; name && i < plan->n_aggregations; i++)
		if (!strcmp(plan->aggregations[i].name, name))
			return 0;
	if (!name)
		return 0;
	names = calloc(plan->n_aggregations + 1, sizeof(*names));
	if (!names)
		return weft_nomem(t->err);
	for (i = 0; i < plan->n_aggregations; i++)
		names[i] = plan->aggregations[i].name;
	near = weft_nearest(name, names, plan->n_aggregations);
	ret = weft_fail(t->err, -ENOENT, "AGGREGATION_UNKNOWN",
			"the probe set has no aggregation %s", name);
	if (near)
		weft_error_suggest(t->err, near);
	free(names);
	return ret;
}

int weft_trace_read(struct weft_trace *t, const char *name,
		    int (*fn)(void *arg, const struct weft_trace_aggregation *aggregation),
		    void *arg)
{
	int ret;

	ret = enter_running(t, "read");
	if (ret)
		return ret;
	ret = fn ? check_aggregation(t, name) : weft_null(t, "fn");
	if (!ret) {
		t->read = fn;
		t->read_arg = arg;
		ret = weft_session_show(t->session, &name, name ? 1 : 0, t->err);
		t->read = NULL;
	}
	return weft_leave(t, ret);
}

int weft_trace_losses(struct weft_trace *t,
		      int (*fn)(void *arg, const struct weft_trace_loss *loss), void *arg)
{
	uint64_t total;
	int ret;

	ret = enter_running(t, "losses");
	if (ret)
		return ret;
	if (!fn)
		return weft_leave(t, weft_null(t, "fn"));
	t->read_loss = fn;
	t->read_arg = arg;
	ret = weft_session_losses(t->session, &total, t->err);
	t->read_loss = NULL;
	return weft_leave(t, ret);
}

int weft_trace_symbol(struct weft_trace *t, int32_t pid, uint64_t time_ns, uint64_t address,
		      const struct weft_trace_frame **out)
{
	bool nested = t && t->inside;
	struct weft_symbols *symbols;
	struct weft_frame frame = {0};
	int ret = 0;

	if (out)
		*out = NULL;
	if (!nested)
		ret = weft_enter(t, "symbol", WEFT_AT_RUNNING | WEFT_AT_STOPPED);
	if (ret)
		return ret;
	symbols = t->session ? weft_session_symbols(t->session) : NULL;
	if (!out) {
		ret = weft_null(t, "out");
	} else if (!symbols) {
		ret = weft_fail(t->err, -EINVAL, "TRACE_STATE",
				"weft_trace_symbol() cannot be called now: it was not started");
	} else {
		time_ns = time_ns ? time_ns : weft_clock_before();
		if (pid && !weft_symbols_known(symbols, pid))
			weft_symbols_snapshot(symbols, pid, time_ns); /* or it stays unknown */
		if (pid)
			weft_symbols_user(symbols, pid, time_ns, address, false, &frame);
		else
			weft_symbols_kernel(symbols, address, false, &frame);
		weft_frame_out(&frame, &t->frame);
		*out = &t->frame;
	}
	return nested ? ret : weft_leave(t, ret);
}
