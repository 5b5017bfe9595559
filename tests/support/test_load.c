/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <linux/bpf.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "core/kernel/insn.h"
#include "support/bpf.h"

static volatile sig_atomic_t n_signals;

static void on_signal(int number)
{
	(void)number;
	n_signals++;
}

/* The verifier takes longer for it than a signal takes to come. */
Test(support_load, signals_wait_for_it)
{
	enum { N = 4000 };
	static struct bpf_insn insns[N];
	const struct itimerval often = {.it_interval.tv_usec = 100, .it_value.tv_usec = 100};
	const struct itimerval never = {.it_value.tv_usec = 0};

	for (int i = 0; i < N - 1; i++)
		insns[i] = INSN_MOV64_IMM(BPF_REG_0, i);
	insns[N - 1] = INSN_EXIT();
	signal(SIGALRM, on_signal);
	cr_assert_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
	for (int i = 0; i < 20; i++) {
		int fd = support_program_load("test", BPF_PROG_TYPE_RAW_TRACEPOINT, 0, insns, N,
					      NULL, 0);

		cr_expect_geq(fd, 0, "%d: %d", i, fd);
		if (fd >= 0)
			close(fd);
	}
	cr_assert_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
	cr_expect_gt(n_signals, 0);
}
