/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reading a hash by map system calls, while nothing is attached. A batch ends at the end of a hash
 * chain; a chain that is longer than the room given is ENOSPC, and asked for again with more. Where
 * a kernel has no batches for a map, elements are fetched one by one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/bpf.h"
#include "core/kernel/kernel.h"

#define BATCH_BYTES (64u << 10)
#define BATCH_LEAST 16u
#define BATCH_MOST  (1u << 20)

struct walk {
	int fd;
	size_t key_size, value_size;
	uint8_t *keys, *values;
	uint32_t room; /* elements */
	int (*fn)(const void *key, const void *value, void *arg);
	void *arg;
	bool stopped; /* by fn, whose error is its own to describe */
};

static int make_room(struct walk *w, uint32_t room)
{
	uint8_t *keys = realloc(w->keys, room * w->key_size), *values;

	if (!keys)
		return -ENOMEM;
	w->keys = keys;
	values = realloc(w->values, room * w->value_size);
	if (!values)
		return -ENOMEM;
	w->values = values;
	w->room = room;
	return 0;
}

static int deliver(struct walk *w, uint32_t n)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++)
		ret = w->fn(w->keys + i * w->key_size, w->values + i * w->value_size, w->arg);
	w->stopped = ret != 0;
	return ret;
}

/* Returns -EOPNOTSUPP, before anything was delivered, where there are no batches. */
static int by_batches(struct walk *w)
{
	uint64_t from[2] = {0}, to[2] = {0}; /* the kernel's place; larger than any it uses */
	bool first = true, done = false;
	uint32_t n;
	int ret, failed;

	while (!done) {
		n = w->room;
		ret = weft_bpf_map_lookup_batch(w->fd, first ? NULL : from, to, w->keys, w->values,
						&n);
		if (ret == -ENOSPC && w->room < BATCH_MOST) {
			ret = make_room(w, w->room * 2);
			if (ret)
				return ret;
			continue;
		}
		if (ret == -EINTR || ret == -EAGAIN)
			continue;
		done = ret == -ENOENT;
		if (ret && !done)
			return first && ret != -ENOMEM && ret != -EPERM ? -EOPNOTSUPP : ret;
		failed = deliver(w, n);
		if (failed)
			return failed;
		memcpy(from, to, sizeof(from));
		first = false;
	}
	return 0;
}

static int one_by_one(struct walk *w)
{
	uint8_t *key = w->keys, *next = w->keys + w->key_size, *swap;
	int ret = weft_bpf_map_next_key(w->fd, NULL, key), failed;

	while (!ret) {
		failed = weft_bpf_map_lookup(w->fd, key, w->values);
		if (!failed) {
			failed = w->fn(key, w->values, w->arg);
			w->stopped = failed != 0;
		} else if (failed == -ENOENT) {
			failed = 0;
		}
		if (failed)
			return failed;
		ret = weft_bpf_map_next_key(w->fd, key, next);
		swap = key;
		key = next;
		next = swap;
	}
	return ret == -ENOENT ? 0 : ret;
}

int weft_map_walk(int map_fd, const struct weft_map_spec *spec, uint32_t n_cpus,
		  int (*fn)(const void *key, const void *value, void *arg), void *arg,
		  struct weft_error *err)
{
	struct walk w = {.fd = map_fd, .key_size = spec->key_size, .fn = fn, .arg = arg};
	uint32_t room;
	int ret;

	w.value_size = spec->value_size;
	if (spec->type == BPF_MAP_TYPE_PERCPU_HASH)
		w.value_size = (size_t)n_cpus * ((spec->value_size + 7u) & ~7u);
	room = (uint32_t)(BATCH_BYTES / (w.key_size + w.value_size));
	ret = make_room(&w, room < BATCH_LEAST ? BATCH_LEAST : room);
	if (!ret)
		ret = by_batches(&w);
	if (ret == -EOPNOTSUPP && !w.stopped)
		ret = one_by_one(&w);
	if (ret && !w.stopped)
		ret = ret == -ENOMEM
			      ? weft_nomem(err)
			      : weft_fail(err, ret, "MAP_READ", "reading the map %s failed: %s",
					  spec->name, strerror(-ret));
	free(w.keys);
	free(w.values);
	return ret;
}
