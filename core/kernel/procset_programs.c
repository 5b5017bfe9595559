/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * All three run in the context of the task that forks, execs or exits. Arguments of raw tracepoints
 * are plain numbers to the verifier, so what they point to is read by helper, at offsets from BTF.
 *
 * A jump to the end is written with offset 0 and set right by finish(), which knows where that is:
 * no jump of these programs goes elsewhere unless it has an offset.
 */
#include "core/kernel/procset_programs.h"

#include <errno.h>

#include "core/kernel/insn.h"

struct code {
	struct bpf_insn *out;
	size_t n;
};

#define EMIT(c, ...)                                    \
	emit(c, (const struct bpf_insn[]){__VA_ARGS__}, \
	     sizeof((const struct bpf_insn[]){__VA_ARGS__}) / sizeof(struct bpf_insn))

static void emit(struct code *c, const struct bpf_insn *insns, size_t n)
{
	while (n--)
		c->out[c->n++] = *insns++;
}

static size_t finish(struct code *c)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		struct bpf_insn *insn = &c->out[i];

		if ((BPF_CLASS(insn->code) == BPF_JMP || BPF_CLASS(insn->code) == BPF_JMP32) &&
		    BPF_OP(insn->code) != BPF_CALL && !insn->off)
			insn->off = (int16_t)(c->n - i - 1);
	}
	EMIT(c, INSN_MOV64_IMM(BPF_REG_0, 0), INSN_EXIT());
	return c->n;
}

/* Reads `size` bytes at base + offset into the stack; to the end if that fails. */
static void emit_read(struct code *c, int stack, int size, int base, uint32_t offset)
{
	EMIT(c, INSN_MOV64_REG(BPF_REG_1, BPF_REG_10), INSN_ALU64_IMM(BPF_ADD, BPF_REG_1, stack),
	     INSN_MOV64_IMM(BPF_REG_2, size), INSN_MOV64_REG(BPF_REG_3, base),
	     INSN_ALU64_IMM(BPF_ADD, BPF_REG_3, offset), INSN_CALL(BPF_FUNC_probe_read_kernel),
	     INSN_JMP_IMM(BPF_JNE, BPF_REG_0, 0, 0));
}

/* The current process into r7 and the stack. */
static void emit_tgid(struct code *c, int stack)
{
	EMIT(c, INSN_CALL(BPF_FUNC_get_current_pid_tgid), INSN_ALU64_IMM(BPF_RSH, BPF_REG_0, 32),
	     INSN_MOV64_REG(BPF_REG_7, BPF_REG_0), INSN_STX(BPF_W, BPF_REG_10, stack, BPF_REG_7));
}

static void emit_map_call(struct code *c, int fd, int key, int helper)
{
	EMIT(c, INSN_LD_MAP(BPF_REG_1, fd), INSN_MOV64_REG(BPF_REG_2, BPF_REG_10),
	     INSN_ALU64_IMM(BPF_ADD, BPF_REG_2, key), INSN_CALL(helper));
}

/* STATE[offset] += by, in STATE_ADD_LENGTH instructions. */
static void emit_state_add(struct code *c, int state_fd, uint32_t offset, int by)
{
	EMIT(c, INSN_LD_MAP_VALUE(BPF_REG_1, state_fd, offset), INSN_MOV64_IMM(BPF_REG_2, by),
	     INSN_ATOMIC(BPF_DW, BPF_ADD, BPF_REG_1, 0, BPF_REG_2));
}
#define STATE_ADD_LENGTH 4

/* EXECGEN[r7 % slots] += 1 */
static void emit_bump(const struct weft_procset_env *env, struct code *c)
{
	EMIT(c, INSN_ALU64_IMM(BPF_AND, BPF_REG_7, WEFT_EXECGEN_SLOTS - 1),
	     INSN_STX(BPF_W, BPF_REG_10, -4, BPF_REG_7));
	emit_map_call(c, env->execgen_fd, -4, BPF_FUNC_map_lookup_elem);
	EMIT(c, INSN_JMP_IMM(BPF_JEQ, BPF_REG_0, 0, 0), INSN_MOV64_IMM(BPF_REG_1, 1),
	     INSN_ATOMIC(BPF_DW, BPF_ADD, BPF_REG_0, 0, BPF_REG_1));
}

