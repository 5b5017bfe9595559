/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sessions over senders. */
#ifndef TEST_USER_SYSCALL_EXACT_H
#define TEST_USER_SYSCALL_EXACT_H

#include <sys/wait.h>

#include "harness.h"
#include "senders.h"

#define ME "test-user-syscall"
#define COUNT                                            \
	"    do:\n"                                      \
	"      - count: {into: n, by: {p: probename}}\n" \
	"      - sum: {into: s, by: {p: probename}, value: args.v}\n"

/* That what was counted and summed by probe is what the senders say. */
static inline void expect_tally(const struct rig *r, const struct stage *s)
{
	struct tally all = stage_sum(s);
	char name[16];

	for (int k = 0; k < SENDER_PROBES; k++) {
		snprintf(name, sizeof(name), "p%d", k);
		if (!all.n[k])
			continue;
		cr_expect_eq(
			cap_row_text(cap_last_table(&r->cap, "n"), "p", name)->count, all.n[k],
			"%s: %llu of %llu", name,
			(unsigned long long)cap_row_text(cap_last_table(&r->cap, "n"), "p", name)->count,
			(unsigned long long)all.n[k]);
		cr_expect_eq((uint64_t)cap_row_text(cap_last_table(&r->cap, "s"), "p", name)->value.i,
			     all.sum[k], "%s: the sum", name);
	}
}

static inline uint64_t tally_total(const struct stage *s)
{
	struct tally all = stage_sum(s);
	uint64_t n = 0;

	for (int k = 0; k < SENDER_PROBES; k++)
		n += all.n[k];
	return n;
}

#endif
