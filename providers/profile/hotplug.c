/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * CPUs that come and go while probes are attached.
 *
 * When a CPU goes the kernel takes its events out for good: they do not fire again when it comes
 * back. So what counts is not only which CPUs are online now but which have been away since the
 * last look: both come from the messages that the kernel sends over a netlink socket. If it had to
 * drop messages every CPU may have been away, and all events are made anew.
 */
#include <errno.h>
#include <string.h>

#include "profile.h"
#include "support/uevent.h"

struct change {
	struct support_cpus gone;
	bool any;
};

static void note(const struct support_uevent *ev, void *arg)
{
	struct change *change = arg;
	int cpu = support_uevent_cpu(ev);

	if (cpu < 0)
		return;
	change->any = true;
	if (!strcmp(ev->action, "offline") || !strcmp(ev->action, "remove"))
		support_cpus_add(&change->gone, (uint32_t)cpu);
}

static int follow(struct weft_instance *in, const struct support_cpus *gone)
{
	struct support_cpus online;

	int error = support_cpus_online(&online);
	if (error)
		return error;
	for (struct weft_attachment *at = in->attachments; at; at = at->next)
		weft_profile_follow(in, at, gone, &online);
	return 0;
}

int weft_profile_discover_fd(struct weft_instance *in)
{
	static const struct support_cpus none;

	if (in->uevent_fd >= 0)
		return in->uevent_fd;
	int fd = support_uevent_open();
	if (fd < 0) {
		in->host->log(in->host, WEFT_LOG_WARNING,
			      "CPUs that come online from now on are not profiled: the kernel's "
			      "device events cannot be had (%s)",
			      strerror(-fd));
		return fd;
	}
	in->uevent_fd = fd;
	/* Whatever came between attach() and now. */
	follow(in, &none);
	return fd;
}

int weft_profile_discover(struct weft_instance *in, struct weft_registry *registry,
			  struct weft_error *err)
{
	struct change change = {.any = false};

	(void)registry;
	if (in->uevent_fd < 0)
		return 0;
	int error = support_uevent_read(in->uevent_fd, note, &change);
	if (error == -ENOBUFS) {
		in->host->log(in->host, WEFT_LOG_INFO,
			      "messages about CPUs were lost; every CPU's events are made anew");
		memset(&change.gone, 0xff, sizeof(change.gone));
		change.any = true;
	} else if (error) {
		return in->host->fail(err, error, "PROFILE_HOTPLUG",
				      "the kernel's device events cannot be read: %s",
				      strerror(-error));
	}
	if (!change.any)
		return 0;
	error = follow(in, &change.gone);
	if (error)
		return in->host->fail(err, error, "PROFILE_CPUS",
				      "/sys/devices/system/cpu/online cannot be read: %s",
				      strerror(-error));
	return 0;
}
