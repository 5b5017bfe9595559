/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Variables against what this process knows of itself. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rig.h"

static uint64_t value_of(struct rig *r, const char *expression)
{
	char value[64];
	uint64_t v;

	snprintf(value, sizeof(value), "value||(int64)%s", expression);
	rig_clause(r, NULL, "sum", "into||v", value, NULL);
	rig_load(r);
	rig_run(r, NULL);
	v = rig_sum(r, "v");
	cr_expect(!rig_losses(r), "%s", expression);
	return v;
}

static uint64_t value(const char *expression)
{
	struct rig r;
	uint64_t v;

	rig_init(&r);
	v = value_of(&r, expression);
	rig_finish(&r);
	return v;
}

Test(compiler_variables, numbers)
{
	cr_expect(value("pid") == (uint64_t)getpid());
	cr_expect(value("tid") == (uint64_t)syscall(SYS_gettid));
	cr_expect(value("ppid") == (uint64_t)getppid());
	cr_expect(value("uid") == (uint64_t)getuid());
	cr_expect(value("gid") == (uint64_t)getgid());
	cr_expect(value("cpu") < (uint64_t)sysconf(_SC_NPROCESSORS_CONF));
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

Test(compiler_variables, times)
{
	uint64_t before = clock_ns(CLOCK_MONOTONIC), v = value("timestamp");

	cr_expect(v > before && v < clock_ns(CLOCK_MONOTONIC));
}

/* The clock is the kernel's; what it is ahead by is the runtime's to say. */
Test(compiler_variables, walltimestamp)
{
	int64_t offset = (int64_t)(clock_ns(CLOCK_TAI) - clock_ns(CLOCK_REALTIME));
	uint64_t before, v;
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "sum", "into||v", "value||walltimestamp", NULL);
	rig_load(&r);
	offset = (offset + 500000000) / 1000000000 * 1000000000;
	rig_control(&r)->tai_offset_ns = offset;
	before = clock_ns(CLOCK_REALTIME);
	rig_run(&r, NULL);
	v = rig_sum(&r, "v");
	cr_expect(v > before && v < clock_ns(CLOCK_REALTIME), "%lu", v);
	rig_control(&r)->tai_offset_ns = offset + 1000000000;
	rig_clear_slots(&r, "v");
	rig_run(&r, NULL);
	cr_expect(rig_sum(&r, "v") < before);
	rig_finish(&r);
}

/* One reading of the clock for all clauses of a firing. */
Test(compiler_variables, timestamp_is_read_once)
{
	struct rig r;

	rig_init(&r);
	rig_clause(&r, NULL, "sum", "into||a", "value||timestamp", NULL);
	rig_clause(&r, "execname != \"\"", "sum", "into||b", "value||timestamp", NULL);
	rig_load(&r);
	rig_run(&r, NULL);
	cr_expect(rig_sum(&r, "a") == rig_sum(&r, "b") && rig_sum(&r, "a"));
	rig_finish(&r);
}

/* The same numbers by way of a namespace, which here is the initial one. */
Test(compiler_variables, pid_namespace)
{
	struct stat st;
	struct rig r;

	cr_assert(!stat("/proc/self/ns/pid", &st));
	rig_init(&r);
	r.plan->pidns_dev = st.st_dev;
	r.plan->pidns_ino = st.st_ino;
	cr_expect(value_of(&r, "pid * 1000000 + tid") ==
		  (uint64_t)getpid() * 1000000 + (uint64_t)syscall(SYS_gettid));
	rig_finish(&r);
}

/* FAULT_VALUE: a process without a number in the tracer's namespace has no pid. */
Test(compiler_variables, FAULT_VALUE)
{
	struct rig r;

	rig_init(&r);
	r.plan->pidns_dev = 1;
	r.plan->pidns_ino = 12345;
	rig_clause(&r, NULL, "sum", "into||v", "value||(int64)pid", NULL);
	rig_load(&r);
	rig_run(&r, NULL);
	cr_expect(rig_loss(&r, WEFT_LOSS_FAULT_VALUE) == 1 && rig_losses(&r) == 1);
	cr_expect(rig_sum(&r, "v") == 0);
	rig_finish(&r);
}

/* NEEDS_BTF: said before anything is guessed, and once for all that is needed. */
Test(compiler_variables, NEEDS_BTF)
{
	static const struct weft_loc_op ops[2] = {{.op = WEFT_LOC_CTX, .size = 8},
						  {.op = WEFT_LOC_MEMBER}};
	static const char *const names[1] = {"task_struct.pid"};
	struct rig r;

	rig_init(&r);
	rig_place(&r, 1, WEFT_TYPE_INT, WEFT_SPACE_KERNEL, ops, 2);
	r.args[1].where.names = names;
	r.args[1].where.n_names = 1;
	rig_clause(&r, "pid == 1", "count", "into||a", NULL);
	cr_expect(!rig_compile(&r), "no one asks for BTF");
	rig_clause(&r, "ppid == 1", "count", "into||c", NULL);
	rig_clause(&r, NULL, "sum", "into||d", "value||arg1", NULL);
	cr_expect(rig_compile(&r) == -EAGAIN);
	cr_expect_str_eq(rig_tag(&r), "NEEDS_BTF");
	cr_expect(r.plan->n_members == 3);
	weft_error_clear(r.err);
	cr_assert(!weft_btf_resolve(r.plan, r.err));
	for (size_t i = 0; i < r.plan->n_members; i++)
		cr_expect(r.plan->members[i].state == WEFT_MEMBER_KNOWN);
	cr_expect(!rig_compile(&r));
	cr_expect(r.plan->n_members == 3);
	rig_finish(&r);
}

Test(compiler_variables, BTF_NOT_FOUND)
{
	struct rig r;

	rig_init(&r);
	rig_clause(&r, "ppid == 1", "count", "into||c", NULL);
	cr_expect(rig_compile(&r) == -EAGAIN);
	weft_error_clear(r.err);
	cr_assert(r.plan->n_members == 2);
	r.plan->members[0].state = WEFT_MEMBER_KNOWN;
	r.plan->members[1].state = WEFT_MEMBER_ABSENT;
	cr_expect(rig_compile(&r) == -ENOENT);
	cr_expect_str_eq(rig_tag(&r), "BTF_NOT_FOUND");
	cr_expect(strstr(weft_error_text(r.err), "task_struct.tgid"));
	rig_finish(&r);
}

Test(compiler_variables, PPID_NAMESPACE)
{
	struct rig r;

	rig_init(&r);
	r.plan->pidns_ino = 1;
	rig_clause(&r, "ppid == 1", "count", "into||c", NULL);
	cr_expect(rig_compile(&r) < 0);
	cr_expect_str_eq(rig_tag(&r), "PPID_NAMESPACE");
	rig_finish(&r);
}

/* The id of a cgroup is the inode of its directory. */
Test(compiler_variables, cgroup)
{
	char line[512], path[600];
	struct stat st;
	FILE *f = fopen("/proc/self/cgroup", "r");
	bool compared = false;

	cr_assert(f);
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "0::", 3))
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(path, sizeof(path), "/sys/fs/cgroup%s", line + 3);
		if (!access("/sys/fs/cgroup/cgroup.controllers", F_OK) && !stat(path, &st)) {
			cr_expect(value("cgroup") == st.st_ino);
			compared = true;
		}
	}
	fclose(f);
	if (!compared)
		cr_expect(value("cgroup") > 0);
}
