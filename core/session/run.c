/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The loop of a running session: one epoll set over records, process events, discovered probes, the ends
 * of targets, timers and the caller's stop descriptor. One thread, so that providers need no locks.
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
	SOURCE_STOP
};

struct loop {
	struct weft_session *s;
	const struct weft_run_options *options;
	struct weft_end *end;
	int epoll, duration, interval;
	bool done;
	bool settling;
	size_t n_running; /* targets that have not ended */
};

static int add(struct loop *l, int fd, enum source source, size_t index, struct weft_error *err)
{
	struct epoll_event e = {.events = EPOLLIN,
				.data.u64 = (uint64_t)source << 32 | (uint32_t)index};

	if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e))
		return weft_fail(err, -errno, "RUN", "epoll_ctl: %s", strerror(errno));
	return 0;
}

static int add_timer(struct loop *l, uint64_t ns, bool repeat, enum source source, int *fd,
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

static int watch(struct loop *l, struct weft_error *err)
{
	struct weft_session *s = l->s;
	size_t i;
	int ret;

	ret = add(l, weft_consumer_fd(s->consumer), SOURCE_RECORDS, 0, err);
	if (!ret && s->procwatch)
		ret = add(l, weft_procwatch_fd(s->procwatch), SOURCE_PROCESSES, 0, err);
	for (i = 0; !ret && i < s->n_providers; i++)
		if (s->providers[i].discover_fd >= 0)
			ret = add(l, s->providers[i].discover_fd, SOURCE_DISCOVER, i, err);
	for (i = 0; !ret && i < s->n_pidfds; i++)
		ret = add(l, s->pidfds[i], SOURCE_TARGET, i, err);
	l->n_running = s->n_pidfds;
	if (!ret && l->options->stop_fd >= 0)
		ret = add(l, l->options->stop_fd, SOURCE_STOP, 0, err);
	if (!ret)
		ret = add_timer(l, l->options->duration_ns, false, SOURCE_DURATION, &l->duration,
				err);
	if (!ret)
		ret = add_timer(l, s->set->options.interval, true, SOURCE_INTERVAL, &l->interval,
				err);
	return ret;
}

static void finish(struct loop *l, const char *reason, int status)
{
	if (l->done)
		return;
	l->done = true;
	l->end->reason = reason;
	l->end->status = status;
}

static void on_process_event(const struct weft_process_event *event, void *arg)
{
	struct weft_session *s = arg;
	size_t i;

	weft_symbols_event(s->symbols, event);
	for (i = 0; i < s->n_providers; i++)
		if (s->providers[i].process_event)
			s->providers[i].process_event(s->providers[i].process_instance, event);
}

int weft_session_poll_processes(struct weft_session *s)
{
	if (!s->procwatch)
		return 0;
	return weft_procwatch_poll(s->procwatch, on_process_event, s, &s->process_events_lost);
}

/* A reader at the other end of a pipe sees what there is as soon as there is no more of it. */
static int flush(struct weft_session *s, struct weft_error *err)
{
	int ret = s->sink.flush ? s->sink.flush(s->sink.self) : 0;

	if (ret)
		weft_fail(err, ret, "OUTPUT_WRITE", "results cannot be written: %s", strerror(-ret));
	return ret;
}

static int poll_records(struct loop *l, struct weft_error *err)
{
	struct weft_session *s = l->s;
	bool exiting = false;
	int ret;

	/* Stacks in records are symbolised as they come out: their processes must be known by then. */
	ret = weft_session_poll_processes(s);
	if (ret)
		return weft_fail(err, ret, "RUN", "process events: %s", strerror(-ret));
	ret = weft_consumer_poll(s->consumer, true, &exiting, err);
	if (exiting) {
		struct weft_control *control = s->maps.state;

		finish(l, "exit", (int)control->exit_status);
	}
	return ret ? ret : flush(s, err);
}

static void on_target_end(struct loop *l, size_t i)
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

static int dispatch(struct loop *l, const struct epoll_event *e, struct weft_error *err)
{
	size_t index = (uint32_t)e->data.u64;
	struct weft_session *s = l->s;
	int ret = 0;

	switch ((enum source)(e->data.u64 >> 32)) {
	case SOURCE_RECORDS:
		ret = poll_records(l, err);
		l->settling = true;
		break;
	case SOURCE_PROCESSES:
		ret = weft_session_poll_processes(s);
		if (ret)
			ret = weft_fail(err, ret, "RUN", "process events: %s", strerror(-ret));
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
	}
	return ret;
}

static bool followed_all_ended(const struct loop *l)
{
	const struct weft_control *control = l->s->maps.state;

	return l->s->n_pidfds && !l->n_running && l->s->target.follow &&
	       !__atomic_load_n(&control->live_targets, __ATOMIC_RELAXED);
}

static int loop_run(struct loop *l, struct weft_error *err)
{
	struct epoll_event events[16];
	bool snapshots = l->s->plan->uses_ustack;
	int ret = 0, n, i, timeout;

	while (!ret && !l->done) {
		if (snapshots)
			timeout = 0;
		else if (l->settling)
			timeout = SETTLE_MS;
		else if (l->s->n_pidfds && !l->n_running)
			timeout = TARGETS_MS;
		else
			timeout = -1;
		n = epoll_wait(l->epoll, events, 16, timeout);
		if (n < 0 && errno != EINTR)
			return weft_fail(err, -errno, "RUN", "epoll_wait: %s", strerror(errno));
		if (n == 0 && !snapshots && l->settling) {
			l->settling = false;
			ret = poll_records(l, err);
		}
		for (i = 0; i < n && !ret; i++)
			ret = dispatch(l, &events[i], err);
		if (snapshots)
			snapshots = weft_snapshot_step(l->s);
		if (followed_all_ended(l))
			finish(l, "target", 0);
	}
	return ret;
}

int weft_session_run(struct weft_session *s, const struct weft_run_options *options,
		     struct weft_end *end, struct weft_error *err)
{
	struct loop l = {.s = s, .options = options, .end = end, .duration = -1, .interval = -1};
	int ret;

	end->reason = "error";
	end->status = 1;
	if (s->state != WEFT_SESSION_RUNNING)
		return weft_fail(err, -EINVAL, "SESSION_STATE", "the session was not started");
	l.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (l.epoll < 0)
		return weft_fail(err, -errno, "RUN", "epoll: %s", strerror(errno));
	ret = watch(&l, err);
	if (!ret)
		ret = loop_run(&l, err);
	if (l.duration >= 0)
		close(l.duration);
	if (l.interval >= 0)
		close(l.interval);
	close(l.epoll);
	return ret;
}
