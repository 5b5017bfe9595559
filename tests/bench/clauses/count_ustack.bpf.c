/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The stack is built in a claimed scratch slot, hashed twice and interned, as lower_stack.c says. */
#include "clause.h"

#define FRAMES        64
#define SCRATCH_SLOTS 4
#define EXECGEN_SLOTS 16384

#define HASH_START   0x51f9c3a7e2d4860bULL
#define HASH_FACTOR  0x9e3779b97f4a7c15ULL
#define CHECK_START  0x2b7e151628aed2a6ULL
#define CHECK_FACTOR 0xc4ceb9fe1a85ec53ULL

struct row {
	__u64 check, time_ns;
	__u32 tgid, n_frames;
	__u64 frames[FRAMES];
};

struct scratch {
	__u64 busy;
	struct row row;
	__u64 rest[63];
};

struct aggregation weft_agg0 SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_SLOTS);
	__uint(key_size, 4);
	__uint(value_size, sizeof(struct scratch));
} weft_scratch SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__uint(key_size, 8);
	__uint(value_size, sizeof(struct row));
} weft_stacks SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, EXECGEN_SLOTS);
	__uint(key_size, 4);
	__uint(value_size, 8);
} weft_execgen SEC(".maps");

static __always_inline struct scratch *claim(void)
{
	struct scratch *s;

#pragma clang loop unroll(full)
	for (int i = 0; i < SCRATCH_SLOTS; i++) {
		__u32 index = i;

		s = bpf_map_lookup_elem(&weft_scratch, &index);
		if (!s)
			return 0;
		if (!__sync_lock_test_and_set(&s->busy, 1))
			return s;
	}
	return 0;
}

/* The id under which the stack in the row is known; false: a loss, counted. */
static __always_inline int intern(struct row *row, __u64 bytes, __u32 tgid, __u64 *id)
{
	__u64 h, check, *generation, seed;
	__u32 index = tgid & (EXECGEN_SLOTS - 1);
	struct row *old;
	int error;

	generation = bpf_map_lookup_elem(&weft_execgen, &index);
	if (!generation) {
		count(&lost[LOST_OTHER]);
		return 0;
	}
	seed = *generation << 32 ^ tgid;
	h = seed ^ HASH_START;
	check = seed + CHECK_START;
#pragma clang loop unroll(disable)
	for (__u64 at = 0; at < bytes && at < 8 * FRAMES; at += 8) {
		__u64 frame = *(__u64 *)((char *)row->frames + at);

		h = (h ^ frame) * HASH_FACTOR;
		h ^= h >> 29;
		check = (check + frame) * CHECK_FACTOR;
		check ^= check >> 32;
	}
	if (!h)
		h = 1;
	*id = h;
	old = bpf_map_lookup_elem(&weft_stacks, id);
	if (!old) {
		row->check = check;
		row->time_ns = bpf_ktime_get_ns();
		row->tgid = tgid;
		row->n_frames = bytes / 8;
		error = bpf_map_update_elem(&weft_stacks, id, row, BPF_NOEXIST);
		if (!error)
			return 1;
		if (error == -E2BIG || error == -ENOMEM) {
			count(&lost[LOST_FULL]);
			return 0;
		}
		old = 0;
		if (error == -EEXIST)
			old = bpf_map_lookup_elem(&weft_stacks, id);
		if (!old) {
			count(&lost[LOST_BUSY]);
			return 0;
		}
	}
	if (old->check != check) {
		count(&lost[LOST_OTHER]);
		return 0;
	}
	return 1;
}

SEC("tracepoint")
int clause(struct event *e)
{
	struct scratch *s;
	__u64 id = 0;
	long bytes;

	if (!control.enabled)
		return 0;
	s = claim();
	if (!s) {
		count(&lost[LOST_NOMEM]);
		return 0;
	}
	bytes = bpf_get_stack(e, s->row.frames, sizeof(s->row.frames), BPF_F_USER_STACK);
	if (bytes < 0) {
		count(&lost[LOST_OTHER]);
		goto leave;
	}
	if (bytes && !intern(&s->row, bytes, bpf_get_current_pid_tgid() >> 32, &id))
		goto leave;
	count_row(&weft_agg0, &id);
leave:
	s->busy = 0;
	return 0;
}
