/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The kernel's side: creating maps, loading programs, and the few programs that the core itself runs. */
#ifndef WEFT_KERNEL_H
#define WEFT_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../error.h"
#include "../plan.h"
#include "weft/provider.h"

/* ---- maps and programs ---- */

/* The maps of a plan as file descriptors, -1 where not created. Grows with the plan. */
struct weft_maps {
	int *fds;
	size_t n;
	void *state; /* STATE, mapped shared and writable; NULL until created */
	size_t state_size;
	uint64_t *probes;   /* PROBES, mapped */
	size_t probes_size; /* bytes */
};

/* Creates the used maps that do not exist yet. MAP_CREATE names the map and the remedy (EPERM:
 * privileges). */
int weft_maps_create(struct weft_maps *maps, struct weft_plan *plan, struct weft_error *err);
/* Makes the kernel fill the element caches of the maps that are new on every CPU (warm.c says why);
 * only before programs are attached that use them. */
int weft_maps_warm(const struct weft_maps *maps, struct weft_plan *plan, struct weft_error *err);
void weft_maps_finish(struct weft_maps *maps);
/* Writes all elements of an mmapable ARRAY, without a system call that programs would notice. */
int weft_map_write_array(int map_fd, const struct weft_map_spec *spec, const void *elements,
			 struct weft_error *err);
/* Adds elements to a HASH u64 -> u64 (DISPATCH), likewise. MAP_UPDATE; -EEXIST if a key is there,
 * *failed being its index. */
struct weft_map_pair {
	uint64_t key, value;
};
int weft_map_put(int map_fd, const struct weft_map_pair *pairs, size_t n, size_t *failed,
		 struct weft_error *err);
/* Kernel memory that the maps account for (memlock of fdinfo), bytes. */
uint64_t weft_maps_memory(const struct weft_maps *maps);

/* Loads a program of the plan, binding map indexes to descriptors. The first load asks for no log;
 * only if it fails is it loaded again with one. PROGRAM_REJECTED names clause and expression of the
 * last instruction that the verifier speaks of; *log (free with free()) gets its log.
 * PROGRAM_DENIED for EPERM. */
int weft_program_load(const struct weft_program *prog, const struct weft_maps *maps, int *fd,
		      char **log, struct weft_error *err);

/* Runs a raw tracepoint program once in this thread's context (begin and end clauses). */
int weft_program_run(int fd, struct weft_error *err);

/* recursion_misses of a loaded program. */
int weft_program_misses(int fd, uint64_t *misses);

/* `return 0` of a class: weft_host.trial_program. */
int weft_program_trial(const struct weft_load_class *load, struct weft_error *err);

/* ---- the kernel's type information (core/btf/), read for one question and let go of ---- */

/* Type id of the FUNC named, or -ENOENT. */
int weft_btf_find_func(const char *name, uint32_t *id, struct weft_error *err);
/* Byte offsets of members of structs, one pass for all: "task_struct.tgid", or a member of a member
 * that is a struct itself and not a pointer to one, "perf_event.hw.hrtimer". What lies in nameless
 * structs and unions counts as its owner's. A bit field is not found. */
struct weft_btf_member {
	const char *path;
	uint32_t offset;
	bool found;
};
int weft_btf_find_members(struct weft_btf_member *members, size_t n, struct weft_error *err);

/* Looks for the members that a plan wants: each becomes KNOWN or ABSENT. BTF_MISSING,
 * BTF_MALFORMED: they stay WANTED. */
int weft_btf_resolve(struct weft_plan *plan, struct weft_error *err);

/* Bytes into kernel structs, for the core's own programs. */
struct weft_task_offsets {
	uint32_t tgid, pid, real_parent, signal, signal_live;
};
/* BTF_MISSING, BTF_MALFORMED, BTF_NOT_FOUND. */
int weft_btf_task_offsets(struct weft_task_offsets *out, struct weft_error *err);

