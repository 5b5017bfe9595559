/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Every function of the kernel at once, where the kernel has a link for that; where it has not, 500
 * of them, and a refusal of all. vfs_read() is called by nothing that interrupts a program, so that
 * none of its firings may be missing, whatever else is skipped. That nothing is left, and that the
 * machine lives, is the machine's own check after each suite; here it is looked at once more.
 */
#include <fcntl.h>
#include <sys/wait.h>

#include "vm.h"

#define CALLS 100

static void call_some(void *arg)
{
	char c;
	int fd = open("/dev/zero", O_RDONLY);

	(void)arg;
	for (int i = 0; i < CALLS; i++)
		if (syscall(SYS_pread64, fd, &c, 1, 0) != 1)
			_exit(1);
}

static size_t traced_functions(void)
{
	FILE *f = fopen("/sys/kernel/tracing/enabled_functions", "r");
	char line[1024];
	size_t n = 0;

	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f))
		n++;
	fclose(f);
	return n;
}

static uint64_t trace(const char *pattern, size_t *n_probes, bool *one_link)
{
	struct worker w;
	struct rig r;
	uint64_t calls;

	worker_fork(&w, call_some, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "options: {rows: 100000}\n"
		  "probes:\n"
		  "  - probe: %s\n"
		  "    when: pid == %d\n"
		  "    do: [count: {into: calls, by: {f: probefunc}}]\n",
		  pattern, w.pid);
	cr_expect_eq(weft_session_n_programs(r.session), 1);
	*n_probes = weft_session_n_probes(r.session);
	*one_link = rig_has_said(&r, "in 1 kprobe_multi link");
	cr_expect_eq(traced_functions(), 0, "detached at once");
	calls = cap_row_text(cap_last_table(&r.cap, "calls"), "f", "vfs_read")->count;
	rig_finish(&r);
	return calls;
}

Test(fbt_all, every_function)
{
	struct rig r;
	bool one_link;
	size_t n;

	if (vm_has_kprobe_multi()) {
		cr_expect_eq(trace("'fbt:vmlinux:*:entry'", &n, &one_link), CALLS);
		cr_expect_gt(n, 39000, "%zu", n);
		cr_expect(one_link);
		return;
	}
	cr_expect_eq(trace("['fbt:vmlinux:tcp_*:entry', 'fbt:vmlinux:vfs_*:entry', "
			   "'fbt:vmlinux:ext4_[a-e]*:entry']",
			   &n, &one_link),
		     CALLS);
	cr_expect_geq(n, 500, "%zu", n);
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r, "version: 1\n"
				     "probes:\n"
				     "  - probe: 'fbt:vmlinux:*:entry'\n"
				     "    do: [count: {into: n, by: {f: probefunc}}]\n"),
		     0, "%s", rig_errors(&r));
	cr_expect_eq(rig_start(&r), -E2BIG);
	rig_expect_tag(&r, 0, "FBT_TOO_MANY");
	rig_finish(&r);
	cr_expect_eq(traced_functions(), 0);
}

/* The same by fentry, a program for each: a firing that finds its program running is told. */
Test(fbt_all, many_by_fentry)
{
	const struct weft_row *row;
	struct worker w;
	struct rig r;

	worker_fork(&w, call_some, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "providers: {fbt: {mechanism: fentry}}\n"
		  "probes:\n"
		  "  - probe: 'fbt:vmlinux:vfs_*:entry'\n"
		  "    when: pid == %d\n"
		  "    do: [count: {into: calls, by: {f: probefunc}}]\n",
		  w.pid);
	cr_expect_gt(weft_session_n_programs(r.session), 60);
	row = cap_row_text(cap_last_table(&r.cap, "calls"), "f", "vfs_read");
	vm_expect_calls(&r, "fentry", "fbt:vmlinux:vfs_read:entry", row->count, CALLS);
	cr_expect_eq(traced_functions(), 0, "detached at once");
	rig_finish(&r);
}

/* What was traced works as before. */
Test(fbt_all, the_kernel_lives)
{
	pid_t pid = fork();
	int status;

	cr_assert_geq(pid, 0);
	if (!pid)
		_exit(42);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(WEXITSTATUS(status), 42);
	cr_expect_eq(traced_functions(), 0);
}
