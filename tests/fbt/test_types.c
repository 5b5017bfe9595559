/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arguments by their names and types: the same by every mechanism, and as the caller passed them. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "vm.h"

#define ROUNDS 100

/* ---- one workload, every mechanism ---- */

static void use_files(void *arg)
{
	char buf[4096];
	int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);

	(void)arg;
	if (zero < 0 || null < 0)
		_exit(1);
	for (int i = 0; i < ROUNDS; i++) {
		struct stat st;

		if (syscall(SYS_pread64, zero, buf, i, (off_t)i << 33) != i ||
		    syscall(SYS_pwrite64, null, buf, 3 * i, 5) != 3 * i ||
		    syscall(SYS_newfstatat, AT_FDCWD, "/no/such/file", &st, 0) != -1)
			_exit(2);
	}
}

static const char *const names[] = {"read_n", "read_sum", "write_n", "write_sum",
				    "given",  "gone",     "failed",  "entry_sum"};
#define N_NAMES (sizeof(names) / sizeof(names[0]))

static void measure(const char *mechanism, int64_t out[N_NAMES])
{
	struct worker w;
	struct rig r;

	worker_fork(&w, use_files, NULL);
	rig_init(&r);
	rig_trace(&r, &w,
		  "version: 1\n"
		  "providers: {fbt: {mechanism: %s}}\n"
		  "probes:\n"
		  "  - probe: 'fbt:vmlinux:vfs_read:entry'\n"
		  "    when: pid == %d && args.count <= 4096\n"
		  "    do: [count: {into: read_n}, sum: {into: read_sum, value: args.count}]\n"
		  "  - probe: 'fbt:vmlinux:vfs_write:entry'\n"
		  "    when: pid == %d\n"
		  "    do: [count: {into: write_n}, sum: {into: write_sum, value: args.count}]\n"
		  "  - probe: 'fbt:vmlinux:vfs_read:return'\n"
		  "    when: pid == %d\n"
		  "    do: [sum: {into: given, value: retval}]\n"
		  "  - probe: 'fbt:vmlinux:vfs_write:return'\n"
		  "    when: pid == %d\n"
		  "    do: [sum: {into: gone, value: retval}, sum: {into: entry_sum, value: entry.count}]\n"
		  "  - probe: 'fbt:vmlinux:vfs_statx:return'\n"
		  "    when: pid == %d\n"
		  "    do: [sum: {into: failed, value: errno}]\n",
		  mechanism, w.pid, w.pid, w.pid, w.pid, w.pid);
	for (size_t i = 0; i < N_NAMES; i++) {
		const struct weft_row *row = cap_only_row(&r.cap, names[i]);

		out[i] = strstr(names[i], "_n") ? (int64_t)row->count : row->value.i;
	}
	cap_expect_no_loss(&r.cap);
	rig_finish(&r);
}

Test(fbt_types, every_mechanism_gives_the_same_answers)
{
	const int64_t sum = ROUNDS * (ROUNDS - 1) / 2;
	const int64_t truth[N_NAMES] = {ROUNDS, sum,     ROUNDS,          3 * sum,
					sum,    3 * sum, ROUNDS * ENOENT, 3 * sum};
	int64_t got[N_NAMES];

	for (const char *const *m = vm_mechanisms(); *m; m++) {
		measure(*m, got);
		for (size_t i = 0; i < N_NAMES; i++)
			cr_expect_eq(got[i], truth[i], "%s: %s is %lld, not %lld", *m, names[i],
				     (long long)got[i], (long long)truth[i]);
	}
}

/* ---- where arguments lie ---- */

/* Offsets of a mapping, the seventh argument on newer kernels, and what lies beyond. */
static void map_files(void *arg)
{
	int fd = open("/proc/self/exe", O_RDONLY);

	(void)arg;
	for (int i = 0; i < 5; i++)
		if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 4096 * (off_t)i) == MAP_FAILED)
			_exit(1);
}

Test(fbt_types, arguments_on_the_stack)
{
	for (const char *const *m = vm_mechanisms(); *m; m++) {
		struct worker w;
		struct rig r;

		/* The trampoline of 6.1 takes six. */
		if (!strcmp(*m, "fentry") && !vm_has_kprobe_multi())
			continue;
		worker_fork(&w, map_files, NULL);
		rig_init(&r);
		rig_trace(
			&r, &w,
			"version: 1\n"
			"providers: {fbt: {mechanism: %s}}\n"
			"probes:\n"
			"  - probe: 'fbt:vmlinux:do_mmap:entry'\n"
			"    when: pid == %d && args.len == 4096\n"
			"    do: [sum: {into: pages, value: args.pgoff}, count: {into: n, by: {kernel: (int64) args.populate < 0}}]\n",
			*m, w.pid);
		cr_expect_eq(cap_only_row(&r.cap, "pages")->value.i, 0 + 1 + 2 + 3 + 4, "%s", *m);
		cr_expect_eq(cap_row_int(cap_last_table(&r.cap, "n"), "kernel", 1)->count, 5, "%s",
			     *m);
		cap_expect_no_loss(&r.cap);
		rig_finish(&r);
	}
}

