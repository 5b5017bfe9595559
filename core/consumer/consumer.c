/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The consumer's doors. One call of poll: read the control words, drain the ring, act on the words
 * once the records before them are out.
 *
 * Its descriptor is an epoll descriptor of its own: the ring within it is edge-triggered, since a
 * ring whose next record is busy stays readable and would wake us in vain until its program ends;
 * and an eventfd that we set ourselves stands for work that nobody will announce.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/consumer/internal.h"

int weft_zero_grow(void *array_of_pointer, size_t *cap, size_t n, size_t size)
{
	void **array = array_of_pointer;
	size_t wanted = *cap ? *cap : 8;
	void *grown;

	if (n <= *cap)
		return 0;
	while (wanted < n)
		wanted *= 2;
	grown = realloc(*array, wanted * size);
	if (!grown)
		return -ENOMEM;
	memset((uint8_t *)grown + *cap * size, 0, (wanted - *cap) * size);
	*array = grown;
	*cap = wanted;
	return 0;
}

int weft_sink_failed(struct weft_error *err, int code)
{
	return weft_fail(err, code, "OUTPUT_WRITE", "results cannot be written: %s",
			 strerror(-code));
}

static int watch(struct weft_consumer *c, int fd, uint32_t events, struct weft_error *err)
{
	struct epoll_event ev = {.events = events, .data.fd = fd};

	if (epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, fd, &ev))
		return weft_fail(err, -errno, "RECORD_BUFFER",
				 "the buffer of records cannot be watched: %s", strerror(errno));
	return 0;
}

/* The ring may come with a later part of the plan. */
static int ensure_ring(struct weft_consumer *c, struct weft_error *err)
{
	const struct weft_maps *maps = c->env.maps;
	int fd, ret;

	if (c->has_ring || maps->n <= WEFT_PLAN_RING || maps->fds[WEFT_PLAN_RING] < 0)
		return 0;
	fd = maps->fds[WEFT_PLAN_RING];
	ret = weft_ring_map(&c->stream.ring, fd, c->env.plan->maps[WEFT_PLAN_RING].max_entries, err);
	if (ret)
		return ret;
	ret = watch(c, fd, EPOLLIN | EPOLLET, err);
	if (ret) {
		weft_ring_unmap(&c->stream.ring);
		return ret;
	}
	c->has_ring = true;
	return 0;
}

int weft_consumer_create(const struct weft_consumer_env *env, struct weft_consumer **out,
			 struct weft_error *err)
{
	struct weft_consumer *c = calloc(1, sizeof(*c));
	int ret;

	if (!c)
		return weft_nomem(err);
	c->env = *env;
	c->epoll_fd = c->again_fd = -1;
	c->arena = weft_arena_create();
	if (!c->arena) {
		ret = weft_nomem(err);
		goto failed;
	}
	weft_cgroups_init(&c->cgroups, NULL);
	if (env->plan->uses_cgroups && weft_cgroups_look(&c->cgroups)) {
		ret = weft_nomem(err);
		goto failed;
	}
	c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	c->again_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->epoll_fd < 0 || c->again_fd < 0) {
		ret = weft_fail(err, -errno, "RECORD_BUFFER",
				"the buffer of records cannot be watched: %s", strerror(errno));
		goto failed;
	}
	ret = watch(c, c->again_fd, EPOLLIN, err);
	if (!ret)
		ret = ensure_ring(c, err);
	if (ret)
		goto failed;
	*out = c;
	return 0;
failed:
	weft_consumer_destroy(c);
	return ret;
}

void weft_consumer_destroy(struct weft_consumer *c)
{
	if (!c)
		return;
	weft_aggregates_finish(c);
	weft_records_finish(c);
	weft_cgroups_finish(&c->cgroups);
	weft_stream_finish(&c->stream);
	free(c->captured.want);
	free(c->captured.done);
	free(c->captured.apart);
	if (c->again_fd >= 0)
		close(c->again_fd);
	if (c->epoll_fd >= 0)
		close(c->epoll_fd);
	weft_arena_destroy(c->arena);
	free(c);
}

int weft_consumer_fd(const struct weft_consumer *c)
{
	return c->epoll_fd;
}

/* Takes what made the descriptor readable; what comes from here on makes it so again. */
static void take_events(struct weft_consumer *c)
{
	struct epoll_event events[2];
	uint64_t count;

	if (epoll_wait(c->epoll_fd, events, 2, 0) > 0 && read(c->again_fd, &count, sizeof(count)) < 0)
		return; /* it was not set */
}

static void call_again(struct weft_consumer *c)
{
	const uint64_t one = 1;

	if (write(c->again_fd, &one, sizeof(one)) < 0)
		return; /* it is set already */
}

int weft_consumer_poll(struct weft_consumer *c, bool attached, bool *exiting, struct weft_error *err)
{
	bool more = false;
	int ret;

	*exiting = false;
	take_events(c);
	ret = ensure_ring(c, err);
	if (ret)
		return ret;
	if (weft_controls_look(c, attached))
		return weft_nomem(err);
	if (c->has_ring) {
		c->err = err;
		ret = weft_stream_poll(&c->stream, weft_record_deliver, c, &more, err);
		if (ret)
			return ret;
	}
	if (!c->has_ring || c->stream.settled >= c->captured.time_ns)
		ret = weft_controls_act(c, attached, exiting, err);
	/* A program that found the ring full could not wake us for its control word. */
	if (!ret && (more || (!c->captured.waiting && weft_controls_changed(c))))
		call_again(c);
	return ret;
}

int weft_consumer_finish(struct weft_consumer *c, struct weft_error *err)
{
	bool ignored = false;
	int ret;

	take_events(c);
	ret = ensure_ring(c, err);
	if (ret)
		return ret;
	/* What was seen earlier and still waits, then what came after. */
	do {
		if (weft_controls_look(c, false))
			return weft_nomem(err);
		if (c->has_ring) {
			c->err = err;
			ret = weft_stream_drain(&c->stream, weft_record_deliver, c, err);
			if (ret)
				return ret;
		}
		ret = weft_controls_act(c, false, &ignored, err);
		if (ret)
			return ret;
	} while (weft_controls_changed(c));
	return 0;
}

void weft_consumer_span(struct weft_consumer *c, uint64_t start_ns, uint64_t stop_ns)
{
	c->start_ns = start_ns ? start_ns : c->start_ns;
	c->stop_ns = stop_ns;
}

static bool named(const char *const *names, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return !n;
}

int weft_consumer_show(struct weft_consumer *c, const char *const *names, size_t n, bool attached,
		       struct weft_error *err)
{
	const struct weft_plan *plan = c->env.plan;
	size_t i;
	int ret;

	for (i = 0; i < plan->n_aggregations; i++) {
		if (!named(names, n, plan->aggregations[i].name))
			continue;
		ret = weft_aggregate_show(c, i, NULL, attached, err);
		if (ret)
			return ret;
	}
	return 0;
}
