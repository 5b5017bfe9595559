/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The loop of a running session: one epoll set over records, process events, discovered probes, the
 * ends of targets, timers and the caller's stop descriptor. One thread, so that providers need no
 * locks.
 *
 * Some of what is to be done is due at a time and not at an event. A caller that lets poll() wait
 * need not know: it waits no longer than that. One that has a loop of its own waits for the epoll
 * set to be readable, and so there is a timer in it then, the nudge, set anew with each poll.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/session/internal.h"

#define SETTLE_MS 10 /* records are held back until a later drain proves their order */
#define TARGETS_MS \
	100 /* how often the count of followed processes is looked at once the first ended */

enum source {
	SOURCE_RECORDS,
	SOURCE_PROCESSES,
	SOURCE_DISCOVER,
	SOURCE_TARGET,
	SOURCE_DURATION,
	SOURCE_INTERVAL,
	SOURCE_STOP,
	SOURCE_NUDGE
};

struct weft_loop {
	struct weft_session *s;
	struct weft_run_options options;
	struct weft_end end;
	int epoll, duration, interval;
	int nudge; /* -1: nobody waits for the epoll set */
	bool done;
	bool settling;
	uint64_t settle_ns; /* when: by weft_now() */
	bool snapshots;     /* processes whose mappings are still to be read */
	size_t n_running;   /* targets that have not ended */
};

static int add(struct weft_loop *l, int fd, enum source source, size_t index, struct weft_error *err)
{
	struct epoll_event e = {.events = EPOLLIN,
				.data.u64 = (uint64_t)source << 32 | (uint32_t)index};

	if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e))
		return weft_fail(err, -errno, "RUN", "epoll_ctl: %s", strerror(errno));
	return 0;
}

static int add_timer(struct weft_loop *l, uint64_t ns, bool repeat, enum source source, int *fd,
		     struct weft_error *err)
{
	struct itimerspec t = {.it_value = {.tv_sec = (time_t)(ns / 1000000000u),
					    .tv_nsec = (long)(ns % 1000000000u)}};

	if (!ns)
		return 0;
	if (repeat)
		t.it_interval = t.it_value;
	*fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (*fd < 0 || timerfd_settime(*fd, 0, &t, NULL))
		return weft_fail(err, -errno, "RUN", "timer: %s", strerror(errno));
	return add(l, *fd, source, 0, err);
}

static int watch(struct weft_loop *l, struct weft_error *err)
{
	struct weft_session *s = l->s;
	size_t i;
	int ret;

	ret = add(l, weft_consumer_fd(s->consumer), SOURCE_RECORDS, 0, err);
	if (!ret && s->procwatch)
		ret = add(l, weft_procwatch_fd(s->procwatch), SOURCE_PROCESSES, 0, err);
	/* Such a descriptor says once that there is something, and adding it has asked: a buffer
	 * that is full by now would never be read. */
	if (!ret)
		weft_session_poll_processes(s);
	for (i = 0; !ret && i < s->n_providers; i++)
		if (s->providers[i].discover_fd >= 0)
			ret = add(l, s->providers[i].discover_fd, SOURCE_DISCOVER, i, err);
	for (i = 0; !ret && i < s->n_pidfds; i++)
		ret = add(l, s->pidfds[i], SOURCE_TARGET, i, err);
	l->n_running = s->n_pidfds;
	if (!ret && l->options.stop_fd >= 0)
		ret = add(l, l->options.stop_fd, SOURCE_STOP, 0, err);
	if (!ret)
		ret = add_timer(l, l->options.duration_ns, false, SOURCE_DURATION, &l->duration,
				err);
	if (!ret)
		ret = add_timer(l, s->set->options.interval, true, SOURCE_INTERVAL, &l->interval,
				err);
	return ret;
}

static void finish(struct weft_loop *l, const char *reason, int status)
{
	if (l->done)
		return;
	l->done = true;
	l->end.reason = reason;
	l->end.status = status;
}

static void on_process_event(const struct weft_process_event *event, void *arg)
{
	struct weft_session *s = arg;
	size_t i;

	weft_symbols_event(s->symbols, event);
	for (i = 0; i < s->n_providers; i++)
		if (s->providers[i].process_event)
			weft_slot_process_event(&s->providers[i], event);
}

