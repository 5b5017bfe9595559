/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the provider has in the kernel.
 *
 *   dispatcher   on the entry of getpid. Not the magic: done. Else: which process calls (PROCS),
 *                which declaration is meant (PROBES), is it within its rate; then the cookie is
 *                left in COOKIE of this CPU and control passes to the core's program by a tail
 *                call (PROGRAMS). One event and one look-up, however many programs a session has.
 *   fork         a child of a process in PROCS is in PROCS before it runs: it shares the table.
 *   exec, exit   take the process out, before another can have its number.
 *
 *   PROCS        tgid -> struct us_proc
 *   FAMILIES     family -> struct us_family_value; a family is the processes that share one table
 *   PROBES       base of the family + index -> struct us_probe_value
 *   COUNTERS     enum us_counter
 *   EVENTS       struct us_event, for what the provider has to look at
 *
 * The maps are changed while programs look at them, so not by map system calls: these keep all
 * programs of tracepoints, kprobes and perf events from running on the CPU where they are preempted
 * (bpf_prog_active), ours and everyone's, and 6.1 does not even count it. Programs of type SYSCALL
 * do it with PROCS instead, which are run by request; they have no such effect. PROGRAMS is of a
 * kind that the map calls treat apart, without that effect; all others are mapped memory.
 *
 * A family has a range of PROBES, from `base` on, which are one word with the size. It gets a
 * larger one as its table grows: a copy, that is complete before the word is changed. Ranges are
 * used again only when no process of the family is left, so that nobody can be looking at one.
 */
#ifndef WEFT_USER_SYSCALL_KERNEL_H
#define WEFT_USER_SYSCALL_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "weft/provider.h"

#define US_TABLES       4u      /* of one process */
#define US_MAX_PROBES   131072u /* in PROBES */
#define US_RANGE        64u     /* elements of the smallest range */
#define US_MAX_FAMILIES 4096u
#define US_MAX_PROGRAMS 1024u
#define US_NO_SLOT      UINT32_MAX

struct us_pair {
	uint32_t number1; /* a table's number + 1; 0: none */
	uint32_t family;
};

struct us_proc {
	uint64_t full;   /* when the bucket of tokens is full again: ticks, in ns */
	uint64_t missed; /* calls of a table that is not (yet) known here */
	uint64_t pad;
	struct us_pair tables[US_TABLES];
	uint32_t news;   /* enum us_news */
	uint32_t forked; /* by one that was here before it */
};

/*
 * Whether the provider has to look at a process, or is just looking. A process that is forked in
 * either state shares a table of which it cannot yet be said which one it is: it is looked at too.
 */
enum us_news {
	US_NEWS_NONE = 0,
	US_NEWS_SENT = 1,    /* an event is on its way */
	US_NEWS_LOOKING = 2, /* what is announced from here on is told again */
};

struct us_probe_value {
	uint64_t cookie;
	uint32_t slot1; /* in PROGRAMS, + 1; 0: not enabled here. Stored last. */
	uint32_t pad;
};

struct us_family_value {
	uint32_t refs;  /* processes */
	uint32_t count; /* declarations */
	uint64_t range; /* base, size << 32 */
};

enum us_counter {
	US_FORGED,  /* ids that were never declared */
	US_LATE,    /* firings of probes whose program is gone */
	US_LIMITED, /* firings beyond the rate */
	US_MISSED,  /* calls of processes that ended without becoming known */
	US_EVENTS,  /* events that had no room */
	US_EARLY,   /* calls of children that ended without becoming known */
	US_CROWDED, /* calls of processes that had no room in PROCS */
	US_N_COUNTERS = 16
};

enum us_event_kind {
	US_EVENT_LOOK = 1, /* a process announced declarations, or is not known */
	US_EVENT_GONE = 2, /* a family has no process any more */
};

struct us_event {
	uint32_t kind, value; /* tgid, or family */
};

/* Requests to the programs of type SYSCALL. */
struct us_set_proc {
	uint32_t tgid;
	struct us_pair pair; /* number1 0: `news` alone, of a process that is known */
	int32_t result;
	uint64_t missed; /* out: calls that were not known until now */
	uint32_t news;   /* LOOKING: a look begins; NONE: it has ended, unless there is more */
	uint32_t pad;
};
enum us_mechanism { US_TRACEPOINT, US_RAW };

enum us_map {
	US_PROCS,
	US_PROBES,
	US_FAMILIES,
	US_COUNTERS,
	US_EVENT_RING,
	US_PROGRAMS,
	US_COOKIE,
	US_N_MAPS
};
enum us_program { US_DISPATCH, US_FORK, US_EXEC, US_EXIT, US_SET_PROC, US_DEL_PROC, US_N_PROGRAMS };

struct us_offsets {
	uint32_t tgid, pid, signal, live;
};

struct us_kernel {
	const struct weft_host *host;
	enum us_mechanism mechanism;
	uint32_t processes; /* in PROCS, at most */
	uint32_t step_ns;   /* time that a token takes; 0: no limit */
	uint32_t tick_ns;   /* of the kernel's clock tick */
	struct us_offsets offsets;
	int maps[US_N_MAPS];
	int programs[US_N_PROGRAMS];
	int holds[4]; /* links and events */
	struct us_family_value *families;
	struct us_probe_value *probes;
	uint16_t owners[US_MAX_PROBES / US_RANGE]; /* which family has it; 0: none */
	uint64_t *counters;
	bool attached;
};

void us_kernel_init(struct us_kernel *k, const struct weft_host *host, uint64_t rate,
		    uint32_t processes, enum us_mechanism mechanism);
/* COOKIE alone, which the core's programs are compiled with; the descriptor stays the kernel's. */
int us_kernel_cookie(struct us_kernel *k);
/* Maps, programs, events. Does nothing the second time. USER_SYSCALL_ATTACH and others. */
int us_kernel_attach(struct us_kernel *k, struct weft_error *err);
void us_kernel_detach(struct us_kernel *k); /* keeps COOKIE: the core's programs have it */
void us_kernel_finish(struct us_kernel *k);

/* 1: the process is new to the family; *missed are its calls until then. 0: it was there. */
int us_kernel_set_proc(struct us_kernel *k, uint32_t tgid, uint32_t number, uint32_t family,
		       uint64_t *missed);
/* Before its tables are looked at, and after. */
int us_kernel_look(struct us_kernel *k, uint32_t tgid, enum us_news news);
int us_kernel_forget(struct us_kernel *k, uint32_t tgid);
/* Enables, or with US_NO_SLOT disables. -ENOSPC: no room for so many. */
int us_kernel_set_probe(struct us_kernel *k, uint32_t family, uint32_t index, uint64_t cookie,
			uint32_t slot);
/* Gives back all that a family has. Nobody may refer to it any more. */
void us_kernel_drop_family(struct us_kernel *k, uint32_t family);
int us_kernel_set_program(struct us_kernel *k, uint32_t slot, int prog_fd);
void us_kernel_del_program(struct us_kernel *k, uint32_t slot);
uint64_t us_kernel_misses(const struct us_kernel *k);

/* programs.c */
struct support_code;
extern void (*const us_programs[US_N_PROGRAMS])(const struct us_kernel *, struct support_code *);

/* arch_*.c: where the first argument of a system call lies in the saved registers. */
extern const int16_t us_first_argument;

#endif
