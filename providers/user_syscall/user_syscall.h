/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * user-syscall's parts.
 *
 * A *table* is the memfd in which a program declares its probes; a *family* is a table with the
 * processes that share it: the one that made it and what it forked. A *probe* is what the registry
 * knows: declarations of one name and of the same arguments, in however many families of one
 * executable, are one probe. A declaration in a family is an *instance*.
 *
 *	probe 1 --- n instance n --- 1 family 1 --- n process (known to the kernel side alone)
 *
 * Probes live until close(), as the registry's do; families come and go.
 */
#ifndef WEFT_USER_SYSCALL_H
#define WEFT_USER_SYSCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel.h"
#include "layout.h"
#include "weft/provider.h"

struct us_probe;

/* ---- args.c: what arguments are ---- */

struct us_args {
	struct weft_arg args[WEFT_TABLE_ARGS];
	struct weft_loc_op ops[WEFT_TABLE_ARGS][8];
	char names[WEFT_TABLE_ARGS][64];
	uint32_t n;
	char prototype[512];
};
/* -EINVAL: the text is none. */
int us_args_parse(const char *text, struct us_args *out);

/* ---- names.c: what strangers call themselves ---- */

/* A text as people and patterns can take it: control characters, colons where `colon`, and what is
 * no UTF-8 or would change how the rest of a line looks become %XX. */
void us_escape(const char *from, bool colon, char *to, size_t size);

/* ---- table.c: reading what a stranger wrote ---- */

struct us_table {
	int fd;
	dev_t device;
	ino_t inode;
	uint32_t number, capacity, words, decls, decls_size; /* checked, and never read again */
};

struct us_decl {
	uint32_t state;
	const char *provider, *name, *args; /* until the next call */
};

/* Checks a file and its header; takes the descriptor over in any case. -EINVAL: *why says what is
 * wrong with it. */
int us_table_open(int fd, struct us_table *out, const char **why);
void us_table_close(struct us_table *t);
int us_table_count(const struct us_table *t, uint32_t *count, uint32_t *flags);
/* Calls fn for each declaration up to count, in order. -EINVAL: they are malformed; those before
 * have been handed over. */
int us_table_read(const struct us_table *t, uint32_t count,
		  int (*fn)(uint32_t index, const struct us_decl *, void *arg), void *arg);

/* ---- tracers' part of a table: slot.c ---- */

/* Takes a slot: 0..7, or -errno (-EBUSY: all are taken). It is free again when fd is closed. */
int us_slot_claim(const struct us_table *t, bool (*keep)(void *arg, uint32_t index), void *arg);
int us_slot_enable(const struct us_table *t, int slot, uint32_t index, bool enabled);
/* Counts the beat up; *expired: how often the program gave up on it, ever. */
int us_slot_beat(const struct us_table *t, int slot, uint64_t *expired);

/* ---- families ---- */

struct us_instance {
	struct us_probe *probe;   /* NULL: not to be had */
	struct us_instance *next; /* of the probe */
	struct us_family *family;
	uint32_t index, state;
	bool live, enabled, known; /* known: the kernel side has it */
};

struct us_family {
	struct us_family *next;
	uint32_t id;
	struct us_table table;
	struct us_instance **instances; /* by index */
	uint32_t n_instances, cap_instances;
	uint32_t flags;
	int slot; /* -1: none yet */
	uint64_t expired;
	bool malformed;
	bool behind;        /* its words do not say yet what is enabled */
	const char *silent; /* why it is not to be enabled, or NULL */
	pid_t pid;          /* the first process that was found with it, for messages */
	uint64_t started;   /* when, as the kernel counts: its number may be another's later */
	pid_t watched;      /* whose sandbox is looked at: the same, or one that has a filter */
	uint64_t watched_started;
	uint32_t uid;
	dev_t exe_device;
	ino_t exe_inode;
	char exe[512]; /* escaped */
	char cgroup[256];
	char module[160];
};

