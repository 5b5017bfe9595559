/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What is left behind: descriptors and threads. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/plugin_check/session.h"

void check_look_around(struct check_belongings *b)
{
	struct dirent *d;
	DIR *dir;

	memset(b, 0, sizeof(*b));
	dir = opendir("/proc/self/fd");
	while (dir && (d = readdir(dir)))
		if (d->d_name[0] != '.' && atoi(d->d_name) != dirfd(dir) &&
		    (size_t)atoi(d->d_name) < sizeof(b->fds))
			b->fds[atoi(d->d_name)] = 1;
	if (dir)
		closedir(dir);
	dir = opendir("/proc/self/task");
	while (dir && (d = readdir(dir)))
		b->n_threads += d->d_name[0] != '.';
	if (dir)
		closedir(dir);
}

void check_expect_same(const struct check *c, const struct check_belongings *before,
		       const char *after)
{
	struct check_belongings now;

	check_look_around(&now);
	for (size_t i = 0; i < sizeof(now.fds); i++) {
		char path[64], what[256] = "?";

		if (!now.fds[i] || before->fds[i])
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%zu", i);
		if (readlink(path, what, sizeof(what) - 1) < 0)
			continue;
		check_found("PLUGIN_LEFT_OPEN", "provider %s leaves open after %s: %s",
			    c->provider->name, after, what);
	}
	if (now.n_threads > before->n_threads)
		check_found("PLUGIN_LEFT_THREAD", "provider %s leaves a thread running after %s",
			    c->provider->name, after);
}
