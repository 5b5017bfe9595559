/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "clause.h"

struct aggregation weft_agg0 SEC(".maps");

/* Significant bits, by halving. */
static __always_inline __u32 bits_of(__u64 v)
{
	__u32 bits = 0, shift;

	for (int half = 32; half; half /= 2) {
		shift = (v >> half != 0) * half;
		v >>= shift;
		bits += shift;
	}
	return bits + v;
}

SEC("tracepoint")
int clause(struct event *e)
{
	struct {
		__s32 bucket, gap;
	} key = {0};
	__s64 value;
	__u32 bits;

	if (!control.enabled)
		return 0;
	value = e->arg[1];
	bits = bits_of(value < 0 ? -(__u64)value : value);
	key.bucket = value < 0 ? -bits : bits;
	count_row(&weft_agg0, &key);
	return 0;
}
