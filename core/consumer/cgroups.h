/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the ids of cgroups stand for (cgroups.c). */
#ifndef WEFT_CONSUMER_CGROUPS_H
#define WEFT_CONSUMER_CGROUPS_H

#include "core/arena.h"
#include "core/consumer/rows.h"
#include "core/lang/lang.h"

struct weft_cgroups {
	const char *root; /* where the hierarchy is mounted; NULL: found out when first needed */
	struct weft_rows known; /* id -> address of a struct weft_cgroup */
	struct weft_arena *arena;
};

void weft_cgroups_init(struct weft_cgroups *g, const char *root);
void weft_cgroups_finish(struct weft_cgroups *g);
/* Remembers all that there are now. 0 or -ENOMEM. */
int weft_cgroups_look(struct weft_cgroups *g);
/* The text of a field; it lives as long as g. "id:N" of a cgroup that is not to be found. NULL: out
 * of memory. */
const char *weft_cgroups_text(struct weft_cgroups *g, uint64_t id, enum weft_cgroup_field field);

/* The id of the container in a cgroup's path: returns its length, 0 if there is none. */
size_t weft_cgroup_container(const char *path, const char **id);

#endif
