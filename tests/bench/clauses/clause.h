/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the clauses in C share: the work of a compiled clause as somebody would write it who knows
 * BPF well. The maps that weft shares between programs and consumer are the benchmark's own, put in
 * the place of those declared here, which therefore only have a type; what a clause keeps in STATE
 * (core/plan.h) lies in .bss, an mmapable array as well.
 */
#ifndef WEFT_BENCH_CLAUSE_H
#define WEFT_BENCH_CLAUSE_H

#include <linux/bpf.h>

#include <asm/errno.h>
#include <bpf/bpf_helpers.h>

#define COOKIE 2

/* syscalls:sys_enter_ioprio_set */
struct event {
	__u64 common;
	__s64 number;
	__s64 arg[3];
};

/* Words that the benchmark finds by name in .bss. */
struct {
	__u64 exit_requested, exit_status, enabled;
} control;
struct slot {
	__u64 n, unused[7];
} slots[SLOTS] __attribute__((aligned(64)));
__u64 lost[8];
__u64 zeros[128];

struct aggregation {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__uint(key_size, 8);
	__uint(value_size, 8);
};

enum { LOST_FULL, LOST_NOMEM, LOST_BUSY, LOST_OTHER };

static __always_inline void count(__u64 *word)
{
	__sync_fetch_and_add(word, 1);
}

/* One more in the row of the key, which is made where it is absent. */
static __always_inline void count_row(void *map, const void *key)
{
	__u64 *row = bpf_map_lookup_elem(map, key);
	int error;

	if (!row) {
		error = bpf_map_update_elem(map, key, zeros, BPF_NOEXIST);
		if (error && error != -EEXIST)
			goto failed;
		row = bpf_map_lookup_elem(map, key);
		error = -EBUSY;
		if (!row)
			goto failed;
	}
	count(row);
	return;
failed:
	count(&lost[error == -E2BIG ? LOST_FULL : error == -ENOMEM ? LOST_NOMEM : LOST_BUSY]);
}

static __always_inline void count_slot(void)
{
	count(&slots[bpf_get_smp_processor_id() & (SLOTS - 1)].n);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#endif
