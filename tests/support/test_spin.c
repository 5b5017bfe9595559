/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <criterion/criterion.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/test_spin.h"

uint64_t test_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void test_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	cr_assert_eq(sched_setaffinity(0, sizeof(set), &set), 0, "CPU %d", cpu);
}

void test_spin_for(uint64_t ns)
{
	uint64_t end = test_now() + ns;

	while (test_now() < end)
		;
}

uint64_t test_spin_watching(uint64_t ns, uint64_t period)
{
	uint64_t now = test_now(), end = now + ns, unseen = 0;

	while (now < end) {
		uint64_t then = now;

		now = test_now();
		unseen += (now - then) / period;
	}
	return unseen;
}

pid_t test_spin_start(int cpu)
{
	pid_t pid = fork();

	cr_assert_geq(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		test_pin(cpu);
		for (;;)
			test_spin_for(1000000000);
	}
	return pid;
}

void test_spin_stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
