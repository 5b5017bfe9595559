/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "clause.h"

struct aggregation weft_agg0 SEC(".maps");

SEC("tracepoint")
int clause(struct event *e)
{
	char name[16] __attribute__((aligned(8))) = {0};

	if (!control.enabled)
		return 0;
	if (bpf_get_current_comm(name, sizeof(name))) {
		count(&lost[LOST_OTHER]);
		return 0;
	}
	count_row(&weft_agg0, name);
	return 0;
}
