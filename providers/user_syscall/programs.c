/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The programs of kernel.h. Registers 6 to 9 live through calls; each program says what it has there. */
#include <stddef.h>
#include <sys/syscall.h>

#include "kernel.h"
#include "layout.h"
#include "support/insn.h"

#define BURST_NS INT32_C(1000000000) /* what a process may do at once: one second's worth */

#define US_DIRECT_PROGRAMS 8

enum label {
	OUT,
	FOUND,
	NEXT_0,
	NEXT_1,
	NEXT_2,
	NEXT_3,
	STRANGER,
	REGISTER,
	ABSENT,
	KNOWN,
	LIMITED,
	FULL,
	GO,
	LOST,
	CROWDED,
	DONE,
	TAKEN_0,
	TAKEN_1,
	TAKEN_2,
	TAKEN_3,
	TOO_LATE,
	SECOND,
	DIRECT, /* and the next US_DIRECT_PROGRAMS */
};

/* r0 = the element of the map whose key lies in the frame. */
static void look_up(const struct us_kernel *k, struct support_code *c, enum us_map map, int16_t key)
{
	support_map(c, 1, k->maps[map]);
	support_frame(c, 2, key);
	support_call(c, BPF_FUNC_map_lookup_elem);
}

/* Clobbers r1, r2. */
static void count(const struct us_kernel *k, struct support_code *c, enum us_counter counter)
{
	support_map_value(c, 1, k->maps[US_COUNTERS], counter * 8);
	support_set(c, 2, 1);
	support_atomic(c, BPF_DW, BPF_ADD, 1, 0, 2);
}

static void end(struct support_code *c)
{
	support_label(c, OUT);
	support_set(c, 0, 0);
	support_exit(c);
}

/* Sends {kind, 32 bits of register `value`}; to `lost` where there is no room. Uses frame -16..-8. */
static void send(const struct us_kernel *k, struct support_code *c, enum us_event_kind kind,
		 uint8_t value, enum label lost)
{
	support_store_imm(c, BPF_W, 10, -16, kind);
	support_store(c, BPF_W, 10, -12, value);
	support_map(c, 1, k->maps[US_EVENT_RING]);
	support_frame(c, 2, -16);
	support_set(c, 3, sizeof(struct us_event));
	support_set(c, 4, 0);
	support_call(c, BPF_FUNC_ringbuf_output);
	support_jump_if(c, BPF_JNE, 0, 0, lost);
}

/* A zeroed struct us_proc in the frame at `at`. */
static void zero_proc(struct support_code *c, int16_t at)
{
	for (int16_t i = 0; i < (int16_t)sizeof(struct us_proc); i += 8)
		support_store_imm(c, BPF_DW, 10, (int16_t)(at + i), 0);
}

static void update(const struct us_kernel *k, struct support_code *c, enum us_map map, int16_t key,
		   int16_t value)
{
	support_map(c, 1, k->maps[map]);
	support_frame(c, 2, key);
	support_frame(c, 3, value);
	support_set(c, 4, BPF_NOEXIST);
	support_call(c, BPF_FUNC_map_update_elem);
}

/* families[register].refs += by; the key goes to the frame at -4. */
static void refer(const struct us_kernel *k, struct support_code *c, uint8_t family, int32_t by,
		  enum label unless)
{
	support_store(c, BPF_W, 10, -4, family);
	look_up(k, c, US_FAMILIES, -4);
	support_jump_if(c, BPF_JEQ, 0, 0, unless);
	support_set(c, 1, by);
	support_atomic(c, BPF_W, BPF_ADD | BPF_FETCH, 0, offsetof(struct us_family_value, refs), 1);
}

/* ---- the dispatcher ---- */

/*
 * A bucket of tokens, kept as the moment at which it will be full (core/compiler/lower_limit.c has
 * the same and tells more). r9: the process. Who loses the exchange four times goes on untaxed.
 */
