/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The history of address spaces (procs.c). */
#ifndef WEFT_SYMBOLS_PROCS_H
#define WEFT_SYMBOLS_PROCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/symbols/files.h"
#include "weft/provider.h"

/* An executable mapping, and the time for which it was there: [from, until). */
struct weft_mapping {
	uint64_t start, end; /* addresses */
	uint64_t offset;     /* in the file, of start */
	uint64_t from, until;
	uint64_t seen; /* when it was last known to be there */
	struct weft_file *file;
};

/* A set of mappings; shared by a parent and its children until one of them changes it. */
struct weft_mm {
	uint32_t refs;
	struct weft_mapping *mappings; /* by start */
	size_t n, cap;
	uint32_t dropped; /* ended mappings that had to make room; not yet counted elsewhere */
};

/* What a process is between two of its execs. */
struct weft_generation {
	uint64_t from;      /* 0: its beginning was not seen */
	uint64_t snapshot;  /* when its mappings were read; 0: never */
	bool complete;      /* all its mappings are known: told from its beginning, or read */
	bool by_snapshot;   /* it became complete by being read */
	struct weft_mm *mm; /* NULL: no mapping is known */
};

struct weft_process {
	int32_t tgid;
	bool dead;
	bool makes_code;                      /* a snapshot saw some that lies in no file */
	struct weft_process *older, *younger; /* among the dead */
	struct weft_generation *generations;  /* by from */
	size_t n, cap;
};

struct weft_procs {
	struct weft_files *files;
	struct weft_u64map map; /* tgid + 1 -> weft_process */
	struct weft_process *oldest, *youngest;
	size_t n_dead, dead_most;
	uint64_t forgotten; /* dead processes, generations and mappings over the limits */
};

#define WEFT_PROCS_DEAD_MOST  4096u
#define WEFT_GENERATIONS_MOST 64u
#define WEFT_MAPPINGS_MOST    4096u

void weft_procs_init(struct weft_procs *p, struct weft_files *files);
void weft_procs_finish(struct weft_procs *p);
void weft_procs_event(struct weft_procs *p, const struct weft_process_event *e);
/* Takes what a file like /proc/PID/maps says. */
int weft_procs_snapshot(struct weft_procs *p, int32_t tgid, uint64_t time_ns, const char *path);
bool weft_procs_known(const struct weft_procs *p, int32_t tgid);
/* Whether a snapshot saw code that lies in no file of a disk's. */
bool weft_procs_makes_code(const struct weft_procs *p, int32_t tgid);
/* The mapping that held an address at a time; NULL: none is known. */
const struct weft_mapping *weft_procs_find(const struct weft_procs *p, int32_t tgid,
					   uint64_t time_ns, uint64_t address);

/* mm.c. What changes *mm makes it the caller's own first if it is shared. */
void weft_mm_release(struct weft_mm *s);
int weft_mm_own(struct weft_mm **mm);
/* Adds m, valid from m->from on, in place of what lies there; what was seen there later than m was
 * stays instead. -E2BIG: too many mappings. */
int weft_mm_map(struct weft_mm **mm, const struct weft_mapping *m);
/* Ends what lies in [start, end) at a time. */
int weft_mm_unmap(struct weft_mm **mm, uint64_t start, uint64_t end, uint64_t time_ns);
const struct weft_mapping *weft_mm_find(const struct weft_mm *s, uint64_t address, uint64_t time_ns);
/* Divides a history at a time: *mm keeps what was before, unless `forget`; *later gets what is
 * mapped now, as mapped since then. */
int weft_mm_split(struct weft_mm **mm, uint64_t time_ns, bool forget, struct weft_mm **later);

#endif
