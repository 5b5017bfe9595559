/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The programs of the process set, as instructions. */
#ifndef WEFT_KERNEL_PROCSET_PROGRAMS_H
#define WEFT_KERNEL_PROCSET_PROGRAMS_H

#include <linux/bpf.h>

#include "core/kernel/kernel.h"

#define WEFT_PROCSET_INSNS 64 /* room that each of them has */

struct weft_procset_env {
	bool targets, execgen;
	int state_fd, targets_fd, execgen_fd;
	uint32_t loss_offset; /* of TARGETS_FULL in STATE */
	struct weft_task_offsets task;
};

/* Each writes its instructions to out and returns how many. */
size_t weft_procset_fork(const struct weft_procset_env *env, struct bpf_insn *out);
size_t weft_procset_exec(const struct weft_procset_env *env, struct bpf_insn *out);
size_t weft_procset_exit(const struct weft_procset_env *env, struct bpf_insn *out);

#endif
