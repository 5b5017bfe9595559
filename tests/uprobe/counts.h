/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a run has counted, by the name of an aggregation. */
#ifndef TEST_UPROBE_COUNTS_H
#define TEST_UPROBE_COUNTS_H

#include "harness.h"

/* Of all rows; 0 where there is none. */
static inline int64_t count_of(const struct rig *r, const char *name)
{
	const struct cap_table *t = cap_last_table(&r->cap, name);

	return t ? (int64_t)cap_total(t) : 0;
}

#endif