static void take_token(const struct us_kernel *k, struct support_code *c)
{
	if (!k->step_ns)
		return;
	/* Ticks: a load, where a clock would be a fifth of the whole program. */
	support_call(c, BPF_FUNC_jiffies64);
	support_mov(c, 3, 0);
	support_alu_imm(c, BPF_MUL, 3, (int32_t)k->tick_ns);
	for (int i = 0; i < 4; i++) {
		support_load(c, BPF_DW, 0, 9, offsetof(struct us_proc, full));
		support_mov(c, 1, 3);
		support_alu_imm(c, BPF_ADD, 1, BURST_NS);
		support_jump_if_reg(c, BPF_JGT, 0, 1, LIMITED);
		support_mov(c, 2, 0);
		support_insn(c, BPF_JMP | BPF_X | BPF_JGE, 2, 3, 1, 0);
		support_mov(c, 2, 3);
		support_alu_imm(c, BPF_ADD, 2, (int32_t)k->step_ns);
		support_mov(c, 4, 0);
		support_atomic(c, BPF_DW, BPF_CMPXCHG, 9, offsetof(struct us_proc, full), 2);
		support_jump_if_reg(c, BPF_JEQ, 0, 4, GO);
	}
	support_label(c, GO);
}

/*
 * To the program in the probe's slot. Where the slot is a constant the kernel compiles a jump,
 * which is patched as programs come and go; else it is an indirect one, which costs a retpoline.
 * Most sessions have few programs. r6: context, r8: the probe.
 */
static void hand_over(const struct us_kernel *k, struct support_code *c)
{
	support_load(c, BPF_W, 9, 8, offsetof(struct us_probe_value, slot1));
	for (int slot = 0; slot < US_DIRECT_PROGRAMS; slot++) {
		support_jump_if(c, BPF_JNE, 9, slot + 1, DIRECT + (unsigned)slot);
		support_mov(c, 1, 6);
		support_map(c, 2, k->maps[US_PROGRAMS]);
		support_set(c, 3, slot);
		support_call(c, BPF_FUNC_tail_call);
		support_jump(c, TOO_LATE);
		support_label(c, DIRECT + (unsigned)slot);
	}
	support_mov(c, 1, 6);
	support_map(c, 2, k->maps[US_PROGRAMS]);
	support_mov(c, 3, 9);
	support_alu_imm(c, BPF_SUB, 3, 1);
	support_call(c, BPF_FUNC_tail_call);
	support_label(c, TOO_LATE);
}

/* An id of the table that is not enabled here is another tracer's, or was never declared. r7: index. */
static void absent(const struct us_kernel *k, struct support_code *c)
{
	support_label(c, ABSENT);
	look_up(k, c, US_FAMILIES, -8);
	support_jump_if(c, BPF_JEQ, 0, 0, OUT);
	support_load(c, BPF_W, 1, 0, offsetof(struct us_family_value, count));
	support_jump_if_reg(c, BPF_JGT, 1, 7, OUT);
	count(k, c, US_FORGED);
	support_jump(c, OUT);
}

/* A process that is not known: the first call tells the provider. r8: tgid. */
static void stranger(const struct us_kernel *k, struct support_code *c)
{
	const int16_t proc = -16 - (int16_t)sizeof(struct us_proc);

	support_label(c, STRANGER);
	zero_proc(c, proc);
	support_store_imm(c, BPF_W, 10, (int16_t)(proc + (int16_t)offsetof(struct us_proc, news)),
			  US_NEWS_SENT);
	support_set64(c, 1, WEFT_CALL_REGISTER);
	support_jump_if_reg(c, BPF_JEQ, 7, 1, FULL);
	support_store_imm(c, BPF_DW, 10,
			  (int16_t)(proc + (int16_t)offsetof(struct us_proc, missed)), 1);
	support_label(c, FULL);
	update(k, c, US_PROCS, -4, proc);
	support_jump_if(c, BPF_JNE, 0, 0, CROWDED);
	send(k, c, US_EVENT_LOOK, 8, LOST);
	support_jump(c, OUT);
	/* There is no room, unless another thread of it came first. */
	support_label(c, CROWDED);
	look_up(k, c, US_PROCS, -4);
	support_mov(c, 9, 0);
	support_jump_if(c, BPF_JNE, 9, 0, SECOND);
	count(k, c, US_CROWDED);
	support_jump(c, OUT);
	support_label(c, SECOND);
	support_set64(c, 1, WEFT_CALL_REGISTER);
	support_jump_if_reg(c, BPF_JEQ, 7, 1, REGISTER);
	support_set(c, 1, 1);
	support_atomic(c, BPF_DW, BPF_ADD, 9, offsetof(struct us_proc, missed), 1);
	support_jump(c, REGISTER);
	support_label(c, LOST);
	count(k, c, US_EVENTS);
	support_jump(c, OUT);
}

