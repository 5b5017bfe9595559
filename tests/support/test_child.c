/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test_child.h"

void test_child_start(struct test_child *c, const char *const *argv)
{
	int start[2], output[2];
	char ready;

	cr_assert_eq(pipe2(start, O_CLOEXEC), 0);
	cr_assert_eq(pipe2(output, O_CLOEXEC), 0);
	c->pid = fork();
	cr_assert_geq(c->pid, 0);
	if (c->pid == 0) {
		char go;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(output[1], "", 1) != 1 || read(start[0], &go, 1) != 1)
			_exit(126);
		dup2(output[1], 1);
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(start[0]);
	close(output[1]);
	/* From here on it makes no system call but the read that it waits in. */
	cr_assert_eq(read(output[0], &ready, 1), 1);
	c->start = start[1];
	c->output = output[0];
}

void test_child_begin(struct test_child *c)
{
	cr_assert_eq(write(c->start, "", 1), 1);
}

int test_child_finish(struct test_child *c, char *output, size_t size)
{
	char buf[512];
	size_t used = 0;
	int status;

	for (ssize_t n; (n = read(c->output, buf, sizeof(buf))) > 0;) {
		for (ssize_t i = 0; output && i < n && used + 1 < size; i++)
			output[used++] = buf[i];
	}
	if (output)
		output[used] = '\0';
	cr_assert_eq(waitpid(c->pid, &status, 0), c->pid);
	close(c->start);
	close(c->output);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int test_child_run(const char *const *argv, char *output, size_t size)
{
	struct test_child c;

	test_child_start(&c, argv);
	test_child_begin(&c);
	return test_child_finish(&c, output, size);
}
