/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Elements of a map that programs look up, for probes that appear while others are traced. A map
 * system call would keep the programs of this CPU from running meanwhile, and their firings would
 * be gone; a program that is run once for each element does not.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/kernel/bpf.h"
#include "core/kernel/insn.h"
#include "core/kernel/load.h"

/* The pair is the context. */
static int load_putter(int map_fd, int *fd, struct weft_error *err)
{
	const struct weft_load_class load = {.struct_size = sizeof(load),
					     .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT};
	const struct bpf_insn insns[] = {
		INSN_MOV64_REG(BPF_REG_6, BPF_REG_1),
		INSN_LDX(BPF_DW, BPF_REG_1, BPF_REG_6, 0),
		INSN_STX(BPF_DW, BPF_REG_10, -16, BPF_REG_1),
		INSN_LDX(BPF_DW, BPF_REG_1, BPF_REG_6, 8),
		INSN_STX(BPF_DW, BPF_REG_10, -8, BPF_REG_1),
		INSN_LD_MAP(BPF_REG_1, map_fd),
		INSN_MOV64_REG(BPF_REG_2, BPF_REG_10),
		INSN_ALU64_IMM(BPF_ADD, BPF_REG_2, -16),
		INSN_MOV64_REG(BPF_REG_3, BPF_REG_10),
		INSN_ALU64_IMM(BPF_ADD, BPF_REG_3, -8),
		INSN_MOV64_IMM(BPF_REG_4, BPF_NOEXIST),
		INSN_CALL(BPF_FUNC_map_update_elem),
		INSN_EXIT(),
	};

	return weft_program_load_own("weft_put", &load, insns, sizeof(insns) / sizeof(insns[0]), fd,
				     err);
}

static int put_one(int prog_fd, const struct weft_map_pair *pair)
{
	union bpf_attr attr;
	int ret;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)prog_fd;
	attr.test.ctx_in = (uint64_t)(uintptr_t)pair;
	attr.test.ctx_size_in = sizeof(*pair);
	ret = weft_bpf(BPF_PROG_TEST_RUN, &attr, sizeof(attr.test));
	return ret < 0 ? ret : (int)attr.test.retval;
}

int weft_map_put(int map_fd, const struct weft_map_pair *pairs, size_t n, size_t *failed,
		 struct weft_error *err)
{
	int fd, ret = 0;

	*failed = 0;
	if (!n)
		return 0;
	ret = load_putter(map_fd, &fd, err);
	if (ret)
		return ret;
	for (size_t i = 0; i < n && !ret; i++) {
		ret = put_one(fd, &pairs[i]);
		if (!ret)
			continue;
		*failed = i;
		weft_fail(err, ret, "MAP_UPDATE", "writing an element of a map failed: %s",
			  strerror(-ret));
	}
	close(fd);
	return ret;
}
