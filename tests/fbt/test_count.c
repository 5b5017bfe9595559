/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Counts, arguments, return values and pairs of a function that is called a known number of times,
 * by each mechanism that the kernel has. */
#include <fcntl.h>
#include <sys/epoll.h>
#include <time.h>

#include "vm.h"

#define READS 1000

/* Reads of 1, 2, 3, ... bytes from a file that always gives them, and as many that fail. */
static void read_some(void *arg)
{
	char buf[READS];
	int fd = open("/dev/zero", O_RDONLY);

	(void)arg;
	if (fd < 0)
		_exit(1);
	for (int i = 1; i <= READS; i++)
		if (syscall(SYS_pread64, fd, buf, i, 0) != i)
			_exit(2);
	for (int i = 1; i <= READS; i++)
		if (syscall(SYS_pread64, -1, buf, i, 0) != -1)
			_exit(3);
	close(fd);
}

static void count_reads(const char *mechanism)
{
	int64_t sum = (int64_t)READS * (READS + 1) / 2;
	struct worker w;
	struct rig r;

	worker_fork(&w, read_some, NULL);
	rig_init(&r);
	rig_trace(
		&r, &w,
		"version: 1\n"
		"providers: {fbt: {mechanism: %s}}\n"
		"probes:\n"
		"  - probe: 'fbt:vmlinux:vfs_read:entry'\n"
		"    when: pid == %d && arg2 <= %d\n"
		"    do: [count: {into: entries}, sum: {into: asked, value: arg2}]\n"
		"  - probe: 'fbt:vmlinux:vfs_read:return'\n"
		"    when: pid == %d && retval <= %d && retval > 0\n"
		"    do: [count: {into: returns}, sum: {into: given, value: retval}]\n"
		"  - probe: 'fbt:vmlinux:vfs_read:return'\n"
		"    when: pid == %d\n"
		"    do: [count: {into: paired, by: {same: entry.arg2 >= retval}}, min: {into: least, value: elapsed}]\n",
		mechanism, w.pid, READS, w.pid, READS, w.pid);
	cr_expect_eq(cap_only_row(&r.cap, "entries")->count, READS, "%s", mechanism);
	cr_expect_eq(cap_only_row(&r.cap, "returns")->count, READS, "%s", mechanism);
	cr_expect_eq(cap_only_row(&r.cap, "asked")->value.i, sum, "%s", mechanism);
	cr_expect_eq(cap_only_row(&r.cap, "given")->value.i, sum, "%s", mechanism);
	cr_expect_geq(cap_row_int(cap_last_table(&r.cap, "paired"), "same", 1)->count, READS, "%s",
		      mechanism);
	cr_expect_gt(cap_only_row(&r.cap, "least")->value.i, 0, "%s", mechanism);
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(fbt_count, entries_and_returns_equal_the_calls)
{
	for (const char *const *m = vm_mechanisms(); *m; m++)
		count_reads(*m);
}

/* ---- nesting ---- */

#define DEPTH 4
#define LOOPS 50

/* Puts a chain of epoll instances into another: the kernel follows the chain, a call for each. */
static void nest(void *arg)
{
	int chain[DEPTH];

	(void)arg;
	for (int i = 0; i < DEPTH; i++) {
		struct epoll_event ev = {.events = EPOLLIN};

		chain[i] = epoll_create1(0);
		if (chain[i] < 0 ||
		    (i && i < DEPTH - 1 && epoll_ctl(chain[i], EPOLL_CTL_ADD, chain[i - 1], &ev)))
			_exit(1);
	}
	for (int i = 0; i < LOOPS; i++) {
		struct epoll_event ev = {.events = EPOLLIN};

		if (epoll_ctl(chain[DEPTH - 1], EPOLL_CTL_ADD, chain[DEPTH - 2], &ev) ||
		    epoll_ctl(chain[DEPTH - 1], EPOLL_CTL_DEL, chain[DEPTH - 2], NULL))
			_exit(2);
	}
}

Test(fbt_count, each_return_of_a_recursion_finds_its_entry)
{
	for (const char *const *m = vm_mechanisms(); *m; m++) {
		struct worker w;
		struct rig r;

		worker_fork(&w, nest, NULL);
		rig_init(&r);
		rig_trace(
			&r, &w,
			"version: 1\n"
			"providers: {fbt: {mechanism: %s}}\n"
			"probes:\n"
			"  - probe: 'fbt:vmlinux:ep_loop_check_proc:entry'\n"
			"    when: pid == %d\n"
			"    do: [count: {into: entries, by: {depth: arg1}}]\n"
			"  - probe: 'fbt:vmlinux:ep_loop_check_proc:return'\n"
			"    when: pid == %d && elapsed > 0\n"
			"    do: [count: {into: returns, by: {depth: entry.arg1}}, max: {into: t, by: {depth: entry.arg1}, value: elapsed}]\n",
			*m, w.pid, w.pid);
		const struct cap_table *e = cap_last_table(&r.cap, "entries");
		const struct cap_table *b = cap_last_table(&r.cap, "returns");

		cr_expect_geq(e->n_rows, DEPTH - 1, "%s: %zu", *m, e->n_rows);
		cr_expect_eq(e->n_rows, b->n_rows, "%s", *m);
		for (size_t i = 0; i < e->n_rows; i++)
			cr_expect_eq(cap_row_int(b, "depth", cap_key(&e->rows[i], "depth")->i)->count,
				     e->rows[i].count, "%s: depth %lld", *m,
				     (long long)cap_key(&e->rows[i], "depth")->i);
		/* The last link of the chain was followed in each loop. */
		cr_expect_geq(cap_total(e), (uint64_t)LOOPS * (DEPTH - 1), "%s", *m);
		cap_expect_no_loss(&r.cap);
		rig_finish(&r);
	}
}

/* Two functions, one in the other, that sleep: what the outer took is no less. */
static void sleep_some(void *arg)
{
	const struct timespec t = {.tv_nsec = 5000000};

	(void)arg;
	for (int i = 0; i < 10; i++)
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL);
}

