/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs of the classes that probes have, on events of this process: registers and cookies of a
 * user-space probe, the clock of a perf event, typed words of a BTF tracepoint.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/compiler/arch.h"
#include "core/kernel/bpf.h"
#include "rig.h"

#define OP(name, ...)                              \
	{                                          \
		.op = WEFT_LOC_##name, __VA_ARGS__ \
	}
#define COOKIE UINT64_C(0x1234567890abcdef)

static void set_args(struct rig *r, const struct weft_loc_op *ops, size_t n)
{
	for (unsigned i = 0; i < n; i++)
		rig_place(r, i, WEFT_TYPE_INT, WEFT_SPACE_USER, &ops[i], 1);
}

static int perf_open(struct perf_event_attr *attr, pid_t pid)
{
	attr->size = sizeof(*attr);
	return (int)syscall(SYS_perf_event_open, attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* A perf link with a cookie; the caller closes it. */
static int link_with_cookie(int prog_fd, int perf_fd)
{
	union bpf_attr attr = {0};
	int fd;

	attr.link_create.prog_fd = (uint32_t)prog_fd;
	attr.link_create.target_fd = (uint32_t)perf_fd;
	attr.link_create.attach_type = BPF_PERF_EVENT;
	attr.link_create.perf_event.bpf_cookie = COOKIE;
	fd = weft_bpf(BPF_LINK_CREATE, &attr, sizeof(attr));
	cr_assert(fd >= 0, "link: %s", strerror(-fd));
	return fd;
}

/* ---- user-space probes ---- */

static __attribute__((noinline)) long probed(long a, long b, const char *c, long d, int e, long f)
{
	__asm__ volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f) : "memory");
	return a * 1000 + e;
}

/* The file offset of an address of this program. */
static uint64_t offset_of(uintptr_t address)
{
	unsigned long start, end, offset;
	FILE *f = fopen("/proc/self/maps", "r");
	uint64_t found = 0;
	char line[1024];

	cr_assert(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    address >= start && address < end)
			found = address - start + offset;
	fclose(f);
	cr_assert(found);
	return found;
}

static uint32_t uprobe_type(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "r");
	unsigned type = 0;

	cr_assert(f && fscanf(f, "%u", &type) == 1);
	fclose(f);
	return type;
}

static int uprobe_open(bool at_return)
{
	struct perf_event_attr attr = {.type = uprobe_type(), .config = at_return};
	int fd;

	attr.config1 = (uintptr_t) "/proc/self/exe";
	attr.config2 = offset_of((uintptr_t)probed);
	fd = perf_open(&attr, getpid());
	cr_assert(fd >= 0, "uprobe: %s", strerror(errno));
	return fd;
}

static void regs_class(struct rig *r)
{
	r->info.load.prog_type = BPF_PROG_TYPE_KPROBE;
	r->info.load.ctx_kind = WEFT_CTX_REGS;
	r->info.load.ctx_size = 0;
	r->info.load.flags = WEFT_LOAD_COOKIE;
}

Test(compiler_contexts, registers)
{
	static const struct weft_loc_op ops[RIG_ARGS] = {
		OP(ARG, .imm = 0),
		OP(ARG, .imm = 5),
		OP(REG, .size = 8, .imm = 5),
		OP(REG, .size = 1, .aux = 8, .imm = 2, .flags = WEFT_LOC_SIGNED),
		OP(USER_PC),
		OP(COOKIE)};
	struct rig_row rows[2];
	int perf, link;
	struct rig r;

	rig_init(&r);
	regs_class(&r);
	r.info.identity.kind = WEFT_IDENTITY_COOKIE;
	set_args(&r, ops, RIG_ARGS);
	rig_clause(&r, NULL, "count", "into||c", "by|a|arg0", "by|f|arg1", "by|rdi|arg2",
		   "by|ch|arg3", "by|pc|arg4", "by|cookie|arg5", "by|p|probename", NULL);
	rig_load(&r);
	perf = uprobe_open(false);
	link = link_with_cookie(r.prog_fd, perf);
	probed(11, 2, NULL, 0x8000 - 0x100, 5, -6);
	close(link);
	close(perf);
	probed(12, 2, NULL, 4, 5, 6);
	cr_assert(rig_rows(&r, rig_agg(&r, "c")->map, rows, 2) == 1);
	cr_expect(((int64_t *)rows[0].key)[0] == 11);
	cr_expect(((int64_t *)rows[0].key)[1] == -6);
	cr_expect(((int64_t *)rows[0].key)[2] == 11);
	cr_expect(((int64_t *)rows[0].key)[3] == 0x7f, "bits 8 to 15 of rcx");
	cr_expect(((uint64_t *)rows[0].key)[4] == (uintptr_t)probed);
	cr_expect(((uint64_t *)rows[0].key)[5] == COOKIE);
	cr_expect(((uint64_t *)rows[0].key)[6] == COOKIE);
	cr_expect(!rig_losses(&r));
	rig_finish(&r);
}

Test(compiler_contexts, return_value)
{
	static const struct weft_loc_op retval[1] = {OP(RETVAL, .size = 8)};
	int perf, link;
	struct rig r;

	rig_init(&r);
	regs_class(&r);
	r.info.retval = (struct weft_location){.ops = retval, .n_ops = 1};
	r.info.retval_type = (struct weft_arg_type){.struct_size = sizeof(struct weft_arg_type),
						    .kind = WEFT_TYPE_INT,
						    .size = 8,
						    .flags = WEFT_TYPE_SIGNED};
	rig_clause(&r, "retval > 0", "sum", "into||s", "value||retval", NULL);
	rig_load(&r);
	perf = uprobe_open(true);
	link = link_with_cookie(r.prog_fd, perf);
	cr_assert(probed(7, 0, NULL, 0, 8, 0) == 7008);
	close(link);
	close(perf);
	cr_expect(rig_sum(&r, "s") == 7008);
	rig_finish(&r);
}

