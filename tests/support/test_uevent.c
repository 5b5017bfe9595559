/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/uevent.h"

#define MESSAGE(text) (text), sizeof(text)

Test(uevent, a_cpu_that_comes_online)
{
	struct support_uevent ev;

	cr_assert_eq(support_uevent_parse(MESSAGE("online@/devices/system/cpu/cpu12\0"
						  "ACTION=online\0"
						  "DEVPATH=/devices/system/cpu/cpu12\0"
						  "SUBSYSTEM=cpu\0"
						  "SEQNUM=4711"),
					  &ev),
		     0);
	cr_expect_str_eq(ev.action, "online");
	cr_expect_str_eq(ev.devpath, "/devices/system/cpu/cpu12");
	cr_expect_str_eq(ev.subsystem, "cpu");
	cr_expect_eq(support_uevent_cpu(&ev), 12);
}

Test(uevent, other_devices_are_no_cpus)
{
	static const struct support_uevent others[] = {
		{"add", "/devices/virtual/block/loop0", "block"},
		{"add", "/devices/system/cpu/cpu", "cpu"},
		{"add", "/devices/system/cpu/cpu1/cpuidle", "cpu"},
		{"add", "/devices/system/cpu/cpufreq", "cpu"},
		{"add", "/devices/system/cpu/cpu99999999999", "cpu"},
		{"add", "/devices/system/cpu/cpu1", "node"},
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		cr_expect_eq(support_uevent_cpu(&others[i]), -1, "%s", others[i].devpath);
}

Test(uevent, what_is_no_message_is_refused)
{
	struct support_uevent ev;

	cr_expect_eq(support_uevent_parse("", 0, &ev), -EINVAL);
	cr_expect_eq(support_uevent_parse("a@b", 3, &ev), -EINVAL, "no NUL at the end");
	cr_expect_eq(support_uevent_parse(MESSAGE("a@b"), &ev), -EINVAL, "no keys");
	cr_expect_eq(support_uevent_parse(MESSAGE("libudev\0ACTION=add\0DEVPATH=/x"), &ev), -EINVAL,
		     "udevd's own format");
	cr_expect_eq(support_uevent_parse(MESSAGE("a@b\0ACTION=a"), &ev), -EINVAL, "no path");
	cr_assert_eq(support_uevent_parse(MESSAGE("a@b\0ACTION=a\0DEVPATH=b"), &ev), 0);
	cr_expect_str_eq(ev.subsystem, "");
}

static void never(const struct support_uevent *ev, void *arg)
{
	(void)ev;
	++*(int *)arg;
}

Test(uevent, the_socket_waits_for_nothing)
{
	int seen = 0;

	int fd = support_uevent_open();
	cr_assert_geq(fd, 0);
	cr_expect_eq(support_uevent_read(fd, never, &seen), 0);
	close(fd);

	/* Not a netlink socket: nothing on it comes from the kernel. */
	int pair[2];
	cr_assert_eq(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair), 0);
	static const char forged[] = "offline@/devices/system/cpu/cpu0\0ACTION=offline\0"
				     "DEVPATH=/devices/system/cpu/cpu0\0SUBSYSTEM=cpu";
	cr_assert_eq(write(pair[1], forged, sizeof(forged)), (ssize_t)sizeof(forged));
	cr_expect_eq(support_uevent_read(pair[0], never, &seen), 0);
	cr_expect_eq(seen, 0);
	close(pair[0]);
	close(pair[1]);
	cr_expect_eq(support_uevent_read(pair[0], never, &seen), -EBADF);
}
