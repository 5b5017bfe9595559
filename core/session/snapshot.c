/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The mappings of processes that were there before us. They are read while tracing, a few between
 * polls: a machine with thousands of processes must not wait for that before it sees its first
 * event, and a process that ends in the meantime has at worst unknown symbols.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/session/internal.h"

#define PROCESSES_A_STEP 8

uint64_t weft_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int weft_snapshot_init(struct weft_session *s)
{
	size_t cap = 0;
	struct dirent *d;
	DIR *dir;

	free(s->snapshot); /* of a start that failed */
	s->snapshot = NULL;
	s->n_snapshot = s->next_snapshot = 0;
	if (s->n_target_pids) {
		for (; s->n_snapshot < s->n_target_pids; s->n_snapshot++) {
			if (weft_grow(&s->snapshot, &cap, s->n_snapshot, sizeof(*s->snapshot)))
				return -ENOMEM;
			s->snapshot[s->n_snapshot] = s->target_pids[s->n_snapshot];
		}
		return 0;
	}
	dir = opendir("/proc");
	if (!dir)
		return -errno;
	while ((d = readdir(dir))) {
		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		if (weft_grow(&s->snapshot, &cap, s->n_snapshot, sizeof(*s->snapshot))) {
			closedir(dir);
			return -ENOMEM;
		}
		s->snapshot[s->n_snapshot++] = (int32_t)strtol(d->d_name, NULL, 10);
	}
	closedir(dir);
	return 0;
}

bool weft_snapshot_step(struct weft_session *s)
{
	int i;

	for (i = 0; i < PROCESSES_A_STEP && s->next_snapshot < s->n_snapshot; i++) {
		int32_t pid = s->snapshot[s->next_snapshot++];

		if (!weft_symbols_known(s->symbols, pid))
			weft_symbols_snapshot(s->symbols, pid, weft_now());
	}
	return s->next_snapshot < s->n_snapshot;
}
