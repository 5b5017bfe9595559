/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From a container's process number to the initial namespace's. /proc shows the numbers of a process
 * from the reader's namespace inwards, never outwards; an iterator over tasks is asked for a process
 * by the caller's number and hands its program the task itself, which has the other number.
 */
#include "core/kernel/pidns.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/kernel/bpf.h"
#include "core/kernel/insn.h"
#include "core/kernel/load.h"

#define INITIAL_NAMESPACE 0xeffffffcu /* inode of the initial pid namespace, fixed since 3.8 */

/* struct bpf_iter__task: meta, task; struct bpf_iter_meta begins with the file. */
enum { CTX_META = 0, CTX_TASK = 8, META_SEQ = 0 };

static int load_iterator(uint32_t tgid_offset, int *fd, struct weft_error *err)
{
	const struct bpf_insn insns[] = {
		INSN_LDX(BPF_DW, BPF_REG_7, BPF_REG_1, CTX_TASK),
		INSN_JMP_IMM(BPF_JEQ, BPF_REG_7, 0, 8),
		INSN_LDX(BPF_DW, BPF_REG_1, BPF_REG_1, CTX_META),
		INSN_LDX(BPF_DW, BPF_REG_1, BPF_REG_1, META_SEQ),
		INSN_LDX(BPF_W, BPF_REG_2, BPF_REG_7, tgid_offset),
		INSN_STX(BPF_W, BPF_REG_10, -4, BPF_REG_2),
		INSN_MOV64_REG(BPF_REG_2, BPF_REG_10),
		INSN_ALU64_IMM(BPF_ADD, BPF_REG_2, -4),
		INSN_MOV64_IMM(BPF_REG_3, 4),
		INSN_CALL(BPF_FUNC_seq_write),
		INSN_MOV64_IMM(BPF_REG_0, 0),
		INSN_EXIT(),
	};
	struct weft_load_class load = {
		.struct_size = sizeof(load),
		.prog_type = BPF_PROG_TYPE_TRACING,
		.expected_attach_type = BPF_TRACE_ITER,
	};
	int ret = weft_btf_find_func("bpf_iter_task", &load.attach_btf_id, err);

	if (ret)
		return ret;
	return weft_program_load_own("weft_pid", &load, insns, sizeof(insns) / sizeof(insns[0]), fd,
				     err);
}

int weft_pid_initial(int32_t pid, int32_t *out, struct weft_error *err)
{
	union bpf_iter_link_info target = {.task.pid = (uint32_t)pid};
	struct weft_task_offsets task;
	int prog_fd, link_fd, fd, ret;
	struct stat st;
	uint32_t tgid;
	ssize_t n;

	*out = pid;
	if (stat("/proc/self/ns/pid", &st) || st.st_ino == INITIAL_NAMESPACE)
		return 0;
	ret = weft_btf_task_offsets(&task, err);
	if (!ret)
		ret = load_iterator(task.tgid, &prog_fd, err);
	if (ret)
		return ret;
	link_fd = weft_bpf_iter_link(prog_fd, &target);
	close(prog_fd);
	fd = link_fd < 0 ? link_fd : weft_bpf_iter_create(link_fd);
	if (link_fd >= 0)
		close(link_fd);
	n = fd < 0 ? 0 : read(fd, &tgid, sizeof(tgid));
	ret = n < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	else
		ret = fd;
	if (ret)
		return weft_fail(err, ret, "PROCSET_ADD",
				 "the number of process %d outside of this pid namespace cannot be "
				 "found: %s",
				 pid, strerror(-ret));
	if (n != sizeof(tgid))
		return weft_fail(err, -ESRCH, "TARGET_NO_PROCESS", "there is no process %d", pid);
	*out = (int32_t)tgid;
	return 0;
}
