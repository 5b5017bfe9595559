/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Running a parser where it can do no harm (jail.c). */
#ifndef WEFT_ELF_JAIL_H
#define WEFT_ELF_JAIL_H

#include "core/elf/region.h"
#include "core/error.h"

/* What a worker is told and what it leaves behind besides the region. */
typedef void (*weft_jail_work)(struct weft_region *region, const void *job);

/* Runs work(region, job) in a child process that is locked in first, and waits for its end. The
 * region's contents are then the child's, complete if 0 is returned, and not to be trusted.
 * Otherwise a report about `path`: ELF_WORKER_START, ELF_WORKER_DIED, ELF_TIME_LIMIT,
 * ELF_MEMORY_LIMIT, ELF_FILE_CHANGED. */
int weft_jail_run(weft_jail_work work, const void *job, struct weft_region *region,
		  uint64_t time_ns, uint64_t memory, const char *path, struct weft_error *err);

/* For workers: ends the child, with what it has said so far; or because memory is short. */
void weft_jail_done(void) __attribute__((noreturn));
void weft_jail_no_memory(void) __attribute__((noreturn));

/* filter.c: from here on, only what a parser needs; anything else kills. 0 or -errno. */
int weft_filter_lock(void);

#endif
