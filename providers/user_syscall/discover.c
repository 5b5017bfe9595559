/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What comes while tracing. The descriptor is readable at first, so that discover() is called as
 * soon as the session runs, and not before: then the kernel side begins to listen, if no attach()
 * made it do so, and all processes are looked at once. From there on the kernel side tells.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "support/file.h"
#include "user_syscall.h"

static int watch(struct weft_instance *in, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(in->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

static int on_event(void *arg, void *data, size_t size)
{
	struct weft_instance *in = arg;
	const struct us_event *e = data;

	if (size < sizeof(*e))
		return 0;
	if (e->kind == US_EVENT_LOOK && us_is_target(in, (pid_t)e->value))
		us_family_adopt(in, (pid_t)e->value, true);
	return 0; /* families that are gone are collected after all events */
}

int us_start(struct weft_instance *in, struct weft_error *err)
{
	int ret = 0;

	if (in->started)
		return 0;
	ret = us_kernel_attach(&in->kernel, err);
	if (ret)
		return ret;
	in->ring = ring_buffer__new(in->kernel.maps[US_EVENT_RING], on_event, in, NULL);
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
	memset(in->reported, 0, sizeof(in->reported));
	in->reported_misses = 0;
	in->started = false;
}

int us_discover_fd(struct weft_instance *in)
{
	return in->epoll;
}

static bool drain(int fd)
{
	uint64_t n;

	return read(fd, &n, sizeof(n)) == (ssize_t)sizeof(n);
}

int us_discover(struct weft_instance *in, struct weft_registry *registry, struct weft_error *err)
{
	bool first = drain(in->start), tick = drain(in->timer);
	uint64_t lost = in->kernel.counters ? in->kernel.counters[US_EVENTS] : 0;
	int ret;

	in->registry = registry;
	in->err = err;
	ret = us_start(in, err);
	if (!ret && (first || lost != in->lost_events))
		us_scan(in);
	in->lost_events = lost;
	if (!ret)
		ring_buffer__consume(in->ring);
	if (!ret && tick)
		us_tick(in);
	else if (!ret)
		us_family_collect(in);
	in->registry = NULL;
	in->err = NULL;
	return ret;
}
