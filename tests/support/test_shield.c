/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/bpf.h"
#include "support/shield.h"
#include "support/test_bpf.h"

#define NOBODY 65534

struct done {
	int times;
	pid_t by, group;
};

static void note(void *arg)
{
	struct done *d = arg;

	d->times++;
	d->by = (pid_t)syscall(SYS_getpid);
	d->group = (pid_t)syscall(SYS_getpgid, 0);
}

static volatile sig_atomic_t n_signals;

static void on_signal(int number)
{
	(void)number;
	n_signals++;
}

Test(support_shield, another_process_does_it_that_nobody_notices)
{
	struct done d = {0};
	sigset_t before, after;

	n_signals = 0;
	signal(SIGCHLD, on_signal);
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	support_shielded(note, &d);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	cr_expect_eq(d.times, 1);
	cr_expect_neq(d.by, getpid());
	cr_expect_eq(d.group, d.by, "a group of its own");
	cr_expect_eq(n_signals, 0, "a signal tells of its end");
	for (int i = 1; i < SIGRTMAX; i++)
		cr_expect_eq(sigismember(&before, i), sigismember(&after, i), "signal %d", i);
	cr_expect_eq(kill(d.by, 0), -1);
	cr_expect_eq(errno, ESRCH, "it stays as a zombie");
	cr_expect_eq(waitpid(-1, NULL, __WALL), -1);
	cr_expect_eq(errno, ECHILD);
}

Test(support_shield, descriptors_are_the_caller_s)
{
	int ends[2];
	char c;

	cr_assert_eq(pipe(ends), 0);
	support_shielded_close(ends[1]);
	cr_expect_eq(read(ends[0], &c, 1), 0, "the end that writes is still there");
	cr_expect_eq(close(ends[1]), -1);
	close(ends[0]);
}

Test(support_shield, without_a_process_to_be_had_the_caller_does_it)
{
	const struct rlimit none = {0, 0};
	int status;
	pid_t pid = fork();

	cr_assert_geq(pid, 0);
	if (!pid) {
		struct done d = {0};

		if (setrlimit(RLIMIT_NPROC, &none) || setgid(NOBODY) || setuid(NOBODY))
			_exit(100);
		support_shielded(note, &d);
		_exit(d.times != 1 ? 101 : d.by != getpid() ? 102 : 0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0, "%d", WEXITSTATUS(status));
}

/* ---- the caller is killed ---- */

enum { BEGUN, GO_ON, DONE, PIPES };

static void slowly(void *arg)
{
	int(*pipes)[2] = arg;
	char c = '.';

	syscall(SYS_write, pipes[BEGUN][1], &c, 1);
	syscall(SYS_read, pipes[GO_ON][0], &c, 1);
	syscall(SYS_write, pipes[DONE][1], &c, 1);
}

/* to_group: whoever kills it kills its group. */
static void kill_amid(bool to_group)
{
	int pipes[PIPES][2], status;
	char text[8];

	for (int i = 0; i < PIPES; i++)
		cr_assert_eq(pipe(pipes[i]), 0);
	pid_t pid = fork();
	cr_assert_geq(pid, 0);
	if (!pid) {
		setpgid(0, 0);
		support_shielded(slowly, pipes);
		_exit(1);
	}
	cr_assert_eq(read(pipes[BEGUN][0], text, 1), 1);
	cr_assert_eq(kill(to_group ? -pid : pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid, "it dies at once");
	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	cr_assert_eq(write(pipes[GO_ON][1], ".", 1), 1);
	close(pipes[DONE][1]);
	cr_expect_eq(read(pipes[DONE][0], text, sizeof(text)), 1, "it is finished");
	cr_expect_eq(read(pipes[DONE][0], text, sizeof(text)), 0, "and nothing else is done");
	for (int i = 0; i < PIPES; i++) {
		close(pipes[i][0]);
		if (i != DONE)
			close(pipes[i][1]);
	}
}

Test(support_shield, it_is_finished_though_the_caller_is_killed, .timeout = 60)
{
	kill_amid(false);
}

Test(support_shield, it_is_finished_though_the_caller_s_group_is_killed, .timeout = 60)
{
	kill_amid(true);
}

/* ---- the child is killed, alone ---- */

#define PAGE 4096u

/* A page that nobody has yet: who reads it waits, and the descriptor tells who does. */
static int absent_page(void **page)
{
	struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_THREAD_ID};
	struct uffdio_register all = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	cr_assert_geq(fd, 0);
	*page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(*page, MAP_FAILED);
	all.range.start = (uintptr_t)*page;
	all.range.len = PAGE;
	cr_assert(!ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &all));
	return fd;
}

static pid_t start_killer(int fd)
{
	pid_t pid = fork();

	cr_assert_geq(pid, 0);
	if (!pid) {
		struct uffd_msg m;

		_exit(read(fd, &m, sizeof(m)) != sizeof(m) ||
		      kill((pid_t)m.arg.pagefault.feat.ptid, SIGKILL));
	}
	return pid;
}

struct alone {
	volatile uint64_t *page;
	int begun, result;
};

static void begin(void *arg)
{
	struct alone *a = arg;

	a->begun++;
	a->result = (int)*a->page;
}

Test(support_shield, what_is_half_done_is_not_done_again, .timeout = 60)
{
	struct alone a = {.result = -EINTR};
	void *page;
	int fd = absent_page(&page), status;
	pid_t killer = start_killer(fd);

	a.page = page;
	support_shielded(begin, &a);
	cr_expect_eq(a.begun, 1);
	cr_expect_eq(a.result, -EINTR);
	cr_assert_eq(waitpid(killer, &status, 0), killer);
	cr_expect_eq(status, 0);
	close(fd);
	munmap(page, PAGE);
}

Test(support_shield, a_link_whose_maker_is_killed_is_none, .timeout = 60)
{
	const struct weft_load_class load = {
		.struct_size = sizeof(load),
		.prog_type = BPF_PROG_TYPE_KPROBE,
		.expected_attach_type = SUPPORT_BPF_TRACE_UPROBE_MULTI,
	};
	struct support_uprobe_multi what = {.path = "/proc/self/exe", .count = 1};
	int prog = test_prog_empty(&load), fd, status;
	pid_t killer;
	void *page;

	cr_assert_geq(prog, 0);
	fd = absent_page(&page);
	killer = start_killer(fd);
	what.offsets = page;
	cr_expect_eq(support_uprobe_multi_link(prog, &what), -EINTR);
	cr_assert_eq(waitpid(killer, &status, 0), killer);
	cr_expect_eq(status, 0);
	close(prog);
	close(fd);
	munmap(page, PAGE);
}