struct us_probe {
	struct us_probe *next;
	const struct weft_probe *registered;
	struct us_instance *instances;
	char *module, *function, *name, *signature; /* signature: the arguments' text */
	dev_t exe_device;
	ino_t exe_inode;
	struct weft_attachment *attachment; /* NULL: not enabled */
	uint64_t cookie;
	uint32_t slot;
};

/* Processes, in the order in which they were put here. */
struct us_pids {
	pid_t *v;
	uint32_t n, cap;
};

struct weft_attachment {
	struct weft_attachment *next;
	uint32_t slot; /* in PROGRAMS */
};

struct weft_instance {
	const struct weft_host *host;
	struct us_kernel kernel;
	struct us_family *families;
	uint32_t n_families;
	bool family_ids[US_MAX_FAMILIES];
	struct us_probe **probes; /* hash table of chains */
	struct weft_attachment *attachments;
	bool slots[US_MAX_PROGRAMS];
	uint32_t n_probes;
	struct weft_registry *registry; /* during calls that may register; else NULL */
	struct weft_error *err;         /* the same call's */
	struct ring_buffer *ring;
	struct us_pids looked, waiting; /* discover.c */
	uint32_t n_looks;               /* of this discover() */
	int epoll, start, timer, later, null;
	bool started, ticking;
	bool asked;   /* for the mechanism, by name */
	bool joining; /* many processes are taken in: programs are told when all are */
	uint64_t reported[US_N_COUNTERS], reported_misses;
	uint64_t lost_events;
	uint64_t refused; /* tables and declarations */
	uint64_t strays;  /* calls of tables that a process does not have */
	char description[256];
	struct us_args args; /* of the last probe_info */
	char note[1024];
};

/* families.c */
/* Takes in the tables of one process. -errno only if memory is short. */
int us_family_adopt(struct weft_instance *in, pid_t pid);
/* What was left for later while in->joining. */
void us_families_apply(struct weft_instance *in);
void us_family_drop(struct weft_instance *in, struct us_family *f);
void us_family_recheck(struct weft_instance *in, struct us_family *f); /* its sandbox */
void us_family_collect(struct weft_instance *in);                      /* those without processes */

/* probes.c */
int us_probe_of(struct weft_instance *in, struct us_family *f, const struct us_decl *d,
		struct us_probe **out);
void us_probe_add(struct us_probe *p, struct us_instance *i);
void us_probe_remove(struct us_instance *i);
void us_probes_free(struct weft_instance *in);
void us_probes_release(struct weft_instance *in, const struct weft_attachment *at);
int us_probe_info(struct weft_instance *in, const struct weft_probe *probe,
		  const struct weft_params *with, struct weft_probe_info *out,
		  struct weft_error *err);
const char *us_probe_note(struct weft_instance *in, const struct weft_probe *probe,
			  const struct weft_params *with);

/* scan.c */
int us_scan(struct weft_instance *in);
/* Calls fn with an open table's descriptor for each file of that name that the process maps. */
struct us_found {
	int fd;
	char link[64]; /* in the process's directory of /proc: is there as long as the mapping is */
};
int us_scan_process(int proc_fd, struct us_found *found, size_t most, size_t *n);
bool us_is_target(const struct weft_instance *in, pid_t pid);

/* attach.c */
int us_attach(struct weft_instance *in, const struct weft_attach_request *request,
	      struct weft_attachment **out, struct weft_error *err);
void us_detach(struct weft_instance *in, struct weft_attachment *at);
/* Tells the kernel side of an instance whose probe is enabled; then the program. */
void us_prepare(struct weft_instance *in, struct us_instance *i);
void us_apply(struct weft_instance *in, struct us_instance *i);
void us_tick(struct weft_instance *in);
void us_report(struct weft_instance *in);

/* discover.c */
int us_discover_fd(struct weft_instance *in);
int us_discover(struct weft_instance *in, struct weft_registry *registry, struct weft_error *err);
int us_start(struct weft_instance *in, struct weft_error *err);
/* Takes in who has been announced by now, if they are not too many. */
void us_catch_up(struct weft_instance *in);
void us_stop(struct weft_instance *in);

#endif