/* A program that may sleep reads a string from a page that is not in memory yet. */
Test(compiler_contexts, sleeping)
{
	static const struct weft_loc_op ops[1] = {OP(ARG, .imm = 2)};
	char name[] = "/tmp/weft-compiler-XXXXXX", *page;
	int perf, link, fd = mkstemp(name);
	struct rig_row rows[2];
	struct rig r;

	cr_assert(fd >= 0 && !unlink(name));
	cr_assert(pwrite(fd, "from the file", 14, 0) == 14 && !ftruncate(fd, 4096));
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	cr_assert(page != MAP_FAILED);
	rig_init(&r);
	regs_class(&r);
	r.info.load.flags |= WEFT_LOAD_SLEEPABLE;
	rig_place(&r, 2, WEFT_TYPE_STRING, WEFT_SPACE_USER, ops, 1);
	rig_clause(&r, NULL, "count", "into||c", "by|s|arg2", NULL);
	rig_load(&r);
	cr_expect(r.program.load.flags & WEFT_LOAD_SLEEPABLE);
	perf = uprobe_open(false);
	link = link_with_cookie(r.prog_fd, perf);
	probed(1, 2, page, 4, 5, 6);
	cr_expect(!rig_losses(&r));
	probed(1, 2, (const char *)16, 4, 5, 6);
	close(link);
	close(perf);
	cr_expect(rig_loss(&r, WEFT_LOSS_FAULT_ADDRESS) == 1 && rig_losses(&r) == 1);
	cr_assert(rig_rows(&r, rig_agg(&r, "c")->map, rows, 2) == 1);
	cr_expect_str_eq((char *)rows[0].key, "from the file");
	munmap(page, 4096);
	close(fd);
	rig_finish(&r);
}

/* ---- perf events ---- */

Test(compiler_contexts, clock)
{
	static const struct weft_loc_op ops[] = {OP(KERNEL_PC), OP(USER_PC), OP(TIMER_COUNT),
						 OP(REG, .size = 4, .imm = 16),
						 OP(CTX, .size = 4, .imm = 168)};
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .sample_period = 1000000};
	uint64_t fired;
	int perf, link;
	struct rig r;

	rig_init(&r);
	r.info.load.prog_type = BPF_PROG_TYPE_PERF_EVENT;
	r.info.load.ctx_kind = WEFT_CTX_PERF_EVENT;
	r.info.load.ctx_size = 0;
	r.info.load.flags = WEFT_LOAD_COOKIE;
	set_args(&r, ops, N(ops));
	rig_clause(&r, NULL, "count", "into||all", NULL);
	rig_clause(&r, "(arg0 == 0) != (arg1 == 0)", "count", "into||one", NULL);
	rig_clause(&r, "arg2 > 0", "count", "into||counted", NULL);
	rig_clause(&r, "(uint32)(arg0 + arg1) == (uint32)arg3", "count", "into||low", NULL);
	rig_clause(&r, "arg4 == 1000000", "count", "into||period", NULL);
	rig_clause(&r, NULL, "count", "into||stacks", "by|k|stack", "by|u|ustack", NULL);
	rig_load(&r);
	perf = perf_open(&attr, getpid());
	cr_assert(perf >= 0);
	link = link_with_cookie(r.prog_fd, perf);
	for (volatile unsigned i = 0; rig_slot(&r, "all", 0) < 20 && i < 100000000; i++)
		;
	close(link);
	close(perf);
	fired = rig_slot(&r, "all", 0);
	cr_expect(fired >= 20);
	cr_expect(rig_slot(&r, "one", 0) == fired);
	cr_expect(rig_slot(&r, "counted", 0) == fired);
	cr_expect(rig_slot(&r, "low", 0) == fired);
	cr_expect(rig_slot(&r, "period", 0) == fired);
	cr_expect(!rig_losses(&r));
	rig_finish(&r);
}

/* ---- BTF tracepoints: words that the verifier takes for pointers ---- */

Test(compiler_contexts, typed_words)
{
	int id = libbpf_find_vmlinux_btf_id("sys_enter", BPF_TRACE_RAW_TP), link;
	static struct rig_row rows[1024];
	uint64_t mine = 0;
	struct rig r;
	size_t n;

	cr_assert(id > 0, "sys_enter: %d", id);
	rig_init(&r);
	r.info.load.prog_type = BPF_PROG_TYPE_TRACING;
	r.info.load.expected_attach_type = BPF_TRACE_RAW_TP;
	r.info.load.attach_btf_id = (uint32_t)id;
	r.info.load.ctx_size = 16;
	rig_clause(&r, "arg0 < 0 && arg0 * 3 != arg0", "count", "into||calls", "by|id|arg1",
		   "by|p|pid", NULL);
	rig_load(&r);
	link = weft_bpf_raw_tracepoint_open(NULL, r.prog_fd);
	cr_assert(link >= 0, "%s", strerror(-link));
	for (unsigned i = 0; i < 5; i++)
		syscall(SYS_getpgrp);
	close(link);
	n = rig_rows(&r, rig_agg(&r, "calls")->map, rows, N(rows));
	for (size_t i = 0; i < n; i++)
		if (((int64_t *)rows[i].key)[0] == SYS_getpgrp &&
		    ((int32_t *)rows[i].key)[2] == getpid())
			mine += rows[i].value[0];
	cr_expect(mine == 5, "%lu", mine);
	cr_expect(!rig_losses(&r));
	rig_finish(&r);
}
