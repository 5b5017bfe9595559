/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The tracer is killed in the middle of a run: the kernel cleans up, the traced programs go on. */
#include <sys/syscall.h>

#include "kernel_objects.h"
#include "support.h"
#include "worker.h"

#define FUNCTIONS FIXTURE_WORKLOAD_DIR "/functions"

static struct kernel_objects before, during;

static void call_for_ever(void *arg)
{
	long *n = arg;

	for (;;) {
		syscall(SYS_getppid);
		syscall(SYS_prctl, 0x77656674, 1, 2, 3, 0);
		__atomic_add_fetch(n, 1, __ATOMIC_SEQ_CST);
		usleep(200);
	}
}

static long offset_of_add4(void)
{
	FILE *f = popen(FUNCTIONS " offsets", "r");
	long offset = 0;

	cr_assert(f && fscanf(f, "add4 %lx", &offset) == 1);
	while (fgetc(f) != EOF)
		;
	pclose(f);
	return offset;
}

static void wait_more(const long *n, long more)
{
	long from = __atomic_load_n(n, __ATOMIC_SEQ_CST);

	for (int i = 0; __atomic_load_n(n, __ATOMIC_SEQ_CST) < from + more; i++) {
		cr_assert_lt(i, 10000, "the traced program has stopped");
		usleep(1000);
	}
}

Test(killed, in_the_middle_of_a_run)
{
	long *n = worker_shared(sizeof(*n));
	char yaml[1024];
	const char *set;
	struct cli_run c;
	struct worker w;
	size_t added = 0;

	worker_fork(&w, call_for_ever, n);
	worker_go(&w);
	kernel_objects_read(&before);
	snprintf(yaml, sizeof(yaml),
		 "version: 1\n"
		 "target: {pid: %d, follow: true}\n"
		 "options: {interval: 100ms}\n"
		 "probes:\n"
		 "  - probe: ['fx-trace:::calls', 'fx-trace:::math', 'profile:::profile-997']\n"
		 "    do: [count: {into: n, by: {s: ustack, k: stack, p: probename}}, emit: [pid]]\n"
		 "  - probe: 'fx-uprobe:" FUNCTIONS ":add4:entry'\n"
		 "    with: {offset: %ld}\n"
		 "    do: [min: {into: lo, by: [pid], value: arg0}]\n"
		 "  - probe: 'fx-raw::sys_enter:raw'\n"
		 "    do: [count: {into: m}]\n",
		 w.pid, offset_of_add4());
	set = cli_set(yaml);
	cli_start(&c, NULL, (const char *const[]){"run", FIXTURES, BUILT_IN, set, "-v", NULL});
	cli_wait_said(&c, "maps take");
	usleep(300000); /* in the middle of it: tables have been shown */
	kernel_objects_read(&during);
	for (int k = 0; k < KERNEL_KINDS; k++)
		added += during.n[k] > before.n[k] ? during.n[k] - before.n[k] : 0;
	cr_expect_gt(added, 5, "there is something to be left behind");
	kill(c.pid, SIGKILL);
	cli_wait(&c);
	cr_expect_eq(c.status, 128 + SIGKILL);
	cli_finish(&c);
	kernel_objects_expect_gone(&before);

	/* Neither the target nor a program with a probe in it has noticed. */
	wait_more(n, 50);
	cr_expect_eq(system(FUNCTIONS " 50"), 0);
	worker_kill(&w);
	cli_unlink_sets();
}

Test(killed, command_outlives_the_tracer)
{
	char pid_file[] = "/tmp/weft-test-pid-XXXXXX", text[32] = "", command[128];
	int fd = mkstemp(pid_file);
	const char *set = cli_set("version: 1\n"
				  "probes:\n"
				  "  - probe: 'fx-trace:::calls'\n"
				  "    do: [count: {into: n}]\n");
	struct cli_run c;

	cr_assert_geq(fd, 0);
	kernel_objects_read(&before);
	snprintf(command, sizeof(command), "echo $$ > %s; exec sleep 30", pid_file);
	cli_start(&c, NULL,
		  (const char *const[]){"run", FIXTURES, set, "--", "sh", "-c", command, NULL});
	for (int i = 0; i < 5000 && pread(fd, text, sizeof(text) - 1, 0) <= 1; i++)
		usleep(1000);
	pid_t pid = (pid_t)strtol(text, NULL, 10);
	cr_assert_gt(pid, 1, "the command never began");
	kill(c.pid, SIGKILL);
	cli_wait(&c);
	cli_finish(&c);
	kernel_objects_expect_gone(&before);
	cr_expect_eq(kill(pid, 0), 0, "the command has ended with the tracer");
	kill(pid, SIGKILL);
	close(fd);
	unlink(pid_file);
	cli_unlink_sets();
}
