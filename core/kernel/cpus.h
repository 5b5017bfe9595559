/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef WEFT_KERNEL_CPUS_H
#define WEFT_KERNEL_CPUS_H

#include <stddef.h>

/* The numbers of the CPUs that are online, ascending; *out is freed with free(). 0 or -errno. */
int weft_cpus_online(unsigned int **out, size_t *n);
/* Those that may come online while this kernel runs: maps have a value for each. */
int weft_cpus_possible(unsigned int **out, size_t *n);
/* The same of a list such as "0-3,8,10-11". -EINVAL where it is none. */
int weft_cpus_parse(const char *list, unsigned int **out, size_t *n);

#endif