/* ---- reading maps while programs are attached ---- */

struct weft_map_reader;
/* For a HASH or PERCPU_HASH map of a plan. exchange: take each value by an atomic exchange with 0 (min, max). */
int weft_map_reader_create(int map_fd, const struct weft_map_spec *spec, uint32_t n_cpus,
			   bool exchange, struct weft_map_reader **out, struct weft_error *err);
void weft_map_reader_destroy(struct weft_map_reader *r);
/* Calls fn for every element: value is value_size bytes (PERCPU: n_cpus times the size rounded up to 8). */
int weft_map_reader_run(struct weft_map_reader *r,
			int (*fn)(const void *key, const void *value, void *arg), void *arg,
			struct weft_error *err);
/* The same by map system calls, in batches: only before attach or after detach. */
int weft_map_walk(int map_fd, const struct weft_map_spec *spec, uint32_t n_cpus,
		  int (*fn)(const void *key, const void *value, void *arg), void *arg,
		  struct weft_error *err);

/* ---- processes ---- */

/* The target set in the kernel: raw tracepoints that keep TARGETS and control.live_targets
 * (targets; with follow, children become targets before they run) and EXECGEN (execgen). The maps
 * named must have been created; with targets and follow the plan must have a WEFT_LOSS_TARGETS_FULL
 * site, made before STATE was. PROCSET_ATTACH, and what reading BTF and loading programs may say. */
struct weft_procset;
int weft_procset_attach(const struct weft_plan *plan, const struct weft_maps *maps, bool follow,
			bool execgen, bool targets, struct weft_procset **out,
			struct weft_error *err);
void weft_procset_detach(struct weft_procset *p);
/* Adds a process to TARGETS, by its number in the caller's pid namespace. After weft_procset_attach(),
 * so that one which ends meanwhile is removed; before probes are attached. TARGET_NO_PROCESS
 * (-ESRCH), TARGETS_FULL, PROCSET_ADD. Adding one that is there already does nothing. */
int weft_procset_add(const struct weft_maps *maps, int32_t tgid, struct weft_error *err);
/* Events that the kernel did not give to the programs (recursion_misses): a loss, PROGRAM_BUSY. */
uint64_t weft_procset_misses(const struct weft_procset *p);

/* Removes what a thread has in SELF and FRAMES when it ends: core/kernel/threads.c. Before programs
 * are attached that put something there. *out is NULL where the plan has neither. THREADS_ATTACH,
 * and what loading programs may say. */
struct weft_threads;
int weft_threads_attach(const struct weft_plan *plan, const struct weft_maps *maps,
			struct weft_threads **out, struct weft_error *err);
void weft_threads_detach(struct weft_threads *t);
uint64_t weft_threads_misses(const struct weft_threads *t); /* as weft_procset_misses() */

/* Process events through a dummy perf event per online CPU: fork, exec, exit, and with `mappings`
 * executable mappings of files and of "[vdso]", with device and inode (build_id is NULL: the kernel
 * tells one or the other). Process numbers are those of the caller's namespace. An exit is that of
 * the group's leader. PROCESS_WATCH. */
struct weft_procwatch;
int weft_procwatch_create(bool mappings, struct weft_procwatch **out, struct weft_error *err);
void weft_procwatch_destroy(struct weft_procwatch *w);
int weft_procwatch_fd(const struct weft_procwatch *w); /* an epoll descriptor */
/* Delivers what is there, in time order over all CPUs: an event that caused another comes first.
 * Cannot fail: what cannot be read is lost, and *lost grows by the events lost. */
void weft_procwatch_poll(struct weft_procwatch *w,
			 void (*fn)(const struct weft_process_event *, void *), void *arg,
			 uint64_t *lost);
/* Events lost that no poll has told of, nor will if this was the last. */
uint64_t weft_procwatch_untold(const struct weft_procwatch *w);

#endif
