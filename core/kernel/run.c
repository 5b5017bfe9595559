/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What is done with loaded programs other than attaching them. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/kernel/bpf.h"
#include "core/kernel/insn.h"
#include "core/kernel/load.h"

#define RAW_TRACEPOINT_WORDS 12 /* the most arguments that a tracepoint passes to a program */

int weft_program_run(int fd, struct weft_error *err)
{
	uint64_t context[RAW_TRACEPOINT_WORDS] = {0};
	union bpf_attr attr;
	int ret;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)fd;
	attr.test.ctx_in = (uint64_t)(uintptr_t)context;
	attr.test.ctx_size_in = sizeof(context);
	ret = weft_bpf(BPF_PROG_TEST_RUN, &attr, sizeof(attr.test));
	if (ret < 0)
		return weft_fail(err, ret, "PROGRAM_RUN", "running a program once failed: %s",
				 strerror(-ret));
	return 0;
}

int weft_program_misses(int fd, uint64_t *misses)
{
	struct bpf_prog_info info;
	int ret = weft_bpf_program_info(fd, &info);

	if (ret < 0)
		return ret;
	*misses = info.recursion_misses;
	return 0;
}

int weft_program_trial(const struct weft_load_class *load, struct weft_error *err)
{
	const struct bpf_insn insns[] = {INSN_MOV64_IMM(BPF_REG_0, 0), INSN_EXIT()};
	int fd, ret;

	ret = weft_program_load_own("weft_trial", load, insns, 2, &fd, err);
	return ret ? ret : fd;
}
