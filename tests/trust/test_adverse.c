/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A run of trace-cli with providers of every kind, in a world that fails it: allocations, file
 * descriptors, waits. Whatever fails, it ends in time, by itself and not by a signal; what it could
 * not do it says, with a tag; and when it has ended nothing of it is left in the kernel.
 *
 * WEFT_LONG=1 tries every point of failure, one after the other, allocations from WEFT_LONG_FROM
 * on; otherwise as many as take seconds, spread evenly from a place that differs from run to run.
 */
#include <sys/resource.h>
#include <time.h>

#include "kernel_objects.h"
#include "support.h"
#include "support/test_long.h"

#define FUNCTIONS FIXTURE_WORKLOAD_DIR "/functions"
#define SHORT     60 /* points of failure in the short form */

static const char set_text[] = "version: 1\n"
			       "params: {n: 3}\n"
			       "options: {interval: 1h}\n"
			       "begin: [printf: \"begin\\n\"]\n"
			       "end: [printf: \"end\\n\"]\n"
			       "probes:\n"
			       "  - probe: ['uprobe:" FUNCTIONS ":add4:entry',\n"
			       "            'uprobe:" FUNCTIONS ":greet:entry']\n"
			       "    do: [count: {into: calls, by: {f: probefunc, s: ustack(4)}}]\n"
			       "  - probe: 'uprobe:" FUNCTIONS ":factorial:return'\n"
			       "    when: retval > $n\n"
			       "    do:\n"
			       "      - quantize: {into: took, value: elapsed, unit: ns}\n"
			       "      - emit: {r: retval, who: execname, stack: ustack(3)}\n"
			       "  - probe: 'tracepoint:sched::sched_process_exit'\n"
			       "    do: [set: {ended: += 1}]\n"
			       "  - probe: 'profile:::profile-97'\n"
			       "    do: [count: {into: samples, by: {s: stack(4)}}]\n";

struct adversity {
	unsigned long allocation; /* 0: none fails */
	unsigned int signals_us;
	rlim_t descriptors; /* 0: as many as it wants */
	char mark[64];
};

static struct kernel_objects before;
static const char *set;

static void prepare(void *arg)
{
	const struct adversity *a = arg;
	char number[32];

	setenv("LD_PRELOAD", ADVERSE, 1);
	/* The sanitizer wants to come first; here it is called by what does. What it finds is to be
	 * told from an error of weft's, which is status 1. */
	setenv("ASAN_OPTIONS", "verify_asan_link_order=0:exitcode=99", 1);
	if (a->allocation) {
		snprintf(number, sizeof(number), "%lu", a->allocation);
		setenv("ADVERSE_ALLOCATION", number, 1);
		setenv("ADVERSE_MARK", a->mark, 1);
	}
	if (a->signals_us) {
		snprintf(number, sizeof(number), "%u", a->signals_us);
		setenv("ADVERSE_SIGNALS", number, 1);
	}
	if (a->descriptors &&
	    setrlimit(RLIMIT_NOFILE, &(struct rlimit){a->descriptors, a->descriptors}))
		_exit(121);
}

static void run(struct cli_run *c, struct adversity *a)
{
	const struct cli_how how = {.prepare = prepare, .arg = a};

	CLI_HOW(c, &how, "run", BUILT_IN, set, "--duration", "5s", "-c", FUNCTIONS " 20");
}

/* "error: SOME_TAG: ..." */
static bool has_a_tag(const char *said)
{
	for (const char *p = said; *p; p++) {
		size_t n = strspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

		if (n >= 4)
			return true;
		p += n;
		if (!*p)
			break;
	}
	return false;
}

/* Ended by itself: all well, or an error or a loss, of which it speaks. */
static void expect_honest(const struct cli_run *c, const char *what, unsigned long n)
{
	cr_expect(c->status >= 0 && c->status <= 3, "%s %lu: status %d:\n%s%s", what, n, c->status,
		  c->out, c->err);
	cr_expect_null(strstr(c->err, "PLUGIN_CRASHED"), "%s %lu:\n%s", what, n, c->err);
	cr_expect(c->status == 0 || has_a_tag(c->err) || has_a_tag(c->out),
		  "%s %lu: status %d, and no word why:\n%s%s", what, n, c->status, c->out, c->err);
}

static void setup(void)
{
	set = cli_set(set_text);
	kernel_objects_read(&before);
}

static void teardown(void)
{
	kernel_objects_expect_gone(&before);
	cli_unlink_sets();
}

TestSuite(adverse, .init = setup, .fini = teardown);

/* A sampler's firing can be missed by the machine, and is then counted: status 3. */
static bool is_whole(const struct cli_run *c)
{
	return c->status == 0 || (c->status == 3 && strstr(c->err, "FIRINGS_MISSED"));
}

Test(adverse, nothing_fails)
{
	struct adversity a = {0};
	struct cli_run c;

	run(&c, &a);
	cr_expect(is_whole(&c), "%d: %s%s", c.status, c.out, c.err);
	cr_expect_not_null(strstr(c.out, "add4"));
	cli_finish(&c);
}

/* Whether the allocation of that number was made at all. */
static bool try_allocation(unsigned long n)
{
	struct adversity a = {.allocation = n};
	struct cli_run c;
	bool reached;

	snprintf(a.mark, sizeof(a.mark), "/tmp/weft-test-mark-%d", getpid());
	run(&c, &a);
	reached = !unlink(a.mark);
	expect_honest(&c, "allocation", n);
	cli_finish(&c);
	return reached;
}

Test(adverse, every_allocation_fails_once, .timeout = 20000)
{
	unsigned long most = 1, step, n, tried = 0;

	while (try_allocation(most))
		most *= 2;
	step = test_is_long() ? 1 : most / SHORT + 1;
	n = test_is_long() ? test_long_from() : 1 + (unsigned long)time(NULL) % step;
	for (; n < most; n += step, tried++) {
		if (!try_allocation(n))
			break;
		if (test_is_long() && n % 100 == 0)
			fprintf(stderr, "allocation %lu, of less than %lu\n", n, most);
	}
	cr_expect_gt(tried, test_is_long() ? 0 : SHORT / 4);
	fprintf(stderr, "of %lu allocations %lu failed, each in its own run\n", n, tried);
}

Test(adverse, descriptors_run_out, .timeout = 20000)
{
	unsigned int n, failed = 0;

	for (n = 4; n < 1024; n++) {
		struct adversity a = {.descriptors = n};
		struct cli_run c;
		bool whole;

		run(&c, &a);
		expect_honest(&c, "descriptors", n);
		whole = is_whole(&c);
		cli_finish(&c);
		if (whole)
			break;
		failed++;
		n += test_is_long() ? 0 : n / 8;
	}
	cr_expect_lt(n, 1024, "it never has enough");
	cr_expect_gt(failed, 3);
}

static int occurrences(const char *text, const char *what)
{
	int n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

Test(adverse, every_wait_is_interrupted, .timeout = 200)
{
	struct adversity a = {.signals_us = 200};
	struct cli_run c;

	for (int i = 0; i < (test_is_long() ? 500 : 10); i++) {
		run(&c, &a);
		cr_expect(is_whole(&c), "%d: %s%s", c.status, c.out, c.err);
		cr_expect_eq(occurrences(c.out, "\n  add4      20\n"), 1, "%s", c.out);
		cr_expect_eq(occurrences(c.out, "\n  greet     20\n"), 1, "%s", c.out);
		/* Of the six calls of each factorial, those that return more than 3. */
		cr_expect_eq(occurrences(c.out, "factorial:return r="), 60, "%s", c.out);
		cli_finish(&c);
	}
}
