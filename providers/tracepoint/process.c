/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The life of processes: probes of the module "process", made of tracepoints.
 *
 *   fork     task_newtask, of a task that is not a thread of its parent's process; in the parent
 *   thread   task_newtask, of one that is
 *   exec     sched_process_exec, once the new program is in place
 *   exit     sched_process_exit, of the last thread of a process
 *   signal   signal_deliver, in the process that gets it
 *
 * Fields go by names that say what they are. The exit status is what a parent will be told: that of
 * the whole process where it ended as a whole, else its first thread's (kernel/exit.c, wait_task_zombie).
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/sched.h>
#include <string.h>

#include "tracepoint.h"

/* ---- exit ---- */

#define SIGNAL_GROUP_EXIT 0x4 /* include/linux/sched/signal.h, the same since 2.6.0 */

enum { SIGNAL, LIVE, FLAGS, GROUP_CODE, LEADER, CODE };
static const char *const members[] = {
	[SIGNAL] = "task_struct.signal",       [LIVE] = "signal_struct.live",
	[FLAGS] = "signal_struct.flags",       [GROUP_CODE] = "signal_struct.group_exit_code",
	[LEADER] = "task_struct.group_leader", [CODE] = "task_struct.exit_code",
};

#define TASK                                  \
	{                                     \
		.op = WEFT_LOC_CTX, .size = 8 \
	}
#define MEMBER(m)                                 \
	{                                         \
		.op = WEFT_LOC_MEMBER, .imm = (m) \
	}
#define LOAD(bytes)                                  \
	{                                            \
		.op = WEFT_LOC_LOAD, .size = (bytes) \
	}
#define NUMBER(n)                                \
	{                                        \
		.op = WEFT_LOC_CONST, .imm = (n) \
	}
#define OP(name)                      \
	{                             \
		.op = WEFT_LOC_##name \
	}
#define LOCATION(o)                                                                        \
	{                                                                                  \
		.ops = (o), .n_ops = COUNT(o), .n_names = COUNT(members), .names = members \
	}

/* What wait(2) gives. */
#define STATUS                                                                                     \
	TASK, MEMBER(SIGNAL), LOAD(8), MEMBER(FLAGS), LOAD(4), NUMBER(SIGNAL_GROUP_EXIT), OP(AND), \
		TASK, MEMBER(SIGNAL), LOAD(8), MEMBER(GROUP_CODE), LOAD(4), TASK, MEMBER(LEADER),  \
		LOAD(8), MEMBER(CODE), LOAD(4), OP(SELECT)

static const struct weft_loc_op last_thread[] = {TASK,    MEMBER(SIGNAL), LOAD(8), MEMBER(LIVE),
						 LOAD(4), NUMBER(0),      OP(EQ)};
static const struct weft_loc_op exit_status[] = {STATUS, NUMBER(8), OP(SHR), NUMBER(0xff), OP(AND)};
static const struct weft_loc_op exit_signal[] = {STATUS, NUMBER(0x7f), OP(AND)};
static const struct weft_loc_op exit_core[] = {STATUS, NUMBER(7), OP(SHR), NUMBER(1), OP(AND)};

#define EXIT_ARG(n, o, bytes, sign)                                   \
	{                                                             \
		.struct_size = sizeof(struct weft_arg), .name = (n),  \
		.type = {.struct_size = sizeof(struct weft_arg_type), \
			 .kind = WEFT_TYPE_INT,                       \
			 .size = (bytes),                             \
			 .flags = (sign)},                            \
		.where = LOCATION(o)                                  \
	}
static const struct weft_arg exit_args[] = {
	EXIT_ARG("status", exit_status, 4, WEFT_TYPE_SIGNED),
	EXIT_ARG("signal", exit_signal, 4, WEFT_TYPE_SIGNED),
	EXIT_ARG("core", exit_core, 1, 0),
};

/* ---- those that are records ---- */

static const struct life {
	struct tracepoint_life shared;
	/* fields of the record, in the order of the arguments, and what they are called */
	struct {
		const char *field, *name;
	} fields[8];
	bool guarded, threads; /* by clone_flags: threads, or all but threads */
} lives[] = {
	{{.name = "fork",
	  .category = "task",
	  .event = "task_newtask",
	  .prototype = "(pid_t child, char program[16], u64 flags)"},
	 {{"pid", "child"}, {"comm", "program"}, {"clone_flags", "flags"}},
	 true,
	 false},
	{{.name = "thread",
	  .category = "task",
	  .event = "task_newtask",
	  .prototype = "(pid_t child, char program[16], u64 flags)"},
	 {{"pid", "child"}, {"comm", "program"}, {"clone_flags", "flags"}},
	 true,
	 true},
	{{.name = "exec",
	  .category = "sched",
	  .event = "sched_process_exec",
	  .prototype = "(char[] path, pid_t old_tid)"},
	 {{"filename", "path"}, {"old_pid", "old_tid"}},
	 false,
	 false},
	{{.name = "exit",
	  .category = "sched",
	  .event = "sched_process_exit",
	  .raw = true,
	  .args = exit_args,
	  .n_args = COUNT(exit_args),
	  .guard = LOCATION(last_thread),
	  .prototype = "(int status, int signal, bool core)"},
	 {{NULL, NULL}},
	 false,
	 false},
	{{.name = "signal",
	  .category = "signal",
	  .event = "signal_deliver",
	  .prototype =
		  "(int signal, int code, int errno, unsigned long handler, unsigned long flags)"},
	 {{"sig", "signal"},
	  {"code", "code"},
	  {"errno", "errno"},
	  {"sa_handler", "handler"},
	  {"sa_flags", "flags"}},
	 false,
	 false},
};

