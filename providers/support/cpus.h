/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sets of CPUs, and the kernel's way of writing them: "0-3,5". The numbers have gaps where CPUs are
 * offline or absent, so a loop over CPUs is a loop over a set, never one up to a count.
 */
#ifndef WEFT_SUPPORT_CPUS_H
#define WEFT_SUPPORT_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#define SUPPORT_MAX_CPUS 8192u /* the kernel's largest NR_CPUS (x86 MAXSMP) */

struct support_cpus {
	uint64_t bits[SUPPORT_MAX_CPUS / 64];
};

/* Parses a list such as "0-3,5\n"; the empty list is the empty set. -EINVAL: it is not a list;
 * -ERANGE: it names a CPU beyond the limit. *out is then the empty set. */
int support_cpus_parse(const char *text, struct support_cpus *out);

/* The CPUs that run now, and those that may ever run. Returns -errno if /sys does not say. */
int support_cpus_online(struct support_cpus *out);
int support_cpus_possible(struct support_cpus *out);

bool support_cpus_has(const struct support_cpus *set, uint32_t cpu);
void support_cpus_add(struct support_cpus *set, uint32_t cpu);
void support_cpus_remove(struct support_cpus *set, uint32_t cpu);
uint32_t support_cpus_count(const struct support_cpus *set);

/* The first member that is not less than `from`, or -1. The loop:
 * for (int cpu = support_cpus_next(&s, 0); cpu >= 0; cpu = support_cpus_next(&s, cpu + 1)) */
int support_cpus_next(const struct support_cpus *set, int from);

#endif
