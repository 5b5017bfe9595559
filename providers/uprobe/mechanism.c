/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How the kernel is asked for events: what support/uprobes.h found out, and what to say of it. */
#include <stdio.h>
#include <string.h>

#include "uprobe.h"

void weft_uprobe_settle_mechanism(struct weft_instance *in)
{
	support_uprobes_settle(&in->uprobes, in->host,
			       !strcmp(in->host->param_string(in->params, "mechanism"), "perf"));
}

bool weft_uprobe_filtered(struct weft_instance *in)
{
	weft_uprobe_settle_mechanism(in);
	return support_uprobes_filtered(&in->uprobes);
}

const char *weft_uprobe_describe(struct weft_instance *in)
{
	const struct weft_target *t = in->host->target(in->host);
	const char *how, *who;

	weft_uprobe_settle_mechanism(in);
	if (in->uprobes.way == SUPPORT_UPROBE_LINKS)
		how = "uprobe_multi: one link for all places in a file";
	else
		how = "perf uprobes: one event for each place (uprobe_multi needs Linux 6.6)";
	if (weft_uprobe_filtered(in))
		who = "the target's processes only: about 1 ns for others";
	else if (t->n_pids && !t->follow)
		who = "every process (this kernel filters by thread, right since 6.10), and the "
		      "target's are picked: about 0.5 us a hit for others";
	else if (t->follow)
		who = "every process, and the target's and their children are picked: about 0.5 us "
		      "a hit for others";
	else
		who = "every process, about 0.5 us a hit and up to 25 us where the kernel has to step "
		      "over the instruction";
	snprintf(in->text, sizeof(in->text), "%s; %s", how, who);
	return in->text;
}
