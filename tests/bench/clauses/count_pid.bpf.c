/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "clause.h"

struct aggregation weft_agg0 SEC(".maps");

SEC("tracepoint")
int clause(struct event *e)
{
	struct {
		__u32 pid, gap;
	} key = {0};

	if (!control.enabled)
		return 0;
	key.pid = bpf_get_current_pid_tgid() >> 32;
	count_row(&weft_agg0, &key);
	return 0;
}