/* A known process has declarations to look at; one event at a time. r8: tgid, r9: the process. */
static void registers(const struct us_kernel *k, struct support_code *c)
{
	support_label(c, REGISTER);
	support_set(c, 1, US_NEWS_SENT);
	support_atomic(c, BPF_W, BPF_XCHG, 9, offsetof(struct us_proc, news), 1);
	support_jump_if(c, BPF_JEQ, 1, US_NEWS_SENT, OUT);
	send(k, c, US_EVENT_LOOK, 8, LOST);
	support_jump(c, OUT);
}

/* r6: context, r7: id, r8: tgid, r9: the process; later r8: the probe. */
static void dispatch(const struct us_kernel *k, struct support_code *c)
{
	support_mov(c, 6, 1);
	if (k->mechanism == US_RAW) {
		support_load(c, BPF_DW, 2, 6, 8);
		support_jump_if(c, BPF_JNE, 2, SYS_getpid, OUT);
	}
	support_call(c, BPF_FUNC_get_current_task_btf);
	support_mov(c, 8, 0);
	support_mov(c, 1, 0);
	support_call(c, BPF_FUNC_task_pt_regs);
	support_load(c, BPF_DW, 7, 0, us_first_argument);
	support_mov(c, 1, 7);
	support_alu_imm(c, BPF_RSH, 1, 32);
	support_jump_if(c, BPF_JNE, 1, WEFT_CALL_MAGIC, OUT);
	support_mov32(c, 7, 7);
	support_load(c, BPF_W, 8, 8, (int16_t)k->offsets.tgid); /* one call less */
	support_store(c, BPF_W, 10, -4, 8);
	look_up(k, c, US_PROCS, -4);
	support_jump_if(c, BPF_JEQ, 0, 0, STRANGER);
	support_mov(c, 9, 0);
	/* 64-bit comparisons: the immediate is sign-extended, the id is not. */
	support_set64(c, 1, WEFT_CALL_REGISTER);
	support_jump_if_reg(c, BPF_JEQ, 7, 1, REGISTER);

	support_mov(c, 1, 7);
	support_alu_imm(c, BPF_RSH, 1, 20);
	support_alu_imm(c, BPF_ADD, 1, 1);
	for (unsigned i = 0; i < US_TABLES; i++) {
		const int16_t at =
			(int16_t)(offsetof(struct us_proc, tables) + i * sizeof(struct us_pair));

		support_load(c, BPF_W, 2, 9, at);
		support_load(c, BPF_W, 3, 9, (int16_t)(at + 4));
		support_jump_if_reg(c, BPF_JEQ, 2, 1, FOUND);
	}
	/* A table that is not known: of a child that was forked before its parent was looked at, if
	 * nobody forges. */
	support_label(c, NEXT_0);
	support_set(c, 1, 1);
	support_atomic(c, BPF_DW, BPF_ADD, 9, offsetof(struct us_proc, missed), 1);
	support_jump(c, REGISTER);

	support_label(c, FOUND);
	support_jump_if(c, BPF_JEQ, 3, 0, NEXT_0);
	support_store(c, BPF_W, 10, -8, 3);
	look_up(k, c, US_FAMILIES, -8);
	support_jump_if(c, BPF_JEQ, 0, 0, OUT);
	support_load(c, BPF_DW, 2, 0, offsetof(struct us_family_value, range));
	support_mov(c, 3, 2);
	support_alu_imm(c, BPF_RSH, 3, 32);
	support_alu_imm(c, BPF_AND, 7, 0xfffff);
	support_jump_if_reg(c, BPF_JGE, 7, 3, ABSENT);
	support_alu(c, BPF_ADD, 2, 7);
	support_store(c, BPF_W, 10, -16, 2);
	look_up(k, c, US_PROBES, -16);
	support_jump_if(c, BPF_JEQ, 0, 0, OUT);
	support_mov(c, 8, 0);
	support_load(c, BPF_W, 1, 8, offsetof(struct us_probe_value, slot1));
	support_jump_if(c, BPF_JEQ, 1, 0, ABSENT);
	take_token(k, c);
	support_store_imm(c, BPF_W, 10, -4, 0);
	look_up(k, c, US_COOKIE, -4);
	support_jump_if(c, BPF_JEQ, 0, 0, OUT);
	support_load(c, BPF_DW, 1, 8, offsetof(struct us_probe_value, cookie));
	support_store(c, BPF_DW, 0, 0, 1);
	hand_over(k, c);
	count(k, c, US_LATE);
	support_jump(c, OUT);

	if (k->step_ns) {
		support_label(c, LIMITED);
		count(k, c, US_LIMITED);
		support_jump(c, OUT);
	}
	absent(k, c);
	stranger(k, c);
	registers(k, c);
	end(c);
}

