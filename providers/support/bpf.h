/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The calls of bpf(2) and perf_event_open(2) that providers attach with. Descriptors are returned
 * close-on-exec; failures as -errno, read at the failing call.
 */
#ifndef WEFT_SUPPORT_BPF_H
#define WEFT_SUPPORT_BPF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens an event on one process (pid -1: any) and one CPU (-1: any). */
int support_perf_open(struct perf_event_attr *attr, int32_t pid, int cpu);
int support_perf_enable(int event_fd);
int support_perf_disable(int event_fd);

/*
 * Attaches a program to a perf event, with a cookie. On success *hold is the descriptor that keeps
 * the attachment alive: a BPF link, which also keeps the event, so that event_fd may be closed; or,
 * on a kernel without such links (before 5.15), event_fd itself, which is then not to be closed.
 * Such a kernel has no cookies: with need_cookie the older way is not tried.
 */
int support_perf_attach(int event_fd, int prog_fd, uint64_t cookie, bool need_cookie, int *hold);

/* A raw tracepoint by its name (without a category). There is no cookie. NULL: the program was
 * loaded for its place (BTF raw tracepoint, fentry, fexit). */
int support_raw_tracepoint_open(const char *name, int prog_fd);

/* A link on many places of one file (6.6). The program must have been loaded with the expected
 * attach type SUPPORT_BPF_TRACE_UPROBE_MULTI, which older kernels accept: only this call tells
 * whether the kernel can. */
#define SUPPORT_BPF_TRACE_UPROBE_MULTI 48u
#define SUPPORT_UPROBE_MULTI_RETURN    1u
struct support_uprobe_multi {
	const char *path;
	const uint64_t *offsets;         /* in the file */
	const uint64_t *ref_ctr_offsets; /* in the file, of USDT semaphores; or NULL */
	const uint64_t *cookies;
	uint32_t count;
	uint32_t flags; /* SUPPORT_UPROBE_MULTI_RETURN */
	int32_t pid;    /* 0: all; right since 6.10 */
};
/* Made, and to be closed, where a signal that kills does not reach (support/shield.h). */
int support_uprobe_multi_link(int prog_fd, const struct support_uprobe_multi *what);
/* The process that such a link is for; 0: none, or one that is no longer (6.8). */
int support_uprobe_multi_pid(int link_fd, int32_t *pid);

/* A link on many kernel functions (5.18), by address or by name. The program must have been loaded
 * with the expected attach type BPF_TRACE_KPROBE_MULTI; only this call tells whether the kernel
 * can. One function that cannot be traced makes it fail as a whole. */
struct support_kprobe_multi {
	const uint64_t *addresses;  /* or NULL */
	const char *const *symbols; /* or NULL */
	const uint64_t *cookies;    /* or NULL */
	uint32_t count;
	uint32_t flags; /* BPF_F_KPROBE_MULTI_RETURN */
};
int support_kprobe_multi_link(int prog_fd, const struct support_kprobe_multi *what);

struct bpf_insn;
int support_program_load(const char *name, uint32_t type, uint32_t flags,
			 const struct bpf_insn *insns, size_t n, char *log, uint32_t log_size);
/* Runs a BPF_PROG_TYPE_SYSCALL program, which reads and writes ctx. Unlike a map system call it
 * keeps no other program from running on this CPU while it is preempted. */
int support_program_run(int prog_fd, void *ctx, uint32_t size);
/* Firings that the kernel skipped because a program was running on that CPU (recursion_misses). */
int support_program_misses(int prog_fd, uint64_t *out);

/* A map of any kind; flags BPF_F_*. */
int support_map_create(const char *name, uint32_t type, uint32_t key_size, uint32_t value_size,
		       uint32_t max_entries, uint32_t flags);

/* A hash in the kernel, for WEFT_IDENTITY_MAP, and its elements. */
int support_hash_create(const char *name, uint32_t key_size, uint32_t value_size,
			uint32_t max_entries);
int support_map_update(int map_fd, const void *key, const void *value);
int support_map_delete(int map_fd, const void *key);

#endif
