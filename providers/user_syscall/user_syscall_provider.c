/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * user-syscall: probes that programs declare and fire themselves, by a system call.
 *
 *   probe                                  kernel event
 *   user-syscall:PROGRAM:PROVIDER:NAME     the entry of getpid with a magic number in its first,
 *                                          unused register; one event for all probes
 *
 *   args                                   as declared: the call's other five registers, and memory
 *                                          that they point to
 *
 * docs/user-syscall.md tells what programs do, kernel.h what is done in the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "support/file.h"
#include "support/tracefs.h"
#include "user_syscall.h"

static const struct weft_option_spec option_rate = {
	.struct_size = sizeof(option_rate),
	.type = WEFT_OPTION_INT,
	.where = WEFT_OPTION_PER_SET,
	.name = "rate",
	.default_text = "10000000",
	.help = "Firings a second that each process may cause; more are lost and counted. 0: no limit.",
	.min = 0,
	.max = 1000000000,
};
static const struct weft_option_spec option_processes = {
	.struct_size = sizeof(option_processes),
	.type = WEFT_OPTION_INT,
	.where = WEFT_OPTION_PER_SET,
	.name = "processes",
	.default_text = "65536",
	.help = "How many processes that fire may live at once; what more of them fire is lost and counted.",
	.min = 1,
	.max = 4194304,
};
static const struct weft_option_spec option_mechanism = {
	.struct_size = sizeof(option_mechanism),
	.type = WEFT_OPTION_ENUM,
	.where = WEFT_OPTION_PER_SET,
	.name = "mechanism",
	.default_text = "auto",
	.choices = "auto|tracepoint|raw",
	.help = "The event: getpid's own tracepoint, or that of all system calls, which costs these more; "
		"auto: getpid's own where the kernel has it.",
};
static const struct weft_option_spec *const options[] = {&option_rate, &option_processes,
							 &option_mechanism, NULL};

static void user_syscall_close(struct weft_instance *in)
{
	if (!in)
		return;
	while (in->families)
		us_family_drop(in, in->families);
	us_stop(in);
	us_kernel_finish(&in->kernel);
	us_probes_free(in);
	free(in->looked.v);
	free(in->waiting.v);
	support_close(in->timer);
	support_close(in->later);
	support_close(in->start);
	support_close(in->epoll);
	support_close(in->null);
	free(in);
}

static int make_descriptors(struct weft_instance *in)
{
	const int fds[] = {in->start, in->timer, in->later};

	if (in->epoll < 0 || in->start < 0 || in->timer < 0 || in->later < 0 || in->null < 0)
		return -EMFILE;
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		struct epoll_event e = {.events = EPOLLIN};

		if (epoll_ctl(in->epoll, EPOLL_CTL_ADD, fds[i], &e))
			return -errno;
	}
	return 0;
}

/* A kernel may have no events of single calls (CONFIG_FTRACE_SYSCALLS). Who cannot read tracefs
 * does not attach either. */
static enum us_mechanism choose(const char *asked)
{
	uint64_t id;

	if (strcmp(asked, "auto"))
		return strcmp(asked, "raw") ? US_TRACEPOINT : US_RAW;
	return support_tracefs_path() &&
			       support_tracepoint_id("syscalls", "sys_enter_getpid", &id) == -ENOENT
		       ? US_RAW
		       : US_TRACEPOINT;
}

static int user_syscall_open(const struct weft_host *host, const struct weft_params *params,
			     struct weft_instance **out, struct weft_error *err)
{
	struct weft_instance *in = calloc(1, sizeof(*in));

	if (!in)
		return host->fail(err, -ENOMEM, "NO_MEMORY", "out of memory");
	in->host = host;
	us_kernel_init(&in->kernel, host, (uint64_t)host->param_int(params, "rate"),
		       (uint32_t)host->param_int(params, "processes"),
		       choose(host->param_string(params, "mechanism")));
	in->asked = strcmp(host->param_string(params, "mechanism"), "auto") != 0;
	in->epoll = epoll_create1(EPOLL_CLOEXEC);
	in->start = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	in->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	in->later = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	in->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int ret = make_descriptors(in);
	if (ret) {
		user_syscall_close(in);
		return host->fail(err, ret, "USER_SYSCALL_DESCRIPTORS",
				  "file descriptors cannot be had: %s", strerror(-ret));
	}
	*out = in;
	return 0;
}

static int user_syscall_populate(struct weft_instance *in, struct weft_registry *registry,
				 struct weft_error *err)
{
	int ret;

	in->registry = registry;
	in->err = err;
	ret = us_scan(in);
	in->registry = NULL;
	in->err = NULL;
	return ret ? in->host->fail(err, ret, "NO_MEMORY", "out of memory") : 0;
}

static const char *user_syscall_describe(struct weft_instance *in)
{
	static const char *const where[] = {
		"its own tracepoint",
		"the entry of all system calls: this kernel has no tracepoint of getpid alone",
		"its own tracepoint (asked for)",
		"the entry of all system calls (asked for)",
	};

	snprintf(in->description, sizeof(in->description),
		 "getpid with a magic number, of 64-bit programs, at %s",
		 where[2 * in->asked + (in->kernel.mechanism == US_RAW)]);
	return in->description;
}

static const struct weft_capability_spec looking = {
	.struct_size = sizeof(looking),
	.capability = CAP_SYS_PTRACE,
	.what_for = "processes of others",
};
static const struct weft_capability_spec *const capabilities[] = {&looking, NULL};

WEFT_EXPORT const struct weft_provider weft_provider_plugin = {
	.struct_size = sizeof(struct weft_provider),
	.abi_version = WEFT_ABI_CURRENT,
	.name = "user-syscall",
	.summary = "probes that programs declare and fire themselves, with a system call",
	.options = options,
	.open = user_syscall_open,
	.close = user_syscall_close,
	.populate = user_syscall_populate,
	.probe_info = us_probe_info,
	.attach = us_attach,
	.detach = us_detach,
	.discover_fd = us_discover_fd,
	.discover = us_discover,
	.describe = user_syscall_describe,
	.probe_note = us_probe_note,
	.capabilities = capabilities,
};
