/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * tracepoint: the places where the kernel's own authors put probes.
 *
 *   probe                            kernel event
 *   tracepoint:CATEGORY::EVENT       the tracepoint EVENT; arguments are the fields of its record
 *   the same with {raw: true}        the raw tracepoint; arguments are those of the kernel's code
 *   tracepoint:process::fork ...     the life of processes (process.c)
 *
 * A provider that needs nothing of weft's but the header: it builds out of tree, see CMakeLists.txt.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracepoint.h"

static int tracepoint_open(const struct weft_host *host, const struct weft_params *params,
			   struct weft_instance **out, struct weft_error *err)
{
	struct weft_instance *in = calloc(1, sizeof(*in));

	(void)params;
	if (!in)
		return host->fail(err, -ENOMEM, "TRACEPOINT_MEMORY", "out of memory");
	in->host = host;
	in->events = tracepoint_open_events(&in->hidden_mount);
	*out = in;
	return 0;
}

static void tracepoint_close(struct weft_instance *in)
{
	if (in->events >= 0)
		close(in->events);
	free(in);
}

/* Why there is no list, where there is none. */
static int no_events(struct weft_instance *in, struct weft_error *err)
{
	if (in->events == -EACCES || in->events == -EPERM)
		return in->host->fail(
			err, in->events, "TRACEPOINT_DENIED",
			"the kernel's list of tracepoints is closed to this user: it takes "
			"root, or a tracefs that is mounted with a group (-o gid=)");
	return in->host->fail(err, in->events, "TRACEPOINT_TRACEFS",
			      "there is no list of tracepoints: tracefs cannot be mounted: %s",
			      strerror(-in->events));
}

/* ---- what there is ---- */

struct adding {
	struct weft_instance *in;
	struct weft_registry *registry;
	const struct weft_probe_desc *pattern;
	struct weft_error *err;
};

static int add(struct adding *a, const char *category, const char *event)
{
	struct weft_probe_desc d = {.struct_size = sizeof(d),
				    .provider = "tracepoint",
				    .module = category,
				    .function = "",
				    .name = event};
	int ret = a->in->host->probe_add(a->registry, &d, 0, NULL, a->err);

	return ret == -EEXIST ? 0 : ret;
}

static int add_event(void *arg, const char *category, const char *event)
{
	struct adding *a = arg;

	return a->in->host->field_match(a->pattern->name, event) ? add(a, category, event) : 0;
}

static int add_category(void *arg, const char *category)
{
	struct adding *a = arg;

	/* The functions that ftrace itself records: no program can be attached to them. */
	if (!strcmp(category, "ftrace") || !a->in->host->field_match(a->pattern->module, category))
		return 0;
	return tracepoint_each(a->in->events, category, add_event, a);
}

static int add_lives(struct adding *a)
{
	const struct tracepoint_life *life;
	int ret = 0;

	if (!a->in->host->field_match(a->pattern->module, PROCESS_MODULE))
		return 0;
	for (size_t i = 0; !ret && (life = tracepoint_life(i)); i++)
		if (a->in->host->field_match(a->pattern->name, life->name))
			ret = add(a, PROCESS_MODULE, life->name);
	return ret;
}

static int tracepoint_populate_match(struct weft_instance *in, struct weft_registry *registry,
				     const struct weft_probe_desc *pattern, struct weft_error *err)
{
	struct adding a = {.in = in, .registry = registry, .pattern = pattern, .err = err};
	int ret = add_lives(&a);

	if (ret)
		return ret;
	if (in->events < 0)
		return no_events(in, err);
	ret = tracepoint_categories(in->events, add_category, &a);
	if (ret == -EACCES)
		return in->host->fail(err, ret, "TRACEPOINT_DENIED",
				      "the kernel's list of tracepoints is closed to this user");
	return ret;
}

static int tracepoint_provide(struct weft_instance *in, struct weft_registry *registry,
			      const struct weft_probe_desc *desc, struct weft_error *err)
{
	struct adding a = {.in = in, .registry = registry, .err = err};
	char id[32], near[256];
	long n;

	if (*desc->function)
		return in->host->fail(err, -EINVAL, "TRACEPOINT_NAME",
				      "a tracepoint has a category and a name and no function: write "
				      "tracepoint:%s::%s",
				      desc->module, *desc->name ? desc->name : desc->function);
	if (!strcmp(desc->module, PROCESS_MODULE) && tracepoint_life_of(desc->name))
		return add(&a, desc->module, desc->name);
	if (in->events < 0)
		return no_events(in, err);
	n = tracepoint_read(in->events, desc->module, desc->name, "id", id, sizeof(id));
	if (n >= 0)
		return add(&a, desc->module, desc->name);
	if (n == -EACCES || n == -EPERM) {
		in->events = in->events >= 0 ? in->events : (int)n;
		return in->host->fail(err, (int)n, "TRACEPOINT_DENIED",
				      "the kernel's list of tracepoints is closed to this user");
	}
	tracepoint_nearest(in->events, desc->module, desc->name, near, sizeof(near));
	return in->host->fail(err, -ENOENT, "TRACEPOINT_UNKNOWN",
			      *near ? "this kernel has no tracepoint %s::%s: did you mean "
				      "tracepoint:%s?"
				    : "this kernel has no tracepoint %s::%s",
			      desc->module, desc->name, near);
}