void weft_session_poll_processes(struct weft_session *s)
{
	if (s->procwatch)
		weft_procwatch_poll(s->procwatch, on_process_event, s, &s->process_events_lost);
}

/* A reader at the other end of a pipe sees what there is as soon as there is no more of it. */
static int flush(struct weft_session *s, struct weft_error *err)
{
	int ret = s->sink.flush ? s->sink.flush(s->sink.self) : 0;

	if (ret)
		weft_fail(err, ret, "OUTPUT_WRITE", "results cannot be written: %s", strerror(-ret));
	return ret;
}

static int poll_records(struct weft_loop *l, struct weft_error *err)
{
	struct weft_session *s = l->s;
	bool exiting = false;
	int ret;

	/* Stacks in records are symbolised as they come out: their processes must be known by then. */
	weft_session_poll_processes(s);
	ret = weft_consumer_poll(s->consumer, true, &exiting, err);
	if (exiting) {
		struct weft_control *control = s->maps.state;

		finish(l, "exit", (int)control->exit_status);
	}
	return ret ? ret : flush(s, err);
}

static void on_target_end(struct weft_loop *l, size_t i)
{
	struct weft_session *s = l->s;

	epoll_ctl(l->epoll, EPOLL_CTL_DEL, s->pidfds[i], NULL);
	l->n_running--;
	if (!l->n_running && !s->target.follow)
		finish(l, "target", 0);
}

