/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the suites of system calls share: each test runs by both mechanisms. */
#ifndef TEST_SYSCALLS_H
#define TEST_SYSCALLS_H

#include <sys/wait.h>

#include "session/harness.h"

#define BOTH(m) for (const char *const *m = (const char *const[]){"record", "raw", NULL}; *m; m++)

#define SET(probes)                               \
	"version: 1\n"                            \
	"target: {pid: %d, follow: true}\n"       \
	"providers: {syscall: {mechanism: %s}}\n" \
	"probes:\n" probes

/* The count of an aggregation's row whose key has this value; 0: there is none. */
static inline uint64_t rows_with(const struct cap_table *t, const char *key, int64_t value)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->n_rows; i++)
		if (cap_key(&t->rows[i], key)->i == value)
			n += t->rows[i].count;
	return n;
}

#endif
