/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The command that a set has for its target. It is forked before anything is attached, so that its
 * pid is known to every filter, and is a target from the start: what it does before its exec is
 * counted as the command's, and so it must do nothing. Its program is found beforehand, by us. It
 * waits at a socket until all is attached (a pipe would kill us with SIGPIPE if the child is gone).
 * Then it is called, while programs are still disabled; its return from that system call is over
 * when it says so in memory that both share. There it looks for the word to go on, which comes once
 * programs are enabled, some microseconds later. What follows is the call of execve, by the
 * instruction: the first thing that anybody sees of it.
 *
 * If the session ends before that, the socket closes, or the child misses its tracer, and it exits
 * without a trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/session/internal.h"
#include "core/session/raw.h"

#define SHELL       "/bin/sh"
#define LOOK_TURNS  (1u << 28) /* between two looks whether the tracer lives: about a second */
#define YIELD_TURNS (1u << 16)

enum word { WAIT, SOON, GO, LEAVE }; /* SOON: programs are being enabled */

struct weft_meeting {
	int poised; /* set by the child: it makes no call any more */
	int word;   /* set by the session, enum word */
};

/* ---- the child ---- */

struct program {
	char *path, **argv;
	char **script; /* for a shell, which takes what the kernel cannot run, as execvp() has it */
	struct weft_meeting *meeting;
	pid_t session; /* the process of the tracer */
	bool yields; /* it may have this CPU alone, and a priority that ours does not give way to */
	int gate, status;
};

/* False: it is not to run, or the tracer has ended. */
__attribute__((always_inline)) static inline bool wait_poised(const struct program *p)
{
	int word = WAIT;
	char called;

	if (weft_raw_call(SYS_read, p->gate, (long)&called, 1) != 1)
		return false;
	__atomic_store_n(&p->meeting->poised, 1, __ATOMIC_SEQ_CST);
	for (unsigned int turns = 1; word < GO; turns++) {
		if (!(turns % LOOK_TURNS) && weft_raw_call(SYS_getppid, 0, 0, 0) != p->session)
			return false;
		if (p->yields && word == WAIT && !(turns % YIELD_TURNS))
			weft_raw_call(SYS_sched_yield, 0, 0, 0);
		word = __atomic_load_n(&p->meeting->word, __ATOMIC_SEQ_CST);
	}
	return word == GO;
}

static void become(const struct program *p)
{
	long ret;
	int code;

	if (wait_poised(p)) {
		ret = weft_raw_call(SYS_execve, (long)p->path, (long)p->argv, (long)environ);
		if (ret == -ENOEXEC)
			ret = weft_raw_call(SYS_execve, (long)SHELL, (long)p->script, (long)environ);
		code = (int)-ret;
		weft_raw_call(SYS_write, p->status, (long)&code, sizeof(code));
	}
	weft_raw_call(SYS_exit_group, 127, 0, 0);
}

static void run_child(struct program *p)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	become(p);
	_exit(127);
}

/* ---- its program ---- */

/* As execvp() finds it; a text with a slash is what the kernel makes of it. Freed with free(). */
static int find_program(const char *name, char **out)
{
	const char *dirs = getenv("PATH");
	int ret = -ENOENT;
	struct stat st;
	char *path;

	if (strchr(name, '/')) {
		*out = strdup(name);
		return *out ? 0 : -ENOMEM;
	}
	for (dirs = dirs ? dirs : "/bin:/usr/bin"; dirs && *name;) {
		const char *end = strchrnul(dirs, ':');

		if (asprintf(&path, "%.*s%s%s", (int)(end - dirs), dirs, end == dirs ? "" : "/",
			     name) < 0)
			return -ENOMEM;
		if (!stat(path, &st)) {
			if (S_ISREG(st.st_mode) && !faccessat(AT_FDCWD, path, X_OK, AT_EACCESS)) {
				*out = path;
				return 0;
			}
			ret = -EACCES;
		}
		free(path);
		dirs = *end ? end + 1 : NULL;
	}
	return ret;
}

/* sh PATH ARGUMENT...; freed with free(). */
static char **for_shell(char *path, char **argv)
{
	static char sh[] = "sh";
	size_t n = 0;
	char **out;

	while (argv[n])
		n++;
	out = calloc(n + 2, sizeof(*out));
	if (!out)
		return NULL;
	out[0] = sh;
	out[1] = path;
	memcpy(out + 2, argv + 1, (n - 1) * sizeof(*out));
	return out;
}

/* ---- the session's side ---- */

