/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "clause.h"

SEC("tracepoint")
int clause(struct event *e)
{
	if (!control.enabled)
		return 0;
	if (e->arg[1] > 100 && e->arg[2] == 1)
		count_slot();
	return 0;
}