Test(fbt_count, a_function_in_a_function_takes_no_longer)
{
	for (const char *const *m = vm_mechanisms(); *m; m++) {
		struct worker w;
		struct rig r;

		worker_fork(&w, sleep_some, NULL);
		rig_init(&r);
		rig_trace(&r, &w,
			  "version: 1\n"
			  "providers: {fbt: {mechanism: %s}}\n"
			  "probes:\n"
			  "  - probe: ['fbt:vmlinux:hrtimer_nanosleep:return', 'fbt:vmlinux:do_nanosleep:return']\n"
			  "    when: pid == %d\n"
			  "    do: [emit: {f: probefunc, t: elapsed, ret: retval}]\n",
			  *m, w.pid);
		cr_assert_eq(r.cap.n_records, 20, "%s: %zu", *m, r.cap.n_records);
		for (size_t i = 0; i < 20; i += 2) {
			const struct cap_record *in = &r.cap.records[i], *out = in + 1;

			cr_expect(cap_is_text(in, "f", "do_nanosleep"), "%s", *m);
			cr_expect(cap_is_text(out, "f", "hrtimer_nanosleep"), "%s", *m);
			cr_expect_geq(cap_int(in, "t"), 5000000, "%s", *m);
			cr_expect_geq(cap_int(out, "t"), cap_int(in, "t"), "%s", *m);
			cr_expect_eq(cap_int(out, "ret"), 0, "%s", *m);
		}
		cap_expect_no_loss(&r.cap);
		rig_finish(&r);
	}
}

/* ---- what the kernel does not take ---- */

Test(fbt_count, FBT_UNSUPPORTED)
{
	struct rig r;
	int ret;

	rig_init(&r);
	cr_assert_eq(rig_prepare(&r, "version: 1\n"
				     "providers: {fbt: {mechanism: kprobe_multi}}\n"
				     "probes:\n"
				     "  - probe: 'fbt:vmlinux:vfs_read:entry'\n"
				     "    do: [count: {into: n}]\n"),
		     0, "%s", rig_errors(&r));
	ret = rig_start(&r);
	if (vm_has_kprobe_multi()) {
		cr_expect_eq(ret, 0, "%s", rig_errors(&r));
		cr_expect_eq(rig_run(&r, -1, 1), 0);
	} else {
		cr_expect_eq(ret, -ENOTSUP);
		rig_expect_tag(&r, 0, "FBT_UNSUPPORTED");
	}
	rig_finish(&r);
}

/* 1,000 one by one would take too long; 3 are too many if the user says so. */
Test(fbt_count, FBT_TOO_MANY)
{
	struct rig r;

	rig_init(&r);
	cr_assert_eq(rig_prepare(&r, "version: 1\n"
				     "providers: {fbt: {mechanism: kprobe, limit: 4}}\n"
				     "probes:\n"
				     "  - probe: 'fbt:vmlinux:vfs_*:entry'\n"
				     "    do: [count: {into: n, by: {f: probefunc}}]\n"),
		     0, "%s", rig_errors(&r));
	cr_expect_eq(rig_start(&r), -E2BIG);
	rig_expect_tag(&r, 0, "FBT_TOO_MANY");
	cr_expect(strstr(rig_errors(&r), " s on this kernel"), "%s", rig_errors(&r));
	rig_finish(&r);
}

