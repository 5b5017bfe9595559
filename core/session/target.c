/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The target: processes given by number, and a command that the session starts itself. The command
 * is forked before anything is attached, so that its pid is known to every filter, and waits at a
 * socket until all programs run (a pipe would kill us with SIGPIPE if the child is gone). If the
 * session ends before that, the socket closes and the child exits without a trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

static void run_command(char **argv, int gate, int status)
{
	sigset_t none;
	char go;
	int code;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (read(gate, &go, 1) != 1)
		_exit(127);
	execvp(argv[0], argv);
	code = errno;
	if (write(status, &code, sizeof(code)) != sizeof(code))
		_exit(126);
	_exit(127);
}

int weft_target_spawn(struct weft_session *s, struct weft_error *err)
{
	char **argv = s->set->target.command;
	int gate[2], status[2], ret;
	size_t i;
	pid_t pid;

	s->pidfds = calloc(s->n_target_pids + 1, sizeof(*s->pidfds));
	if (!s->pidfds)
		return weft_nomem(err);
	for (i = 0; i < s->n_target_pids; i++) {
		ret = watch_end(s, s->target_pids[i], err);
		if (ret)
			return ret;
	}
	if (!argv)
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate))
		return weft_fail(err, -errno, "TARGET_START", "socketpair: %s", strerror(errno));
	if (pipe2(status, O_CLOEXEC)) {
		ret = -errno;
		goto close_gate;
	}
	pid = fork();
	if (pid < 0) {
		ret = -errno;
		goto close_status;
	}
	if (pid == 0) {
		close(gate[1]);
		close(status[0]);
		run_command(argv, gate[0], status[1]);
	}
	close(gate[0]);
	close(status[1]);
	s->command_pid = pid;
	s->command_gate = gate[1];
	s->command_status = status[0];
	s->target_pids[s->n_target_pids++] = pid;
	s->target.n_pids = (uint32_t)s->n_target_pids;
	return watch_end(s, pid, err);

close_status:
	close(status[0]);
	close(status[1]);
close_gate:
	close(gate[0]);
	close(gate[1]);
	return weft_fail(err, ret, "TARGET_START", "cannot start %s: %s", argv[0], strerror(-ret));
}

int weft_target_release(struct weft_session *s, struct weft_error *err)
{
	int code = 0;
	ssize_t n;

	if (!s->command_pid)
		return 0;
	if (send(s->command_gate, "", 1, MSG_NOSIGNAL) != 1)
		return weft_fail(err, -errno, "TARGET_START", "cannot start the command: %s",
				 strerror(errno));
	close(s->command_gate);
	s->command_gate = -1;
	do
		n = read(s->command_status, &code, sizeof(code)); /* ends at exec */
	while (n < 0 && errno == EINTR);
	close(s->command_status);
	s->command_status = -1;
	if (n != sizeof(code))
		return 0;
	waitpid(s->command_pid, NULL, 0); /* it exits at once */
	s->command_pid = 0;
	s->target.n_pids = (uint32_t)--s->n_target_pids;
	return weft_fail(err, -code, "TARGET_EXEC", "cannot run %s: %s", s->set->target.command[0],
			 strerror(code));
}

/* A command that still runs is left to run: the tracer only looked on. One that never began exits. */
void weft_target_finish(struct weft_session *s)
{
	size_t i;

	if (s->command_gate >= 0) {
		close(s->command_gate);
		s->command_gate = -1;
		if (s->command_pid)
			waitpid(s->command_pid, NULL, 0);
	} else if (s->command_pid) {
		waitpid(s->command_pid, NULL, WNOHANG);
	}
	if (s->command_status >= 0)
		close(s->command_status);
	s->command_status = -1;
	if (s->command_pid)
		s->target.n_pids = (uint32_t)--s->n_target_pids; /* it was the last of the list */
	s->command_pid = 0;
	for (i = 0; i < s->n_pidfds; i++)
		if (s->pidfds[i] >= 0)
			close(s->pidfds[i]);
	free(s->pidfds);
	s->pidfds = NULL;
	s->n_pidfds = 0;
}