/* ---- processes ---- */

/* Reads 4 or 8 bytes at register + offset to the frame. */
static void read_kernel(struct support_code *c, int16_t to, int32_t size, uint8_t base,
			uint32_t offset)
{
	support_frame(c, 1, to);
	support_set(c, 2, size);
	support_mov(c, 3, base);
	support_alu_imm(c, BPF_ADD, 3, (int32_t)offset);
	support_call(c, BPF_FUNC_probe_read_kernel);
	support_jump_if(c, BPF_JNE, 0, 0, OUT);
}

/*
 * r7: the parent's element, r9: its news, read before its tables: when there is none, they are
 * complete. Arguments of the tracepoint: parent, child.
 */
static void fork_hook(const struct us_kernel *k, struct support_code *c)
{
	const int16_t proc = -16 - (int16_t)sizeof(struct us_proc);

	support_load(c, BPF_DW, 6, 1, 8);
	read_kernel(c, -8, 4, 6, k->offsets.tgid);
	read_kernel(c, -16, 4, 6, k->offsets.pid);
	support_load(c, BPF_W, 1, 10, -8);
	support_load(c, BPF_W, 2, 10, -16);
	support_jump_if_reg(c, BPF_JNE, 1, 2, OUT); /* a thread */
	support_call(c, BPF_FUNC_get_current_pid_tgid);
	support_alu_imm(c, BPF_RSH, 0, 32);
	support_store(c, BPF_W, 10, -4, 0);
	look_up(k, c, US_PROCS, -4);
	support_jump_if(c, BPF_JEQ, 0, 0, OUT);
	support_mov(c, 7, 0);
	support_load(c, BPF_W, 9, 7, offsetof(struct us_proc, news));
	zero_proc(c, proc);
	for (unsigned i = 0; i < US_TABLES; i++) {
		const int16_t at =
			(int16_t)(offsetof(struct us_proc, tables) + i * sizeof(struct us_pair));

		support_load(c, BPF_DW, 1, 7, at);
		support_store(c, BPF_DW, 10, (int16_t)(proc + at), 1);
	}
	support_store_imm(c, BPF_W, 10, (int16_t)(proc + (int16_t)offsetof(struct us_proc, forked)),
			  1);
	support_jump_if(c, BPF_JEQ, 9, US_NEWS_NONE, KNOWN);
	support_store_imm(c, BPF_W, 10, (int16_t)(proc + (int16_t)offsetof(struct us_proc, news)),
			  US_NEWS_SENT);
	support_label(c, KNOWN);
	/* No room: its calls are counted as they come. */
	update(k, c, US_PROCS, -8, proc);
	support_jump_if(c, BPF_JNE, 0, 0, OUT);
	for (unsigned i = 0; i < US_TABLES; i++) {
		const int16_t at = (int16_t)(proc + (int16_t)offsetof(struct us_proc, tables) +
					     (int16_t)(i * sizeof(struct us_pair)));

		support_load(c, BPF_W, 8, 10, (int16_t)(at + 4));
		support_jump_if(c, BPF_JEQ, 8, 0, NEXT_0 + i);
		refer(k, c, 8, 1, OUT);
		support_label(c, NEXT_0 + i);
	}
	support_jump_if(c, BPF_JEQ, 9, US_NEWS_NONE, OUT);
	support_load(c, BPF_W, 8, 10, -8);
	send(k, c, US_EVENT_LOOK, 8, LOST);
	support_jump(c, OUT);
	support_label(c, LOST);
	count(k, c, US_EVENTS);
	end(c);
}

