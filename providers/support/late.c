/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "support/late.h"

#include <stdio.h>
#include <sys/timerfd.h>

bool support_is_named(const struct weft_target *t)
{
	return t->n_pids && !t->follow;
}

void support_wake(int timer_fd, long ns, bool again)
{
	const struct itimerspec when = {
		.it_value.tv_nsec = ns,
		.it_interval.tv_nsec = again ? SUPPORT_LOOK_NS : 0,
	};

	if (timer_fd >= 0)
		timerfd_settime(timer_fd, 0, &when, NULL);
}

bool support_file_of(int32_t pid, const char *path, char *ours, size_t size, struct stat *st)
{
	int n = snprintf(ours, size, "/proc/%d/root%s", pid, path);

	return n >= 0 && (size_t)n < size && !stat(ours, st) && S_ISREG(st->st_mode);
}