const struct tracepoint_life *tracepoint_life(size_t i)
{
	return i < COUNT(lives) ? &lives[i].shared : NULL;
}

const struct tracepoint_life *tracepoint_life_of(const char *name)
{
	for (size_t i = 0; i < COUNT(lives); i++)
		if (!strcmp(lives[i].shared.name, name))
			return &lives[i].shared;
	return NULL;
}

static const struct tracepoint_field *field_of(const struct weft_instance *in, const char *name)
{
	for (uint32_t i = 0; i < in->format.n_fields; i++)
		if (!strcmp(in->format.fields[i].name, name))
			return &in->format.fields[i];
	return NULL;
}

/* The fields that the probe has, in its order and by its names. What this kernel does not record is
 * there all the same, and says so. */
static void pick(struct weft_instance *in, const struct life *life)
{
	struct tracepoint_field picked[COUNT(life->fields)] = {0};
	uint32_t n = 0;

	for (; n < COUNT(life->fields) && life->fields[n].field; n++) {
		const struct tracepoint_field *f = field_of(in, life->fields[n].field);

		if (f)
			picked[n] = *f;
		else
			picked[n].type = "int";
		picked[n].name = life->fields[n].name;
	}
	memcpy(in->format.fields, picked, n * sizeof(picked[0]));
	in->format.n_fields = n;
}

static struct weft_location guard_of(const struct tracepoint_field *flags, bool threads,
				     struct weft_loc_op ops[5])
{
	const struct weft_loc_op all[] = {
		{.op = WEFT_LOC_CTX, .size = (uint8_t)flags->size, .imm = flags->offset},
		NUMBER(CLONE_THREAD),
		OP(AND),
		NUMBER(0),
		{.op = threads ? WEFT_LOC_NE : WEFT_LOC_EQ},
	};

	memcpy(ops, all, sizeof(all));
	return (struct weft_location){.ops = ops, .n_ops = COUNT(all)};
}

static int raw_info(const struct tracepoint_life *life, struct weft_probe_info *out)
{
	out->load = (struct weft_load_class){
		.struct_size = sizeof(out->load),
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.flags = WEFT_LOAD_ONE_PER_PROBE,
		.ctx_kind = WEFT_CTX_WORDS,
		.ctx_size = 8,
	};
	out->identity = (struct weft_identity){.struct_size = sizeof(out->identity),
					       .kind = WEFT_IDENTITY_CONST};
	out->guard = life->guard;
	out->args = life->args;
	out->n_args = life->n_args;
	out->arg_size = sizeof(life->args[0]);
	return 0;
}

int tracepoint_life_info(struct weft_instance *in, const struct tracepoint_life *shared,
			 struct weft_probe_info *out, struct weft_error *err)
{
	const struct life *life = (const struct life *)shared; /* its first member */
	const struct tracepoint_field *flags;
	long n;

	out->scope = WEFT_SCOPE_NONE;
	out->prototype = shared->prototype;
	if (shared->raw)
		return raw_info(shared, out);
	n = tracepoint_read(in->events, shared->category, shared->event, "format", in->format.text,
			    sizeof(in->format.text));
	if (n < 0 || tracepoint_parse(&in->format))
		return in->host->fail(
			err, n < 0 ? (int)n : -EINVAL, "TRACEPOINT_FORMAT",
			"this kernel's tracepoint %s:%s, which tracepoint:process::%s is "
			"made of, cannot be read: %s",
			shared->category, shared->event, shared->name,
			strerror(n < 0 ? (int)-n : EINVAL));
	flags = field_of(in, "clone_flags");
	if (life->guarded && flags && flags->size == 8)
		out->guard = guard_of(flags, life->threads, in->guard);
	else if (life->guarded)
		return in->host->fail(
			err, -EINVAL, "TRACEPOINT_FORMAT",
			"this kernel does not record what tells threads from processes");
	pick(in, life);
	out->n_args = tracepoint_args(in, shared->category);
	out->prototype = shared->prototype;
	out->args = in->args;
	out->arg_size = sizeof(in->args[0]);
	out->load = (struct weft_load_class){
		.struct_size = sizeof(out->load),
		.prog_type = BPF_PROG_TYPE_TRACEPOINT,
		.flags = WEFT_LOAD_COOKIE,
		.ctx_kind = WEFT_CTX_RECORD,
		.ctx_size = in->format.size,
	};
	out->identity = (struct weft_identity){.struct_size = sizeof(out->identity),
					       .kind = WEFT_IDENTITY_COOKIE};
	return 0;
}
