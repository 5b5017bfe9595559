/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The maps of a plan. A plan grows while tracing, so creation runs again and again and makes only
 * what is new; what exists keeps its place. STATE is created larger than what the plan has
 * allotted, because it cannot grow under programs that hold its address.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/kernel/bpf.h"
#include "core/kernel/kernel.h"
#include "core/kernel/privilege.h"

static size_t page_round(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (n + page - 1) / page * page;
}

static int reserve(struct weft_maps *maps, size_t n)
{
	int *fds;

	if (n <= maps->n)
		return 0;
	fds = realloc(maps->fds, n * sizeof(*fds));
	if (!fds)
		return -ENOMEM;
	maps->fds = fds;
	while (maps->n < n)
		fds[maps->n++] = -1;
	return 0;
}

static int create_failed(const struct weft_map_spec *spec, int code, struct weft_error *err)
{
	char lacking[128];

	switch (code) {
	case -EPERM:
		weft_privilege_lacking(lacking, sizeof(lacking));
		return weft_fail(err, code, "MAP_CREATE",
				 "the kernel refuses to create the map %s: %s", spec->name, lacking);
	case -ENOMEM:
		return weft_fail(err, code, "MAP_CREATE",
				 "the kernel has no memory for the map %s (%" PRIu32
				 " elements of %" PRIu32
				 " bytes); lower the options that size it, or "
				 "raise the memory limit of the control group",
				 spec->name, spec->max_entries, spec->key_size + spec->value_size);
	case -E2BIG:
		return weft_fail(err, code, "MAP_CREATE",
				 "the map %s is larger than the kernel allows (%" PRIu32
				 " elements of %" PRIu32 " bytes); lower the options that size it",
				 spec->name, spec->max_entries, spec->key_size + spec->value_size);
	default:
		return weft_fail(err, code, "MAP_CREATE",
				 "creating the map %s (type %" PRIu32 ", key %" PRIu32
				 ", value %" PRIu32 " bytes, %" PRIu32 " elements) failed: %s",
				 spec->name, spec->type, spec->key_size, spec->value_size,
				 spec->max_entries, strerror(-code));
	}
}

static int map_memory(const struct weft_map_spec *spec, int fd, size_t size, void **out,
		      struct weft_error *err)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return weft_fail(err, -errno, "MAP_CREATE",
				 "mapping the map %s into memory failed: %s", spec->name,
				 strerror(errno));
	madvise(p, size, MADV_DONTFORK); /* children that read strangers' files have none of it */
	*out = p;
	return 0;
}

static int create_one(struct weft_maps *maps, struct weft_plan *plan, size_t i,
		      struct weft_error *err)
{
	struct weft_map_spec *spec = &plan->maps[i];
	size_t size;
	void *p = NULL;
	int fd, ret;

	if (spec->extern_fd >= 0) {
		/* A duplicate, so that every descriptor here is ours to close. */
		fd = fcntl(spec->extern_fd, F_DUPFD_CLOEXEC, 0);
		if (fd < 0)
			return create_failed(spec, -errno, err);
		maps->fds[i] = fd;
		return 0;
	}
	if (spec->role == WEFT_MAP_STATE)
		spec->value_size = (uint32_t)page_round(plan->state_size + WEFT_STATE_SLACK);
	if (spec->role == WEFT_MAP_MAPS)
		fd = weft_bpf_map_of_maps_create(spec, maps->fds[spec->inner]);
	else
		fd = weft_bpf_map_create(spec);
	if (fd < 0)
		return create_failed(spec, fd, err);
	if (spec->role == WEFT_MAP_STATE || spec->role == WEFT_MAP_PROBES) {
		size = page_round((size_t)spec->max_entries * ((spec->value_size + 7u) & ~7u));
		ret = map_memory(spec, fd, size, &p, err);
		if (ret) {
			close(fd);
			return ret;
		}
		if (spec->role == WEFT_MAP_STATE) {
			maps->state = p;
			maps->state_size = size;
			plan->state_capacity = spec->value_size;
		} else {
			maps->probes = p;
			maps->probes_size = size;
		}
	}
	maps->fds[i] = fd;
	return 0;
}

/* Maps that are elements of others. The compiler makes no new ones once the plan is created, so
 * that this happens before anything is attached. */
static int place_all(const struct weft_maps *maps, struct weft_plan *plan, struct weft_error *err)
{
	for (size_t i = 0; i < plan->n_maps; i++) {
		struct weft_map_spec *spec = &plan->maps[i];
		int ret;

		if (!spec->outer || spec->placed)
			continue;
		ret = weft_bpf_map_update(maps->fds[spec->outer], &spec->slot, &maps->fds[i],
					  BPF_ANY);
		if (ret)
			return weft_fail(err, ret, "MAP_UPDATE",
					 "making the map %s an element of %s failed: %s",
					 spec->name, plan->maps[spec->outer].name, strerror(-ret));
		spec->placed = true;
	}
	return 0;
}

int weft_maps_create(struct weft_maps *maps, struct weft_plan *plan, struct weft_error *err)
{
	size_t i;
	int ret;

	if (reserve(maps, plan->n_maps))
		return weft_nomem(err);
	for (i = 0; i < plan->n_maps; i++) {
		if (maps->fds[i] >= 0 || !plan->maps[i].used)
			continue;
		ret = create_one(maps, plan, i, err);
		if (ret)
			return ret;
	}
	return place_all(maps, plan, err);
}

void weft_maps_finish(struct weft_maps *maps)
{
	size_t i;

	if (maps->state)
		munmap(maps->state, maps->state_size);
	if (maps->probes)
		munmap(maps->probes, maps->probes_size);
	for (i = 0; i < maps->n; i++)
		if (maps->fds[i] >= 0)
			close(maps->fds[i]);
	free(maps->fds);
	memset(maps, 0, sizeof(*maps));
}

static uint64_t field_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* Kernels before 6.3 do not look: they multiply elements by the sizes of key and value, which is
 * nothing for a ring, and the most that a map without preallocation can grow to. */
static uint64_t map_memlock(int map_fd)
{
	char path[64], text[2048];
	uint64_t memory, ring = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", map_fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	memory = field_of(text, "memlock:");
	if (field_of(text, "map_type:") == BPF_MAP_TYPE_RINGBUF)
		ring = field_of(text, "max_entries:");
	return memory > ring ? memory : ring;
}

uint64_t weft_maps_memory(const struct weft_maps *maps)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < maps->n; i++)
		if (maps->fds[i] >= 0)
			sum += map_memlock(maps->fds[i]);
	return sum;
}

int weft_map_write_array(int map_fd, const struct weft_map_spec *spec, const void *elements,
			 struct weft_error *err)
{
	size_t stride = (spec->value_size + 7u) & ~7u, i;
	size_t size = page_round(stride * spec->max_entries);
	void *p = NULL;
	int ret = map_memory(spec, map_fd, size, &p, err);

	if (ret || !p)
		return ret;
	for (i = 0; i < spec->max_entries; i++)
		memcpy((char *)p + i * stride, (const char *)elements + i * spec->value_size,
		       spec->value_size);
	munmap(p, size);
	return 0;
}
