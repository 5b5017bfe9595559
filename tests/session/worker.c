/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "worker.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void wait_for_go(int fd)
{
	char c;

	while (read(fd, &c, 1) < 0 && errno == EINTR)
		;
	close(fd);
}

struct program {
	const char *const *argv;
	int out_fd;
};

static void exec_program(void *arg)
{
	const struct program *p = arg;
	int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	dup2(p->out_fd >= 0 ? p->out_fd : null, STDOUT_FILENO);
	execv(p->argv[0], (char *const *)p->argv);
	_exit(126);
}

void worker_fork(struct worker *w, void (*fn)(void *arg), void *arg)
{
	int go[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go), 0);
	w->pid = fork();
	cr_assert_geq(w->pid, 0);
	if (w->pid == 0) {
		close(go[1]);
		wait_for_go(go[0]);
		fn(arg);
		_exit(0);
	}
	close(go[0]);
	w->go = go[1];
	w->pidfd = (int)syscall(SYS_pidfd_open, w->pid, 0);
	cr_assert_geq(w->pidfd, 0);
}

void worker_program(struct worker *w, int out_fd, const char *const argv[])
{
	struct program p = {.argv = argv, .out_fd = out_fd};

	worker_fork(w, exec_program, &p);
}

/* An end alone would not do: a worker that was made later has it open as well. */
void worker_go(struct worker *w)
{
	send(w->go, "", 1, MSG_NOSIGNAL); /* it may have ended */
	close(w->go);
	w->go = -1;
}

void worker_join(struct worker *w)
{
	int status = -1;

	if (w->go >= 0)
		worker_go(w);
	cr_assert_eq(waitpid(w->pid, &status, 0), w->pid);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the worker ended with 0x%x",
		  status);
	close(w->pidfd);
}

void worker_kill(struct worker *w)
{
	if (w->go >= 0)
		close(w->go);
	kill(w->pid, SIGKILL);
	waitpid(w->pid, NULL, 0);
	close(w->pidfd);
}

void *worker_shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(p, MAP_FAILED);
	return p;
}

void worker_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		_exit(125);
}

struct pinned {
	void (*fn)(void *arg, int cpu);
	void *arg;
	int cpu;
	pthread_barrier_t *barrier;
};

static void *run_pinned(void *arg)
{
	struct pinned *p = arg;

	worker_pin(p->cpu);
	pthread_barrier_wait(p->barrier);
	p->fn(p->arg, p->cpu);
	return NULL;
}

void worker_on_cpus(int n, void (*fn)(void *arg, int cpu), void *arg)
{
	pthread_barrier_t barrier;
	struct pinned pinned[64];
	pthread_t threads[64];

	if (n > 64 || pthread_barrier_init(&barrier, NULL, (unsigned)n))
		_exit(124);
	for (int i = 0; i < n; i++) {
		pinned[i] = (struct pinned){fn, arg, i, &barrier};
		if (pthread_create(&threads[i], NULL, run_pinned, &pinned[i]))
			_exit(124);
	}
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
}
