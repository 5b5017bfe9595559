/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What each of the kernel's ways to see a system call costs by itself: the call that is meant, with
 * a program that does nothing and with one that looks for the magic word, and another system call
 * of anyone's. Between those rounds nothing is attached. CPU time of the thread, the least of many
 * short turns.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "support/bpf.h"
#include "support/file.h"
#include "support/insn.h"
#include "support/tracefs.h"
#include "user_syscall/kernel.h"

#define TURNS 101
#define CALLS 10000L

static inline long call(long nr, uint64_t a)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(1L), "d"(2L)
			 : "rcx", "r11", "memory");
	return ret;
}

static double turn(long nr, uint64_t word)
{
	double best = 0;

	for (int i = 0; i < TURNS; i++) {
		struct timespec a, b;
		double ns;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
		for (long k = 0; k < CALLS; k++)
			call(nr, word);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
		ns = ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / CALLS;
		if (!i || ns < best)
			best = ns;
	}
	return best;
}

/* ---- programs ---- */

enum { OUT };

static void nothing(struct support_code *c)
{
	support_set(c, 0, 0);
	support_exit(c);
}

/* What the magic word is looked for with: the saved registers, by two helpers. */
static void by_task(struct support_code *c)
{
	support_call(c, BPF_FUNC_get_current_task_btf);
	support_mov(c, 1, 0);
	support_call(c, BPF_FUNC_task_pt_regs);
	support_load(c, BPF_DW, 7, 0, us_first_argument);
	support_alu_imm(c, BPF_RSH, 7, 32);
	support_jump_if(c, BPF_JNE, 7, 0x77656674, OUT);
	support_label(c, OUT);
	nothing(c);
}

/* The number first: others leave soon. */
static void by_number(struct support_code *c)
{
	support_load(c, BPF_DW, 2, 1, 8);
	support_jump_if(c, BPF_JNE, 2, SYS_getpid, OUT);
	by_task(c);
}

/* ---- events ---- */

static int hold_perf(const char *category, const char *name, int prog)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .sample_period = 1};
	uint64_t id = 0;
	int hold = -1, fd, ret = support_tracepoint_id(category, name, &id);

	if (ret)
		return ret;
	attr.config = id;
	fd = support_perf_open(&attr, -1, 0);
	if (fd < 0)
		return fd;
	ret = support_perf_attach(fd, prog, 0, false, &hold);
	if (!ret)
		ret = support_perf_enable(fd);
	if (hold != fd)
		support_close(fd);
	return ret ? ret : hold;
}

static const struct row {
	const char *what, *category, *name; /* category NULL: a raw tracepoint */
	void (*program)(struct support_code *);
	long nr;
} rows[] = {
	{"getpid's own event, nothing", "syscalls", "sys_enter_getpid", nothing, SYS_getpid},
	{"getpid's own event, magic", "syscalls", "sys_enter_getpid", by_task, SYS_getpid},
	{"all calls' event, nothing", "raw_syscalls", "sys_enter", nothing, SYS_getpid},
	{"all calls' event, magic", "raw_syscalls", "sys_enter", by_task, SYS_getpid},
	{"raw tracepoint of all calls, nothing", NULL, "sys_enter", nothing, SYS_getpid},
	{"raw tracepoint of all calls, magic", NULL, "sys_enter", by_number, SYS_getpid},
	{"unknown prctl's raw tracepoint, nothing", NULL, "task_prctl_unknown", nothing, SYS_prctl},
	{"unknown prctl's raw tracepoint, magic", NULL, "task_prctl_unknown", by_task, SYS_prctl},
};

static double bare; /* the least of all */

static void measure(const struct row *r)
{
	struct support_code code = {0};
	const struct support_program what = {.name = "bench",
					     .type = r->category ? BPF_PROG_TYPE_TRACEPOINT
								 : BPF_PROG_TYPE_RAW_TRACEPOINT};
	/* Of prctl the lower half is the option: one that is unknown, which is what the event tells. */
	const uint64_t word = (uint64_t)0x77656674 << 32 | 0x77656674;
	double before = turn(r->nr, word), other = turn(SYS_getppid, word), with, with_other;
	int prog, hold;

	if (r->nr == SYS_getpid && before < bare)
		bare = before;
	r->program(&code);
	prog = support_code_load(&code, &what);
	hold = prog < 0      ? prog
	       : r->category ? hold_perf(r->category, r->name, prog)
			     : support_raw_tracepoint_open(r->name, prog);
	if (hold < 0) {
		printf("%-40s %s\n", r->what, strerror(-hold));
		support_close(prog);
		return;
	}
	with = turn(r->nr, word);
	with_other = turn(SYS_getppid, word);
	support_close(hold);
	support_close(prog);
	printf("%-40s %8.1f %8.1f %8.2f %+10.1f\n", r->what, before, with, with / bare,
	       with_other - other);
}

int main(void)
{
	bare = turn(SYS_getpid, 0);
	support_tracefs_mount();
	printf("%-40s %8s %8s %8s %10s\n", "ns", "before", "attached", "getpids", "other call");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		measure(&rows[i]);
	return 0;
}
