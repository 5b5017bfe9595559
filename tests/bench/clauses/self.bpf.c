/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "clause.h"

struct cell {
	__u64 word, set;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__uint(key_size, 8);
	__uint(value_size, sizeof(struct cell));
} weft_self SEC(".maps");

SEC("tracepoint")
int clause(struct event *e)
{
	__u64 task;
	struct cell *row;
	int error;

	if (!control.enabled)
		return 0;
	task = bpf_get_current_task();
	row = bpf_map_lookup_elem(&weft_self, &task);
	if (!row) {
		error = bpf_map_update_elem(&weft_self, &task, zeros, BPF_NOEXIST);
		if (error && error != -EEXIST)
			goto failed;
		row = bpf_map_lookup_elem(&weft_self, &task);
		error = -EBUSY;
		if (!row)
			goto failed;
	}
	/* Whoever interrupts this sees one value or the other, and `set` after it. */
	__sync_lock_test_and_set(&row->word, e->arg[1]);
	*(volatile __u64 *)&row->set = 1;
	return 0;
failed:
	count(&lost[error == -E2BIG ? LOST_FULL : error == -ENOMEM ? LOST_NOMEM : LOST_BUSY]);
	return 0;
}

SEC("tracepoint")
int after(struct event *e)
{
	__u64 task;
	struct cell *row;

	if (!control.enabled)
		return 0;
	task = bpf_get_current_task();
	row = bpf_map_lookup_elem(&weft_self, &task);
	if (!row || !*(volatile __u64 *)&row->set) {
		count(&lost[LOST_OTHER]);
		return 0;
	}
	if (row->word == 77)
		count_slot();
	return 0;
}
