/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The target: processes given by number, and a command that the session starts itself (command.c). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/session/internal.h"

/* The process that a number means; -ESRCH if none, the thread group's pid if it is a thread's. */
static int32_t thread_group_of(int32_t pid)
{
	char path[64], line[256];
	int32_t tgid = -ESRCH;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	if (!f)
		return -ESRCH;
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, "Tgid:", 5)) {
			tgid = (int32_t)strtol(line + 5, NULL, 10);
			break;
		}
	fclose(f);
	return tgid;
}

int weft_target_set(struct weft_session *s, const int32_t *pids, size_t n, bool follow,
		    struct weft_pos pos, struct weft_error *err)
{
	int ret = 0;
	size_t i;

	free(s->target_pids);
	/* Room for the command. */
	s->target_pids = calloc(n + 1, sizeof(*s->target_pids));
	if (!s->target_pids)
		return weft_nomem(err);
	for (i = 0; i < n; i++) {
		int32_t tgid = thread_group_of(pids[i]);

		if (tgid < 0)
			ret = weft_fail_at(err, pos, -ESRCH, "TARGET_NO_PROCESS",
					   "there is no process %d", pids[i]);
		else if (tgid != pids[i])
			ret = weft_fail_at(err, pos, -EINVAL, "TARGET_THREAD",
					   "%d is a thread of process %d: name the process",
					   pids[i], tgid);
		s->target_pids[i] = pids[i];
	}
	s->n_target_pids = n;
	s->target = (struct weft_target){
		.struct_size = sizeof(s->target),
		.follow = follow,
		.pids = s->target_pids,
		.n_pids = (uint32_t)n,
		.command = s->set ? (const char *const *)s->set->target.command : NULL,
	};
	return ret;
}

static int watch_end(struct weft_session *s, int32_t pid, struct weft_error *err)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	int code = -errno;

	if (fd < 0)
		return weft_fail(err, code, "TARGET_NO_PROCESS", "cannot watch process %d: %s", pid,
				 strerror(-code));
	s->pidfds[s->n_pidfds++] = fd;
	return 0;
}

int weft_target_spawn(struct weft_session *s, struct weft_error *err)
{
	size_t i;
	int ret;

	s->pidfds = calloc(s->n_target_pids + 1, sizeof(*s->pidfds));
	if (!s->pidfds)
		return weft_nomem(err);
	for (i = 0; i < s->n_target_pids; i++) {
		ret = watch_end(s, s->target_pids[i], err);
		if (ret)
			return ret;
	}
	if (!s->set->target.command)
		return 0;
	ret = weft_command_spawn(s, err);
	if (ret)
		return ret;
	s->target_pids[s->n_target_pids++] = s->command_pid;
	s->target.n_pids = (uint32_t)s->n_target_pids;
	return watch_end(s, s->command_pid, err);
}

int weft_target_poise(struct weft_session *s, struct weft_error *err)
{
	/* The command came last. */
	return s->command_pid ? weft_command_poise(s, s->pidfds[s->n_pidfds - 1], err) : 0;
}

int weft_target_release(struct weft_session *s, struct weft_error *err)
{
	return s->command_pid ? weft_command_release(s, err) : 0;
}

void weft_target_finish(struct weft_session *s)
{
	size_t i;

	weft_command_finish(s);
	for (i = 0; i < s->n_pidfds; i++)
		if (s->pidfds[i] >= 0)
			close(s->pidfds[i]);
	free(s->pidfds);
	s->pidfds = NULL;
	s->n_pidfds = 0;
}