/* A small argument's register has more bits than it. */
Test(fbt_types, an_int_is_no_longer_than_an_int)
{
	for (const char *const *m = vm_mechanisms(); *m; m++) {
		struct worker w;
		struct rig r;

		worker_fork(&w, use_files, NULL);
		rig_init(&r);
		rig_trace(&r, &w,
			  "version: 1\n"
			  "providers: {fbt: {mechanism: %s}}\n"
			  "probes:\n"
			  "  - probe: 'fbt:vmlinux:vfs_statx:entry'\n"
			  "    when: pid == %d\n"
			  "    do: [count: {into: n, by: {dfd: args.dfd, flags: args.flags}}]\n"
			  "  - probe: 'fbt:vmlinux:vfs_statx:return'\n"
			  "    when: pid == %d\n"
			  "    do: [count: {into: ret, by: {ret: retval}}]\n",
			  *m, w.pid, w.pid);
		const struct weft_row *row = cap_only_row(&r.cap, "n");

		cr_expect_eq(cap_key(row, "dfd")->i, AT_FDCWD, "%s", *m);
		cr_expect_eq(row->count, ROUNDS, "%s", *m);
		cr_expect_eq(cap_key(cap_only_row(&r.cap, "ret"), "ret")->i, -ENOENT, "%s", *m);
		rig_finish(&r);
	}
}

/* ---- what cannot be read is refused, with the reason ---- */

static void prepare_fails(const char *probe, const char *value, const char *tag, const char *text)
{
	struct rig r;

	rig_init(&r);
	cr_expect_neq(rig_prepare(&r,
				  "version: 1\n"
				  "probes:\n"
				  "  - probe: '%s'\n"
				  "    do: [sum: {into: n, value: %s}]\n",
				  probe, value),
		      0);
	rig_expect_tag(&r, 0, tag);
	cr_expect(strstr(rig_errors(&r), text), "%s", rig_errors(&r));
	rig_finish(&r);
}

Test(fbt_types, a_struct_by_value)
{
	prepare_fails("fbt:vmlinux:from_kuid:entry", "args.kuid", "ARG_UNREADABLE",
		      "a struct passed in registers");
	prepare_fails("fbt:vmlinux:vfs_read:entry", "args.cuont", "ARG_UNKNOWN",
		      "no argument `cuont`");
	prepare_fails("fbt:vmlinux:vfs_read:entry", "arg4", "ARG_UNKNOWN", "4 arguments");
}

/* fentry needs a type; kprobes do not. */
Test(fbt_types, FBT_NO_TYPE)
{
	struct rig r;

	rig_init(&r);
	cr_expect_neq(rig_prepare(&r, "version: 1\n"
				      "providers: {fbt: {mechanism: fentry}}\n"
				      "probes:\n"
				      "  - probe: 'fbt:vmlinux:finish_task_switch.isra.0:entry'\n"
				      "    do: [count: {into: n}]\n"),
		      0);
	rig_expect_tag(&r, 0, "FBT_NO_TYPE");
	rig_finish(&r);
	rig_init(&r);
	cr_assert_eq(rig_prepare(&r, "version: 1\n"
				     "probes:\n"
				     "  - probe: 'fbt:vmlinux:finish_task_switch.isra.0:entry'\n"
				     "    do: [count: {into: n, by: {zero: arg0 == 0}}, exit: 0]\n"),
		     0, "%s", rig_errors(&r));
	rig_go(&r, NULL);
	cr_expect_geq(cap_row_int(cap_last_table(&r.cap, "n"), "zero", 0)->count, 1);
	rig_finish(&r);
}

/* ---- members, beside what the system says elsewhere ---- */

static void read_file(void *arg)
{
	char c;
	int fd = open("/proc/self/exe", O_RDONLY);

	(void)arg;
	for (int i = 0; i < ROUNDS; i++)
		if (syscall(SYS_pread64, fd, &c, 1, i) != 1)
			_exit(1);
}

Test(fbt_types, members_are_what_stat_and_proc_say)
{
	for (const char *const *m = vm_mechanisms(); *m; m++) {
		struct stat st;
		struct worker w;
		struct rig r;

		cr_assert_eq(stat("/proc/self/exe", &st), 0);
		worker_fork(&w, read_file, NULL);
		rig_init(&r);
		rig_trace(
			&r, &w,
			"version: 1\n"
			"providers: {fbt: {mechanism: %s}}\n"
			"probes:\n"
			"  - probe: 'fbt:vmlinux:vfs_read:entry'\n"
			"    when: pid == %d && args.count == 1 && args.file.f_inode.i_ino == %llu\n"
			"    do:\n"
			"      - count: {into: n, by: {size: args.file.f_inode.i_size, ino: args.file.f_inode.i_ino, mode: args.file.f_inode.i_mode}}\n",
			*m, w.pid, (unsigned long long)st.st_ino);
		const struct weft_row *row = cap_only_row(&r.cap, "n");

		cr_expect_eq(row->count, ROUNDS, "%s", *m);
		cr_expect_eq(cap_key(row, "size")->i, st.st_size, "%s", *m);
		cr_expect_eq((unsigned long long)cap_key(row, "mode")->i, st.st_mode, "%s", *m);
		rig_finish(&r);
	}
}
