/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "tracers.h"

#include <sys/prctl.h>

struct stage *tracers_stage;
char tracers_probe[24] = "p";

void tracers_fire(void *arg)
{
	weft_probe *p;
	uint64_t v = 0;

	sender_begin();
	if (arg)
		prctl(PR_SET_PDEATHSIG, 0);
	p = weft_probe_declare("tracers", tracers_probe, "uint64 v", NULL);
	stage_up(&tracers_stage->declared);
	while (!__atomic_load_n(&tracers_stage->done, __ATOMIC_SEQ_CST)) {
		if (weft_probe_enabled(p)) {
			WEFT_FIRE(p, v);
			v++;
		}
		__atomic_store_n(&tracers_stage->tallies[0].n[0], *(uint64_t *)(void *)p,
				 __ATOMIC_SEQ_CST);
		__atomic_store_n(&tracers_stage->tallies[0].n[1], v, __ATOMIC_SEQ_CST);
		usleep(100);
	}
}

uint64_t tracers_word(void)
{
	return __atomic_load_n(&tracers_stage->tallies[0].n[0], __ATOMIC_SEQ_CST);
}

bool tracers_wait_word(uint64_t wanted, int ms)
{
	for (int i = 0; i < ms && tracers_word() != wanted; i++)
		usleep(1000);
	return tracers_word() == wanted;
}

static const char contiguous[] = "version: 1\n"
				 "target: {pid: %d}\n"
				 "probes:\n"
				 "  - probe: 'user-syscall:" ME ":tracers:p'\n"
				 "    do:\n"
				 "      - count: {into: n}\n"
				 "      - min: {into: lo, value: args.v}\n"
				 "      - max: {into: hi, value: args.v}\n";

void tracers_start(struct cli_run *c, pid_t pid, const char *duration)
{
	char yaml[1024];

	snprintf(yaml, sizeof(yaml), contiguous, pid);
	cli_start(c, NULL,
		  (const char *const[]){"run", BUILT_IN, cli_set(yaml), "-v", "--duration",
					duration, NULL});
}

static long number_after(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	cr_assert_not_null(at, "%s is not in: %s", name, text);
	return strtol(at + strlen(name), NULL, 10);
}

void tracers_expect_contiguous(const struct cli_run *c)
{
	long n = number_after(c->out, "n (count): ");

	cr_expect_gt(n, 100, "%s%s", c->out, c->err);
	cr_expect_eq(number_after(c->out, "hi (max): ") - number_after(c->out, "lo (min): ") + 1, n,
		     "%s", c->out);
	cr_expect_eq(c->status, 0, "%s", c->err);
}
