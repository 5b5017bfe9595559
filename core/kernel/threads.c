/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What threads have in maps goes when they do. Rows of SELF and FRAMES are keyed by the address of
 * the thread's task_struct, not by its number: a number is given to another thread while
 * tracepoints and interrupts still fire in the old one, which would then leave it values that are
 * not its own. An address is free only when nothing runs in the thread any more. Raw tracepoints
 * remove the row:
 *
 *   sched_process_exit  fires in every thread that ends, once it has left user space for good.
 *                       Nearly all rows go here.
 *   sched_process_free  fires right before the task_struct is given back, long after the thread's
 *                       last instruction: what was put there on the way goes now.
 *   sched_process_fork  A hash refuses a change that interrupts another of its own on the same CPU,
 *                       and the one before runs in a soft interrupt. A row that stays for that
 *                       reason takes up room, and goes when its address is given to a new thread,
 *                       before anything of that runs: no thread ever finds values that it has not
 *                       set.
 *
 * Each has a program of its own, since they may interrupt one another, and a program that is
 * running already would be skipped.
 *
 * The idle threads have a task_struct for each CPU and never end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/kernel/bpf.h"
#include "core/kernel/insn.h"
#include "core/kernel/load.h"

enum { N_EVENTS = 3, N_MAPS = 2, INSNS_A_MAP = 5 };

struct weft_threads {
	struct {
		int prog_fd, link_fd;
	} events[N_EVENTS];
};

static const struct {
	const char *tracepoint, *name;
	int argument; /* that is the task */
} events[N_EVENTS] = {
	{"sched_process_exit", "weft_end", 0},
	{"sched_process_free", "weft_free", 0},
	{"sched_process_fork", "weft_born", 1}, /* after its parent */
};

static uint32_t make_program(const int *fds, int argument, struct bpf_insn *out)
{
	const struct bpf_insn begin[] = {
		INSN_LDX(BPF_DW, BPF_REG_6, BPF_REG_1, 8 * argument),
		INSN_STX(BPF_DW, BPF_REG_10, -8, BPF_REG_6),
	};
	const struct bpf_insn end[] = {INSN_MOV64_IMM(BPF_REG_0, 0), INSN_EXIT()};
	uint32_t n = sizeof(begin) / sizeof(begin[0]);

	memcpy(out, begin, sizeof(begin));
	for (int i = 0; i < N_MAPS; i++) {
		const struct bpf_insn remove[INSNS_A_MAP] = {
			INSN_LD_MAP(BPF_REG_1, fds[i]),
			INSN_MOV64_REG(BPF_REG_2, BPF_REG_10),
			INSN_ALU64_IMM(BPF_ADD, BPF_REG_2, -8),
			INSN_CALL(BPF_FUNC_map_delete_elem),
		};

		if (fds[i] < 0)
			continue;
		memcpy(&out[n], remove, sizeof(remove));
		n += INSNS_A_MAP;
	}
	memcpy(&out[n], end, sizeof(end));
	return n + sizeof(end) / sizeof(end[0]);
}

static int attach_event(struct weft_threads *t, int i, const int *fds, struct weft_error *err)
{
	const struct weft_load_class load = {.struct_size = sizeof(load),
					     .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT};
	struct bpf_insn insns[2 + N_MAPS * INSNS_A_MAP + 2];
	uint32_t n = make_program(fds, events[i].argument, insns);
	int ret;

	ret = weft_program_load_own(events[i].name, &load, insns, n, &t->events[i].prog_fd, err);
	if (ret)
		return ret;
	ret = weft_bpf_raw_tracepoint_open(events[i].tracepoint, t->events[i].prog_fd);
	if (ret < 0)
		return weft_fail(err, ret, "THREADS_ATTACH",
				 "forgetting the threads that end needs the tracepoint %s, which "
				 "cannot be attached to: %s",
				 events[i].tracepoint, strerror(-ret));
	t->events[i].link_fd = ret;
	return 0;
}

static int fd_of(const struct weft_maps *maps, int64_t index)
{
	return index >= 0 && (size_t)index < maps->n ? maps->fds[index] : -1;
}

int weft_threads_attach(const struct weft_plan *plan, const struct weft_maps *maps,
			struct weft_threads **out, struct weft_error *err)
{
	const int fds[N_MAPS] = {fd_of(maps, plan->self_map), fd_of(maps, WEFT_PLAN_FRAMES)};
	struct weft_threads *t;
	int i, ret = 0;

	*out = NULL;
	if (fds[0] < 0 && fds[1] < 0)
		return 0;
	t = calloc(1, sizeof(*t));
	if (!t)
		return weft_nomem(err);
	for (i = 0; i < N_EVENTS; i++)
		t->events[i].prog_fd = t->events[i].link_fd = -1;
	for (i = 0; i < N_EVENTS && !ret; i++)
		ret = attach_event(t, i, fds, err);
	if (ret) {
		weft_threads_detach(t);
		return ret;
	}
	*out = t;
	return 0;
}

void weft_threads_detach(struct weft_threads *t)
{
	int i;

	if (!t)
		return;
	for (i = N_EVENTS; i-- > 0;) {
		if (t->events[i].link_fd >= 0)
			close(t->events[i].link_fd);
		if (t->events[i].prog_fd >= 0)
			close(t->events[i].prog_fd);
	}
	free(t);
}

uint64_t weft_threads_misses(const struct weft_threads *t)
{
	uint64_t sum = 0, misses;
	int i;

	for (i = 0; t && i < N_EVENTS; i++)
		if (t->events[i].prog_fd >= 0 && !weft_program_misses(t->events[i].prog_fd, &misses))
			sum += misses;
	return sum;
}
