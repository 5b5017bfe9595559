/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What comes while tracing. The descriptor is readable at first, so that discover() is called as
 * soon as the session runs, and not before: then the kernel side begins to listen, if no attach()
 * made it do so, and all processes are looked at once. From there on the kernel side tells.
 *
 * A process is looked at once in 10 ms at most, however often it announces, and one call of
 * discover() looks at so many and returns: nobody can keep the tracer from its other work. Until it
 * has been looked at, a process sends no second event.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "support/file.h"
#include "user_syscall.h"

#define LOOK_NS  10000000L
#define LOOKS    256u
#define CATCH_UP 16

static int watch(struct weft_instance *in, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(in->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

/* ---- who is looked at, and when ---- */

static bool has(const struct us_pids *p, pid_t pid)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->v[i] == pid)
			return true;
	return false;
}

static bool put(struct us_pids *p, pid_t pid)
{
	uint32_t cap = p->cap ? 2 * p->cap : 64;

	if (p->n == p->cap) {
		pid_t *grown = realloc(p->v, cap * sizeof(*grown));

		if (!grown)
			return false;
		p->v = grown;
		p->cap = cap;
	}
	p->v[p->n++] = pid;
	return true;
}

static void look(struct weft_instance *in, pid_t pid)
{
	const struct itimerspec t = {.it_value.tv_nsec = LOOK_NS};

	if (!in->looked.n)
		timerfd_settime(in->later, 0, &t, NULL);
	put(&in->looked, pid); /* without memory: it may be looked at more often */
	us_family_adopt(in, pid);
}

static int on_event(void *arg, void *data, size_t size)
{
	struct weft_instance *in = arg;
	const struct us_event *e = data;
	pid_t pid = (pid_t)e->value;

	/* Families that are gone are collected after all events. */
	if (size >= sizeof(*e) && e->kind == US_EVENT_LOOK && us_is_target(in, pid) &&
	    !(has(&in->looked, pid) && put(&in->waiting, pid))) {
		look(in, pid);
		/* What it declares anew can be registered by discover() alone. */
		if (!in->registry)
			put(&in->waiting, pid);
	}
	return ++in->n_looks < LOOKS ? 0 : -EAGAIN;
}

/* The time is over: those who announced more in it are looked at again. */
static void look_later(struct weft_instance *in)
{
	struct us_pids waiting = in->waiting;

	in->waiting = (struct us_pids){0};
	in->looked.n = 0;
	for (uint32_t i = 0; i < waiting.n; i++) {
		if (has(&in->looked, waiting.v[i]) ||
		    (in->n_looks >= LOOKS && put(&in->waiting, waiting.v[i])))
			continue;
		in->n_looks++;
		look(in, waiting.v[i]);
	}
	free(waiting.v);
}

int us_start(struct weft_instance *in, struct weft_error *err)
{
	int ret = 0;

	if (in->started)
		return 0;
	ret = us_kernel_attach(&in->kernel, err);
	if (ret)
		return ret;
	/* What it would print is said by the error. */
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	in->ring = ring_buffer__new(in->kernel.maps[US_EVENT_RING], on_event, in, NULL);
	libbpf_set_print(print);
	if (!in->ring || watch(in, ring_buffer__epoll_fd(in->ring))) {
		us_stop(in);
		return in->host->fail(err, -ENOMEM, "USER_SYSCALL_EVENTS",
				      "the events of its own programs cannot be read");
	}
	in->started = true;
	/* What is there. Then, who was forked in between by one that was not yet known. */
	us_scan(in);
	us_scan(in);
	return 0;
}

void us_stop(struct weft_instance *in)
{
	if (in->ring)
		epoll_ctl(in->epoll, EPOLL_CTL_DEL, ring_buffer__epoll_fd(in->ring), NULL);
	ring_buffer__free(in->ring);
	in->ring = NULL;
	us_kernel_detach(&in->kernel);
	in->looked.n = in->waiting.n = 0;
	memset(in->reported, 0, sizeof(in->reported));
	in->reported_misses = 0;
	in->started = false;
}

int us_discover_fd(struct weft_instance *in)
{
	return in->epoll;
}

void us_catch_up(struct weft_instance *in)
{
	int ret = -EAGAIN;

	in->joining = true;
	for (int i = 0; i < CATCH_UP && ret == -EAGAIN; i++) {
		in->n_looks = 0;
		ret = ring_buffer__consume(in->ring);
	}
	in->joining = false;
	us_families_apply(in);
}

static bool drain(int fd)
{
	uint64_t n;

	return read(fd, &n, sizeof(n)) == (ssize_t)sizeof(n);
}

int us_discover(struct weft_instance *in, struct weft_registry *registry, struct weft_error *err)
{
	bool first = drain(in->start), tick = drain(in->timer), later = drain(in->later);
	uint64_t lost = in->kernel.counters ? in->kernel.counters[US_EVENTS] : 0;
	int ret;

	in->registry = registry;
	in->err = err;
	ret = us_start(in, err);
	in->joining = true;
	in->n_looks = 0;
	if (!ret && (first || lost != in->lost_events))
		us_scan(in);
	in->lost_events = lost;
	if (!ret && later)
		look_later(in);
	if (!ret)
		ring_buffer__consume(in->ring);
	in->joining = false;
	us_families_apply(in);
	if (!ret && tick)
		us_tick(in);
	else if (!ret)
		us_family_collect(in);
	in->registry = NULL;
	in->err = NULL;
	return ret;
}