/* Takes the process out whose tgid is at frame -20. Two threads that end at once both come here:
 * who deleted the element does the rest. */
static void take_out(const struct us_kernel *k, struct support_code *c)
{
	const int16_t pairs = -24 - (int16_t)(US_TABLES * sizeof(struct us_pair));

	look_up(k, c, US_PROCS, -20);
	support_jump_if(c, BPF_JEQ, 0, 0, OUT);
	support_mov(c, 7, 0);
	for (unsigned i = 0; i < US_TABLES; i++) {
		const int16_t at = (int16_t)(i * sizeof(struct us_pair));

		support_load(c, BPF_DW, 1, 7,
			     (int16_t)(offsetof(struct us_proc, tables) + (size_t)at));
		support_store(c, BPF_DW, 10, (int16_t)(pairs + at), 1);
	}
	support_load(c, BPF_DW, 9, 7, offsetof(struct us_proc, missed));
	/* What it had missed: calls of tables that it does not have, if it was known. */
	support_load(c, BPF_W, 1, 7, offsetof(struct us_proc, tables));
	support_load(c, BPF_W, 2, 7, offsetof(struct us_proc, forked));
	support_map_value(c, 8, k->maps[US_COUNTERS], US_MISSED * 8);
	support_jump_if(c, BPF_JEQ, 2, 0, TAKEN_0);
	support_map_value(c, 8, k->maps[US_COUNTERS], US_EARLY * 8);
	support_label(c, TAKEN_0);
	support_jump_if(c, BPF_JEQ, 1, 0, TAKEN_1);
	support_map_value(c, 8, k->maps[US_COUNTERS], US_FORGED * 8);
	support_label(c, TAKEN_1);
	support_map(c, 1, k->maps[US_PROCS]);
	support_frame(c, 2, -20);
	support_call(c, BPF_FUNC_map_delete_elem);
	support_jump_if(c, BPF_JNE, 0, 0, OUT);
	support_atomic(c, BPF_DW, BPF_ADD, 8, 0, 9);
	for (unsigned i = 0; i < US_TABLES; i++) {
		const int16_t at = (int16_t)(pairs + (int16_t)(i * sizeof(struct us_pair)));

		support_load(c, BPF_W, 8, 10, (int16_t)(at + 4));
		support_jump_if(c, BPF_JEQ, 8, 0, NEXT_0 + i);
		refer(k, c, 8, -1, OUT);
		support_mov32(c, 1, 1);
		support_jump_if(c, BPF_JNE, 1, 1, NEXT_0 + i);
		send(k, c, US_EVENT_GONE, 8, NEXT_0 + i); /* refs says the same */
		support_label(c, NEXT_0 + i);
	}
	end(c);
}

static void current_tgid(struct support_code *c)
{
	support_call(c, BPF_FUNC_get_current_pid_tgid);
	support_alu_imm(c, BPF_RSH, 0, 32);
	support_store(c, BPF_W, 10, -20, 0);
}

static void exec_hook(const struct us_kernel *k, struct support_code *c)
{
	current_tgid(c);
	take_out(k, c);
}

/* Argument: the task. Its group is gone when no thread of it lives. */
static void exit_hook(const struct us_kernel *k, struct support_code *c)
{
	support_load(c, BPF_DW, 6, 1, 0);
	read_kernel(c, -8, 8, 6, k->offsets.signal);
	support_load(c, BPF_DW, 6, 10, -8);
	read_kernel(c, -8, 4, 6, k->offsets.live);
	support_load(c, BPF_W, 1, 10, -8);
	support_jump_if(c, BPF_JNE, 1, 0, OUT);
	current_tgid(c);
	take_out(k, c);
}

/* ---- by request ---- */

#define IN(type, member) ((int16_t)offsetof(struct type, member))

static void result(struct support_code *c, int16_t at, int32_t value)
{
	support_set(c, 1, value);
	support_store(c, BPF_W, 6, at, 1);
	support_jump(c, OUT);
}

