/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * uprobe: functions and instructions of programs.
 *
 *   probe                    kernel event
 *   uprobe:FILE:FUN:entry    breakpoint on the function's first instruction, or on a later one that
 *                            costs less and where nothing differs (option placement)
 *   uprobe:FILE:FUN:return   return probe: the kernel replaces the return address
 *   uprobe:FILE:FUN:+0xOFF   breakpoint on that instruction
 *
 *   arg0 .. arg11            at the entry: six from registers, six from the stack
 *   retval                   at the return
 *
 * FILE is a path, a library's name or a program's (where.c), FUN a symbol or an address
 * (functions.c). The events are uprobe_multi links, or perf events (mechanism.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "uprobe.h"

static const struct weft_option_spec option_placement = {
	.struct_size = sizeof(option_placement),
	.type = WEFT_OPTION_ENUM,
	.where = WEFT_OPTION_PER_SET | WEFT_OPTION_PER_PROBE,
	.name = "placement",
	.default_text = "cheap",
	.choices = "exact|cheap",
	.help = "Whether the probe of an entry may sit on a later instruction where arguments are the "
		"same and a hit costs less.",
};
static const struct weft_option_spec option_mechanism = {
	.struct_size = sizeof(option_mechanism),
	.type = WEFT_OPTION_ENUM,
	.where = WEFT_OPTION_PER_SET,
	.name = "mechanism",
	.default_text = "auto",
	.choices = "auto|perf",
	.help = "How the kernel is asked: by links on many places where it has them, or by a perf "
		"event for each place.",
};
static const struct weft_option_spec *const options[] = {&option_placement, &option_mechanism, NULL};

static int uprobe_open(const struct weft_host *host, const struct weft_params *params,
		       struct weft_instance **out, struct weft_error *err)
{
	struct weft_instance *in = calloc(1, sizeof(*in));

	if (!in)
		return host->fail(err, -ENOMEM, "NO_MEMORY", "out of memory");
	in->host = host;
	in->params = params;
	in->timer_fd = -1;
	*out = in;
	return 0;
}

static void uprobe_close(struct weft_instance *in)
{
	if (!in)
		return;
	for (struct weft_uprobe_probe *p = in->probes, *next; p; p = next) {
		next = p->next;
		weft_uprobe_sites_cut(p, 0);
		free(p->sites);
		free(p);
	}
	for (struct weft_uprobe_wanted *w = in->wanted, *next; w; w = next) {
		next = w->next;
		free(w->module);
		free(w->function);
		free(w->name);
		free(w);
	}
	for (struct weft_uprobe_file *f = in->files, *next; f; f = next) {
		next = f->next;
		weft_uprobe_file_destroy(in, f);
	}
	for (size_t i = 0; i < in->n_queue; i++)
		free(in->queue[i].path);
	free(in->queue);
	free(in->seen);
	if (in->timer_fd >= 0)
		close(in->timer_fd);
	free(in);
}

WEFT_EXPORT const struct weft_provider weft_provider_plugin = {
	.struct_size = sizeof(struct weft_provider),
	.abi_version = WEFT_ABI_CURRENT,
	.name = "uprobe",
	.summary = "any function or instruction of any program",
	.options = options,
	.open = uprobe_open,
	.close = uprobe_close,
	.populate_match = weft_uprobe_populate_match,
	.provide = weft_uprobe_provide,
	.probe_info = weft_uprobe_probe_info,
	.attach = weft_uprobe_attach,
	.detach = weft_uprobe_detach,
	.discover_fd = weft_uprobe_discover_fd,
	.discover = weft_uprobe_discover,
	.describe = weft_uprobe_describe,
	.probe_note = weft_uprobe_note,
	.capabilities = support_uprobe_capabilities,
};
