/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the kernel announces of devices, over netlink. Used for CPUs that come and go: the kernel
 * sends "offline@/devices/system/cpu/cpu1" when the CPU is gone and "online@..." when it runs.
 */
#ifndef WEFT_SUPPORT_UEVENT_H
#define WEFT_SUPPORT_UEVENT_H

#include <stddef.h>

struct support_uevent {
	const char *action;    /* "online", "offline", "add" ...; never NULL */
	const char *devpath;   /* "/devices/system/cpu/cpu1"; never NULL */
	const char *subsystem; /* "cpu"; "" if the message has none */
};

/* A message is "ACTION@DEVPATH", then KEY=value texts, each ended by a NUL. Strings in *out point
 * into msg, which must end with a NUL. -EINVAL if it is no such message. */
int support_uevent_parse(const char *msg, size_t size, struct support_uevent *out);

/* The number of the CPU that the event is about, or -1 if it is about none. */
int support_uevent_cpu(const struct support_uevent *ev);

/* A socket that is sent all of them; readable when there are some. -errno if it cannot be had. */
int support_uevent_open(void);

/* Hands over every event that waits, without blocking. Messages that do not come from the kernel
 * are dropped. Returns 0, or -ENOBUFS if the kernel had to drop some (those that were there have
 * been handed over), or another -errno. */
int support_uevent_read(int fd, void (*fn)(const struct support_uevent *, void *), void *arg);

#endif