static void drain_timer(int fd)
{
	uint64_t n;

	if (read(fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
		return;
}

static int dispatch(struct weft_loop *l, const struct epoll_event *e, struct weft_error *err)
{
	size_t index = (uint32_t)e->data.u64;
	struct weft_session *s = l->s;
	int ret = 0;

	switch ((enum source)(e->data.u64 >> 32)) {
	case SOURCE_RECORDS:
		ret = poll_records(l, err);
		l->settling = true;
		l->settle_ns = weft_now() + SETTLE_MS * UINT64_C(1000000);
		break;
	case SOURCE_PROCESSES:
		weft_session_poll_processes(s);
		break;
	case SOURCE_DISCOVER:
		weft_session_discover(s, &s->providers[index]);
		break;
	case SOURCE_TARGET:
		on_target_end(l, index);
		break;
	case SOURCE_DURATION:
		finish(l, "duration", 0);
		break;
	case SOURCE_INTERVAL:
		drain_timer(l->interval);
		ret = poll_records(l, err);
		if (!ret)
			ret = weft_consumer_show(s->consumer, NULL, 0, true, err);
		if (!ret)
			ret = flush(s, err);
		break;
	case SOURCE_STOP:
		finish(l, "signal", 0);
		break;
	case SOURCE_NUDGE:
		drain_timer(l->nudge);
		break;
	}
	return ret;
}

static bool followed_all_ended(const struct weft_loop *l)
{
	const struct weft_control *control = l->s->maps.state;

	return l->s->n_pidfds && !l->n_running && l->s->target.follow &&
	       !__atomic_load_n(&control->live_targets, __ATOMIC_RELAXED);
}

/* Until when there is something to do without an event, in ms; -1: never. */
static int due_in(const struct weft_loop *l)
{
	uint64_t now;

	if (l->snapshots)
		return 0;
	if (l->settling) {
		now = weft_now();
		return l->settle_ns <= now ? 0 : (int)((l->settle_ns - now + 999999) / 1000000);
	}
	return l->s->n_pidfds && !l->n_running ? TARGETS_MS : -1;
}

static int set_nudge(const struct weft_loop *l)
{
	int due = due_in(l);
	struct itimerspec t = {0};

	if (l->nudge < 0)
		return 0;
	if (l->done || !due)
		t.it_value.tv_nsec = 1; /* at once, and until somebody looks */
	else if (due > 0)
		t.it_value.tv_nsec = (long)due * 1000000; /* less than a second */
	return timerfd_settime(l->nudge, 0, &t, NULL) ? -errno : 0;
}

static int step(struct weft_loop *l, int timeout, struct weft_error *err)
{
	struct epoll_event events[16];
	bool records = false;
	int due = due_in(l), ret = 0, n, i;

	if (due >= 0 && (timeout < 0 || due < timeout))
		timeout = due;
	n = epoll_wait(l->epoll, events, 16, timeout);
	if (n < 0 && errno != EINTR)
		return weft_fail(err, -errno, "RUN", "epoll_wait: %s", strerror(errno));
	for (i = 0; i < n && !ret; i++) {
		ret = dispatch(l, &events[i], err);
		records |= events[i].data.u64 >> 32 == SOURCE_RECORDS;
	}
	if (!ret && !records && l->settling && l->settle_ns <= weft_now()) {
		l->settling = false;
		ret = poll_records(l, err);
	}
	if (l->snapshots)
		l->snapshots = weft_snapshot_step(l->s);
	if (followed_all_ended(l))
		finish(l, "target", 0);
	return ret;
}

void weft_session_close_loop(struct weft_session *s)
{
	struct weft_loop *l = s->loop;

	if (!l)
		return;
	if (l->duration >= 0)
		close(l->duration);
	if (l->interval >= 0)
		close(l->interval);
	if (l->nudge >= 0)
		close(l->nudge);
	if (l->epoll >= 0)
		close(l->epoll);
	free(l);
	s->loop = NULL;
}

int weft_session_open_loop(struct weft_session *s, const struct weft_run_options *options,
			   struct weft_error *err)
{
	struct weft_loop *l;
	int ret;

	if (s->state != WEFT_SESSION_RUNNING || s->loop)
		return weft_fail(err, -EINVAL, "SESSION_STATE",
				 s->loop ? "the session runs already"
					 : "the session was not started");
	l = calloc(1, sizeof(*l));
	if (!l)
		return weft_nomem(err);
	*l = (struct weft_loop){
		.s = s,
		.options = *options,
		.end = {.reason = "error", .status = 1},
		.epoll = epoll_create1(EPOLL_CLOEXEC),
		.duration = -1,
		.interval = -1,
		.nudge = -1,
		.snapshots = s->plan->uses_ustack,
	};
	s->loop = l;
	if (l->epoll < 0)
		ret = weft_fail(err, -errno, "RUN", "epoll: %s", strerror(errno));
	else
		ret = watch(l, err);
	if (ret)
		weft_session_close_loop(s);
	return ret;
}

int weft_session_poll(struct weft_session *s, int timeout_ms, bool *over, struct weft_end *end,
		      struct weft_error *err)
{
	struct weft_loop *l = s->loop;
	int ret = 0, set;

	if (!l)
		return weft_fail(err, -EINVAL, "SESSION_STATE", "the session was not started");
	if (!l->done)
		ret = step(l, timeout_ms, err);
	set = set_nudge(l);
	if (!ret && set)
		ret = weft_fail(err, set, "RUN", "timer: %s", strerror(-set));
	*over = l->done;
	*end = l->end;
	return ret;
}

int weft_session_fd(struct weft_session *s, struct weft_error *err)
{
	struct weft_loop *l = s->loop;
	int ret = 0;

	if (!l)
		return weft_fail(err, -EINVAL, "SESSION_STATE", "the session was not started");
	if (l->nudge < 0) {
		l->nudge = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
		ret = l->nudge < 0 ? -errno : set_nudge(l);
		if (ret)
			return weft_fail(err, ret, "RUN", "timer: %s", strerror(-ret));
		ret = add(l, l->nudge, SOURCE_NUDGE, 0, err);
	}
	return ret ? ret : l->epoll;
}

int weft_session_run(struct weft_session *s, const struct weft_run_options *options,
		     struct weft_end *end, struct weft_error *err)
{
	bool over = false;
	int ret;

	end->reason = "error";
	end->status = 1;
	ret = weft_session_open_loop(s, options, err);
	while (!ret && !over)
		ret = weft_session_poll(s, -1, &over, end, err);
	weft_session_close_loop(s);
	return ret;
}

/* ---- looking while it runs ---- */

int weft_session_show(struct weft_session *s, const char *const *names, size_t n,
		      struct weft_error *err)
{
	if (s->state != WEFT_SESSION_RUNNING)
		return weft_fail(err, -EINVAL, "SESSION_STATE", "the session was not started");
	/* Stacks are named by the mappings that their processes had. */
	weft_session_poll_processes(s);
	return weft_consumer_show(s->consumer, names, n, true, err);
}

struct weft_symbols *weft_session_symbols(struct weft_session *s)
{
	return s->symbols;
}
