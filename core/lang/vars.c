/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The variable table. Times are signed although they are never negative: people subtract them, and
 * `elapsed - 5ms > 0` must not be true of what took 1 ms. The types of retval and of arguments come
 * from the probe; the row of retval only lends its name and its help.
 */
#include "core/lang/lang.h"

#define INT(bytes, sign)                                                     \
	{                                                                    \
		.kind = WEFT_VALUE_INT, .size = (bytes), .is_signed = (sign) \
	}
#define PROBE(what)                                       \
	{                                                 \
		.kind = WEFT_VALUE_PROBE, .field = (what) \
	}
#define STACK(where)                                       \
	{                                                  \
		.kind = WEFT_VALUE_STACK, .space = (where) \
	}
#define CGROUP(what)                                       \
	{                                                  \
		.kind = WEFT_VALUE_CGROUP, .field = (what) \
	}
#define TASK_COMM_LEN 16 /* bytes with the NUL; include/linux/sched.h */

const struct weft_var weft_vars[] = {
	{"pid", WEFT_VAR_PID, INT(4, true),
	 "The process (thread group) that is running, in the tracer's pid namespace; 0 on an idle CPU."},
	{"tid", WEFT_VAR_TID, INT(4, true),
	 "The thread that is running, in the tracer's pid namespace."},
	{"ppid", WEFT_VAR_PPID, INT(4, true), "The parent of the process that is running."},
	{"uid", WEFT_VAR_UID, INT(4, false), "The real user of the thread that is running."},
	{"gid", WEFT_VAR_GID, INT(4, false), "The real group of the thread that is running."},
	{"execname",
	 WEFT_VAR_EXECNAME,
	 {.kind = WEFT_VALUE_STRING, .cap = TASK_COMM_LEN},
	 "The name of the thread that is running, as the kernel keeps it: at most 15 bytes."},
	{"cpu", WEFT_VAR_CPU, INT(4, false), "The CPU that the probe fired on."},
	{"timestamp", WEFT_VAR_TIMESTAMP, INT(8, true),
	 "Nanoseconds of the monotonic clock (CLOCK_MONOTONIC)."},
	{"walltimestamp", WEFT_VAR_WALLTIMESTAMP, INT(8, true),
	 "Nanoseconds since 1970-01-01 00:00 UTC."},
	{"cgroup", WEFT_VAR_CGROUP, INT(8, false),
	 "The cgroup (version 2) of the process that is running: its id, which is the inode number of "
	 "its directory."},
	{"cgroupname", WEFT_VAR_CGROUPNAME, CGROUP(WEFT_CGROUP_NAME),
	 "The path of that cgroup, from the root of the hierarchy: `/system.slice/cron.service`. Looked "
	 "up by its id when it is first seen; `id:N` if it was gone by then."},
	{"container", WEFT_VAR_CONTAINER, CGROUP(WEFT_CGROUP_CONTAINER),
	 "The id of the container that this cgroup belongs to, 64 hexadecimal digits, as docker, "
	 "containerd, podman and cri-o name their cgroups; empty if to none, `id:N` if the cgroup was "
	 "gone before it was looked up."},
	{"errno", WEFT_VAR_ERRNO, INT(4, true),
	 "The error that the return value says: its negative if it lies between -4095 and -1, else 0. "
	 "Only where there is a retval."},
	{"probeprov", WEFT_VAR_PROBEPROV, PROBE(WEFT_FIELD_PROVIDER),
	 "The provider of the probe that fired."},
	{"probemod", WEFT_VAR_PROBEMOD, PROBE(WEFT_FIELD_MODULE),
	 "The module of the probe that fired."},
	{"probefunc", WEFT_VAR_PROBEFUNC, PROBE(WEFT_FIELD_FUNCTION),
	 "The function of the probe that fired."},
	{"probename", WEFT_VAR_PROBENAME, PROBE(WEFT_FIELD_NAME),
	 "The name of the probe that fired."},
	{"regs",
	 WEFT_VAR_REGS,
	 {.kind = WEFT_VALUE_REGS},
	 "All registers, as a field of a record. Only of probes whose context has them."},
	{"stack", WEFT_VAR_STACK, STACK(WEFT_SPACE_KERNEL),
	 "The kernel stack, innermost frame first; `stack(N)` keeps N frames."},
	{"ustack", WEFT_VAR_USTACK, STACK(WEFT_SPACE_USER),
	 "The user stack, innermost frame first; `ustack(N)` keeps N frames."},
	{"retval", WEFT_VAR_RETVAL, INT(8, true),
	 "The value returned, with the type that the probe gives it. Only of probes that fire on a "
	 "return."},
	{"elapsed", WEFT_VAR_ELAPSED, INT(8, true),
	 "Nanoseconds since the entry that this return belongs to. Only of probes that fire on a "
	 "return and are paired with their entry."},
};
const size_t weft_n_vars = sizeof(weft_vars) / sizeof(weft_vars[0]);
