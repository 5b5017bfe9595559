/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How the kernel is asked for events, found out by trying.
 *
 * A link on many places (uprobe_multi, Linux 6.6) wants a program of its own expected attach type,
 * which kernels before it load and do not link. So links are tried, on "/": a kernel that has them
 * says EBADF, since that is no file, one that has not says EINVAL. A filter by process was one by
 * thread before 6.10, which would lose firings; the fix came with a check of the number, so that on
 * "/" and process -1 EINVAL says that the filter is right and EBADF that it is not. Nothing comes
 * into being that way.
 *
 * Perf events take a process too: the kernel compares the address space, for entries.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/bpf.h"
#include "support/file.h"
#include "uprobe.h"

#define PERF_TYPE "/sys/bus/event_source/devices/uprobe/type"

static int try_link(int prog, int32_t pid)
{
	static const uint64_t offset = 1, cookie;
	const struct support_uprobe_multi what = {
		.path = "/", .offsets = &offset, .cookies = &cookie, .count = 1, .pid = pid};
	int fd = support_uprobe_multi_link(prog, &what);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void try_multi(struct weft_instance *in)
{
	const struct weft_load_class load = {
		.struct_size = sizeof(load),
		.prog_type = BPF_PROG_TYPE_KPROBE,
		.expected_attach_type = SUPPORT_BPF_TRACE_UPROBE_MULTI,
		.flags = WEFT_LOAD_COOKIE,
		.ctx_kind = WEFT_CTX_REGS,
	};
	int prog = in->host->trial_program(in->host, &load, NULL);

	/* Without the privilege to try nothing will be attached either: any answer does. */
	if (prog < 0) {
		in->mechanism = WEFT_UPROBE_MULTI;
		in->pid_filter = true;
		return;
	}
	in->mechanism = try_link(prog, 0) == -EBADF ? WEFT_UPROBE_MULTI : WEFT_UPROBE_PERF;
	in->pid_filter = in->mechanism == WEFT_UPROBE_PERF || try_link(prog, -1) == -EINVAL;
	close(prog);
}

void weft_uprobe_settle_mechanism(struct weft_instance *in)
{
	if (in->mechanism != WEFT_UPROBE_UNKNOWN)
		return;
	if (!strcmp(in->host->param_string(in->params, "mechanism"), "perf")) {
		in->mechanism = WEFT_UPROBE_PERF;
		in->pid_filter = true;
	} else {
		try_multi(in);
	}
	if (in->mechanism == WEFT_UPROBE_PERF && support_read_u64(PERF_TYPE, &in->perf_type))
		in->perf_type = 0; /* attach() says so */
}

bool weft_uprobe_filtered(struct weft_instance *in)
{
	const struct weft_target *t = in->host->target(in->host);
	bool some = t->n_pids != 0;

	weft_uprobe_settle_mechanism(in);
	if (t->struct_size >= offsetof(struct weft_target, command) + sizeof(t->command))
		some |= t->command != NULL;
	return some && !t->follow && in->pid_filter;
}

const char *weft_uprobe_describe(struct weft_instance *in)
{
	const struct weft_target *t = in->host->target(in->host);
	const char *how, *who;

	weft_uprobe_settle_mechanism(in);
	if (in->mechanism == WEFT_UPROBE_MULTI)
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
