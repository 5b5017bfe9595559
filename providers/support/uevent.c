/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/cpus.h"
#include "support/uevent.h"

#define KERNEL_GROUP 1u /* multicast group of the kernel's own messages; udevd's is 2 */

int support_uevent_parse(const char *msg, size_t size, struct support_uevent *out)
{
	static const char action[] = "ACTION=", devpath[] = "DEVPATH=", subsystem[] = "SUBSYSTEM=";

	if (size == 0 || msg[size - 1] != '\0' || !memchr(msg, '@', strlen(msg)))
		return -EINVAL;

	*out = (struct support_uevent){.subsystem = ""};
	for (const char *p = msg; p < msg + size; p += strlen(p) + 1) {
		if (!strncmp(p, action, sizeof(action) - 1))
			out->action = p + sizeof(action) - 1;
		else if (!strncmp(p, devpath, sizeof(devpath) - 1))
			out->devpath = p + sizeof(devpath) - 1;
		else if (!strncmp(p, subsystem, sizeof(subsystem) - 1))
			out->subsystem = p + sizeof(subsystem) - 1;
	}
	return out->action && out->devpath ? 0 : -EINVAL;
}

int support_uevent_cpu(const struct support_uevent *ev)
{
	static const char prefix[] = "/devices/system/cpu/cpu";
	unsigned int cpu = 0;

	if (strcmp(ev->subsystem, "cpu") != 0 ||
	    strncmp(ev->devpath, prefix, sizeof(prefix) - 1) != 0)
		return -1;
	const char *p = ev->devpath + sizeof(prefix) - 1;
	if (*p == '\0')
		return -1;
	for (; *p; p++) {
		if (*p < '0' || *p > '9')
			return -1;
		cpu = cpu * 10 + (unsigned int)(*p - '0');
		if (cpu >= SUPPORT_MAX_CPUS)
			return -1;
	}
	return (int)cpu;
}

int support_uevent_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
	if (fd < 0)
		return -errno;

	struct sockaddr_nl addr = {.nl_family = AF_NETLINK, .nl_groups = KERNEL_GROUP};
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		int err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

int support_uevent_read(int fd, void (*fn)(const struct support_uevent *, void *), void *arg)
{
	int lost = 0;

	for (;;) {
		char buf[8192 + 1]; /* the kernel's limit for one message is 2,048 bytes of keys */
		struct sockaddr_nl from;
		struct iovec iov = {.iov_base = buf, .iov_len = sizeof(buf) - 1};
		struct msghdr msg = {.msg_name = &from,
				     .msg_namelen = sizeof(from),
				     .msg_iov = &iov,
				     .msg_iovlen = 1};
		ssize_t n = recvmsg(fd, &msg, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == ENOBUFS) {
			lost = -ENOBUFS;
			continue;
		}
		if (n < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK ? lost : -errno;

		struct support_uevent ev;
		if (msg.msg_namelen != sizeof(from) || from.nl_pid != 0 || n == 0)
			continue;
		buf[n] = '\0';
		if (!support_uevent_parse(buf, (size_t)n + 1, &ev))
			fn(&ev, arg);
	}
}