/* r6: the request, r7: the process, r8: family, r9: number1. */
static void set_proc(const struct us_kernel *k, struct support_code *c)
{
	const int16_t proc = -16 - (int16_t)sizeof(struct us_proc);
	const int16_t done = IN(us_set_proc, result);

	support_mov(c, 6, 1);
	support_load(c, BPF_W, 1, 6, IN(us_set_proc, tgid));
	support_store(c, BPF_W, 10, -8, 1);
	support_load(c, BPF_W, 9, 6, IN(us_set_proc, pair.number1));
	support_load(c, BPF_W, 8, 6, IN(us_set_proc, pair.family));
	look_up(k, c, US_PROCS, -8);
	support_jump_if(c, BPF_JNE, 0, 0, KNOWN);
	support_jump_if(c, BPF_JEQ, 9, 0, DONE);
	zero_proc(c, proc);
	update(k, c, US_PROCS, -8, proc);
	look_up(k, c, US_PROCS, -8);
	support_jump_if(c, BPF_JNE, 0, 0, KNOWN);
	result(c, done, -28 /* ENOSPC */);
	support_label(c, KNOWN);
	support_mov(c, 7, 0);
	support_jump_if(c, BPF_JEQ, 9, 0, REGISTER);
	for (unsigned i = 0; i < US_TABLES; i++) {
		const int16_t at =
			(int16_t)(offsetof(struct us_proc, tables) + i * sizeof(struct us_pair));

		support_load(c, BPF_W, 1, 7, at);
		support_jump_if(c, BPF_JEQ, 1, 0, NEXT_0 + i);
		support_jump_if_reg(c, BPF_JNE, 1, 9, TAKEN_0 + i);
		support_label(c, NEXT_0 + i);
		/* Free, or the number's own: the whole pair in one store. */
		support_load(c, BPF_W, 1, 7, (int16_t)(at + 4));
		support_jump_if_reg(c, BPF_JEQ, 1, 8, DONE);
		support_store(c, BPF_W, 10, -12, 1);
		support_mov(c, 1, 8);
		support_alu_imm(c, BPF_LSH, 1, 32);
		support_alu(c, BPF_OR, 1, 9);
		support_store(c, BPF_DW, 7, at, 1);
		support_set(c, 1, 1); /* no constants into a context, says 6.1 */
		support_store(c, BPF_W, 6, done, 1);
		support_jump(c, FOUND);
		support_label(c, TAKEN_0 + i);
	}
	result(c, done, -28);
	support_label(c, FOUND);
	/* What came before is missed, what comes now is not. */
	support_set(c, 1, 0);
	support_atomic(c, BPF_DW, BPF_XCHG, 7, IN(us_proc, missed), 1);
	support_store(c, BPF_DW, 6, IN(us_set_proc, missed), 1);
	refer(k, c, 8, 1, DONE);
	support_load(c, BPF_W, 8, 10, -12);
	support_jump_if(c, BPF_JEQ, 8, 0, DONE);
	refer(k, c, 8, -1, DONE);
	support_jump(c, DONE);
	support_label(c, REGISTER);
	support_load(c, BPF_W, 1, 6, IN(us_set_proc, news));
	support_jump_if(c, BPF_JEQ, 1, US_NEWS_NONE, FULL);
	support_atomic(c, BPF_W, BPF_XCHG, 7, IN(us_proc, news), 1);
	support_jump(c, DONE);
	support_label(c, FULL);
	support_set(c, 0, US_NEWS_LOOKING);
	support_atomic(c, BPF_W, BPF_CMPXCHG, 7, IN(us_proc, news), 1);
	support_label(c, DONE); /* result is 0 as it came in, or 1 */
	end(c);
}

static void del_proc(const struct us_kernel *k, struct support_code *c)
{
	support_load(c, BPF_W, 1, 1, IN(us_set_proc, tgid));
	support_store(c, BPF_W, 10, -20, 1);
	take_out(k, c);
}

void (*const us_programs[US_N_PROGRAMS])(const struct us_kernel *, struct support_code *) = {
	[US_DISPATCH] = dispatch, [US_FORK] = fork_hook,    [US_EXEC] = exec_hook,
	[US_EXIT] = exit_hook,    [US_SET_PROC] = set_proc, [US_DEL_PROC] = del_proc,
};