static int cannot_run(const struct weft_session *s, int code, struct weft_error *err)
{
	return code == -ENOMEM ? weft_nomem(err)
			       : weft_fail(err, code, "TARGET_EXEC", "cannot run %s: %s",
					   s->set->target.command[0], strerror(-code));
}

/* The child has the page until its exec. */
static int make_meeting(struct weft_session *s)
{
	void *page = mmap(NULL, sizeof(*s->command_meeting), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return -errno;
	s->command_meeting = page;
	return 0;
}

static void end_meeting(struct weft_session *s)
{
	if (s->command_meeting)
		munmap(s->command_meeting, sizeof(*s->command_meeting));
	s->command_meeting = NULL;
}

static int fork_child(struct weft_session *s, struct program *p)
{
	int gate[2], status[2], policy, ret;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate))
		return -errno;
	if (pipe2(status, O_CLOEXEC)) {
		ret = -errno;
		goto close_gate;
	}
	p->gate = gate[0];
	p->status = status[1];
	p->session = getpid();
	policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
	p->yields = policy == SCHED_FIFO || policy == SCHED_RR;
	pid = fork();
	if (pid < 0) {
		ret = -errno;
		goto close_status;
	}
	if (pid == 0) {
		close(gate[1]);
		close(status[0]);
		run_child(p);
	}
	close(gate[0]);
	close(status[1]);
	s->command_pid = pid;
	s->command_gate = gate[1];
	s->command_status = status[0];
	return 0;

close_status:
	close(status[0]);
	close(status[1]);
close_gate:
	close(gate[0]);
	close(gate[1]);
	return ret;
}

int weft_command_spawn(struct weft_session *s, struct weft_error *err)
{
	struct program p = {.argv = s->set->target.command};
	int ret = find_program(p.argv[0], &p.path);

	if (ret)
		return cannot_run(s, ret, err);
	p.script = for_shell(p.path, p.argv);
	ret = p.script ? make_meeting(s) : -ENOMEM;
	p.meeting = s->command_meeting;
	if (!ret)
		ret = fork_child(s, &p);
	free(p.script);
	free(p.path);
	if (ret)
		end_meeting(s);
	return ret ? weft_fail(err, ret, "TARGET_START", "cannot start %s: %s", p.argv[0],
			       strerror(-ret))
		   : 0;
}

/* The child is there, waiting for us, or was killed. */
int weft_command_poise(struct weft_session *s, int pidfd, struct weft_error *err)
{
	static const struct timespec moment = {.tv_nsec = 50000};
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};

	if (send(s->command_gate, "", 1, MSG_NOSIGNAL) != 1)
		return weft_fail(err, -errno, "TARGET_START", "cannot start the command: %s",
				 strerror(errno));
	while (!__atomic_load_n(&s->command_meeting->poised, __ATOMIC_SEQ_CST))
		if (ppoll(&ended, 1, &moment, NULL) > 0)
			return weft_fail(err, -ESRCH, "TARGET_START",
					 "the command was ended before it began");
	__atomic_store_n(&s->command_meeting->word, SOON, __ATOMIC_SEQ_CST);
	return 0;
}

int weft_command_release(struct weft_session *s, struct weft_error *err)
{
	int code = 0;
	ssize_t n;

	__atomic_store_n(&s->command_meeting->word, GO, __ATOMIC_SEQ_CST);
	close(s->command_gate);
	s->command_gate = -1;
	do
		n = read(s->command_status, &code, sizeof(code)); /* ends at exec */
	while (n < 0 && errno == EINTR);
	close(s->command_status);
	s->command_status = -1;
	end_meeting(s);
	if (n != sizeof(code))
		return 0;
	waitpid(s->command_pid, NULL, 0); /* it exits at once */
	s->command_pid = 0;
	s->target.n_pids = (uint32_t)--s->n_target_pids;
	return cannot_run(s, -code, err);
}

/* One that still runs is left to run: the tracer only looked on. One that never began exits. */
void weft_command_finish(struct weft_session *s)
{
	if (s->command_gate >= 0) {
		__atomic_store_n(&s->command_meeting->word, LEAVE, __ATOMIC_SEQ_CST);
		close(s->command_gate);
		s->command_gate = -1;
		if (s->command_pid)
			waitpid(s->command_pid, NULL, 0);
	} else if (s->command_pid) {
		waitpid(s->command_pid, NULL, WNOHANG);
	}
	end_meeting(s);
	if (s->command_status >= 0)
		close(s->command_status);
	s->command_status = -1;
	if (s->command_pid)
		s->target.n_pids = (uint32_t)--s->n_target_pids; /* it was the last of the list */
	s->command_pid = 0;
}
