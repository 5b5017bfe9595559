/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A plan made by hand: the fixed maps, none of them used until a test says so. */
#ifndef WEFT_TEST_KERNEL_SUPPORT_H
#define WEFT_TEST_KERNEL_SUPPORT_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "core/kernel/bpf.h"
#include "core/kernel/insn.h"
#include "core/kernel/kernel.h"
#include "core/kernel/load.h"

struct test_plan {
	struct weft_plan plan;
	struct weft_map_spec specs[24];
	struct weft_loss_site losses[8];
	struct weft_maps maps;
	struct weft_error *err;
};

static inline uint32_t test_cpus(void)
{
	return (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
}

static inline void test_spec(struct test_plan *t, size_t i, enum weft_map_role role,
			     const char *name, uint32_t type, uint32_t key, uint32_t value,
			     uint32_t entries, uint32_t flags)
{
	t->specs[i] = (struct weft_map_spec){.role = role,
					     .type = type,
					     .key_size = key,
					     .value_size = value,
					     .max_entries = entries,
					     .flags = flags,
					     .extern_fd = -1};
	snprintf(t->specs[i].name, sizeof(t->specs[i].name), "%s", name);
	if (t->plan.n_maps <= i)
		t->plan.n_maps = i + 1;
}

static inline void test_plan_init(struct test_plan *t)
{
	memset(t, 0, sizeof(*t));
	t->err = weft_error_create();
	t->plan.maps = t->specs;
	t->plan.losses = t->losses;
	t->plan.n_cpus = test_cpus();
	t->plan.state_size = sizeof(struct weft_control);
	test_spec(t, WEFT_PLAN_STATE, WEFT_MAP_STATE, "weft_state", BPF_MAP_TYPE_ARRAY, 4, 0, 1,
		  BPF_F_MMAPABLE);
	test_spec(t, WEFT_PLAN_RING, WEFT_MAP_RING, "weft_ring", BPF_MAP_TYPE_RINGBUF, 0, 0,
		  64 << 10, 0);
	test_spec(t, WEFT_PLAN_SCRATCH, WEFT_MAP_SCRATCH, "weft_scratch", BPF_MAP_TYPE_PERCPU_ARRAY,
		  4, 256, WEFT_SCRATCH_SLOTS, 0);
	test_spec(t, WEFT_PLAN_STACKS, WEFT_MAP_STACKS, "weft_stacks", BPF_MAP_TYPE_HASH, 8,
		  sizeof(struct weft_stack_row) + 8 * 16, 1024, BPF_F_NO_PREALLOC);
	test_spec(t, WEFT_PLAN_EXECGEN, WEFT_MAP_EXECGEN, "weft_execgen", BPF_MAP_TYPE_ARRAY, 4, 8,
		  WEFT_EXECGEN_SLOTS, 0);
	test_spec(t, WEFT_PLAN_TARGETS, WEFT_MAP_TARGETS, "weft_targets", BPF_MAP_TYPE_HASH, 4, 8,
		  4096, BPF_F_NO_PREALLOC);
	test_spec(t, WEFT_PLAN_FRAMES, WEFT_MAP_FRAMES, "weft_frames", BPF_MAP_TYPE_HASH, 8, 64, 16,
		  BPF_F_NO_PREALLOC);
	test_spec(t, WEFT_PLAN_PROBES, WEFT_MAP_PROBES, "weft_probes", BPF_MAP_TYPE_ARRAY, 4, 8,
		  1000, BPF_F_MMAPABLE);
}

static inline void test_plan_finish(struct test_plan *t)
{
	weft_maps_finish(&t->maps);
	weft_error_destroy(t->err);
}

static inline void test_plan_create(struct test_plan *t)
{
	cr_assert_eq(weft_maps_create(&t->maps, &t->plan, t->err), 0, "%s", weft_error_text(t->err));
}

/* Loads a raw tracepoint program whose descriptors are in place. */
static inline int test_load_raw(const struct bpf_insn *insns, size_t n, struct weft_error *err)
{
	const struct weft_load_class load = {.struct_size = sizeof(load),
					     .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT};
	int fd = -1;

	cr_assert_eq(weft_program_load_own("test", &load, insns, (uint32_t)n, &fd, err), 0, "%s",
		     weft_error_text(err));
	return fd;
}

#endif
