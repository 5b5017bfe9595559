/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "clause.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} weft_ring SEC(".maps");

struct record {
	__u64 time_ns;
	__u32 schema, cpu;
	__u64 cookie;
	__u64 program[2];
	__u32 tid, gap;
	__s64 first, second;
};

SEC("tracepoint")
int clause(struct event *e)
{
	__u64 program[2] = {0};
	__s64 first, second;
	struct record *r;
	__u32 tid, cpu;

	if (!control.enabled)
		return 0;
	if (bpf_get_current_comm(program, sizeof(program))) {
		count(&lost[LOST_OTHER]);
		return 0;
	}
	tid = bpf_get_current_pid_tgid();
	first = e->arg[1];
	second = e->arg[2];
	cpu = bpf_get_smp_processor_id();
	r = bpf_ringbuf_reserve(&weft_ring, sizeof(*r), 0);
	if (!r) {
		count(&lost[LOST_FULL]);
		return 0;
	}
	r->time_ns = bpf_ktime_get_ns();
	r->schema = 0;
	r->cpu = cpu;
	r->cookie = COOKIE;
	r->program[0] = program[0];
	r->program[1] = program[1];
	r->tid = tid;
	r->gap = 0;
	r->first = first;
	r->second = second;
	bpf_ringbuf_submit(r, 0);
	return 0;
}
