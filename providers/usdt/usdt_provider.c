/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * usdt: the static probes that programs carry.
 *
 *   usdt:FILE:PROVIDER:NAME    all sites of the probe that FILE's notes (.note.stapsdt) call so
 *       arg0 .. arg11          its arguments, as their notes say
 *
 * FILE is a path, a soname or a base name. In the kernel: a uprobe at each site, with the site's
 * semaphore for its reference counter.
 */
#include <stdlib.h>

#include "usdt/usdt.h"

static const struct weft_option_spec option_stash = {
	.struct_size = sizeof(option_stash),
	.type = WEFT_OPTION_STRING,
	.where = WEFT_OPTION_PER_SET,
	.name = "stash",
	.default_text = "/run/weft",
	.help = "The folder that keeps what was read of files, or off.",
};
static const struct weft_option_spec option_mechanism = {
	.struct_size = sizeof(option_mechanism),
	.type = WEFT_OPTION_ENUM,
	.where = WEFT_OPTION_PER_SET,
	.name = "mechanism",
	.default_text = "auto",
	.choices = "auto|perf",
	.help = "How the kernel is asked: the best way that there is, or an event for each site.",
};
static const struct weft_option_spec *const options[] = {&option_stash, &option_mechanism, NULL};

static int usdt_open(const struct weft_host *host, const struct weft_params *params,
		     struct weft_instance **out, struct weft_error *err)
{
	struct weft_instance *in = calloc(1, sizeof(*in));
	const char *path, *why;

	if (!in)
		return host->fail(err, -12, "NO_MEMORY", "out of memory");
	in->host = host;
	in->params = params;
	in->timer_fd = -1;
	path = host->param_string(params, "stash");
	weft_usdt_stash_open(&in->stash, path, &why);
	if (why)
		host->log(host, WEFT_LOG_INFO,
			  "there is no stash in %s, and files are read again each time: %s", path,
			  why);
	*out = in;
	return 0;
}

static void usdt_close(struct weft_instance *in)
{
	weft_usdt_late_finish(in);
	weft_usdt_info_finish(in);
	weft_usdt_probes_finish(in);
	weft_usdt_files_finish(in);
	weft_usdt_stash_close(&in->stash);
	free(in);
}

static const char *usdt_describe(struct weft_instance *in)
{
	weft_usdt_settle(in);
	return in->uprobes.way == SUPPORT_UPROBE_LINKS
		       ? "uprobe_multi: one link for all sites in a file"
		       : "perf uprobes: an event for each site (uprobe_multi needs Linux 6.6)";
}

WEFT_EXPORT const struct weft_provider weft_provider_plugin = {
	.struct_size = sizeof(struct weft_provider),
	.abi_version = WEFT_ABI_CURRENT,
	.name = "usdt",
	.summary = "static probes that programs and libraries carry",
	.options = options,
	.open = usdt_open,
	.close = usdt_close,
	.provide = weft_usdt_provide,
	.probe_info = weft_usdt_probe_info,
	.attach = weft_usdt_attach,
	.detach = weft_usdt_detach,
	.discover_fd = weft_usdt_discover_fd,
	.discover = weft_usdt_discover,
	.describe = usdt_describe,
	.populate_match = weft_usdt_populate_match,
	.probe_note = weft_usdt_probe_note,
	.capabilities = support_uprobe_capabilities,
};
