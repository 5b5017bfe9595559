/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * syscall: the system calls of the machine.
 *
 *   probe                    kernel event
 *   syscall::NAME:entry      the tracepoint syscalls:sys_enter_NAME, or the raw one sys_enter
 *   syscall::NAME:return     the tracepoint syscalls:sys_exit_NAME, or the raw one sys_exit
 *
 * Names are those of programs and strace(1): fstat, not newfstat. Which of the two serves a probe
 * is told in probe.c. A provider that needs nothing of weft's but the header and a few files of its
 * neighbours: it builds out of tree, see CMakeLists.txt.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/nearest.h"
#include "syscall.h"

/*
 * So many probes of a session are served by records; a pattern for more than are left of these gets
 * the raw mechanism. Each record costs the kernel some 70 ms when it is taken away, and calls that
 * nobody asked about a quarter of what the raw program costs them: docs/benchmarks.md.
 */
#define MOST_RECORDS 24

static int syscall_open(const struct weft_host *host, const struct weft_params *params,
			struct weft_instance **out, struct weft_error *err)
{
	struct weft_instance *in = calloc(1, sizeof(*in));

	(void)params;
	if (!in)
		return host->fail(err, -ENOMEM, "SYSCALL_MEMORY", "out of memory");
	in->host = host;
	in->events = tracepoint_open_events(&in->hidden_mount);
	*out = in;
	return 0;
}

static void syscall_close(struct weft_instance *in)
{
	if (in->events >= 0)
		close(in->events);
	syscall_unlist(in);
	free(in);
}

/* ---- what there is ---- */

static int add(struct weft_instance *in, struct weft_registry *registry, const char *call,
	       const char *name, bool many, struct weft_error *err)
{
	struct weft_probe_desc d = {.struct_size = sizeof(d),
				    .provider = "syscall",
				    .module = "",
				    .function = call,
				    .name = name};
	int ret = in->host->probe_add(registry, &d, many, NULL, err);

	in->n_records += !ret && !many;
	return ret == -EEXIST ? 0 : ret;
}

static const char *const sides[] = {"entry", "return"};

static bool matches(const struct weft_instance *in, const struct weft_probe_desc *pattern, size_t i)
{
	return in->host->field_match(pattern->name, sides[i % COUNT(sides)]) &&
	       in->host->field_match(pattern->function, in->names[i / COUNT(sides)]);
}

static int syscall_populate_match(struct weft_instance *in, struct weft_registry *registry,
				  const struct weft_probe_desc *pattern, struct weft_error *err)
{
	size_t most, n = 0;
	int ret = 0;
	bool many;

	if (*pattern->module && strcmp(pattern->module, "*"))
		return 0;
	if (syscall_list(in))
		return in->host->fail(err, -ENOMEM, "SYSCALL_MEMORY", "out of memory");
	most = COUNT(sides) * in->n_names;
	for (size_t i = 0; i < most; i++)
		n += matches(in, pattern, i);
	many = in->n_records + n > MOST_RECORDS;
	for (size_t i = 0; !ret && i < most; i++)
		if (matches(in, pattern, i))
			ret = add(in, registry, in->names[i / COUNT(sides)],
				  sides[i % COUNT(sides)], many, err);
	return ret;
}

static int unknown(struct weft_instance *in, const char *name, struct weft_error *err)
{
	const struct syscall_call *call = syscall_by_kernel_name(name);
	const char *nearest = call ? call->name : support_nearest(name, in->names, in->n_names);

	return in->host->fail(err, -ENOENT, "SYSCALL_UNKNOWN",
			      nearest ? "there is no system call %s: did you mean %s?"
				      : "there is no system call %s",
			      name, nearest);
}

static bool is_listed(const struct weft_instance *in, const char *name)
{
	for (size_t i = 0; i < in->n_names; i++)
		if (!strcmp(in->names[i], name))
			return true;
	return false;
}

static int syscall_provide(struct weft_instance *in, struct weft_registry *registry,
			   const struct weft_probe_desc *desc, struct weft_error *err)
{
	const char *call = *desc->function ? desc->function : "CALL";

	if (*desc->module)
		return in->host->fail(err, -EINVAL, "SYSCALL_NAME",
				      "a system call has no module: write syscall::%s:entry",
				      *desc->function ? desc->function : desc->module);
	if (*desc->name && strcmp(desc->name, "entry") && strcmp(desc->name, "return"))
		return in->host->fail(err, -EINVAL, "SYSCALL_NAME",
				      "a system call has an entry and a return and no %s: write "
				      "syscall::%s:%s",
				      desc->name, call,
				      *desc->name == 'r' || !strcmp(desc->name, "exit") ? "return"
											: "entry");
	if (!*desc->function)
		return 0; /* all of them: populate_match's */
	if (syscall_list(in))
		return in->host->fail(err, -ENOMEM, "SYSCALL_MEMORY", "out of memory");
	if (!is_listed(in, desc->function))
		return unknown(in, desc->function, err);
	return *desc->name ? add(in, registry, desc->function, desc->name,
				 in->n_records >= MOST_RECORDS, err)
			   : 0;
}

static const char *syscall_describe(struct weft_instance *in)
{
	if (in->events >= 0)
		return in->hidden_mount
			       ? "an event for each call, raw tracepoints for patterns of many; "
				 "tracefs is mounted for this run alone"
			       : "an event for each call, raw tracepoints for patterns of many";
	return in->events == -EACCES || in->events == -EPERM
		       ? "names only: tracefs is closed to this user"
		       : "names only: there is no tracefs";
}

static const struct weft_option_spec option_mechanism = {
	.struct_size = sizeof(option_mechanism),
	.type = WEFT_OPTION_ENUM,
	.where = WEFT_OPTION_PER_SET | WEFT_OPTION_PER_PROBE,
	.name = "mechanism",
	.default_text = "auto",
	.choices = "auto|record|raw",
	.help = "What calls are watched with: an event for each (record), which costs other calls "
		"least, or one program for all (raw), which is right where most calls are asked for.",
};
static const struct weft_option_spec *const options[] = {&option_mechanism, NULL};

WEFT_PROVIDER_PLUGIN = {
	.struct_size = sizeof(struct weft_provider),
	.abi_version = WEFT_ABI_CURRENT,
	.name = "syscall",
	.summary = "the system calls of the machine, their entry and return",
	.options = options,
	.open = syscall_open,
	.close = syscall_close,
	.provide = syscall_provide,
	.probe_info = syscall_probe_info,
	.attach = syscall_attach,
	.detach = syscall_detach,
	.describe = syscall_describe,
	.populate_match = syscall_populate_match,
	.probe_note = syscall_probe_note,
};
