/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Warming up maps. A hash that is not preallocated takes its elements from a small cache on each
 * CPU, which the kernel fills with one or four elements at first and refills from an interrupt that
 * a running program holds off. So the first firings of a CPU could find no memory for two new
 * stacks in a row. Taking and giving back one element of each map on every CPU makes the kernel
 * fill all caches before anything is attached that uses it.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/kernel/bpf.h"
#include "core/kernel/insn.h"
#include "core/kernel/load.h"

#define INSNS_A_MAP 15
#define MOST_MAPS   63 /* and STATE: what a program can refer to */
#define ROOM \
	4096u /* bytes of STATE that serve as any key and any value; the contents do not matter */

static bool wants_warming(const struct weft_map_spec *spec)
{
	return !spec->warm &&
	       (spec->type == BPF_MAP_TYPE_HASH || spec->type == BPF_MAP_TYPE_PERCPU_HASH) &&
	       spec->flags & BPF_F_NO_PREALLOC && spec->extern_fd < 0 && spec->key_size <= ROOM &&
	       spec->value_size <= ROOM;
}

static size_t emit_map(struct bpf_insn *out, int map_fd, int state_fd)
{
	const struct bpf_insn insns[] = {
		INSN_LD_MAP(BPF_REG_1, map_fd),
		INSN_LD_MAP_VALUE(BPF_REG_2, state_fd, 0),
		INSN_LD_MAP_VALUE(BPF_REG_3, state_fd, 0),
		INSN_MOV64_IMM(BPF_REG_4, BPF_NOEXIST),
		INSN_CALL(BPF_FUNC_map_update_elem),
		/* An element that was there is the session's: it stays. */
		INSN_JMP_IMM(BPF_JNE, BPF_REG_0, 0, 5),
		INSN_LD_MAP(BPF_REG_1, map_fd),
		INSN_LD_MAP_VALUE(BPF_REG_2, state_fd, 0),
		INSN_CALL(BPF_FUNC_map_delete_elem),
	};

	_Static_assert(sizeof(insns) <= INSNS_A_MAP * sizeof(struct bpf_insn), "room for a map");
	memcpy(out, insns, sizeof(insns));
	return sizeof(insns) / sizeof(insns[0]);
}

static int run_on(int prog_fd, uint32_t cpu)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)prog_fd;
	attr.test.flags = BPF_F_TEST_RUN_ON_CPU;
	attr.test.cpu = cpu;
	return weft_bpf(BPF_PROG_TEST_RUN, &attr, sizeof(attr.test));
}

static int run_everywhere(int prog_fd, uint32_t n_cpus, struct weft_error *err)
{
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
		int ret = run_on(prog_fd, cpu);

		if (ret && ret != -ENXIO) /* not online */
			return weft_fail(err, ret, "PROGRAM_RUN",
					 "warming up the maps of CPU %u failed: %s", cpu,
					 strerror(-ret));
	}
	return 0;
}

/* Maps from *next on, as many as a program can refer to. */
static int warm_some(const struct weft_maps *maps, struct weft_plan *plan, size_t *next,
		     struct weft_error *err)
{
	const struct weft_load_class load = {.struct_size = sizeof(load),
					     .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT};
	const struct bpf_insn end[] = {INSN_MOV64_IMM(BPF_REG_0, 0), INSN_EXIT()};
	struct bpf_insn insns[MOST_MAPS * INSNS_A_MAP + 2];
	size_t i, n = 0, warmed = 0;
	int fd, ret;

	for (i = *next; i < plan->n_maps && i < maps->n && warmed < MOST_MAPS; i++) {
		if (maps->fds[i] < 0 || !wants_warming(&plan->maps[i]))
			continue;
		n += emit_map(&insns[n], maps->fds[i], maps->fds[WEFT_PLAN_STATE]);
		plan->maps[i].warm = true;
		warmed++;
	}
	*next = i;
	if (!warmed)
		return 0;
	memcpy(&insns[n], end, sizeof(end));
	ret = weft_program_load_own("weft_warm", &load, insns, (uint32_t)n + 2, &fd, err);
	if (ret)
		return ret;
	ret = run_everywhere(fd, plan->n_cpus, err);
	close(fd);
	return ret;
}

int weft_maps_warm(const struct weft_maps *maps, struct weft_plan *plan, struct weft_error *err)
{
	size_t next = 0;
	int ret = 0;

	if (maps->state_size < ROOM)
		return 0;
	while (!ret && next < plan->n_maps && next < maps->n)
		ret = warm_some(maps, plan, &next, err);
	return ret;
}