/* 40,000 programs would take too long as well: said before the first is made. */
Test(fbt_count, TOO_MANY_PROGRAMS)
{
	struct rig r;

	rig_init(&r);
	cr_assert_eq(rig_prepare(&r, "version: 1\n"
				     "providers: {fbt: {mechanism: fentry, limit: 10}}\n"
				     "probes:\n"
				     "  - probe: 'fbt:vmlinux:vfs_*:entry'\n"
				     "    do: [count: {into: n, by: {f: probefunc}}]\n"),
		     0, "%s", rig_errors(&r));
	cr_expect_eq(rig_start(&r), -E2BIG);
	rig_expect_tag(&r, 0, "TOO_MANY_PROGRAMS");
	cr_expect(strstr(rig_errors(&r), " s on this kernel"), "%s", rig_errors(&r));
	rig_finish(&r);
}

/* Not a function that ftrace knows, though the symbol table has it: the others are attached. */
Test(fbt_count, FBT_REFUSED)
{
	for (const char *const *m = vm_mechanisms(); strcmp(*m, "fentry"); m++) {
		struct worker w;
		struct rig r;

		rig_init(&r);
		cr_assert_eq(rig_prepare(&r,
					 "version: 1\n"
					 "providers: {fbt: {mechanism: %s}}\n"
					 "probes:\n"
					 "  - probe: 'fbt:vmlinux:clear_page_rep:entry'\n"
					 "    do: [count: {into: n}]\n",
					 *m),
			     0, "%s", rig_errors(&r));
		cr_expect_neq(rig_start(&r), 0, "%s", *m);
		rig_expect_tag(&r, 0, "FBT_REFUSED");
		rig_finish(&r);

		worker_fork(&w, read_some, NULL);
		rig_init(&r);
		rig_trace(&r, &w,
			  "version: 1\n"
			  "providers: {fbt: {mechanism: %s}}\n"
			  "probes:\n"
			  "  - probe: ['fbt:vmlinux:clear_page_rep:entry', 'fbt:vmlinux:vfs_read:entry']\n"
			  "    when: pid == %d\n"
			  "    do: [count: {into: n}]\n",
			  *m, w.pid);
		cr_expect_eq(cap_only_row(&r.cap, "n")->count, READS, "%s", *m);
		cr_expect(rig_has_said(&r, "1 of 2 probes of provider fbt were not attached"), "%s",
			  r.said);
		cr_expect(rig_has_said(&r, "fbt:vmlinux:clear_page_rep:entry: not attached"), "%s",
			  r.said);
		rig_finish(&r);
	}
}

/* ---- many functions, of which some are refused ---- */

/* Makes the kernel print into a file of /proc. */
static void read_status(void *arg)
{
	char buf[4096];

	(void)arg;
	for (int i = 0; i < 20; i++) {
		int fd = open("/proc/self/status", O_RDONLY);

		if (fd < 0)
			_exit(1);
		while (read(fd, buf, sizeof(buf)) > 0)
			;
		close(fd);
	}
}

/* seq_printf() takes as many arguments as it is given, which is more than fentry can: without it
 * each mechanism counts the same. */
Test(fbt_count, a_glob_goes_on_without_those_that_are_refused)
{
	struct {
		char name[64];
		uint64_t count;
	} first[64];
	size_t n_first = 0;

	for (const char *const *m = vm_mechanisms(); *m; m++) {
		bool fentry = !strcmp(*m, "fentry");
		const struct cap_table *t;
		struct worker w;
		struct rig r;
		size_t found = 0;

		worker_fork(&w, read_status, NULL);
		rig_init(&r);
		rig_trace(&r, &w,
			  "version: 1\n"
			  "providers: {fbt: {mechanism: %s}}\n"
			  "probes:\n"
			  "  - probe: 'fbt:vmlinux:seq_p*:entry'\n"
			  "    when: pid == %d\n"
			  "    do: [count: {into: n, by: {f: probefunc}}]\n",
			  *m, w.pid);
		cap_expect_no_loss(&r.cap);
		t = cap_last_table(&r.cap, "n");
		if (!n_first) {
			for (; n_first < t->n_rows; n_first++) {
				const struct weft_value *v = cap_key(&t->rows[n_first], "f");

				snprintf(first[n_first].name, sizeof(first[n_first].name), "%.*s",
					 (int)v->text.n, v->text.s);
				first[n_first].count = t->rows[n_first].count;
			}
			cr_assert_geq(n_first, 3);
		}
		for (size_t i = 0; i < n_first; i++) {
			if (fentry && !strcmp(first[i].name, "seq_printf"))
				continue;
			cr_expect_eq(cap_row_text(t, "f", first[i].name)->count, first[i].count,
				     "%s: %s", *m, first[i].name);
			found++;
		}
		cr_expect_eq(t->n_rows, found, "%s", *m);
		if (fentry) {
			cr_expect_eq(found, n_first - 1, "seq_printf was counted, too");
			cr_expect(rig_has_said(&r, "fbt:vmlinux:seq_printf:entry: not attached: "),
				  "%s", r.said);
			cr_expect(rig_has_said(&r, "probes of provider fbt were not attached"),
				  "%s", r.said);
		}
		rig_finish(&r);
	}
}