size_t weft_procset_fork(const struct weft_procset_env *env, struct bpf_insn *out)
{
	enum { CHILD = -4, PARENT = -8, VALUE = -16 };
	const int live = offsetof(struct weft_control, live_targets);
	struct code c = {.out = out};

	/* Arguments: parent, child. A new thread's number is not that of its group. */
	EMIT(&c, INSN_LDX(BPF_DW, BPF_REG_6, BPF_REG_1, 8));
	emit_read(&c, CHILD, 4, BPF_REG_6, env->task.tgid);
	emit_read(&c, PARENT, 4, BPF_REG_6, env->task.pid);
	EMIT(&c, INSN_LDX(BPF_W, BPF_REG_7, BPF_REG_10, CHILD),
	     INSN_LDX(BPF_W, BPF_REG_8, BPF_REG_10, PARENT),
	     INSN_JMP_REG(BPF_JNE, BPF_REG_7, BPF_REG_8, 0));
	emit_tgid(&c, PARENT);
	emit_map_call(&c, env->targets_fd, PARENT, BPF_FUNC_map_lookup_elem);
	EMIT(&c, INSN_JMP_IMM(BPF_JEQ, BPF_REG_0, 0, 0));
	/* Counted before it is there to be removed, like everywhere. */
	emit_state_add(&c, env->state_fd, (uint32_t)live, 1);
	EMIT(&c, INSN_ST(BPF_DW, BPF_REG_10, VALUE, 1), INSN_MOV64_REG(BPF_REG_3, BPF_REG_10),
	     INSN_ALU64_IMM(BPF_ADD, BPF_REG_3, VALUE), INSN_MOV64_IMM(BPF_REG_4, BPF_NOEXIST));
	emit_map_call(&c, env->targets_fd, CHILD, BPF_FUNC_map_update_elem);
	EMIT(&c, INSN_JMP_IMM(BPF_JEQ, BPF_REG_0, 0, 0), INSN_MOV64_REG(BPF_REG_6, BPF_REG_0));
	emit_state_add(&c, env->state_fd, (uint32_t)live, -1);
	/* 32 bits: before Linux 6.4 the function that the verifier puts in the helper's place
	 * returns an int. */
	EMIT(&c, INSN_JMP32_IMM(BPF_JEQ, BPF_REG_6, -EEXIST, 0));
	emit_state_add(&c, env->state_fd, env->loss_offset, 1);
	return finish(&c);
}

size_t weft_procset_exec(const struct weft_procset_env *env, struct bpf_insn *out)
{
	struct code c = {.out = out};

	emit_tgid(&c, -4);
	emit_bump(env, &c);
	return finish(&c);
}

size_t weft_procset_exit(const struct weft_procset_env *env, struct bpf_insn *out)
{
	enum { SIGNAL = -16, LIVE = -8, TGID = -4 };
	struct code c = {.out = out};

	EMIT(&c, INSN_LDX(BPF_DW, BPF_REG_6, BPF_REG_1, 0));
	emit_read(&c, SIGNAL, 8, BPF_REG_6, env->task.signal);
	EMIT(&c, INSN_LDX(BPF_DW, BPF_REG_6, BPF_REG_10, SIGNAL));
	emit_read(&c, LIVE, 4, BPF_REG_6, env->task.signal_live);
	EMIT(&c, INSN_LDX(BPF_W, BPF_REG_1, BPF_REG_10, LIVE),
	     INSN_JMP_IMM(BPF_JNE, BPF_REG_1, 0, 0));
	emit_tgid(&c, TGID);
	if (env->targets) {
		emit_map_call(&c, env->targets_fd, TGID, BPF_FUNC_map_delete_elem);
		EMIT(&c, INSN_JMP_IMM(BPF_JNE, BPF_REG_0, 0, STATE_ADD_LENGTH));
		emit_state_add(&c, env->state_fd, offsetof(struct weft_control, live_targets), -1);
	}
	if (env->execgen)
		emit_bump(env, &c);
	return finish(&c);
}
