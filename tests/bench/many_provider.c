/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A provider of 50,000 probes that nobody can attach, for measuring lists: names as of functions in
 * a hundred libraries. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "weft/provider.h"

#define MODULES   100
#define FUNCTIONS 250 /* in each module; an entry and a return of each */

struct weft_instance {
	const struct weft_host *host;
};

static int many_open(const struct weft_host *host, const struct weft_params *params,
		     struct weft_instance **out, struct weft_error *err)
{
	(void)params;
	*out = malloc(sizeof(**out));
	if (!*out)
		return host->fail(err, -ENOMEM, "NO_MEMORY", "out of memory");
	(*out)->host = host;
	return 0;
}

static void many_close(struct weft_instance *self)
{
	free(self);
}

static int many_populate(struct weft_instance *self, struct weft_registry *registry,
			 struct weft_error *err)
{
	struct weft_probe_desc d = {.struct_size = sizeof(d), .provider = "many"};
	char module[64], function[64];
	int m, f, ret;

	d.module = module;
	d.function = function;
	for (m = 0; m < MODULES; m++) {
		snprintf(module, sizeof(module), "/usr/lib/x86_64-linux-gnu/libexample%d.so.1", m);
		for (f = 0; f < FUNCTIONS; f++) {
			snprintf(function, sizeof(function), "example_%d_does_something_%d", m, f);
			d.name = "entry";
			ret = self->host->probe_add(registry, &d, 0, NULL, err);
			if (ret)
				return ret;
			d.name = "return";
			ret = self->host->probe_add(registry, &d, 0, NULL, err);
			if (ret)
				return ret;
		}
	}
	return 0;
}

static int many_probe_info(struct weft_instance *self, const struct weft_probe *probe,
			   const struct weft_params *with, struct weft_probe_info *out,
			   struct weft_error *err)
{
	(void)probe;
	(void)with;
	(void)out;
	return self->host->fail(err, -EOPNOTSUPP, "MANY_LIST_ONLY", "these probes only list");
}

static int many_attach(struct weft_instance *self, const struct weft_attach_request *request,
		       struct weft_attachment **out, struct weft_error *err)
{
	(void)request;
	(void)out;
	return self->host->fail(err, -EOPNOTSUPP, "MANY_LIST_ONLY", "these probes only list");
}

static void many_detach(struct weft_instance *self, struct weft_attachment *attachment)
{
	(void)self;
	(void)attachment;
}

WEFT_EXPORT extern const struct weft_provider weft_provider_plugin;
const struct weft_provider weft_provider_plugin = {
	.struct_size = sizeof(struct weft_provider),
	.abi_version = WEFT_ABI_CURRENT,
	.name = "many",
	.summary = "50,000 names",
	.open = many_open,
	.close = many_close,
	.populate = many_populate,
	.probe_info = many_probe_info,
	.attach = many_attach,
	.detach = many_detach,
};
