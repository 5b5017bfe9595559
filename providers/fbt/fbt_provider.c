/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * fbt: the entry and the return of every kernel function.
 *
 *   probe                       kernel event
 *   fbt:MODULE:FUNCTION:entry   kprobe_multi link, kprobe perf event, or fentry program
 *   fbt:MODULE:FUNCTION:return  the same with the return flag, or fexit program
 *
 * MODULE is vmlinux or the name of a kernel module. Functions of one name are FUNCTION@1,
 * FUNCTION@2, ... in the order of their addresses.
 */
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>

#include "fbt.h"

static const struct weft_option_spec mechanism = {
	.struct_size = sizeof(mechanism),
	.type = WEFT_OPTION_ENUM,
	.where = WEFT_OPTION_PER_SET,
	.name = "mechanism",
	.default_text = "auto",
	.choices = "auto|kprobe_multi|kprobe|fentry",
	.help = "how functions are reached; auto takes the first of these that the kernel has",
};
static const struct weft_option_spec limit = {
	.struct_size = sizeof(limit),
	.type = WEFT_OPTION_INT,
	.where = WEFT_OPTION_PER_SET,
	.name = "limit",
	.default_text = "1000",
	.help = "the most functions of one program that are attached one by one, where the kernel "
		"cannot attach many at once",
	.min = 1,
	.max = 1000000,
};
static const struct weft_option_spec *const options[] = {&mechanism, &limit, NULL};

static int fbt_open(const struct weft_host *host, const struct weft_params *params,
		    struct weft_instance **out, struct weft_error *err)
{
	struct weft_instance *in = calloc(1, sizeof(*in));

	if (!in)
		return host->fail(err, -ENOMEM, "NO_MEMORY", "out of memory");
	in->host = host;
	in->params = params;
	*out = in;
	return 0;
}

static void fbt_close(struct weft_instance *in)
{
	if (!in)
		return;
	free(in->pool.text);
	free(in->functions);
	free(in);
}

static const struct weft_capability_spec listing = {
	.struct_size = sizeof(listing),
	.capability = CAP_DAC_READ_SEARCH,
	.what_for = "the list of functions that can be traced",
};
static const struct weft_capability_spec *const capabilities[] = {&listing, NULL};

WEFT_EXPORT const struct weft_provider weft_provider_plugin = {
	.struct_size = sizeof(struct weft_provider),
	.abi_version = WEFT_ABI_CURRENT,
	.name = "fbt",
	.summary = "fires when a kernel function is entered (entry) or left (return)",
	.options = options,
	.open = fbt_open,
	.close = fbt_close,
	.populate_match = weft_fbt_populate_match,
	.provide = weft_fbt_provide,
	.probe_info = weft_fbt_probe_info,
	.attach = weft_fbt_attach,
	.detach = weft_fbt_detach,
	.describe = weft_fbt_describe,
	.capabilities = capabilities,
};
