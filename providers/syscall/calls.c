/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The calls there are. Names and numbers come from the architecture's table, so that they can be
 * listed by anyone; what only the kernel's events tell of, since it came later than the table, is
 * added where the events can be read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "syscall.h"

const char *syscall_kernel_name(const struct syscall_call *call)
{
	return call->kernel ? call->kernel : call->name;
}

const struct syscall_call *syscall_by_name(const char *name)
{
	for (size_t i = 0; i < syscall_arch.n_calls; i++)
		if (!strcmp(syscall_arch.calls[i].name, name))
			return &syscall_arch.calls[i];
	return NULL;
}

const struct syscall_call *syscall_by_kernel_name(const char *name)
{
	for (size_t i = 0; i < syscall_arch.n_calls; i++)
		if (!strcmp(syscall_kernel_name(&syscall_arch.calls[i]), name))
			return &syscall_arch.calls[i];
	return NULL;
}

#define EVENT "sys_enter_"

static int add_event(void *arg, const char *category, const char *event)
{
	struct weft_instance *in = arg;
	const char **names;

	(void)category;
	if (strncmp(event, EVENT, strlen(EVENT)))
		return 0;
	event += strlen(EVENT);
	/* "stat" is a call by the table and another one, of old, by the kernel's functions. */
	if (syscall_by_kernel_name(event) || syscall_by_name(event))
		return 0;
	names = realloc((void *)in->names, (in->n_names + 1) * sizeof(*names));
	if (!names)
		return -ENOMEM;
	in->names = names;
	names[in->n_names] = strdup(event);
	if (!names[in->n_names])
		return -ENOMEM;
	in->n_names++;
	return 0;
}

int syscall_list(struct weft_instance *in)
{
	int ret = 0;

	if (in->names)
		return 0;
	in->names = malloc(syscall_arch.n_calls * sizeof(*in->names));
	if (!in->names)
		return -ENOMEM;
	for (size_t i = 0; i < syscall_arch.n_calls; i++)
		in->names[i] = syscall_arch.calls[i].name;
	in->n_names = syscall_arch.n_calls;
	if (in->events >= 0)
		ret = tracepoint_each(in->events, "syscalls", add_event, in);
	if (ret == -ENOMEM)
		syscall_unlist(in);
	return ret == -ENOMEM ? ret : 0; /* what is closed adds nothing */
}

void syscall_unlist(struct weft_instance *in)
{
	for (size_t i = syscall_arch.n_calls; i < in->n_names; i++)
		free((void *)in->names[i]);
	free((void *)in->names);
	in->names = NULL;
	in->n_names = 0;
}

int syscall_no_events(struct weft_instance *in, int code, struct weft_error *err)
{
	if (code == -EACCES || code == -EPERM)
		return in->host->fail(
			err, code, "SYSCALL_DENIED",
			"the kernel's description of system calls is closed to this user: "
			"it takes root, or a tracefs that is mounted with a group (-o gid=)");
	return in->host->fail(err, code, "SYSCALL_TRACEFS",
			      "the kernel's description of system calls cannot be read, and tracefs "
			      "cannot be mounted: %s",
			      strerror(-code));
}
