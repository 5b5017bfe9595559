/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The examples, as their pages say to run them: Python and Perl without a library, and a compiler
 * whose code was never a file. Also a session that begins before there is any probe. */
#include <signal.h>

#include "support.h"
#include "worker.h"

#define EXAMPLES WEFT_SOURCE_DIR "/examples/user-syscall"

static void trace(struct cli_run *c, const char *set, const char *command)
{
	cli_start(c, NULL,
		  (const char *const[]){"run", BUILT_IN, set, "-c", command, "-o", "json", NULL});
	cli_wait(c);
	cr_assert_eq(c->status, 0, "%d: %s", c->status, c->err);
}

/* The first number after a text that comes after another. */
static long after(const char *text, const char *one, const char *two)
{
	const char *at = strstr(text, one);

	at = at ? strstr(at, two) : NULL;
	cr_assert_not_null(at, "no %s %s in: %s", one, two, text);
	return strtol(at + strlen(two), NULL, 10);
}

Test(user_syscall_examples, python)
{
	struct cli_run c;

	trace(&c, EXAMPLES "/requests.yaml", "python3 " EXAMPLES "/requests.py 400");
	cr_expect_eq(after(c.out, "{\"path\":\"/login\",\"status\":200}", "\"value\":"), 100, "%s",
		     c.out);
	cr_expect_eq(after(c.out, "{\"path\":\"/\",\"status\":404}", "\"value\":"), 20);
	cr_expect_eq(after(c.out, "{\"path\":\"/\",\"status\":200}", "\"value\":"), 80);
	cli_finish(&c);
}

/* Written from the page of the layout alone. */
Test(user_syscall_examples, php)
{
	struct cli_run c;

	trace(&c, EXAMPLES "/orders.yaml", "php " EXAMPLES "/orders.php 400");
	cr_expect_eq(after(c.out, "{\"customer\":\"Smith\"}", "\"value\":"), 300, "%s", c.out);
	cr_expect_eq(after(c.out, "{\"customer\":\"Jones\"}", "\"value\":"), 100);
	cr_expect_eq(after(c.out, "\"name\":\"cents\"", "\"value\":"), 360 * 250 - 40 * 100);
	cli_finish(&c);
}

Test(user_syscall_examples, perl_for_a_shell)
{
	const char *const argv[] = {"/bin/bash", EXAMPLES "/steps.sh", EXAMPLES "/jit.yaml",
				    "/nonexistent", NULL};
	struct cli_run c;
	struct worker w;

	setenv("WAIT", "1", 1);
	worker_program(&w, -1, argv);
	cli_start(&c, NULL,
		  (const char *const[]){"run", BUILT_IN, EXAMPLES "/steps.yaml", "-o", "json",
					"--duration", "4s", NULL});
	worker_go(&w);
	worker_join(&w);
	cli_wait(&c);
	cr_assert_eq(c.status, 0, "%s", c.err);
	cr_expect_not_null(strstr(c.out, "\"file\":\"" EXAMPLES "/jit.yaml\",\"lines\":10"), "%s",
			   c.out);
	cr_expect_not_null(strstr(c.out, "\"file\":\"/nonexistent\",\"lines\":0"), "%s", c.out);
	cli_finish(&c);
}

Test(user_syscall_examples, compiler)
{
	char set[1024];
	struct cli_run c;
	struct worker w;
	const char *const argv[] = {EXAMPLE_JIT,  "fib = x < 2 ? x : fib(x - 1) + fib(x - 2)",
				    "fib",        "16",
				    "1000000000", NULL};

	worker_program(&w, -1, argv);
	worker_go(&w);
	usleep(300000);
	snprintf(set, sizeof(set),
		 "version: 1\n"
		 "target: {pid: %d}\n"
		 "probes:\n"
		 "  - probe: 'user-syscall:jit:fib:entry'\n"
		 "    when: args.x >= 10\n"
		 "    do: [count: {into: calls, by: {x: args.x}}]\n"
		 "  - probe: 'user-syscall:jit:fib:return'\n"
		 "    do: [max: {into: largest, value: args.result}]\n",
		 w.pid);
	cli_start(&c, NULL,
		  (const char *const[]){"run", BUILT_IN, cli_set(set), "-o", "json", "--duration",
					"1s", NULL});
	cli_wait(&c);
	worker_kill(&w);
	cr_assert_eq(c.status, 0, "%s", c.err);
	/* fib(n) is called twice as often as fib(n + 1) is, and as it is by fib(n + 2): to within
	 * one computation at either end. */
	long n16 = after(c.out, "{\"x\":16}", "\"value\":"),
	     n15 = after(c.out, "{\"x\":15}", "\"value\":");
	long n14 = after(c.out, "{\"x\":14}", "\"value\":"),
	     n13 = after(c.out, "{\"x\":13}", "\"value\":");
	cr_expect_gt(n16, 10);
	cr_expect_leq(labs(n15 - n16), 2);
	cr_expect_leq(labs(n14 - 2 * n16), 4);
	cr_expect_leq(labs(n13 - 3 * n16), 6);
	cr_expect_eq(after(c.out, "\"name\":\"largest\"", "\"value\":"), 987);
	cli_finish(&c);
	cli_unlink_sets();
}