/* ---- one probe ---- */

static int record_info(struct weft_instance *in, const struct weft_probe_desc *d,
		       struct weft_probe_info *out, struct weft_error *err)
{
	long n = tracepoint_read(in->events, d->module, d->name, "format", in->format.text,
				 sizeof(in->format.text));

	if (n < 0 || tracepoint_parse(&in->format))
		return in->host->fail(err, n < 0 ? (int)n : -EINVAL, "TRACEPOINT_FORMAT",
				      "the format of the tracepoint %s:%s cannot be read: %s",
				      d->module, d->name, strerror(n < 0 ? (int)-n : EINVAL));
	out->scope = WEFT_SCOPE_NONE;
	out->n_args = tracepoint_args(in, d->module);
	out->args = in->args;
	out->arg_size = sizeof(in->args[0]);
	out->prototype = in->prototype;
	out->load = (struct weft_load_class){
		.struct_size = sizeof(out->load),
		.prog_type = BPF_PROG_TYPE_TRACEPOINT,
		.flags = WEFT_LOAD_COOKIE,
		.ctx_kind = WEFT_CTX_RECORD,
		.ctx_size = in->format.size,
	};
	out->identity = (struct weft_identity){.struct_size = sizeof(out->identity),
					       .kind = WEFT_IDENTITY_COOKIE};
	return 0;
}

static int tracepoint_probe_info(struct weft_instance *in, const struct weft_probe *probe,
				 const struct weft_params *with, struct weft_probe_info *out,
				 struct weft_error *err)
{
	struct weft_probe_desc d = {.struct_size = sizeof(d)};
	const struct tracepoint_life *life;

	in->host->probe_desc(probe, &d);
	life = strcmp(d.module, PROCESS_MODULE) ? NULL : tracepoint_life_of(d.name);
	if (life)
		return tracepoint_life_info(in, life, out, err);
	if (tracepoint_is_raw(in, &d, with))
		return tracepoint_raw_info(in, d.name, out, err);
	return record_info(in, &d, out, err);
}

static const char *tracepoint_describe(struct weft_instance *in)
{
	if (in->events < 0)
		snprintf(in->description, sizeof(in->description), "no list of tracepoints: %s",
			 strerror(-in->events));
	else
		snprintf(in->description, sizeof(in->description),
			 "records through perf events, raw tracepoints where asked for%s",
			 in->hidden_mount ? "; tracefs is mounted for this run alone" : "");
	return in->description;
}

static const struct weft_option_spec option_raw = {
	.struct_size = sizeof(option_raw),
	.type = WEFT_OPTION_BOOL,
	.where = WEFT_OPTION_PER_SET | WEFT_OPTION_PER_PROBE,
	.name = "raw",
	.default_text = "false",
	.help = "Take the arguments of the kernel's code instead of the fields of the record: structs "
		"with their members, at a lower price.",
};
static const struct weft_option_spec *const options[] = {&option_raw, NULL};

static const struct weft_capability_spec listing = {
	.struct_size = sizeof(listing),
	.capability = CAP_DAC_READ_SEARCH,
	.what_for = "tracepoints of tracefs, by name",
};
static const struct weft_capability_spec *const capabilities[] = {&listing, NULL};

WEFT_EXPORT const struct weft_provider weft_provider_plugin = {
	.struct_size = sizeof(struct weft_provider),
	.abi_version = WEFT_ABI_CURRENT,
	.name = "tracepoint",
	.summary = "the kernel's tracepoints, and the life of processes (fork, exec, exit, signals)",
	.options = options,
	.open = tracepoint_open,
	.close = tracepoint_close,
	.provide = tracepoint_provide,
	.probe_info = tracepoint_probe_info,
	.attach = tracepoint_attach,
	.detach = tracepoint_detach,
	.describe = tracepoint_describe,
	.populate_match = tracepoint_populate_match,
	.capabilities = capabilities,
};
